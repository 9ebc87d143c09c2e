"""Swinging soles that limits press into level ground: how deep, and by how much the next pass lifts them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from robik.collision.soles import MARGIN, SOLES, Soles
from robik.motions import Motion
from robik.retargeting.retarget import retarget
from tests.clip_solver.clips import WALKER, WALKING, hurried_walk

CLIP = hurried_walk(2.0, 60.0)
DEEP = 0.003  # m


@pytest.fixture(scope="module")
def pressed() -> tuple[Motion, int]:
    """Return a walk in whose first swing of the left foot the robot is lower in one sample, and that sample."""
    contact = CLIP.tracks["foot_l"].contact
    assert contact is not None
    sample = int(np.argmin(contact))
    motion = retarget(WALKER, CLIP, replace(WALKING, contacts="hold"))
    assert motion.position is not None
    sole = motion.position[sample, WALKER.body_index[WALKER.frame("foot_l").body], 2]
    lower = np.zeros((len(CLIP.times), 1, 3))
    still = motion.position[sample - 1, WALKER.body_index[WALKER.frame("foot_l").body], 2]
    lower[sample, 0, 2] = sole - still + DEEP
    return replace(motion, position=motion.position - lower), sample


def test_a_sole_in_level_ground_is_lifted_and_further_if_that_was_not_enough(pressed: tuple[Motion, int]) -> None:
    motion, sample = pressed
    soles = Soles(WALKER, CLIP)
    found = soles.depths(motion)
    pair = next(pair for pair, depth in found.items() if depth.argmax() == sample)
    assert pair[0] == SOLES
    assert found[pair][sample] == pytest.approx(DEEP, abs=1e-4)
    assert np.delete(found[pair], sample).max() < 1e-4
    (wall,) = soles.walls(motion, [pair])
    assert wall.frame == "foot_l"
    low = -found[pair][sample]
    assert wall.least[sample] == pytest.approx(low + DEEP + MARGIN, abs=1e-4)
    np.testing.assert_array_equal(wall.normal[sample], [0.0, 0.0, 1.0])
    assert (wall.least[len(wall.least) // 2 :] < 0.0).all(), "elsewhere it keeps off nothing"
    (again,) = soles.walls(motion, [pair])
    assert again.least[sample] == pytest.approx(wall.least[sample] + DEEP + MARGIN, abs=1e-4)


def test_where_no_sole_is_in_the_ground_there_is_nothing_to_lift() -> None:
    motion = retarget(WALKER, CLIP, replace(WALKING, contacts="hold"))
    assert all(depth.max() < 1e-3 for depth in Soles(WALKER, CLIP).depths(motion).values())
