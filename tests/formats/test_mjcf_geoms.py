"""MJCF's geoms: what is seen, and the masses of shapes, as MuJoCo has them."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

from robik.errors import FormatError
from robik.formats import import_robot, load_robot, save_robot
from robik.formats.mesh_data import read_mesh
from robik.formats.mesh_files import PLACEHOLDER
from robik.formats.mjcf.inline import InlineMeshes
from tests.formats.mjcf_text import write
from tests.formats.mujoco_judge import compare_with_mujoco

BLOB = "0 0 0  1 0 0  0 1.5 0  0 0 2  1 1 1.2  -0.4 0.3 0.5"
BENT = "0 0 0  2 0 0  2 1 0  1 1 0  1 2 0  0 2 0  0 0 1  2 0 1  2 1 1  1 1 1  1 2 1  0 2 1"  # an L, so not convex
BENT_FACES = ("0 3 1  1 3 2  0 5 3  3 5 4  6 7 9  7 8 9  6 9 11  9 10 11  0 1 7  0 7 6  1 2 8  1 8 7  2 3 9  2 9 8  3 "
              "4 10  3 10 9"
              "  4 5 11  4 11 10  5 0 6  5 6 11")  # fmt: skip
SHAPES = {
    "sphere": 'type="sphere" size="0.7"',
    "default": 'size="0.3"',
    "capsule": 'type="capsule" size="0.2 0.6" pos="0.1 0.2 0.3" euler="10 20 30"',
    "capsule fromto": 'type="capsule" size="0.2" fromto="0.1 0 0.3 1 2 0.5"',
    "cylinder": 'type="cylinder" size="0.2 0.6" axisangle="1 2 3 40"',
    "cylinder fromto": 'type="cylinder" size="0.2" fromto="0.1 0 0.3 0.1 0 -0.5"',
    "ellipsoid": 'type="ellipsoid" size="0.2 0.6 0.4" zaxis="1 2 -3"',
    "ellipsoid fromto": 'type="ellipsoid" size="0.3" fromto="0.1 0 0.3 -1 2 0.5"',
    "box": 'type="box" size="0.2 0.6 0.4" xyaxes="1 2 0 -2 1 3"',
    "box fromto": 'type="box" size="0.3" fromto="0.1 0 0.3 -1 2 0.5"',
    "own mass": 'type="box" size="0.2 0.6 0.4" mass="3"',
    "own density": 'type="sphere" size="0.2" density="7800"',
    "sphere's shell": 'type="sphere" size="0.7" shellinertia="true"',
    "box's shell": 'type="box" size="0.2 0.6 0.4" xyaxes="1 2 0 -2 1 3" shellinertia="true"',
    "box's shell of a mass": 'type="box" size="0.2 0.6 0.4" mass="3" shellinertia="true"',
    "capsule's shell": 'type="capsule" size="0.2 0.6" pos="0.1 0.2 0.3" shellinertia="true"',
    "cylinder's shell": 'type="cylinder" size="0.2 0.6" axisangle="1 2 3 40" shellinertia="true"',
    "no mass": 'type="sphere" size="0.2" mass="0"',
    "bent": 'type="mesh" mesh="bent" pos="1 0 0" quat="1 2 0 1"',
    "exact": 'type="mesh" mesh="bent exact"',
    "convex": 'type="mesh" mesh="bent convex" mass="2"',
    "shell": 'type="mesh" mesh="bent shell"',
    "blob": 'type="mesh" mesh="blob"',
    "scaled": 'type="mesh" mesh="bent scaled"',
    "moved": 'type="mesh" mesh="bent moved" pos="1 0 0"',
    "fitted sphere": 'type="sphere" mesh="bent"',
    "fitted box": 'type="box" mesh="bent" pos="1 0 0" quat="1 2 0 1" fitscale="1.5"',
    "fitted capsule": 'type="capsule" mesh="bent exact"',
    "fitted cylinder": 'type="cylinder" mesh="bent scaled" euler="10 20 30"',
    "fitted ellipsoid": 'type="ellipsoid" mesh="bent" mass="2"',
    "fitted cylinder's shell": 'type="cylinder" mesh="bent scaled" shellinertia="true"',
}
MESHES = {
    "blob": f'vertex="{BLOB}"',
    "bent": "",
    "bent exact": 'inertia="exact"',
    "bent convex": 'inertia="convex"',
    "bent shell": 'inertia="shell"',
    "bent scaled": 'scale="0.5 -1.5 2"',
    "bent moved": 'scale="0.5 1.5 2" refpos="1 2 3" refquat="1 2 0 0"',
}


def asset(geom: str) -> str:
    """The mesh that a geom names; MuJoCo 3.3 does not survive all of them in one file."""
    name = geom.partition('mesh="')[2].partition('"')[0] if "mesh=" in geom else ""
    faces = f'vertex="{BENT}" face="{BENT_FACES}"' if name.startswith("bent") else ""
    return f'<asset><mesh name="{name}" {faces} {MESHES[name]}/></asset>' if name else ""


@pytest.mark.parametrize("shape", SHAPES)
def test_the_mass_of_shapes_is_mujocos(shape: str, tmp_path: Path) -> None:
    geoms = f'<geom {SHAPES[shape]}/><geom type="sphere" size="0.1" pos="0 0 3"/>'
    path = write(tmp_path, f'<body name="a"><freejoint name="f"/>{geoms}</body>', asset(SHAPES[shape]))
    compare_with_mujoco(path, 1, 1e-6 if "mesh" in SHAPES[shape] else 1e-9)


def test_a_mass_that_is_said_stays_where_the_mesh_is_missing(tmp_path: Path) -> None:
    """MuJoCo takes no such file, so what counts is that the robot keeps its weight."""
    geoms = '<geom type="mesh" mesh="gone" mass="2" pos="1 0 0"/><geom type="mesh" mesh="gone"/>'
    imported = import_robot(
        write(tmp_path, f'<body name="a"><joint/>{geoms}</body>', '<asset><mesh name="gone" file="gone.stl"/></asset>')
    )
    [body] = imported.mechanism.bodies
    assert (body.mass, body.com) == (2.0, (1.0, 0.0, 0.0))
    assert body.inertia[:3] == pytest.approx([2.0 * PLACEHOLDER**2 / 6] * 3)
    assert any("no mass from it but what a geom of it says" in warning for warning in imported.warnings)


def test_what_is_seen_is_what_mujocos_viewer_shows(tmp_path: Path) -> None:
    geoms = '<geom type="box" size="1 2 3" rgba="1 0 0 0.5" group="2"/><geom size="1" group="3"/>'
    geoms += '<geom type="capsule" size="1 2" material="m"/>'
    robot = load_robot(
        write(tmp_path, f'<body name="a">{geoms}</body>', '<asset><material name="m" rgba="0 1 0 1"/></asset>')
    )
    [box, capsule] = robot.bodies[0].visuals
    assert (box.shape, box.size, box.color) == ("box", (2.0, 4.0, 6.0), (1.0, 0.0, 0.0, 0.5))
    assert (capsule.shape, capsule.size, capsule.color) == ("capsule", (1.0, 4.0), (0.0, 1.0, 0.0, 1.0))
    hidden = load_robot(write(tmp_path, '<body name="a"><geom size="1" group="4"/></body>'))
    assert [v.shape for v in hidden.bodies[0].visuals] == ["sphere"], "a robot with nothing to see shows what it has"


def test_a_mesh_that_stands_in_the_file_is_seen_and_goes_along(tmp_path: Path) -> None:
    """By its name in the file, also from an included one; written elsewhere, it becomes a file that MuJoCo weighs
    alike."""
    (tmp_path / "assets.xml").write_text(f"<mujoco>{asset(SHAPES['scaled'])}</mujoco>")
    geom = '<geom type="mesh" mesh="bent scaled" pos="1 2 3"/>'
    path = write(tmp_path, f'<body name="a"><joint/>{geom}{geom}</body>', '<include file="assets.xml"/>')
    imported = import_robot(path)
    [visual, _] = imported.mechanism.bodies[0].visuals
    assert (visual.file, visual.size) == (f"{path.name}#bent scaled", (0.5, -1.5, 2.0))
    assert not [warning for warning in imported.warnings if "cube" in warning]
    vertices, faces = InlineMeshes().read(path, "bent scaled")
    assert (vertices.ravel().tolist(), len(faces)) == ([float(v) for v in BENT.split()], len(BENT_FACES.split()) // 3)
    for folder in (tmp_path, tmp_path / "to"):
        folder.mkdir(exist_ok=True)
        save_robot(imported.mechanism, folder / "out.xml", path)
        assert [v.file for v in load_robot(folder / "out.xml").bodies[0].visuals] == ["meshes/bent_scaled.stl"] * 2
        copied, _ = read_mesh(folder / "meshes" / "bent_scaled.stl")
        assert np.ptp(copied, axis=0) == pytest.approx(np.ptp(vertices, axis=0), rel=1e-6)
        mujoco.MjModel.from_xml_path(str(folder / "out.xml"))
    with pytest.raises(FormatError, match=r"robot\.xml: there is no mesh 'none' in it"):
        InlineMeshes().read(path, "none")


def test_a_mesh_in_the_file_that_is_none_is_a_cube(tmp_path: Path) -> None:
    flawed = '<asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1" face="0 1 9"/></asset>'
    imported = import_robot(
        write(tmp_path, '<body name="a"><joint/><geom type="mesh" mesh="m" mass="1"/></body>', flawed)
    )
    assert imported.mechanism.bodies[0].visuals[0].size == (PLACEHOLDER,) * 3
    assert "mesh 'm': its faces name vertices that it has not, so a small cube stands for it" in imported.warnings
