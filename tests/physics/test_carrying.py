"""Goals that carry the weight: of an arm whose torques can be written down, and on an independent chain."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from robik.errors import ClipError, MechanismError, ServoError
from robik.formats import save_robot
from robik.mechanism import WORLD, Body, Joint, Mechanism
from robik.motions import BaseTrack, Motion, load_motion, save_motion
from robik.physics.carrying import carrying
from robik.physics.live_carrying import LiveCarrying
from robik.physics.motors import chain_drives
from robik.robots import load, servos_path
from robik.servo.chain.chain import ServoChain
from robik.servo.chain.file import load_chain, save_chain
from robik.servo.chain.servo import Servo
from tests.servo.conftest import DEADLINE
from tests.servo.independent import IndependentChain
from tests.servo.terminal import CHECKOUT

MASS, LENGTH, GRAVITY = 0.5, 0.2, 9.81
STALL, GAIN = 3.4, 900  # of an XH430-W350 [N m], and its position P gain from the factory
PER_RADIAN = 4096 / (2 * np.pi)


def stiffness(gain: float) -> float:
    """Return that of an XH430-W350 [N m/rad]: 1/128 of PWM per count of error and gain, of 885 for all it has."""
    return STALL * gain / 128 * PER_RADIAN / 885


def arm(mass: float = MASS) -> Mechanism:
    """A rod that a motor holds up, at 0 level and at π/2 upright."""
    inertia = (1e-3, 1e-3, 1e-3, 0.0, 0.0, 0.0) if mass else (0.0,) * 6
    rod = Body("rod", mass, com=(LENGTH, 0.0, 0.0), inertia=inertia)
    shoulder = Joint("shoulder", "revolute", WORLD, "rod", axis=(0.0, -1.0, 0.0), actuated=True, limits=((-1.0, 1.5),))
    return Mechanism("arm", (rod,), (shoulder,))


def still(angle: float, seconds: float = 2.0) -> Motion:
    times = np.arange(0.0, seconds + 1e-9, 1 / 60)
    return Motion(times=times, actuators=("shoulder",), values=np.full((len(times), 1), angle))


CHAIN = ServoChain((Servo("shoulder", 1, position_limits=(-1.0, 1.5)),))


@pytest.mark.parametrize("angle", [-0.9, 0.0, 0.4, 1.4])
@pytest.mark.parametrize("gain", [None, 450.0, 3000.0])
def test_the_goal_is_as_far_ahead_as_the_weight_pulls_back(angle, gain) -> None:
    goals, said = carrying(arm(), still(angle), CHAIN, gain)
    torque = MASS * GRAVITY * LENGTH * np.cos(angle)
    assert goals.values == pytest.approx(angle + torque / stiffness(gain or GAIN), abs=1e-6)
    assert said == ""


def test_gains_are_each_servos_own_and_two_servos_on_a_motor_push_together() -> None:
    twins = ServoChain((*CHAIN.servos, Servo("shoulder", 2, direction=-1, position_limits=(-1.0, 1.5))))
    drive = chain_drives(twins, arm(), {1: 900.0, 2: 1800.0})["shoulder"]
    assert drive.stiffness == pytest.approx(stiffness(2700))
    assert drive.effort == pytest.approx(2 * STALL)
    goals, _ = carrying(arm(), still(0.0), twins, {1: 900.0, 2: 1800.0})
    assert goals.values == pytest.approx(MASS * GRAVITY * LENGTH / stiffness(2700), abs=1e-6)


def test_goals_stay_within_the_limits_and_within_what_a_motor_can() -> None:
    assert carrying(arm(), still(1.49), CHAIN, 20.0)[0].values.max() <= 1.5
    heavy = carrying(arm(mass=20.0), still(0.0), CHAIN)[0].values
    assert heavy == pytest.approx(STALL / stiffness(GAIN), abs=1e-6)


def test_a_faster_motion_needs_more_torque_and_keeps_its_times() -> None:
    times = np.arange(0.0, 4.0, 1 / 60)
    swing = Motion(times=times, actuators=("shoulder",), values=0.3 * np.sin(2 * times[:, None]))
    for speed in (1.0, 3.0):
        goals, _ = carrying(arm(), swing, CHAIN, 3000.0, speed=speed)
        assert goals.times[-1] == pytest.approx(times[-1], abs=0.05)
        inertia = MASS * LENGTH**2 + 1e-3
        angle = 0.3 * np.sin(2 * goals.times)
        torque = MASS * GRAVITY * LENGTH * np.cos(angle) - inertia * (2 * speed) ** 2 * angle
        inside = slice(len(goals.times) // 10, -len(goals.times) // 10)
        assert goals.values[inside, 0] == pytest.approx((angle + torque / stiffness(3000))[inside], abs=2e-3)


def test_what_cannot_be_carried_is_said() -> None:
    with pytest.raises(MechanismError, match="mass"):
        carrying(arm(mass=0.0), still(0.0), CHAIN)
    with pytest.raises(ServoError, match="no servo turns shoulder of robot 'arm'"):
        carrying(arm(), still(0.0), ServoChain((Servo("elbow", 1),)))
    walker = load("walker")
    times = np.array([0.0, 1.0])
    rest = Motion(times=times, actuators=walker.actuators, values=np.zeros((2, len(walker.actuators))))
    chain = ServoChain(tuple(Servo(name, k + 1) for k, name in enumerate(walker.actuators)))
    with pytest.raises(ClipError, match="no base columns, but robot 'walker' floats"):
        carrying(walker, rest, chain)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    save_robot(arm(), tmp_path / "arm.robik.json")
    save_chain(CHAIN, tmp_path / "arm.servos.json")
    save_motion(still(0.4), tmp_path / "still.csv")
    return tmp_path


def robik(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "robik.cli", *map(str, words)]
    return subprocess.run(
        command, cwd=CHECKOUT, capture_output=True, text=True, timeout=4 * DEADLINE, stdin=subprocess.DEVNULL
    )


def test_the_command_writes_goals(files: Path) -> None:
    how = ("export", files / "still.csv", "-o", files / "goals.csv", "--robot", files / "arm.robik.json")
    assert "--robot and --servos" in robik(*how, "--carry-weight").stderr
    done = robik(*how, "--carry-weight", "--servos", files / "arm.servos.json", "--p-gain", 1800)
    assert done.returncode == 0, done.stderr
    torque = MASS * GRAVITY * LENGTH * np.cos(0.4)
    assert load_motion(files / "goals.csv").values == pytest.approx(0.4 + torque / stiffness(1800), abs=1e-5)


@pytest.mark.real_time
@pytest.mark.skipif(not hasattr(os, "openpty"), reason="this system has no pseudo-terminals")
def test_the_gain_is_the_servos_own_as_read_back(files: Path) -> None:
    with IndependentChain(ids=(1,), model=1000, position=2048) as servos:
        servos.change(1, position_p_gain=300)
        how = ("--servos", files / "arm.servos.json", "--port", servos.port, "--approach", 3)
        done = robik("play", files / "still.csv", *how, "--carry-weight", files / "arm.robik.json")
        assert done.returncode == 0, done.stderr
        torque = MASS * GRAVITY * LENGTH * np.cos(0.4)
        wanted = 2048 + (0.4 + torque / stiffness(300)) * PER_RADIAN
        assert servos.log.goals()[-1].counts == pytest.approx(wanted, abs=0.6)


@pytest.mark.parametrize("angle", [-0.9, 0.0, 0.4, 1.4])
def test_live_goals_are_those_of_a_motion_that_stands_there(angle: float) -> None:
    torque = MASS * GRAVITY * LENGTH * np.cos(angle)
    goals = LiveCarrying(arm(), CHAIN, 3000.0).goals({"shoulder": angle, "hand": 0.1})
    assert goals == pytest.approx({"shoulder": min(angle + torque / stiffness(3000.0), 1.5), "hand": 0.1})


def test_live_goals_of_a_robot_on_its_feet_are_those_of_physics() -> None:
    walker, chain = load("walker"), load_chain(servos_path("walker"))
    values = dict.fromkeys(walker.actuators, 0.0)
    base = walker.rest_pose("torso")
    live = LiveCarrying(walker, chain, 3000.0)
    times = np.arange(0.0, 1.0, 0.05)
    track = BaseTrack(
        body="torso",
        position=np.tile(base.position, (len(times), 1)),
        quaternion=np.tile(base.quaternion, (len(times), 1)),
    )
    still = Motion(times=times, actuators=walker.actuators, values=np.zeros((len(times), 12)), base=track)
    meant, _ = carrying(walker, still, chain, 3000.0)
    found = live.goals(values, base)
    wanted = dict(zip(meant.actuators, meant.values[len(times) // 2], strict=True))
    assert found == pytest.approx(wanted, abs=1e-6)
    assert max(np.abs(list(found.values()))) > 0.005
    with pytest.raises(ClipError, match="needs the base"):
        live.goals(values)


def test_a_pose_with_something_missing_comes_back_as_it_is() -> None:
    live = LiveCarrying(arm(), CHAIN)
    assert live.goals({"hand": 0.1}) == {"hand": 0.1}
    assert np.isnan(live.goals({"shoulder": np.nan})["shoulder"])
