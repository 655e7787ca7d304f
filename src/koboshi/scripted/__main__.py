"""`python -m koboshi.scripted`."""

import sys

from .headless import main as headless
from .program import main

if __name__ == "__main__":
    sys.exit(headless() if "--headless" in sys.argv[1:] else main())
