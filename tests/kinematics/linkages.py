"""Linkages that move only by exact numbers, ones that truly stand still, and rounding of their numbers."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from math import cos, pi, sin

import numpy as np

from robik.mechanism import WORLD, Body, Joint, Mechanism

Y, Z = (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
TILTED = np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)))[0]  # so that no number is round


def _body(name: str, mass: float, com: tuple[float, float, float]) -> Body:
    return Body(name, mass, com=com)


def _joint(
    name: str,
    kind: str,
    parent: str,
    child: str,
    position: tuple,
    axis: tuple = (1.0, 0.0, 0.0),
    axis2: tuple | None = None,
    actuated: bool = False,
) -> Joint:
    """A joint from its fields in their order."""
    return Joint(
        name=name, type=kind, parent=parent, child=child, position=position, axis=axis, axis2=axis2, actuated=actuated
    )


def rounded(mechanism: Mechanism, amount: float, seed: int = 0) -> Mechanism:
    """The mechanism in a general orientation, each joint shifted and turned at random by up to `amount`."""
    rng = np.random.default_rng(seed)

    def off(v: tuple[float, ...] | None) -> tuple[float, ...] | None:
        return None if v is None else tuple((TILTED @ np.array(v) + amount * rng.uniform(-1, 1, 3)).tolist())

    joints = tuple(replace(j, position=off(j.position), axis=off(j.axis), axis2=off(j.axis2)) for j in mechanism.joints)
    bodies = tuple(
        replace(b, pose=replace(b.pose, position=tuple((TILTED @ np.array(b.pose.position)).tolist())))
        for b in mechanism.bodies
    )
    return mechanism.with_changes(joints=joints, bodies=bodies)


def parallelogram(third: float = 0.0, closing: str = "revolute", angle: float = 0.4) -> Mechanism:
    """Three cranks of length 0.5 between two parallel bars, the third one longer by `third`."""
    lift = np.array([0.5 * sin(angle), 0.0, 0.5 * cos(angle)])
    bodies, joints = [_body("bar", 1.0, tuple(lift))], []
    for k, x in enumerate((0.0, 0.7, 1.3)):
        foot = np.array([x, 0.0, 0.1 * k])
        head = foot + lift * (1.0 + (2.0 * third if k == 2 else 0.0))
        bodies.append(_body(f"crank{k}", 1.0, tuple(foot)))
        joints.append(_joint(f"foot{k}", "revolute", WORLD, f"crank{k}", tuple(foot), Y, actuated=k == 0))
        joints.append(_joint(f"head{k}", "revolute" if k == 0 else closing, f"crank{k}", "bar", tuple(head), Y))
    return Mechanism("parallelogram", bodies, joints)


def neck(crossed: float = 0.0) -> Mechanism:
    """A head that nods on two hinges beside each other, held by two parallel rods between hinges and balls; mirror
    images."""
    bodies = [_body("post", 1.0, (0.0, 0.0, 0.3)), _body("head", 1.0, (0.0, 0.0, 0.6))]
    joints = [
        _joint("pitch", "revolute", WORLD, "post", (0.0, 0.0, 0.0), Y, actuated=True),
        _joint("nod", "revolute", "post", "head", (0.0, 0.0, 0.5), Y),
    ]
    for side, y in (("left", 0.1), ("right", -0.1)):
        x = 0.12 + (crossed if y > 0 else 0.0)
        bodies.append(_body(side, 0.1, (x, y, 0.25)))
        joints.append(_joint(f"{side}_low", "revolute", WORLD, side, (x, y, 0.02), Y))
        joints.append(_joint(f"{side}_high", "spherical", side, "head", (x, y, 0.52)))
    return Mechanism("neck", bodies, joints)


def ring(points: list[np.ndarray], axes: list[np.ndarray], name: str) -> Mechanism:
    """One loop of hinges; the body between the last and the first one is the world."""
    names = [WORLD, *(f"b{k}" for k in range(1, len(points))), WORLD]
    joints = []
    for k, (a, b) in enumerate(pairwise(names)):
        ends = (a, b) if b != WORLD else (b, a)
        joints.append(_joint(f"j{k}", "revolute", *ends, tuple(points[k]), tuple(axes[k]), actuated=k == 0))
    return Mechanism(name, [_body(n, 1.0, tuple(points[k])) for k, n in enumerate(names[1:-1])], joints)


def bennett(twist: float = 0.7) -> Mechanism:
    """Four hinges, opposite sides alike: lengths a, b and twists with sin α / a = sin β / b (Bennett, 1903)."""
    a, b, alpha = 0.6, 0.9, twist
    beta = np.arcsin(b * sin(alpha) / a)
    t1 = 1.0
    ratio = sin((alpha + beta) / 2) / sin((beta - alpha) / 2)  # tan(θ₁/2) tan(θ₂/2)
    t2 = 2.0 * np.arctan(ratio / np.tan(t1 / 2))
    T, points, axes = np.eye(4), [], []
    for length, angle, theta in ((a, alpha, t1), (b, beta, t2), (a, alpha, -t1), (b, beta, -t2)):
        turn = np.array([[cos(theta), -sin(theta), 0, 0], [sin(theta), cos(theta), 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
        side = np.array(
            [[1, 0, 0, length], [0, cos(angle), -sin(angle), 0], [0, sin(angle), cos(angle), 0], [0, 0, 0, 1]]
        )
        points.append(T[:3, 3].copy())
        axes.append(T[:3, 2].copy())
        T = T @ turn @ side
    found = ring(points, axes, "bennett")
    assert np.abs(T - np.eye(4)).max() < 1e-12, T
    return found


def sarrus() -> Mechanism:
    """Two chains of three parallel hinges each, at right angles: the top goes straight up (Sarrus, 1853)."""
    bodies, joints = [_body("top", 1.0, (0.0, 0.0, 0.8))], []
    for k, (out, along) in enumerate((((1.0, 0.0), (0.0, 1.0, 0.0)), ((0.0, 1.0), (1.0, 0.0, 0.0)))):
        at = [np.array([0.3 * out[0], 0.3 * out[1], 0.0]), np.array([0.6 * out[0], 0.6 * out[1], 0.4]),
              np.array([0.3 * out[0], 0.3 * out[1], 0.8])]  # fmt: skip
        low, high = f"low{k}", f"high{k}"
        bodies += [_body(low, 1.0, tuple(at[0])), _body(high, 1.0, tuple(at[1]))]
        for (a, b), point in zip(((WORLD, low), (low, high), (high, "top")), at, strict=True):
            joints.append(_joint(f"{a}_{b}", "revolute", a, b, tuple(point), along, actuated=a == WORLD and k == 0))
    return Mechanism("sarrus", bodies, joints)


def delta() -> Mechanism:
    """Three arms, each with a parallelogram of hinges to the platform, which therefore does not turn."""
    bodies, joints = [_body("platform", 1.0, (0.0, 0.0, -1.0))], []
    for k in range(3):
        c, s = cos(2 * pi * k / 3), sin(2 * pi * k / 3)
        out, side = np.array([c, s, 0.0]), np.array([-s, c, 0.0])
        hip, elbow, wrist = 0.4 * out, 0.7 * out + [0, 0, -0.3], 0.15 * out + [0, 0, -1.0]
        across = np.cross(wrist - elbow, side)
        arm, low = f"arm{k}", f"low{k}"
        bodies += [_body(arm, 1.0, tuple(hip)), _body(low, 0.1, tuple(wrist))]
        joints.append(_joint(f"hip{k}", "revolute", WORLD, arm, tuple(hip), tuple(side), actuated=True))
        for n, shift in enumerate((-0.1, 0.1)):
            rod = f"rod{k}{n}"
            bodies.append(_body(rod, 0.1, tuple(elbow + shift * side)))
            joints.append(
                _joint(f"elbow{k}{n}", "universal", arm, rod, tuple(elbow + shift * side), tuple(side), tuple(across))
            )
            joints.append(_joint(f"wrist{k}{n}", "revolute", rod, low, tuple(wrist + shift * side), tuple(across)))
        joints.append(_joint(f"ankle{k}", "revolute", low, "platform", tuple(wrist), tuple(side)))
    return Mechanism("delta", bodies, joints)


def stewart() -> Mechanism:
    """Six legs that change their length: no redundant row."""
    bodies, joints = [_body("platform", 1.0, (0.0, 0.0, 1.0))], []
    for i in range(6):
        a = (i // 2) * 2 * pi / 3 + (0.2 if i % 2 else -0.2)
        b = ((i + 1) // 2) * 2 * pi / 3 - pi / 3 + (-0.2 if i % 2 else 0.2)
        low, high = np.array([cos(a), sin(a), 0.0]), np.array([0.6 * cos(b), 0.6 * sin(b), 1.0])
        bodies += [_body(f"cylinder{i}", 1.0, tuple(low)), _body(f"rod{i}", 1.0, tuple(high))]
        joints += [
            _joint(f"foot{i}", "universal", WORLD, f"cylinder{i}", tuple(low), (1, 0, 0), (0, 1, 0)),
            _joint(f"leg{i}", "prismatic", f"cylinder{i}", f"rod{i}", tuple(low), tuple(high - low), actuated=True),
            _joint(f"ball{i}", "spherical", f"rod{i}", "platform", tuple(high)),
        ]
    return Mechanism("stewart", bodies, joints)


def leg() -> Mechanism:
    """A leg as Digit's: a four-bar of hinges at the knee, and two rods with balls that turn the foot both ways."""
    bodies = [_body(n, 1.0, p) for n, p in (("thigh", (0, 0, -0.2)), ("shin", (0, 0, -0.6)), ("crank", (0.1, 0, 0)),
                                           ("coupler", (0.15, 0, -0.2)), ("foot", (0.05, 0, -0.9)))]  # fmt: skip
    joints = [
        _joint("hip", "revolute", WORLD, "thigh", (0.0, 0.0, 0.0), Y, actuated=True),
        _joint("knee", "revolute", "thigh", "shin", (0.0, 0.0, -0.4), Y),
        _joint("drive", "revolute", "thigh", "crank", (0.02, 0.0, -0.05), Y, actuated=True),
        _joint("crank_pin", "revolute", "crank", "coupler", (0.12, 0.0, -0.02), Y),
        _joint("coupler_pin", "revolute", "coupler", "shin", (0.09, 0.0, -0.42), Y),
        _joint("ankle", "universal", "shin", "foot", (0.0, 0.0, -0.85), Y, (1.0, 0.0, 0.0)),
    ]
    for k, y in enumerate((0.05, -0.05)):
        motor, rod = f"motor{k}", f"rod{k}"
        bodies += [_body(motor, 0.1, (-0.03, y, -0.6)), _body(rod, 0.1, (-0.07, y, -0.7))]
        joints += [
            _joint(motor, "revolute", "shin", motor, (-0.01, y, -0.6), Y, actuated=True),
            _joint(f"{rod}_high", "universal", motor, rod, (-0.07, y, -0.6), Y, (1.0, 0.0, 0.0)),
            _joint(f"{rod}_low", "spherical", rod, "foot", (-0.07, y * 1.1, -0.88)),
        ]
    return Mechanism("leg", bodies, joints)


