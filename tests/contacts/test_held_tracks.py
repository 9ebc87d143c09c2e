"""Where frames are held, and how their targets lead away again, against curves by SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline
from scipy.spatial.transform import Rotation

from robik import robots
from robik.clips.clip import TargetClip, Track
from robik.feet.held_contacts import FADE, held_tracks
from robik.objectives.settings import Settings
from robik.retargeting.retarget import retarget


@pytest.mark.parametrize(
    ("frames", "again", "until"),
    [(40, None, 39 / 60), (100, None, 29 / 60 + FADE), (100, 40, 40 / 60), (41, 40, 40 / 60)],
)
def test_a_target_leads_away_from_its_contact_until_the_fade_the_next_contact_or_the_end(
    frames: int, again: int | None, until: float
) -> None:
    """It slides and turns on at a steady speed, while the frame stands where it was when it touched the ground."""
    times = np.arange(frames) / 60
    stands = (times < 29.5 / 60) | (np.arange(frames) >= (frames if again is None else again))
    angle = 0.5 * times
    position = np.column_stack([0.3 * times, 0.0 * times, 0.1 + 0.0 * times])
    quaternion = np.column_stack([np.cos(angle / 2), 0.0 * angle, 0.0 * angle, np.sin(angle / 2)])
    clip = TargetClip(times, {"foot": Track(position, quaternion, contact=stands)})
    found = held_tracks(clip)["foot"]
    back = CubicHermiteSpline([29 / 60, until], [1.0, 0.0], [0.0, 0.0])
    air = slice(30, frames if again is None else again)
    share = np.where(times[air] < until, back(times[air]), 0.0)
    np.testing.assert_allclose(found.position[:30], position[:1].repeat(30, axis=0), atol=1e-15)
    np.testing.assert_allclose(found.position[air, 0], 0.3 * (times[air] - share * times[29]), atol=1e-12)
    turned = Rotation.from_quat(found.quaternion[:, [1, 2, 3, 0]]).as_rotvec()[:, 2]
    np.testing.assert_allclose(turned[:30], 0.0, atol=1e-12)
    np.testing.assert_allclose(turned[air], 0.5 * (times[air] - share * times[29]), atol=1e-12)


def test_orientations_go_on_without_a_change_of_sign_where_a_contact_begins() -> None:
    """Of a robot that is turned beyond half a turn, so that the quaternion with the larger number is the other one."""
    walker, turn = robots.load("walker"), Rotation.from_euler("z", 190.0, degrees=True)
    tracks = {}
    for name in ("pelvis", "foot_l", "foot_r"):
        rest = walker.rest_pose(name)
        whole = turn * Rotation.from_quat(np.array(rest.quaternion)[[1, 2, 3, 0]])
        contact = None if name == "pelvis" else np.arange(40) > 0
        tracks[name] = Track(
            np.tile(turn.apply(rest.position), (40, 1)),
            np.tile(whole.as_quat()[[3, 0, 1, 2]], (40, 1)),
            contact=contact,
        )
    motion = retarget(walker, TargetClip(np.arange(40) / 60, tracks), Settings())
    assert (np.einsum("tbi,tbi->tb", motion.quaternion[1:], motion.quaternion[:-1]) > 0.99).all()
