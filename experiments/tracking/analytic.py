"""Closed forms for serial chains (Lee).

Two links, a limb with its elbow circle, and the hybrid of analytic limb and numeric rest.

An arm or leg of seven hinges is a shoulder, an elbow and a wrist: three hinges that meet in a point, one, and three
that meet again. With the hand held, the elbow can still go round a circle; its angle φ there is the one parameter that
is left.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from scipy.optimize import least_squares

from experiments.tracking.classic import MOST, REACHED, Solution
from experiments.tracking.serial_chain import ChainTarget, SerialChain, crossed
from robik.errors import MechanismError
from robik.mechanism.constraints import rotation_vector_matrix

SAMPLES = 72  # places on the elbow circle that are tried where the one at hand breaks a limit
MEET = 1e-9  # m: axes this near to a point meet in it


def two_link(chain: SerialChain, q: np.ndarray, target: ChainTarget, most: int = MOST) -> Solution:
    """Solve two parallel hinges that bring a point to a place in their plane, by the law of cosines.

    Beyond reach they stretch towards it. Of the two answers, elbow to one side or the other, the one between the
    limits that is nearer to q (d,) is the solution. `most` has no effect; the solvers are called alike. Raise
    MechanismError for another chain.
    """
    _check(chain, len(q) == 2 and chain.hinge.all(), "two hinges")
    chain.place(np.zeros(2))
    axis, first = chain.joint(0)
    other, second = chain.joint(1)
    _check(chain, abs(abs(axis @ other) - 1.0) < 1e-9, "two parallel hinges")
    answers = []
    for bent in _bends(second, other, first, chain.position, _across(target.position - first, axis)):
        chain.place(np.array([0.0, bent]))
        answers.append(np.array([_turn_about(axis, chain.position - first, target.position - first), bent]))
    return _best(chain, q, target, answers)


class Limb:
    """Last seven hinges of a chain as shoulder, elbow and wrist.

    Raise MechanismError unless they are three hinges that meet in a point, one, and three that meet.
    """

    def __init__(self, chain: SerialChain):
        self.chain = chain
        self.start = len(chain.rest) - 7
        _check(chain, self.start >= 0 and bool(chain.hinge[-7:].all()), "seven hinges at its end")
        self._place_zero(chain.rest)

    def _place_zero(self, q: np.ndarray) -> None:
        """Read the limb's axes, points and hand with its seven hinges at zero, behind the rest at q."""
        chain, s = self.chain, self.start
        chain.place(np.concatenate([q[:s], np.zeros(7)]))
        self.axes, origins = (np.array(each) for each in zip(*(chain.joint(s + i) for i in range(7)), strict=True))
        self.shoulder, self.wrist = self._meeting(origins, slice(0, 3)), self._meeting(origins, slice(4, 7))
        self.elbow, self.hand = origins[3], chain.rotation.copy()
        self.reach = chain.position - self.wrist

    def _meeting(self, origins: np.ndarray, three: slice) -> np.ndarray:
        """Return the point (3,) where three axes meet: least squares of the distances from the lines."""
        across = [np.eye(3) - np.outer(a, a) for a in self.axes[three]]
        point = np.linalg.lstsq(
            np.sum(across, axis=0),
            np.sum([A @ o for A, o in zip(across, origins[three], strict=True)], axis=0),
            rcond=1e-9,
        )[0]
        gap = max(float(np.linalg.norm(A @ (point - o))) for A, o in zip(across, origins[three], strict=True))
        _check(self.chain, gap < MEET, "a shoulder and a wrist whose three axes meet in a point")
        return point

    def angle(self, q: np.ndarray) -> float:
        """Return the elbow's angle φ [rad] on its circle at coordinates q (d,), for `answers`."""
        self._place_zero(q)
        turn = _product(self.axes[:3], q[self.start : self.start + 3])
        bent = turn @ rotation_vector_matrix(q[self.start + 3] * self.axes[3])
        wrist = turn @ (self.elbow - self.shoulder) + bent @ (self.wrist - self.elbow)
        along, out, aside = _circle(wrist)
        side = crossed(turn @ self.axes[3], along)
        return float(np.arctan2(side @ aside, side @ out))

    def answers(self, q: np.ndarray, target: ChainTarget, angle: float) -> Iterator[np.ndarray]:
        """Yield all joints (d,) that bring the hand to its target with the elbow at φ = `angle` on its circle.

        Joints before the limb are as in q. There are up to eight answers, two for each of elbow, shoulder and
        wrist. Where the wrist is out of reach, the arm is straight towards it.
        """
        self.chain.place(q)
        rotation = self.chain.rotation.copy() if target.rotation is None else target.rotation
        self._place_zero(q)
        wish = target.position - rotation @ self.hand.T @ self.reach - self.shoulder
        along, out, aside = _circle(wish)
        aim = np.column_stack(
            [along, np.cos(angle) * out + np.sin(angle) * aside, np.cos(angle) * aside - np.sin(angle) * out]
        )
        for bent in _bends(self.elbow, self.axes[3], self.shoulder, self.wrist, float(np.linalg.norm(wish))):
            bend = rotation_vector_matrix(bent * self.axes[3])
            straight = self.elbow - self.shoulder + bend @ (self.wrist - self.elbow)
            straight /= np.linalg.norm(straight)
            side = crossed(self.axes[3], straight)
            side /= np.linalg.norm(side)
            turn = aim @ np.column_stack([straight, side, crossed(straight, side)]).T
            twist = (turn @ bend).T @ rotation @ self.hand.T
            for upper, lower in product(_three_hinges(self.axes[:3], turn), _three_hinges(self.axes[4:], twist)):
                yield np.concatenate([q[: self.start], upper, [bent], lower])


