"""Footholds: the areas for the centre of mass, or the zero-moment point, while feet stand and swing in turn.

A hand on a table or hips on a seat count as a foot does that has a point for a sole.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import inf

import numpy as np

from ..clips.clip import TargetClip
from ..mechanism.model import Mechanism
from ..straight import straight
from .finding import foot_poses
from .support import convex_hull, inset, placed, sole_axes, sole_polygon, stood_on


@dataclass(frozen=True, kw_only=True, eq=False)
class Footholds:
    """Feet over time.

    Attributes:
        times: (T,) of the contacts [s].
        grid: (N,) times of the plan [s].
        contacts: by foot, and by what else holds on, whether it stands (T,).
        outlines: by foot, its sole less the margin, seen from above (N, K, 2) [m].
        centres: by foot, its sole's centre, seen from above (N, 2) [m].
        ground: height of the ground (N,) [m]: that of the soles that stand, in their mean, and in between from stand to
            stand, so that it climbs with steps; where none ever does, that of the lowest one.
    """

    times: np.ndarray
    grid: np.ndarray
    contacts: Mapping[str, np.ndarray]
    outlines: Mapping[str, np.ndarray]
    centres: Mapping[str, np.ndarray]
    ground: np.ndarray

    @classmethod
    def of(
        cls,
        mechanism: Mechanism,
        clip: TargetClip,
        contacts: Mapping[str, np.ndarray],
        grid: np.ndarray,
        margin: float,
    ) -> Footholds:
        """Return the footholds of a clip at times `grid` (N,) [s], `margin` [m] inside the soles' outlines.

        `contacts` (T,) are by foot, and by what else holds on.
        """
        outlines, centres, heights = {}, {}, {}
        for name in contacts:
            position, quaternion = foot_poses(mechanism, clip, name)
            if not mechanism.frame(name).is_foot:
                centres[name] = straight(grid, clip.times, position[:, :2])
                outlines[name] = centres[name][:, None]
                continue
            inside = placed(sole_inside(mechanism, name, margin), position, quaternion)
            centre = placed(sole_polygon(mechanism.frame(name)).mean(axis=0)[None], position, quaternion)[:, 0]
            outlines[name] = straight(grid, clip.times, inside[..., :2])
            centres[name] = straight(grid, clip.times, centre[:, :2])
            heights[name] = centre[:, 2]
        ground = stood_on(grid, clip.times, heights, contacts)
        if ground is None:
            ground = np.full(len(grid), min((height.min() for height in heights.values()), default=inf))
        return cls(times=clip.times, grid=grid, contacts=contacts, outlines=outlines, centres=centres, ground=ground)

    def for_standing(self, lead: float, shift: float) -> list[np.ndarray | None]:
        """Return the areas for the centre of mass of a slow robot, at the grid's times.

        An area has corners (K, 2) [m]; it is None in the air. Of a single foot it is the outline; of several feet the
        hull of their centres, which for two is a line. `lead` and `shift` [s] are those of `planned_feet`.
        """
        feet = planned_feet(self.times, self.contacts, self.grid, lead, shift)
        return _hulls(
            [self.outlines[name][k] if len(standing) == 1 else self.centres[name][k, None] for name in sorted(standing)]
            for k, standing in enumerate(feet)
        )

    def for_moving(self, lead: float) -> list[np.ndarray | None]:
        """Return the areas for the zero-moment point, as `for_standing` does: hulls of all outlines that stand."""
        feet = planned_feet(self.times, self.contacts, self.grid, lead, 0.0)
        return _hulls([self.outlines[name][k] for name in sorted(standing)] for k, standing in enumerate(feet))


def _hulls(areas: Iterable[list[np.ndarray]]) -> list[np.ndarray | None]:
    """Return the hull of some points (K, 2) at a time, the same array while they rest; None where there are none."""
    result: list[np.ndarray | None] = []
    last = np.zeros((0, 2))
    for parts in areas:
        points = np.concatenate([np.zeros((0, 2)), *parts])
        if not (result and np.array_equal(points, last)):
            result.append(convex_hull(points) if len(points) else None)
        else:
            result.append(result[-1])
        last = points
    return result


def sole_inside(mechanism: Mechanism, name: str, margin: float) -> np.ndarray:
    """Return the corners (K, 3) of a sole's outline less a rim of width `margin` [m], in the frame's coordinates."""
    outline, axes = sole_polygon(mechanism.frame(name)), sole_axes(mechanism.frame(name))
    middle = outline.mean(axis=0)
    return middle + inset((outline - middle) @ axes[:2].T, margin) @ axes[:2]


def planned_feet(
    times: np.ndarray, contacts: Mapping[str, np.ndarray], grid: np.ndarray, lead: float, shift: float
) -> list[frozenset[str]]:
    """Return the names of the feet that may carry weight, for each of the grid's times (G,) [s].

    A foot counts from `lead` [s] after it landed until `lead` before it lifts. The remaining time for a shift of weight
    is made at least `shift` [s] long, at the cost of at most a third of the phases around it. `contacts` (T,) are by
    frame.
    """
    names = sorted(contacts)
    sets = [frozenset(n for n in names if contacts[n][k]) for k in range(len(times))]
    phases, bounds = [sets[0]], [times[0]]
    for k in range(1, len(times)):
        before, after = sets[k - 1], sets[k]
        if before == after:
            continue
        middle = 0.5 * (times[k - 1] + times[k])
        if (
            before and after and not (before < after or after < before)
        ):  # from foot to foot at once: the shift needs both
            phases.append(before | after)
            bounds.append(middle)
        phases.append(after)
        bounds.append(middle)
    bounds.append(times[-1])
    if len(times) > 1:
        lead = max(lead, float(np.median(np.diff(times))))
    index = np.searchsorted(_shifting_bounds(phases, bounds, lead, shift)[1:-1], grid, side="right")
    return [phases[int(i)] for i in index]


def _shifting_bounds(phases: list[frozenset[str]], bounds: list[float], lead: float, shift: float) -> np.ndarray:
    """Return the phases' bounds, moved as `planned_feet` says: phase i lasts from bound i to bound i + 1."""
    moved = np.array(bounds)
    for i in range(1, len(phases)):
        before, after = phases[i - 1], phases[i]
        if before and after:
            moved[i] += lead if before < after else -lead
    for i in range(1, len(phases) - 1):
        if not (frozenset() < phases[i - 1] < phases[i] and frozenset() < phases[i + 1] < phases[i]):
            continue
        if moved[i + 1] - moved[i] < shift:
            middle = 0.5 * (bounds[i] + bounds[i + 1])
            moved[i] = max(middle - 0.5 * shift, bounds[i] - (bounds[i] - bounds[i - 1]) / 3)
            moved[i + 1] = min(middle + 0.5 * shift, bounds[i + 1] + (bounds[i + 2] - bounds[i + 1]) / 3)
    return np.maximum.accumulate(moved)
