"""Which body the legs hang on, and which target moves it."""

from __future__ import annotations

from dataclasses import replace

from robik import robots
from robik.feet.legs import pelvis, turns_freely
from robik.mechanism import Body, Frame, Joint, Mechanism, Pose
from robik.skeleton.hips import hips_of
from robik.skeleton.names import auto_map, part_of

SOLE = ((-0.1, -0.05, 0.0), (0.1, -0.05, 0.0), (0.1, 0.05, 0.0), (-0.1, 0.05, 0.0))


def humanoid(feet: tuple[str, ...] = ("leg_left_6_link", "leg_right_6_link")) -> Mechanism:
    """Held by its chest, as some files have it: chest, waist, hips, and legs on those."""
    parents = {"waist": "torso_2_link", "base_link": "waist", "head_2_link": "torso_2_link"}
    for side in ("left", "right"):
        parents |= {f"leg_{side}_1_link": "base_link", f"leg_{side}_6_link": f"leg_{side}_1_link"}
    bodies = tuple(Body(name, 1.0, pose=Pose((0.1 * k, 0.0, 0.0))) for k, name in enumerate(("torso_2_link", *parents)))
    joints = tuple(Joint(f"to {child}", "revolute", parent, child, actuated=True) for child, parent in parents.items())
    return Mechanism(
        "humanoid", bodies, joints, frames=tuple(Frame(f"sole {k}", body, Pose(), SOLE) for k, body in enumerate(feet))
    )


def test_the_pelvis_is_where_the_legs_meet() -> None:
    assert pelvis(humanoid()) == "base_link"
    assert pelvis(humanoid(("leg_left_6_link", "leg_right_1_link"))) == "base_link"
    assert pelvis(humanoid(("leg_left_6_link", "leg_left_1_link"))) == "base_link", "a foot is no pelvis"


def test_without_two_feet_on_one_body_there_is_none() -> None:
    assert pelvis(humanoid(())) is None
    assert pelvis(humanoid(("leg_left_6_link",))) is None
    assert pelvis(humanoid(("leg_left_6_link", "torso_2_link"))) is None


def test_hips_are_the_pelvis_else_what_is_called_so_else_no_foot() -> None:
    robot = humanoid()
    assert hips_of(robot, ("sole 0", "head_2_link", "base_link")) == "base_link"
    assert hips_of(robot, ("sole 0", "head_2_link", "torso_2_link")) == "torso_2_link"
    assert hips_of(robot, ("sole 0", "head_2_link")) == "head_2_link"
    assert hips_of(robot, ("sole 0", "sole 1")) is None


def test_a_leg_of_fewer_than_six_motions_cannot_turn_its_foot_every_way() -> None:
    robot = humanoid()
    assert not turns_freely(robot, "sole 0")
    free = replace(
        robot,
        joints=tuple(
            replace(j, type="free", motions=(), limits=(), rest=(), actuated=False) if "leg" in j.name else j
            for j in robot.joints
        ),
    )
    assert turns_freely(free, "sole 0")
    assert turns_freely(robots.load("walker"), "foot_l"), "six motors move it, through loops"


def test_bodies_in_a_row_are_known_by_their_number_and_the_last_is_taken() -> None:
    bones = ["Hips", "Spine", "Chest", "Head", "Hand.L", "Hand.R"]
    found = auto_map(["torso_1_link", "torso_2_link", "head_1_link", "head_2_link", "base_link"], bones, "base_link")
    assert found["base_link"] == "Hips"
    assert found["head_2_link"] == "Head"
    assert "head_1_link" not in found
    assert found["torso_2_link"] == "Spine"
    assert part_of("wrist_3_link")[0] == "", "an arm's wrists are no hands of a character"
