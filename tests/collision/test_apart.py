"""Walls: legs that would cross stay out of each other, and what does not touch stays as it was."""

from collections.abc import Generator
from dataclasses import replace

import numpy as np
import pytest

from robik import Motion, Settings, TargetClip, Track, robots
from robik.collision.apart import MARGIN, Between, Walls, solved_apart, walls_of
from robik.collision.files import told_collisions
from robik.collision.measure import measure_penetration
from robik.collision.shapes import CollisionShape, hull_or_capsule
from robik.collision.standing_walls import StandingWalls
from robik.mechanism import Mechanism
from robik.objectives.above import Above
from robik.retargeting.retarget import Retargeting
from robik.steps import finish

FRAMES = 40
SETTINGS = Settings(state_weight=None)


@pytest.fixture(scope="module")
def walker() -> Mechanism:
    return robots.load("walker")


def crossing(walker: Mechanism, aside: float) -> TargetClip:
    """Return a clip in which the left foot, lifted a little, goes aside towards the right one and back."""
    tracks = {}
    for name in ("pelvis", "foot_l", "foot_r"):
        rest = walker.rest_pose(name)
        path = np.tile(rest.position, (FRAMES, 1))
        if name == "foot_l":
            path[:, 1] -= aside * np.sin(np.linspace(0.0, np.pi, FRAMES)) ** 2
        tracks[name] = Track(path, np.tile(rest.quaternion, (FRAMES, 1)))
    return TargetClip(np.arange(FRAMES) / 60, tracks)


def solved(walker: Mechanism, clip: TargetClip, walls: Walls | None) -> tuple[TargetClip, Motion, int]:
    """Return the clip that was followed, the motion, and how often it was solved."""
    times = []

    def solve(asked: TargetClip) -> Generator[int, None, Motion]:
        times.append(asked)
        solving = Retargeting(walker, asked, SETTINGS)
        yield from solving.steps()
        return solving.motion()

    return *finish(solved_apart(clip, solve, walls)), len(times)


def depth(walker: Mechanism, motion: Motion) -> float:
    """Return how deep the walker is in itself at worst [m], by the judge of reports."""
    told = told_collisions(walker, robots.path("walker"))
    return float(measure_penetration(walker, told.shapes, motion).depths.max(initial=0.0))


def test_feet_that_would_cross_stay_out_of_each_other(walker: Mechanism) -> None:
    clip = crossing(walker, 0.12)
    _, free, once = solved(walker, clip, None)
    followed, apart, often = solved(walker, clip, walls_of(walker, robots.path("walker")))
    assert once == 1 and often > 1
    assert depth(walker, free) > 0.01
    assert depth(walker, apart) < 1e-3
    assert {item.key for item in followed.objectives} >= {"left_foot.clearance.right_foot"}
    assert apart.report.residual.max() < 1e-10
    assert np.abs(np.diff(apart.values, axis=0)).max() < 0.2
    still = free.report.position_error[:, list(free.report.targets).index("foot_r")] < 1e-6
    assert still.all(), "the foot that stands had its way without walls"
    gone = np.linalg.norm(apart.position - free.position, axis=2).max(axis=1)
    assert gone[:4].max() < MARGIN, "where nothing is near, nothing is changed by more than what walls look ahead for"


def test_walls_are_built_again_where_only_the_last_move_brings_feet_into_each_other(walker: Mechanism) -> None:
    """The last move stands for looking ahead: it takes the foot on, with the walls that there are."""
    asked, begun, moves = [], [], []

    def at(clip: TargetClip) -> Motion:
        solving = Retargeting(walker, clip, SETTINGS)
        for _ in solving.steps():
            pass
        return solving.motion()

    def solve(clip: TargetClip) -> Generator[int, None, Motion]:
        asked.append(clip)
        yield FRAMES
        return at(clip)

    def last_move(motion: Motion, walled: TargetClip) -> Generator[int, None, Motion]:
        yield FRAMES
        begun.append(motion)
        moves.append(at(replace(crossing(walker, 0.045), objectives=walled.objectives)))
        return moves[-1]

    walls = walls_of(walker, robots.path("walker"))
    followed, motion = finish(solved_apart(crossing(walker, 0.02), solve, walls, last_move))
    assert depth(walker, moves[0]) > 0.003
    assert motion is not moves[0] and len(moves) > 1
    assert len(asked) == 1 and begun[1] is moves[0], "it goes on from where it was, and nothing is solved one by one"
    assert depth(walker, motion) < 1e-3
    assert {item.key for item in followed.objectives} >= {"left_foot.clearance.right_foot"}