def limb(chain: SerialChain, q: np.ndarray, target: ChainTarget, most: int = MOST) -> Solution:
    """Solve a limb of seven hinges, from coordinates q (d,).

    The elbow stays where it is on its circle, or goes to the nearest place there that the limits allow. `most` has
    no effect; the solvers are called alike. Raise MechanismError for another chain.
    """
    arm = Limb(chain)
    _check(chain, arm.start == 0, "exactly seven hinges")
    here = arm.angle(q)
    for k in sorted(range(SAMPLES), key=lambda k: min(k, SAMPLES - k)):
        answers = list(arm.answers(q, target, here + 2 * np.pi * k / SAMPLES))
        if any(_allowed(chain, q, answer) is not None for answer in answers):
            return _best(chain, q, target, answers)
    return _best(chain, q, target, list(arm.answers(q, target, here)))


def hybrid(chain: SerialChain, q: np.ndarray, target: ChainTarget, most: int = MOST) -> Solution:
    """Solve the limb analytically, and numerically the joints before it and its elbow angle, from q (d,).

    Reach counts first, then little motion. Raise MechanismError for a chain that does not end in a limb.
    """
    arm = Limb(chain)
    s, start = arm.start, q.copy()

    def posed(x: np.ndarray) -> np.ndarray:
        return _nearest(chain, start, arm.answers(np.concatenate([x[:s], start[s:]]), target, x[s]))

    def residual(x: np.ndarray) -> np.ndarray:
        after = posed(x)
        beyond = np.maximum(chain.lower - after, 0.0) + np.maximum(after - chain.upper, 0.0)
        chain.place(after)
        return np.concatenate([0.03 * (after - start), beyond, chain.error(target)])

    span = np.full(1, np.inf)
    bounds = np.concatenate([chain.lower[:s], -span]), np.concatenate([chain.upper[:s], span])
    found = least_squares(
        residual, np.append(chain.clamped(q)[:s], arm.angle(q)), bounds=bounds, xtol=1e-6, ftol=1e-6, max_nfev=most
    )
    return _judged(chain, posed(found.x), target, int(found.nfev))


def _bends(
    pivot: np.ndarray, axis: np.ndarray, start: np.ndarray, end: np.ndarray, distance: float
) -> tuple[float, float]:
    """Return both angles of a hinge that bring `end` to a distance from `start`.

    The nearest possible, where there is none.
    """
    s, w = start - pivot, end - pivot
    along = float((w - s) @ axis)
    s, w = s - (s @ axis) * axis, w - (w @ axis) * axis
    a, b = float(np.linalg.norm(s)), float(np.linalg.norm(w))
    cosine = (a * a + b * b + along * along - distance * distance) / (
        2 * a * b
    )  # of the angle at the pivot, law of cosines
    inner = float(np.arccos(np.clip(cosine, -1.0, 1.0)))
    now = float(np.arctan2(crossed(s, w) @ axis, s @ w))
    return inner - now, -inner - now


