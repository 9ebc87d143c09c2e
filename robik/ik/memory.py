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
    """State of the frames before, from which the next one starts.

    `last` placement, the steps `recent` into it and `earlier` before that (d,), `frames` (1,) since the last jump, the
    coordinates `rest` (nq,), which are on a limit (d,), `looked` (1,): the objective when another way was last looked
    for, `missed` (clusters,): what the targets miss in it (`missed_by_cluster`), `given` (1,): whether the next frame
    starts at the coordinates of `guess`, since the contacts are not where `last` is, and `guess` and `other`, scratch.
    """

    last: Placement
    guess: Placement
    other: Placement
    rest: np.ndarray
    recent: np.ndarray
    earlier: np.ndarray
    frames: np.ndarray
    limited: np.ndarray
    looked: np.ndarray
    missed: np.ndarray
    given: np.ndarray


class Output(NamedTuple):
    """Results of a run of T frames.

    Coordinates (T, nq), state frames (T, n, 3) and (T, n, 4) wxyz, and per frame (T,) objective, iterations, status and
    closure residual.
    """

    q: np.ndarray
    position: np.ndarray
    quaternion: np.ndarray
    value: np.ndarray
    iterations: np.ndarray
    status: np.ndarray
    residual: np.ndarray


def new_memory(flat: Flat, rest: np.ndarray) -> Memory:
    """Return a robot that stands in its rest pose.

    Args:
        flat: The mechanism's arrays for the kernels.
        rest: Coordinates (nq,) of the rest pose.

    Returns:
        A memory without frames before.
    """
    d = len(flat.before)
    last, guess, other = (new_placement(flat, rest) for _ in range(3))
    memory = by_reference(Memory(
        last, guess, other, rest.copy(), np.zeros(d), np.zeros(d), np.zeros(1, np.int64), np.zeros(d, np.int64),
        np.zeros(1), np.zeros(len(flat.cluster_on)), np.zeros(1, np.bool_),
    ))  # fmt: skip
    forget(flat, memory, rest)
    return memory


def forget(flat: Flat, memory: Memory, rest: np.ndarray) -> None:
    """Put the robot back into its rest pose.

    Args:
        flat: The mechanism's arrays for the kernels.
        memory: State of the frames before.
        rest: Coordinates (nq,) of the rest pose.
    """
    memory.last.q[:] = rest
    forward_kinematics(flat, memory.last)
    close(flat, memory.last)
    memory.frames[0] = 0
    memory.limited[:] = 0
    memory.looked[0] = 0.0
    memory.missed[:] = 0.0
    memory.given[0] = False


def new_output(flat: Flat, frames: int) -> Output:
    """Return room for a run of frames.

    Args:
        flat: The mechanism's arrays for the kernels.
        frames: Number of frames T.

    Returns:
        Zeros.
    """
    n = flat.bodies
    quaternion = np.zeros((frames, n, 4))
    return by_reference(Output(
        np.zeros((frames, _coordinates(flat))), np.zeros((frames, n, 3)), quaternion, np.zeros(frames),
        np.zeros(frames, np.int64),
        np.zeros(frames, np.int64), np.zeros(frames),
    ))  # fmt: skip


def _coordinates(flat: Flat) -> int:
    return len(flat.kind) + 3 * int((flat.ball >= 0).sum() // 3)
