"""`robik` and `python -m robik`: the command line."""

import os
import sys

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy: on small matrices threads wait more than they work

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
