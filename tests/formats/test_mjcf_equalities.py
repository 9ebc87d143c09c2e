"""MJCF's equalities: joints that close loops, and couplings, as open as MuJoCo says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from robik.formats import import_robot, load_robot
from robik.kinematics.mobility import inspect
from robik.mechanism.pose import matrix_quaternion
from tests.formats.mjcf_text import FOURBAR, LUMP, write
from tests.formats.mujoco_judge import Judge, as_stored, compare_with_mujoco

EQUALITIES = {
    "connect": '<connect name="e" body1="b" body2="d" anchor="0.1 0.2 0.3"/>',
    "connect to the world": '<connect body1="b" anchor="0.1 0.2 0.3"/>',
    "connect sites": '<connect site1="p" site2="q"/>',
    "weld": '<weld body1="b" body2="d" anchor="0.1 0.2 0.3"/>',
    "weld by relpose": '<weld body1="b" body2="d" relpose="0.3 0.1 0.2 0.9 0.1 0 0.3" anchor="0.05 0.06 0.07"/>',
    "weld sites": '<weld site1="p" site2="q"/>',
    "weld a point": '<weld body1="b" body2="d" anchor="0.1 0.2 0.3" torquescale="0"/>',
    "joint": '<joint joint1="h" joint2="k"/>',
    "polynomial": '<joint joint1="h" joint2="s" polycoef="0.1 0.5 -0.3 0.2 0.7"/>',
    "inactive": '<connect body1="b" body2="d" anchor="0.1 0.2 0.3" active="false"/>',
}


@pytest.mark.parametrize("equality", EQUALITIES)
def test_equalities_are_open_by_what_mujoco_says(equality: str, tmp_path: Path) -> None:
    bodies = f"""<body name="a" pos="1 0 0.2" euler="0 20 0"><joint name="h" axis="0 1 0" ref="30"/>{LUMP}
        <body name="b" pos="0 0 1"><joint name="k" ref="-20"/>{LUMP}<site name="p" pos="0.1 0.3 0"
          euler="10 0 0"/></body></body>
        <body name="c"><joint name="s" type="slide" axis="1 0 1" ref="0.4"/>{LUMP}
        <body name="d" pos="0 0 1"><joint name="l" axis="1 0 0"/>{LUMP}<site name="q" pos="0.2 0 0"/></body></body>"""
    path = write(tmp_path, bodies, f"<equality>{EQUALITIES[equality]}</equality>")
    compare_with_mujoco(path)
    robot, judge = as_stored(path), Judge(path)
    qpos = judge.random(np.random.default_rng(2))
    judge.place(qpos)
    now = robot.placed(judge.coordinates(qpos, robot))
    for joint in robot.closers:
        if joint.type == "fixed":  # MuJoCo's rows of a turn: its quaternion's vector, which is half the sine
            Ra, _, Rb, _ = robot.joint_frames(joint, now)
            assert np.linalg.norm(judge.open_by()[3:6]) == pytest.approx(
                np.linalg.norm(matrix_quaternion(Ra.T @ Rb)[1:]), abs=1e-9
            )


def connects(*anchors: str) -> str:
    each = "".join(
        f'<connect name="c{k}" body1="rod" body2="rocker" anchor="{anchor}"/>' for k, anchor in enumerate(anchors)
    )
    return f"<equality>{each}</equality>"


@pytest.mark.parametrize(
    ("anchors", "kind", "mobility"),
    [(["2 0 0"], "spherical", 1), (["2 -1 0", "2 1 0"], "revolute", 1), (["2 -1 0", "2 1 0", "2 3 0"], "revolute", 1),
     (["2 -1 0", "2 1 0", "2 0 1"], "fixed", 0), (["2 0 0", "2 0 0"], "spherical", 1)],
)  # fmt: skip
def test_connects_along_one_axis_are_a_hinge(anchors: list[str], kind: str, mobility: int, tmp_path: Path) -> None:
    imported = import_robot(write(tmp_path, FOURBAR, connects(*anchors)))
    [closer] = [j for j in imported.mechanism.joints if j.name.startswith("c0")]
    assert closer.type == kind
    assert inspect(imported.mechanism).mobility == mobility
    if kind == "revolute":
        assert np.allclose(np.abs(closer.axis), [0, 1, 0])
        assert any("one revolute joint" in line for line in imported.report)


def test_connects_by_sites_that_do_not_fit_stay_apart(tmp_path: Path) -> None:
    bodies = FOURBAR
    for joint, a, b, offset in (("b", "p1", "p2", 0.5), ("c", "q1", "q2", 0.6)):
        whole = f'<joint name="{joint}" axis="0 1 0"/>'
        bodies = bodies.replace(whole, f'{whole}<site name="{a}"/><site name="{b}" pos="0 {offset} 0"/>')
    both = '<equality><connect site1="p1" site2="q1"/><connect site1="p2" site2="q2"/></equality>'
    assert [j.type for j in as_stored(write(tmp_path, bodies, both)).closers] == ["spherical", "spherical"]


def test_a_tendon_over_coupled_joints_has_its_motor_on_the_one_that_leads(tmp_path: Path) -> None:
    tendon = '<tendon><fixed name="t"><joint joint="a" coef="0.5"/><joint joint="c" coef="0.5"/></fixed></tendon>'
    drive = '<actuator><motor name="m" tendon="t" forcerange="-4 4"/></actuator>'
    coupled = import_robot(
        write(tmp_path, FOURBAR, f'{tendon}{drive}<equality><joint joint1="a" joint2="c"/></equality>')
    )
    [motor] = coupled.mechanism.actuated
    assert (motor.name, motor.effort_limit) == ("c", 4.0)
    assert not coupled.warnings
    alone = import_robot(write(tmp_path, FOURBAR, tendon + drive))
    assert alone.mechanism.actuators == ("a",)
    assert any("moves a, c together" in warning for warning in alone.warnings)


THREE = "".join(f'<body name="{n}" pos="{k} 0 0"><joint name="{n}" axis="0 1 0" ref="{r}"/>{LUMP}</body>'
                for k, (n, r) in enumerate((("h", 0), ("k", 0.3), ("l", -0.2))))  # fmt: skip
HOLD = '<joint joint1="h" polycoef="0.2 0 0 0 0"/>'


@pytest.mark.parametrize(
    ("equalities", "free"),
    [('<joint joint1="k" joint2="h" polycoef="0 2 0 0 0"/>', ["l"]),
     ('<joint joint1="k" joint2="h" polycoef="0.1 2 -3 4 5"/>', ["l"]),
     ('<joint joint1="h" joint2="k" polycoef="0.1 2 0 0 0"/>', ["l"]),
     ('<joint joint1="k" joint2="h"/><joint joint1="l" joint2="k"/>', []),
     ('<joint joint1="l" joint2="k" polycoef="0 1 1 0 0"/><joint joint1="h" joint2="k" polycoef="0 -1 0 0 0"/>', [])],
)  # fmt: skip
def test_what_is_coupled_to_a_held_joint_is_held_too(equalities: str, free: list[str], tmp_path: Path) -> None:
    path = write(tmp_path, THREE, f"<equality>{equalities}{HOLD}</equality>", 'angle="radian"')
    imported, judge = import_robot(path), Judge(path)
    assert [j.name for j in imported.mechanism.joints if j.motions] == free
    assert not imported.warnings
    position, rotation = judge.place(settled(judge))
    assert np.allclose([b.pose.position for b in imported.mechanism.bodies], position, atol=1e-9)
    assert np.allclose([b.pose.matrix for b in imported.mechanism.bodies], rotation, atol=1e-9)


def settled(judge: Judge) -> np.ndarray:
    """Coordinates (nq,) where no equality is open, by Newton steps of MuJoCo's own Jacobian."""
    qpos = judge.model.qpos0.copy()
    for _ in range(20):
        judge.place(qpos)
        rows = judge.data.efc_J.reshape(-1, judge.model.nv)[: judge.data.ne]
        qpos = qpos - np.linalg.lstsq(rows, judge.open_by(), rcond=None)[0]
    assert np.abs(judge.open_by()).max() < 1e-12
    return qpos


