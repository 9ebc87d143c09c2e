"""Motors that move nothing that follows stay at rest, whatever balance could gain by them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from robik import TargetClip, Track, Weights, robots
from robik.bake.settings import BakeSettings, Balance
from robik.bake.solver_settings import solver_settings
from robik.bake.unfollowed import unfollowed_ranges
from robik.mechanism import WORLD, Body, Coupling, Frame, Joint, Mechanism, Pose
from robik.retargeting.retarget import retarget

ROOM = BakeSettings(enforce_velocity=False)


def figure(base: str = "free", couplings: tuple[Coupling, ...] = ()) -> Mechanism:
    """A trunk with two arms of two hinges and a heavy head on a neck of two, all without limits."""
    bodies, joints = [Body("trunk", 2.0)], [Joint("base", base, WORLD, "trunk")]
    limbs = {"head": (0.0, 0.0, 1.0), "left": (0.0, 1.0, 0.0), "right": (0.0, -1.0, 0.0)}
    for name, way in limbs.items():
        above = "trunk"
        for k, axis in enumerate(((1.0, 0.0, 0.0), (0.0, 0.0, 1.0))):
            place = tuple((0.2 + 0.1 * k) * np.array(way))
            bodies.append(Body(f"{name} {k}", 1.0, com=(0.05, 0.0, 0.05), pose=Pose(place)))
            joints.append(
                Joint(f"{name} joint {k}", "revolute", above, f"{name} {k}", position=place, axis=axis, rest=(0.1,),
                      actuated=True)
            )  # fmt: skip
            above = f"{name} {k}"
    frames = tuple(Frame(f"{name} end", f"{name} 1") for name in limbs)
    return Mechanism("figure", tuple(bodies), tuple(joints), frames=frames, couplings=couplings)


def held(robot: Mechanism, *followed: str) -> set[str]:
    ranges = unfollowed_ranges(robot, frozenset(followed))
    assert set(ranges.values()) <= {(0.1, 0.1)}
    return set(ranges)


def test_motors_on_the_way_between_what_follows_are_free() -> None:
    both = {"head joint 0", "head joint 1"}
    right = {"right joint 0", "right joint 1"}
    assert held(figure(), "left end", "right end") == both
    assert held(figure(), "left 0", "right end") == both | {"left joint 1"}
    assert held(figure(), "left end", "trunk") == both | right
    assert held(figure(), "left end") == held(figure()) == set(), "where it floats, nothing tells which end counts"
    assert held(figure("fixed"), "left end") == both | right
    assert held(figure("fixed")) == set(), "only the centre of mass may follow"


def test_motors_in_loops_and_coupled_ones_are_left_alone() -> None:
    coupled = (Coupling("nod", "head joint 1", "head joint 0"),)
    assert held(figure(couplings=coupled), "left end", "right end") == set()
    assert unfollowed_ranges(robots.load("four_bar"), frozenset(["ground"])) == {}


@pytest.mark.parametrize("others", [(), ("head end",), None])
def test_a_head_does_not_nod_for_balance(others: tuple[str, ...] | None) -> None:
    robot, times = figure(), np.arange(8) / 30
    rest = {name: robot.rest_pose(robot.frame(name).body) for name in ("left end", "right end")}
    tracks = {
        name: Track(np.tile(pose.position, (8, 1)), np.tile(pose.quaternion, (8, 1))) for name, pose in rest.items()
    }
    wanted = np.tile([0.3, 0.0, 0.1], (8, 1))  # further than the arms allow
    clip = TargetClip(times, tracks, com=wanted)
    balance = replace(Balance(), mode="still", pin_feet=False)
    settings = solver_settings(robot, dict.fromkeys(tracks, Weights()), balance, ROOM, others=others)
    motion = retarget(robot, clip, settings)
    head = [robot.actuators.index(f"head joint {k}") for k in (0, 1)]
    nods = np.abs(motion.values[:, head] - 0.1).max()
    assert nods < 1e-12 if others == () else nods > 0.2


def test_a_head_that_is_held_is_no_reason_for_a_miss() -> None:
    robot, times = figure(), np.zeros(1)
    rest = {name: robot.rest_pose(robot.frame(name).body) for name in ("left end", "right end")}
    far = {name: Track(np.array([pose.position]) * 3.0, np.array([pose.quaternion])) for name, pose in rest.items()}
    settings = solver_settings(robot, dict.fromkeys(far, Weights()), replace(Balance(), mode="off"), ROOM)
    assert "head joint 0" in settings.ranges
    (why,) = dict(retarget(robot, TargetClip(times, far), settings).report.short).values()
    assert why and "head" not in why
