"""Friction, damping, armature and springs of joints: read as the formats say them, and written back."""

from __future__ import annotations

from dataclasses import replace
from math import radians
from pathlib import Path

import mujoco
import numpy as np
import pytest

from robik import robots
from robik.errors import FormatError
from robik.formats import import_robot, load_robot, save_robot
from robik.mechanism import Body, Joint, Mechanism, Resistance
from robik.mechanism.resistance import FREE

MJCF = """<mujoco model="legs"><compiler angle="degree"/>
<default><joint damping="0.5"/><default class="stiff">
<joint stiffness="7" springref="20" armature="0.03"/></default></default>
<worldbody><body name="a"><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
  <joint name="hip" axis="0 1 0" ref="10" frictionloss="0.2"/>
  <body name="b" pos="0 0 1"><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
    <joint name="knee" class="stiff" axis="1 0 0" ref="5"/>
    <body name="c" pos="0 0 1"><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
      <joint name="rod" type="slide" stiffness="3" springref="0.25" damping="0"/>
      <body name="d" pos="0 0 1"><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
        <joint name="ball" type="ball" armature="0.01" frictionloss="0.1" damping="0.3"/>
</body></body></body></body></worldbody></mujoco>"""
SAID = {
    "hip": Resistance(0.2, 0.5),
    "knee": Resistance(0.0, 0.5, 0.03, 7.0, radians(20)),
    "rod": Resistance(0.0, 0.0, 0.0, 3.0, 0.25),
    "ball": Resistance(0.1, 0.3, 0.01),
}

ONE = """<mujoco><worldbody><body name="a"><geom size="0.1"/><joint name="j" {}/></body></worldbody></mujoco>"""

URDF = """<robot name="arm"><link name="a"/><link name="b"/><link name="c"/>
<joint name="turn" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
  <limit lower="-1" upper="1" effort="2" velocity="3"/><dynamics damping="0.7" friction="0.1"/></joint>
<joint name="run" type="prismatic"><parent link="b"/><child link="c"/>
  <limit lower="-1" upper="1" effort="2" velocity="3"/>{}</joint></robot>"""

SDF = """<sdf version="1.9"><model name="m"><link name="a"/><link name="b"/>
<joint name="turn" type="revolute"><parent>a</parent><child>b</child><axis><xyz>0 0 1</xyz>
<dynamics><damping>0.7</damping><friction>0.1</friction><spring_stiffness>4</spring_stiffness>
<spring_reference>0.5</spring_reference></dynamics></axis></joint></model></sdf>"""


def of(robot: Mechanism) -> dict[str, Resistance]:
    return {joint.name: joint.resistance for joint in robot.joints if joint.motions}


def written(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text)
    return folder / name


def resistances_in_mujoco(file: Path) -> dict[str, tuple[float, ...]]:
    """Friction, damping, armature, stiffness and the spring's place by joint, as MuJoCo has them."""
    model, found = mujoco.MjModel.from_xml_path(str(file)), {}
    for k in range(model.njnt):
        i, spring = int(model.jnt_dofadr[k]), float(model.jnt_stiffness[k])
        own = (model.dof_frictionloss[i], model.dof_damping[i], model.dof_armature[i], spring)
        found[model.joint(k).name] = (*own, float(model.qpos_spring[model.jnt_qposadr[k]]) if spring else 0.0)
    return found


def test_mjcf_is_read_and_written_as_mujoco_has_it(tmp_path: Path) -> None:
    file = written(tmp_path, "legs.xml", MJCF)
    robot = load_robot(file)
    assert of(robot) == SAID
    save_robot(robot, tmp_path / "again.xml")
    before, after = resistances_in_mujoco(file), resistances_in_mujoco(tmp_path / "again.xml")
    assert before.keys() == after.keys() == SAID.keys()
    for name in before:
        assert after[name] == pytest.approx(before[name], abs=1e-8), name
    assert of(load_robot(tmp_path / "again.xml")) == SAID


