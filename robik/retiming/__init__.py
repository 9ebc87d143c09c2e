"""Retiming: the same path, later where motors cannot keep up."""

from .limits import Limits, limits_of
from .slow_down import Slowed, slow_down

__all__ = ["Limits", "Slowed", "limits_of", "slow_down"]
