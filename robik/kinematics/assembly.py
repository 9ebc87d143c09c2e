"""The way back onto the loops."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..budget import current
from ..jit import by_reference, inlined, kernel
from ..mechanism.topology import CLOSED, Flat, Topology
from .elimination import Elimination, eliminate, new_elimination, refactor
from .kernels import Placement, close, forward_kinematics, integrate, largest_motion, new_placement, rotate
from .null_space import extend, particular

CLOSURE_TOLERANCE = 1e-11  # of the robot's size
CONTRADICTION = 1e-6  # of the robot's size: more than rounding in a file explains
NEARBY = 0.01  # rad, and of the robot's size: a step after which other factors lead to the same closed pose
PROMPT = 4  # steps with the same factors to a closed loop: if more are left, new factors are quicker
MEASURABLE = 1e-6  # rad, and of the robot's size: smaller corrections are no measure of the next
SAMPLES = 4
AWAY = 0.05  # rad or m
ROUNDING = 16 * 2.0**-52  # of a body's distance from the origin: what closure there ends in, with room for long loops


@kernel
def project(flat, now, e, correction, right):
    """Bring `now` onto the loop-closure manifold by Newton steps of the dependent coordinates.

    With the factors at hand while they contract, else with new ones; near the end with those of the same pivots
    there, if they save steps. Rows that are zero with an axis turned away are no closure: they count as open by the
    robot's size. Return the closure residual [m], infinite where it diverges; `closed` says whether it is small
    enough.
    """
    return settle(flat, now, e, correction, right)[0]


@kernel
def settle(flat, now, e, correction, right):
    """Return what `project` does, and the largest ratio of a correction to the one before it; infinite by new factors.

    The second is by how much the derivatives differ between where the factors are from and here (Newton and
    Kantorovich): below 1 nothing else than the start's own assembly is as near.
    """
    forward_kinematics(flat, now)
    residual = close(flat, now)
    tolerance = CLOSURE_TOLERANCE * flat.size
    fresh, ratio, last = 0, 0.0, np.inf
    for _ in range(30):
        if residual <= tolerance:
            break
        for i in range(right.shape[0]):
            right[i] = -now.value[i]
        for i in range(correction.shape[0]):
            correction[i] = 0.0
        particular(flat, e, right, correction)
        _, largest = largest_motion(flat, correction)
        if not largest < 1.0:
            return np.inf, np.inf
        if last > MEASURABLE:
            ratio = max(ratio, largest / last)
        last = largest
        integrate(flat, now.q, correction, 1.0, now.q)
        forward_kinematics(flat, now)
        before, residual = residual, close(flat, now)
        if not residual <= 0.3 * before:
            if largest < 1e-12 or fresh == 6:
                break
            eliminate(flat, now, e)
            fresh += 1
            ratio = np.inf if last > MEASURABLE else ratio
        elif largest < NEARBY and residual * (residual / before) ** PROMPT > tolerance and not refactor(flat, now, e):
            eliminate(flat, now, e)
    return residual if _faces(flat, now) else max(residual, flat.size), ratio


@inlined
def _faces(flat, now):
    """Return whether the axes of all cuts point the way they do where these are assembled."""
    for k in range(flat.faced_cut.shape[0]):
        cut = flat.faced_cut[k]
        ux, uy, uz = rotate(now.R[flat.cut_a[cut]], flat.faced_u[k])
        wx, wy, wz = rotate(now.R[flat.cut_b[cut]], flat.faced_w[k])
        if ux * wx + uy * wy + uz * wz <= 0.0:
            return False
    return True


@kernel
def closed(flat, now, residual):
    """Return True if the closure residual [m] is at most `flat.accepted`, or the bodies' rounding."""
    if residual <= flat.accepted[0]:
        return True
    far = 0.0
    for b in range(1, flat.parent.shape[0]):
        for i in range(3):
            far = max(far, abs(now.c[b, i]))
    return residual <= ROUNDING * far


def prepared(topology: Topology) -> Flat:
    """Return a topology's arrays for the kernels, with `accepted` set.

    Where a file's rounded numbers make redundant rows contradict each other, the loops cannot close further than that,
    and this much is accepted.
    """
    flat = by_reference(topology.flat)
    if "floor" not in topology.known:
        topology.known["floor"] = max(
            (residual for residual, _ in assembled_poses(flat, topology.rest) if residual <= CONTRADICTION * flat.size),
            default=0.0,
        )
    flat.accepted[0] = max(CLOSED * flat.size, 3.0 * topology.known["floor"])
    return flat


def assembled_poses(flat: Flat, rest: np.ndarray) -> Iterator[tuple[float, Placement]]:
    """Yield the residual [m] and placement of the rest pose and of poses near it, brought onto the loops.

    The placement is the same object each time.
    """
    rng = np.random.default_rng(0)
    elimination, now = new_elimination(flat), new_placement(flat, rest)
    step, right = np.zeros(len(flat.before)), np.zeros(len(now.value))
    for pose in range(SAMPLES + 1):
        current().check()
        now.q[:] = rest
        forward_kinematics(flat, now)
        residual = float(close(flat, now))
        if pose > 0:
            eliminate(flat, now, elimination)
            step[:] = rng.uniform(-AWAY, AWAY, len(step))
            extend(flat, elimination, step)
            step *= AWAY / max(AWAY, float(np.abs(step).max(initial=0.0)))
            integrate(flat, rest, step, 1.0, now.q)
            residual = _pulled_all_the_way(flat, now, elimination, np.zeros_like(step), right)
        yield residual, now


def _pulled_all_the_way(
    flat: Flat, now: Placement, elimination: Elimination, correction: np.ndarray, right: np.ndarray
) -> float:
    """Project as `project` does, and go on while that helps.

    Near a singular pose it is slow, which must not be taken for rows that contradict.
    """
    residual = float(project(flat, now, elimination, correction, right))
    while residual > CLOSED * flat.size:
        eliminate(flat, now, elimination)
        before, residual = residual, float(project(flat, now, elimination, correction, right))
        if not residual < 0.5 * before:
            return min(before, residual)
    return residual
