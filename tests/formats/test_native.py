"""The native robot format: no number changes, and whatever is wrong is said in one sentence."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from itertools import pairwise
from math import inf, pi
from pathlib import Path

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import robik.formats
from robik import robots
from robik.errors import FormatError, RobikError
from robik.formats import import_robot, load_robot, save_robot
from robik.formats.imported import Imported, described
from robik.mechanism import JOINT_TYPES, WORLD, Body, Coupling, Frame, Joint, Mechanism, Pose, Resistance, Visual
from robik.mechanism.joints import MOTIONS, TURNS

SCHEMA = json.loads((Path(robik.formats.__file__).parent / "robik.schema.json").read_text())
IN_PLACE = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def crane() -> Mechanism:
    """Something of everything that a file can say."""
    third = 1 / 3
    hook = Visual(
        "mesh",
        (0.001, 0.001, -0.001),
        pose=Pose((0.1, 0.2, third)),
        color=(0.1, 0.2, third, 0.5),
        file="parts/hook.stl",
    )
    ranges = ((-inf, 0.5), (-third, inf))
    return Mechanism(
        "crane",
        (
            Body("stand", 12.5, visuals=(Visual("box", (0.1, 0.2, third)), Visual("sphere", (pi,)))),
            Body(
                "boom",
                third,
                com=(0.1, -0.0, 1e-300),
                inertia=(1, 2, third, -0.1, 0.2, -0.3),
                pose=Pose((1, 2, pi), (0.6, 0.0, 0.8, 0.0)),
                visuals=(hook,),
            ),
            Body("weight"),
        ),
        (
            Joint("mount", "fixed", WORLD, "stand"),
            Joint(
                "slew",
                "cylindrical",
                "stand",
                "boom",
                position=(1, 2, 3),
                axis=(1, 1, 1),
                axis2=(0, 1, 0.3),
                actuated=True,
                limits=ranges,
                velocity_limit=5.2,
                rest=(0, 0.1),
            ),
            Joint(
                "rope",
                "general",
                "boom",
                "weight",
                motions=("tz", "rx"),
                limits=((0, 1), (-pi, pi)),
                effort_limit=third,
                resistance=Resistance(third, 0.2, 1e-300, 5.0, -pi),
            ),
        ),
        frames=(
            Frame("sole", "weight", Pose((0, 0, -0.1)), ((0, 0, 0), (1, 0, 0), (0, 1, third))),
            Frame("tip", "boom"),
        ),
        couplings=(Coupling("gear", "rope.tz", "slew.tx", (0.25, third)),),
    )


def test_no_name_is_no_file() -> None:
    for name in ("", Path()):
        with pytest.raises(FormatError, match=r"^no robot file is named; these can be read: \*\.robik\.json, \*\.urdf"):
            load_robot(name)


def test_everything_survives_to_the_last_bit(tmp_path: Path) -> None:
    robot, file = crane(), tmp_path / "crane.robik.json"
    save_robot(robot, file)
    jsonschema.validate(json.loads(file.read_text()), SCHEMA)
    loaded = load_robot(file)
    assert repr(loaded) == repr(robot)  # repr tells -0.0 from 0.0
    text = file.read_text()
    save_robot(loaded, file)
    assert file.read_text() == text


finite = st.floats(-1e6, 1e6)
vectors = st.tuples(finite, finite, finite)
directions = vectors.filter(lambda v: sum(x * x for x in v) > 1e-6)
names = st.text(min_size=1, max_size=8).filter(lambda s: s != WORLD)
bounds = st.tuples(st.floats(max_value=0, allow_nan=False), st.floats(min_value=0, allow_nan=False))


@st.composite
def poses(draw: st.DrawFn) -> Pose:
    q = draw(st.tuples(finite, finite, finite, finite))
    length = sum(x * x for x in q) ** 0.5
    return Pose(draw(vectors), (1, 0, 0, 0) if length < 1e-6 else tuple(x / length for x in q))


@st.composite
def joints(draw: st.DrawFn, name: str, parent: str, child: str) -> Joint:
    kind = draw(st.sampled_from(sorted(JOINT_TYPES)))
    chosen = draw(st.sets(st.sampled_from(MOTIONS))) if kind == "general" else ()
    motions = tuple(m for m in MOTIONS if m in chosen)
    free = motions if kind == "general" else JOINT_TYPES[kind].motions or ()
    count, is_ball = len(free), set(TURNS) <= set(free)
    limits = st.tuples(*[st.just((-inf, inf)) if is_ball and motion in TURNS else bounds for motion in free])
    return Joint(
        name,
        kind,
        parent,
        child,
        position=draw(vectors),
        axis=draw(directions),
        actuated=count > 0 and draw(st.booleans()),
        limits=draw(st.just(()) | limits),
        velocity_limit=draw(st.floats(min_value=1e-300)),
        resistance=Resistance(*draw(st.tuples(*[st.floats(0, 1e6)] * 4)), draw(finite)),
        motions=motions,
    )


@st.composite
def mechanisms(draw: st.DrawFn) -> Mechanism:
    called = draw(st.lists(names, min_size=1, max_size=5, unique=True))
    bodies = tuple(
        Body(n, draw(st.floats(0, 1e9)), com=draw(vectors), inertia=draw(st.tuples(*[finite] * 6)), pose=draw(poses()))
        for n in called
    )
    chain = [WORLD, *called]
    tied = tuple(draw(joints(f"{k} {c}", p, c)) for k, (p, c) in enumerate(pairwise(chain)))
    return Mechanism(draw(names), bodies, tied)


@IN_PLACE
@given(robot=mechanisms())
def test_any_robot_survives(robot: Mechanism, tmp_path: Path) -> None:
    file = tmp_path / "any.robik.json"
    save_robot(robot, file)
    jsonschema.validate(json.loads(file.read_text(encoding="utf-8")), SCHEMA)
    assert repr(load_robot(file)) == repr(robot)


def written(tmp_path: Path, change: object = None, text: str | None = None) -> Path:
    """The crane's file, after `change` has been at its content, or any text."""
    file = tmp_path / "bad.robik.json"
    save_robot(crane(), file)
    if text is None:
        content = json.loads(file.read_text())
        change(content)  # type: ignore[operator]
        text = json.dumps(content)
    file.write_text(text, encoding="utf-8")
    return file