def _circle(wrist: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the way from shoulder to wrist, and the two directions that span the elbow's circle.

    φ = 0 is up, or ahead where the arm itself is.
    """
    along = wrist / max(float(np.linalg.norm(wrist)), 1e-12)
    up = np.array([0.0, 0.0, 1.0]) if abs(along[2]) < 0.999 else np.array([1.0, 0.0, 0.0])
    out = up - (up @ along) * along
    out /= np.linalg.norm(out)
    return along, out, crossed(along, out)


def _three_hinges(axes: np.ndarray, R: np.ndarray) -> list[np.ndarray]:
    """Return both answers (3,) of three hinges that make the rotation R.

    R a₃ needs the first two, and what is left the third.
    """
    a, b, c = axes
    aim = R @ c
    fixed = (a @ b) * (b @ c)
    swing = np.hypot(a @ c - fixed, a @ crossed(b, c))
    middle = float(np.arctan2(a @ crossed(b, c), a @ c - fixed))
    half = float(np.arccos(np.clip((a @ aim - fixed) / swing, -1.0, 1.0)))
    found = []
    for second in (middle + half, middle - half):
        bent = rotation_vector_matrix(second * b)
        first = _turn_about(a, bent @ c, aim)
        left = (rotation_vector_matrix(first * a) @ bent).T @ R
        side = crossed(c, b)
        found.append(np.array([first, second, _turn_about(c, side, left @ side)]))
    return found


def _product(axes: np.ndarray, angles: np.ndarray) -> np.ndarray:
    R = np.eye(3)
    for axis, angle in zip(axes, angles, strict=True):
        R = R @ rotation_vector_matrix(angle * axis)
    return R


def _turn_about(axis: np.ndarray, u: np.ndarray, v: np.ndarray) -> float:
    """Return the angle about an axis that brings u over v."""
    return float(np.arctan2(axis @ crossed(u, v), u @ v - (u @ axis) * (v @ axis)))


def _across(v: np.ndarray, axis: np.ndarray) -> float:
    return float(np.linalg.norm(v - (v @ axis) * axis))


def _allowed(chain: SerialChain, near: np.ndarray, q: np.ndarray) -> np.ndarray | None:
    """Return q with every hinge turned by full turns to between its limits.

    And there nearest to `near`.

    None where a limit is broken.
    """
    turns = np.where(chain.hinge, np.round((near - q) / (2 * np.pi)), 0.0)
    q = q + 2 * np.pi * turns
    q = q + 2 * np.pi * chain.hinge * ((q < chain.lower - 1e-9).astype(float) - (q > chain.upper + 1e-9))
    return q if (q >= chain.lower - 1e-9).all() and (q <= chain.upper + 1e-9).all() else None


def _nearest(chain: SerialChain, near: np.ndarray, answers: Iterator[np.ndarray] | list[np.ndarray]) -> np.ndarray:
    """Of several answers the nearest between the limits; where none is, the nearest of all."""
    best, least = near, np.inf
    for answer in answers:
        allowed = _allowed(chain, near, answer)
        q = allowed if allowed is not None else near + np.mod(answer - near + np.pi, 2 * np.pi) - np.pi
        away = float(np.sum((q - near) ** 2)) + (0.0 if allowed is not None else 1e3)
        if away < least:
            best, least = q, away
    return best


def _best(chain: SerialChain, near: np.ndarray, target: ChainTarget, answers: list[np.ndarray]) -> Solution:
    return _judged(chain, _nearest(chain, near, answers), target, 1)


def _judged(chain: SerialChain, q: np.ndarray, target: ChainTarget, iterations: int) -> Solution:
    q = chain.clamped(q)
    chain.place(q)
    return Solution(q, iterations, bool(np.abs(chain.error(target)).max() <= REACHED))


def _check(chain: SerialChain, holds: bool, wanted: str) -> None:
    if not holds:
        raise MechanismError(
            f"robot {chain.mechanism.name!r} up to {chain.frame!r} has no closed form here: that takes {wanted}"
        )
