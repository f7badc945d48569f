"""`python -m codegen`: the same as `lamina`."""

import sys

from codegen.cli import main

if __name__ == "__main__":
    sys.exit(main())
