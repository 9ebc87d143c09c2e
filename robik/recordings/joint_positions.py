"""Skeletons from positions of joints alone: which joint hangs on which, and how the bones turn.

Two joints of one bone keep their distance. The bones are therefore the tree that connects all joints by short
distances which hardly change (minimum spanning tree). A bone with several joints beyond it turns as they do (Kabsch);
one with a single joint turns with its parent by no more than lets it point there.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree
from scipy.spatial.transform import Rotation

from ..errors import ClipError
from ..mechanism.orientations import quaternions
from ..skeleton.anatomy import named_parts
from ..skeleton.skeleton import Skeleton, SkeletonMotion

CHANGE = 20.0  # by which the change of a distance, against it, counts beside the distance
LOOKS = 200  # frames at which distances are measured
FLAT = 1e-9  # of the skeleton's size: shorter bones have no direction


def skeleton_motion(
    names: tuple[str, ...], positions: np.ndarray, times: np.ndarray, parents: np.ndarray | None = None
) -> SkeletonMotion:
    """Return the motion of J joints as that of a skeleton, whose rest pose is the first frame's.

    Positions (T, J, 3) are in any unit, at increasing times (T,) [s]. `parents` (J,) are indices of joints, −1 for a
    root; found by distances if left out. Raise ClipError for shapes or parents that do not fit.
    """
    if not len(positions):
        raise ClipError("it holds no frame of motion")
    if positions.ndim != 3 or positions.shape[1:] != (len(names), 3):
        raise ClipError(f"positions of {len(names)} joints must have the shape (T, {len(names)}, 3), "
                        f"not {positions.shape}")  # fmt: skip
    if times.shape != (len(positions),) or (len(times) > 1 and (np.diff(times) <= 0).any()):
        raise ClipError(f"times must be {len(positions)} increasing numbers, one per frame")
    parents = _parents(names, positions) if parents is None else parents
    if parents.shape != (len(names),) or (parents >= len(names)).any() or (parents != np.rint(parents)).any():
        raise ClipError(f"parents must be an index below {len(names)} for each of the joints, or −1")
    parents, rest = np.maximum(parents, -1).astype(int), positions[0]
    upright = np.tile([1.0, 0.0, 0.0, 0.0], (len(names), 1))
    skeleton = Skeleton(names, parents, rest, upright, _tips(parents, rest))
    return SkeletonMotion(skeleton, times, positions, _orientations(skeleton, positions))


def _parents(names: tuple[str, ...], positions: np.ndarray) -> np.ndarray:
    """Return the joint that each hangs on, the hips, else the first joint, at the root."""
    looks = np.unique(np.linspace(0, len(positions) - 1, min(LOOKS, len(positions))).astype(int))
    apart = np.linalg.norm(positions[looks][:, :, None] - positions[looks][:, None], axis=3)
    mean, change = apart.mean(axis=0), apart.std(axis=0)
    size = float(mean.max()) or 1.0
    weight = (mean + CHANGE * change) / size + FLAT  # zero would be no edge
    tree = minimum_spanning_tree(np.triu(weight, 1))
    hips = named_parts(names).get(("hips", ""))
    root = names.index(hips) if hips in names else 0
    order, above = breadth_first_order(tree, root, directed=False)
    parents = np.full(len(names), -1)
    parents[order[1:]] = above[order[1:]]
    return parents


def _tips(parents: np.ndarray, rest: np.ndarray) -> np.ndarray:
    tips = rest.copy()
    for k in range(len(parents)):
        children = np.flatnonzero(parents == k)
        if len(children):
            tips[k] = rest[children].mean(axis=0)
        elif parents[k] >= 0:
            tips[k] = 1.5 * rest[k] - 0.5 * rest[parents[k]]
    return tips


def _orientations(skeleton: Skeleton, positions: np.ndarray) -> np.ndarray:
    """Return the bones' rotations from the rest pose (T, N, 4)."""
    found: dict[int, Rotation] = {}
    rest, parents = skeleton.positions, skeleton.parents
    size = float(np.ptp(rest, axis=0).max())
    for k in _parents_first(parents):
        above = found[int(parents[k])] if parents[k] >= 0 else Rotation.identity(len(positions))
        children = np.flatnonzero(parents == k)
        ways = rest[children] - rest[k]
        there = positions[:, children] - positions[:, k, None]
        long = np.linalg.norm(ways, axis=1) > FLAT * size
        ways, there = ways[long], there[:, long]
        if np.linalg.matrix_rank(ways, tol=0.05 * size) >= 2:
            found[k] = _aligned(ways, there)
        elif len(ways):
            found[k] = _swung(above, ways[0], there[:, 0])
        else:
            found[k] = above
    return np.stack([quaternions(found[k]) for k in range(len(parents))], axis=1)


def _parents_first(parents: np.ndarray) -> list[int]:
    order: list[int] = []
    waiting = [k for k in range(len(parents)) if parents[k] < 0]
    while waiting:
        order.append(waiting.pop(0))
        waiting += np.flatnonzero(parents == order[-1]).tolist()
    return order


def _aligned(ways: np.ndarray, there: np.ndarray) -> Rotation:
    """Return the rotations that lay vectors (K, 3) best over others (T, K, 3) (Kabsch)."""
    u, _, vt = np.linalg.svd(np.einsum("tki,kj->tij", there, ways))
    u[:, :, 2] *= np.linalg.det(u @ vt)[:, None]
    return Rotation.from_matrix(u @ vt)


def _swung(above: Rotation, way: np.ndarray, there: np.ndarray) -> Rotation:
    """Return rotations after `above` by the smallest turns that let a vector (3,) point along others (T, 3)."""
    now = above.apply(way)
    now, wanted = (v / np.maximum(np.linalg.norm(v, axis=1, keepdims=True), FLAT) for v in (now, there))
    across, cosine = np.cross(now, wanted), (now * wanted).sum(axis=1)
    sine = np.linalg.norm(across, axis=1)
    axis = across / np.maximum(sine, FLAT)[:, None]
    return Rotation.from_rotvec(np.arctan2(sine, cosine)[:, None] * axis) * above
