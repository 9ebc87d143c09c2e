"""Every joint type, in the tree and as a cut, passive and driven: it moves as its coordinates say, and a motor has a
value per motion."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robik.clips.clip import TargetClip, Track
from robik.kinematics.forward import ForwardKinematics
from robik.mechanism import JOINT_TYPES, WORLD, Body, Frame, Joint, Mechanism
from robik.mechanism.topology import build_topology
from robik.motions import Motion
from robik.retargeting.retarget import retarget

TYPES = [(kind, ()) for kind in JOINT_TYPES if kind != "general"] + [
    ("general", ("tx", "ry")), ("general", ("tx", "ty", "tz", "rz")), ("general", ("tz", "rx", "ry", "rz")),
]  # fmt: skip
NAMES = ["+".join((kind, *motions)) for kind, motions in TYPES]
FRAMES = 13
FREE = ("tx", "ty", "tz", "rx", "ry", "rz")


def placed(joint: Joint, values: np.ndarray) -> tuple[np.ndarray, Rotation]:
    """The joint's child side against its parent side at its coordinates."""
    by_name = dict(zip(joint.motions, values, strict=True))
    slide, turns = np.array([by_name.get(m, 0.0) for m in FREE[:3]]), np.array([by_name.get(m, 0.0) for m in FREE[3:]])
    if np.all([m in joint.motions for m in FREE[3:]]):
        return slide, Rotation.from_rotvec(turns)
    return slide, Rotation.from_euler("XYZ", turns)


def moved(joint: Joint, values: np.ndarray, point: np.ndarray) -> tuple[np.ndarray, Rotation]:
    """Where the joint takes a point of its child, and how it turns it, from the rest pose on; world coordinates."""
    axes, at = Rotation.from_matrix(joint.matrix), np.array(joint.position)
    (rest_slide, rest_turn), (slide, turn) = placed(joint, np.array(joint.rest)), placed(joint, values)
    parent = axes * rest_turn.inv()
    swung = parent * turn * axes.inv()
    return at + parent.apply(slide - rest_slide) + swung.apply(point - at), swung


def robot(kind: str, motions: tuple[str, ...], driven: bool, cut: bool) -> tuple[Mechanism, Joint]:
    """The joint between a stand and a body `tool`; as a cut, beside a leg of six freedoms that is preferred for the
    tree."""
    count = len(motions or JOINT_TYPES[kind].motions or ())
    tested = Joint("tested", kind, "stand", "tool", position=(0.2, 0.1, 0.3), axis=(0.6, 0.0, 0.8),
                   axis2=(0.0, 1.0, 0.0), actuated=driven,
                   rest=tuple(0.1 * (-1.0) ** k for k in range(count)), motions=motions)  # fmt: skip
    bodies = [Body("stand", 1.0), Body("tool", 1.0, com=(0.5, 0.2, 0.4))]
    joints = [Joint("mount", "fixed", WORLD, "stand"), tested]
    if cut:
        way = np.array([0.5, 0.0, 0.6]) / np.linalg.norm([0.5, 0.0, 0.6])
        wide = ((-3.0, 3.0),)
        bodies += [Body("cylinder", 1.0, com=(0.1, 0.0, 0.1)), Body("rod", 1.0, com=(0.4, 0.0, 0.4))]
        joints += [
            Joint("foot", "universal", "stand", "cylinder", position=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0),
                  axis2=tuple(np.cross(way, [0.0, 1.0, 0.0])),
                  limits=2 * wide),
            Joint("leg", "prismatic", "cylinder", "rod", position=(0.0, 0.0, 0.0), axis=tuple(way), limits=wide),
            Joint("head", "spherical", "rod", "tool", position=(0.5, 0.0, 0.6), turn_limit=pi),
        ]  # fmt: skip
    return Mechanism("tested", tuple(bodies), tuple(joints), frames=(Frame("tip", "tool"),)), tested


def followed(mechanism: Mechanism, joint: Joint) -> tuple[np.ndarray, TargetClip, Motion]:
    """The joint's coordinates on their way (T, motions), the tool's poses there, and what the solver makes of these."""
    rng, rest = np.random.default_rng(1), np.array(joint.rest)
    away = rng.uniform(0.1, 0.25, len(rest)) * rng.choice([-1.0, 1.0], len(rest))
    values = rest + np.linspace(0.0, 1.0, FRAMES)[:, None] * away
    poses = [moved(joint, row, np.zeros(3)) for row in values]
    turned = np.array([swung.as_quat()[[3, 0, 1, 2]] for _, swung in poses])
    clip = TargetClip(np.arange(FRAMES) / 60, {"tip": Track(np.array([place for place, _ in poses]), turned)})
    return values, clip, retarget(mechanism, clip)


@pytest.mark.parametrize("cut", [False, True], ids=["tree", "cut"])
@pytest.mark.parametrize(("kind", "motions"), TYPES, ids=NAMES)
def test_passive(kind: str, motions: tuple[str, ...], cut: bool) -> None:
    mechanism, joint = robot(kind, motions, False, cut)
    topology = build_topology(mechanism)
    assert ("tested" in [c.name for c in topology.cuts]) == cut
    assert mechanism.actuators == ()
    _, _, motion = followed(mechanism, joint)
    assert motion.report is not None and not motion.report.short
    assert motion.report.residual.max() < 1e-9
    assert motion.report.position_error.max() < 1e-7 and motion.report.orientation_error.max() < 1e-7


@pytest.mark.parametrize("cut", [False, True], ids=["tree", "cut"])
@pytest.mark.parametrize(
    ("kind", "motions"), [t for t in TYPES if t[0] != "fixed"], ids=[n for n in NAMES if n != "fixed"]
)
def test_driven(kind: str, motions: tuple[str, ...], cut: bool) -> None:
    mechanism, joint = robot(kind, motions, True, cut)
    assert len(mechanism.actuators) == len(joint.motions) and mechanism.actuators == joint.coordinate_names
    topology = build_topology(mechanism)
    assert "tested" in topology.joint_at, "what is asked of a coordinate is asked of one in the tree"
    assert bool(len(topology.cuts)) == cut
    values, clip, motion = followed(mechanism, joint)
    assert motion.report is not None and not motion.report.short
    assert motion.report.residual.max() < 1e-9
    np.testing.assert_allclose(motion.values, values, rtol=0, atol=2e-7)
    fk, track = ForwardKinematics(mechanism), clip.tracks["tip"]
    tool = mechanism.body_index["tool"]
    for k in range(FRAMES):
        here = fk.solve(values[k])
        assert here.assembled
        np.testing.assert_allclose(here.position[tool], track.position[k], rtol=0, atol=1e-9)
        np.testing.assert_allclose(abs(here.quaternion[tool] @ track.quaternion[k]), 1.0, rtol=0, atol=1e-12)
