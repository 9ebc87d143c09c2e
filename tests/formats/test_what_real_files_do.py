"""What real robot files do in any format: several ways to be assembled, flat poses, rounded numbers, welded bases, odd
names."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest

from experiments.importing import LOOPS, write_looped_robot
from robik.clips.clip import TargetClip
from robik.formats import import_robot, load_robot, save_robot
from robik.kinematics.forward import body_poses
from robik.kinematics.mobility import inspect
from robik.mechanism import Mechanism
from robik.retargeting.retarget import retarget
from tests.formats import mjcf_text, sdf_text, urdf_text
from tests.formats.mjcf_text import LUMP
from tests.formats.mujoco_judge import Judge

# A crank and a rocker, and a rod between them that can be bent either way; open as stored.
LINKAGE = f"""<body name="crank"><joint name="a" axis="0 1 0"/>{LUMP}
    <body name="rod" pos="0 0 1"><joint name="b" axis="0 1 0"/>{LUMP}<site name="p" pos="1.2 0 0"/></body></body>
    <body name="rocker" pos="1.5 0 0"><joint name="c" axis="0 1 0"/>{LUMP}<site name="q" pos="0 0 1.1"/></body>"""
PIN = '<equality><connect name="pin" site1="p" site2="q"/></equality>'


def angles(robot: Mechanism) -> np.ndarray:
    return np.array([joint.rest[0] for joint in robot.joints if joint.name in "abc"])


@pytest.mark.parametrize("stored", [(0.0, -0.2, -0.3), (0.7, 0.9, -2.0), (-0.5, 1.6, 1.3), (0.3, 2.5, 2.0)])
def test_of_several_assembly_modes_the_nearest_to_the_keyframe_is_taken(
    stored: tuple[float, ...], tmp_path: Path
) -> None:
    key = f'<keyframe><key name="home" qpos="{stored[0]} {stored[1]} {stored[2]}"/></keyframe>'
    imported = import_robot(mjcf_text.write(tmp_path, LINKAGE, PIN + key))
    assert any(
        "closed to" in line and "in the pose found nearest to the stored one" in line for line in imported.report
    )
    found = np.linalg.norm(angles(imported.mechanism) - stored)
    # All closed poses, by a scan over the crank and both elbows of the rest: by the law of cosines, none of the
    # importer's code.
    others = []
    for a in np.linspace(-np.pi, np.pi, 721):
        tip = np.array([np.sin(a), np.cos(a)])
        way = np.array([1.5, 0.0]) - tip
        length = float(np.linalg.norm(way))
        cosine = (length**2 + 1.2**2 - 1.1**2) / (2 * length * 1.2)
        if abs(cosine) <= 1:
            for bend in (1, -1):
                rod = np.arctan2(-way[1], way[0]) + bend * np.arccos(cosine)  # of its x axis, about y
                end = tip + 1.2 * np.array([np.cos(rod), -np.sin(rod)]) - [1.5, 0.0]
                pose = np.array([a, rod - a, np.arctan2(end[0], end[1])])
                others.append(
                    min(
                        np.linalg.norm(pose + 2 * np.pi * np.array([0, i, k]) - stored)
                        for i in (-1, 0, 1)
                        for k in (-1, 0, 1)
                    )
                )
    assert found < min(others) * 1.25 + 0.05  # near the nearest of all; the modes are further apart than that


def test_a_flat_rest_pose_moves_in_one_way(tmp_path: Path) -> None:
    """A parallelogram stored flat, from where it could go on as a parallelogram or crossed: in between it seems to have
    a freedom more."""
    z = '<axis xyz="0 0 1"/>'
    joints = (
        urdf_text.joint("one", "continuous", "a", "b", z)
        + urdf_text.joint("two", "continuous", "b", "c", f'<origin xyz="0.1 0 0"/>{z}')
        + urdf_text.joint("three", "continuous", "a", "d", f'<origin xyz="0.2 0 0"/>{z}')
        + urdf_text.joint("p", "fixed", "c", "closing_pin_1", '<origin xyz="0.2 0 0"/>')
        + urdf_text.joint("q", "fixed", "d", "closing_pin_2", '<origin xyz="0.1 0 0"/>')
    )
    links = "".join(f'<link name="{name}"/>' for name in ("c", "d", "closing_pin_1", "closing_pin_2"))
    robot = load_robot(urdf_text.write(tmp_path, joints, links))
    found = inspect(robot)
    assert (found.loops, found.mobility, found.actuators) == (1, 1, ("one",))
    assert found.closure_residual < 1e-12


@pytest.mark.parametrize("digits", [7, 9])
def test_loops_that_rounding_opens_are_closed_and_it_is_said_by_how_much(digits: int, tmp_path: Path) -> None:
    """A planar linkage askew in space, its numbers rounded as float32 would: its hinges are parallel no more, and no
    pose closes it."""
    path = urdf_text.fourbar(tmp_path)
    tree = ElementTree.parse(path)
    angles = iter(np.random.default_rng(3).normal(scale=0.3 * 10.0**-digits, size=(5, 3)))
    for joint in tree.iter("joint"):
        origin = joint.find("origin")
        origin = ElementTree.SubElement(joint, "origin") if origin is None else origin
        origin.set("rpy", " ".join(map(str, next(angles))))
    tree.write(path)
    imported = import_robot(path)
    [said] = [w for w in imported.warnings if "the file's numbers are rounded" in w]
    stated = float(said.split("close to ")[1].split(" m")[0])
    assert 1e-3 * 10.0**-digits < stated < 10.0**-digits
    found = inspect(imported.mechanism)
    assert (found.loops, found.mobility) == (1, 1)
    assert found.closure_residual < 1e-12


def test_quarter_turns_of_four_digits_keep_a_loop_closed_and_moving(tmp_path: Path) -> None:
    """As exporters write them: by 1.5708 a linkage is drawn on edge, and its last link back."""
    path = urdf_text.fourbar(tmp_path)
    text = path.read_text().replace('<axis xyz="0 0 1"/>', '<axis xyz="0 -1 0"/>')
    tree = ElementTree.ElementTree(ElementTree.fromstring(text))
    for joint in tree.iter("joint"):
        name, origin = joint.get("name"), joint.find("origin")
        origin = ElementTree.SubElement(joint, "origin") if origin is None else origin
        x, y, z = (origin.get("xyz") or "0 0 0").split()
        origin.set("xyz", f"{x} {z} {y}" if name != "q" else f"{x} {y} {z}")
        if name in ("p", "right"):  # their frames stand on edge; the other end of the pair stands so with its link
            origin.set("rpy", "-1.5708 0 0")
        if name == "right":
            axis = joint.find("axis")
            assert axis is not None
            axis.set("xyz", "0 0 1")
    tree.write(path)
    imported = import_robot(path)
    assert imported.mechanism.joints[-1].type == "revolute"
    assert any("the file's numbers are rounded" in w for w in imported.warnings)
    found = inspect(imported.mechanism)
    assert (found.loops, found.mobility) == (1, 1)
    _, _, residual = body_poses(
        imported.mechanism, np.linspace(0.0, 0.3, 4)[:, None] + imported.mechanism.actuated[0].rest[0], None
    )
    assert residual.max() < 1e-10


def test_a_hundred_and_thirty_massless_links_with_loops(tmp_path: Path) -> None:
    imported = import_robot(write_looped_robot(tmp_path))
    found = inspect(imported.mechanism)
    assert (found.bodies, found.mass, found.loops, found.mobility) == (130, 0.0, LOOPS, 9 + LOOPS)
    assert found.closure_residual < 1e-10


def test_the_centre_of_mass_counts_what_is_welded_to_the_ground(tmp_path: Path) -> None:
    """A heavy base of two links, and a light arm: asked for the centre of mass that MuJoCo has at an angle, the arm
    takes that angle."""
    arm = (
        '<body name="arm" pos="0 0 1"><joint name="h" axis="0 1 0"/><geom type="box" size="0.1 0.1 0.4" pos="0 0 0.5"'
        ' mass="2"/></body>'
    )
    path = mjcf_text.write(
        tmp_path, f'<body name="base" pos="1 0 0">{LUMP}<body name="post" pos="0 1 0">{LUMP}{arm}</body></body>'
    )
    robot, judge = load_robot(path), Judge(path)
    assert robot.mass == pytest.approx(4.0)
    wanted = np.linspace(0.0, 0.8, 5)
    com = []
    for angle in wanted:
        judge.place(np.array([angle]))
        com.append(judge.data.subtree_com[0].copy())
    motion = retarget(robot, TargetClip(np.arange(5) / 10, {}, com=np.array(com)))
    assert np.abs(motion.values[:, 0] - wanted).max() < 1e-3


def test_names_of_any_alphabet_survive_every_format(tmp_path: Path) -> None:
    hinge = '<axis xyz="0 0 1"/>'
    urdf = urdf_text.write(tmp_path, urdf_text.joint("Gelenk ß", "continuous", "a", "手", hinge) + urdf_text.joint("ö",
        "fixed", "手", "b"),
                           '<link name="手"/>')  # fmt: skip
    sdf = sdf_text.write(tmp_path,
                         sdf_text.sdf(sdf_text.link("a") + sdf_text.link("手") + sdf_text.link("b") + sdf_text.HOLD
                         + sdf_text.joint("Gelenk ß", "revolute", "a", "手", sdf_text.axis("0 0 1"))
                         + sdf_text.joint("ö", "fixed", "手", "b")))  # fmt: skip
    for path in (urdf, sdf):
        robot = load_robot(path)
        assert {b.name for b in robot.bodies} == {"a", "手", "b"}
        assert robot.actuators == ("Gelenk ß",)
        for extension in (".robik.json", ".urdf", ".xml"):
            copy = tmp_path / f"Köpie 日本{extension}"
            save_robot(robot, copy)
            assert load_robot(copy).actuators == robot.actuators
            assert {b.name for b in load_robot(copy).bodies} >= {b.name for b in robot.bodies}
