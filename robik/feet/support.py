"""Support of a robot: soles, support polygons, and the depth of its centre of mass inside them.

The ground is level; polygons are convex and live in its plane, their corners in counter-clockwise order. A polygon may
be degenerate: two corners are a segment, one is a point.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.spatial import ConvexHull, HalfspaceIntersection

from ..dynamics.zero_moment import zero_moment_points
from ..errors import ClipError
from ..kinematics.polygons import FLAT, closest_on_edges
from ..mechanism.model import Mechanism
from ..mechanism.orientations import rotation
from ..mechanism.parts import Frame
from ..motions import Motion
from ..surroundings.ground import Ground

STILL = 1e-9  # m: soles that move by less lie still
TOUCH = 0.05  # a sole's points this much higher than its lowest one, in sole lengths, do not touch the ground


def convex_hull(points: np.ndarray) -> np.ndarray:
    """Return the corners (K, 2) [m], counter-clockwise, of points' convex hull; two or one of one without area."""
    points = np.asarray(points, dtype=float)
    centred = points - points.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    along = centred @ axes.T
    extent = along.max(axis=0) - along.min(axis=0)
    if len(extent) == 2 and extent.min() > FLAT:
        return points[ConvexHull(points).vertices]
    if extent[0] <= FLAT:
        return points[:1]
    return points[[int(np.argmin(along[:, 0])), int(np.argmax(along[:, 0]))]]


def signed_distance(points: np.ndarray, polygons: np.ndarray) -> np.ndarray:
    """Return the distance (T,) [m] of points (T, 2) from the boundary of their polygons, positive inside.

    Polygons have corners (T, K, 2), or (K, 2) for all points; one of fewer corners repeats one of them.
    """
    closest, inside = _closest(points, polygons)
    distance = np.linalg.norm(points - closest, axis=1)
    return np.where(inside, distance, -distance)


def nearest(points: np.ndarray, polygons: np.ndarray) -> np.ndarray:
    """Return the nearest points (T, 2) [m] of polygons: points (T, 2) themselves inside, else on the boundary.

    Polygons are as for `signed_distance`.
    """
    closest, inside = _closest(points, polygons)
    return np.where(inside[:, None], points, closest)


