"""A robot without arms whose legs bend back, as a bird's: where it looks, and what of a walk its legs follow."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robik.mechanism import Body, Frame, Joint, Mechanism, Pose
from robik.skeleton.anatomy import LEG, read_anatomy
from robik.skeleton.mapping import auto_map
from robik.skeleton.robot import limb_directions, robot_anatomy
from robik.skeleton.tracks import followed, track
from tests.skeleton.conventions import skeleton
from tests.skeleton.test_fit import fitted, solved, turned, walking

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
SOLE = ((-0.05, -0.02, -0.02), (0.1, -0.02, -0.02), (0.1, 0.02, -0.02), (-0.05, 0.02, -0.02))
HIP, HEEL, ANKLE = 0.8, 0.45, 0.06  # heights [m]


def bird(back: float, beside: float = 0.0) -> Mechanism:
    """Hips on two legs of six hinges each, their heels behind them; of one leg anchors lie `beside` on their axes."""
    bodies, joints, frames = [Body("pelvis", 5.0, pose=Pose((0.0, 0.0, HIP)))], [], []
    for side, y in (("l", 0.12), ("r", -0.12)):
        above = "pelvis"
        parts = [("yaw", Z, 0.0, HIP), ("roll", X, 0.0, HIP), ("thigh", Y, 0.0, HIP), ("shin", Y, -back, HEEL),
                 ("ankle", Y, 0.0, ANKLE), ("tarsus", X, 0.0, ANKLE)]  # fmt: skip
        for part, axis, x, z in parts:
            name = f"{part}_{side}"
            anchor = (x, y + beside * (part in ("shin", "ankle") and side == "l"), z)
            bodies.append(Body(name, 0.5, pose=Pose((x, y, z))))
            limits = (-2.0, 0.3) if part == "shin" else (-1.6, 1.6)
            joints.append(
                Joint(
                    f"to {name}", "revolute", above, name, position=anchor, axis=axis, limits=(limits,), actuated=True
                )
            )
            above = name
        frames.append(Frame(f"foot_{side}", above, Pose(), SOLE))
    return Mechanism("bird", tuple(bodies), tuple(joints), frames=tuple(frames))


def test_it_looks_where_it_walks_whatever_its_knees_do() -> None:
    """Its heels are where a person's knees are not: laid over by them, it walked aslant by 67 degrees."""
    bones, _ = skeleton("lafan1")
    motion = walking(bones)
    found, rows, _ = fitted(bird(0.25), motion)
    hips = next(k for k, row in enumerate(rows) if row.frame == "pelvis")
    path = track(*followed(motion, rows[hips].bone, None), found.targets[hips].offset, found.placement)
    assert path.position is not None
    assert path.quaternion is not None
    way = path.position[-1] - path.position[0]
    ahead = Rotation.from_quat(path.quaternion, scalar_first=True).apply(X)
    assert (ahead @ way).min() / np.linalg.norm(way) > np.cos(np.radians(10))
    missed = solved(bird(0.25), motion, found, rows)
    assert max(missed[name].max() for name in ("pelvis", "foot_l", "foot_r")) < 0.02


def test_legs_that_bend_back_do_not_point_as_a_persons() -> None:
    bones, _ = skeleton("lafan1")
    anatomy = read_anatomy(bones, walking(bones).positions)
    for back, followed_parts in ((0.25, set()), (-0.02, {"thigh", "shin"})):
        rows = auto_map(bird(back), bones.names, anatomy)
        assert {row.part for row in rows if row.is_direction} == followed_parts


@pytest.mark.parametrize("beside", [0.0, 0.07, -0.07])
def test_where_anchors_lie_on_their_axes_says_nothing_of_a_limbs_direction(beside: float) -> None:
    robot = bird(-0.02, beside)
    leg = robot_anatomy(robot).limb(LEG, "l")
    assert leg is not None
    assert leg.ways[0] == pytest.approx([0.02, 0.0, HEEL - HIP], abs=1e-6)
    assert limb_directions(robot)["thigh_l"][1] == pytest.approx(0.0, abs=1e-6)


def test_a_walk_that_is_turned_is_followed_alike() -> None:
    bones, _ = skeleton("lafan1")
    whole = {"Hips": Rotation.from_euler("z", 1.0)}
    motion = turned(bones, [whole] * 40, np.column_stack([np.arange(40) / 40, np.zeros(40), np.zeros(40)]))
    found, rows, _ = fitted(bird(0.25), motion)
    hips = next(k for k, row in enumerate(rows) if row.frame == "pelvis")
    path = track(*followed(motion, rows[hips].bone, None), found.targets[hips].offset, found.placement)
    assert path.quaternion is not None
    ahead = Rotation.from_quat(path.quaternion[0], scalar_first=True).apply(X)
    asked = Rotation.from_euler("z", 1.0).apply([0.0, -1.0, 0.0])  # the skeleton looks along −Y
    assert ahead @ asked > np.cos(np.radians(3))
