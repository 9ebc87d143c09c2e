"""MJCF's <replicate>: its copies, and what refers to them, are those that MuJoCo makes."""

from __future__ import annotations

from pathlib import Path

import pytest

from robik.errors import FormatError
from robik.formats import import_robot
from tests.formats.mjcf_text import LUMP, write
from tests.formats.mujoco_judge import Judge, as_stored, compare_with_mujoco

LEG = f"""<body name="leg" pos="1 0 0"><joint name="hip" axis="0 1 0" range="-60 60"/><site name="knee"
  pos="0 0 1"/>{LUMP}
    <body name="foot" pos="0 0 -1"><joint name="ankle" axis="0 1 0"/><site name="toe"
      pos="0 0 -0.5"/>{LUMP}</body></body>"""
HUB = f'<body name="hub"><joint name="turn"/>{LUMP}%s</body>'
PATTERNS = {
    "in the world": f'<replicate count="3" offset="1 0 0.5" euler="0 0 70">{LEG}</replicate>',
    "in a body": HUB % f'<replicate count="12" euler="0 0 30" sep="-">{LEG}</replicate>',
    "within each other": (
        HUB % '<replicate count="2" offset="0 0 1"><replicate count="2" sep="_" euler="0 0'
        f' 180">{LEG}</replicate></replicate>'
    ),
    "of geoms": HUB % f'<replicate count="2" offset="1 0 0" euler="90 0 0">{LUMP}</replicate>',
    "around a frame": (
        HUB % f'<replicate count="2" offset="1 0 0"><frame pos="0 0 1" euler="0 90 0">{LEG}</frame></replicate>'
    ),
    "of none": HUB % f'<replicate count="0">{LEG}</replicate>',
}


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("compiler", ["", 'angle="radian" eulerseq="zyx"'])
def test_copies_are_mujocos(pattern: str, compiler: str, tmp_path: Path) -> None:
    path = write(tmp_path, PATTERNS[pattern], compiler=compiler)
    compare_with_mujoco(path, 2)
    robot, judge = as_stored(path), Judge(path)
    assert [j.name for j in robot.joints if j.motions] == [judge.model.joint(i).name for i in range(judge.model.njnt)]
    assert {f.name for f in robot.frames} == {judge.model.site(i).name for i in range(judge.model.nsite)}


def test_copies_of_joints_are_joints(tmp_path: Path) -> None:
    """As in MuJoCo 3; from 4 on it refuses a joint that stands directly in a <replicate>."""
    pattern = HUB % f'<replicate count="2" offset="1 0 0" euler="90 0 0">{LUMP}<joint name="more"/></replicate>'
    robot = as_stored(write(tmp_path, pattern))
    assert {"more0", "more1"} <= {joint.name for joint in robot.joints if joint.motions}


@pytest.mark.parametrize(
    "rest",
    [
        '<equality><joint name="e" joint1="hip" joint2="ankle" polycoef="0 2 0 0 0"/></equality>',
        '<equality><joint name="e" joint1="hip0" joint2="ankle1"/></equality>',
        '<equality><connect name="e" body1="foot" anchor="0 0 0"/></equality>',
        '<equality><weld name="e" site1="knee" site2="toe"/></equality>',
        '<equality><connect name="e" body1="foot" body2="hub" anchor="0 0 0"/></equality>',
        '<actuator><motor name="m" joint="ankle"/><motor name="n" joint="hip1"/></actuator>',
        (
            '<tendon><fixed name="t"><joint joint="hip" coef="1"/></fixed></tendon><actuator><motor name="m"'
            ' tendon="t"/></actuator>'
        ),
    ],
)
def test_what_refers_to_copies_is_copied_along(rest: str, tmp_path: Path) -> None:
    path = write(tmp_path, HUB % f'<replicate count="2" euler="0 0 90">{LEG}</replicate>', rest)
    robot, judge = as_stored(path), Judge(path)
    tied = {*(j.name for j in robot.closers), *(c.name for c in robot.couplings)}
    assert tied == {judge.model.equality(i).name for i in range(judge.model.neq)}
    driven = set()
    for i in range(judge.model.nu):
        actuator = judge.model.actuator(i)
        through = int(actuator.trnid[0])
        if int(judge.model.actuator_trntype[i]) == 3:  # a tendon
            through = int(judge.model.wrap_objid[judge.model.tendon_adr[through]])
        driven.add(judge.model.joint(through).name)
    assert {j.name for j in robot.joints if j.actuated} == driven


def test_what_is_left_out_is_said(tmp_path: Path) -> None:
    rest = '<equality><connect name="e" body1="foot" body2="hub" anchor="0 0 0"/></equality>'
    path = write(tmp_path, HUB % f'<replicate count="2" euler="0 0 90">{LEG}</replicate>', rest)
    assert any(
        w.startswith("connect 'e': it ties what is replicated to what is not") for w in import_robot(path).warnings
    )


@pytest.mark.parametrize(
    ("inner", "says"),
    [
        ('<replicate count="1.5"/>', "whole number"),
        ('<replicate count="-1"/>', "whole number"),
        ("<replicate/>", "count must be"),
        ('<replicate count="2" offset="1"/>', "a <replicate>: its offset"),
        ('<replicate count="2"><attach model="m" body="b" prefix="p"/></replicate>', "<attach> in a <replicate>"),
        ('<replicate count="1000">' * 4 + LUMP + "</replicate>" * 4, "make more than"),
        (
            f'<replicate count="99999">{LUMP}</replicate><replicate count="99999"><joint name="j"/></replicate>',
            "make more than",
        ),
        (f'<replicate count="2">{LUMP}<body name="leg"/></replicate><body name="leg0"/>', "names must differ"),
    ],
)
def test_what_cannot_be_copied_is_refused(inner: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=says):
        import_robot(write(tmp_path, HUB % inner))


@pytest.mark.parametrize(("tag", "says"), [("composite", "is not read"), ("flexcomp", "soft")])
def test_what_is_no_rigid_body_is_said(tag: str, says: str, tmp_path: Path) -> None:
    imported = import_robot(write(tmp_path, HUB % f'<{tag} type="grid" count="3 1 1" spacing="1 1 1"/>'))
    assert [b.name for b in imported.mechanism.bodies] == ["hub"]
    assert any("body 'hub'" in w and says in w for w in imported.warnings)
    with pytest.raises(FormatError, match=f"no <body> beside its <{tag}>"):
        import_robot(write(tmp_path, f'<{tag} type="grid" count="3 1 1" spacing="1 1 1"/>'))