def test_planes_are_tried_where_walls_do_not_help_and_taken_only_if_calm(
    walker: Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    clip = crossing(walker, 0.12)
    _, free, _ = solved(walker, clip, None)
    monkeypatch.setattr(Between, "walls", lambda *_: [])  # as for a limb on the wrong side
    _, apart, often = solved(walker, clip, walls_of(walker, robots.path("walker")))
    assert often > 2
    assert depth(walker, apart) < depth(walker, free) + 1e-3
    assert apart.report.residual.max() < 1e-10
    assert np.abs(np.diff(apart.values, axis=0)).max() < 0.2


def test_what_never_touches_is_solved_once_and_stays_to_the_bit(walker: Mechanism) -> None:
    clip = crossing(walker, 0.01)
    _, free, _ = solved(walker, clip, None)
    followed, apart, often = solved(walker, clip, walls_of(walker, robots.path("walker")))
    assert often == 1 and followed is clip
    assert np.array_equal(free.values, apart.values)


ODD = {
    "dust": np.random.default_rng(0).normal(size=(30, 3)) * 1e-7,
    "a disc": np.array([[np.cos(a), np.sin(a), 0.0] for a in np.linspace(0, 6, 24)]) * 0.05,
    "a plate": np.random.default_rng(1).uniform(-1, 1, (50, 3)) * [0.1, 0.1, 6e-5],
    "a needle": np.random.default_rng(2).uniform(-1, 1, (50, 3)) * [1.0, 1e-4, 1.2e-4],
    "no numbers": np.array([[0, 0, 0], [1, 0, 0], [0, np.nan, 0], [0, 0, np.inf]]),
    "a mountain": np.random.default_rng(3).normal(size=(40, 3)) * 1e3,
}


@pytest.mark.parametrize("points", ODD.values(), ids=ODD)
def test_odd_shapes_end_no_bake(walker: Mechanism, points: np.ndarray) -> None:
    bodies = [body.name for body in walker.bodies]
    shapes = [shape for name in (bodies[3], bodies[20]) if (shape := hull_or_capsule(name, points)) is not None]
    shapes.append(CollisionShape(body=bodies[8], kind="box", size=(0.0, 0.1, 0.0)))
    clip = crossing(walker, 0.02)
    _, motion, _ = solved(walker, clip, Walls(walker, shapes))
    assert np.isfinite(motion.values).all()
    assert measure_penetration(walker, shapes, motion).depths.shape[0] == FRAMES


def test_walls_are_made_once_for_a_robot(walker: Mechanism) -> None:
    file = robots.path("walker")
    assert walls_of(walker, file) is walls_of(walker, file)
    assert walls_of(robots.load("boxer"), robots.path("boxer")) is not walls_of(walker, file)


@pytest.mark.parametrize(("further", "is_taken"), [(1e-6, True), (5e-4, False)])
def test_contacts_that_are_as_good_as_before_do_not_refuse_walls(
    walker: Mechanism, further: float, is_taken: bool
) -> None:
    """A contact that a clip cannot hold is not missed alike in every pass; one that walls push away comes first."""
    clip = crossing(walker, 0.12)

    def missed(motion: Motion, by: float) -> Motion:
        assert motion.report is not None
        quality = replace(motion.report.quality, contact_off_mm=1e3 * by)
        return replace(motion, report=replace(motion.report, quality=quality))

    def solve(asked: TargetClip) -> Generator[int, None, Motion]:
        solving = Retargeting(walker, asked, SETTINGS)
        yield from solving.steps()
        return missed(solving.motion(), 0.00175 + (further if asked.objectives else 0.0))

    followed, motion = finish(solved_apart(clip, solve, walls_of(walker, robots.path("walker"))))
    assert bool(followed.objectives) == is_taken
    assert (depth(walker, motion) < 0.001) == is_taken


@pytest.mark.parametrize(("off", "is_taken"), [(0.0, True), (0.05, True), (0.25, False)])
def test_a_wall_is_not_worth_far_more_than_it_takes_away(walker: Mechanism, off: float, is_taken: bool) -> None:
    """The feet are a little in each other; apart, the pelvis misses its target by `off` in all frames [m]."""
    clip = crossing(walker, 0.0)
    solving = Retargeting(walker, clip, SETTINGS)
    motion = solving.run()
    assert motion.report is not None
    apart = motion.reported(position_error=motion.report.position_error + np.array([off, 0.0, 0.0]))

    class Scripted:
        """Bodies are 4 mm in each other in all frames of the first motion, and in none of the next."""

        def depths(self, each: Motion) -> dict[tuple[int, int], np.ndarray]:
            return {(1, 2): np.full(FRAMES, 0.004 if each is motion else 0.0)}

        def walls(self, each: Motion, pairs: object) -> list[Above]:
            return []

    def solve(asked: TargetClip) -> Generator[int, None, Motion]:
        yield 1
        return apart

    passes = StandingWalls(clip, [Scripted()], motion)
    finish(passes.improve(solve, 1))
    assert (passes.found[1] is apart) == is_taken


class _Deep:
    """Pairs of bodies are so deep in each other in all frames, by the motion in which they are [m]."""

    def __init__(self) -> None:
        self.depth: list[tuple[Motion, dict[tuple[int, int], float]]] = []
        self.built: list[list[tuple[int, int]]] = []

    def depths(self, motion: Motion) -> dict[tuple[int, int], np.ndarray]:
        depths = next(found for each, found in self.depth if each is motion)
        return {pair: np.full(FRAMES, depth) for pair, depth in depths.items()}

    def walls(self, motion: Motion, pairs: list[tuple[int, int]]) -> list[Above]:
        self.built.append(list(pairs))
        return []


def test_walls_that_do_harm_are_the_last_and_are_forgotten(walker: Mechanism) -> None:
    """Walls drive other bodies into each other, deeper; the last move begins with walls of the best motion alone."""
    clip = crossing(walker, 0.0)
    first = Retargeting(walker, clip, SETTINGS).run()
    harmed, moved = first.reported(), first.reported()
    keeper = _Deep()
    keeper.depth = [(first, {(1, 2): 0.004}), (harmed, {(1, 2): 0.003, (3, 4): 0.02}), (moved, {(1, 2): 0.0})]
    motions = [harmed, moved]

    def solve(asked: TargetClip) -> Generator[int, None, Motion]:
        yield 1
        return motions.pop(0)

    passes = StandingWalls(clip, [keeper, _Nothing()], first)
    finish(passes.improve(solve, 3))
    assert passes.found[1] is first and passes.tried == 1
    passes.take(clip, first)
    finish(passes.improve(solve, 2))
    assert passes.found[1] is moved
    assert keeper.built == [[(1, 2)], [(1, 2)]]


class _Nothing(_Deep):
    def depths(self, motion: Motion) -> dict[tuple[int, int], np.ndarray]:
        return {}
