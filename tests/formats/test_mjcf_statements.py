"""Single statements of MJCF, each also read by MuJoCo."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from robik.errors import FormatError
from robik.formats import import_robot, load_robot
from tests.formats.mjcf_text import FOURBAR, LUMP, write
from tests.formats.mujoco_judge import Judge, compare_with_mujoco

STATEMENTS = {
    "several joints": (
        f"""<body name="a" pos="1 2 3" euler="10 20 30">{LUMP}
        <joint name="s" type="slide" axis="1 1 0" pos="1 0 0"/><joint name="h" axis="0 1 1" pos="0.1 0.2 0.3"/>
        <joint name="t" type="slide" axis="1 2 0"/><joint name="b" type="ball" pos="0 0 0.5"/></body>"""
    ),
    "references": (
        f"""<body name="a" pos="1 2 3">{LUMP}<joint name="h" axis="0 1 1" pos="0.1 0.2 0.3" ref="40" springref="10"/>
        <body name="b" euler="0 0 90">{LUMP}<joint name="s" type="slide" axis="1 0 2" ref="0.3"/></body></body>"""
    ),
    "frames": (
        f"""<frame pos="1 0 0" euler="0 90 0"><body name="a" pos="0 1 0"><frame euler="45 0 0" pos="0 0 1">
        <geom type="box" size="0.1 0.2 0.3"/><joint name="h" axis="1 0 0" pos="1 0 0"/><site name="tip"
          pos="0 0 1"/></frame>
        <frame pos="2 0 0"><frame zaxis="1 0 0"><body name="b">{LUMP}<joint name="k"/></body></frame></frame></body>
