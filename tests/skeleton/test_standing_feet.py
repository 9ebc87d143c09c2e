"""How a character's feet stand: as they do most often while they are low, whatever the drawn skeleton says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robik.feet.finding import foot_poses
from robik.feet.support import placed, sole_length
from robik.mechanism.orientations import quaternions, rotation
from robik.recordings.retargeting import retarget_recording
from robik.skeleton.correspondence import Poses, standing_orientation

UP = np.array([0.0, 0.0, 1.0])
AHEAD = np.array([0.0, 1.0, 0.0])  # so that a tilt about x lifts the toes


def poses(tilts: list[float], heights: list[float], rest: float = 0.0) -> Poses:
    """Poses of one foot, tilted about its own x axis [deg] at these heights [m] and headed anyhow; at rest first.

    A second bone makes the character 1.7 m tall.
    """
    headings = np.random.default_rng(5).uniform(-180.0, 180.0, len(tilts))
    turns = [Rotation.from_euler("ZX", way, degrees=True) for way in zip(headings, tilts, strict=True)]
    oriented = np.array([quaternions(turn) for turn in (Rotation.from_euler("x", rest, degrees=True), *turns)])
    where = np.array([[[0.0, 0.0, z], [0.0, 0.0, 1.7]] for z in (0.0, *heights)])
    return Poses(where, np.repeat(oriented[:, None], 2, axis=1))


def tilt(found: np.ndarray) -> float:
    """The tilt of a foot about its own x axis [deg] whose orientation is level in the world, so that it is taken."""
    y, z = rotation(found).inv().apply(UP)[1:]
    return float(np.degrees(np.arctan2(y, z)))


def swinging(number: int) -> tuple[list[float], list[float]]:
    """Tilts and heights of a foot in swings."""
    chance = np.random.default_rng(3)
    return chance.uniform(-60.0, 60.0, number).tolist(), chance.uniform(0.3, 0.5, number).tolist()


def test_a_foot_that_is_drawn_tilted_stands_as_the_motion_says() -> None:
    tilts, heights = swinging(30)
    seen = poses([15.0, 15.5, 14.5, 15.0, 15.2, 14.8, 15.0, 15.0, *tilts], [0.08] * 8 + heights)
    found = standing_orientation(seen, 0, 0, AHEAD)
    assert tilt(found) == pytest.approx(15.0, abs=0.5), "the sole is level where the motion's foot stands"
    assert tilt(standing_orientation(seen, 20, 0, AHEAD)) == pytest.approx(15.0, abs=0.5), "from a swing, too"


@pytest.mark.parametrize(("lifts", "stands"), [(15.0, 15.0), (-15.0, 0.0)])
def test_who_never_lifts_the_feet_may_stand_on_the_toes_but_not_on_the_heels(lifts: float, stands: float) -> None:
    seen = poses([lifts] * 12, [0.08] * 12)
    assert tilt(standing_orientation(seen, 0, 0, AHEAD)) == pytest.approx(stands, abs=0.1)


def test_a_motion_that_is_not_clear_leaves_the_rest_pose() -> None:
    tilts, heights = swinging(8)
    seen = poses([-40.0, -20.0, -5.0, 10.0, 25.0, 40.0, 50.0, -55.0, *tilts], [0.08] * 8 + heights)
    assert (standing_orientation(seen, 0, 0, AHEAD) == seen.quaternions[0, 0]).all()


def test_a_flat_foot_is_lower_than_one_on_its_toes() -> None:
    tilts, heights = swinging(16)
    toes, flat = [30.0] * 8, [0.0] * 5
    found = standing_orientation(
        poses([*toes, *flat, *tilts, *tilts], [0.14] * 8 + [0.08] * 5 + heights * 2), 20, 0, AHEAD
    )
    assert tilt(found) == pytest.approx(0.0, abs=0.2)


@pytest.mark.parametrize("robot", ["unitree_h1/h1.xml", "unitree_g1/g1_29dof.xml"])
def test_a_recording_whose_skeleton_is_drawn_on_its_toes_stands_flat(shared_data: Path, robot: str) -> None:
    """Its right foot is drawn 15° further down than it stands: it was 10° tilted, and 27 to 44 mm in the ground."""
    made = retarget_recording(
        shared_data / robot, shared_data / "bvh/bvh_test1.bvh", balance="off", pin_feet=False, end=4.0
    )
    feet = [frame for frame in made.mechanism.frames if frame.is_foot]
    assert len(feet) == 2
    for foot in feet:
        points = placed(np.array(foot.sole), *foot_poses(made.mechanism, made.clip, foot.name))
        centre = points.mean(axis=1)
        speed = np.linalg.norm(np.gradient(centre, made.clip.times, axis=0), axis=1)
        stands = (speed < 0.1) & (centre[:, 2] < np.percentile(centre[:, 2], 40))
        assert stands.sum() > 10
        sole = points[stands, :, 2]
        assert np.degrees(np.median(np.ptp(sole, axis=1)) / sole_length(foot)) < 2.0
        assert abs(np.median(sole.min(axis=1))) < 0.008
