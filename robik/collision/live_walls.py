"""Walls between a robot's bodies at one moment, for targets that arrive live: nothing is known of what comes.

Where two shapes are nearer than `NEAR`, a wall stands between them, whether it is needed or not: it pushes only where
they would come nearer than `MARGIN`. So none comes or goes with a jump. A wall keeps two points of the bodies apart,
the centres of balls of radius r that touch the shapes from within where these are nearest to each other:

    |a − b| ≥ MARGIN + 2 r,   a = x + r n,   b = p − r n,   n = (x − p)/|x − p|

with x on the one shape and p on the other. To first order this is the distance of the shapes, also of those that are
in each other. The balls are large, so that flat faces do not roll on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..kinematics.frames import anchor
from ..kinematics.kernels import Placement
from ..mechanism import Mechanism
from ..mechanism.topology import Topology
from ..objectives.clearance import Clearance
from ..objectives.walls import Clearances
from .judge import Judge, NearShapes, Pair
from .shapes import CollisionShape

MARGIN = 0.001  # m between bodies that are kept apart: a bake has no walls where bodies only come near each other
NEAR = 0.02  # m: shapes that are further from each other need no wall: they are measured again where they would touch
BALL = 1.0  # m: radius of the balls, beyond what shapes are in each other
SLOTS = 64  # walls at once, at most: the nearest
EACH = 4  # between two bodies, at most
LATE = 0.001  # m that shapes may be nearer than asked for before walls are moved: ways of bodies are not straight
PUSHES = 0.001  # m: a wall that lacks no more than this may push in the next step


class PlacedWalls(NamedTuple):
    """Walls of k pairs of shapes."""

    pair: np.ndarray  # (k,) number of the two shapes
    body: np.ndarray  # (k,) that carries the first, among the kernels' arrays
    other: np.ndarray  # (k,) that carries the second
    ball: np.ndarray  # (k, 3) centre of the first ball in its body's state frame [m]
    other_ball: np.ndarray  # (k, 3) centre of the second in its body's [m]
    radii: np.ndarray  # (k,) of both balls together [m]
    distance: np.ndarray  # (k,) of the shapes, negative where they are in each other [m]


class LiveWalls:
    """Walls of a robot from step to step, between pairs of its bodies.

    `topology` is the tracker's. `slots` are objectives that make room for the walls in the solver's tables, behind
    all others of their kind. `are_new` says that no step was taken since the robot was put where it is. Raise
    MissingExtraError without MuJoCo.
    """

    def __init__(
        self, mechanism: Mechanism, shapes: Sequence[CollisionShape], pairs: Sequence[Pair], topology: Topology
    ) -> None:
        self._judge = Judge(mechanism, shapes, pairs, near=NEAR)
        names = [body.name for body in mechanism.bodies]
        self._bodies = np.array([anchor(topology, name).body for name in names])
        nothing = Clearance(names[0], names[1], least=np.zeros(1), points=np.zeros((2, 2, 3)))
        self.slots = (nothing,) * SLOTS
        self.forget()
        rest = [body.pose for body in mechanism.bodies]
        near = self._judge.near(np.array([p.position for p in rest]), np.array([p.quaternion for p in rest]))
        # By pair of shapes [m]: what is nearer to each other at rest is meant to be
        self._least = np.full(self._judge.shapes**2, MARGIN)
        np.minimum.at(self._least, near.pair, near.distance)

    @property
    def push(self) -> bool:
        """Return whether one of them may push in the next step."""
        standing = self._standing
        return bool((self._least[standing.pair] - standing.distance > -PUSHES).any())

    def forget(self) -> None:
        """Forget where walls stood: the robot is put somewhere, and goes to its targets from there in one step."""
        self._standing = self._found = _NONE
        self.are_new = True

    def look(self, position: np.ndarray, quaternion: np.ndarray, placement: Placement) -> bool:
        """Measure a pose; return True if bodies are so near each other that their walls are to be moved there.

        The pose is given twice: as (n, 3) [m], (n, 4) wxyz, and in the kernels' arrays.
        """
        near = _some(self._judge.near(position, quaternion))
        radius = BALL + np.maximum(-near.distance, 0.0)
        inwards = near.way * (0.5 * near.distance + radius)[:, None]
        body, other = self._bodies[near.bodies.T]
        self._found = found = PlacedWalls(
            pair=near.pair,
            body=body,
            other=other,
            ball=_in_body(placement, body, near.middle + inwards),
            other_ball=_in_body(placement, other, near.middle - inwards),
            radii=2.0 * radius,
            distance=near.distance,
        )
        return bool((self._least[found.pair] - found.distance > LATE).any())

    def settle(self) -> None:
        """Take the pose that was measured last as where the robot is."""
        self._standing, self.are_new = self._found, False

    def move(self) -> None:
        """Move walls to where bodies were found too near to each other; those of all others stay."""
        stays = ~np.isin(self._standing.pair, self._found.pair)
        both = zip(self._found, self._standing, strict=True)
        self._standing = PlacedWalls._make(np.concatenate([new, old[stays]]) for new, old in both)

    def write(self, table: Clearances, weight: float) -> None:
        """Write the walls, with a weight over ℓ² [1/m²] each, into the solver's table, made with `slots`."""
        walls, first = self._standing, len(table.body) - len(self.slots)
        if len(walls.pair) > len(self.slots):
            nearest = np.argpartition(walls.distance, len(self.slots) - 1)[: len(self.slots)]
            walls = PlacedWalls._make(array[nearest] for array in walls)
        used = slice(first, first + len(walls.pair))
        table.body[used], table.other[used] = walls.body, walls.other
        table.segment[used], table.other_segment[used] = walls.ball[:, None], walls.other_ball[:, None]
        table.least[first:] = 0.0
        table.least[used] = self._least[walls.pair] + walls.radii
        table.weight[first:] = weight


_NONE = PlacedWalls(
    pair=np.zeros(0, np.int64),
    body=np.zeros(0, np.int64),
    other=np.zeros(0, np.int64),
    ball=np.zeros((0, 3)),
    other_ball=np.zeros((0, 3)),
    radii=np.zeros(0),
    distance=np.zeros(0),
)


def _some(near: NearShapes) -> NearShapes:
    """Return the nearest shapes of each two bodies, `EACH` at most."""
    first, second = near.bodies.min(axis=1), near.bodies.max(axis=1)
    order = np.lexsort((near.distance, second, first))
    first, second = first[order], second[order]
    same = np.ones(len(order), bool)
    same[EACH:] = (first[EACH:] != first[:-EACH]) | (second[EACH:] != second[:-EACH])
    return NearShapes._make(array[order[same]] for array in near)


def _in_body(placement: Placement, body: np.ndarray, point: np.ndarray) -> np.ndarray:
    """Return points (k, 3) of the world in the state frames of bodies (k,) [m]."""
    return np.einsum("kji,kj->ki", placement.R[body], point - placement.c[body])
