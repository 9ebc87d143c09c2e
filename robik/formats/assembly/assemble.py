"""Closing the loops of a robot whose file stores them open.

The rest pose found is near the stored one: a pull towards the stored coordinates leads each start, and only at the end
it is let go.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import atan2, degrees, inf

import numpy as np
from scipy.optimize import least_squares

from ...errors import AssemblyError, MechanismError
from ...mechanism import Joint, Mechanism, Pose
from ...mechanism.joints import SLIDES
from ...mechanism.pose import matrix_quaternion
from ...mechanism.topology import CLOSED
from ..imported import Imported, Notes, listed
from .budget import REMEDY_SECONDS, OutOfTimeError, current
from .open_joint import OpenJoint, joint_values
from .open_robot import OpenRobot, Placed
from .remedies import remedy
from .rounding import looped_axes, straightened

STARTS, FEW_STARTS = 12, 4
PULL = 0.05  # weight of a radian, or of a joint's span, off the stored pose
ACCEPTED = (
    1e-5  # of the robot's size, or rad: what rounding in a file explains, such as a few quarter turns written 1.5708
)
TILTED = 1e-9  # rad: axes off by more could be taken for a loop that locks
# rad, or of the robot's size: a loop that closes within is in the stored pose's assembly mode, and no other is looked
# for
NEAR = 0.5
AWAY = 0.05  # rad, or of the robot's size: how far to look beside a pose that may be singular
FARTHEST = 1e9  # lengths [m] and coefficients beyond are a mistake, and their squares' differences mean nothing
WIDENED = "its limits keep the robot from being assembled, so they were widened to hold the rest pose"
PASSIVE = "passive"  # in the name of a joint that is not meant to be driven
Closure = tuple[np.ndarray, np.ndarray]  # residuals (m,), and their derivatives (m, d)
AXIS_ALONE = ("fixed", "revolute", "prismatic", "cylindrical")  # types whose second axis does not matter


def assemble(robot: OpenRobot, notes: Notes, report: Notes) -> Imported:
    """The robot with its loops closed, as near to the stored pose as it was found.

    Args:
        robot: as its file stores it.
        notes: warnings so far; those of the assembly are added.
        report: what was decided so far, likewise.

    Raises:
        AssemblyError: a loop stays open; names it and its gap in millimetres and degrees.
        MechanismError: the parts do not make a robot.
    """
    _check_lengths(robot)
    current().start(current().seconds)
    q = _closed(robot, notes)
    now = robot.placed(q)
    gap = max((_gap(robot, joint, now)[0] for joint in robot.closers), default=0.0)
    if robot.closers:
        names = [name for name, _ in sorted(robot.coordinates.items(), key=lambda item: item[1])]
        moved = np.abs(q - robot.stored)
        far = (
            f"; {names[int(moved.argmax())]} moved most, by {moved.max():.3g}" if moved.max(initial=0.0) > 1e-9 else ""
        )
        count = "one loop" if len(robot.closers) == 1 else f"{len(robot.closers)} loops"
        report.add(f"{count} closed to {gap:.1e} m in the pose found nearest to the stored one{far}")
    axes, off = looped_axes(robot, q)
    is_open = float(np.abs(robot.closure(q)[0]).max(initial=0.0)) > CLOSED
    if is_open or off > TILTED:
        how = (
            f"the loops close to {gap:.1e} m only"
            if is_open
            else f"axes in its loops are parallel up to {off:.1e} rad only"
        )
        notes.add(f"the file's numbers are rounded: {how}, which was taken up in their joints")
        robot = straightened(robot, q, axes)
    mechanism = _mechanism(robot, q, notes)
    if not mechanism.actuated and not robot.lacks_motors:
        chosen = _motors(robot, q)
        joints = tuple(replace(j, actuated=j.name in chosen) for j in mechanism.joints)
        mechanism = mechanism.with_changes(joints=joints)
        decided = (
            "the file names no motors, so every joint with one motion, and every universal joint, that no other joint"
            " decides has one"
        )
        report.add(f"{decided}: {listed(chosen) or 'none'}")
    return Imported(mechanism, notes.sentences, report.sentences)


def _check_lengths(robot: OpenRobot) -> None:
    for joint in robot.joints:
        numbers = (*joint.near.position, *joint.far.position, *joint.stored)
        if max(map(abs, numbers)) > FARTHEST:
            raise MechanismError(
                f"joint {joint.name!r}: it reaches {max(map(abs, numbers)):.3g} m far; lengths are in metres"
            )
    for coupling in robot.couplings:
        if max(map(abs, coupling.coefficients)) > FARTHEST:
            raise MechanismError(
                f"coupling {coupling.name!r}: its coefficients are too large to calculate with: {coupling.coefficients}"
            )


def _closed(robot: OpenRobot, notes: Notes) -> np.ndarray:
    """Coordinates (d,) that close the loops, within the limits if that can be."""
    lower, upper = robot.bounds
    inside = np.clip(robot.stored, lower, upper)
    for name, k in robot.coordinates.items():
        if inside[k] != robot.stored[k]:
            notes.add("its stored value lies outside its limits, so it rests at the nearest of them", name)
    inside = np.clip(_led(robot, inside), lower, upper)
    q = inside.copy()
    for part in robot.parts:
        index = np.array([robot.coordinates[name] for name in part.coordinates], dtype=int)
        closed = _closed_part(part, inside[index])
        q[index[part.in_loops]] = closed[
            part.in_loops
        ]  # the others, nearer to the world, may be in another part's loops
    return q


def _led(robot: OpenRobot, q: np.ndarray) -> np.ndarray:
    """Coordinates (d,) with those that follow others where these have them, but for what follows in a ring: leaders
    stay as stored."""
    q, waiting = q.copy(), list(robot.couplings)
    while waiting:
        followers = {coupling.follower for coupling in waiting}
        first = [coupling for coupling in waiting if coupling.leader not in followers]
        if not first:
            break
        for coupling in first:
            follower, leader = robot.coordinates[coupling.follower], robot.coordinates[coupling.leader]
            wanted = np.polynomial.Polynomial(coupling.coefficients)(q[leader])
            if abs(wanted - q[follower]) > CLOSED:
                q[follower] = wanted
        waiting = [coupling for coupling in waiting if coupling.leader in followers]
    return q


def _closed_part(part: OpenRobot, stored: np.ndarray) -> np.ndarray:
    """Coordinates of a part that close its loops."""
    lower, upper = part.bounds
    without = (np.full_like(lower, -inf), np.full_like(upper, inf))
    best, best_error = stored, inf
    for bounds in ((lower, upper), without) if np.isfinite(part.bounds).any() else (without,):
        q, error = _search(part, stored, bounds)
        if error < best_error:
            best, best_error = q, error
        if best_error <= ACCEPTED:
            return best
    raise AssemblyError(_open(part, best))


def _closes(robot: OpenRobot) -> bool:
    """Whether its loops can be closed, limits aside, from a few starts."""
    unbounded = np.full((2, len(robot.stored)), [[-inf], [inf]])
    current().check()
    return _search(robot, robot.stored, (unbounded[0], unbounded[1]), FEW_STARTS)[1] <= ACCEPTED


def _search(
    robot: OpenRobot, stored: np.ndarray, bounds: tuple[np.ndarray, np.ndarray], starts: int = STARTS
) -> tuple[np.ndarray, float]:
    """The closed pose nearest to the stored one among those found from several starts, and its largest residual."""
    values, _ = robot.closure(stored)
    error = float(np.abs(values).max(initial=0.0))
    if error <= CLOSED:
        return stored, error
    # A joint at a singular place has no derivative there, so what matters is asked of the tree and not of the Jacobian.
    matters = robot.in_loops & (bounds[1] - bounds[0] > 1e-9)
    span = np.where(_slides(robot), robot.size, 1.0)
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
        if error < best_error:
            best, best_error = q, error
        if error <= ACCEPTED:
            found.append((float(np.linalg.norm(q - stored)), q, error))
        is_near = bool(found) and float((np.abs(found[0][1] - stored) / span).max(initial=0.0)) < NEAR
        if found and (is_near or start >= FEW_STARTS):
            break
    if found:
        _, best, best_error = min(found, key=lambda item: item[0])
    return best, best_error


def _descend(
    robot: OpenRobot, q: np.ndarray, stored: np.ndarray, matters: np.ndarray, bounds: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, float]:
    """From one start: first pulled towards the stored pose, then free: by Newton steps, or after a search where these
    lead nowhere."""
    q = q.copy()
    columns = np.flatnonzero(matters)
    if not len(columns):
        return q, float(np.abs(robot.closure(q)[0]).max(initial=0.0))

    def at(x: np.ndarray) -> np.ndarray:
        return _with(q, columns, x)

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
    pull = PULL * np.where(_slides(robot), 1.0 / robot.size, 1.0)[columns]
    led = least_squares(
        lambda x: np.append(closure(x)[0], pull * (x - stored[columns])),
        q[columns],
        jac=lambda x: np.vstack([closure(x)[1], np.diag(pull)]),
        bounds=limits, method="trf", ftol=1e-3, xtol=1e-3, gtol=1e-6, max_nfev=100,
    )  # fmt: skip
    x, error = _newton(led.x, closure, limits)
    if error > CLOSED:
        free = least_squares(
            lambda x: closure(x)[0],
            led.x,
            jac=lambda x: closure(x)[1],
            bounds=limits, method="trf", ftol=1e-12, xtol=1e-12, gtol=1e-14, max_nfev=200,
        )  # fmt: skip
        x, error = _newton(free.x, closure, limits)
    return at(x), error


def _with(q: np.ndarray, columns: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The coordinates q (d,), but x in some columns."""
    whole = q.copy()
    whole[columns] = x
    return whole


