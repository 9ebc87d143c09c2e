"""Up to which residual a robot's loops count as closed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from robik.kinematics.assembly import closed, prepared, project
from robik.kinematics.elimination import eliminate, new_elimination
from robik.kinematics.kernels import close, forward_kinematics, new_placement
from robik.mechanism import WORLD, Body, Joint, Mechanism
from robik.mechanism.topology import CLOSED, build_topology


def singular() -> Mechanism:
    """Two balls on one line with other joints: the rest pose is singular, and the way back to it is slow."""
    bodies = (
        Body("a", 1.0, com=(0.2, -0.4, 0.2)),
        Body("b", 1.0, com=(0.1, -0.1, -0.2)),
        Body("c", 1.0, com=(0.2, -0.2, 0.1)),
    )
    joints = (
        Joint(
            "ground",
            "cylindrical",
            WORLD,
            "a",
            position=(-0.5, -0.5, -1.0),
            axis=(1.0, 0.0, 0.0),
            axis2=(0.0, 0.0, 1.0),
        ),
        Joint(
            "j1",
            "general",
            "b",
            "a",
            position=(1.0, 0.5, -0.5),
            axis=(1.0, 0.0, 0.0),
            axis2=(0.0, 1.0, 0.0),
            motions=("tx", "tz", "ry"),
        ),
        Joint("j2", "cylindrical", "c", "b", position=(-0.5, -0.5, 0.0), axis=(0.0, 0.0, 1.0), axis2=(1.0, 0.0, 0.0)),
        Joint("loop0", "spherical", "a", "c", position=(-0.5, 0.5, 0.0)),
        Joint("loop1", "spherical", WORLD, "a", position=(-0.5, 0.0, 0.0)),
    )
    return Mechanism("singular", bodies, joints)


def test_a_singular_rest_pose_is_no_reason_to_close_loops_less() -> None:
    flat = prepared(build_topology(singular()))
    assert flat.accepted[0] == CLOSED * flat.size


def test_numbers_that_contradict_each_other_are() -> None:
    """A square of hinges, two of them tilted by 1e-8 rad, as rounding in a file does: away from rest it can close that
    far only."""
    y = (0.0, 1.0, 0.0)
    joints = [
        Joint("j1", "revolute", WORLD, "a", position=(0.0, 0.0, 0.0), axis=y),
        Joint("j2", "revolute", "a", "b", position=(0.0, 0.0, 1.0), axis=(0.0, 1.0, -1e-8)),
        Joint("j3", "revolute", "b", "c", position=(1.0, 0.0, 1.0), axis=(1e-8, 1.0, 0.0)),
        Joint("j4", "revolute", WORLD, "c", position=(1.0, 0.0, 0.0), axis=y),
    ]
    bodies = tuple(Body(name, 1.0) for name in "abc")
    exact = prepared(build_topology(Mechanism("exact", bodies, tuple(replace(j, axis=y) for j in joints))))
    rounded = prepared(build_topology(Mechanism("rounded", bodies, tuple(joints))))
    assert exact.accepted[0] == pytest.approx(CLOSED * exact.size)
    assert 5e-10 < rounded.accepted[0] < 1e-8


@pytest.mark.parametrize(
    ("kind", "turn"),
    [
        ("fixed", (0.5, 0.5, 0.5, 0.5)),  # a third of a turn about the diagonal
        ("fixed", (0.0, 0.0, 1.0, 0.0)),
        ("prismatic", (0.0, 1.0, 0.0, 0.0)),
        ("revolute", (0.0, 0.0, 1.0, 0.0)),  # its axis, x, points backwards
    ],
)
def test_a_joint_whose_rows_are_zero_the_wrong_way_round_is_open(kind: str, turn: tuple[float, ...]) -> None:
    """A body on a ball in the origin, which a second joint to the ground closes; turned so, its rows are zero, too."""
    axes = {"axis": (1.0, 0.0, 0.0), "axis2": (0.0, 1.0, 0.0)}
    joints = [
        Joint("ball", "spherical", WORLD, "a", **axes, actuated=True),
        Joint("second", kind, WORLD, "a", **axes),
    ]
    topology = build_topology(Mechanism("turned", [Body("a", 1.0)], joints))
    flat = prepared(topology)
    assert [cut.name for cut in topology.cuts] == ["second"]
    now, e = new_placement(flat, topology.rest), new_elimination(flat)
    scratch = np.zeros(len(flat.before)), np.zeros(len(now.value))
    for wrong in (False, True):
        now.q[-4:] = turn if wrong else (1.0, 0.0, 0.0, 0.0)
        forward_kinematics(flat, now)
        assert close(flat, now) < 1e-15
        eliminate(flat, now, e)
        residual = project(flat, now, e, *scratch)
        assert closed(flat, now, residual) is not wrong
        assert residual == (flat.size if wrong else pytest.approx(0.0, abs=1e-15))
