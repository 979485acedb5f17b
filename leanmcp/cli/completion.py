"""`leanmcp completion`: print the script that makes a shell complete our commands.

The script knows nothing itself: at each TAB it asks `leanmcp --complete`, see `completion_words`.
"""

from __future__ import annotations

import argparse

from .faults import OK
from .options import Parser

SHELLS = ("bash", "zsh", "fish")

_EPILOG = """\
to install it for yourself:
  bash   leanmcp completion bash > ~/.local/share/bash-completion/completions/leanmcp
         or, without the package bash-completion, in ~/.bashrc:  eval "$(leanmcp completion bash)"
  zsh    in ~/.zshrc, behind compinit:  eval "$(leanmcp completion zsh)"
  fish   leanmcp completion fish > ~/.config/fish/completions/leanmcp.fish

What is completed: commands, options and their values, files, servers of mcp.json; behind the server tools, their
arguments and the values of these, prompts, URIs. For that a Python file is loaded and a URL is asked, as `leanmcp list`
does it, for 1.5 seconds at most. A program that would have to be started, behind `--` or in mcp.json, never is.
LEANMCP_COMPLETE_SECONDS=0 leaves all servers alone; LEANMCP_COMPLETE_DEBUG=1 shows what went wrong.

examples:
  leanmcp completion bash
  leanmcp completion zsh --json

--json prints {"shell", "script"}

exit codes:
  0    success
  2    a mistake on the command line
"""


def add_options(parser: Parser) -> None:
    """Declare what the command takes."""
    parser.epilog = _EPILOG
    parser.add_argument("shell", choices=SHELLS, metavar="{bash,zsh,fish}", help="whose script to print")
    parser.add_json()


def run(options: argparse.Namespace) -> int:
    """Print the script."""
    from .completion_scripts import SCRIPTS

    script = SCRIPTS[options.shell]
    if options.json:
        import msgspec

        script = msgspec.json.encode({"shell": options.shell, "script": script}).decode() + "\n"
    print(script, end="")
    return OK
