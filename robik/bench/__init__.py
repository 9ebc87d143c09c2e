"""The command `robik bench`: solver speed on the robots that ship.

Clips are made (`clips`, `walking`), put together with robots and weights (`cases`), measured and printed (`measure`).
"""

from .cases import Case, cases
from .measure import print_table, run

__all__ = ["Case", "cases", "print_table", "run"]