def _newton(
    x: np.ndarray, closure: Callable[[np.ndarray], Closure], limits: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, float]:
    """The coordinates with the least residual on the way of Newton's steps, and that residual."""
    best, best_error = x, inf
    for _ in range(20):
        values, J = closure(x)
        error = float(np.abs(values).max(initial=0.0))
        if error >= best_error:
            break
        best, best_error = x, error
        x = np.clip(x - np.linalg.lstsq(J, values, rcond=1e-9)[0], *limits)
    return best, best_error


def _slides(robot: OpenRobot) -> np.ndarray:
    """(d,) whether a coordinate is a length."""
    return np.array([motion in SLIDES for joint in robot.hangs_on.values() for motion in joint.motions], dtype=bool)


def _gap(robot: OpenRobot, joint: OpenJoint, now: Placed) -> tuple[float, float]:
    """How far a closer is open [m, rad], the motions that it leaves free aside."""
    Ra, pa, Rb, pb = robot.joint_frames(joint, now)
    offset = [(Ra.T @ (pb - pa))[k] for k, name in enumerate(SLIDES) if name not in joint.motions]
    turns = joint.turns
    if len(turns) == 3:
        angle = 0.0
    elif len(turns) == 2:
        angle = abs(np.pi / 2 - np.arccos(np.clip(Ra[:, turns[0]] @ Rb[:, turns[1]], -1.0, 1.0)))
    elif len(turns) == 1:
        a, b = Ra[:, turns[0]], Rb[:, turns[0]]
        angle = atan2(float(np.linalg.norm(np.cross(a, b))), float(a @ b))
    else:
        w, *xyz = matrix_quaternion(Ra.T @ Rb)
        angle = 2 * atan2(float(np.linalg.norm(xyz)), w)
    return float(np.linalg.norm(offset)), float(angle)


