"""What a diagnosis says of robots whose state is known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from robik import robots
from robik.kinematics.diagnosis import diagnose
from robik.kinematics.driven import actuation
from robik.kinematics.mobility import inspect
from robik.mechanism import WORLD, Body, Joint, Mechanism, Pose

CORNERS = [(0.0, 0.0), (0.05, 0.1), (0.4, 0.3), (0.4, 0.0)]


def four_bar(tilt: float = 0.0, motors: tuple[str, ...] = ("a",)) -> Mechanism:
    """Four bars in a plane; the last hinge may stand askew."""
    bodies = tuple(
        Body(name, pose=Pose((x, y, 0)))
        for name, (x, y) in zip(("ground", "crank", "coupler", "rocker"), CORNERS, strict=True)
    )
    ring = [b.name for b in bodies] + ["ground"]
    joints = [
        Joint(
            name,
            "revolute",
            ring[k],
            ring[k + 1],
            position=(*CORNERS[k], 0),
            axis=(tilt if k == 3 else 0, 0, 1),
            actuated=name in motors,
        )
        for k, name in enumerate("abcd")
    ]
    return Mechanism("bars", bodies, (*joints, Joint("hold", "fixed", WORLD, "ground")))


def test_planar_loop_is_redundant_and_moves() -> None:
    found = diagnose(four_bar())
    assert found.redundant == ("a", "b", "c", "d")
    assert (found.needless, found.stuck, found.askew) == ((), (), ())
    assert found.inspection.mobility == 1
    assert "nothing contradicts" in found.sentences
    assert found.sentences[0] == "1 way to move, 1 loop, 3 redundant equations"


def test_hinge_askew_locks_the_loop_and_is_named() -> None:
    found = diagnose(four_bar(tilt=0.01))
    assert found.inspection.mobility == 0
    assert set(found.stuck) == set("abcd")
    assert "d" in found.askew
    assert set(found.askew) <= set("abcd"), "those of the loop alone"
    assert any("align their axes" in sentence for sentence in found.sentences)


def test_what_hangs_on_an_askew_loop_is_not_named() -> None:
    robot = four_bar(tilt=0.01)
    flag = Joint("flag", "revolute", "rocker", "cloth", position=(0.4, 0.0, 0.2), axis=(0, 1, 0))
    found = diagnose(robot.with_changes(bodies=(*robot.bodies, Body("cloth")), joints=(*robot.joints, flag)))
    assert "d" in found.askew
    assert set(found.askew) == set("abcd") == set(found.stuck)


def test_joint_that_ties_what_others_tie_is_needless() -> None:
    robot = four_bar()
    twin = replace(robot.joints[1], name="twin", position=(0.05, 0.1, 0.1))
    found = diagnose(robot.with_changes(joints=(*robot.joints, twin)))
    assert found.needless == ("b", "twin")
    assert found.stuck == ()


def test_motors_beyond_the_freedoms_are_counted() -> None:
    said = diagnose(four_bar(motors=("a", "c"))).sentences
    assert any("1 motors too many" in sentence for sentence in said)


def test_truss_cannot_move() -> None:
    bodies = [Body(n, pose=Pose((k, 0, 0))) for k, n in enumerate("xyz")]
    at = {"p": (0, 0, 0), "q": (1, 0, 0), "r": (0, 1, 0)}
    ends = {"p": "xy", "q": "yz", "r": "zx"}
    joints = [Joint(n, "revolute", *ends[n], position=at[n], axis=(0, 0, 1)) for n in at]
    assert set(diagnose(Mechanism("truss", tuple(bodies), tuple(joints))).stuck) == {"p", "q", "r"}


@pytest.mark.parametrize("name", ["boxer", "walker", "dancer"])
def test_counts_agree_with_the_tree_and_nothing_is_stuck(name: str) -> None:
    robot = robots.load(name)
    found = diagnose(robot)
    assert found.inspection == inspect(robot)
    assert found.stuck == ()
    assert bool(found.redundant) == bool(found.inspection.redundant_rows)


def test_motors_that_loops_lock_are_named_and_no_others() -> None:
    assert actuation(four_bar(motors=("a", "c"))).stuck == ()
    bars = four_bar(tilt=0.01, motors=("a", "c"))
    flags = [
        Joint(f"flag_{k}", "revolute", "rocker", f"cloth_{k}", position=(0.4, 0, 0.2), axis=(0, 1, 0), actuated=not k)
        for k in range(2)
    ]
    cloths = (Body("cloth_0", 1.0), Body("cloth_1", 1.0))
    found = actuation(bars.with_changes(bodies=(*bars.bodies, *cloths), joints=(*bars.joints, *flags)))
    assert set(found.stuck) == {"a", "c"}
    assert (found.freedoms, found.actuated, found.surplus, found.idle) == (2, 3, 2, (("flag_1",),))