def put(*path: object) -> object:
    """A change that sets what lies at path[:-1] to path[-1]."""

    def change(content: object) -> None:
        for step in path[:-2]:
            content = content[step]  # type: ignore[index]
        content[path[-2]] = path[-1]  # type: ignore[index]

    return change


def drop(*path: object) -> object:
    def change(content: object) -> None:
        for step in path[:-1]:
            content = content[step]  # type: ignore[index]
        del content[path[-1]]  # type: ignore[attr-defined]

    return change


BAD = {
    "unknown body": (put("joints", 1, "child", "bom"), ["joint 'slew'", "unknown body 'bom'", "boom, stand, weight"]),
    "frame's body": (put("frames", 1, "body", "x"), ["frame 'tip'", "unknown body 'x'"]),
    "negative mass": (put("bodies", 0, "mass", -1), ["body 'stand'", "mass", "zero or more", "-1"]),
    "mass of text": (put("bodies", 0, "mass", "heavy"), ["body 'stand'", "mass", "must be a number", '"heavy"']),
    "mass of true": (put("bodies", 0, "mass", True), ["body 'stand'", "mass", "must be a number", "true"]),
    "NaN": (put("bodies", 1, "com", 0, float("nan")), ["body 'boom'", "com", "finite", "NaN"]),
    "huge": (put("bodies", 1, "com", 0, 10**400), ["body 'boom'", "com", "finite"]),
    "zero axis": (put("joints", 0, "axis", [0, 0, 0]), ["joint 'mount'", "axis must not be zero", "[0, 0, 1]"]),
    "parallel axes": (put("joints", 1, "axis2", [2, 2, 2]), ["joint 'slew'", "axis2", "parallel"]),
    "two joints": (put("joints", 1, "name", "mount"), ["two of one name", "joint 'mount'"]),
    "body and frame": (put("frames", 1, "name", "boom"), ["two of one name", "'boom'"]),
    "body called world": (put("bodies", 0, "name", "world"), ["'world'", "ground"]),
    "nameless": (drop("bodies", 2, "name"), ["body 3", "'name' is missing"]),
    "typeless": (drop("joints", 1, "type"), ["joint 'slew'", "'type' is missing"]),
    "no bodies": (drop("bodies"), ["'bodies' is missing"]),
    "empty": (lambda c: c.update(bodies=[], joints=[], frames=[], couplings=[]), ["crane", "no bodies"]),
    "joint type": (put("joints", 1, "type", "hinge"), ["joint 'slew'", "unknown type 'hinge'", "revolute"]),
    "typo": (
        lambda c: c["joints"][1].update(axsi=[0, 0, 1]),
        ["joint 'slew'", "unknown key 'axsi'", "did you mean 'axis'"],
    ),
    "typo at the top": (lambda c: c.update(joint=[]), ["unknown key 'joint'", "did you mean 'joints'"]),
    "strange key": (lambda c: c["bodies"][0].update(zzzz=1), ["body 'stand'", "unknown key 'zzzz'", "name, mass, com"]),
    "limits": (put("joints", 1, "limits", [[1, -1], [0, 1]]), ["joint 'slew'", "limits", "low to high"]),
    "half a limit": (put("joints", 1, "limits", [[1], [0, 1]]), ["joint 'slew'", "limits", "[low, high]"]),
    "too few limits": (put("joints", 1, "limits", [[-1, 1]]), ["joint 'slew'", "limits", "2 entries", "tx, rx"]),
    "rest": (put("joints", 1, "rest", [0, 9e9, 1]), ["joint 'slew'", "rest", "2 entries"]),
    "rest outside": (put("joints", 1, "rest", [0.7, 0]), ["joint 'slew'", "0.7", "outside its limits"]),
    "velocity": (put("joints", 1, "velocity_limit", 0), ["joint 'slew'", "velocity_limit", "positive"]),
    "two numbers": (put("joints", 1, "position", [0, 1]), ["joint 'slew'", "position", "3 entries", "2"]),
    "an object": (put("joints", 1, "position", {}), ["joint 'slew'", "position", "list of 3"]),
    "quaternion": (put("bodies", 1, "pose", "quaternion", [1, 1, 0, 0]), ["body 'boom'", "pose", "unit quaternion"]),
    "shape": (put("bodies", 0, "visuals", 1, "shape", "cone"), ["body 'stand'", "visual 2", "box, cylinder", "'cone'"]),
    "color": (put("bodies", 1, "visuals", 0, "color", [255, 0, 0, 1]), ["body 'boom'", "visual 1", "from 0 to 1"]),
    "size": (put("bodies", 0, "visuals", 0, "size", [1]), ["body 'stand'", "visual 1", "box's size", "3"]),
    "sole": (put("frames", 0, "sole", [[0, 0, 0]]), ["frame 'sole'", "three points"]),
    "motions": (put("joints", 2, "motions", ["rx", "tz"]), ["joint 'rope'", "order"]),
    "coupling": (put("couplings", 0, "leader", "slew"), ["coupling 'gear'", "unknown coordinate 'slew'", "slew.tx"]),
    "loose": (lambda c: c["bodies"].append({"name": "moon"}), ["crane", "unconnected", "moon"]),
    "format": (put("format", "urdf"), ["not a RobIK robot", '"format": "robik"']),
    "newer": (put("version", 2), ["version is 2", '"version": 1', "update RobIK"]),
    "version of text": (put("version", "1"), ['version is "1"']),
    "bodies of text": (put("bodies", "many"), ["bodies", "list", '"many"']),
    "body of text": (put("bodies", 0, "stand"), ["body 1", "object", '"stand"']),
}