def _open(robot: OpenRobot, q: np.ndarray) -> str:
    """What stays open at q, for the user."""
    now = robot.placed(q)
    said = f"robot {robot.name!r} cannot be assembled" + (
        f" within {current().seconds:g} s" if current().is_over else ""
    )
    gaps = [(_gap(robot, joint, now), joint) for joint in robot.closers]
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
    current().start(REMEDY_SECONDS)
    try:
        said = remedy(robot, joint, _closes)
        current().check()  # a search that was cut short has found nothing, which says nothing
    except OutOfTimeError:
        return "check its frames and the types of its joints; there was no time to find which of them would close it"
    return said


def _mechanism(robot: OpenRobot, q: np.ndarray, notes: Notes) -> Mechanism:
    """The robot as it stands at q."""
    now = robot.placed(q)
    poses = {name: Pose.of(now.R[i], now.p[i]) for name, i in robot.order.items()}
    closers = set(map(id, robot.closers))
    joints = []
    for joint in robot.joints:
        Ra, pa, Rb, pb = robot.joint_frames(joint, now)
        if id(joint) in closers:
            rest = joint_values(joint, Ra.T @ Rb, Ra.T @ (pb - pa))
        else:
            at = robot.at[joint.name]
            rest = tuple(q[at : at + len(joint.motions)].tolist())
        limits = (
            tuple((min(lo, v), max(hi, v)) for (lo, hi), v in zip(joint.limits, rest, strict=True))
            if joint.limits
            else ()
        )
        if any(
            abs(a - b) > 1e-9
            for old, new in zip(joint.limits, limits, strict=True)
            for a, b in zip(old, new, strict=True)
            if a != b
        ):
            notes.add(WIDENED, joint.name)
        joints.append(
            Joint(
                joint.name, joint.type, joint.parent, joint.child, position=tuple(pb), axis=tuple(Rb[:, 0]),
                axis2=None if joint.type in AXIS_ALONE else tuple(Rb[:, 1]),
                actuated=joint.actuated, limits=limits,
                velocity_limit=joint.velocity_limit, effort_limit=joint.effort_limit, rest=rest, motions=joint.free,
            )
        )  # fmt: skip
    bodies = tuple(replace(body, pose=poses[body.name]) for body in robot.bodies)
    return Mechanism(robot.name, bodies, tuple(joints), frames=robot.frames, couplings=robot.couplings)


