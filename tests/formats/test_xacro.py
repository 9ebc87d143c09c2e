"""Robots in xacro: macros and properties as the package expands them, and nothing that reaches out of the robot's
folder."""

from __future__ import annotations

import os
from math import pi, sqrt
from pathlib import Path

import pytest

from robik.errors import FormatError
from robik.formats import import_robot, load_robot
from robik.formats.options import packages_nearby
from robik.formats.urdf.expressions import FUNCTIONS, MATHEMATICS, Namespace, evaluate
from robik.mechanism import Mechanism
from tests.formats import fuzz

NAMES = {
    **FUNCTIONS,
    "math": Namespace(MATHEMATICS),
    "x": 3,
    "word": "left_arm",
    "row": [1, 2, 3],
    "table": {"mass": 2.5, "at": {"z": 1}},
}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("x + 2 * 3", 9), ("-x ** 2", -9), ("7 // 2 + 7 % 2 + 7 / 2", 7.5), ("math.pi / 2", pi / 2),
        ("math.sqrt(x)", sqrt(3)),
        ("'a' if x > 2 and not x == 4 else 'b'", "a"), ("1 < x <= 3", True), ("x in row", True), ("table.at.z", 1),
        ("table['mass']", 2.5),
        ("row[1:]", [2, 3]), ("word.split('_')[0].upper()", "LEFT"), ("'L' + str(x)", "L3"), ("sum(range(4))", 6),
        ("max(row)", 3),
        ("len(dict(a=1))", 1), ("table.get('none', 7)", 7), ("x or y", 3), ("False and y", False),
        ("None is None", True),
        ("word.replace('_', '-')", "left-arm"), ("{'a': 1}['a']", 1), ("round(2.6)", 3),
        ("'%.2f|%5d|%s%%' % (x / 7, x, word)", "0.43|    3|left_arm%"), ("'%s' % x", "3"), ("'%-4sx' % 'a'", "a   x"),
        ("[2 * c for c in row if c > 1]", [4, 6]), ("{k: len(str(v)) for k, v in table.items()}['mass']", 3),
        ("sum(a * b for a in row for b in row)", 36), ("len(set([1, 1, 2]))", 2), ("map(str, row)", ["1", "2", "3"]),
        ("isinstance(row, list)", True), ("[i for i, _ in enumerate(row)] + row", [0, 1, 2, 1, 2, 3]),
    ],
)  # fmt: skip
def test_expressions_are_computed_as_python_does(text: str, value: object) -> None:
    assert evaluate(text, NAMES) == value


@pytest.mark.parametrize(
    "text",
    [
        "().__class__", "x.__class__", "math.__loader__", "[c.__class__ for c in row]", "[c for c in 3]",
        "[c for x.a in row]", "map(range, [90000] * 90000)",
        "[[0] * 9999 for c in range(9999)]", "[c for c in range(90000) for c in range(90000) if False]",
        "(lambda: 1)()",
        "(n for n in row).gi_frame",
        "word.format(x)",
        "'{0.__class__}'.format(x)", "'%s' % row", "'%s' % table", "'%(mass)s' % table", "'%999999999f' % x",
        "'%.999999999f' % x",
        "'%*d' % (10 ** 9, x)", "'%s %s' % x", "'%d' % word", "'%' % x", "'%r' % word", "'%d' % 10 ** 9000",
        "('%99s' * 9000) % ((x,) * 9000)",
        "open('/etc/passwd')", "__import__('os')", "eval('1')", "9 ** 9 ** 9", "'a' * 10 ** 9",
        "[0] * 10 ** 9", "range(10 ** 12)", "f'{x}'", "b'x'", "x := 2", "math.factorial(9)", "row.append(1)",
        "row.sort()", "max(*row)",
        "dict(**table)",
        "y", "1 / 0", "1 +", "table.none", "x()", "type(x)", "getattr(x, 'real')", "word.encode()", "10 ** 400 * 1.0",
        "~x",
        "1 << 99999999",
        "word.replace('', 'a' * 90000).replace('', 'a' * 90000)", "x.real", "[0][99]", "0x" + "f" * 9000000,
        "(" * 5000 + ")" * 5000,
    ],
)  # fmt: skip
def test_expressions_that_mean_no_good_are_refused(text: str) -> None:
    with pytest.raises(FormatError) as raised:
        evaluate(text, NAMES)
    assert "\n" not in str(raised.value)


def xacro(inner: str) -> str:
    return f'<?xml version="1.0"?><robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">{inner}</robot>'


