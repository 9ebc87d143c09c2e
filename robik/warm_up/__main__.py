"""The process that compiles: everything, or with the argument `last` what solving comes to last.

With `alone` it starts no second process: two compile some of the same, which takes a tenth more processor time.

Its priority is low, unless the environment says that somebody waits for it (`ROBIK_WAITING`).
"""

from __future__ import annotations

import os
import sys

from ..jit.cache import FOR_THIS_CPU, delete_unused_rooms
from .ahead import compile_all, compile_last
from .processes import ALONE, LAST, wait_for_help

WAITING = "ROBIK_WAITING"

os.environ.setdefault(FOR_THIS_CPU, "1")  # and not what came with the extension, which is for any CPU

if hasattr(os, "nice") and not os.environ.get(WAITING):
    os.nice(10)
if sys.argv[1:] == [LAST]:
    compile_last()
elif sys.argv[1:] == [ALONE]:
    compile_last()
    compile_all(is_helped=False)
else:
    compile_all()
    wait_for_help()
    delete_unused_rooms()
