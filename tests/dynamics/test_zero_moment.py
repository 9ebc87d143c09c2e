"""Zero-moment points of motions: of single bodies by hand, of robots by the wrench that inverse dynamics finds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from robik.bench.walking import walk_clip
from robik.dynamics import inverse_dynamics
from robik.dynamics.zero_moment import zero_moment_points
from robik.errors import ClipError
from robik.mechanism import Body, Mechanism, Pose
from robik.motions import Motion
from robik.objectives.settings import Settings
from robik.retargeting.retarget import retarget
from robik.robots import load

TIMES = np.arange(400) / 100.0


def flying(position: np.ndarray, angle: np.ndarray, inertia: tuple[float, float, float]) -> tuple[Mechanism, Motion]:
    """A body alone, of 2 kg, that moves and turns about Y."""
    body = Body("box", 2.0, inertia=(*inertia, 0.0, 0.0, 0.0), pose=Pose((0.0, 0.0, 0.5)))
    half, none = 0.5 * angle, 0.0 * angle
    motion = Motion(
        times=TIMES, actuators=(), values=np.zeros((len(TIMES), 0)), bodies=("box",), position=position[:, None],
        quaternion=np.stack([np.cos(half), none, np.sin(half), none], axis=1)[:, None], com=position,
    )  # fmt: skip
    return Mechanism("box", (body,)), motion


def test_a_mass_that_sways() -> None:
    x, w = 0.1 * np.sin(2.0 * TIMES), 2.0
    position = np.stack([x, 0.3 + 0 * x, 0.5 + 0 * x], axis=1)
    mechanism, motion = flying(position, 0 * x, (0.01, 0.01, 0.01))
    found = zero_moment_points(mechanism, motion, 0.1, cutoff=None)
    wanted = np.stack([x + 0.4 / 9.81 * w**2 * x, 0.3 + 0 * x], axis=1)
    assert found[5:-5] == pytest.approx(wanted[5:-5], abs=1e-6)


def test_a_wheel_that_speeds_up_pushes_the_other_way() -> None:
    """Turning faster about Y needs a moment about Y, which the ground gives behind the centre of mass."""
    position = np.tile([0.0, 0.0, 0.5], (len(TIMES), 1))
    mechanism, motion = flying(position, 0.5 * 3.0 * TIMES**2, (0.05, 0.08, 0.05))
    found = zero_moment_points(mechanism, motion, cutoff=None)
    assert found[5:-5] == pytest.approx(np.tile([-0.08 * 3.0 / (2.0 * 9.81), 0.0], (len(TIMES) - 10, 1)), abs=1e-6)


def test_a_fall_has_none() -> None:
    position = np.stack([0 * TIMES, 0 * TIMES, 100.0 - 0.5 * 9.9 * TIMES**2], axis=1)
    mechanism, motion = flying(position, 0 * TIMES, (0.01, 0.01, 0.01))
    assert np.isnan(zero_moment_points(mechanism, motion, cutoff=None)).all()


def test_a_walk_agrees_with_its_forces() -> None:
    walker = load("walker")
    clip = walk_clip(walker, 120.0, balanced=True)
    motion = retarget(walker, clip, Settings(com_weight=(1.0, 1.0, 0.0), state_weight=None))
    found = zero_moment_points(walker, motion, 0.02)
    wrench = inverse_dynamics(walker, motion).zero_moment_point(0.02)
    assert np.linalg.norm(found - wrench, axis=1).max() < 5e-4
    assert np.linalg.norm(found - motion.com[:, :2], axis=1).max() > 3e-3, "it is not the centre of mass"


def test_what_it_needs_is_said() -> None:
    mechanism, motion = flying(np.zeros((len(TIMES), 3)), 0 * TIMES, (0.01, 0.01, 0.01))
    with pytest.raises(ClipError, match="no body poses"):
        zero_moment_points(mechanism, replace(motion, position=None, quaternion=None))
    with pytest.raises(ClipError, match="no mass"):
        zero_moment_points(mechanism.with_changes(bodies=(Body("box"),)), motion)