ARM = """
<xacro:arg name="length" default="0.5"/>
<xacro:property name="half" value="${float(xacro.arg('length')) / 2}"/>
<xacro:property name="sides" value="${['left', 'right']}"/>
<xacro:include filename="parts.xacro"/>
<link name="base"/>
<xacro:finger side="${sides[0]}" reflect="1"/>
<xacro:finger side="${sides[1]}" reflect="-1"/>
<xacro:if value="${half > 1}"><link name="never"/></xacro:if>
"""
PARTS = """
<xacro:macro name="finger" params="side reflect:=1">
  <link name="${side}_finger"><inertial><mass value="${config['mass'] * 2}"/></inertial></link>
  <joint name="${side}_joint" type="revolute">
    <parent link="base"/><child link="${side}_finger"/>
    <origin xyz="0 ${reflect * half} 0"/><axis xyz="0 0 1"/><limit lower="${-pi/2}" upper="${radians(90)}" velocity="1"
      effort="1"/>
  </joint>
</xacro:macro>
<xacro:property name="config" value="${load_yaml('config.yaml')}"/>
"""


def write(folder: Path, text: str, name: str = "robot.urdf.xacro") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_macros_properties_includes_and_yaml_make_a_robot(tmp_path: Path) -> None:
    write(tmp_path, xacro(PARTS), "parts.xacro")
    write(tmp_path, "mass: 0.25\nreach: !degrees 90\n", "config.yaml")
    robot = load_robot(write(tmp_path, xacro(ARM)))
    assert robot.name == "r"
    assert [b.name for b in robot.bodies] == ["base", "left_finger", "right_finger"]
    assert robot.bodies[1].mass == 0.5
    assert [j.position[1] for j in robot.joints[1:]] == [0.25, -0.25]
    assert robot.joints[1].limits == ((-pi / 2, pi / 2),)


def test_packages_are_found_where_the_user_says(tmp_path: Path) -> None:
    write(tmp_path, "<package><name>arm_description</name></package>", "ros/arm/package.xml")
    write(
        tmp_path,
        xacro('<xacro:macro name="one" params="name"><link name="${name}"/></xacro:macro>'),
        "ros/arm/urdf/one.xacro",
    )
    text = xacro('<xacro:include filename="$(find arm_description)/urdf/one.xacro"/><xacro:one name="a"/>')
    path = write(tmp_path, text, "elsewhere/robot.xacro")
    assert import_robot(path, [tmp_path / "ros" / "arm"]).mechanism.bodies[0].name == "a"
    with pytest.raises(FormatError, match="package 'arm_description' is not here"):
        load_robot(path)


def test_packages_that_only_plugins_name_need_not_be_here(tmp_path: Path) -> None:
    mesh = '<visual><geometry><mesh filename="file://$(find arm_meshes)/a.stl"/></geometry></visual>'
    plugin = "<plugin><parameters>$(find arm_bringup)/a.yaml</parameters></plugin>"
    text = xacro(f'<link name="a">{mesh}</link><gazebo>{plugin}</gazebo>')
    imported = import_robot(write(tmp_path, text, "robot.xacro"))
    assert imported.mechanism.bodies[0].name == "a"
    left_out = [note for note in imported.warnings if "is not here" in note]
    assert len(left_out) == 2, imported.warnings
    (tmp_path / "arm_meshes").mkdir()
    assert packages_nearby(tmp_path / "robot.xacro") == ()  # the file's own folder is read anyhow
    (tmp_path / "deep").mkdir()
    moved = write(tmp_path, text, "deep/robot.xacro")
    assert packages_nearby(moved) == (tmp_path / "arm_meshes",)


def test_a_follower_of_a_motor_is_none(tmp_path: Path) -> None:
    """Gazebo wants a transmission for what mimics, too."""
    joints = "".join(
        f'<joint name="{n}" type="continuous"><parent link="a"/><child link="{c}"/>{mimic}</joint>'
        for n, c, mimic in (("one", "b", ""), ("two", "c", '<mimic joint="one" multiplier="-1"/>'))
    )
    driven = "".join(f'<transmission name="{n}t"><joint name="{n}"/></transmission>' for n in ("one", "two"))
    links = "".join(f'<link name="{n}"/>' for n in "abc")
    assert load_robot(write(tmp_path, xacro(links + joints + driven))).actuators == ("one",)
    alone = driven.replace('<transmission name="onet"><joint name="one"/></transmission>', "")
    assert load_robot(write(tmp_path, xacro(links + joints + alone))).actuators == ("two",)


