"""Walls that keep a robot's bodies out of each other and out of obstacles.

A wall keeps the axes of two bodies at a least distance (`robik.objectives.clearance`). That distance differs from pose
to pose: it is the one at which the convex shapes of the bodies are `MARGIN` apart. For obstacles there are `barriers`.
A clip is solved without walls, then again, pass by pass, with walls computed from the motion of the pass before.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..clips.clip import TargetClip
from ..mechanism import Mechanism
from ..mechanism.topology import Topology
from ..motions import Motion
from ..objectives.clearance import Clearance
from ..objectives.objective import States
from ..surroundings.obstacle import Obstacle
from .barriers import Barriers
from .files import told_collisions
from .judge import Judge, Pair, can_judge
from .live_walls import LiveWalls
from .pairs import pairs_that_can_touch
from .shapes import CollisionShape, capsule
from .sided import Sided
from .soles import Soles
from .standing_walls import Depths, Finish, Keeper, Solve, StandingWalls, Step

MARGIN = 0.003  # m between bodies that are kept apart
NEAR = 0.05  # m: bodies that are further from each other need no wall between them
PASSES = 3
AGAIN = 2  # passes after all frames have moved once more
SIDED = 2  # further passes, with planes where walls did not help: for limbs that went to the wrong side


class Walls:
    """Walls between the bodies of a robot that get into each other.

    `apart` are names of two bodies each that may do so. Raise MissingExtraError without MuJoCo.
    """

    def __init__(
        self, mechanism: Mechanism, shapes: Sequence[CollisionShape], apart: Collection[tuple[str, str]] = ()
    ) -> None:
        self._mechanism, self._shapes = mechanism, shapes
        self._between = Between(mechanism, shapes, apart)

    @property
    def between(self) -> Between:
        """Return what keeps the robot's own bodies apart."""
        return self._between

    def barriers(self, obstacles: Sequence[Obstacle]) -> Barriers:
        """Return the barriers that keep the robot out of obstacles."""
        return Barriers(self._mechanism, self._shapes, obstacles)

    def live(self, topology: Topology) -> LiveWalls | None:
        """Return the walls that keep the robot's own bodies apart while it is tracked.

        `topology` is the tracker's. Return None where no bodies can touch.
        """
        pairs = self._between.pairs
        return LiveWalls(self._mechanism, self._shapes, pairs, topology) if pairs else None

    def solve(
        self,
        clip: TargetClip,
        solve: Solve[Step],
        finish: Finish[Step] | None = None,
        tell: Callable[[StandingWalls], Any] | None = None,
    ) -> Generator[Step, None, tuple[TargetClip, Motion]]:
        """Solve a clip, and again with walls until the robot's bodies are out of each other or no pass helps.

        `finish` moves a solved motion once more, as a clip with walls asks for it. Where that brings bodies into
        each other, walls are built from there, and it goes on with these. Yield as `solve` and `finish` do; `tell` of
        the walls at the end, and return the clip with them and the motion with the least depth. Motions have body
        poses.
        """
        keepers: list[Keeper] = [self._between, Sided(self._mechanism, self._shapes, self._between)]
        if clip.obstacles:
            keepers.append(self.barriers(clip.obstacles))
        keepers.append(Soles(self._mechanism, clip))
        passes = StandingWalls(clip, keepers, (yield from solve(clip)))
        yield from passes.improve(solve, PASSES, SIDED)
        if finish is not None:
            walled, before = passes.found
            moved = yield from finish(before, walled)
            passes.take(walled, moved)
            if not np.array_equal(moved.values, before.values):
                yield from passes.improve(lambda each: finish(passes.last, each), AGAIN)
        if tell is not None:
            tell(passes)
        return passes.found


