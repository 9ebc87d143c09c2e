"""Figures of a motion's contacts, by poses of bodies that a test sets: each worked out by hand, point by point."""

from __future__ import annotations

from math import cos, radians, sin, sqrt

import numpy as np
import pytest

from robik.clips.clip import TargetClip, Track
from robik.mechanism.model import Mechanism
from robik.mechanism.parts import Body, Frame, Joint
from robik.mechanism.pose import Pose
from robik.report.quality import QualityFigures

TIMES = np.array([0.0, 0.1, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8])
SOLE = tuple((x, y, 0.0) for x, y in ((0.1, 0.04), (-0.1, 0.04), (-0.1, -0.04), (0.1, -0.04)))
OFF = {2: (0.003, 0.004, 0.0), 3: (0.003, 0.004, 0.007), 6: (0.0, 0.0, -0.003)}  # m, of the foot where it stands
TURN = 2.0  # degrees about the vertical, in sample 4
VALUES = np.array([[0.0, 0.0], [0.01, 5.0], [0.0, 0.0], [-0.05, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.03, 0.0]])


def robot() -> Mechanism:
    """Return a foot with a sole, an arm that turns on it and a cart that slides."""
    bodies = [Body(name, 1.0) for name in ("foot", "arm", "cart")]
    joints = [Joint("turn", "revolute", "foot", "arm", actuated=True),
              Joint("slide", "prismatic", "foot", "cart", actuated=True)]  # fmt: skip
    return Mechanism("r", bodies, joints, frames=[Frame("sole", "foot", Pose(), SOLE), Frame("hand", "arm", Pose())])


def figures(blocks: tuple[int, ...]) -> QualityFigures:
    """Return the figures of eight samples, taken in up to each of these."""
    held = np.where(np.arange(8)[:, None] < 5, 0.0, [0.3, 0.0, 0.0])
    foot, contact = held.copy(), np.isin(np.arange(8), (1, 2, 3, 4, 6, 7))
    foot[0], foot[5] = [0.0, 0.2, 0.1], [0.1, 0.0, -0.0005]
    for k, off in OFF.items():
        foot[k] += off
    hand = np.tile([0.5, 0.0, 1.0], (8, 1))
    upright = np.tile([1.0, 0.0, 0.0, 0.0], (8, 1))
    clip = TargetClip(TIMES, {
        "sole": Track(held, upright, contact=contact),
        "hand": Track(hand, contact=np.isin(np.arange(8), (2, 3))),
    })  # fmt: skip
    found = QualityFigures(robot(), clip)
    palm, turns = hand.copy(), np.tile([1.0, 0.0, 0.0, 0.0], (8, 3, 1))
    palm[3, 1] += 0.001
    palm[5:] += 1.0
    turns[4, 0] = cos(radians(TURN / 2)), 0.0, 0.0, sin(radians(TURN / 2))
    position = np.stack([foot, palm, palm], axis=1)
    for start, stop in zip((0, *blocks[:-1]), blocks, strict=True):
        found.add(slice(start, stop), position[start:stop], turns[start:stop])
    return found


@pytest.mark.parametrize("blocks", [(8,), (3, 8), (1, 2, 4, 5, 7, 8)])
def test_figures_of_contacts(blocks: tuple[int, ...]) -> None:
    jerk = np.zeros((8, 2))
    jerk[3], jerk[4] = [4.0, 1e3], [-8.0, 1e3]
    found = figures(blocks).quality(VALUES, jerk)
    ways = []
    for x, y, _ in SOLE:
        turned = (x * cos(radians(TURN)) - y * sin(radians(TURN)), x * sin(radians(TURN)) + y * cos(radians(TURN)))
        ways.append(sqrt((turned[0] - x - 0.003) ** 2 + (turned[1] - y - 0.004) ** 2 + 0.007**2))
    slides = [5.0 / 0.1, 7.0 / 0.2, 1e3 * sum(ways) / 4 / 0.1, 3.0 / 0.1, 1.0 / 0.2]  # mm/s; the last is the hand's
    assert found.slide_mm_s == pytest.approx(sum(slides) / 5)
    assert found.float_mm == pytest.approx(7.0)
    assert found.floor_penetration_mm == pytest.approx(3.0)
    assert found.floor_penetration_frames == 1 / 8, "half a millimetre in a swing is no matter"
    assert found.contact_off_mm == pytest.approx(sqrt(25.0 + 49.0))
    assert found.contact_sample == 3
    assert found.contact_turned_deg == pytest.approx(TURN)
    assert found.jump_rad == pytest.approx(0.05 / 0.1 / 120), "of what turns, in a 120th of a second"
    assert found.jerk_rad_s3 == pytest.approx(sqrt((16.0 + 64.0) / 8))


def test_contacts_that_are_late_are_told_with_how_far_they_are_off() -> None:
    late = figures((4, 8)).late()
    turned = late.pop(4)[0]
    assert turned.startswith("contact of sole late by ") and turned.endswith(" mm, turned by 2°")
    assert late == {
        2: ["contact of sole late by 5.0 mm"],
        3: ["contact of sole late by 8.6 mm", "contact of hand late by 1.0 mm"],
        6: ["contact of sole late by 3.0 mm"],
    }


def test_without_contacts_there_are_figures_of_joints_alone() -> None:
    clip = TargetClip(TIMES, {"sole": Track(np.zeros((8, 3)))})
    figures = QualityFigures(robot(), clip)
    figures.add(slice(0, 8), np.zeros((8, 3, 3)), np.tile([1.0, 0.0, 0.0, 0.0], (8, 3, 1)))
    found = figures.quality(VALUES, np.zeros((8, 2)))
    assert found.slide_mm_s is None and found.contact_off_mm is None and found.jump_rad > 0.0
    assert figures.late() == {}
