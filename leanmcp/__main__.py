"""`python -m leanmcp`."""

from __future__ import annotations

import sys

from .cli import main

if __name__ == "__main__":
    try:
        sys.exit(main())
    except (ImportError, AttributeError) as error:  # `-m` has Python look for every module in the working folder first
        from .hidden import hiding_file  # of mistakes only

        if not (told := hiding_file(error)):
            raise
        print(f"leanmcp: {told} [LM632]", file=sys.stderr)
        sys.exit(2)
