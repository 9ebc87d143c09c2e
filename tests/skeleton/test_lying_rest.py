"""Feet of skeletons that rest lying down, with their legs apart, or have short legs: the ankles."""

from __future__ import annotations

import numpy as np
import pytest

from robik.skeleton.anatomy import read_anatomy
from robik.skeleton.skeleton import Skeleton

NAMES = ("Root", "Hips", "Spine", "Chest", "Head", "ArmL", "ElbowL", "HandL", "ArmR", "ElbowR", "HandR")
NAMES += ("LegL", "KneeL", "AnkleL", "ToesL", "LegR", "KneeR", "AnkleR", "ToesR")
PARENTS = np.array([-1, 0, 1, 2, 3, 3, 5, 6, 3, 8, 9, 1, 11, 12, 13, 1, 15, 16, 17])
ANKLE, TOES = 0.15, 0.02  # m above the ground in a standing pose


def standing(swing: float) -> np.ndarray:
    """Return where the bones are (19, 3) as the body stands, its left heel raised by `swing` [m]."""
    points = np.zeros((19, 3))
    points[1:5, 2] = 1.05, 1.2, 1.4, 1.6
    for first, side in ((5, 1.0), (8, -1.0)):
        points[first : first + 3] = [[0.0, 0.2 * side, 1.4 - 0.28 * k] for k in range(3)]
    for first, side, up in ((11, 1.0, swing), (15, -1.0, 0.0)):
        points[first : first + 4] = [[0.0, 0.1 * side, height] for height in (1.0, 0.55 + up, ANKLE + up, TOES + up)]
        points[first + 3, 0] = 0.14
    return points


def lying() -> np.ndarray:
    """Return the rest pose: flat at the height of the hips, one leg ahead, one behind, feet stretched."""
    points = standing(0.0)
    flat = np.column_stack([points[:, 2] - 1.0, points[:, 1], np.full(19, 1.05)])
    for first, way in ((11, 1.0), (15, -1.0)):
        flat[first : first + 4, 0] = way * np.array([0.0, 0.45, 0.85, 0.99])
    flat[0] = 0.0
    return flat


@pytest.mark.parametrize("named", [True, False])
def test_a_foot_is_the_ankle_in_a_skeleton_that_rests_lying(named: bool) -> None:
    names = NAMES if named else tuple(f"b{k}" for k in range(19))
    rest = lying()
    upright = np.tile([1.0, 0.0, 0.0, 0.0], (19, 1))
    skeleton = Skeleton(names, PARENTS, rest, upright, rest + np.array([0.05, 0.0, 0.0]))
    anatomy = read_anatomy(skeleton, np.stack([standing(swing) for swing in (0.0, 0.2, 0.25, 0.3, 0.1)]))
    feet = {limb.end for limb in anatomy.limbs if limb.kind == "leg"}
    assert feet == {names[13], names[17]}


def test_the_foot_of_a_biped_with_short_legs_is_what_is_called_so() -> None:
    """Its ankle is at a third of its hips' height."""
    said = {"Ankle": "Foot", "Leg": "UpperLeg", "Knee": "LowerLeg"}
    names = tuple(said.get(name[:-1], name[:-1]) + name[-1] for name in NAMES)
    points = standing(0.0)
    for first in (11, 15):
        points[first : first + 3, 2] = 0.4, 0.27, 0.14
        points[first + 3, 0] = 0.05
    points[1:11, 2] -= 0.6
    upright = np.tile([1.0, 0.0, 0.0, 0.0], (19, 1))
    anatomy = read_anatomy(Skeleton(names, PARENTS, points, upright, points + np.array([0.05, 0.0, 0.0])))
    assert [limb.end for limb in anatomy.limbs if limb.kind == "leg"] == ["FootL", "FootR"]
