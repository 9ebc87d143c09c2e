"""Motions between a serial model of a robot and the one with its linkages: there and back."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from robik import robots
from robik.errors import ClipError
from robik.formats import import_robot, save_robot
from robik.kinematics.forward import ForwardKinematics
from robik.mechanism import Body, Joint, Mechanism
from robik.mechanism.topology import build_topology
from robik.motions import BaseTrack, Motion, load_motion, save_motion
from robik.motions.curves import rates_of
from robik.motions.posing import posed
from robik.retargeting.transfer import transfer
from tests import shell

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
    by_place = transfer(renamed, looped, there.motion)
    assert by_place.notes[0] == "ankle is -free_foot1 by its place"
    assert np.abs(by_place.motion.values - motion.values).max() < 1e-9
    moved = renamed.with_changes(
        joints=tuple(replace(j, position=(9.0, 9.0, 9.0)) if j.name == "ankle" else j for j in renamed.joints)
    )
    with pytest.raises(
        ClipError, match=r"of 12 freedoms of robot '.*' the motion says 11; nothing says where motor_shin"
    ):
        transfer(moved, looped, there.motion)
    with pytest.raises(ClipError, match="robot 'serial' has no coordinate 'knie'; it has"):
        transfer(renamed, looped, there.motion, {"knie": "free_foot1"})


def test_limits_are_kept_and_what_went_beyond_is_told(looped: Mechanism, serial: Mechanism) -> None:
    motion = swinging(looped, 20)
    least = motion.values[:, looped.actuators.index("motor_shin1")].min() + 0.02
    tight = looped.with_changes(
        joints=tuple(
            replace(j, limits=((least, 3.0),), velocity_limit=0.01) if j.name == "motor_shin1" else j
            for j in looped.joints
        )
    )
    there = transfer(looped, serial, motion)
    found = transfer(serial, tight, there.motion)
    notes = found.notes
    assert any("motor_shin1 goes" in note and "beyond its limits" in note for note in notes)
    assert any("motor_shin1 turns at" in note for note in notes)
    assert found.motion.values[:, tight.actuators.index("motor_shin1")].min() == least, "it is kept"
    assert found.residual.max() < 1e-9, "and the loops stay closed"


def waist(linked: bool) -> Mechanism:
    """A torso that pitches and rolls on its pelvis: by a motor at each axis, or by two cranks with rods."""
    bodies = [Body("pelvis", mass=5.0), Body("yoke", mass=0.5), Body("torso", mass=12.0, com=(0.0, 0.0, 0.2))]
    joints = [
        Joint("ground", "fixed", "world", "pelvis"),
        Joint("waist_pitch", "revolute", "pelvis", "yoke", axis=(0, 1, 0), actuated=not linked),
        Joint("waist_roll", "revolute", "yoke", "torso", axis=(1, 0, 0), actuated=not linked),
    ]
    for side, y in (("left", 0.06), ("right", -0.06)) if linked else ():
        bodies += [Body(f"crank_{side}", mass=0.2), Body(f"rod_{side}", mass=0.1)]
        joints += [
            Joint(f"motor_{side}", "revolute", "pelvis", f"crank_{side}", position=(-0.1, y, -0.12), axis=(0, 1, 0),
                  actuated=True),
            Joint(f"low_{side}", "spherical", f"crank_{side}", f"rod_{side}", position=(-0.15, y, -0.12)),
            Joint(f"high_{side}", "universal", f"rod_{side}", "torso", position=(-0.15, y, 0.03), axis=(0, 1, 0),
                  axis2=(1, 0, 0)),
        ]  # fmt: skip
    return Mechanism(name="linked" if linked else "plain", bodies=tuple(bodies), joints=tuple(joints))


def test_a_humanoids_waist_there_and_back_with_torques_of_the_same_power() -> None:
    plain, linked = waist(False), waist(True)
    times = np.arange(400) / 200
    bend = np.column_stack([0.2 * np.sin(3 * times), 0.15 * np.cos(2 * times)])
    motion = Motion(times=times, actuators=plain.actuators, values=bend)
    torques = np.column_stack([40 * np.cos(3 * times), 12 * np.sin(5 * times)])
    there = transfer(plain, linked, motion, torques=torques)
    assert there.drivers == ("waist_pitch", "waist_roll") and there.torques is not None
    assert np.ptp(there.motion.values, axis=0).min() > 0.3
    back = transfer(linked, plain, there.motion, torques=there.torques)
    assert np.abs(back.motion.values - bend).max() < 1e-9
    assert np.abs(back.torques - torques).max() < 1e-9
    inner = slice(5, -5)  # at its ends a spline knows less
    speeds = np.column_stack([0.6 * np.cos(3 * times), -0.3 * np.sin(2 * times)])
    given, taken = (torques * speeds).sum(axis=1), (there.torques * there.speeds).sum(axis=1)
    assert np.abs(given - taken)[inner].max() < 1e-4 * np.abs(given).max(), "both need the same power"
    weak = linked.with_changes(joints=tuple(replace(j, effort_limit=9.0) if j.actuated else j for j in linked.joints))
    notes = transfer(plain, weak, motion, torques=torques).notes
    assert any("linked: motor_left needs" in note and "N m where 9 is its most" in note for note in notes)
    with pytest.raises(ClipError, match=r"torques must be finite numbers of the shape \(400, 2\), not \(400, 1\)"):
        transfer(plain, linked, motion, torques=torques[:, :1])


def test_torques_of_legs_with_rods_have_the_same_power_there_and_back(looped: Mechanism, serial: Mechanism) -> None:
    """The serial legs have motors at knees that the rods of the looped ones move: more motors than freedoms there."""
    motion = swinging(looped, 120)
    phase = np.arange(len(looped.actuators))
    torques = 3.0 * np.cos(5.0 * motion.times[:, None] + phase)
    there = transfer(looped, serial, motion, torques=torques)
    assert len(serial.actuators) > len(looped.actuators)
    inner = slice(8, -8)  # at its ends a spline knows less

    def power(torques: np.ndarray, speeds: np.ndarray) -> np.ndarray:
        return (torques * speeds).sum(axis=1)[inner]

    given = power(torques, rates_of(motion).values)
    assert np.abs(power(there.torques, there.speeds) - given).max() < 1e-4 * np.abs(given).max()
    back = transfer(serial, looped, there.motion, torques=there.torques)
    assert np.abs(back.torques - torques).max() < 1e-9
    free = 3.0 * np.sin(5.0 * motion.times[:, None] + np.arange(len(serial.actuators)))
    led = transfer(serial, looped, there.motion, torques=free)
    wanted = power(free, there.speeds)
    assert np.abs(power(led.torques, led.speeds) - wanted).max() < 1e-4 * np.abs(wanted).max(), "of any torques"


def test_a_ball_with_a_motor_is_refused() -> None:
    bodies = Body("arm", mass=1.0), Body("hand", mass=0.5)
    joints = (
        Joint("shoulder", "revolute", "world", "arm", axis=(0, 1, 0), actuated=True),
        Joint("wrist", "spherical", "arm", "hand", position=(0.3, 0.0, 0.0), actuated=True),
    )
    robot = Mechanism(name="arm", bodies=bodies, joints=joints)
    with pytest.raises(ClipError, match="robot 'arm': its ball 'wrist' has a motor; motions of such balls are not"):
        transfer(robot, robot, swinging(robot, 6))


def test_derivatives_of_a_joint_that_would_be_cut_are_those_of_the_closed_loop() -> None:
    """A joint without limits that no motor moves may be cut, unless it is asked for."""
    plain, linked = waist(False), waist(True)
    asked = build_topology(linked, ("waist_pitch", "waist_roll", *linked.actuators))
    assert {"waist_pitch", "waist_roll", *linked.actuators} <= {*asked.dofs}
    coordinates, slopes = ForwardKinematics(linked, asked).linearized(np.array([[0.2, -0.1]]), ["waist_roll"])
    step = 1e-4 * np.eye(2)
    ends = [
        transfer(linked, plain, moved(linked, np.array([0.2, -0.1]) + way)).motion.values[0] for way in (*step, *-step)
    ]
    differences = (np.array(ends[:2]) - np.array(ends[2:])) / 2e-4
    assert abs(coordinates[0, 0] - np.mean(ends, axis=0)[1]) < 1e-7
    assert np.abs(slopes[0, 0] - differences[:, 1]).max() < 1e-7
    assert np.abs(slopes).max() > 0.2


def moved(robot: Mechanism, values: np.ndarray) -> Motion:
    return Motion(times=np.arange(2.0), actuators=robot.actuators, values=np.tile(values, (2, 1)))


def test_a_floating_robot_keeps_its_base() -> None:
    walker = robots.load("walker")
    motion = swinging(walker, 6)
    assert np.abs(transfer(walker, walker, motion).motion.values - motion.values).max() < 1e-12, "it may have none"
    states, _ = posed(walker, motion)
    k = states.bodies.index("torso")
    way = states.position[:, k] + np.column_stack([motion.times, 0 * motion.times, 0 * motion.times])
    motion = replace(motion, base=BaseTrack(body="torso", position=way, quaternion=states.quaternion[:, k]))
    found = transfer(walker, walker, motion)
    assert np.abs(found.motion.values - motion.values).max() < 1e-12
    np.testing.assert_allclose(found.motion.base.position, way, atol=1e-12)
    unnamed = replace(motion, base=replace(motion.base, body=""))
    np.testing.assert_allclose(transfer(walker, walker, unnamed).motion.base.position, way, atol=1e-12)
    other = replace(motion, base=replace(motion.base, body="foot_l"))
    with pytest.raises(ClipError, match="the base 'foot_l', but robot 'walker' floats by its body 'torso'"):
        transfer(walker, walker, other)


def test_a_base_of_another_name_is_found_by_the_table_whatever_else_it_names() -> None:
    walker = robots.load("walker")
    knee = next(joint.name for joint in walker.actuated)
    called = {"torso": "trunk", knee: "other"}
    other = walker.with_changes(
        bodies=tuple(replace(b, name=called.get(b.name, b.name)) for b in walker.bodies),
        joints=tuple(
            replace(j, name=called.get(j.name, j.name), parent=called.get(j.parent, j.parent),
                    child=called.get(j.child, j.child)) for j in walker.joints
        ),
        frames=tuple(replace(f, body=called.get(f.body, f.body)) for f in walker.frames),
    )  # fmt: skip
    way = np.outer(np.arange(6), [0.01, 0.0, 0.0]) + np.array([0.0, 0.0, 0.5])
    base = BaseTrack(body="torso", position=way, quaternion=np.tile([1.0, 0.0, 0.0, 0.0], (6, 1)))
    motion = replace(swinging(walker, 6), base=base)
    for table in ({knee: "other", "torso": "trunk"}, {"torso": "trunk", knee: "other"}):
        found = transfer(walker, other, motion, table).motion.base
        assert found is not None and found.body == "trunk"
        np.testing.assert_allclose(found.position, way, atol=1e-12)
    with pytest.raises(ClipError, match="floats by its body 'trunk', which robot 'walker' does not have"):
        transfer(walker, other, motion, {knee: "other"})


def test_a_robot_on_the_ground_has_no_base_whatever_its_motion_says() -> None:
    boxer = robots.load("boxer")
    motion = swinging(boxer, 6)
    base = BaseTrack(body="", position=np.ones((6, 3)), quaternion=np.tile([1.0, 0.0, 0.0, 0.0], (6, 1)))
    for given in (motion, replace(motion, base=base)):
        found = transfer(boxer, boxer, given)
        assert found.motion.base is None
        assert np.abs(found.motion.values - motion.values).max() < 1e-12


@pytest.mark.parametrize("scale", [1.0, 0.01])
@pytest.mark.parametrize("weak", range(4))
def test_the_motor_that_is_too_weak_is_named_with_what_it_needs(weak: int, scale: float) -> None:
    boxer = robots.load("boxer")
    torques = scale * np.tile([3.0, -4.0, 5.0, -6.0], (6, 1))
    most = 1.25 * np.abs(torques[0])
    most[weak] *= 0.5

    def limited(limits: list[float]) -> Mechanism:
        by_name = {joint.name: limit for joint, limit in zip(boxer.actuated, limits, strict=True)}
        joints = (replace(j, effort_limit=by_name.get(j.name, np.inf)) for j in boxer.joints)
        return boxer.with_changes(joints=tuple(joints))

    given, taken = limited(most.tolist()), limited(4 * [np.inf])
    notes = [note for note in transfer(given, taken, swinging(boxer, 6), torques=torques).notes if "needs" in note]
    needs = f"needs {abs(torques[0, weak]):.3g} N m where {most[weak]:.3g} is its most"
    assert notes == [f"boxer: {boxer.actuators[weak]} {needs}"]


def test_the_command(tmp_path: Path, looped: Mechanism, serial: Mechanism) -> None:
    for robot, name in ((looped, "looped"), (serial, "serial")):
        bare = robot.with_changes(bodies=tuple(replace(body, visuals=()) for body in robot.bodies))
        save_robot(bare, tmp_path / f"{name}.robik.json")
    save_motion(swinging(looped, 5), tmp_path / "m.csv")

    def run(*arguments: str) -> shell.Done:
        return shell.robik(tmp_path, "transfer", *arguments)

    done = run("looped.robik.json", "serial.robik.json", "m.csv", "-o", "s.csv")
    assert (done.returncode, done.stderr) == (0, "")
    done = run("serial.robik.json", "looped.robik.json", "s.csv", "-o", "b.csv")
    assert done.returncode == 0
    assert "closed to" in done.stdout
    assert np.abs(load_motion(tmp_path / "b.csv").values - load_motion(tmp_path / "m.csv").values).max() < 1e-9
    one = Motion(times=np.arange(5) / 60, actuators=looped.actuators, values=np.ones((5, 12)))
    save_motion(one, tmp_path / "n.csv")
    loads = "--torques", "n.csv", "--loads", "l.csv"
    done = run("looped.robik.json", "serial.robik.json", "m.csv", "-o", "s.csv", *loads)
    assert (done.returncode, done.stderr) == (0, "")
    head = (tmp_path / "l.csv").read_text().split("\n")[0].split(",")
    assert head[0] == "time" and head[1:] == [f"{n}.{w}" for w in ("speed", "torque") for n in serial.actuators]
    (tmp_path / "t.json").write_text(json.dumps({"free_foot1": 3}))
    done = run("serial.robik.json", "looped.robik.json", "s.csv", "-o", "c.csv", "--table", "t.json")
    assert done.returncode == 2
    assert done.stderr == "robik: t.json: a table is an object that gives each coordinate's name in the other robot\n"
    assert not (tmp_path / "c.csv").exists()
