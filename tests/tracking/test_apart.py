"""Walls of targets that arrive live: legs that would cross stay out of each other, and what does not touch stays as it
was."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest

from robik import Settings, robots
from robik.collision.apart import Walls, walls_of
from robik.collision.files import told_collisions
from robik.collision.judge import Judge
from robik.collision.live_walls import MARGIN, NEAR
from robik.collision.measure import measure_penetration
from robik.collision.shapes import CollisionShape
from robik.mechanism import Mechanism
from robik.motions import Motion
from robik.objectives.weights import Weights
from robik.tracking import StateBasedTracker, Target, Targets

FPS = 60
SETTINGS = Settings(state_weight=None)
FIRM = Weights((1e4,) * 3, (1e4,) * 3)  # as a foot that stands


@pytest.fixture(scope="module")
def walker() -> Mechanism:
    return robots.load("walker")


@pytest.fixture(scope="module")
def walls(walker: Mechanism) -> Walls:
    return walls_of(walker, robots.path("walker"))


def crossing(walker: Mechanism, aside: float, frames: int = 60) -> list[Targets]:
    """Return targets by which the left foot, lifted a little, goes aside towards the right one and back."""
    rest = {name: walker.rest_pose(name) for name in ("pelvis", "foot_l", "foot_r")}
    found = []
    for k in range(frames):
        now = {name: Target(np.array(pose.position), np.array(pose.quaternion)) for name, pose in rest.items()}
        now["foot_r"] = replace(now["foot_r"], weights=FIRM)
        now["foot_l"].position[1] -= aside * np.sin(np.pi * k / (frames - 1)) ** 2
        found.append(Targets(now))
    return found


def followed(tracker: StateBasedTracker, targets: list[Targets]) -> Motion:
    """Return the motion of a tracker that follows targets."""
    values, poses = [], []
    for now in targets:
        values.append(tracker.step(now, 1 / FPS))
        poses.append(tracker.bodies())
        assert tracker.residual < 1e-9
    position, quaternion = (np.array(each) for each in zip(*poses, strict=True))
    return Motion(
        times=np.arange(len(values)) / FPS,
        actuators=tracker.mechanism.actuators,
        values=np.array(values),
        bodies=tuple(body.name for body in tracker.mechanism.bodies),
        position=position,
        quaternion=quaternion,
    )


def depth(walker: Mechanism, motion: Motion) -> float:
    """Return how deep the walker is in itself at worst [m], by the judge of reports."""
    told = told_collisions(walker, robots.path("walker"))
    return float(measure_penetration(walker, told.shapes, motion).depths.max(initial=0.0))


def jump(motion: Motion) -> float:
    """Return the largest step of a motor [rad]."""
    return float(np.abs(np.diff(motion.values, axis=0)).max())


def test_feet_that_would_cross_stay_out_of_each_other(walker: Mechanism, walls: Walls) -> None:
    """Smoothly: they come to each other and leave as before, and the one that stands stays where it is."""
    targets = crossing(walker, 0.06)
    free = followed(StateBasedTracker(walker, SETTINGS), targets)
    tracker = StateBasedTracker(walker, SETTINGS, walls=walls)
    apart = followed(tracker, targets)
    assert depth(walker, free) > 0.01
    assert depth(walker, apart) < 1e-4
    assert jump(apart) < 1.01 * jump(free)
    bend = np.abs(np.diff(apart.values, n=2, axis=0)).max()
    assert bend < 1.01 * jump(free), "a motor is pushed back, and not only held"
    place = np.array(walker.rest_pose("foot_r").position)
    assert np.linalg.norm(tracker.frame("foot_r").position - place) < 1e-4
    gone = np.linalg.norm(apart.position - free.position, axis=2).max(axis=1)
    assert gone[:5].max() < 1e-7, "nothing is near yet"
    assert gone[20:40].min() > 0.01 and gone[-5:].max() < 1e-6, "it does not come back to where it would be"


def test_what_never_comes_near_stays_where_it_was(walker: Mechanism, walls: Walls) -> None:
    targets = crossing(walker, 0.01)
    free = followed(StateBasedTracker(walker, SETTINGS), targets)
    apart = followed(StateBasedTracker(walker, SETTINGS, walls=walls), targets)
    assert np.abs(apart.values - free.values).max() < 1e-7


def test_held_against_each_other_they_come_to_rest(walker: Mechanism, walls: Walls) -> None:
    tracker, targets = StateBasedTracker(walker, SETTINGS, walls=walls), crossing(walker, 0.12)
    still = followed(tracker, [*targets[:30], *[targets[30]] * 60])
    assert np.abs(np.diff(still.values[-30:], axis=0)).max() < 1e-4
    assert depth(walker, still) < 1e-4


@pytest.mark.parametrize("seed", range(3))
def test_feet_that_leap_about_end_outside_of_each_other(walker: Mechanism, walls: Walls, seed: int) -> None:
    """Scrubbed: each frame leaps, so that only walls at where a step led can keep them apart. Loops stay closed."""
    rng, targets = np.random.default_rng(seed), crossing(walker, 0.0)
    for now in targets[::3]:
        for name in ("foot_l", "foot_r"):
            now.frames[name].position[:] += rng.uniform(-0.05, 0.05, 3)
    free = followed(StateBasedTracker(walker, SETTINGS), targets)
    apart = followed(StateBasedTracker(walker, SETTINGS, walls=walls), targets)
    assert depth(walker, apart) < min(2e-3, 0.2 * depth(walker, free))


def test_a_robot_that_is_put_elsewhere_follows_from_there(walker: Mechanism, walls: Walls) -> None:
    """Walls of where it was are forgotten."""
    tracker, targets = StateBasedTracker(walker, SETTINGS, walls=walls), crossing(walker, 0.12)
    followed(tracker, targets[:30])
    tracker.reset()
    again = followed(tracker, crossing(walker, 0.0, 5))
    fresh = followed(StateBasedTracker(walker, SETTINGS, walls=walls), crossing(walker, 0.0, 5))
    assert np.abs(again.values - fresh.values).max() < 1e-9


def test_where_nothing_can_touch_there_are_no_walls(walker: Mechanism) -> None:
    joint = walker.joints[1]
    shapes = [CollisionShape(body=name, kind="sphere", size=(0.01,)) for name in (joint.parent, joint.child)]
    assert Walls(walker, shapes).live(StateBasedTracker(walker).topology) is None


def test_near_shapes_are_all_that_are_near_at_their_distances(walker: Mechanism, walls: Walls) -> None:
    """Against MuJoCo's distance of each two shapes of the pairs, where feet are in each other."""
    told, pairs = told_collisions(walker, robots.path("walker")), walls.between.pairs
    motion = followed(StateBasedTracker(walker, SETTINGS), crossing(walker, 0.08)[:31])
    judge = Judge(walker, told.shapes, pairs, near=NEAR)
    near = judge.near(motion.position[-1], motion.quaternion[-1])
    found: dict[int, float] = {}
    for pair, distance in zip(near.pair.tolist(), near.distance.tolist(), strict=True):
        found[pair] = min(found.get(pair, np.inf), distance)
    model, data, wanted = judge._model, judge._data, {}
    for i in range(model.ngeom):
        for j in range(i + 1, model.ngeom):
            bodies = sorted((int(judge._of[i]), int(judge._of[j])))
            if tuple(bodies) in set(pairs):
                distance = mujoco.mj_geomDistance(model, data, i, j, 2 * NEAR, None)
                if distance < MARGIN:
                    wanted[i * judge.shapes + j] = distance
    assert len(wanted) > 20 and min(wanted.values()) < -MARGIN
    assert set(wanted) <= set(found)
    off = np.array([found[pair] - distance for pair, distance in wanted.items() if distance > 1e-4])
    assert np.quantile(np.abs(off), 0.98) < 1e-4
