"""Distance where both points are in one place, which leaves its direction open."""

from __future__ import annotations

import numpy as np
import pytest

from robik.clips.clip import TargetClip
from robik.mechanism import WORLD, Body, Frame, Joint, Mechanism
from robik.objectives.distance import Distance
from robik.objectives.settings import Settings
from robik.retargeting.retarget import retarget


def gantry() -> Mechanism:
    """A body that slides along all three axes."""
    joint = Joint("slides", "cartesian", WORLD, "carriage", axis2=(0.0, 1.0, 0.0), actuated=True)
    return Mechanism("gantry", (Body("carriage", 1.0),), (joint,), frames=(Frame("tool", "carriage"),))


@pytest.mark.parametrize("distance", [0.05, 0.2])
def test_points_that_coincide_part_upwards(distance: float) -> None:
    clip = TargetClip(
        np.arange(3) / 60.0, {}, objectives=(Distance("tool", np.full(3, distance), point=np.zeros((3, 3))),)
    )
    motion = retarget(gantry(), clip, Settings(state_weight=1e-9))
    assert np.abs(motion.values - [0.0, 0.0, distance]).max() < 1e-6


def test_points_that_shall_coincide_do() -> None:
    """From beside it, straight to the point; there it stays."""
    point = np.tile([0.3, -0.2, 0.4], (4, 1))
    clip = TargetClip(np.arange(4) / 60.0, {}, objectives=(Distance("tool", np.zeros(4), point=point),))
    motion = retarget(gantry(), clip, Settings(state_weight=1e-9))
    assert np.abs(motion.values - point).max() < 1e-6
