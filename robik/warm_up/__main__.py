"""The process that compiles: everything, or with the argument `last` what solving comes to last."""

from __future__ import annotations

import os
import sys

from .ahead import compile_all, compile_last
from .processes import LAST

if hasattr(os, "nice"):
    os.nice(10)
if sys.argv[1:] == [LAST]:
    compile_last()
else:
    compile_all()
