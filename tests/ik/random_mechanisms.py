"""Hypothesis strategies: robots nobody would build, assembled in their rest pose by construction, and targets for them.

What a robot is made of (bodies, joint types, loops, ground) is drawn by Hypothesis, so that a failing example shrinks
to a small robot; lengths and directions come from a drawn seed. Anchors and axes are given in the world, so loops are
closed as they are made.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from robik.mechanism import JOINT_TYPES, WORLD, Body, Frame, Joint, Mechanism, Pose
from robik.mechanism.joints import MOTIONS, SLIDES
from robik.objectives.settings import Settings
from robik.objectives.weights import Weights

TREE_TYPES = (
    "revolute",
    "prismatic",
    "cylindrical",
    "universal",
    "spherical",
    "planar",
    "cartesian",
    "fixed",
    "general",
    "revolute",
)
LOOP_TYPES = ("spherical", "cylindrical", "universal", "planar", "general", "revolute", "free")
EVERY_TREE_TYPE = (*TREE_TYPES[:8], "free", *TREE_TYPES[8:])
EVERY_LOOP_TYPE = (*LOOP_TYPES, "prismatic", "cartesian", "fixed")
GEOMETRIES = (
    "generic",
    "planar",
    "gridded",
)  # planar: all in one plane, with redundant rows; gridded: along the axes, often singular


@dataclass(frozen=True)
class Problem:
    """A robot and a few frames of targets for it.

    Attributes:
        targets: per frame of time, by name: position (3,) and unit quaternion (4,), either may be None.
        com: per frame of time (3,), or None.
    """

    mechanism: Mechanism
    settings: Settings
    targets: list[dict[str, tuple[np.ndarray | None, np.ndarray | None]]]
    com: list[np.ndarray] | None
    dt: float


@st.composite
def mechanisms(
    draw: st.DrawFn, bodies: tuple[int, int] = (3, 12), loops: tuple[int, int] = (0, 3), every_type: bool = False
) -> Mechanism:
    """Random robots: joints in a tree, extra joints as loops, floating or grounded, rest values, offset centres of
    mass. With every type of joint bodies may be left to fly, and loops be rigid."""
    in_tree, in_loops = (EVERY_TREE_TYPE, EVERY_LOOP_TYPE) if every_type else (TREE_TYPES, LOOP_TYPES)
    n = draw(st.integers(*bodies))
    geometry = draw(st.sampled_from(GEOMETRIES))
    grounded = draw(st.booleans())
    rng = np.random.default_rng(draw(st.integers(0, 9999)))
    made = [
        Body(f"b{k}", mass=float(rng.choice([0.0, 0.2, 1.0])), com=tuple(0.1 * rng.normal(size=3)), pose=_pose(rng))
        for k in range(n)
    ]
    made[0] = Body("b0", mass=1.0, com=made[0].com, pose=made[0].pose)
    joints = []
    if grounded:
        joints.append(_joint(draw, rng, geometry, in_tree, "ground", WORLD, "b0"))
    for k in range(1, n):
        parent = draw(st.integers(max(0, k - 3), k - 1))
        ends = (f"b{parent}", f"b{k}") if draw(st.integers(0, 4)) else (f"b{k}", f"b{parent}")
        joints.append(_joint(draw, rng, geometry, in_tree, f"j{k}", *ends))
    for k in range(draw(st.integers(*loops))):
        first, second = draw(st.lists(st.integers(-1 if grounded else 0, n - 1), min_size=2, max_size=2, unique=True))
        first, second = min(first, second), max(first, second)
        joints.append(
            _joint(draw, rng, geometry, in_loops, f"loop{k}", WORLD if first < 0 else f"b{first}", f"b{second}")
        )
    frames = [Frame("tip", f"b{n - 1}", _pose(rng)), Frame("side", f"b{n // 2}", _pose(rng))]
    return Mechanism("random", tuple(made), tuple(joints), frames=tuple(frames))


@st.composite
def problems(
    draw: st.DrawFn, far: bool | None = None, length: int = 3, velocity: bool | None = None, every_type: bool = False
) -> Problem:
    """A random robot with random weights and targets: near ones (a few centimetres and degrees) or far out of reach."""
    mechanism = draw(mechanisms(every_type=every_type))
    rng = np.random.default_rng(draw(st.integers(0, 9999)))
    far = draw(st.booleans()) if far is None else far
    reach = draw(st.sampled_from([1.0, 3.0] if far else [0.0, 0.02, 0.1]))
    followed = draw(st.lists(st.sampled_from(["tip", "side", "b0"]), min_size=1, max_size=3, unique=True))
    weights = {
        name: Weights(tuple(rng.choice([0.0, 0.1, 1.0, 10.0], 3)), tuple(rng.choice([0.0, 0.1, 1.0], 3)))
        for name in followed
    }
    targets: list[dict] = [{} for _ in range(length)]
    for name in followed:
        kind = draw(st.sampled_from(["both", "both", "position", "quaternion"]))
        frame = mechanism.frame(name)
        rest = mechanism.bodies[mechanism.body_index[frame.body]].pose @ frame.pose
        shift, turn = reach * rng.normal(size=3), min(reach, 1.0) * rng.normal(size=3)
        for k in range(length):
            position = np.array(rest.position) + (k + 1) * shift
            quaternion = np.array((Pose(quaternion=rotation((k + 1) * turn)) @ rest).quaternion)
            targets[k][name] = (None if kind == "quaternion" else position, None if kind == "position" else quaternion)
    com = None
    if draw(st.booleans()):
        rest_com = sum(body.mass * body.rest_com for body in mechanism.bodies) / mechanism.mass
        shift = reach * rng.normal(size=3)
        com = [rest_com + (k + 1) * shift for k in range(length)]
    regularized = draw(st.booleans()) if velocity is None else velocity
    settings = Settings(
        targets=weights,
        com_weight=tuple(rng.choice([0.0, 1.0, 10.0], 3)),
        state_weight=draw(st.sampled_from([1e-6, 1e-4, 1e-2])),
        velocity_weight=1e-4 if regularized else 0.0,
        velocity_limit=draw(st.sampled_from([1.0, 6.0])) if regularized else np.inf,
        joint_limits=False,
    )
    return Problem(mechanism, settings, targets, com, 1 / 60)


def rotation(vector: np.ndarray) -> tuple[float, float, float, float]:
    """Unit quaternion wxyz of a rotation vector (3,) [rad]."""
    half = 0.5 * float(np.linalg.norm(vector))
    w, (x, y, z) = np.cos(half), 0.5 * np.sinc(half / np.pi) * np.asarray(vector)
    return (float(w), float(x), float(y), float(z))


def _pose(rng: np.random.Generator) -> Pose:
    return Pose(tuple(0.3 * rng.normal(size=3)), rotation(rng.normal(size=3)))


def _joint(
    draw: st.DrawFn, rng: np.random.Generator, geometry: str, types: tuple[str, ...], name: str, parent: str, child: str
) -> Joint:
    kind = draw(st.sampled_from(types))
    motions: tuple[str, ...] = ()
    if kind == "general":
        motions = tuple(draw(st.lists(st.sampled_from(MOTIONS), min_size=1, max_size=5, unique=True)))
        motions = tuple(m for m in MOTIONS if m in motions)
    position, axis, axis2 = 0.5 * rng.normal(size=3), rng.normal(size=3), rng.normal(size=3)
    if geometry == "planar":
        position[2], axis, axis2 = 0.0, np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0])
        if "tx" in (JOINT_TYPES[kind].motions or motions) and kind != "cylindrical":
            axis, axis2 = axis2, axis
    if geometry == "gridded":
        position = np.round(2 * position) / 2
        axis, axis2 = np.eye(3)[rng.choice(3, 2, replace=False)]
    free = JOINT_TYPES[kind].motions
    free = motions if free is None else free
    rest = _rest(draw, rng, free)
    actuated = bool(free) and kind != "free" and draw(st.booleans())
    return Joint(
        name,
        kind,
        parent,
        child,
        position=tuple(position),
        axis=tuple(axis),
        axis2=tuple(axis2),
        actuated=actuated,
        rest=rest,
        motions=motions,
    )


def _rest(draw: st.DrawFn, rng: np.random.Generator, motions: tuple[str, ...]) -> tuple[float, ...]:
    values = [(0.2 if m in SLIDES else 0.8) * float(rng.normal()) for m in motions]
    return tuple(values) if draw(st.booleans()) else (0.0,) * len(motions)
