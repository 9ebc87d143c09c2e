"""Nearest shapes of pairs of bodies against all shapes, measured one by one."""

from __future__ import annotations

from itertools import product

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robik.collision.judge import Judge
from robik.collision.shapes import CollisionShape
from robik.mechanism import WORLD, Body, Joint, Mechanism
from robik.mechanism.pose import Pose

MOST = 0.05
PAIRS = [(0, 1), (0, 2), (1, 2)]


def random_shape(rng: np.random.Generator, body: str) -> CollisionShape:
    """Return a shape somewhere on a body, of any kind."""
    pose = Pose(tuple(rng.uniform(-0.2, 0.2, 3)), tuple(Rotation.random(random_state=rng).as_quat()[[3, 0, 1, 2]]))
    kind = str(rng.choice(["capsule", "box", "sphere", "cylinder"]))
    size = {"sphere": 1, "box": 3}.get(kind, 2)
    return CollisionShape(body=body, kind=kind, pose=pose, size=tuple(rng.uniform(0.01, 0.08, size)))


def motion(rng: np.random.Generator, step: float) -> tuple[np.ndarray, np.ndarray]:
    """Return poses of three bodies that go about each other: positions (T, 3, 3) and quaternions (T, 3, 4)."""
    position = 0.2 * np.sin(np.cumsum(rng.normal(size=(60, 3, 3)) * 5 * step, axis=0) + rng.uniform(-1.5, 1.5, (3, 3)))
    turned = Rotation.from_rotvec(np.cumsum(rng.normal(size=(60, 3, 3)) * 3 * step, axis=0).reshape(-1, 3))
    return position, turned.as_quat()[:, [3, 0, 1, 2]].reshape(60, 3, 4)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("step", [0.0, 1e-3, 0.02, 0.3])
def test_they_are_the_nearest_of_all(seed: int, step: float) -> None:
    rng = np.random.default_rng(seed)
    bodies = [Body(name, 1.0) for name in "abc"]
    robot = Mechanism("loose", bodies, [Joint(f"to {body.name}", "free", WORLD, body.name) for body in bodies])
    shapes = [random_shape(rng, body.name) for body in bodies for _ in range(5)]
    judge = Judge(robot, shapes, PAIRS)
    position, quaternion = motion(rng, step)
    found = judge.distances(position, quaternion, PAIRS, MOST)
    model, data = judge._model, judge._data
    expected = np.full(found.shape, MOST)
    for k in range(len(position)):
        data.qpos[:] = np.concatenate([position[k], quaternion[k]], axis=1).ravel()
        mujoco.mj_kinematics(model, data)
        for p, (a, b) in enumerate(PAIRS):
            for i, j in product(np.flatnonzero(judge._of == a), np.flatnonzero(judge._of == b)):
                expected[k, p] = min(expected[k, p], mujoco.mj_geomDistance(model, data, i, j, MOST, None))
    assert (expected < MOST).any()
    np.testing.assert_array_equal(found, expected)