def test_ros2_control_names_the_motors(tmp_path: Path) -> None:
    links = "".join(f'<link name="{n}"/>' for n in "abc")
    ends = (("one", "a", "b"), ("two", "b", "c"))
    joints = "".join(
        f'<joint name="{n}" type="continuous"><parent link="{p}"/><child link="{c}"/></joint>' for n, p, c in ends
    )
    control = '<ros2_control name="x" type="system"><joint name="one"><state_interface name="position"/></joint>'
    control += '<joint name="two"><command_interface name="position"/></joint></ros2_control>'
    assert load_robot(write(tmp_path, xacro(links + joints + control))).actuators == ("two",)


DOUBLE = "".join(f'<xacro:macro name="m{i}"><xacro:m{i + 1}/><xacro:m{i + 1}/></xacro:macro>' for i in range(40))
LONG = '<xacro:property name="p0" value="aaaaaaaaaa"/>' + "".join(
    f'<xacro:property name="p{i + 1}" value="${{p{i}}}${{p{i}}}"/>' for i in range(40)
)
YAML = {
    "bomb.yaml": "a0: &a0 [x]\n" + "".join(f"a{i + 1}: &a{i + 1} [{', '.join([f'*a{i}'] * 9)}]\n" for i in range(12)),
    "ring.yaml": "&a [*a]",
    "deep.yaml": "[" * 20_000,
    "python.yaml": "!!python/object/apply:os.system ['true']",
}


@pytest.mark.parametrize(
    ("inner", "says"),
    [
        ('<link name="${().__class__.__base__.__subclasses__()}"/>', "must not reach for"),
        ('<link name="${[c for c in ().__class__.__base__.__subclasses__()]}"/>', "must not reach"),
        ('<link name="${(g.gi_frame.f_back for g in [1])}"/>', "must not reach"),
        ("<link name=\"${open('/etc/passwd')}\"/>", "open"),
        ("<link name=\"${load_yaml('/etc/passwd')}\"/>", "leads out"),
        ("<link name=\"${load_yaml('../secret.yaml')}\"/>", "leads out"),
        ('<xacro:include filename="../secret.xacro"/>', "leads out"),
        ('<xacro:include filename="/etc/passwd"/>', "leads out"),
        ('<xacro:include filename="/etc/*"/>', "by their names only"),
        ('<xacro:include filename="https://example.com/a.xacro"/>', "no file|not a file"),
        ('<xacro:include filename="//host/a.xacro"/>', "another computer"),
        ('<xacro:include filename="none.xacro"/>', "no file"),
        ('<link name="$(env HOME)"/>', "not computed"),
        ('<xacro:include filename="$(find rclpy)/a.xacro"/>', "package 'rclpy' is not here"),
        ('<link name="$(arg none)"/>', "argument 'none' has no default; give"),
        ("<link name=\"${xacro.arg('none')}\"/>", "argument 'none' has no default; give"),
        ('<xacro:arg name="none"/>', "argument 'none' has no default; give it at import, or import the URDF"),
        ('<xacro:arg default="none"/>', "missing attribute 'name'"),
        ('<link name="$(eval __import__(1))"/>', "name '__import__'|import"),
        ('<link name="${9**9**9}"/>', "too many digits"),
        ('<xacro:macro name="m"><xacro:m/></xacro:macro><xacro:m/>', "deeply|called more than"),
        (DOUBLE + '<xacro:macro name="m40"/><xacro:m0/>', "called more than"),
        (LONG + '<link name="${p40}"/>', "longer than|more than"),
        (
            '<xacro:property name="a" value="${b}"/><xacro:property name="b" value="${a}"/><link name="${a}"/>',
            "circular",
        ),
        ('<xacro:property name="a" value="${[0]*50000}"/><link name="${[a]*50000}"/>', "more than 100000 elements"),
        ("<link name=\"${['a'*50000]*50000}\"/>", "more than 100000 elements"),
        ('<link name="${len(sum([[0]]*40000, []))}"/>', "only numbers"),
        ('<link name="${round(5, -10**9)}"/>', "too many digits"),
        ("<link name=\"${load_yaml('bomb.yaml')}\"/>", "more than 100000 elements"),
        ("<link name=\"${load_yaml('ring.yaml')}\"/>", "more than 100000 elements"),
        ("<link name=\"${load_yaml('deep.yaml')}\"/>", "not YAML|nested"),
        ("<link name=\"${load_yaml('python.yaml')}\"/>", "could not determine"),
        ("<link name=\"${load_yaml('link.yaml')}\"/>", "leads out"),
        ('<xacro:property name="p" value="../"/><xacro:include filename="${p}secret.xacro"/>', "leads out"),
        ('<xacro:include filename="$(find ..)/secret.xacro"/>', "is not here|leads out"),
        ('<xacro:include filename="../secret.xacro" optional="true"/>', "leads out"),
        ("<xacro:unknown/>", "unknown macro"),
        ('<xacro:include filename="robot.urdf.xacro"/>', "more than 50 deep"),
    ],
)
def test_what_reaches_out_or_never_ends_is_refused(inner: str, says: str, tmp_path: Path) -> None:
    write(tmp_path, "a: 1", "secret.yaml")
    write(tmp_path, xacro('<link name="a"/>'), "secret.xacro")
    path = write(tmp_path / "robot", xacro(inner))
    for name, text in YAML.items():
        write(tmp_path / "robot", text, name)
    (tmp_path / "robot" / "link.yaml").symlink_to("../secret.yaml")
    with pytest.raises(FormatError, match=says) as raised:
        load_robot(path)
    assert str(raised.value).startswith(f"{path}: ")
    assert "\n" not in str(raised.value)


