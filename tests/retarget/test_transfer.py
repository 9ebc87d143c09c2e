"""Motions between a serial model of a robot and the one with its linkages: there and back."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from robik import program, robots
from robik.errors import ClipError
from robik.formats import import_robot, save_robot
from robik.mechanism import Mechanism
from robik.motions import BaseTrack, Motion, load_motion, save_motion
from robik.retarget.posing import posed
from robik.retarget.transfer import transfer

LINKAGE = ("toe_", "crank", "closedloop")  # names of rods and cranks begin so


@pytest.fixture(scope="module")
def looped(shared_data: Path) -> Mechanism:
    """Digit-like legs: knees and ankles moved by rods, two motors for pitch and roll of each ankle."""
    return import_robot(shared_data / "digit_like_2legs/robot.urdf").mechanism


@pytest.fixture(scope="module")
def serial(looped: Mechanism) -> Mechanism:
    """The same legs without rods and cranks, a motor at every joint that they moved."""
    kept = {body.name for body in looped.bodies if not body.name.startswith(LINKAGE)}
    joints = [j for j in looped.joints if {j.parent, j.child} <= {*kept, "world"}]
    return looped.with_changes(
        name="serial",
        bodies=tuple(body for body in looped.bodies if body.name in kept),
        joints=tuple(replace(j, actuated=j.actuated or j.name.startswith("free_")) for j in joints),
        frames=tuple(frame for frame in looped.frames if frame.body in kept),
    )


def swinging(robot: Mechanism, samples: int = 50) -> Motion:
    times = np.arange(samples) / 60
    values = 0.12 * np.sin(4 * times[:, None] + np.arange(len(robot.actuators)))
    return Motion(times=times, actuators=robot.actuators, values=values)


def test_motors_of_a_linkage_become_pitch_and_roll_and_come_back(looped: Mechanism, serial: Mechanism) -> None:
    motion = swinging(looped)
    there = transfer(looped, serial, motion)
    assert set(there.motion.actuators) == set(serial.actuators)
    one, _ = posed(looped, motion)
    other, _ = posed(serial, there.motion)
    feet = [(one.bodies.index(name), other.bodies.index(name)) for name in ("foot", "foot_left")]
    for k, n in feet:
        assert np.abs(one.position[:, k] - other.position[:, n]).max() < 1e-9, "the feet go where they went"
    back = transfer(serial, looped, there.motion)
    assert back.residual.max() < 1e-10
    assert set(back.drivers) >= {"free_foot1", "free_foot2", "motor_knee"}
    assert "free_knee" not in back.drivers, "the rod moves it: it follows from hip and knee"
    assert np.abs(back.motion.values - motion.values).max() < 1e-9
    passive = one.passive or back.motion.passive
    assert passive and "free_knee" in passive


def test_names_by_a_table(looped: Mechanism, serial: Mechanism) -> None:
    """Another name, and an axis that counts the other way."""
    joints = []
    for joint in serial.joints:
        if joint.name == "free_foot1":
            back = tuple(-value for value in joint.axis)
            limits = tuple((-high, -low) for low, high in joint.limits)
            joint = replace(joint, name="ankle", axis=back, limits=limits, rest=tuple(-value for value in joint.rest))
        joints.append(joint)
    renamed = serial.with_changes(joints=tuple(joints))
    motion = swinging(looped, 8)
    there = transfer(looped, renamed, motion, {"free_foot1": "-ankle"})
    back = transfer(renamed, looped, there.motion, {"ankle": "-free_foot1"})
    assert np.abs(back.motion.values - motion.values).max() < 1e-9
    with pytest.raises(
        ClipError, match=r"of 12 freedoms of robot '.*' the motion says 11; nothing says where motor_shin"
    ):
        transfer(renamed, looped, there.motion)
    with pytest.raises(ClipError, match="robot 'serial' has no coordinate 'knie'; it has"):
        transfer(renamed, looped, there.motion, {"knie": "free_foot1"})


def test_limits_and_speeds_are_told(looped: Mechanism, serial: Mechanism) -> None:
    tight = looped.with_changes(
        joints=tuple(
            replace(j, limits=((j.rest[0] - 0.01, j.rest[0] + 0.01),), velocity_limit=0.01)
            if j.name == "motor_shin1"
            else j
            for j in looped.joints
        )
    )
    there = transfer(looped, serial, swinging(looped, 20))
    notes = transfer(serial, tight, there.motion).notes
    assert any("motor_shin1 goes" in note and "beyond its limits" in note for note in notes)
    assert any("motor_shin1 turns at" in note for note in notes)


def test_a_floating_robot_keeps_its_base() -> None:
    walker = robots.load("walker")
    motion = swinging(walker, 6)
    states, _ = posed(walker, motion)
    k = states.bodies.index("torso")
    way = states.position[:, k] + np.column_stack([motion.times, 0 * motion.times, 0 * motion.times])
    motion = replace(motion, base=BaseTrack(body="torso", position=way, quaternion=states.quaternion[:, k]))
    found = transfer(walker, walker, motion)
    assert np.abs(found.motion.values - motion.values).max() < 1e-12
    np.testing.assert_allclose(found.motion.base.position, way, atol=1e-12)


def test_the_command(tmp_path: Path, looped: Mechanism, serial: Mechanism) -> None:
    for robot, name in ((looped, "looped"), (serial, "serial")):
        bare = robot.with_changes(bodies=tuple(replace(body, visuals=()) for body in robot.bodies))
        save_robot(bare, tmp_path / f"{name}.robik.json")
    save_motion(swinging(looped, 5), tmp_path / "m.csv")

    def run(*arguments: str) -> subprocess.CompletedProcess:
        command, own = program.command("cli", "transfer", *arguments), program.environment()
        return subprocess.run(command, cwd=tmp_path, env=own, capture_output=True, text=True, check=False)

    done = run("looped.robik.json", "serial.robik.json", "m.csv", "-o", "s.csv")
    assert (done.returncode, done.stderr) == (0, "")
    done = run("serial.robik.json", "looped.robik.json", "s.csv", "-o", "b.csv")
    assert done.returncode == 0
    assert "closed to" in done.stdout
    assert np.abs(load_motion(tmp_path / "b.csv").values - load_motion(tmp_path / "m.csv").values).max() < 1e-9
    (tmp_path / "t.json").write_text(json.dumps({"free_foot1": 3}))
    done = run("serial.robik.json", "looped.robik.json", "s.csv", "-o", "c.csv", "--table", "t.json")
    assert done.returncode == 2
    assert done.stderr == "robik: t.json: a table is an object that gives each coordinate's name in the other robot\n"
    assert not (tmp_path / "c.csv").exists()