def _free_motions(J: np.ndarray) -> np.ndarray:
    """A basis (d, k) of the motions that equations with the Jacobian J (m, d) leave."""
    _, s, V = np.linalg.svd(J)
    return V[int((s > 1e-7 * float(s.max(initial=1.0))).sum()) :].T


def _beside(part: OpenRobot, q: np.ndarray) -> np.ndarray:
    """A basis (tied, k) of the motions of a part's coordinates in loops, at a closed pose near q (d,): a flat or
    otherwise singular one seems to move in more ways than it does."""
    columns = np.flatnonzero(part.in_loops)

    def closure(x: np.ndarray) -> Closure:
        values, rows = part.closure(_with(q, columns, x))
        return values, rows[:, columns]

    x = q[columns]
    basis = _free_motions(closure(x)[1])
    rates = np.random.default_rng(0).uniform(-1.0, 1.0, basis.shape[1])
    step = AWAY * basis @ rates * np.where(_slides(part)[columns], part.size, 1.0)
    beside, error = _newton(x + step, closure, (np.full_like(x, -inf), np.full_like(x, inf)))
    return _free_motions(closure(beside)[1]) if error <= ACCEPTED else basis


def _motors(robot: OpenRobot, q: np.ndarray) -> list[str]:
    """Joints with one motion and universal joints that can be moved one independently of the other: slides in loops
    first, which are mostly linear drives, then those with one motion and those near the root."""
    bases: list[np.ndarray] = []
    row_of: dict[int, tuple[int, int]] = {}  # coordinate in a loop → its basis and the row there
    for number, part in enumerate(robot.parts):
        index = np.array([robot.coordinates[name] for name in part.coordinates], dtype=int)
        row_of |= {int(k): (number, row) for row, k in enumerate(index[part.in_loops])}
        bases.append(_beside(part, q[index]))
    followers = {coupling.follower for coupling in robot.couplings}
    depth = robot.moves.sum(axis=1)
    chosen: set[str] = set()

    def preference(item: tuple[str, OpenJoint]) -> tuple[bool, bool, int, int]:
        body, joint = item
        is_drive = joint.type == "prismatic" and robot.at[joint.name] in row_of
        return is_called_passive(joint), not is_drive, len(joint.motions), int(depth[robot.order[body]])

    for _, joint in sorted(robot.hangs_on.items(), key=preference):
        if is_called_passive(joint) and chosen:
            break
        may = not joint.is_passive and (len(joint.motions) == 1 or joint.type == "universal")
        if may and followers.isdisjoint(joint.coordinate_names):
            start = robot.at[joint.name]
            held = _held(bases, [row_of[k] for k in range(start, start + len(joint.motions)) if k in row_of])
            if held is not None:
                bases = held
                chosen.add(joint.name)
    return [j.name for j in robot.joints if j.name in chosen]


def is_called_passive(joint: OpenJoint) -> bool:
    """Return whether a joint's name says that nothing drives it."""
    return PASSIVE in joint.name.lower()


def _held(bases: list[np.ndarray], rows: list[tuple[int, int]]) -> list[np.ndarray] | None:
    """What is left of bases of motions when some coordinates, by basis and row, are held; None where these depend on
    each other."""
    bases = list(bases)
    for number, i in rows:
        row = bases[number][i]
        length = float(np.linalg.norm(row))
        if length <= 1e-6:
            return None
        bases[number] = bases[number] - np.outer(bases[number] @ row, row) / length**2
    return bases
