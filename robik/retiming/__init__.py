"""Retiming: the same path, later where motors cannot keep up, and without what makes a robot vibrate."""

from ..mechanism.motor_limits import Limits, limits_of
from .slow_down import Slowed, slow_down, slowing_down
from .vibration import Shaper, measured_vibration, shaped, shaper

__all__ = [
    "Limits",
    "Shaper",
    "Slowed",
    "limits_of",
    "measured_vibration",
    "shaped",
    "shaper",
    "slow_down",
    "slowing_down",
]
