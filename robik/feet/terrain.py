"""Soles on a mesh as ground: where they come to rest, and what they must be lifted over."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import gaussian_filter1d, maximum_filter1d
from scipy.spatial.transform import Rotation

from ..mechanism.model import Mechanism
from ..mechanism.orientations import rotation
from ..surroundings.ground import Ground
from ..surroundings.surface import planes_above, resting_plane
from .sole_turns import laid_on
from .support import placed, sole_axes, sole_length, sole_polygon

FINE = 24  # samples along a sole, of the ground under it
NEAR = 0.6  # of a sole's length: a foot that does not lie well is put down up to so far aside
TRIES = 13  # places along each side of that
ROUGH = 0.04  # of a sole's length: the ground under a sole that lies well is no rougher
STEEP = 0.6  # slope of the steepest ground on which a foot is put down, where another place is near
NOWHERE = -1e9  # m: height of a plane that keeps off nothing
AHEAD = 0.08  # s before and after what a swing is lifted over


def sole_samples(mechanism: Mechanism, name: str) -> np.ndarray:
    """Return points (K, 3) [m] over a sole, its outline included, in the frame's coordinates."""
    outline, axes = sole_polygon(mechanism.frame(name)), sole_axes(mechanism.frame(name))
    middle, step = outline.mean(axis=0), sole_length(mechanism.frame(name)) / FINE
    rims = []
    for a, b in zip(outline, np.roll(outline, -1, axis=0), strict=True):
        count = max(int(np.linalg.norm(b - a) / step), 1)
        rims.append(a + np.arange(count)[:, None] / count * (b - a))
    rim = np.concatenate([np.array(mechanism.frame(name).sole), *rims])
    inner = [middle + share * (np.concatenate(rims) - middle) for share in (0.0, 0.4, 0.75)]
    flat = np.concatenate([rim, inner[0][:1], *inner[1:]])
    return np.asarray(middle + (flat - middle) @ axes[:2].T @ axes[:2])


class Terrain:
    """Soles of a robot over a mesh that does not move."""

    def __init__(self, mechanism: Mechanism, ground: Ground) -> None:
        self._mechanism, self._ground = mechanism, ground
        self._samples = {f.name: sole_samples(mechanism, f.name) for f in mechanism.frames if f.is_foot}

    def lay(self, name: str, up: np.ndarray, centre: np.ndarray, turn: Rotation) -> tuple[np.ndarray, Rotation]:
        """Return a sole's centre (3,) [m] and a foot's orientation where it comes to rest, put down at a place.

        It rests beside the place where it does not lie well there. `up` (3,) is the sole's normal in the frame's
        coordinates.
        """
        flat = laid_on(turn, up)
        points = self._samples[name]
        own = flat.apply(points - np.mean(self._mechanism.frame(name).sole, axis=0))
        place = self._good_place(own, centre, sole_length(self._mechanism.frame(name)))
        under = own + np.array([*place, 0.0])
        under[:, 2] = self._ground.heights(under)
        normal, height = resting_plane(under, place)
        middle = np.array([*place, (height - normal[:2] @ place) / normal[2]])
        laid = laid_on(flat, up, normal)
        sole = np.array(self._mechanism.frame(name).sole)
        outline = laid.apply(sole - sole.mean(axis=0))
        return middle + normal * max(-(outline @ normal).min(), 0.0), laid

    def _good_place(self, own: np.ndarray, centre: np.ndarray, length: float) -> np.ndarray:
        """Return the place (2,) nearest to a sole's centre at which the ground under it is even and not steep."""
        side = np.linspace(-NEAR, NEAR, TRIES) * length
        shifts = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
        shifts = shifts[np.argsort(np.linalg.norm(shifts, axis=1), kind="stable")]
        under = np.empty((len(shifts), len(own), 3))
        under[..., :2] = centre[:2] + shifts[:, None] + own[None, :, :2]
        under[..., 2] = self._ground.heights(under[..., :2])
        normal, top = planes_above(under)
        below = top[:, None] - np.einsum("ti,tki->tk", normal, under)
        rough = below.max(axis=1) / length
        slope = np.linalg.norm(normal[:, :2], axis=1) / normal[:, 2]
        good = (rough <= max(ROUGH, 1.01 * rough.min())) & (slope <= max(STEEP, slope.min()))
        best = int(good.argmax()) if good.any() else int((rough + 0.1 * slope).argmin())
        return np.asarray(centre[:2] + shifts[best])

    def lift(self, name: str, position: np.ndarray, turns: Rotation) -> np.ndarray:
        """Return the height (T,) [m] by which a foot must be raised so that its sole is nowhere below the ground.

        Its frame is at (T, 3) [m].
        """
        under = np.einsum("tij,sj->tsi", turns.as_matrix(), self._samples[name]) + position[:, None]
        return np.maximum((self._ground.heights(under) - under[..., 2]).max(axis=1), 0.0)

    def planes(
        self, name: str, position: np.ndarray, quaternion: np.ndarray, clear: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return planes `clear` (T,) [m] over the ground under a foot, but not above the foot where that is.

        They are unit normals (T, 3) and heights along them from the origin (T,) [m]. The foot is at (T, 3) [m] and
        (T, 4) wxyz.
        """
        normal, height = self.planes_over(name, position, quaternion)
        sole = placed(np.array(self._mechanism.frame(name).sole), position, quaternion)
        return normal, np.minimum(height + clear, np.einsum("ti,tsi->ts", normal, sole).min(axis=1))

    def planes_over(self, name: str, position: np.ndarray, quaternion: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return planes near to the ground under a foot, and nowhere below it, wherever the foot is.

        They are as for `planes`, with `NOWHERE` for heights where there is no ground.
        """
        place, carried = self._ground.carried(len(position))
        turns, back = rotation(quaternion), carried.inv()
        matrices, own = (back * turns).as_matrix(), back.apply(position - place)
        under = np.einsum("tij,sj->tsi", matrices, self._samples[name]) + own[:, None]
        under[..., 2] = self._ground.heights(under)
        known = np.isfinite(under[..., 2]).all(axis=1)
        normal, height = np.tile([0.0, 0.0, 1.0], (len(under), 1)), np.full(len(under), NOWHERE)
        if known.any():
            normal[known], height[known] = planes_above(under[known])
        normal = carried.apply(normal)
        return normal, height + (normal * place).sum(axis=1)


def raised_over(lift: np.ndarray, step: float) -> np.ndarray:
    """Return a swing's smooth heights (T,) [m], nowhere less than `lift` (T,) [m], and about zero at both ends.

    `step` is the time between samples [s].
    """
    if not lift.any():
        return lift
    reach = max(round(AHEAD / step), 1)
    wide = gaussian_filter1d(maximum_filter1d(lift, 2 * reach + 1), reach / 2, mode="constant")
    ends = np.minimum(np.arange(1, len(lift) + 1), np.arange(len(lift), 0, -1)) / (reach + 1)
    return np.maximum(lift, wide * np.minimum(ends, 1.0))
