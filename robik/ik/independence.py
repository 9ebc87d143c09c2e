"""Distance of a robot from singular poses, motor by motor.

A motor is singular where it can only do what the others do as well: a straight knee lengthens the leg no further, two
axes in line turn the same. With Jᵢ what motor i changes of all that is followed, its independence is the sine of the
angle between Jᵢ and what all others span together:

    1 / (|Jᵢ| |(J⁺)ᵢ|)

It is 1 for a motor that does what no other does at all, 0 in a singular pose. Loops need no care of their own: near a
pose where the motors lose hold of them, all columns grow along the same direction and so their angles shrink.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..kinematics.forward import Assembly, ForwardKinematics
from ..kinematics.frames import frame_poses
from ..mechanism.model import Mechanism
from ..mechanism.pose import Pose
from ..objectives.settings import Settings

STEP = 1e-5  # of a motor, for the derivatives [rad or m]
FLOOR = 1e-9  # of the largest singular value: nothing is more singular


def independence(
    fk: ForwardKinematics,
    values: np.ndarray,
    base: Pose | None,
    names: tuple[str, ...],
    settings: Settings,
    has_com: bool = False,
) -> np.ndarray | None:
    """Return the independence of each actuator (A,), 0 to 1, for frames that are followed.

    Actuators are at values (A,) [rad or m]. A floating robot's `base` counts as one more thing to move, as the
    floor under a robot that stands. Return None where the loops do not close at these values.
    """
    values = np.array(values, dtype=float)
    here = fk.solve(values, base)
    if not here.assembled:
        return None
    rest = np.array([body.rest_com for body in fk.mechanism.bodies])
    size = max(float(np.linalg.norm(np.ptp(rest, axis=0))), 1e-9)

    def followed(assembly: Assembly) -> np.ndarray:
        return _followed(fk.mechanism, assembly, names, settings, has_com, size)

    start, columns = followed(here), []
    for k in range(len(values)):
        moved = fk.solve(values + STEP * (np.arange(len(values)) == k), base)
        columns.append((followed(moved) - start).ravel())
    for pushed in _pushed(base, size) if base is not None and fk.root is not None else ():
        columns.append((followed(fk.solve(values, pushed)) - start).ravel())
    fk.solve(values, base)
    return _sines(np.array(columns).T)[: len(values)]


def _pushed(base: Pose, size: float) -> Iterator[Pose]:
    """Yield a pose a little shifted along, and turned about, each axis of the world."""
    half = np.sqrt(1.0 - 0.25 * STEP**2)
    for k in range(3):
        shift = STEP * size * np.eye(3)[k]
        yield Pose(tuple(np.array(base.position) + shift), base.quaternion)
        turn = Pose((0.0, 0.0, 0.0), (half, *(0.5 * STEP * np.eye(3)[k])))
        yield Pose(base.position, (turn @ Pose((0.0, 0.0, 0.0), base.quaternion)).quaternion)


def _sines(J: np.ndarray) -> np.ndarray:
    """1 / (|Jᵢ| |(J⁺)ᵢ|) of each column; 1 where a column is zero, as then nothing is lost."""
    if not J.size:
        return np.ones(J.shape[1])
    _, s, vt = np.linalg.svd(J, full_matrices=False)
    inverse = vt.T / np.maximum(s, FLOOR * max(float(s[0]), 1e-300))
    product = np.linalg.norm(J, axis=0) * np.linalg.norm(inverse, axis=1)
    return 1.0 / np.maximum(product, 1.0)


def _followed(
    mechanism: Mechanism, assembly: Assembly, names: tuple[str, ...], settings: Settings, has_com: bool, size: float
) -> np.ndarray:
    """Return what has weight, as points: positions and tips of the frames' axes, in robot sizes (rows, 3)."""
    position, quaternion = assembly.position[None], assembly.quaternion[None]
    rows = []
    for name in names:
        x, R = frame_poses(mechanism, name, position, quaternion)
        weights = settings.weights(name)
        rows.append(np.where(np.array(weights.position) > 0, x[0] / size, 0.0))
        rows += [(R[0] @ weights.axes)[:, k] for k in range(3) if weights.directions[k] > 0]
    if has_com:
        rows.append(np.where(np.array(settings.com_weight) > 0, assembly.com / size, 0.0))
    return np.array(rows).reshape(-1, 3)
