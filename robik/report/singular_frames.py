"""Samples of a motion at which a robot comes near a singular pose."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..files import write_whole
from ..kinematics.singularity import Distances, distances
from ..mechanism.model import Mechanism
from ..motions import load_motion, values_for
from ..motions.hold import LEAST
from .shortfall import unassembled

NEAR = LEAST  # a distance below which a frame is called near to singular
MEANING = {
    "loops": "the loops fold flat",
    "hold": "the actuators lose hold of the robot",
    "steer": "the actuators turn without moving a frame",
}


@dataclass(frozen=True)
class Stretch:
    """A motion's distances from singular poses: `times` (T,) [s], names of the `frames` that were looked at.

    `unassembled` says at which times the loops do not close, and is empty where they always do.
    """

    times: np.ndarray
    frames: tuple[str, ...]
    distances: Distances
    unassembled: str

    def as_data(self) -> dict:
        """Return plain data: each distance's least value, its frame, and the frames that are near.

        Null where it means nothing.
        """
        data: dict[str, dict | None] = {}
        for name in MEANING:
            values = getattr(self.distances, name)
            if np.isfinite(values).all():
                data[name] = {
                    "least": float(values.min()),
                    "frame": int(values.argmin()),
                    "near": np.flatnonzero(values < NEAR).tolist(),
                }
            else:
                data[name] = None
        return data


def along(mechanism: Mechanism, path: str | Path) -> Stretch:
    """Return the distances from singular poses along the motion in a file, sample by sample.

    Raise ClipError where the motion has no column for an actuator.
    """
    motion = load_motion(path)
    found = distances(mechanism, values_for(mechanism, motion, path))
    return Stretch(motion.times, tuple(f.name for f in mechanism.frames), found, unassembled(mechanism, found.residual))


def describe(stretch: Stretch) -> list[str]:
    """Return lines of text that describe a stretch."""
    lines = [
        f"distance from singular poses over {len(stretch.times)} frames (1 is far; frames:"
        f" {', '.join(stretch.frames) or 'none'}):"
    ]
    for name, found in stretch.as_data().items():
        if found:
            near = f"; {len(found['near'])} frames below {NEAR:g}, where {MEANING[name]}" if found["near"] else ""
            lines.append(
                f"  {name}: at least {found['least']:.3g}, in frame {found['frame']} at"
                f" {stretch.times[found['frame']]:g} s{near}"
            )
    return [*lines, stretch.unassembled] if stretch.unassembled else lines


def save_distances(stretch: Stretch, path: str | Path) -> None:
    """Write `time`, a column per distance, and the closure residual [m] as CSV.

    A distance that means nothing here is `inf`. Raise FormatError if the file cannot be written.
    """
    names = [*MEANING, "residual"]
    columns = np.column_stack([stretch.times, *(getattr(stretch.distances, name) for name in names)])
    write_whole(
        path, "\n".join([",".join(["time", *names]), *(",".join(map(repr, row)) for row in columns.tolist())]) + "\n"
    )
