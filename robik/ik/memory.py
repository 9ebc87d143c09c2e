"""State of the frames before, and results of a run of frames."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..jit import by_reference
from ..kinematics.kernels import (
    Placement,
    close,
    forward_kinematics,
    new_placement,
)
from ..mechanism.topology import Flat


class Memory(NamedTuple):
    """State of the frames before, from which the next one starts."""

    last: Placement  # placement of the frame before
    guess: Placement  # placement from which the next frame starts
    other: Placement  # scratch
    rest: np.ndarray  # (nq,) coordinates of the rest pose
    recent: np.ndarray  # (d,) step into `last`
    earlier: np.ndarray  # (d,) step before that
    frames: np.ndarray  # (1,) number of frames since the last jump
    limited: np.ndarray  # (d,) coordinates on a limit
    looked: np.ndarray  # (1,) objective when another way was last looked for
    missed: np.ndarray  # (clusters,) objectives of the targets at `last` (`missed_by_cluster`)
    given: (
        np.ndarray
    )  # (1,) whether the next frame starts at the coordinates of `guess`: contacts are not where `last` is
    stuck: np.ndarray  # (2,) time that limits have kept a limb from its targets [s]; 1 while it is led out of there


class Output(NamedTuple):
    """Results of a run of T frames."""

    q: np.ndarray  # (T, nq) coordinates
    position: np.ndarray  # (T, n, 3) of the state frames [m]
    quaternion: np.ndarray  # (T, n, 4) of the state frames, wxyz
    value: np.ndarray  # (T,) objectives
    iterations: np.ndarray  # (T,) of each frame
    status: np.ndarray  # (T,) CONVERGED and the like (`sqp.py`)
    residual: np.ndarray  # (T,) of the closure [m]


class States(NamedTuple):
    """Coordinates of T frames with the bodies' state frames."""

    q: np.ndarray  # (T, nq) coordinates
    position: np.ndarray  # (T, n, 3) of the state frames [m]
    quaternion: np.ndarray  # (T, n, 4) of the state frames, wxyz


def new_memory(flat: Flat, rest: np.ndarray) -> Memory:
    """Return the memory of a robot in its rest pose (nq,), without frames before."""
    d = len(flat.before)
    last, guess, other = (new_placement(flat, rest) for _ in range(3))
    memory = by_reference(Memory(
        last, guess, other, rest.copy(), np.zeros(d), np.zeros(d), np.zeros(1, np.int64), np.zeros(d, np.int64),
        np.zeros(1), np.zeros(len(flat.cluster_on)), np.zeros(1, np.bool_), np.zeros(2),
    ))  # fmt: skip
    forget(flat, memory, rest)
    return memory


def forget(flat: Flat, memory: Memory, rest: np.ndarray) -> None:
    """Forget the frames before: put the robot into its rest pose (nq,)."""
    memory.last.q[:] = rest
    forward_kinematics(flat, memory.last)
    close(flat, memory.last)
    memory.frames[0] = 0
    memory.limited[:] = 0
    memory.looked[0] = 0.0
    memory.missed[:] = 0.0
    memory.given[0] = False
    memory.stuck[:] = 0.0


def new_output(flat: Flat, frames: int) -> Output:
    """Return room for a run of T frames."""
    n = flat.bodies
    quaternion = np.zeros((frames, n, 4))
    return by_reference(Output(
        np.zeros((frames, _coordinates(flat))), np.zeros((frames, n, 3)), quaternion, np.zeros(frames),
        np.zeros(frames, np.int64),
        np.zeros(frames, np.int64), np.zeros(frames),
    ))  # fmt: skip


def _coordinates(flat: Flat) -> int:
    return len(flat.kind) + 3 * int((flat.ball >= 0).sum() // 3)


def copied(memory: Memory) -> list[np.ndarray]:
    """Return copies of a memory's arrays, those of the last placement first."""
    return [array.copy() for array in _known(memory)]


def restore(memory: Memory, known: list[np.ndarray]) -> None:
    """Restore the arrays that `copied` has returned."""
    for array, source in zip(_known(memory), known, strict=True):
        array[:] = source


def _known(memory: Memory) -> list[np.ndarray]:
    m = memory
    return [m.last.everything, m.recent, m.earlier, m.frames, m.limited, m.looked, m.missed]
