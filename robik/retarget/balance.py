"""Contacts → where the centre of mass should be, so that a slowly walking robot does not fall.

On one foot the CoM stays inside that foot's support; on several it moves along the line between the feet (paper, V-4);
and it shifts before a foot lifts, not while. Among the paths p that do so, the one taken stays near the wished-for path
r and is smooth:

    minimise  ∫ |p − r|² + τ⁴ |p̈|² dt   subject to  p(t) ∈ S(t)

S(t) is the standing foot's sole less the margin, or between several feet the hull of their soles' centres: for two, a
line. A convex quadratic program with a banded Hessian; solved by the alternating direction method of multipliers
(ADMM).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import isfinite

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.linalg import cho_solve_banded, cholesky_banded

from ..errors import ClipError
from ..mechanism.model import Mechanism
from ..skeleton.hips import hips_of
from .clip import TargetClip
from .contacts import foot_poses, with_contacts
from .support import convex_hull, inset, nearest, placed, sole_axes, sole_polygon

RATE = 60.0  # the path is planned at this many points a second and interpolated between them


def with_balance(
    mechanism: Mechanism,
    clip: TargetClip,
    margin: float = 0.01,
    wish: np.ndarray | None = None,
    lead: float = 0.06,
    shift: float = 0.15,
    stiffness: float = 0.2,
) -> TargetClip:
    """The clip with a CoM target that keeps the robot balanced, and with its feet's contact phases.

    The target's height is that of the wish: leave the weight of the CoM along z at zero. The tracks of what is no foot
    lean with the CoM, level, as far as its target lies off the wish: else the pelvis would pull it back out of the
    support.

    Args:
        mechanism: the robot, with soles on its feet's frames.
        clip: with tracks of its feet; contact phases are found where there are none.
        margin: the CoM stays at least this far inside the standing foot's outline [m], as far as the sole is that wide.
        wish: (T, 3) where the CoM would be if balance did not matter [m]. By default the clip's own CoM target, else
            where the robot's CoM would be if it moved rigidly with the track of its hips, or the first that is not a
            foot, else the middle of the feet.
        lead: the shift of weight is done this long before a foot lifts, and begins this long after one lands [s].
        shift: where the feet leave less time than this for a shift of weight, it begins earlier and ends later [s].
        stiffness: τ above [s]; a longer one gives a smoother path that leaves the wish further.

    Raises:
        ClipError: the clip moves no foot, none of them ever stands, or a setting cannot be.
    """
    for what, value in (("margin", margin), ("lead", lead), ("shift", shift), ("stiffness", stiffness)):
        if not (isfinite(value) and value >= 0):
            raise ClipError(f"the balance's {what} must be zero or more, not {value}")
    clip = with_contacts(mechanism, clip)
    contacts = {n: t.contact for n, t in clip.tracks.items() if t.contact is not None and mechanism.frame(n).is_foot}
    if not any(c.any() for c in contacts.values()):
        why = "they slide or are in the air all the time; mend their targets, or give the phases by hand"
        raise ClipError(f"none of the feet {', '.join(contacts)} ever stands: {why}")
    wish = default_wish(mechanism, clip, contacts) if wish is None else np.asarray(wish, dtype=float)
    if wish.shape != (len(clip.times), 3):
        raise ClipError(f"the wished CoM must have the shape ({len(clip.times)}, 3), not {wish.shape}")
    start, end = clip.times[0], clip.times[-1]
    grid = np.linspace(start, end, max(int(np.ceil((end - start) * RATE)), 1) + 1) if end > start else clip.times
    supports = _supports(mechanism, clip, contacts, grid, margin, lead, shift)
    sampled = np.column_stack([np.interp(grid, clip.times, wish[:, k]) for k in range(2)])
    path = smooth_inside(sampled, supports, (stiffness * RATE) ** 4)
    ground = CubicSpline(grid, path)(clip.times) if len(grid) > 1 else path
    com = np.column_stack([ground, wish[:, 2]])
    stays = {n for n, t in clip.tracks.items() if n in contacts or t.position is None}
    tracks = {n: t if n in stays else replace(t, position=t.position + com - wish) for n, t in clip.tracks.items()}
    return replace(clip, tracks=tracks, com=com)


def default_wish(mechanism: Mechanism, clip: TargetClip, contacts: Mapping[str, np.ndarray]) -> np.ndarray:
    """Where the CoM would be if balance did not matter (T, 3) [m]; `with_balance` says how it is chosen."""
    if clip.com is not None:
        return clip.com
    rest_com = (
        sum(b.mass * b.rest_com for b in mechanism.bodies) / mechanism.mass if mechanism.mass > 0 else np.zeros(3)
    )
    name = hips_of(mechanism, (n for n, t in clip.tracks.items() if t.position is not None and n not in contacts))
    if name is not None and (position := clip.tracks[name].position) is not None:
        rest, quaternion = mechanism.rest_pose(name), clip.tracks[name].quaternion
        offset = np.asarray(rest_com) - np.asarray(rest.position)
        return (
            position + offset
            if quaternion is None
            else placed((rest.matrix.T @ offset)[None], position, quaternion)[:, 0]
        )
    return np.mean(
        [placed(sole_polygon(mechanism.frame(n)), *foot_poses(mechanism, clip, n)).mean(axis=1) for n in contacts],
        axis=0,
    )


def _supports(
    mechanism: Mechanism,
    clip: TargetClip,
    contacts: Mapping[str, np.ndarray],
    grid: np.ndarray,
    margin: float,
    lead: float,
    shift: float,
) -> list[np.ndarray | None]:
    """S(t) at the grid's times: corners (K, 2), or None in the air."""
    inner, centres = {}, {}
    for name in contacts:
        frame = mechanism.frame(name)
        position, quaternion = foot_poses(mechanism, clip, name)
        corners = placed(sole_inside(mechanism, name, margin), position, quaternion)[..., :2]
        middle = placed(sole_polygon(frame).mean(axis=0)[None], position, quaternion)[..., :2]
        inner[name], centres[name] = _resampled(grid, clip.times, corners), _resampled(grid, clip.times, middle)[:, 0]
    result: list[np.ndarray | None] = []
    for k, standing in enumerate(planned_feet(clip.times, contacts, grid, lead, shift)):
        if len(standing) == 1:
            result.append(convex_hull(inner[next(iter(standing))][k]))
        else:
            result.append(convex_hull(np.array([centres[n][k] for n in sorted(standing)])) if standing else None)
    return result


