"""`leanmcp version`: what a report of a fault begins with."""

from __future__ import annotations

import argparse
import json
import platform
import sys
from importlib.metadata import PackageNotFoundError, version

from .. import __version__
from .faults import OK
from .options import Parser

_NEEDED = ("msgspec", "orjson", "fastjsonschema", "uvloop")
_OPTIONAL = ("cryptography", "pydantic")
_EPILOG = """\
examples:
  leanmcp version
  leanmcp version --json

--json prints {"leanmcp", "python", "platform", "packages"}, a version for each package, null where it is missing

exit codes:
  0    success
"""


def add_options(parser: Parser) -> None:
    """Declare what the command takes."""
    parser.epilog = _EPILOG
    parser.add_json()


def run(options: argparse.Namespace) -> int:
    """Print the versions."""
    found = {name: _version(name) for name in (*_NEEDED, *_OPTIONAL)}
    packages = {name: number for name, number in found.items() if number or name in _NEEDED}
    about = {
        "leanmcp": __version__,
        "python": f"{platform.python_version()} ({platform.python_implementation()})",
        "platform": f"{sys.platform} {platform.machine()}",
        "packages": packages,
    }
    if options.json:
        print(json.dumps(about, indent=2))
        return OK
    for name in ("leanmcp", "python", "platform"):
        print(f"{name:<16}{about[name]}")
    for name, number in packages.items():
        print(f"{name:<16}{number or 'not installed'}")
    return OK


def _version(package: str) -> str | None:
    """Return the version of a package, None where it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None
