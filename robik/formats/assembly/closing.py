"""The search for a pose in which the loops close, near the stored one.

A pull towards the stored coordinates leads each start, and only at the end it is let go.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import degrees, inf

import numpy as np
from scipy.optimize import least_squares

from ...budget import REMEDY_SECONDS, OutOfTimeError, current
from ...errors import AssemblyError, MechanismError
from ...mechanism.joints import SLIDES
from ...mechanism.model import TOLERANCE
from ...mechanism.topology import CLOSED
from ..imported import Notes
from .open_joint import OpenJoint
from .open_pose import gap_of, open_pose
from .open_robot import OpenRobot
from .remedies import remedy

STARTS, FEW_STARTS = 12, 4
PULL = 0.05  # weight of a radian, or of a joint's span, off the stored pose
# of the robot's size, or rad: what rounding in a file explains, such as a few quarter turns written 1.5708
ACCEPTED = TOLERANCE
# rad, or of the robot's size: a loop that closes within is in the stored pose's assembly mode; no other is looked for
NEAR = 0.5
LOOSE = 1e-3  # of the largest: singular values below may be those of rounding
FAR = 100.0  # times the gap in the stored pose: a loop that closes only so far away does not because of the gap
FARTHEST = 1e9  # lengths [m] and coefficients beyond are a mistake, and their squares' differences mean nothing
Closure = tuple[np.ndarray, np.ndarray]  # residuals (m,), and their derivatives (m, d)
Offer = Callable[[np.ndarray], None]  # takes the best coordinates so far


def check_lengths(robot: OpenRobot) -> None:
    """Check that no length or coefficient is too large to calculate with; else raise MechanismError."""
    for joint in robot.joints:
        numbers = (*joint.near.position, *joint.far.position, *joint.stored)
        if max(map(abs, numbers)) > FARTHEST:
            raise MechanismError(
                f"joint {joint.name!r}: it reaches {max(map(abs, numbers)):.3g} m far; lengths are in metres"
            )
    for coupling in robot.couplings:
        given = (*coupling.coefficients, *(slope for _, slope in coupling.others))
        if max(map(abs, given)) > FARTHEST:
            raise MechanismError(
                f"coupling {coupling.name!r}: its coefficients are too large to calculate with: {given}"
            )


def closed(robot: OpenRobot, notes: Notes) -> np.ndarray:
    """Return coordinates (d,) [rad or m] that close the loops, within the limits if possible.

    Raise AssemblyError where none do.
    """
    lower, upper = robot.bounds
    inside = np.clip(robot.stored, lower, upper)
    for name, k in robot.coordinates.items():
        if inside[k] != robot.stored[k]:
            notes.add("its stored value lies outside its limits, so it rests at the nearest of them", name)
    inside = np.clip(_led(robot, inside), lower, upper)
    q = inside.copy()
    for part in robot.parts:
        index = np.array([robot.coordinates[name] for name in part.coordinates], dtype=int)
        # Coordinates nearer to the world, in no loop of this part, may be in another part's loops.
        whole = partial(_with_part, q, index, part.in_loops)
        best, error = _best_of_part(part, inside[index], partial(_offer, robot, whole))
        if error > ACCEPTED:
            raise AssemblyError(_open(part, best))
        q = whole(best)
    return q


def _with_part(q: np.ndarray, index: np.ndarray, kept: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the coordinates q (d,) with those of a part, at `index` (k,), that are `kept` (k,)."""
    return with_values(q, index[kept], values[kept])


def _offer(robot: OpenRobot, whole: Callable[[np.ndarray], np.ndarray], values: np.ndarray) -> None:
    """Show whoever waits the robot with these values of a part."""
    current().offer(open_pose(robot, whole(values)))


def _led(robot: OpenRobot, q: np.ndarray) -> np.ndarray:
    """Return coordinates (d,) with the dependent ones of couplings where these have them.

    Where couplings form a ring, independent coordinates stay as stored.
    """
    q, waiting = q.copy(), list(robot.couplings)
    while waiting:
        followers = {coupling.follower for coupling in waiting}
        first = [coupling for coupling in waiting if followers.isdisjoint(coupling.leaders)]
        if not first:
            break
        for coupling in first:
            follower = robot.coordinates[coupling.follower]
            wanted = coupling.value({name: float(q[robot.coordinates[name]]) for name in coupling.leaders})
            if abs(wanted - q[follower]) > CLOSED:
                q[follower] = wanted
        waiting = [coupling for coupling in waiting if not followers.isdisjoint(coupling.leaders)]
    return q


