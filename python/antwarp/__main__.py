"""The program: `python -m antwarp` is `antwarp`."""

import sys

from . import _native


def main() -> int:
    return _native.main(["antwarp", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
