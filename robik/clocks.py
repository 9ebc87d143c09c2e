"""Clock of what work costs, however busy the machine is with other work."""

from __future__ import annotations

import sys
from time import perf_counter, thread_time

# Of this thread's processor time [s]. Windows counts that in steps of 1/64 s, longer than most frames take.
cpu_seconds = perf_counter if sys.platform == "win32" else thread_time
