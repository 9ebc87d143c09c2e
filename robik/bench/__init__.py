"""The command `robik bench`: solver speed on the robots that ship.

Clips are made (`clips`, `walking`), put together with robots and weights (`cases`), measured and printed (`measure`).
"""

from robik.bench.cases import Case, cases
from robik.bench.measure import print_table, run

__all__ = ["Case", "cases", "print_table", "run"]