def _best_of_part(part: OpenRobot, stored: np.ndarray, offer: Offer) -> tuple[np.ndarray, float]:
    """Coordinates of a part that close its loops as far as that can be, and their largest residual."""
    lower, upper = part.bounds
    without = (np.full_like(lower, -inf), np.full_like(upper, inf))
    best, best_error = stored, inf
    for bounds in ((lower, upper), without) if np.isfinite(part.bounds).any() else (without,):
        q, error = search(part, stored, bounds, offer=offer)
        if error < best_error:
            best, best_error = q, error
        if best_error <= ACCEPTED:
            break
    if best_error > ACCEPTED:
        offer(best)
    return best, best_error


def _closes(robot: OpenRobot) -> bool:
    """Return whether its loops can be closed, limits aside, from a few starts."""
    unbounded = np.full((2, len(robot.stored)), [[-inf], [inf]])
    current().check()
    return search(robot, robot.stored, (unbounded[0], unbounded[1]), FEW_STARTS)[1] <= ACCEPTED


def search(
    robot: OpenRobot,
    stored: np.ndarray,
    bounds: tuple[np.ndarray, np.ndarray],
    starts: int = STARTS,
    offer: Offer = lambda _: None,
) -> tuple[np.ndarray, float]:
    """Return the closed pose (d,) nearest to the stored one, of several starts, and its largest residual.

    Where no start closes, it is the pose of the smallest residual. Residuals of lengths are fractions of the
    robot's size. `offer` takes the best coordinates so far.
    """
    values, _ = robot.closure(stored)
    error = float(np.abs(values).max(initial=0.0))
    if error <= CLOSED:
        return stored, error
    # A joint at a singular place has no derivative there, so what matters is asked of the tree and not of the Jacobian.
    matters = robot.in_loops & (bounds[1] - bounds[0] > 1e-9)
    span = np.where(slides(robot), robot.size, 1.0)
    rng = np.random.default_rng(0)
    found: list[tuple[float, np.ndarray, float]] = []
    best, best_error = stored, error
    for start in range(starts):
        current().tell(f"Closing loops: start {start + 1} of {starts}, open by {1e3 * robot.size * best_error:.3g} mm")
        q = stored.copy()
        if start > 0:
            spread = np.pi * start / starts
            q += np.where(matters, spread * span * rng.uniform(-1.0, 1.0, len(q)), 0.0)
        try:
            q, error = _descend(robot, np.clip(q, *bounds), stored, matters, bounds)
        except OutOfTimeError:
            break
        if start == 0:
            q, error = _as_stored(robot, stored, matters, bounds, q, error)
        if error < best_error:
            best, best_error = q, error
            offer(best)
        if error <= ACCEPTED:
            found.append((float(np.linalg.norm(q - stored)), q, error))
        is_near = bool(found) and float((np.abs(found[0][1] - stored) / span).max(initial=0.0)) < NEAR
        if found and (is_near or start >= FEW_STARTS):
            break
    if found:
        _, best, best_error = min(found, key=lambda item: item[0])
    return best, best_error


def _as_stored(
    robot: OpenRobot,
    stored: np.ndarray,
    matters: np.ndarray,
    bounds: tuple[np.ndarray, np.ndarray],
    q: np.ndarray,
    error: float,
) -> tuple[np.ndarray, float]:
    """Return a pose (d,) beside the stored one, closed but for rounding, in place of `q` far away, and its residual.

    Rounded numbers lock a linkage that moves. By the letter it closes best somewhere on its way, however far that
    is. A singular value below LOOSE is then one of rounding, along which no step is taken. What stays open is taken
    up in the joints. `matters` flags the coordinates that close loops.
    """
    columns = np.flatnonzero(matters)
    gap = float(np.abs(robot.closure(stored)[0]).max(initial=0.0))
    if not len(columns) or float(np.abs(q - stored).max()) <= FAR * gap:
        return q, error

    def closure(x: np.ndarray) -> Closure:
        values, rows = robot.closure(with_values(stored, columns, x))
        return values, rows[:, columns]

    x, beside = newton(stored[columns], closure, (bounds[0][columns], bounds[1][columns]), LOOSE)
    near = float(np.abs(x - stored[columns]).max()) <= FAR * gap
    return (with_values(stored, columns, x), beside) if near and beside <= ACCEPTED else (q, error)


