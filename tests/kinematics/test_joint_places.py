"""Where joints are and what values they have, from the bodies' poses."""

from __future__ import annotations

import numpy as np
import pytest

from robik import robots
from robik.kinematics.forward import ForwardKinematics
from robik.kinematics.joint_places import joint_places


@pytest.mark.parametrize("name", ["walker", "boxer", "ur10", "validation"])
def test_values_are_what_forward_kinematics_was_told(name: str) -> None:
    robot, rng = robots.load(name), np.random.default_rng(3)
    fk = ForwardKinematics(robot)
    rest = np.array([v for joint in robot.actuated for v in joint.rest])
    for _ in range(5):
        values = rest + rng.uniform(-0.05, 0.05, len(rest))
        found = fk.solve(values)
        assert found.assembled
        places = joint_places(robot, found.position, found.quaternion)
        assert [place.joint for place in places] == list(robot.joints)
        assert np.concatenate([place.values for place in places if place.joint.actuated]) == pytest.approx(
            values, abs=1e-9
        )


def test_origins_and_axes_go_with_the_parent() -> None:
    robot = robots.load("walker")
    for place in joint_places(
        robot, *(np.array([getattr(b.pose, w) for b in robot.bodies]) for w in ("position", "quaternion"))
    ):
        if not any(place.joint.rest):
            assert place.origin == pytest.approx(place.joint.position, abs=1e-12)
            assert place.axes == pytest.approx(place.joint.matrix, abs=1e-12)
        assert place.values == pytest.approx(place.joint.rest, abs=1e-12)