@pytest.mark.parametrize(
    ("attributes", "says", "found"),
    [
        ('damping="-1"', "damping is negative", FREE),
        ('stiffness="2 3"', "polynomial", Resistance(stiffness=2.0)),
        ('springdamper="0.1 1"', "springdamper", FREE),
        ('type="ball" stiffness="2"', "spring of a ball", FREE),
    ],
)
def test_what_mjcf_says_and_is_not_read_is_told(attributes: str, says: str, found: Resistance, tmp_path: Path) -> None:
    imported = import_robot(written(tmp_path, "one.xml", ONE.format(attributes)))
    assert of(imported.mechanism)["j"] == found
    assert any(line.startswith("j: ") and says in line for line in imported.warnings)


@pytest.mark.parametrize("attributes", ['damping="much"', 'armature="1 2 x"', 'springref="nan"', 'springdamper="a b"'])
def test_what_is_no_number_is_refused_by_the_joints_name(attributes: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"joint 'j': its (damping|armature|springref|springdamper)"):
        load_robot(written(tmp_path, "one.xml", ONE.format(attributes)))


def test_urdf_is_read_and_written(tmp_path: Path) -> None:
    robot = load_robot(written(tmp_path, "arm.urdf", URDF.format("")))
    assert of(robot) == {"turn": Resistance(0.1, 0.7), "run": FREE}
    save_robot(robot, tmp_path / "again.urdf")
    assert of(load_robot(tmp_path / "again.urdf")) == of(robot)
    imported = import_robot(written(tmp_path, "odd.urdf", URDF.format('<dynamics friction="-1"/>')))
    assert of(imported.mechanism)["run"] == FREE
    assert "run: its friction is negative, so it was left out" in imported.warnings


def test_balls_and_joints_that_close_loops_in_urdf(tmp_path: Path) -> None:
    """A ball is a floating joint there, with its own dynamics; of a loop the file says nothing."""
    robot = robots.load("four_bar")
    damped = Resistance(0.0, 0.3)
    joints = tuple(replace(joint, resistance=damped) for joint in robot.joints if joint.motions)
    looped = robot.with_changes(joints=(*(j for j in robot.joints if not j.motions), *joints))
    said = save_robot(looped, tmp_path / "loop.urdf")
    [note] = [line for line in said if "URDF has no friction, damping or spring for a joint that closes" in line]
    again = of(load_robot(tmp_path / "loop.urdf"))
    lost = {name for name, own in again.items() if own != of(looped)[name]}
    assert lost == {note.partition(":")[0]}
    ball = Mechanism("ball", (Body("a"),), (Joint("b", "spherical", "world", "a", resistance=damped),))
    save_robot(ball, tmp_path / "ball.urdf")
    assert of(load_robot(tmp_path / "ball.urdf")) == {"b": damped}


def test_urdf_says_what_it_has_no_place_for(tmp_path: Path) -> None:
    robot = load_robot(written(tmp_path, "legs.xml", MJCF.replace('name="rod" type="slide"', 'name="rod"')))
    said = save_robot(robot, tmp_path / "legs.urdf")
    assert any("knee, rod, ball: URDF has no place for the armature or spring" in line for line in said)


def test_sdf_is_read(tmp_path: Path) -> None:
    robot = load_robot(written(tmp_path, "m.sdf", SDF))
    assert of(robot)["turn"] == Resistance(0.1, 0.7, 0.0, 4.0, 0.5)


def test_a_native_copy_changes_nothing(tmp_path: Path) -> None:
    robot = load_robot(written(tmp_path, "legs.xml", MJCF))
    save_robot(robot, tmp_path / "legs.robik.json")
    assert load_robot(tmp_path / "legs.robik.json") == robot
    text = (tmp_path / "legs.robik.json").read_text().replace('"friction": 0.2', '"friction": -0.2')
    with pytest.raises(FormatError, match=r"joint 'hip': its resistance: its friction must be zero or more, not -0\.2"):
        load_robot(written(tmp_path, "bad.robik.json", text))


def test_robots_of_others_keep_theirs(shared_data: Path, tmp_path: Path) -> None:
    file = shared_data / "unitree_h1/h1.xml"
    robot = load_robot(file)
    assert of(robot)["left_knee"] == Resistance(0.0, 1.0, 0.1)
    read = {
        name: (own.friction, own.damping, own.armature, own.stiffness, own.relaxed) for name, own in of(robot).items()
    }
    judge = resistances_in_mujoco(file)
    assert all(np.allclose(read[name], judge[name]) for name in judge if name in read and name in robot.actuators)
