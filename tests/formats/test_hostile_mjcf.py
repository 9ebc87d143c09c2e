"""Bad MJCF files: refused in one sentence, or kept to the robot's folder; nothing else happens."""

from __future__ import annotations

from pathlib import Path

import pytest

from robik.errors import AssemblyError, FormatError
from robik.formats import import_robot
from robik.mechanism import Mechanism
from tests.formats import fuzz

BODY = '<body name="a"><joint name="h"/><geom type="box" size="1 2 3"/></body>'


def refused(folder: Path, text: str | bytes, *said: str) -> None:
    path = folder / "robot.xml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(FormatError) as error:
        import_robot(path)
    message = str(error.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    assert len(message) < len(str(path)) + 300
    for part in said:
        assert part in message, message


def world(body: str, rest: str = "") -> str:
    return f"<mujoco><worldbody>{body}</worldbody>{rest}</mujoco>"


BAD = {
    "entity bomb": ('<!DOCTYPE m [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><mujoco>&b;</mujoco>', ["DOCTYPE"]),
    "external entity": ('<!DOCTYPE m SYSTEM "file:///etc/passwd"><mujoco/>', ["DOCTYPE"]),
    "cut off": ("<mujoco><worldbody><body name='a'>", ["not XML"]),
    "not UTF-8": (b"<mujoco model='\xff\xfe'/>", ["not XML"]),
    "unknown encoding": ('<?xml version="1.0" encoding="klingon"?><mujoco/>', ["not XML"]),
    "empty": ("", ["it is empty"]),
    "another root": ("<html/>", ["<mujoco>", "<robot>", "<html>"]),
    "no body": ("<mujoco><worldbody/></mujoco>", ["<worldbody>", "<body>"]),
    "includes itself": ('<mujoco><include file="robot.xml"/></mujoco>', ["robot.xml", "in a ring"]),
    "a ring": ('<mujoco><include file="ring.xml"/></mujoco>', ["robot.xml", "in a ring"]),
    "climbs out": ('<mujoco><include file="../secret.xml"/></mujoco>', ["../secret.xml", "leads out"]),
    "absolute": ('<mujoco><include file="/etc/passwd"/></mujoco>', ["/etc/passwd", "leads out"]),
    "network": (
        '<mujoco><include file="http://example.com/a.xml"/></mujoco>',
        ["http://example.com/a.xml", "not a file"],
    ),
    "share": ('<mujoco><include file="//host/a.xml"/></mujoco>', ["another computer"]),
    "no such include": ('<mujoco><include file="none.xml"/></mujoco>', ["none.xml", "no such file"]),
    "include of nothing": ("<mujoco><include/></mujoco>", ["include"]),
    "broken include": ('<mujoco><include file="broken.xml"/></mujoco>', ["broken.xml", "not XML"]),
    "bomb within": ('<mujoco><include file="bomb.xml"/></mujoco>', ["bomb.xml", "DOCTYPE"]),
    "NaN mass": (
        world('<body name="a"><inertial pos="0 0 0" mass="nan" diaginertia="1 1 1"/></body>'),
        ["body 'a'", "mass", "'nan'"],
    ),
    "infinite place": (world('<body name="a" pos="inf 0 0"/>'), ["body 'a'", "pos"]),
    "two of one name": (world(f"{BODY}{BODY}"), ["body 'a'", "names must differ"]),
    "two joints of one name": (
        world('<body name="a"><joint name="h"/><joint name="h"/></body>'),
        ["joints", "'h'", "names must differ"],
    ),
    "body called world": (world('<body name="world"/>'), ["'world'"]),
    "zero axis": (
        world('<body name="a"><joint name="h" axis="0 0 0"/></body>'),
        ["joint 'h'", "axis must not be zero"],
    ),
    "unknown joint type": (
        world('<body name="a"><joint name="h" type="screw"/></body>'),
        ["joint 'h'", "'screw'", "hinge"],
    ),
    "unknown class": (world('<body name="a"><joint class="x"/></body>'), ["<joint>", "'x'"]),
    "free within": (
        world('<body name="a"><body name="b"><freejoint name="f"/></body></body>'),
        ["joint 'f'", "in 'a'"],
    ),
    "no size": (world('<body name="a"><geom type="box" size="1"/></body>'), ["body 'a'", "box", "3 positive sizes"]),
    "negative mass": (world('<body name="a"><geom size="1" mass="-1"/></body>'), ["body 'a'", "must not be negative"]),
    "backward range": (
        world('<body name="a"><joint name="h" limited="true" range="1 -1"/></body>'),
        ["joint 'h'", "low to high"],
    ),
    "two orientations": (world('<body name="a" euler="1 0 0" zaxis="0 1 0"/>'), ["body 'a'", "zaxis and euler"]),
    "no such mesh": (world('<body name="a"><geom type="mesh" mesh="x"/></body>'), ["body 'a'", "'x'"]),
    "connect to nothing": (world(BODY, '<equality><connect body1="a" body2="x" anchor="0 0 0"/></equality>'), ["'x'"]),
    "connect to itself": (
        world(BODY, '<equality><connect body1="a" body2="a" anchor="0 0 0"/></equality>'),
        ["'a' to itself"],
    ),
    "connect nowhere": (world(BODY, '<equality><connect body1="a"/></equality>'), ["anchor"]),
    "weld of nothing": (world(BODY, '<equality><weld site1="a" site2="b"/></equality>'), ["site 'a'"]),
    "couple nothing": (world(BODY, '<equality><joint joint1="h" joint2="x"/></equality>'), ["'x'"]),
    "drive nothing": (world(BODY, '<actuator><motor joint="x"/></actuator>'), ["'x'"]),
    "pull nothing": (world(BODY, '<actuator><motor tendon="x"/></actuator>'), ["'x'"]),
    "coordinate": ('<mujoco><compiler coordinate="global"/></mujoco>', ['coordinate="global"', "2.3.3"]),
    "eulerseq": ('<mujoco><compiler eulerseq="abc"/></mujoco>', ["eulerseq", "'abc'"]),
    "a nameless class": ("<mujoco><default><default/></default></mujoco>", ["<default>", "no class"]),
    "far away": (world('<body name="a" pos="1e308 1e308 0"><body name="b" pos="1e308 0 0"><joint/></body></body>'), []),
    "many geoms": (world(f"<body>{'<site/>' * 50_001}</body>"), ["50000 geoms and sites"]),
    "many bodies": (world("<body/>" * 2001), ["2000 bodies"]),
    "deep bodies": (world("<body>" * 3000 + "</body>" * 3000), ["2000 bodies"]),
    "many frames": (world("<frame/>" * 50_001 + BODY), ["50000 frames"]),
    "deep frames": (world("<frame>" * 5000 + BODY + "</frame>" * 5000), ["body 'world'", "frames", "500 deep"]),
    "deep classes": ("<mujoco>" + '<default class="a">' * 5000 + "</default>" * 5000 + "</mujoco>", []),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_are_refused_in_one_sentence(case: str, tmp_path: Path) -> None:
    (tmp_path / "secret.xml").write_text(world(BODY))
    folder = tmp_path / "robot"
    folder.mkdir()
    (folder / "in.xml").write_text("<mujocoinclude/>")
    (folder / "ring.xml").write_text('<mujocoinclude><include file="robot.xml"/></mujocoinclude>')
    (folder / "broken.xml").write_text("<mujocoinclude>")
    (folder / "bomb.xml").write_text('<!DOCTYPE m [<!ENTITY a "aa">]><mujocoinclude>&a;</mujocoinclude>')
    text, said = BAD[case]
    refused(folder, text, *said)


def test_includes_stand_where_they_are_included(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "robot.xml").write_text('<mujoco><include file="parts/all.xml"/></mujoco>')
    (tmp_path / "parts" / "all.xml").write_text(
        '<mujocoinclude><include file="near.xml"/><worldbody><body name="a">'
        '<include file="parts/joint.xml"/></body></worldbody></mujocoinclude>'
    )
    (tmp_path / "parts" / "near.xml").write_text("<mujocoinclude><compiler angle='radian'/></mujocoinclude>")
    (tmp_path / "parts" / "joint.xml").write_text("<mujocoinclude><joint name='h' range='-1 2'/></mujocoinclude>")
    [joint] = import_robot(tmp_path / "robot.xml").mechanism.joints
    assert joint.limits == ((-1.0, 2.0),)


@pytest.mark.parametrize(
    "file", ["../secret.stl", "/etc/passwd", "http://example.com/a.stl", "//host/a.stl", "\\\\host\\a.stl"]
)
def test_a_mesh_elsewhere_is_not_read_but_stood_for(file: str, tmp_path: Path) -> None:
    (tmp_path / "secret.stl").write_text("solid")
    folder = tmp_path / "robot"
    folder.mkdir()
    asset = f'<asset><mesh name="m" file="{file}"/></asset>'
    (folder / "robot.xml").write_text(world('<body name="a"><joint/><geom type="mesh" mesh="m"/></body>', asset))
    imported = import_robot(folder / "robot.xml")
    [body] = imported.mechanism.bodies
    assert (body.mass, [v.shape for v in body.visuals]) == (0.0, ["box"])
    assert any("mesh 'm': a mesh was not read" in warning for warning in imported.warnings)


@pytest.mark.parametrize(
    "content", [b"", b"solid\nvertex 0 0 x", b"\x00" * 84, b"\xff" * 200, b"solid\n" + b"vertex 0 0 0\n" * 3]
)
@pytest.mark.parametrize("suffix", [".stl", ".obj", ".msh", ".dae"])
def test_a_broken_mesh_gives_no_mass_but_a_warning(content: bytes, suffix: str, tmp_path: Path) -> None:
    (tmp_path / f"m{suffix}").write_bytes(content)
    asset = f'<asset><mesh file="m{suffix}"/></asset>'
    (tmp_path / "robot.xml").write_text(world('<body name="a"><joint/><geom type="mesh" mesh="m"/></body>', asset))
    imported = import_robot(tmp_path / "robot.xml")
    assert imported.mechanism.mass == 0.0
    assert any("take no mass from it" in warning for warning in imported.warnings)


def test_a_loop_that_cannot_close_is_refused_with_its_gap(tmp_path: Path) -> None:
    bodies = '<body name="a"><joint name="h"/><site name="p" pos="1 0 0"/></body>'
    bodies += '<body name="b" pos="5 0 0"><joint name="k"/><site name="q" pos="1 0 0"/></body>'
    path = tmp_path / "robot.xml"
    path.write_text(world(bodies, '<equality><connect site1="p" site2="q"/></equality>'))
    with pytest.raises(AssemblyError, match=r"robot\.xml: .*'a_b'.* 3e\+03 mm"):
        import_robot(path)


WORDS = [
    "hinge",
    "ball",
    "slide",
    "free",
    "mesh",
    "box",
    "capsule",
    "true",
    "false",
    "radian",
    "zyx",
    "in",
    "parts.xml",
    "h",
    "k",
    "b",
]
SAMPLE = """<mujoco model="sample"><compiler angle="degree" autolimits="true" meshdir="."/><include file="parts.xml"/>
<default><joint range="-90 90"/><default class="in"><geom type="capsule" size="0.1 0.2"/></default></default>
<asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/><material name="red" rgba="1 0 0 1"/></asset>
<worldbody><body name="a" pos="0 0 1" childclass="in"><joint name="h" axis="0 1 0" ref="10"/><geom/>
<geom type="mesh" mesh="m" material="red"/>
<body name="b" pos="0 0 1" euler="0 10 0"><joint name="k" axis="0 1 0"/><joint name="s"
  type="slide"/><geom fromto="0 0 0 1 0 0"/>
<frame pos="0 1 0"><site name="p"/></frame></body></body>
<body name="c" pos="2 0 0"><inertial pos="0 0 1" mass="1" diaginertia="1 1 1"/><joint name="l"
  axis="0 1 0"/><body name="d" pos="0 0 1">
<joint name="t" type="ball" range="0 30"/><site name="q"/></body></body></worldbody>
<tendon><fixed name="sum"><joint joint="h" coef="1"/><joint joint="k" coef="-1"/></fixed></tendon>
<equality><joint joint1="k" joint2="h" polycoef="0 -1 0 0 0"/><weld body1="a" body2="c" active="false"/>
<connect body1="b" body2="c" anchor="0 0 0"/></equality>
<actuator><motor joint="h" gear="10" ctrlrange="-1 1"/><position tendon="sum" forcerange="-1 1"/></actuator>
<keyframe><key name="home" qpos="1 0 0 0 1 0 0 0"/></keyframe></mujoco>"""

COPYING = """<mujoco><worldbody><body name="hub"><joint name="j"/><replicate count="3" offset="0 0 1" euler="0 0 30"
  sep="-">
<replicate count="2" euler="0 90 0"><body name="leg" pos="1 0 0"><joint name="h"
  axis="0 1 0"/><site name="s"/></body></replicate>
</replicate></body></worldbody><tendon><fixed name="t"><joint joint="h" coef="1"/></fixed></tendon>
<equality><joint joint1="h0-0" joint2="h1-0"/><connect body1="leg" anchor="0 0 0"/></equality>
<actuator><motor tendon="t"/><motor joint="j"/></actuator></mujoco>"""
ATTACHING = """<mujoco><asset><model name="part" file="part.xml"/></asset><worldbody><body name="a"><joint name="h"/>
<attach model="part" body="b" prefix="l_"/></body><frame pos="0 1 0"><attach model="part" body="a"
  prefix="r_"/></frame></worldbody>
<equality><connect body1="a" body2="l_b" anchor="0 0 0"/></equality><actuator><motor joint="l_k"/></actuator>
</mujoco>"""


@pytest.mark.parametrize("seed", range(5))
def test_mutated_files_end_in_a_robot_or_in_a_sentence(seed: int, tmp_path: Path) -> None:
    (tmp_path / "parts.xml").write_text("<mujocoinclude><custom/></mujocoinclude>")
    (tmp_path / "part.xml").write_text(SAMPLE)
    outcomes = fuzz.import_mutants(
        tmp_path / "mutant.xml", [SAMPLE, SAMPLE, ATTACHING, COPYING], seed, fuzz.CASES // 5, WORDS
    )
    assert {Mechanism, FormatError} <= set(outcomes)