def sole_inside(mechanism: Mechanism, name: str, margin: float) -> np.ndarray:
    """Return a sole's outline less the margin (K, 3) [m], in the frame's coordinates."""
    outline, axes = sole_polygon(mechanism.frame(name)), sole_axes(mechanism.frame(name))
    middle = outline.mean(axis=0)
    return middle + inset((outline - middle) @ axes[:2].T, margin) @ axes[:2]


def _resampled(grid: np.ndarray, times: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Values (T, …) at the grid's times, linearly between samples."""
    flat = values.reshape(len(times), -1)
    columns = [np.interp(grid, times, flat[:, k]) for k in range(flat.shape[1])]
    return np.column_stack(columns).reshape(len(grid), *values.shape[1:])


def planned_feet(
    times: np.ndarray, contacts: Mapping[str, np.ndarray], grid: np.ndarray, lead: float, shift: float
) -> list[frozenset[str]]:
    """Which feet the CoM may count on at the grid's times: those that stand, with time to shift the weight between
    them.

    A foot counts from `lead` after it landed until `lead` before it lifts. What remains for a shift of weight is made
    at least `shift` long, at most at the cost of a third of the phases around it.
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
    """The phases' bounds, moved as `planned_feet` says: phase i lasts from bound i to bound i + 1."""
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


def smooth_inside(
    wish: np.ndarray, supports: list[np.ndarray | None], weight: float, tolerance: float = 2e-5, most: int = 4000
) -> np.ndarray:
    """The smooth path inside the supports that stays near the wish.

        minimise  Σ |pₖ − rₖ|² + weight Σ |pₖ₋₁ − 2 pₖ + pₖ₊₁|²   subject to  pₖ ∈ Sₖ

    Args:
        wish: r, (N, 2) [m].
        supports: Sₖ, corners (K, 2) of a convex polygon, a segment or a point [m], or None for anywhere.
        weight: of the second differences.
        tolerance: how far outside a support the path may end [m].
        most: iterations.

    Returns:
        p, (N, 2) [m].
    """
    free = np.array([s is None for s in supports])
    corners = max((len(s) for s in supports if s is not None), default=1)
    polygons = np.stack(
        [np.zeros((corners, 2)) if s is None else s[np.minimum(np.arange(corners), len(s) - 1)] for s in supports]
    )

    def project(points: np.ndarray) -> np.ndarray:
        return np.where(free[:, None], points, nearest(points, polygons))

    hessian = _bands(len(wish), weight)
    penalty = 10.0
    factor = _factor(hessian, penalty)
    inside = project(wish)
    dual = np.zeros_like(wish)
    for iteration in range(most):
        path = cho_solve_banded((factor, False), wish + penalty * (inside - dual))
        previous, inside = inside, project(path + dual)
        dual += path - inside
        outside, change = np.abs(path - inside).max(), np.abs(inside - previous).max()
        if max(outside, change) < tolerance:
            break
        if iteration % 25 == 24 and not 0.2 < outside / change < 5.0:  # one of the two lags: rebalance
            scale = float(np.clip(np.sqrt(outside / max(change, 1e-12)), 0.2, 5.0))
            penalty, dual = penalty * scale, dual / scale
            factor = _factor(hessian, penalty)
    return path


def _bands(n: int, weight: float) -> np.ndarray:
    """I + weight D₂ᵀD₂ as its diagonal and two bands above it, the diagonal last (3, n)."""
    bands = np.zeros((3, n))
    bands[2] = 1.0
    for k in range(n - 2):
        bands[2, k : k + 3] += weight * np.array([1.0, 4.0, 1.0])
        bands[1, k + 1 : k + 3] -= 2.0 * weight
        bands[0, k + 2] += weight
    return bands


def _factor(bands: np.ndarray, penalty: float) -> np.ndarray:
    shifted = bands.copy()
    shifted[2] += penalty
    return cholesky_banded(shifted)