def test_a_colon_in_the_path_confuses_nobody(tmp_path: Path) -> None:
    folder = tmp_path / "a: joint 'slew'"
    folder.mkdir()
    file = written(folder, BAD["zero axis"][0])
    with pytest.raises(FormatError) as error:
        load_robot(file)
    assert str(error.value).startswith(f"{file}: joint 'mount': its axis")


@pytest.mark.parametrize("name", BAD)
def test_errors_name_file_element_and_remedy(name: str, tmp_path: Path) -> None:
    change, said = BAD[name]
    file = written(tmp_path, change)
    with pytest.raises(FormatError) as error:
        load_robot(file)
    message = str(error.value)
    assert message.startswith(str(file))
    assert "\n" not in message
    assert len(message) < len(str(file)) + 250
    assert message.count("'slew'") <= 1, "the element is named once"
    for part in said:
        assert part in message, message


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{\n  "format": "robik",\n  "version" 1\n}', ["line 3"]),
        ("", ["it is empty"]),
        ("[]", ["must be an object"]),
        ("null", ["must be an object"]),
        ("{}", ["not a RobIK robot"]),
        ("[" * 100_000, ["nested"]),
        ('{"format": "robik", "version": ' + "9" * 5000 + "}", []),
    ],
)
def test_what_is_no_robot(text: str, said: list[str], tmp_path: Path) -> None:
    file = written(tmp_path, text=text)
    with pytest.raises(FormatError) as error:
        load_robot(file)
    assert str(error.value).startswith(str(file))
    for part in said:
        assert part in str(error.value)


