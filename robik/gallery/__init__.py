"""Gallery: robots to choose from, RobIK's own and those of other makers whose files are on this machine."""

from .entry import Entry
from .places import Places, entries
from .unpacking import unpacked

__all__ = ["Entry", "Places", "entries", "unpacked"]