</frame>"""
    ),
    "no joint": (
        f'<body name="a" pos="1 0 0"><joint name="h"/>{LUMP}<body name="b" pos="0 1 0" quat="2 0 0'
        f' 1">{LUMP}</body></body>'
    ),
    "free": (
        f'<body name="a" pos="1 0 0" euler="30 0 10"><freejoint name="f"/>{LUMP}<body name="b"><joint'
        f' name="h"/>{LUMP}</body></body>'
    ),
    "inertials": (
        """<body name="a"><joint name="h"/><inertial pos="1 2 3" mass="2" diaginertia="1 2 2.5" euler="30 20 10"/>
        <body name="b"><joint name="k"/><inertial pos="1 0 0" mass="2"
          fullinertia="1 2 2.5 0.1 0.2 -0.1"/></body></body>"""
    ),
}
COMPILERS = ["", 'angle="radian"', 'eulerseq="ZYX"', 'eulerseq="yxy"', 'inertiafromgeom="true"',
             'boundmass="1.5" boundinertia="0.3"',
             'balanceinertia="true"', 'settotalmass="10"', 'boundmass="0.1"']  # fmt: skip
BOTH = [
    (s, c) for s in STATEMENTS for c in COMPILERS if s != "inertials" or "fromgeom" not in c
]  # those bodies have no geoms


@pytest.mark.parametrize(("statement", "compiler"), BOTH)
def test_statements_are_read_as_mujoco_reads_them(statement: str, compiler: str, tmp_path: Path) -> None:
    compare_with_mujoco(write(tmp_path, STATEMENTS[statement], compiler=compiler), 2)


def test_a_joint_that_an_equality_holds_is_fixed(tmp_path: Path) -> None:
    path = write(tmp_path, STATEMENTS["references"], '<equality><joint joint1="h" polycoef="0.2 0 0 0 0"/></equality>')
    robot, judge = load_robot(path), Judge(path)
    assert {j.name: j.type for j in robot.joints}["h"] == "fixed"
    qpos = judge.model.qpos0.copy()
    qpos[0] += 0.2
    position, rotation = judge.place(qpos)
    assert np.allclose([b.pose.position for b in robot.bodies], position, atol=1e-12)
    assert np.allclose([b.pose.matrix for b in robot.bodies], rotation, atol=1e-12)


def test_classes_hand_down_and_are_overridden(tmp_path: Path) -> None:
    defaults = """<default><geom type="box" size="0.1 0.2 0.3"/><joint range="-10 10" axis="1 0 0"/>
        <default class="in"><geom size="0.5"/><joint axis="0 1 0"/>
        <default class="inner"><joint range="-20 20"/></default></default></default>"""
    body = """<body name="a" childclass="in"><joint name="h"/><geom/><body name="b"><joint name="k"
      class="inner"/><geom class="main"/>
        <frame childclass="inner"><body name="c"><joint name="l"/><geom size="1 1"/></body></frame></body></body>"""
    path = write(tmp_path, body, defaults)
    compare_with_mujoco(path)
    limits = {j.name: np.degrees(j.limits[0]) for j in load_robot(path).joints if j.motions}
    assert np.allclose([limits["h"], limits["k"], limits["l"]], [[-10, 10], [-20, 20], [-20, 20]])


@pytest.mark.parametrize(
    ("attributes", "compiler", "limits"),
    [('range="-10 20"', "", (-10, 20)), ('range="-10 20" limited="false"', "", None),
     ('range="-10 20"', 'autolimits="false"', None),
     ('range="-10 20" limited="true"', 'autolimits="false"', (-10, 20)), ('range="0 0"', "", None)],
)  # fmt: skip
def test_limits(attributes: str, compiler: str, limits: tuple[float, float] | None, tmp_path: Path) -> None:
    robot = load_robot(write(tmp_path, f'<body name="a"><joint name="h" {attributes}/></body>', compiler=compiler))
    assert np.allclose(np.degrees(robot.joints[-1].limits[0]), limits or (-np.inf, np.inf))


def test_the_rest_pose_is_the_home_keyframe(tmp_path: Path) -> None:
    body = f"""<body name="a" pos="0 0 1" euler="20 0 0"><freejoint name="f"/>{LUMP}<body name="b"><joint name="h"
      ref="10"/>{LUMP}
        <body name="c"><joint name="b" type="ball" pos="1 0 0"/>{LUMP}</body></body></body>"""
    keys = '<key name="other" qpos="1 0 0 1 0 0 0 0 1 0 0 0"/><key name="home" qpos="1 2 3 1 1 0 0 0.5 2 1 0 1"/>'
    path = write(tmp_path, body, f"<keyframe>{keys}</keyframe>")
    imported, judge = import_robot(path), Judge(path)
    position, rotation = judge.place(judge.model.key_qpos[1])
    assert np.allclose([b.pose.position for b in imported.mechanism.bodies], position, atol=1e-12)
    assert np.allclose([b.pose.matrix for b in imported.mechanism.bodies], rotation, atol=1e-12)
    assert any("keyframe 'home'" in line for line in imported.report)
    short = import_robot(write(tmp_path, body, '<keyframe><key qpos="1 2"/></keyframe>'))
    assert any("2 coordinates where the robot has 12" in warning for warning in short.warnings)


PART = f"""<mujoco><compiler angle="radian"/><default><joint axis="0 1 0"/></default><worldbody>
    <body name="stand" pos="5 0 0"><joint name="h"/>{LUMP}<body name="arm" pos="0 0 1" euler="0.3 0 0"><joint name="s"
      type="slide"/>
    <joint name="h2" ref="0.2"/>{LUMP}<body name="tip" pos="0 0 1"><joint name="k"/>{LUMP}<site name="p"
      pos="0 0.1 0"/></body></body>
    </body></worldbody><equality><joint joint1="k" joint2="h2"/><connect body1="tip" body2="stand"
      anchor="0 0 0"/></equality>
    <actuator><motor joint="h2"/></actuator></mujoco>"""


@pytest.mark.parametrize("body", ["stand", "arm", "tip"])
def test_attached_models(body: str, tmp_path: Path) -> None:
    (tmp_path / "part.xml").write_text(PART)
    attach = f'<frame pos="0 2 0" euler="0 0 30"><attach model="part" body="{body}" prefix="l_"/></frame>'
    bodies = f'<body name="base" pos="1 0 0" euler="0 40 0"><joint name="h"/>{LUMP}{attach}</body>'
    more = (
        '<asset><model name="part" file="part.xml"/></asset><equality><connect body1="base" body2="l_tip" anchor="1 2'
        ' 3"/></equality>'
    )
    compare_with_mujoco(write(tmp_path, bodies, more))
    place = f'<frame pos="0 2 0" euler="0 0 30"><attach model="part" body="{body}" prefix="l_"/></frame>'
    compare_with_mujoco(write(tmp_path, place, '<asset><model name="part" file="part.xml"/></asset>'))


def test_a_keyframe_counts_attached_joints_where_mujoco_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # MuJoCo logs that it does not rename the part's keyframe
    part = f"""<mujoco><compiler angle="radian"/><worldbody><body name="a" pos="0 0 1">
        <joint name="h" axis="0 1 0"/><joint name="s" type="slide"/>{LUMP}<body name="b" pos="1 0 0">
        <joint name="b" type="ball"/>{LUMP}</body>
        <body name="c"><joint name="k"/>{LUMP}</body></body>
        <body name="f"><freejoint name="f"/>{LUMP}</body></worldbody><equality><joint joint1="k"
          polycoef="0.3 0 0 0 0"/></equality>
        <keyframe><key name="home" qpos="0.7 0.1 1 0 0 0 0.3 0 0 0 1 0 0 0"/></keyframe></mujoco>"""
    (tmp_path / "part.xml").write_text(part)
    (tmp_path / "whole.xml").write_text(f"""<mujoco><asset><model name="p" file="part.xml"/></asset><worldbody>
        <body name="o"><joint name="o"/>{LUMP}<attach model="p" body="b" prefix="i_"/>
        <body name="u"><joint name="u"/>{LUMP}</body></body></worldbody></mujoco>""")
    bodies = f"""<body name="x"><joint name="x"/>{LUMP}</body><frame pos="1 2 3" euler="10 20 30">
        <attach model="p" body="f" prefix="w_"/></frame>
        <body name="y"><joint name="y"/>{LUMP}<attach model="p" body="a" prefix="l_"/>
        <body name="z"><joint name="z" axis="1 0 0"/>{LUMP}</body>
        <frame pos="0 1 0"><attach model="q" body="o" prefix="q_"/></frame></body>"""
    rest = '<asset><model name="p" file="part.xml"/><model name="q" file="whole.xml"/></asset>'
    numbers = "0.1 1 2 3 0.5 0.5 -0.5 0.5 0.2 0.4 0.5 0.6 0.8 0 0 0.3 0.9 1.1 0 0.6 0 0.8 1.3"
    path = write(tmp_path, bodies, rest + f'<keyframe><key qpos="{numbers}"/></keyframe>')
    imported, judge = import_robot(path), Judge(path)
    assert not imported.warnings
    position, rotation = judge.place(
        judge.model.key_qpos[[judge.model.key(k).name for k in range(judge.model.nkey)].index("")]
    )
    for name, at, turned in zip(judge.names, position, rotation, strict=True):
        pose = imported.mechanism.bodies[imported.mechanism.body_index[name]].pose
        assert np.allclose(pose.position, at, atol=1e-12), name
        assert np.allclose(pose.matrix, turned, atol=1e-12), name
    write(tmp_path, bodies, rest)
    rests = {j.name: j.rest for j in load_robot(path).joints}
    assert (rests["y"], rests["l_h"]) == ((0.0,), (0.7,)), "without one, an attached model's own counts for its joints"


def test_models_in_a_ring_and_out_of_the_folder_are_refused(tmp_path: Path) -> None:
    for file, said in (("robot.xml", "in a ring"), ("../part.xml", "leads out"), ("none.xml", "no such file")):
        asset = f'<asset><model name="part" file="{file}"/></asset>'
        with pytest.raises(FormatError, match=said):
            load_robot(write(tmp_path, '<body name="a"><attach model="part" body="a" prefix="l_"/></body>', asset))


def test_motors(tmp_path: Path) -> None:
    drives = """<motor joint="f"/><motor name="m" joint="a" gear="50" ctrlrange="-2 3"/>
        <position joint="c" forcerange="-7 7"/><position joint="c"/>
        <velocity site="p" name="thruster"/>"""
    free = f'<body name="box"><freejoint name="f"/>{LUMP}</body>'
    path = write(tmp_path, FOURBAR + free, f"<actuator>{drives}</actuator>")
    imported = import_robot(path)
    assert imported.mechanism.actuators == ("a", "c")
    assert {j.name: j.effort_limit for j in imported.mechanism.actuated} == {"a": 150.0, "c": 7.0}
    assert any("f: a motor that pushes a free body" in warning for warning in imported.warnings)
    assert any("thruster" in warning and "not on a joint" in warning for warning in imported.warnings)


def test_sites_become_frames(tmp_path: Path) -> None:
    imported = import_robot(
        write(tmp_path, '<site name="w"/><body name="a"><site name="tip" pos="1 0 0"/><site name="a"/><site/></body>')
    )
    assert [f.name for f in imported.mechanism.frames] == ["tip", "a_site"]
    assert imported.mechanism.frame("tip").pose.position == (1.0, 0.0, 0.0)
    assert any("'a_site'" in line for line in imported.report)


@pytest.mark.parametrize(
    ("joint", "compiler", "inner"),
    [('<freejoint align="true"/>', "", ""), ("<freejoint/>", 'alignfree="true"', ""),
     ('<joint type="free"/>', 'alignfree="true"', ""),
     ('<freejoint align="false"/>', 'alignfree="true"', ""), ("<freejoint/>", "", ""),
     ('<joint type="ball"/>', 'alignfree="true"', ""),
     ('<freejoint align="true"/>', "", f'<body name="b"><joint/>{LUMP}</body>')],
)  # fmt: skip
def test_a_frame_that_mujoco_moves_is_told(joint: str, compiler: str, inner: str, tmp_path: Path) -> None:
    geom = '<geom type="box" size="0.1 0.2 0.3" pos="0.5 0 0"/>'
    path = write(tmp_path, f'<body name="a">{joint}{geom}{inner}</body>', compiler=compiler)
    judge = Judge(path)
    moved = bool(judge.place(judge.model.qpos0)[0][0].any())
    assert any("body 'a': MuJoCo moves its frame" in warning for warning in import_robot(path).warnings) == moved


def test_names_of_any_alphabet_and_none(tmp_path: Path) -> None:
    path = write(tmp_path, '<body name="Arm-ä手"><joint name="Gelenk ß"/><body><joint/><joint/></body></body>')
    robot = load_robot(path)
    assert [b.name for b in robot.bodies] == ["Arm-ä手", "body_2_body_2", "body_2"]
    assert robot.actuators == ("Gelenk ß", "body_2", "body_2_2")