def test_no_file_and_no_such_format(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="no such file"):
        load_robot(tmp_path / "none.robik.json")
    for call in (lambda: load_robot(tmp_path / "robot.dae"), lambda: save_robot(crane(), tmp_path / "robot.dae")):
        with pytest.raises(FormatError, match=r"robot\.dae.*\*\.robik\.json"):
            call()
    with pytest.raises(FormatError, match="cannot be written"):
        save_robot(crane(), tmp_path / "no" / "folder.robik.json")
    folder = tmp_path / "folder.robik.json"
    folder.mkdir()
    with pytest.raises(FormatError):
        load_robot(folder)


def test_loading_needs_no_schema_library() -> None:
    code = "import sys; sys.modules['jsonschema'] = None; from robik import robots; print(robots.load('boxer').name)"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2]
    )
    assert run.stdout.strip() == "boxer"


junk = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["world", "revolute", 10**400, -0.0]),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["name", "pose", "x"]), inner, max_size=2)
    ),
    max_leaves=6,
)


@st.composite
def mutants(draw: st.DrawFn, content: object) -> object:
    """A file's content with a few things in it replaced, dropped, repeated or swapped."""
    content = copy.deepcopy(content)
    for _ in range(draw(st.integers(1, 3))):
        node = content
        while node and isinstance(node, (dict, list)):
            key = draw(st.sampled_from(sorted(node)) if isinstance(node, dict) else st.integers(0, len(node) - 1))
            if draw(st.integers(0, 2)) == 0 or not isinstance(node[key], (dict, list)):
                kind = draw(st.sampled_from(["replace", "drop", "repeat", "rename"]))
                if kind == "drop":
                    del node[key]
                elif kind == "repeat" and isinstance(node, list):
                    node.append(copy.deepcopy(node[key]))
                elif kind == "rename" and isinstance(node, dict):
                    node[draw(st.text(max_size=6))] = node.pop(key)
                else:
                    node[key] = draw(junk)
                break
            node = node[key]
    return content


def ends_well(file: Path) -> None:
    said = ""
    try:
        robot = load_robot(file)
    except RobikError as error:
        said = str(error)
    if said:
        assert said.startswith(str(file))
        assert "\n" not in said
    else:
        save_robot(robot, file)
        assert repr(load_robot(file)) == repr(robot)


@IN_PLACE
@given(data=st.data())
def test_mutated_files_end_in_a_robot_or_one_sentence(data: st.DataObject, tmp_path: Path) -> None:
    file = tmp_path / "mutant.robik.json"
    save_robot(crane(), file)
    file.write_text(json.dumps(data.draw(mutants(json.loads(file.read_text())))), encoding="utf-8")
    ends_well(file)


@IN_PLACE
@given(at=st.floats(0, 1), noise=st.binary(max_size=6), cut=st.integers(0, 30))
def test_damaged_bytes_end_in_a_robot_or_one_sentence(at: float, noise: bytes, cut: int, tmp_path: Path) -> None:
    file = tmp_path / "damaged.robik.json"
    whole = robots.path("boxer").read_bytes()
    place = int(at * len(whole))
    file.write_bytes(whole[:place] + noise + whole[place + cut :])
    ends_well(file)


