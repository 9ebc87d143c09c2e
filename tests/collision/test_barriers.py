"""Barriers: limbs stay out of obstacles, go back to the side they came from, and nothing else changes."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np
import pytest

from robik import Motion, Obstacle, Settings, TargetClip, Track, robots
from robik.collision.apart import solved_apart, walls_of
from robik.collision.files import told_collisions
from robik.collision.measure import measure_penetration
from robik.mechanism import Mechanism
from robik.retargeting.retarget import Retargeting
from robik.steps import finish
from tests.surroundings.meshes import box

FRAMES = 40


@pytest.fixture(scope="module")
def walker() -> Mechanism:
    return robots.load("walker")


def kicking(walker: Mechanism, depth: float, obstacles: tuple[Obstacle, ...]) -> TargetClip:
    """A clip in which the left foot goes out forwards, as deep into what is there as is said, and back."""
    tracks = {}
    for name in ("pelvis", "foot_l", "foot_r"):
        rest = walker.rest_pose(name)
        path = np.tile(rest.position, (FRAMES, 1))
        if name == "foot_l":
            way = np.sin(np.linspace(0.0, np.pi, FRAMES)) ** 2
            path += np.outer(way, [0.04 + depth, 0.0, 0.03])
        tracks[name] = Track(path, np.tile(rest.quaternion, (FRAMES, 1)))
    return TargetClip(np.arange(FRAMES) / 60, tracks, obstacles=obstacles)


def plate(walker: Mechanism, thick: float, **way: np.ndarray) -> Obstacle:
    """A plate 4 cm in front of the left foot."""
    sole = np.array(walker.frame("foot_l").sole) + walker.rest_pose("foot_l").position
    front = float(sole[:, 0].max()) + 0.04 + 0.5 * thick
    vertices, triangles = box((front, float(sole[:, 1].mean()), 0.05), (0.5 * thick, 0.05, 0.3))
    return Obstacle(name="plate", vertices=vertices, triangles=triangles, **way)


def solved(walker: Mechanism, clip: TargetClip, kept_apart: bool) -> tuple[TargetClip, Motion]:
    def solve(asked: TargetClip) -> Generator[int, None, Motion]:
        solving = Retargeting(walker, asked, Settings(state_weight=None))
        yield from solving.steps()
        return solving.motion()

    walls = walls_of(walker, robots.path("walker")) if kept_apart else None
    return finish(solved_apart(clip, solve, walls))


def depth(walker: Mechanism, motion: Motion, obstacles: tuple[Obstacle, ...]) -> float:
    shapes = told_collisions(walker, robots.path("walker")).shapes
    return float(measure_penetration(walker, shapes, motion, obstacles=obstacles).obstacle_depths.max(initial=0.0))


@pytest.mark.parametrize(("into", "thick"), [(0.03, 0.2), (0.09, 0.01)], ids=["into it", "through it"])
def test_a_foot_that_would_go_into_a_plate_stays_in_front_of_it(walker: Mechanism, into: float, thick: float) -> None:
    around = (plate(walker, thick),)
    clip = kicking(walker, into, around)
    _, free = solved(walker, clip, False)
    walled, kept = solved(walker, clip, True)
    assert depth(walker, free, around) > 0.004
    assert depth(walker, kept, around) < 1e-3
    assert any(".above.plate-0" in item.key for item in walled.objectives)
    foot = kept.position[:, walker.body_index[walker.frame("foot_l").body], 0]
    assert foot.max() - foot[0] < 0.06, "it is in front of the plate all the time"
    assert kept.report.residual.max() < 1e-10
    still = kept.report.position_error[:, list(kept.report.targets).index("foot_r")]
    assert still.max() < 1e-3, "the other foot has its way"


def test_what_an_obstacle_that_moves_never_meets_stays_to_the_bit(walker: Mechanism) -> None:
    away = np.tile([3.0, 0.0, 0.0], (FRAMES, 1))
    clip = kicking(walker, 0.03, (plate(walker, 0.2, position=away),))
    _, free = solved(walker, clip, False)
    walled, kept = solved(walker, clip, True)
    assert walled is clip and np.array_equal(free.values, kept.values)
    nearer = (plate(walker, 0.2, position=np.outer(np.linspace(0.1, -0.06, FRAMES), [1.0, 0.0, 0.0])),)
    clip = kicking(walker, 0.0, nearer)
    assert depth(walker, solved(walker, clip, False)[1], nearer) > 0.004
    assert depth(walker, solved(walker, clip, True)[1], nearer) < 1e-3