def _closest(points: np.ndarray, polygons: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the nearest points (T, 2) on the polygons' edges, and whether the points lie inside (T,)."""
    points, corners = (
        np.require(array, float, ("C", "W")) for array in (points, polygons)
    )  # of one type when compiled
    corners = corners.reshape(-1, *corners.shape[-2:])
    closest, inside = np.empty_like(points), np.empty(len(points), dtype=bool)
    closest_on_edges(points, corners, closest, inside)
    return closest, inside


def inset(polygon: np.ndarray, margin: float) -> np.ndarray:
    """Return the corners (K, 2) [m] of the points of a convex polygon that are at least `margin` [m] inside.

    Where there are none, it is nearly the deepest that the polygon allows. Its corners run counter-clockwise.
    """
    if len(polygon) < 3:
        return polygon.mean(axis=0, keepdims=True)
    centre = polygon.mean(axis=0)
    depth = float(signed_distance(centre[None], polygon)[0])
    edges = np.roll(polygon, -1, axis=0) - polygon
    normals = np.column_stack([edges[:, 1], -edges[:, 0]]) / np.linalg.norm(edges, axis=1)[:, None]
    offsets = -(normals * polygon).sum(axis=1) + min(margin, 0.95 * depth)
    return convex_hull(HalfspaceIntersection(np.column_stack([normals, offsets]), centre).intersections)


def sole_polygon(frame: Frame) -> np.ndarray:
    """Return the outline (K, 3) [m] of a standing foot's sole, seen from above, in the frame's coordinates."""
    points = np.array(frame.sole)
    axes = sole_axes(frame)
    flat = convex_hull((points - points.mean(axis=0)) @ axes[:2].T)
    return points.mean(axis=0) + flat @ axes[:2]


def sole_axes(frame: Frame) -> np.ndarray:
    """Return two directions along the sole and its normal, right-handed rows (3, 3), in the frame's coordinates."""
    points = np.array(frame.sole)
    _, _, axes = np.linalg.svd(points - points.mean(axis=0), full_matrices=True)
    axes[2] = np.cross(axes[0], axes[1])
    return axes


def sole_length(frame: Frame) -> float:
    """Return the largest distance [m] between two points of a foot's sole."""
    points = np.array(frame.sole)
    return float(np.linalg.norm(points[:, None] - points[None], axis=2).max())


def sole_width(frame: Frame) -> float:
    """Return the width [m] of a foot's sole at its narrowest: the least distance of parallel lines around it."""
    points = np.array(frame.sole)
    corners = convex_hull((points - points.mean(axis=0)) @ sole_axes(frame)[:2].T)
    if len(corners) < 3:
        return 0.0
    edges = np.roll(corners, -1, axis=0) - corners
    normals = np.column_stack([edges[:, 1], -edges[:, 0]]) / np.linalg.norm(edges, axis=1)[:, None]
    return float(np.ptp(corners @ normals.T, axis=0).min())


def thin_feet(mechanism: Mechanism, margin: float) -> str:
    """Return the feet on which the robot cannot stand alone, as a part of a sentence; empty where it can on each.

    A sole is too narrow where nothing of it is `margin` [m] inside its outline, which balance keeps.
    """
    widths = {frame.name: sole_width(frame) for frame in mechanism.frames if frame.is_foot}
    thin = {name: width for name, width in widths.items() if width < 2.0 * margin}
    if not thin:
        return ""
    names = ", ".join(thin)
    sole = f"the sole of {names} is" if len(thin) == 1 else f"the soles of {names} are"
    return (
        f"{sole} {1e3 * min(thin.values()):.0f} mm wide at the narrowest, less than twice the margin of"
        f" {1e3 * margin:.0f} mm: the robot cannot stand on one of them alone and tips while it does; let another foot"
        " stand too, or give it a wider sole"
    )


def placed(points: np.ndarray, position: np.ndarray, quaternion: np.ndarray) -> np.ndarray:
    """Return points (S, 3) of a frame in the world (T, S, 3) [m], with the frame at (T, 3) [m] and (T, 4) wxyz."""
    matrices = rotation(quaternion).as_matrix()
    return np.einsum("tij,sj->tsi", matrices, points) + position[:, None]


def standing_points(mechanism: Mechanism, motion: Motion, name: str) -> np.ndarray:
    """Return the points (T, S, 3) [m] a frame stands on in the world: of its sole, or its place without one.

    Raise ClipError for a motion without body poses.
    """
    frame = mechanism.frame(name)
    if motion.position is None or motion.quaternion is None:
        raise ClipError("this motion has no body poses, so its support is unknown; solve it or use forward kinematics")
    body = motion.bodies.index(frame.body)
    points = np.array([frame.pose.point(p) for p in frame.sole or [(0.0, 0.0, 0.0)]])
    return placed(points, motion.position[:, body], motion.quaternion[:, body])


def margins(
    mechanism: Mechanism, motion: Motion, contacts: Mapping[str, np.ndarray], ground: Ground | None = None
) -> np.ndarray:
    """Return the margin (T,) [m] of the centre of mass inside the support, negative outside.

    It is NaN where nothing stands. The support is the convex hull of those points of the standing soles that touch
    the ground (a tipped foot stands on its edge) and of the places of other frames in contact, by flags (T,). The
    ground is level if left out. Raise ClipError for a motion without body poses or CoM.
    """
    if motion.com is None:
        raise ClipError(
            "this motion has no centre of mass, so its margin is unknown; solve it or use forward kinematics"
        )
    return _inside(motion.com[:, :2], support_polygons(mechanism, motion, contacts, ground))


def zero_moment_margins(
    mechanism: Mechanism, motion: Motion, contacts: Mapping[str, np.ndarray], ground: Ground | None = None
) -> np.ndarray:
    """Return the depth (T,) [m] of the zero-moment point inside the support, negative outside.

    It is NaN where nothing stands. Where the point is outside, the robot begins to tip over an edge of its feet. It
    is taken at the height at which soles stand at that time, in the mean. The ground is level if left out. Raise
    ClipError for a motion without body poses, or a robot without mass.
    """
    points = zero_moment_points(mechanism, motion, _standing_height(mechanism, motion, contacts))
    return _inside(points, support_polygons(mechanism, motion, contacts, ground))


def _standing_height(mechanism: Mechanism, motion: Motion, contacts: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the height of what a motion's feet stand on (T,) [m]; zeros where none ever stands."""
    feet = [name for name in contacts if mechanism.frame(name).is_foot]
    lowest = {name: standing_points(mechanism, motion, name)[..., 2].min(axis=1) for name in feet}
    found = stood_on(motion.times, motion.times, lowest, contacts)
    return np.zeros(len(motion.times)) if found is None else found


def stood_on(
    at: np.ndarray, times: np.ndarray, heights: Mapping[str, np.ndarray], contacts: Mapping[str, np.ndarray]
) -> np.ndarray | None:
    """Return the mean height (N,) [m] of what feet stand on at times `at` (N,) [s]; None where none ever stands.

    Between stands it is interpolated. `heights` (T,) [m] of each foot's sole and flags `contacts` (T,) are at
    `times`.
    """
    stands = np.array([contacts[name] for name in heights], dtype=bool).reshape(len(heights), len(times))
    count = stands.sum(axis=0)
    known = count > 0
    if not known.any():
        return None
    total = np.where(stands, np.array([*heights.values()]), 0.0).sum(axis=0)
    return np.interp(at, times[known], total[known] / count[known])


def _inside(points: np.ndarray, polygons: list[np.ndarray | None]) -> np.ndarray:
    """Return how far points (T, 2) are inside their polygons (T,) [m]; NaN where there is none."""
    result, start = np.full(len(points), np.nan), 0
    for k in range(1, len(points) + 1):  # samples of the same polygon at once
        if k == len(points) or polygons[k] is not polygons[start]:
            polygon = polygons[start]
            if polygon is not None:
                result[start:k] = signed_distance(points[start:k], polygon)
            start = k
    return result


def support_polygons(
    mechanism: Mechanism, motion: Motion, contacts: Mapping[str, np.ndarray], ground: Ground | None = None
) -> list[np.ndarray | None]:
    """Return the corners (K, 2) [m] of the hull of what the robot stands, sits and leans on, sample by sample.

    An entry is None where nothing stands, and the same array while the soles lie still. `contacts` are flags (T,)
    by frame; the ground is level if left out. Raise ClipError for a motion without body poses.
    """
    level = Ground(0.0) if ground is None else ground
    soles = {name: standing_points(mechanism, motion, name) for name, stands in contacts.items() if np.any(stands)}
    touches = {name: _touching(mechanism, name, points, level) for name, points in soles.items()}
    polygons: list[np.ndarray | None] = []
    last = np.zeros((0, 2))
    for k in range(len(motion.times)):
        touching = [points[k, touches[name][k], :2] for name, points in soles.items() if contacts[name][k]]
        points = np.concatenate(touching) if touching else np.zeros((0, 2))
        if k and points.shape == last.shape and np.abs(points - last).max(initial=0.0) < STILL:
            polygons.append(polygons[-1])
            continue
        polygons.append(convex_hull(points) if touching else None)
        last = points
    return polygons


def _touching(mechanism: Mechanism, name: str, points: np.ndarray, ground: Ground) -> np.ndarray:
    """Return which points (T, S, 3) of what stands touch the ground (T, S): a foot's lowest over it."""
    frame = mechanism.frame(name)
    if not frame.is_foot:
        return np.ones(points.shape[:2], bool)
    above = ground.above(points)
    return np.asarray(above <= above.min(axis=1, keepdims=True) + TOUCH * sole_length(frame))
