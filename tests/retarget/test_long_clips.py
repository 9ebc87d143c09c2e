"""Long clips: what a bake of many frames takes of memory, and that pieces are what the whole is."""

from __future__ import annotations

import copy
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from robik import robots
from robik.bench.cases import BALANCED
from robik.bench.walking import walk_clip
from robik.clips.clip import TargetClip, Track
from robik.ik.standing import StandingSolver
from robik.motions import Motion
from robik.objectives.settings import Settings
from robik.retargeting import solved
from robik.retargeting.retarget import Retargeting, retarget
from tests.ik.balls import tripod

FRAMES = 20_000
MOST = 2000  # bytes a frame


def test_a_long_clip_takes_at_most_two_kilobytes_a_frame() -> None:
    walker = robots.load("walker")
    retarget(walker, walk_clip(walker, 10.0, balanced=True), BALANCED)  # compiled
    clip = walk_clip(walker, FRAMES / 9, balanced=True)
    tracemalloc.start()
    motion = retarget(walker, clip, BALANCED)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak / len(clip.times) <= MOST
    assert motion.position is not None and motion.position.shape == (FRAMES, len(walker.bodies), 3)


def same(one: Motion, other: Motion, near: float) -> None:
    """Check that two solved motions are the same, their poses to within `near`."""
    assert one.report is not None and other.report is not None and one.position is not None
    np.testing.assert_array_equal(one.values, other.values)
    np.testing.assert_array_equal(one.com, other.com)
    np.testing.assert_array_equal(one.report.position_error, other.report.position_error)
    np.testing.assert_array_equal(one.report.velocity, other.report.velocity)
    np.testing.assert_allclose(one.position, other.position, rtol=0, atol=near)
    np.testing.assert_allclose(one.quaternion, other.quaternion, rtol=0, atol=near)
    assert one.passive is not None and other.passive is not None and list(one.passive) == list(other.passive)
    for name, column in one.passive.items():
        np.testing.assert_array_equal(column, other.passive[name])
    assert (one.base is None) == (other.base is None)
    if one.base is not None and other.base is not None:
        np.testing.assert_array_equal(one.base.quaternion, other.base.quaternion)
    assert one.report.short == other.report.short
    assert one.report.quality == other.report.quality


@pytest.mark.parametrize("contacts", ["ignore", "hold"])
def test_pieces_are_what_the_whole_is(contacts: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Contacts begin, stay and end at the pieces' edges."""
    walker = robots.load("walker")
    clip, settings = walk_clip(walker, 30.0, balanced=True), replace(BALANCED, contacts=contacts)
    assert any(track.contact is not None and track.contact.any() for track in clip.tracks.values())
    whole = retarget(walker, clip, settings)
    monkeypatch.setattr(solved, "PIECE", 16)
    parts = retarget(walker, clip, settings)
    same(whole, parts, 0.0 if contacts == "ignore" else 1e-14)


def test_balls_go_on_from_piece_to_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    robot = tripod()
    name = robot.bodies[-1].name
    times = np.arange(100) / 50
    place = np.array(robot.rest_pose(name).position) + 0.02 * np.sin(3.0 * times)[:, None] * (0.3, 1.0, 0.5)
    clip = TargetClip(times, {name: Track(place)})
    whole = retarget(robot, clip, Settings())
    monkeypatch.setattr(solved, "PIECE", 16)
    same(whole, retarget(robot, clip, Settings()), 0.0)


def test_poses_that_are_worked_out_later_are_copied_with_the_motion() -> None:
    walker = robots.load("walker")
    clip = walk_clip(walker, 30.0, balanced=True).part(0, 5)
    motion = Retargeting(walker, clip, BALANCED, formulation=StandingSolver).run()
    again = copy.deepcopy(motion)
    np.testing.assert_array_equal(again.position, motion.position)
    np.testing.assert_array_equal(replace(motion, report=None).quaternion, motion.quaternion)
