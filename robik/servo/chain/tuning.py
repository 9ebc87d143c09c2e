"""Tuning of servos: gains of their position control, and the acceleration of their profile."""

from __future__ import annotations

from typing import NamedTuple


class Tuning(NamedTuple):
    """Entries of a servo that say how it follows its goals, each in the servo's own unit.

    Attributes:
        p, i, d: gains of its position control; None where they are not known, or stay as they are.
        acceleration: of its profile; 0 for none, None where it is not known.
    """

    p: int | None = None
    i: int | None = None
    d: int | None = None
    acceleration: int | None = None

    @property
    def is_asked(self) -> bool:
        """Return whether it asks for anything that a servo does not have by itself."""
        return self != Tuning(acceleration=self.acceleration) or bool(self.acceleration)

    def __str__(self) -> str:
        words = (f"{name} {'–' if value is None else value}" for name, value in zip("PID", self[:3], strict=True))
        return ", ".join(words) + (f", profile acceleration {self.acceleration}" if self.acceleration else "")
