"""A loop that cannot be closed: the message names its gap and what would close it, and that is so."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from robik.errors import AssemblyError
from robik.formats.assembly import closing
from robik.formats.assembly.assemble import assemble
from robik.formats.assembly.closing import STARTS
from robik.formats.assembly.open_joint import OpenJoint
from robik.formats.assembly.open_robot import OpenRobot
from robik.formats.assembly.remedies import NAMED, remedy
from robik.formats.imported import Notes
from robik.mechanism import WORLD, Body, Coupling, Pose

Z = Pose.of(np.array([[0.0, 0, 1], [0, 1, 0], [-1, 0, 0]]), (0, 0, 0))  # its x axis is the outer z


def at(x: float, y: float = 0.0, z: float = 0.0) -> Pose:
    return Pose((x, y, z)) @ Z


def fourbar(
    end: str = "revolute", reach: float = 2.0, twist: float = 0.0, offset: float = 0.0, coupler: str = "revolute"
) -> OpenRobot:
    """A four-bar linkage in the plane; `twist` turns the axis at its end out of it, `offset` moves that end out of
    it."""
    tilted = Pose((0, 0, 0), (float(np.cos(twist / 2)), 0.0, float(np.sin(twist / 2)), 0.0))
    return OpenRobot(
        "linkage",
        (Body("crank"), Body("rod"), Body("rocker")),
        (
            OpenJoint("a", "revolute", WORLD, "crank", near=Z, far=Z, actuated=True, stored=(1.2,)),
            OpenJoint("b", coupler, "crank", "rod", near=at(1), far=Z, stored=() if coupler == "fixed" else (-1.0,)),
            OpenJoint("c", "revolute", WORLD, "rocker", near=at(2), far=Z, stored=(1.6,)),
            OpenJoint("end", end, "rod", "rocker", near=at(reach), far=at(1.2, 0, offset) @ tilted),
        ),
    )


def refusal(robot: OpenRobot) -> str:
    with pytest.raises(AssemblyError) as error:
        assemble(robot, Notes(), Notes())
    return str(error.value)


def test_it_closes_as_it_should() -> None:
    assert len(assemble(fourbar(), Notes(), Notes()).mechanism.joints) == 4


def test_an_axis_that_is_askew_wants_a_second_axis() -> None:
    robot = fourbar(twist=0.5)
    said = refusal(robot)
    assert "loop 'end' (revolute, 'rod' to 'rocker') stays open by " in said
    assert "it would close with 'end' universal" in said
    mended = replace(robot, joints=tuple(replace(j, type="universal") if j.name == "end" else j for j in robot.joints))
    assemble(mended, Notes(), Notes())


def test_an_end_out_of_the_plane_wants_a_slide() -> None:
    robot = fourbar(offset=0.2)
    said = refusal(robot)
    assert "'end' cylindrical" in said
    assert "200 mm" in said or "mm and" in said
    mended = replace(
        robot, joints=tuple(replace(j, type="cylindrical") if j.name == "end" else j for j in robot.joints)
    )
    assemble(mended, Notes(), Notes())


def test_a_rigid_end_wants_a_hinge() -> None:
    said = refusal(fourbar("fixed", coupler="fixed", reach=1.5))
    assert "'end' revolute about its x axis" in said or "'end' spherical" in said


def test_lengths_that_do_not_reach_are_said_to_be_wrong() -> None:
    said = refusal(fourbar(reach=9.0))
    assert "mm and" in said
    assert said.endswith("no types of its joints close it, so its lengths or frames are wrong")


def test_loops_that_contradict_each_other_are_named() -> None:
    """The rod's far end is held in two places that are further apart than it moves; a coupling that holds it fast
    contradicts alike."""
    robot = fourbar()
    second = OpenJoint("second", "spherical", WORLD, "rod", near=Pose((2, 5, 0)), far=Pose((2, 0, 0)))
    said = refusal(replace(robot, joints=(*robot.joints, second)))
    assert said.endswith("no types of its joints close it, so its lengths or frames are wrong")
    second = replace(second, near=Pose((1.5, 0.5, 0)))
    assert "no types of its joints close it, but it would close without loop '" in refusal(
        replace(robot, joints=(*robot.joints, second))
    )
    geared = (Coupling("gear", "b", "a", (0.0, 0.1)), Coupling("stop", "c", "a", (1.0, 0.7)))
    assert refusal(replace(robot, couplings=geared)).endswith(
        "but it would close without coupling 'gear' or coupling 'stop'"
    )


def test_no_more_is_tried_than_is_said() -> None:
    robot = fourbar("fixed", twist=0.4, offset=0.3)
    tried: list[OpenRobot] = []
    remedy(robot, robot.closers[0], lambda each: not tried.append(each))  # type: ignore[func-returns-value]
    assert len(tried) == 1 + NAMED


def test_a_robot_without_limits_is_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[int] = []
    search = closing.search
    monkeypatch.setattr(
        closing,
        "search",
        lambda robot, q, bounds, starts=STARTS, **more: (
            searched.append(starts) or search(robot, q, bounds, starts, **more)
        ),
    )
    refusal(fourbar(reach=9.0))
    assert searched.count(STARTS) == 1


def test_several_changes_where_one_is_not_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(closing, "REMEDY_SECONDS", 60.0)  # a busy machine is no fault of the search
    robot = fourbar("fixed", twist=0.4, offset=0.3)
    said = refusal(robot)
    assert "it would close with" in said
    assert "\n" not in said
