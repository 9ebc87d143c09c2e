"""Record of what a bake changed in its clip on the way: footholds, and a table of all of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

import numpy as np


@dataclass(frozen=True, kw_only=True)
class Adjusted:
    """Row of a bake's table: one adjustment of its clip.

    Attributes:
        name: of the adjustment.
        frames: first and last sample of each run in which something was found at first.
        before: how far off the clip was at first [m].
        after: how far off it was as it was left [m].
        changes: of the clip that were tried.
        solves: of a clip, or a part of it.
        seconds: of processor time.
    """

    name: str
    frames: tuple[tuple[int, int], ...]
    before: float
    after: float
    changes: int
    solves: int
    seconds: float

    def within(self, start: int, stop: int) -> Adjusted:
        """Return the row of a part of the clip, sample `start` to the one before `stop`, with the part's frames."""
        kept = ((max(first, start) - start, min(last, stop - 1) - start) for first, last in self.frames)
        return replace(self, frames=tuple((first, last) for first, last in kept if first <= last))

    @property
    def gain(self) -> float:
        """By how much less it is off [m]."""
        return self.before - self.after

    def __str__(self) -> str:
        return (
            f"{self.name}: {1e3 * self.before:.3g} → {1e3 * self.after:.3g} mm, {self.solves} solves,"
            f" {self.seconds:.1f} s"
        )

    def as_data(self) -> dict:
        """Return plain data, as `REPORT.json` holds it."""
        return asdict(self) | {"gain": self.gain}


@dataclass(frozen=True, kw_only=True)
class MovedFoothold:
    """Foothold that was out of reach or put legs into each other, and was moved before the clip was solved.

    Attributes:
        frame: that stands on it.
        start, end: first and last time at which it does [s].
        shift: by which it was moved over the ground (x, y) [m].
        turned: about the vertical [rad].
        limits: coordinates that were at their limit there.
        bodies: two that it put into each other; none where it was only out of reach.
    """

    frame: str
    start: float
    end: float
    shift: tuple[float, float]
    turned: float
    limits: tuple[str, ...] = ()
    bodies: tuple[str, ...] = ()

    @property
    def moved(self) -> float:
        """Distance over the ground [m]."""
        return float(np.hypot(*self.shift))

    def __str__(self) -> str:
        why = f" ({', '.join(self.limits)} at the limit)" if self.limits else ""
        wrong = ["is out of reach"] if self.limits or not self.bodies else []
        wrong += [f"puts {' and '.join(self.bodies)} into each other"] if self.bodies else []
        return (
            f"foothold of {self.frame} from {self.start:.2f} to {self.end:.2f} s {' and '.join(wrong)}: moved by"
            f" {1e3 * self.moved:.3g} mm, turned by {np.degrees(abs(self.turned)):.3g}°{why}"
        )

    def as_data(self) -> dict:
        """Return plain data, as `REPORT.json` holds it."""
        return {
            "frame": self.frame,
            "start_s": self.start,
            "end_s": self.end,
            "moved_mm": 1e3 * self.moved,
            "turned_deg": float(np.degrees(self.turned)),
            "at_limit": list(self.limits),
            "in_each_other": list(self.bodies),
        }
