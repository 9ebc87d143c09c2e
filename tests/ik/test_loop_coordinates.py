"""What is asked of a joint's coordinate holds wherever the joint is in a loop: limits, speeds, couplings, motors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from robik.clips.clip import TargetClip, Track
from robik.kinematics.forward import ForwardKinematics, body_poses
from robik.kinematics.frames import frame_poses
from robik.mechanism import WORLD, Body, Coupling, Frame, Joint, Mechanism, Pose
from robik.mechanism.topology import build_topology
from robik.objectives.settings import Settings
from robik.objectives.weights import Weights
from robik.retargeting.retarget import retarget

PLACES = {"a": (0.0, 0.0), "b": (0.1, 0.3), "c": (0.5, 0.45), "d": (0.7, 0.1)}
CORNERS = [np.array([x, 0.0, z]) for x, z in PLACES.values()]
ONLY_PLACES = Settings(targets={"tip": Weights((1.0, 0.0, 1.0), (0.0, 0.0, 0.0))}, state_weight=1e-9)


def four_bar(**changes: object) -> Mechanism:
    """A crank, a coupler with a tip, and a rocker, on hinges a to d; `changes` to each joint."""
    names = ("crank", "coupler", "rocker")
    bodies = tuple(
        Body(n, 1.0, com=(0.0, 0.0, 0.0), inertia=(0.01,) * 3 + (0.0,) * 3, pose=Pose(tuple(CORNERS[k])))
        for k, n in enumerate(names)
    )
    ends = ((WORLD, "crank"), ("crank", "coupler"), ("coupler", "rocker"), (WORLD, "rocker"))
    joints = tuple(
        Joint(n, "revolute", parent, child, position=tuple(corner), axis=(0.0, -1.0, 0.0), **changes)  # type: ignore[arg-type]
        for n, corner, (parent, child) in zip(PLACES, CORNERS, ends, strict=True)
    )
    return Mechanism("four-bar", bodies, joints, frames=(Frame("tip", "coupler", Pose((0.2, 0.0, 0.25))),))


def angles(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All four hinges' angles (T, 4), and the tip (T, 3), along the crank's: another topology, driven at the crank
    alone."""
    joints = tuple(replace(j, actuated=j.name == "a") for j in four_bar().joints)
    mechanism = four_bar().with_changes(joints=joints)
    position, quaternion, residual = body_poses(mechanism, values[:, None])
    assert residual.max() < 1e-10
    turned = np.unwrap(2 * np.arctan2(-quaternion[:, :, 2], quaternion[:, :, 0]), axis=0)  # of each body, about -y
    crank, coupler, rocker = turned.T
    tip, _ = frame_poses(mechanism, "tip", position, quaternion)
    return np.stack([crank, coupler - crank, rocker - coupler, rocker], axis=1), tip


@pytest.mark.parametrize("held", PLACES)
def test_a_limit_holds_wherever_the_loop_is_cut(held: str) -> None:
    """The tip is led beyond what one hinge's limit allows: each frame's best is what a fine search over the one freedom
    finds."""
    sweep = np.linspace(0.0, 0.4, 4001)
    turned, tips = angles(sweep)
    column = turned[:, list(PLACES).index(held)]
    stop = column[len(sweep) // 2]
    limits = ((min(0.0, stop), max(0.0, stop)),)
    joints = tuple(replace(j, limits=limits if j.name == held else ((-3.0, 3.0),)) for j in four_bar().joints)
    mechanism = four_bar().with_changes(joints=joints)
    times = np.arange(41) / 40
    clip = TargetClip(times, {"tip": Track(position=tips[::100])})
    motion = retarget(mechanism, clip, ONLY_PLACES)
    found, _ = frame_poses(mechanism, "tip", motion.position, motion.quaternion)
    allowed = np.abs(column) <= abs(stop) + 1e-12
    for k, target in enumerate(tips[::100]):
        best = tips[allowed][np.argmin(np.linalg.norm(tips[allowed] - target, axis=1))]
        assert np.linalg.norm(found[k] - best) < 3e-4, f"frame {k}"
    assert motion.report is not None and motion.report.residual.max() < 1e-10
    short = dict(motion.report.short)
    assert 40 in short and f"at its limit: {held}" in short[40]


def test_every_motor_of_a_loop_keeps_its_speed() -> None:
    mechanism = four_bar(actuated=True, velocity_limit=0.5)
    _, tips = angles(np.linspace(0.0, 0.4, 21))
    clip = TargetClip(np.arange(21) / 40, {"tip": Track(position=tips)})
    held = retarget(mechanism, clip, replace(ONLY_PLACES, enforce_velocity=True))
    free = retarget(mechanism, clip, ONLY_PLACES)
    assert held.report is not None and free.report is not None
    assert np.abs(free.report.velocity).max(axis=0).min() > 0.5
    assert np.abs(held.report.velocity).max() <= 0.5 * (1 + 1e-9)
    assert np.abs(held.report.velocity).max() > 0.499
    assert held.report.residual.max() < 1e-10


def test_a_coupling_in_a_loop_of_motors() -> None:
    """Every hinge of a five-bar has a motor, and two are coupled: one of them closes the loop."""
    mechanism = five_bar()
    topology = build_topology(mechanism)
    assert len(topology.flat.parent) == len(mechanism.bodies) + 2, "the cut is beside a joint, at a twin"
    times = np.linspace(0.0, 1.0, 41)
    target = np.array([0.35, 0.0, 0.62]) + np.stack(
        [0.05 * np.sin(3 * times), 0 * times, 0.03 * np.sin(2 * times)], axis=1
    )
    motion = retarget(mechanism, TargetClip(times, {"tip": Track(position=target)}), ONLY_PLACES)
    values = dict(zip(motion.actuators, motion.values.T, strict=True))
    for coupling in mechanism.couplings:
        expected = np.polynomial.polynomial.polyval(values[coupling.leader], coupling.coefficients)
        np.testing.assert_allclose(values[coupling.follower], expected, atol=1e-10)
    assert np.ptp(motion.values, axis=0).min() > 1e-3
    fk = ForwardKinematics(mechanism)
    for row, position in zip(motion.values, motion.position, strict=True):
        found = fk.solve(row)
        assert found.assembled
        np.testing.assert_allclose(found.position, position, atol=1e-9)


def five_bar() -> Mechanism:
    corners = [np.array([x, 0.0, z]) for x, z in ((0.0, 0.0), (-0.1, 0.3), (0.3, 0.6), (0.7, 0.35), (0.6, 0.0))]
    names, ends = "abcd", [(WORLD, "a"), ("a", "b"), ("b", "c"), ("c", "d"), (WORLD, "d")]
    bodies = tuple(
        Body(n, 1.0, com=(0.0, 0.0, 0.0), inertia=(0.01,) * 3 + (0.0,) * 3, pose=Pose(tuple(p)))
        for n, p in zip(names, corners[:4], strict=True)
    )
    joints = tuple(
        Joint(f"h{k}", "revolute", *pair, position=tuple(p), axis=(0.0, -1.0, 0.0), actuated=True)
        for k, (pair, p) in enumerate(zip(ends, corners, strict=True))
    )
    couplings = (Coupling("gear", "h4", "h0", (0.0, 0.6, 0.1)),)
    return Mechanism(
        "five-bar", bodies, joints, frames=(Frame("tip", "b", Pose((0.4, 0.0, 0.3))),), couplings=couplings
    )