def _descend(
    robot: OpenRobot, q: np.ndarray, stored: np.ndarray, matters: np.ndarray, bounds: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, float]:
    """Descend from one start, first drawn towards the stored pose, then free.

    By Newton steps, or after a search where these lead nowhere.
    """
    q = q.copy()
    columns = np.flatnonzero(matters)
    if not len(columns):
        return q, float(np.abs(robot.closure(q)[0]).max(initial=0.0))

    def at(x: np.ndarray) -> np.ndarray:
        return with_values(q, columns, x)

    known: dict[
        bytes, tuple[np.ndarray, np.ndarray]
    ] = {}  # the optimizer asks for values and derivatives one after the other

    def closure(x: np.ndarray) -> Closure:
        key = x.tobytes()
        if key not in known:
            current().check()
            values, rows = robot.closure(at(x))
            known[key] = values, rows[:, columns]
        return known[key]

    limits = (bounds[0][columns], bounds[1][columns])
    pull = PULL * np.where(slides(robot), 1.0 / robot.size, 1.0)[columns]
    led = least_squares(
        lambda x: np.append(closure(x)[0], pull * (x - stored[columns])),
        q[columns],
        jac=lambda x: np.vstack([closure(x)[1], np.diag(pull)]),
        bounds=limits, method="trf", ftol=1e-3, xtol=1e-3, gtol=1e-6, max_nfev=100,
    )  # fmt: skip
    x, error = newton(led.x, closure, limits)
    if error > CLOSED:
        free = least_squares(
            lambda x: closure(x)[0],
            led.x,
            jac=lambda x: closure(x)[1],
            bounds=limits, method="trf", ftol=1e-12, xtol=1e-12, gtol=1e-14, max_nfev=200,
        )  # fmt: skip
        x, error = newton(free.x, closure, limits)
    return at(x), error


def with_values(q: np.ndarray, columns: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return a copy of the coordinates (d,) with those at `columns` (k,) replaced by x (k,)."""
    whole = q.copy()
    whole[columns] = x
    return whole


def newton(
    x: np.ndarray,
    closure: Callable[[np.ndarray], Closure],
    limits: tuple[np.ndarray, np.ndarray],
    loose: float = 1e-9,
) -> tuple[np.ndarray, float]:
    """Return the coordinates (k,) of the smallest residual among Newton's steps, and that residual.

    Singular values below `loose` of the largest one count as zero.
    """
    best, best_error = x, inf
    for _ in range(20):
        values, J = closure(x)
        error = float(np.abs(values).max(initial=0.0))
        if error >= best_error:
            break
        best, best_error = x, error
        x = np.clip(x - np.linalg.lstsq(J, values, rcond=loose)[0], *limits)
    return best, best_error


def slides(robot: OpenRobot) -> np.ndarray:
    """Return flags (d,) of the coordinates that are lengths."""
    return np.array([motion in SLIDES for joint in robot.hangs_on.values() for motion in joint.motions], dtype=bool)


def _open(robot: OpenRobot, q: np.ndarray) -> str:
    """Return what stays open at q, for the user."""
    now = robot.placed(q)
    said = f"robot {robot.name!r} cannot be assembled" + (
        f" within {current().seconds:g} s" if current().is_over else ""
    )
    gaps = [(gap_of(robot, joint, now), joint) for joint in robot.closers]
    if not gaps or max(length / robot.size + angle for (length, angle), _ in gaps) <= ACCEPTED:
        errors = np.abs(robot.closure(q)[0][-len(robot.couplings) :])  # they come last
        worst = robot.couplings[int(errors.argmax())]
        return f"{said}: coupling {worst.name!r} contradicts the limits or the loops of its joints"
    (length, angle), joint = max(gaps, key=lambda item: item[0][0] / robot.size + item[0][1])
    return (
        f"{said}: loop {joint.name!r} ({joint.type}, {joint.parent!r} to {joint.child!r}) stays open by "
        f"{1e3 * length:.3g} mm and {degrees(angle):.3g} degrees; {_remedy(robot, joint)}"
    )


def _remedy(robot: OpenRobot, joint: OpenJoint) -> str:
    """Return what would close a loop, as far as there is time to find it."""
    try:
        with current().limited(REMEDY_SECONDS):
            said = remedy(robot, joint, _closes)
            current().check()  # a search that was cut short has found nothing, which says nothing
    except OutOfTimeError:
        return "check its frames and the types of its joints; there was no time to find which of them would close it"
    return said
