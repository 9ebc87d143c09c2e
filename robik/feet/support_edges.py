"""Edges of what a robot stands on, and on which side of each its zero-moment point is.

    M = n · (z − a) F ≥ m F,   as a share:   1 − (M − m F) / (d G) ≤ 1

M is the moment of the ground's wrench about an edge that begins at a, n the edge's normal inwards, z the zero-moment
point, F the ground's force upwards, m a margin, d a length and G the robot's weight. M and F are linear in
accelerations, and have a value where the ground does not push. Ends of edges are points of bodies, so that a polygon
goes along with feet that move.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..dynamics.inverse import GRAVITY, Dynamics
from ..mechanism.model import Mechanism
from ..motions import Motion
from ..surroundings.ground import Ground
from .support import signed_distance, standing_points, support_polygons

SIZE = 0.05  # of the robot's extent: the length that a share of one stands for, about half of a sole
DEEPEST = 0.5  # of how deep a polygon's centre is in it: a margin is no larger


@dataclass(frozen=True, eq=False)
class SupportEdges:
    """Edges of the support in T frames, at most E in each.

    Attributes:
        bodies: (K,) the name of each point's body.
        points: (K, 3) in the body's own frame [m].
        begins, ends: (T, E) the points at which each edge begins and ends, counter-clockwise; the same one for none.
        margin: (T,) distance from all edges that is to be kept [m].
        extent: of the robot [m].
        weight: of the robot [N].
    """

    bodies: tuple[str, ...]
    points: np.ndarray
    begins: np.ndarray
    ends: np.ndarray
    margin: np.ndarray
    extent: float
    weight: float

    @property
    def there(self) -> np.ndarray:
        """Return whether a frame has each edge (T, E)."""
        found: np.ndarray = self.begins != self.ends
        return found

    def part(self, frames: np.ndarray) -> SupportEdges:
        """Return the edges in some frames, by indices (F,)."""
        return replace(self, begins=self.begins[frames], ends=self.ends[frames], margin=self.margin[frames])

    def shares(self, forces: Dynamics, points: np.ndarray) -> np.ndarray:
        """Return shares (T, E) of the zero-moment point's way out over each edge, with the points at (T, K, 3) [m].

        A share is 1 where the margin is just kept, more beyond it; 0 for no edge.
        """
        begin, end = (np.take_along_axis(points, at[:, :, None], axis=1) for at in (self.begins, self.ends))
        way, there, down = (end - begin)[..., :2], self.there, forces.wrench[:, 5]
        inwards = np.stack([-way[..., 1], way[..., 0]], axis=2)
        inwards /= np.where(there, np.linalg.norm(way, axis=2), 1.0)[..., None]
        moment, force, height = forces.wrench[:, :3], forces.wrench[:, 3:], self._height(points)
        pressed = np.stack([height * force[:, 0] - moment[:, 1], height * force[:, 1] + moment[:, 0]], axis=1)
        over = (inwards * (pressed[:, None] - begin[..., :2] * down[:, None, None])).sum(axis=2)
        kept = (over - (self.margin * down)[:, None]) / (SIZE * self.extent * self.weight)
        return np.where(there, 1.0 - kept, 0.0)

    def depths(self, forces: Dynamics, points: np.ndarray) -> np.ndarray:
        """Return the depths (T,) [m] of the zero-moment point in the support, as `zero_moment_margins` counts them.

        They are negative outside, at most by the robot's extent, and NaN where the support has no area. The points
        are at (T, K, 3) [m].
        """
        corners = np.take_along_axis(points, self.begins[:, :, None], axis=1)[..., :2]
        inside = signed_distance(forces.zero_moment_point(self._height(points)), corners)
        return np.where(self.there.any(axis=1), np.maximum(np.nan_to_num(inside, nan=-np.inf), -self.extent), np.nan)

    def _height(self, points: np.ndarray) -> np.ndarray:
        """Return the mean height of each frame's corners (T,) [m]; zero without an edge."""
        there, corners = self.there, np.take_along_axis(points[..., 2], self.begins, axis=1)
        found: np.ndarray = (corners * there).sum(axis=1) / np.maximum(there.sum(axis=1), 1)
        return found


def support_edges(
    mechanism: Mechanism, motion: Motion, contacts: Mapping[str, np.ndarray], ground: Ground | None, margin: float
) -> SupportEdges | None:
    """Return the edges of what a robot stands on along a motion, with a margin [m]; None without any edge.

    A support without area, as an edge of a foot alone, has none. In a narrow one the margin is smaller. `contacts`
    are flags (T,) by frame; the ground is level for None.
    """
    standing = {name: stands for name, stands in contacts.items() if np.any(stands)}
    if not standing:
        return None
    placed = {name: standing_points(mechanism, motion, name) for name in standing}
    world = np.concatenate([points[..., :2] for points in placed.values()], axis=1)
    stands = np.concatenate([np.repeat(standing[n][:, None], p.shape[1], axis=1) for n, p in placed.items()], axis=1)
    corners: list[np.ndarray] = []
    margins, last = np.zeros(len(motion.times)), None
    for k, polygon in enumerate(support_polygons(mechanism, motion, contacts, ground)):
        if polygon is None or len(polygon) < 3:
            corners.append(np.zeros(1, np.int64))
            continue
        if k and polygon is last:
            corners.append(corners[-1])
            margins[k] = margins[k - 1]
            continue
        apart = np.linalg.norm(polygon[:, None] - world[k], axis=2)
        corners.append(np.where(stands[k], apart, np.inf).argmin(axis=1))
        margins[k] = min(margin, DEEPEST * float(signed_distance(polygon.mean(axis=0)[None], polygon)[0]))
        last = polygon
    most = max(map(len, corners))
    if most < 3:
        return None
    begins = np.array([[*found, *[found[-1]] * (most - len(found))] for found in corners])
    frames = [mechanism.frame(name) for name in standing]
    local = [(f.body, f.pose.point(point)) for f in frames for point in f.sole or [(0.0, 0.0, 0.0)]]
    ends = np.array([[*np.roll(found, -1), *[found[-1]] * (most - len(found))] for found in corners])
    return SupportEdges(
        bodies=tuple(body for body, _ in local),
        points=np.array([point for _, point in local]),
        begins=begins,
        ends=ends,
        margin=margins,
        extent=mechanism.extent,
        weight=mechanism.mass * GRAVITY,
    )
