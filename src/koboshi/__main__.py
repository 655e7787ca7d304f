"""`python -m koboshi`."""

import sys

from koboshi.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
