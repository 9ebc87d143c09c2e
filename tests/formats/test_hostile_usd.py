"""Bad USD files: refused in one sentence, or kept to the robot's folder; nothing else happens."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from robik.errors import FormatError, MissingExtraError
from robik.formats import import_robot, load_robot
from robik.mechanism import Mechanism
from tests.formats import fuzz

pytest.importorskip("pxr", reason="needs usd-core")

from pxr import Usd

from tests.formats.usd_text import HOLD, TWO, body, d6, joint, usda, write


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not USD"),
        ("#usda 1.0\ndef Xform {", "not USD"),
        ("#usda 1.0\ndef Xform \"r\" {}", "no rigid body"),
        (usda(TWO + joint("j", "RevoluteJoint", "a", "c")), "not there"),
        (usda(TWO + joint("j", "RevoluteJoint", "a", "b", "quatf physics:localRot0 = (0, 0, 0, 0)")),
         "unit quaternion"),
        (usda(TWO + joint("j", "RevoluteJoint", "a", "b", "point3f physics:localPos0 = (nan, 0, 0)")), "three numbers"),
        (usda(TWO + joint("j", "RevoluteJoint", "a", "b", "uniform token physics:axis = \"W\"")), "X, Y or Z"),
        (usda(TWO + joint("j", "Joint", "a", "b").replace('"j" (', '"j" (customData = {string dofs = "odd"}\n')),
         "custom data 'dofs'"),
        (usda(body("a", inner="float physics:mass = -1") + HOLD), "mass must be"),
        (usda(TWO, "metersPerUnit = 0"), "units"),
        (usda(body("a") + HOLD, "subLayers = [@../secret.usda@]"), "leads out of its folder"),
        (usda(body("a").replace('"a" (', '"a" (prepend references = @/etc/passwd@\n') + HOLD), "only references to"),
        (usda(body("a").replace('"a" (', '"a" (prepend references = @//host/a.usda@\n') + HOLD), "another computer"),
        (usda(body("a").replace('"a" (', '"a" (prepend references = @`"${X}"`@\n') + HOLD), "computed"),
        (usda(TWO + joint("j", "DistanceJoint", "a", "b",
                          "float physics:minDistance = 2;float physics:maxDistance = 1")), "least dist"),
    ],
)  # fmt: skip
def test_bad_files_are_refused_in_one_sentence(text: str, says: str, tmp_path: Path) -> None:
    write(tmp_path, usda(TWO), "secret.usda")
    (tmp_path / "robot").mkdir()
    path = write(tmp_path / "robot", text)
    with pytest.raises(FormatError, match=says) as raised:
        load_robot(path)
    assert str(raised.value).startswith(f"{path}: ")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "type_and_value", ['string {} = "5"', "weird {} = 5", "int[] {} = [1, 2]", "bool {} = 1", 'string[] {} = ["a"]']
)
@pytest.mark.parametrize(
    "name", ["physics:principalAxes", "physics:centerOfMass", "physics:mass", "primvars:displayColor"]
)
def test_an_attribute_of_another_type_is_refused_or_left_out(name: str, type_and_value: str, tmp_path: Path) -> None:
    shape = f'def Cube "c" {{\n{type_and_value.format(name) if "Color" in name else ""}\n}}\n'
    said = "" if "Color" in name else type_and_value.format(name)
    given = ["double physics:mass = 1"] if name != "physics:mass" else []
    lines = [*given, "float3 physics:diagonalInertia = (1, 1, 1)", said, shape]
    path = write(tmp_path, usda(body("a", inner="\n".join(lines)) + HOLD))
    if "Color" in name or (name == "physics:mass" and type_and_value.startswith(("bool", "string {}"))):
        assert load_robot(path).mass in (1.0, 5.0), "a number all the same"
        return
    with pytest.raises(FormatError, match=name) as raised:
        load_robot(path)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("clip", "says"),
    [
        ("asset[] assetPaths = [@../secret.usda@]", "leads out of its folder"),
        ("asset manifestAssetPath = @../secret.usda@", "leads out of its folder"),
        ('string templateAssetPath = "../secret.#.usda"', "leads out of its folder"),
        ("asset[] assetPaths = [@//host/a.usda@]", "another computer"),
        ('string templateAssetPath = "//host/a.#.usda"', "another computer"),
    ],
)
def test_value_clips_are_kept_to_the_folder(clip: str, says: str, tmp_path: Path) -> None:
    write(tmp_path, usda(TWO), "secret.usda")
    (tmp_path / "robot").mkdir()
    said = (
        f'clips = {{\ndictionary default = {{\n{clip}\nstring primPath = "/robot"\ndouble2[] active = [(0,'
        " 0)]\n}\n}\n"
    )
    path = write(tmp_path / "robot", usda(body("a").replace('"a" (', f'"a" ({said}') + HOLD))
    with pytest.raises(FormatError, match=says):
        load_robot(path)
    path.write_text(
        path.read_text().replace("@../secret", "@./secret").replace('"../secret', '"./secret').replace("//host/", "")
    )
    assert import_robot(path).mechanism.bodies[0].name == "a", "clips beside it are an animation's, and do no harm"


def test_references_that_multiply_are_not_unfolded(tmp_path: Path) -> None:
    levels = ""
    for i in range(30):
        levels += (
            f'def Xform "n{i}"\n{{\n'
            + "".join(f'def Xform "{k}" (references = </n{i + 1}>) {{}}\n' for k in "ab")
            + "}\n"
        )
    path = write(
        tmp_path, f'#usda 1.0\n{levels}\ndef Xform "n30" (prepend apiSchemas = ["PhysicsRigidBodyAPI"]) {{}}\n'
    )
    with pytest.raises(FormatError, match="unfold"):
        load_robot(path)


def test_references_in_a_ring_end(tmp_path: Path) -> None:
    path = write(tmp_path, usda(body("a").replace('"a" (', '"a" (prepend references = @robot.usda@\n') + HOLD))
    imported = import_robot(path)
    assert any(w.startswith("a part of it is missing") and "\n" not in w for w in imported.warnings)


@pytest.mark.parametrize("name", ["gone.usda", "/nowhere/arm.usda", "https://example.com/arm.usda"])
def test_what_is_missing_is_named_where_nothing_is_left_or_a_joint_misses_it(name: str, tmp_path: Path) -> None:
    part = f'def Xform "arm" (references = @{name}@) {{}}\n'
    for text, says in (
        (part, "no rigid body"),
        (body("a") + part + joint("j", "FixedJoint", "a", "arm/link"), "/r/arm/link, which is not there"),
    ):
        with pytest.raises(
            FormatError, match=rf"{says}.*; a part of it is missing: Could not open asset @{name.replace('//', '/')}@"
        ):
            load_robot(write(tmp_path, usda(text)))


def test_without_pxr_one_sentence_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "pxr", None)
    with pytest.raises(MissingExtraError, match=r"usd-core, needs the extra 'usd': pip install '\.\[usd\]' in a check"):
        load_robot(write(tmp_path, usda(TWO)))


@pytest.mark.parametrize("seed", range(5))
def test_mutated_files_end_in_a_robot_or_in_a_sentence(seed: int, tmp_path: Path) -> None:
    inner, schemas = d6({"transX": (-1, 2), "rotZ": (-10, 20)}, ("transY", "transZ", "rotX", "rotY"))
    hinge = joint(
        "k", "RevoluteJoint", "b", "c", "float physics:lowerLimit = -10;quatf physics:localRot0 = (1, 0, 0, 0)"
    )
    text = usda(
        TWO + body("c") + HOLD + joint("j", "Joint", "a", "b", inner, (*schemas, "PhysicsDriveAPI:rotZ")) + hinge
    )
    words = ["X", "angular", "PhysicsJoint", "PhysicsFixedJoint", "</r/a>", "</r>", "None", "@robot.usda@", "[]"]
    outcomes = fuzz.import_mutants(tmp_path / "robot.usda", [text], seed, fuzz.CASES // 5, words)
    assert {Mechanism, FormatError} <= set(outcomes)


@pytest.mark.parametrize("cases", [20, pytest.param(60, marks=pytest.mark.long)])
def test_broken_binary_files_are_refused(tmp_path: Path, cases: int) -> None:
    path = tmp_path / "robot.usdc"
    hinge = joint("j", "RevoluteJoint", "a", "b", "point3f physics:localPos0 = (1, 0, 0)")
    Usd.Stage.Open(str(write(tmp_path, usda(TWO + HOLD + hinge)))).Export(str(path))
    assert len(load_robot(path).bodies) == 2
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for case in range(cases):
        broken = bytearray(whole[: rng.integers(len(whole))] if case % 2 else whole)
        for at in rng.integers(0, max(len(broken), 1), 0 if case % 2 else 4):
            broken[at] = rng.integers(256)
        cut = tmp_path / f"broken{case}.usdc"
        cut.write_bytes(broken)
        outcome = fuzz.outcome_of(cut)
        assert "\n" not in str(outcome)
