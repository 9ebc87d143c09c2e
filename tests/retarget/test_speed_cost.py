"""What keeping motors' speeds costs is told of all that is followed, and a frame that lags for it says so."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from robik import robots
from robik.clips.clip import TargetClip, Track
from robik.kinematics.frames import frame_poses, robot_com
from robik.mechanism import Mechanism, Pose
from robik.motions import Motion, SpeedCost
from robik.objectives.settings import Settings
from robik.objectives.weights import Weights
from robik.report.report_page import page
from robik.report.speed_cost import measure_speed_cost
from robik.retargeting.retarget import retarget
from tests.ik.random_mechanisms import rotation

BOXER, WALKER, ARM = robots.load("boxer"), robots.load("walker"), robots.load("ur10")
FAST = np.arange(20) / 60


def rest(mechanism: Mechanism, name: str) -> Pose:
    frame = mechanism.frame(name)
    return mechanism.bodies[mechanism.body_index[frame.body]].pose @ frame.pose


def cost_of(motion: Motion) -> SpeedCost:
    assert motion.report is not None and motion.report.speed_cost is not None
    return motion.report.speed_cost


def turning_hand() -> TargetClip:
    """The boxer's hand turns by 2.5 rad in a third of a second, wherever it is."""
    turned = [
        (Pose(quaternion=rotation(np.array([0.0, 0.0, a]))) @ rest(BOXER, "hand")).quaternion
        for a in np.linspace(0, 2.5, 20)
    ]
    return TargetClip(FAST, {"hand": Track(None, np.array(turned))})


def dash() -> TargetClip:
    """The tool goes 0.6 m aside in a third of a second."""
    start = np.array(rest(ARM, "tool").position)
    return TargetClip(FAST, {"tool": Track(start + np.linspace(0, 0.6, 20)[:, None] * np.array([0.0, 1.0, 0.0]))})


def test_orientations_that_speeds_hold_back_are_told() -> None:
    motion = retarget(BOXER, turning_hand(), Settings(enforce_velocity=True))
    cost = cost_of(motion)
    assert cost.position is None and cost.com is None and (cost.moved == 0).all()
    assert cost.orientation is not None
    assert cost.orientation.largest == motion.report.orientation_error.max() > 0.3
    assert cost.turned.max() > 0.25 and cost.lag.max() == pytest.approx(cost.turned.max() / 1e-2)
    assert "orientations off by" in str(cost) and "positions" not in str(cost)
    assert cost.as_data()["orientation_error_max_rad"] == cost.orientation.largest
    assert f"<p class=note>{str(cost).capitalize()}.</p>" in page(motion, BOXER, turning_hand(), Settings())


def test_the_centre_of_mass_that_speeds_hold_back_is_told() -> None:
    feet = ("foot_l", "foot_r")
    com = robot_com(
        WALKER,
        np.array([[b.pose.position for b in WALKER.bodies]]),
        np.array([[b.pose.quaternion for b in WALKER.bodies]]),
    )
    swing = com + 0.05 * np.sin(0.8 * np.arange(20))[:, None] * np.array([0.0, 1.0, 0.0])
    tracks = {
        n: Track(np.tile(rest(WALKER, n).position, (20, 1)), np.tile(rest(WALKER, n).quaternion, (20, 1))) for n in feet
    }
    chosen = Settings(targets={n: Weights((100.0,) * 3, (100.0,) * 3) for n in feet}, enforce_velocity=True)
    motion = retarget(WALKER, TargetClip(FAST, tracks, com=swing), chosen)
    cost = cost_of(motion)
    assert cost.com is not None
    assert cost.com.largest == np.nanmax(motion.report.com_error) > 15e-3
    assert cost.com.free_largest < 1e-5
    assert cost.moved.max() > 15e-3
    assert "the centre of mass off by" in str(cost)


def test_what_moves_along_axes_without_weight_costs_nothing() -> None:
    weighed = {way: Settings(targets={"tool": Weights(way, (0.0,) * 3)}) for way in ((0.0, 1.0, 0.0), (1.0, 1.0, 1.0))}
    held, free = (
        retarget(ARM, dash(), replace(weighed[0.0, 1.0, 0.0], enforce_velocity=True)),
        retarget(ARM, dash(), weighed[0.0, 1.0, 0.0]),
    )
    assert (
        held.position is not None
        and held.quaternion is not None
        and free.position is not None
        and free.quaternion is not None
    )
    apart = (
        frame_poses(ARM, "tool", held.position, held.quaternion)[0]
        - frame_poses(ARM, "tool", free.position, free.quaternion)[0]
    )
    for settings, far in zip(weighed.values(), (np.abs(apart[:, 1]), np.linalg.norm(apart, axis=1)), strict=True):
        cost = measure_speed_cost(ARM, dash(), settings, held, free)
        np.testing.assert_allclose(cost.moved, far, rtol=0, atol=1e-12)
        np.testing.assert_allclose(cost.turned, 0.0, rtol=0, atol=0)
        np.testing.assert_allclose(cost.lag, far / (ARM.extent / 500), rtol=1e-12)
    assert np.abs(apart[:, 1]).max() > 0.02


def test_a_frame_that_lags_names_the_motors_that_hold_it_back() -> None:
    held, free = retarget(ARM, dash(), Settings(enforce_velocity=True)), retarget(ARM, dash())
    assert held.report is not None and free.report is not None
    assert not free.report.short
    assert held.report.short
    fastest = np.abs(held.report.velocity) / held.report.velocity_limit
    for k, why in held.report.short:
        named = why.partition("held back by the speed of ")[2].split(", ")
        assert named == [n for n, share in zip(ARM.actuators, fastest[k], strict=True) if share > 1 - 1e-6], why