def test_evaluated_text_names_the_arguments(tmp_path: Path) -> None:
    arguments = {"n": "3", "x": "0.5", "yes": "True", "word": "arm", "pi": "1", "e9": "1e9"}
    text = "".join(f'<xacro:arg name="{name}" default="{value}"/>' for name, value in arguments.items())
    name = "|".join(f"$(eval {said})" for said in ("n + 1", "x * 2", "not yes", "word + '_b'", "pi > 3", "e9", "true"))
    [link] = load_robot(write(tmp_path, xacro(text + f'<link name="{name}"/>'))).bodies
    assert link.name == "4|1.0|False|arm_b|True|1e9|True"


def test_arguments_are_given_at_import(tmp_path: Path) -> None:
    inner = '<xacro:arg name="kind"/><xacro:arg name="length" default="${1 / 2}"/>'
    file = write(tmp_path, xacro(inner + '<link name="$(arg kind) $(arg length) $(arg made) $(eval own)"/>'))
    given = {"kind": "ur ten", "made": "here", "own": "3"}
    assert [body.name for body in import_robot(file, arguments=given).mechanism.bodies] == ["ur ten 0.5 here 3"]
    assert [body.name for body in import_robot(file, arguments=given | {"length": "2"}).mechanism.bodies] == [
        "ur ten 2 here 3"
    ]
    with pytest.raises(FormatError, match="has no argument 'knd'; it has kind, length, made"):
        import_robot(file, arguments=given | {"knd": "x"})
    plain = write(tmp_path, '<robot name="r"><link name="a"/></robot>', "plain.urdf")
    with pytest.raises(
        FormatError, match=r"plain\.urdf: it cannot be given arguments \(kind\); only xacro files have some"
    ):
        import_robot(plain, arguments={"kind": "x"})


def test_entities_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path, '<!DOCTYPE robot [<!ENTITY a "aaaa">]>' + xacro('<link name="&a;"/>').partition("?>")[2])
    with pytest.raises(FormatError, match="DOCTYPE"):
        load_robot(path)


def test_the_environment_is_not_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "SECRET", "x")
    assert load_robot(write(tmp_path, xacro('<link name="$(optenv SECRET plain)"/>'))).bodies[0].name == "plain"


def test_another_version_of_the_package_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.version", lambda _: "9.9")
    with pytest.raises(FormatError, match="pip install xacro=="):
        load_robot(write(tmp_path, xacro('<link name="a"/>')))


@pytest.mark.parametrize("seed", range(5))
def test_mutated_files_end_in_a_robot_or_in_a_sentence(seed: int, tmp_path: Path) -> None:
    write(tmp_path, "mass: 0.25\n", "config.yaml")
    text = xacro(PARTS + ARM.replace('<xacro:include filename="parts.xacro"/>', ""))
    words = [
        "${half}",
        "${side}",
        "$(arg length)",
        "${",
        "}",
        "${1/0}",
        "${config}",
        "xacro:finger",
        "${sides}",
        "$(find x)",
        "${().a}",
    ]
    outcomes = fuzz.import_mutants(tmp_path / "robot.xacro", [text], seed, fuzz.CASES // 5, words)
    assert {Mechanism, FormatError} <= set(outcomes)


def test_xacro_under_a_urdf_s_name_is_expanded(tmp_path: Path) -> None:
    text = xacro('<xacro:arg name="n" default="a"/><link name="$(arg n)"/>')
    path = write(tmp_path, text, "robot.urdf")
    assert load_robot(path).bodies[0].name == "a"
    assert load_robot(path, arguments={"n": "b"}).bodies[0].name == "b"