def test_schema_refuses_what_loading_refuses_by_form(tmp_path: Path) -> None:
    """What needs no knowledge of the rest of the file."""
    fields = (
        "negative mass",
        "mass of text",
        "joint type",
        "half a limit",
        "velocity",
        "two numbers",
        "shape",
        "color",
        "size",
        "sole",
    )
    for name in (
        *fields,
        "nameless",
        "typeless",
        "no bodies",
        "typo",
        "strange key",
        "format",
        "newer",
        "bodies of text",
        "body of text",
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(json.loads(written(tmp_path, BAD[name][0]).read_text()), SCHEMA)


def test_the_documented_example_loads(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "format.md").read_text(encoding="utf-8")
    file = tmp_path / "swing.robik.json"
    file.write_text(page.split("```json")[1].split("```")[0])
    robot = load_robot(file)
    assert robot.actuators == ("shoulder",)
    assert robot.joints[1].limits == ((-1.5, inf),)
    jsonschema.validate(json.loads(file.read_text()), SCHEMA)


@pytest.mark.parametrize(
    "file", ["../secret.stl", "/etc/passwd", "http://example.com/a.stl", "//host/a.stl", "a\x00.stl"]
)
def test_a_mesh_elsewhere_is_stood_for_at_import(file: str, tmp_path: Path) -> None:
    (tmp_path / "secret.stl").write_text("solid")
    folder = tmp_path / "robot"
    folder.mkdir()
    body = Body("a", visuals=(Visual("mesh", (1, 1, 1), file=file), Visual("mesh", (1, 1, 1), file="here.stl")))
    save_robot(Mechanism("r", (body,)), folder / "r.robik.json")
    imported = import_robot(folder / "r.robik.json")
    assert [v.shape for v in imported.mechanism.bodies[0].visuals] == ["box", "mesh"]
    assert any("a mesh was not read" in warning for warning in imported.warnings)
    assert any("there is no such mesh" in warning for warning in imported.warnings)


def test_meshes_come_along_to_another_folder(tmp_path: Path) -> None:
    (tmp_path / "from" / "parts").mkdir(parents=True)
    (tmp_path / "to").mkdir()
    (tmp_path / "from" / "parts" / "a.stl").write_text("solid a")
    (tmp_path / "from" / "a.stl").write_text("solid other")
    names = ("parts/a.stl", "a.stl", "parts/a.stl", "gone.stl", "scene.usd#/arm")
    robot = Mechanism("r", (Body("a", visuals=tuple(Visual("mesh", (1, 1, 1), file=name) for name in names)),))
    for _ in range(2):  # the second time, the copies are there already
        save_robot(robot, tmp_path / "to" / "r.robik.json", tmp_path / "from" / "r.robik.json")
        files = [v.file for v in load_robot(tmp_path / "to" / "r.robik.json").bodies[0].visuals]
        assert files == ["meshes/a.stl", "meshes/a_2.stl", "meshes/a.stl", "meshes/gone.stl", "meshes/scene.usd#/arm"]
        assert [(tmp_path / "to" / file).read_text() for file in files[:3]] == ["solid a", "solid other", "solid a"]
        assert len(list((tmp_path / "to" / "meshes").iterdir())) == 2
    save_robot(robot, tmp_path / "r.robik.json", tmp_path / "from" / "r.robik.json")
    assert load_robot(tmp_path / "r.robik.json").bodies[0].visuals[0].file == "from/parts/a.stl"


def test_the_report_says_how_a_robot_can_move() -> None:
    assert "6 loops, 18 degrees of freedom, 12 motors" in import_robot(robots.path("walker")).report[-1]
    assert import_robot(robots.path("boxer")).report[-1] == "no loops, 4 degrees of freedom, 4 motors"
    coupled = Joint("ball", "spherical", WORLD, "a"), Joint("hinge", "revolute", "a", "b")
    robot = Mechanism("r", (Body("a"), Body("b")), coupled, couplings=(Coupling("c", "ball.rx", "hinge"),))
    [warning] = described(Imported(robot)).warnings
    assert "cannot" in warning or "not moved" in warning