@pytest.mark.parametrize(
    ("more", "said"),
    [('<joint name="bend" joint1="h" joint2="k" polycoef="0 0 1 0 0"/>',
      "coupling 'bend': its first joint is held, which leaves"),
     ('<joint joint1="k" joint2="h"/><joint name="no" joint1="k" joint2="h" polycoef="1 1 0 0 0"/>',
      "coupling 'no': it wants joint 'k'"),
     ('<joint name="again" joint1="h" polycoef="0.3 0 0 0 0"/>',
      "joint 'again': another equality before it holds joint 'h'")],
)  # fmt: skip
def test_what_a_held_joint_leaves_open_or_contradicts_is_told(more: str, said: str, tmp_path: Path) -> None:
    imported = import_robot(write(tmp_path, THREE, f"<equality>{HOLD}{more}</equality>", 'angle="radian"'))
    assert {j.name: j.type for j in imported.mechanism.joints}["h"] == "fixed"
    assert any(said in warning for warning in imported.warnings), imported.warnings


def test_a_motor_on_a_held_joint_is_left_out_with_a_warning(tmp_path: Path) -> None:
    h, k = '<joint joint="h" coef="1"/>', '<joint joint="k" coef="1"/>'
    tendons = f'<fixed name="both">{h}{k}</fixed><fixed name="one">{h}</fixed>'
    drives = '<motor name="m" joint="h"/><motor name="n" tendon="both"/><motor name="o" tendon="one"/>'
    rest = f"<equality>{HOLD}</equality><tendon>{tendons}</tendon><actuator>{drives}</actuator>"
    imported = import_robot(write(tmp_path, THREE, rest))
    assert imported.mechanism.actuators == ("k",)
    assert any("joint 'h': it is held still, so its motor was left out" in warning for warning in imported.warnings)
    assert any("actuator 'o': its tendon pulls only joints" in warning for warning in imported.warnings)


def test_a_joint_that_an_attached_model_holds_can_be_coupled(tmp_path: Path) -> None:
    part = (
        '<mujoco><worldbody><body name="a"><joint name="h" axis="0 1'
        f' 0"/>{LUMP}</body></worldbody><equality>{HOLD}</equality></mujoco>'
    )
    (tmp_path / "part.xml").write_text(part)
    body = f'<body name="o"><joint name="o" axis="0 1 0"/>{LUMP}<attach model="p" body="a" prefix="l_"/></body>'
    coupled = '<equality><joint joint1="o" joint2="l_h" polycoef="0.1 2 0 0 0"/></equality>'
    path = write(tmp_path, body, f'<asset><model name="p" file="part.xml"/></asset>{coupled}', 'angle="radian"')
    robot, judge = load_robot(path), Judge(path)
    assert [j.type for j in robot.joints] == ["fixed", "fixed"]
    position, _ = judge.place(settled(judge))
    assert np.allclose([b.pose.position for b in robot.bodies], position, atol=1e-9)
