"""Gallery: robots to choose from, RobIK's own and those of other makers whose files are on this machine."""

from .entry import Entry, known_at
from .places import Places, entries
from .unpacking import unpacked

__all__ = ["Entry", "Places", "entries", "known_at", "unpacked"]
