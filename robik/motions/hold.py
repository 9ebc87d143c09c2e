"""Hold that a motion's motors have of the robot: where they stop to determine where its bodies are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from math import isfinite

import numpy as np

LEAST = 0.05  # of 1: with less, play and load in the joints move the bodies 20 times as far as the motors
NAMED = 4  # runs of frames, motors or bodies, where there are more


@dataclass(frozen=True, kw_only=True, eq=False)
class Hold:
    """Hold that the motors have of the bodies, frame by frame.

    Attributes:
        values: (T,) the least of each frame: 1 where a motor moves itself alone, 0 where bodies move though all motors
            stand still.
        frame: where it is least.
        bound: below which hold counts as lost.
        below: frames with less, and those into which the motion goes through 0.
        apart: frames in which forward kinematics of the motors, each frame from the one before, gives other bodies, or
            loops that do not close.
        distance, angle: by how much at most, of any body [m] and [rad]; 0 where that is not known.
        motors: that lose hold, where it is least; empty where it is kept.
        bodies: of which they lose it.
    """

    values: np.ndarray
    frame: int
    bound: float = LEAST
    below: tuple[int, ...] = ()
    apart: tuple[int, ...] = ()
    distance: float = 0.0
    angle: float = 0.0
    motors: tuple[str, ...] = ()
    bodies: tuple[str, ...] = ()

    @property
    def least(self) -> float:
        """The least value of all."""
        return float(self.values[self.frame])

    def part(self, first: int, stop: int) -> Hold:
        """Return the hold of some of the frames, counted from the first of them."""
        kept = range(first, stop)
        below, apart = (tuple(k - first for k in frames if k in kept) for frames in (self.below, self.apart))
        values = self.values[first:stop]
        found = replace(self, values=values, frame=int(values.argmin()), below=below, apart=apart)
        return replace(found, motors=(), bodies=(), distance=0.0, angle=0.0) if found.is_kept else found

    @property
    def lost(self) -> tuple[int, ...]:
        """The frames in which the motors do not determine the bodies."""
        return tuple(sorted({*self.below, *self.apart}))

    @property
    def is_kept(self) -> bool:
        """Return whether the motors determine the bodies in all frames."""
        return not self.lost

    def as_data(self) -> dict:
        """Return plain data, as `REPORT.json` holds it."""
        return {
            "least": self.least if isfinite(self.least) else None,
            "frame": self.frame,
            "frames_below": list(self.below),
            "motors": list(self.motors),
            "bodies": list(self.bodies),
            "frames_apart": list(self.apart),
            "apart_max_m": self.distance,
            "apart_max_rad": self.angle,
        }

    def __str__(self) -> str:
        return self.words(str)

    def words(self, name: Callable[[int], str], one: str = "in frame", many: str = "in frames") -> str:
        """Return in a sentence where the motors lose hold of what; empty where they do not."""

        def where(frames: tuple[int, ...]) -> str:
            return f"{one if len(frames) == 1 else many} {_runs(frames, name)}"

        said = []
        if self.below:
            said.append(
                f"the motors lose hold of the robot {where(self.below)}: {_listed(self.bodies)} can move there"
                f" without {_listed(self.motors)} (hold {self.least:.2g} {one} {name(self.frame)}, at least"
                f" {self.bound:.2g} is safe)"
            )
        if self.apart:
            bodies = "the bodies" if self.below or not self.bodies else _listed(self.bodies)
            far = f", up to {1e3 * self.distance:.3g} mm and {57.29578 * self.angle:.3g}° off" if self.angle else ""
            said.append(f"the motors alone bring {bodies} elsewhere {where(self.apart)}{far}")
        return "; ".join(said)

    def in_seconds(self, times: np.ndarray) -> str:
        """Return `words` with frames named by their times from the first one on."""
        return self.words(lambda k: f"{times[k] - times[0]:.3f} s", "at", "at")


def _runs(frames: Iterable[int], name: Callable[[int], str]) -> str:
    """Return frames in words: a run by its first and last."""
    found: list[list[int]] = []
    for frame in frames:
        if found and frame == found[-1][1] + 1:
            found[-1][1] = frame
        else:
            found.append([frame, frame])
    return _listed([name(a) if a == b else f"{name(a)} – {name(b)}" for a, b in found])


def _listed(names: Iterable[str]) -> str:
    """Return names, the first of many."""
    names = list(names)
    return ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")
