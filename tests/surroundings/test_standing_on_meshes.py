"""Robots on slopes, steps, rough ground and a platform that moves: feet lie on it, held exactly, and never below."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robik import Mechanism, Motion, Obstacle, Settings, TargetClip, retarget, robots
from robik.bench.walking import walk_clip
from robik.collision.apart import solved_apart, walls_of
from robik.feet.finding import above_ground, below_ground, find_contacts
from robik.feet.pinning import pin_feet
from robik.feet.support import placed
from robik.retargeting.retarget import Retargeting
from robik.steps import finish
from robik.surroundings.surface import Surface
from tests.surroundings.meshes import Mesh, hills

FPS = 30
FEET = ("foot_l", "foot_r")
GROUNDS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "slope": lambda x, y: 0.15 * x + 0.05 * y,
    "steps": lambda x, y: 0.02 * np.floor(np.maximum(x / 0.15 + 0.7, 0.0)),
    "rough": lambda x, y: 0.015 * np.sin(20 * x) * np.cos(17 * y),
}


@pytest.fixture(scope="module")
def walker() -> Mechanism:
    return robots.load("walker")


@pytest.fixture(scope="module")
def walk(walker: Mechanism) -> TargetClip:
    return walk_clip(walker, FPS, False)


def on(clip: TargetClip, mesh: Mesh, **way: np.ndarray) -> TargetClip:
    return replace(clip, obstacles=(Obstacle(name="ground", vertices=mesh[0], triangles=mesh[1], **way),))


def soles(walker: Mechanism, clip: TargetClip, name: str) -> np.ndarray:
    track = clip.tracks[name]
    return placed(np.array(walker.frame(name).sole), track.position, track.quaternion)


@pytest.mark.parametrize("name", GROUNDS)
def test_feet_of_a_level_walk_come_to_lie_on_a_mesh(walker: Mechanism, walk: TargetClip, name: str) -> None:
    mesh = hills(GROUNDS[name], 1.0, 160)
    clip = above_ground(walker, pin_feet(walker, on(walk, mesh)))
    heights = Surface(*mesh).heights
    for foot in FEET:
        stands, points = clip.tracks[foot].contact, soles(walker, clip, foot)
        above = points[..., 2] - heights(points)
        assert above.min() > -1e-4, "no corner of a sole is below the ground, in swings neither"
        assert above[stands].min(axis=1).max() < 0.002, "and one touches it while the foot stands"
        assert np.linalg.norm(np.diff(points, axis=0), axis=2).max() < 0.05, "nothing jumps"
    rise = heights(clip.tracks["pelvis"].position) - heights(walk.tracks["pelvis"].position * [0.0, 0.0, 1.0])
    gone = clip.tracks["pelvis"].position[:, 2] - walk.tracks["pelvis"].position[:, 2]
    assert np.abs(gone - gone[0] - rise + rise[0]).max() < 0.03, "the body goes along"
    motion = retarget(walker, clip, Settings(state_weight=None))
    quality = motion.report.quality
    assert quality.contact_off_mm < 1e-6 and quality.slide_mm_s < 1e-5
    assert below_ground(walker, clip, motion).max() < 5e-4


def test_a_walk_that_was_recorded_on_steps_stands_on_each(walker: Mechanism, walk: TargetClip) -> None:
    mesh = hills(GROUNDS["steps"], 1.0, 160)
    level = pin_feet(walker, walk)
    climbed = pin_feet(walker, on(level, mesh))  # as somebody who walks up these steps
    bare = {n: replace(t, contact=None) for n, t in climbed.tracks.items()}
    found = find_contacts(walker, replace(climbed, tracks=bare))
    for foot in FEET:
        assert np.mean(found[foot] == level.tracks[foot].contact) > 0.9
    again = pin_feet(walker, replace(climbed, tracks=bare))
    for foot in FEET:
        assert np.abs(again.tracks[foot].position - climbed.tracks[foot].position).max() < 0.02


def test_feet_ride_on_a_platform_that_moves_and_turns(walker: Mechanism, walk: TargetClip) -> None:
    way = np.column_stack([0.3 * walk.times, 0.1 * np.sin(walk.times), 0.02 * walk.times])
    turn = Rotation.from_euler("z", 0.2 * walk.times[:, None]).as_quat()[:, [3, 0, 1, 2]]
    clip = pin_feet(walker, on(walk, hills(lambda x, y: 0.0 * x, 1.0, 4), position=way, quaternion=turn))
    motion = retarget(walker, above_ground(walker, clip), Settings(state_weight=None))
    assert motion.report.quality.contact_off_mm < 1e-6 and motion.report.quality.slide_mm_s < 1e-4
    for foot in FEET:
        on_it = Rotation.from_quat(turn[:, [1, 2, 3, 0]]).inv().apply(clip.tracks[foot].position - way)
        moved = np.linalg.norm(np.diff(on_it, axis=0), axis=1)
        both = clip.tracks[foot].contact[1:] & clip.tracks[foot].contact[:-1]
        assert moved[both].max() < 1e-9
    assert below_ground(walker, clip, motion).max() < 5e-4


@pytest.mark.parametrize(("first", "stop"), [(200, 300), pytest.param(0, 540, id="whole", marks=pytest.mark.long)])
def test_a_foot_that_walls_push_aside_is_lifted_over_the_ground_there(walker: Mechanism, first: int, stop: int) -> None:
    """The ground's planes are those at its target, 7 mm too low (17 mm in the whole walk) where its legs are kept out
    of each other."""
    walk = walk_clip(walker, 60, False)
    clip = above_ground(walker, pin_feet(walker, on(walk, hills(GROUNDS["rough"], 1.0, 160)))).part(first, stop)

    def solve(asked: TargetClip) -> Generator[int, None, Motion]:
        solving = Retargeting(walker, asked, Settings(state_weight=None, enforce_velocity=True))
        yield from solving.steps()
        return solving.motion()

    _, motion = finish(solved_apart(clip, solve, walls_of(walker)))
    assert below_ground(walker, clip, motion).max() < 0.005
    assert motion.report.quality.contact_off_mm < 2.0, "standing feet are pushed by 5 mm without it"