class Between:
    """Walls between a robot's own bodies.

    `apart` are names of two bodies each that may go into each other; `pairs` are kept apart. Raise
    MissingExtraError without MuJoCo.
    """

    def __init__(
        self, mechanism: Mechanism, shapes: Sequence[CollisionShape], apart: Collection[tuple[str, str]] = ()
    ) -> None:
        self._mechanism, self._shapes = mechanism, shapes
        self._names = [body.name for body in mechanism.bodies]
        self.pairs = pairs_that_can_touch(mechanism, shapes, apart)
        self._judge = Judge(mechanism, shapes, self.pairs) if self.pairs else None
        self._axes: dict[int, np.ndarray] = {}
        self._judged: tuple[Motion, Depths] | None = None  # the last motion, and its depths

    def depths(self, motion: Motion) -> Depths:
        """Return the depths (T,) [m] of pairs of bodies in each other that touch at some time."""
        assert motion.position is not None and motion.quaternion is not None
        if self._judge is None:
            return {}
        if not (self._judged and self._judged[0] is motion):
            self._judged = motion, self._judge.depths(motion.position, motion.quaternion)
        return self._judged[1]

    def ways(self, motion: Motion, pairs: Sequence[Pair]) -> tuple[np.ndarray, np.ndarray]:
        """Return distances and directions as `Judge.ways`, for bodies that are near each other."""
        assert self._judge is not None and motion.position is not None and motion.quaternion is not None
        return self._judge.ways(motion.position, motion.quaternion, pairs, NEAR)

    def touching(self, motion: Motion) -> list[tuple[tuple[str, str], float, np.ndarray]]:
        """Return, for a motion of one pose, names of bodies in each other, their depth [m] and place (3,) [m]."""
        if self._judge is None:
            return []
        assert motion.position is not None and motion.quaternion is not None
        found = self._judge.touching(motion.position[0], motion.quaternion[0])
        return [((self._names[a], self._names[b]), depth, where) for (a, b), depth, where in found]

    def _axis(self, number: int) -> np.ndarray:
        """Return both ends of a body's axis (2, 3) in its own frame [m]."""
        if number not in self._axes:
            name = self._names[number]
            around = capsule(name, np.concatenate([shape.corners() for shape in self._shapes if shape.body == name]))
            axis = self._mechanism.frame(name).pose.inverse() @ around.pose
            self._axes[number] = np.array([axis.point((0.0, 0.0, side * around.size[1])) for side in (-1.0, 1.0)])
        return self._axes[number]

    def walls(self, motion: Motion, pairs: Sequence[Pair]) -> list[Clearance]:
        """Return an objective a pair of bodies, with the least distances that a motion's poses need."""
        if not pairs:
            return []
        assert self._judge is not None and motion.position is not None and motion.quaternion is not None
        states = States(self._mechanism, motion.position, motion.quaternion)
        free = self._judge.distances(motion.position, motion.quaternion, pairs, NEAR)
        found = []
        for pair, far in zip(pairs, free.T, strict=True):
            axes = np.array([self._axis(number) for number in pair])
            wall = Clearance(self._names[pair[0]], self._names[pair[1]], least=np.zeros(len(far)), points=axes)
            least = np.maximum(wall.gaps(states) + MARGIN - far, 0.0)
            found.append(replace(wall, least=np.where(far < NEAR, least, 0.0)))
        return found


def solved_apart(
    clip: TargetClip,
    solve: Solve[Step],
    walls: Walls | None,
    finish: Finish[Step] | None = None,
    tell: Callable[[StandingWalls], Any] | None = None,
) -> Generator[Step, None, tuple[TargetClip, Motion]]:
    """Solve a clip, with walls if given; `finish`, if given, moves a solved motion once more.

    Yield as these do, `tell` of the walls at the end; return the clip that was followed and the motion.
    """
    if walls is not None:
        return (yield from walls.solve(clip, solve, finish, tell))
    motion = yield from solve(clip)
    return clip, motion if finish is None else (yield from finish(motion, clip))


def walls_of(mechanism: Mechanism, robot_file: str | Path | None = None) -> Walls | None:
    """Return the walls of a robot by its collision shapes, or by what is seen of it; kept for the next clip.

    Shapes and meshes are those of `robot_file`, from which the robot was read. Return None where nothing is known
    of its shape, or MuJoCo is not installed.
    """
    if not can_judge():
        return None
    if not (_last and _last[0] == robot_file and _last[1] == mechanism):
        told = told_collisions(mechanism, robot_file)
        _last[:] = robot_file, mechanism, Walls(mechanism, told.shapes, told.apart) if told.shapes else None
    return _last[2]


_last: list[Any] = []  # file, robot and walls of the last one
