"""Targets that lead through the seams of an own range, and stances that stay over them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from robik.clips.clip import TargetClip, Track
from robik.kinematics.forward import body_poses
from robik.kinematics.frames import frame_poses, robot_com
from robik.motions import Motion
from robik.retargeting.blend import shares
from robik.retargeting.own_range import OwnRange
from robik.retargeting.retarget import retarget
from robik.retargeting.seams import led_through
from tests.clip_solver.clips import WALKER, WALKING, hurried_walk

FIRST, LAST, FRAMES = 40, 100, 8  # of the range, and those over which targets change over


@cache
def walked() -> Motion:
    """Return the walk before."""
    return retarget(WALKER, hurried_walk(2.0, 60.0), replace(WALKING, contacts="hold"))


def led(clip: TargetClip, before: Motion | None = None, blend: int = FRAMES) -> TargetClip:
    """Return a clip of the range between frames that stay."""
    own, share = OwnRange(FIRST, LAST, before or walked()), np.zeros(len(clip.times))
    share[FIRST : LAST + 1] = shares(np.arange(FIRST, LAST + 1.0), blend, True, True)
    return led_through(WALKER, clip, own, share)


def moved(name: str, by: np.ndarray) -> TargetClip:
    """Return the walk with a frame's targets elsewhere."""
    clip = hurried_walk(2.0, 60.0)
    track = clip.tracks[name]
    assert track.position is not None
    return replace(clip, tracks={**clip.tracks, name: replace(track, position=track.position + by)})


def places(motion: Motion, name: str) -> np.ndarray:
    """Return where a motion has a frame (T, 3)."""
    assert motion.base is not None
    poses = body_poses(WALKER, motion.values, (motion.base.position, motion.base.quaternion))
    return frame_poses(WALKER, name, poses[0], poses[1])[0]


def standing(track: Track) -> np.ndarray:
    """Return when a frame stands."""
    assert track.contact is not None
    return track.contact


def test_targets_come_out_of_the_motion_before_and_lead_back() -> None:
    lower = np.array([0.0, 0.0, -0.02])
    clip = led(moved("pelvis", lower))
    track, asked, before = clip.tracks["pelvis"], moved("pelvis", lower).tracks["pelvis"], walked()
    outside, full = np.r_[0 : FIRST + 1, LAST : len(clip.times)], slice(FIRST + FRAMES, LAST - FRAMES + 1)
    np.testing.assert_allclose(track.position[outside], places(before, "pelvis")[outside], atol=1e-12)
    np.testing.assert_allclose(track.position[full], asked.position[full], atol=1e-15)
    np.testing.assert_allclose(track.quaternion[full], asked.quaternion[full], atol=1e-12)
    away = (track.position - places(before, "pelvis"))[FIRST : FIRST + FRAMES + 1, 2]
    assert (np.diff(away) < 0).all(), "it goes down all the way"
    assert before.base is not None
    position, quaternion, _ = body_poses(WALKER, before.values, (before.base.position, before.base.quaternion))
    np.testing.assert_allclose(clip.com[outside], robot_com(WALKER, position, quaternion)[outside], atol=1e-12)
    np.testing.assert_allclose(clip.com[full], hurried_walk(2.0, 60.0).com[full], atol=1e-15)


def seams() -> list[tuple[str, slice]]:
    """Return the feet that stand over a seam, with a part of that stance inside the range."""
    clip, found = hurried_walk(2.0, 60.0), []
    for name, track in clip.tracks.items():
        if track.contact is not None:
            found += [(name, slice(FIRST, FIRST + 3))] if track.contact[FIRST - 1 : FIRST + 3].all() else []
            found += [(name, slice(LAST - 2, LAST + 1))] if track.contact[LAST - 2 : LAST + 2].all() else []
    return found


def test_a_foot_that_stands_over_a_seam_is_held_where_it_stood() -> None:
    assert len(seams()) >= 2
    for name, part in seams():
        asked = moved(name, np.array([0.0, 0.005, 0.0]))
        track = led(asked).tracks[name]
        np.testing.assert_array_equal(standing(track), standing(asked.tracks[name]))
        where = places(walked(), name)[part]
        np.testing.assert_allclose(track.position[part], where, atol=1e-9)
        assert np.abs(asked.tracks[name].position[part] - where).max() > 0.004


def test_a_foot_that_stood_elsewhere_or_did_not_stand_is_no_contact_while_targets_change_over() -> None:
    (name, part), *_ = seams()
    far = led(moved(name, np.array([0.0, 0.2, 0.0]))).tracks[name]
    assert not standing(far)[part].any()
    assert standing(far).any(), "elsewhere it stands"
    before, swung = walked(), walked().base
    assert swung is not None
    drift = np.arange(len(before.times))[:, None] * np.array([0.0, 0.001, 0.0])
    sliding = replace(before, base=replace(swung, position=swung.position + drift))
    slid = led(hurried_walk(2.0, 60.0), sliding).tracks[name]
    assert not standing(slid)[part].any()


def test_without_a_blend_the_whole_range_has_its_own_targets() -> None:
    lower = np.array([0.0, 0.0, -0.02])
    track, asked = led(moved("pelvis", lower), blend=0).tracks["pelvis"], moved("pelvis", lower).tracks["pelvis"]
    np.testing.assert_allclose(track.position[FIRST : LAST + 1], asked.position[FIRST : LAST + 1], atol=1e-15)
