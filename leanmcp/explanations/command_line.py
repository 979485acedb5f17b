"""LM6xx: the command line, and what it is pointed at."""

from __future__ import annotations

from .record import Page

PAGES: tuple[Page, ...] = (
    Page(
        "LM601",
        "an unknown command",
        r"unknown command |is no command; did you mean",
        "The first word is a command; the target and everything else follow it.",
        """\
$ leanmcp cal server.py add a=1
""",
        """\
$ leanmcp call server.py add a=1
""",
    ),
    Page(
        "LM602",
        "an option that there is not, or not here",
        r"unknown option '-|is an option of HTTP(?!; serve it)|is an option of servers that are started"
        r"|argument --|: no number of seconds|--mode '|arguments are required|one word too many"
        r"|gets no arguments here|--token and --header both|^--header |^--env |^--cwd |header '[^']*' belongs"
        r"|unknown list "
        r"|^(--token|LEANMCP_TOKEN): |unknown host '",
        "Each command has options of its own; `leanmcp COMMAND --help` lists them. Some are of HTTP only, "
        "some of servers that are started here.",
        """\
$ leanmcp call server.py add a=1 --jsn
""",
        """\
$ leanmcp call server.py add a=1 --json
""",
    ),
    Page(
        "LM603",
        "no server is named",
        r"^name a server first|behind `--` the command|^the server stands first|^a program that starts a server stands"
        r"|alone reads its program from standard input"
        r"|are two servers; leave out|' is no program; (a variable|arguments)",
        "The first word behind the command is the server: a Python file, a URL or a name of mcp.json; or a "
        "program stands behind `--`, at the end, behind the tool and its arguments.",
        """\
$ leanmcp list
""",
        """\
$ leanmcp list server.py
""",
    ),
    Page(
        "LM604",
        "there is no such file or module",
        r"no file '|no file and no module|no file, module or server",
        "What is named is no file here, no module that Python finds, and no entry of mcp.json.",
        """\
$ leanmcp list sever.py
""",
        """\
$ leanmcp list server.py
""",
    ),
    Page(
        "LM605",
        "what is named is no Python file",
        r"is no Python file|is a folder; name|^no Python files in",
        "A target without `--` is imported by Python. Other programs are started with `--`, and speak on "
        "standard input and output.",
        """\
$ leanmcp list server.js
""",
        """\
$ leanmcp list -- node server.js
""",
    ),
    Page(
        "LM606",
        "the file has no server of that name, none, or several",
        r"no object '|not an MCPServer|no MCPServer in|several servers in",
        "A server is an MCPServer at the top level of the file. Where there are several, the target names "
        "one, FILE:NAME.",
        """\
$ leanmcp list two.py
""",
        """\
$ leanmcp list two.py:books
""",
    ),
    Page(
        "LM607",
        "the file is no valid Python",
        r": (SyntaxError|IndentationError|TabError): ",
        "Python could not read the file; the line is where it noticed, the mistake may stand above it.",
        """\
mcp = MCPServer("demo"
""",
        """\
mcp = MCPServer("demo")
""",
    ),
    Page(
        "LM608",
        "the file imports a package that is not installed",
        r"(^|: )No module named '",
        "The package has to be in the environment in which leanmcp itself runs; the message has the command for that.",
        """\
$ leanmcp list server.py
""",
        """\
$ .venv/bin/python -m pip install pandas
""",
    ),
    Page(
        "LM609",
        "the file ends the program while it is loaded",
        r"the file ended the program",
        "leanmcp imports the file and takes the server out of it. What is for a program of its own stands "
        "under `if __name__ == '__main__':`.",
        """\
import sys

sys.exit("no key")
""",
        """\
import sys

if __name__ == "__main__":
    sys.exit("no key")
""",
    ),
    Page(
        "LM610",
        "the file raises while it is loaded",
        r"^(?!.* (?:hides|has the name of) Python's own module|.* hides (?:leanmcp itself|a package that leanmcp))"
        r"\S+\.py:\d+: (?!SyntaxError|IndentationError|TabError)\w+(Error|Exception|Group|Exit|Iteration"
        r"|Interrupt): ",
        "The exception is the file's own; its lines stand below.",
        """\
import os

KEY = os.environ["API_KEY"]
""",
        """\
import os

KEY = os.environ.get("API_KEY", "")
""",
    ),
    Page(
        "LM611",
        "a text is no URL of an MCP server",
        r"is no URL|MCP is spoken over http|^a URL must not hold",
        "A URL begins with http:// or https://, and most servers are at the path /mcp.",
        """\
$ leanmcp list localhost:8000
""",
        """\
$ leanmcp list http://localhost:8000/mcp
""",
    ),
    Page(
        "LM612",
        "mcp.json cannot be read",
        r"\.json(: No such| is no JSON| has no servers)",
        "mcp.json is strict JSON, without comments and without a comma behind the last entry, and begins with "
        "mcpServers.",
        """\
$ echo '{"a": {"command": "x"}}' > mcp.json
""",
        """\
$ echo '{"mcpServers": {"a": {"command": "x"}}}' > mcp.json
""",
    ),
    Page(
        "LM613",
        "an entry of mcp.json cannot be used",
        r": server '[^']*'(:| needs)|has no server '",
        "An entry has `command` and `args`, or `url`; variables are written ${NAME} and have to be set.",
        """\
$ leanmcp list gitub --config mcp.json
""",
        """\
$ leanmcp list github --config mcp.json
""",
    ),
    Page(
        "LM614",
        "no tool, prompt or resource is named, or none that there is",
        r"^no (tool|prompt|resource) '|^name a (tool|URI|prompt) of|^give a prompt or a resource template"
        r"|is neither a list nor a URI",
        "Names are those that `leanmcp list` shows, in upper and lower case as they stand there.",
        """\
$ leanmcp call server.py Add a=1
""",
        """\
$ leanmcp call server.py add a=1
""",
    ),
    Page(
        "LM615",
        "an argument is written wrong",
        r"^argument '|^--args|is given \d+ times",
        "name=value is a text where the tool wants a text, else JSON; name:=value always is JSON; name=@file "
        "is the content of a file. An array takes its name several times.",
        """\
$ leanmcp call server.py add 'a:={'
""",
        """\
$ leanmcp call server.py add a:=1
""",
    ),
    Page(
        "LM616",
        "an argument is missing, or none that the tool has",
        r"(tool|prompt) '[^']*' (needs|has no argument) ",
        "The signature stands at the end of the message; a question mark or a default means that an argument "
        "may be left out.",
        """\
$ leanmcp call server.py add b=1
""",
        """\
$ leanmcp call server.py add a=1 b=1
""",
    ),
    Page(
        "LM617",
        "a server has a question and nobody is there",
        r"has a question, which nobody can answer here",
        "The tool asks its user. On a terminal the question is shown; in a script there is nobody to answer.",
        """\
$ leanmcp call server.py order </dev/null
""",
        """\
$ leanmcp call server.py order
""",
    ),
    Page(
        "LM618",
        "files cannot be written",
        r"^--output |the output cannot be written",
        "--output names a folder, which is made where it is missing.",
        """\
$ leanmcp call server.py logo --output server.py
""",
        """\
$ leanmcp call server.py logo --output images
""",
    ),
    Page(
        "LM619",
        "a proxy that the environment names lets nobody through",
        r"Cannot connect to (?!.*(TLS failed|speak https|not trusted)).*_(proxy|PROXY)\b",
        "HTTPS_PROXY and HTTP_PROXY name one, as http://HOST:PORT; NO_PROXY names the hosts that do without.",
        """\
$ HTTPS_PROXY=socks5://127.0.0.1:1080 leanmcp list https://example.com/mcp
""",
        """\
$ NO_PROXY=example.com leanmcp list https://example.com/mcp
""",
    ),
    Page(
        "LM620",
        "nobody listens at the address",
        r"Cannot connect to (?!.*(TLS failed|speak https|not trusted|_(proxy|PROXY)\b))",
        "The server does not run, runs on another port, or its name is written wrong.",
        """\
$ leanmcp list http://127.0.0.1:8001/mcp
""",
        """\
$ leanmcp run server.py --http --port 8001
""",
    ),
    Page(
        "LM621",
        "http and https are mixed up, or the certificate is not trusted",
        r"Cannot connect to .*(TLS failed|speak https|not trusted)",
        "A port speaks http or https, not both. A certificate of one's own is made known with SSL_CERT_FILE.",
        """\
$ leanmcp list https://127.0.0.1:8000/mcp
""",
        """\
$ leanmcp list http://127.0.0.1:8000/mcp
""",
    ),
    Page(
        "LM622",
        "the server wants to know who calls, or does not allow it",
        r"answered 40[13] ",
        "A token goes with --token or LEANMCP_TOKEN; --login logs in with a browser where the server offers that.",
        """\
$ leanmcp list https://example.com/mcp
""",
        """\
$ leanmcp list https://example.com/mcp --login
""",
    ),
    Page(
        "LM623",
        "the path of the URL is wrong",
        r"answered 404 ",
        "Something answers there, but not at this path. Most servers use /mcp.",
        """\
$ leanmcp list http://127.0.0.1:8000/
""",
        """\
$ leanmcp list http://127.0.0.1:8000/mcp
""",
    ),
    Page(
        "LM624",
        "what answers is no MCP server",
        r"does not speak MCP|is not JSON-RPC|is no JSON-RPC message: |as nothing does that speaks MCP"
        r"|(?<!_PROXY\))(?<!_proxy\)) does not answer in HTTP",
        "A web page, a proxy or another program answered. Look at the host, the port and the path.",
        """\
$ leanmcp list https://example.com/
""",
        """\
$ leanmcp list https://example.com/mcp
""",
    ),
    Page(
        "LM625",
        "no answer came in time",
        r"did not answer .*within [\d.]+ seconds",
        "A request has 60 seconds, which progress starts anew; --timeout gives more, and 0 waits for ever.",
        """\
$ leanmcp call server.py export --timeout 1
""",
        """\
$ leanmcp call server.py export --timeout 300
""",
    ),
    Page(
        "LM626",
        "the server went away before it had answered",
        r"closed the connection|exited with code|was ended by|ended before it had answered",
        "The process ended, or something between the two closed the connection. What it wrote to standard "
        "error stands above. A file that ends at once, with code 0, calls no mcp.run(), or not as `__main__`.",
        """\
$ leanmcp list -- python -c 'raise SystemExit(7)'
""",
        """\
$ leanmcp list -- python server.py
""",
    ),
    Page(
        "LM627",
        "the program cannot be started",
        r"cannot be started: ",
        "The word behind `--`, or `command` in mcp.json, is a program in PATH, or the path of one that is executable.",
        """\
$ leanmcp list -- ./server.py
""",
        """\
$ leanmcp list -- python ./server.py
""",
    ),
    Page(
        "LM628",
        "client and server have no protocol version in common",
        r"no protocol version in common",
        "The message names the versions of both; one of the two has to be updated.",
        """\
$ leanmcp list http://old.example.com/mcp --mode 2026-07-28
""",
        """\
$ leanmcp list http://old.example.com/mcp --mode legacy
""",
    ),
    Page(
        "LM629",
        "the server answers with an error",
        r"answered with an error: |answered 5\d\d (?!.*as nothing does that speaks MCP)",
        "The server was reached and could not do what it was asked; what it says stands behind the colon. 502 "
        "and 503 come from a proxy whose server does not run.",
        """\
$ leanmcp call http://127.0.0.1:8000/mcp broken
""",
        """\
$ leanmcp call http://127.0.0.1:8000/mcp add a=1 b=2
""",
    ),
    Page(
        "LM630",
        "the server's result is none that the protocol has",
        r"result of \S+ is invalid",
        "Every result is checked before it is used; the message names the member that is wrong. The author of "
        "the server has to mend that.",
        """\
$ leanmcp call http://127.0.0.1:8000/mcp odd
""",
        """\
$ leanmcp call http://127.0.0.1:8000/mcp add a=1 b=2
""",
    ),
    Page(
        "LM631",
        "a file is loaded twice, and the tools are in the other copy",
        r"is loaded twice, as __main__",
        "Python runs server.py as __main__. A module that imports it by its name runs it again, and registers its "
        "tools on the server of that copy.",
        """\
# server.py
mcp = MCPServer("demo")
import tools  # which begins with: from server import mcp
mcp.run()
""",
        """\
# server.py, where app.py has: mcp = MCPServer("demo")
from app import mcp
import tools  # which begins with: from app import mcp
mcp.run()
""",
    ),
    Page(
        "LM632",
        "a file has the name of a module of Python's",
        r" hides (Python's own module '|leanmcp itself|a package that leanmcp needs)"
        r"|has the name of Python's own module",
        "Python looks beside the program first, so that json.py is what every package gets that asks for json. "
        "Commands load the file after Python's own, and warn only; `python server.py` fails.",
        """\
$ leanmcp run json.py
""",
        """\
$ leanmcp run weather_server.py
""",
    ),
)