def truss() -> Mechanism:
    """A square of hinges with a bar across: it truly stands still."""
    corners = {"a": (0.0, 0.0), "b": (1.0, 0.1), "c": (1.1, 1.0), "d": (-0.1, 0.9)}
    at = {k: (x, 0.0, z) for k, (x, z) in corners.items()}
    joints = [
        _joint("a", "revolute", WORLD, "ad", at["a"], Y, actuated=True),
        _joint("b", "revolute", WORLD, "bc", at["b"], Y),
        _joint("c", "revolute", "bc", "cd", at["c"], Y), _joint("d", "revolute", "ad", "cd", at["d"], Y),
        _joint("across_a", "revolute", WORLD, "ac", at["a"], Y), _joint("across_c", "revolute", "ac", "cd", at["c"], Y),
    ]  # fmt: skip
    return Mechanism("truss", [_body(n, 1.0, (0.5, 0.0, 0.5)) for n in ("ad", "bc", "cd", "ac")], joints)


def shaky(lift: float = 0.0) -> Mechanism:
    """Two bars on one line between fixed points: it moves infinitesimally only; lifted by a little, it nearly does."""
    joints = [
        _joint("left", "revolute", WORLD, "a", (-1.0, 0.0, 0.0), Y, actuated=True),
        _joint("middle", "revolute", "a", "b", (0.0, 0.0, lift), Y),
        _joint("right", "revolute", WORLD, "b", (1.0, 0.0, 0.0), Y),
    ]
    return Mechanism("shaky", [_body(n, 1.0, (0.0, 0.0, 0.1)) for n in "ab"], joints)
