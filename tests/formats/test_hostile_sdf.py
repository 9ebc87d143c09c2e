"""Bad SDF files: refused in one sentence, or kept to the robot's folder; nothing else happens."""

from __future__ import annotations

from pathlib import Path

import pytest

from robik.errors import FormatError
from robik.formats import import_robot, load_robot
from robik.mechanism import Mechanism
from tests.formats import fuzz
from tests.formats.sdf_text import FRAMES, HOLD, axis, joint, link, sdf, write


def test_what_may_not_be_included_is_left_out_and_named(tmp_path: Path) -> None:
    write(tmp_path, sdf(link("secret")), "secret.sdf")
    for uri in ("../secret.sdf", "/etc/passwd", "https://fuel.gazebosim.org/1.0/x", "model://nowhere", "//host/x.sdf"):
        imported = import_robot(
            write(tmp_path, sdf(link("a") + HOLD + f"<include><uri>{uri}</uri></include>"), "in/model.sdf")
        )
        assert [b.name for b in imported.mechanism.bodies] == ["a"]
        assert any("a model was not included" in w for w in imported.warnings)


def test_files_that_include_themselves_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path, sdf(link("a") + HOLD + "<include><uri>model.sdf</uri></include>"))
    with pytest.raises(FormatError, match="include"):
        load_robot(path)
    twice = "".join(f"<include><uri>model.sdf</uri><name>n{i}</name></include>" for i in range(2))
    with pytest.raises(FormatError, match="include"):
        load_robot(write(tmp_path, sdf(link("a") + twice)))


BOMB = '<!DOCTYPE sdf [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (BOMB + '<sdf version="1.9"><model name="&b;"/></sdf>', "DOCTYPE"),
        ("<sdf/>", "version"),
        ('<sdf version="2.0"/>', "version"),
        ('<sdf version="1.9"/>', "no <model>"),
        ('<robot name="r"/>', "must be <sdf>"),
        (sdf(""), "0 links"),
        (sdf(link("a") + link("a")), "two things are called 'a'"),
        (sdf(link("world")), "name of the ground"),
        (sdf(link("a") + joint("j", "helical", "world", "a")), "unknown type 'helical'"),
        (sdf(link("a") + joint("j", "fixed", "world", "b")), "nothing is called 'b'"),
        (sdf(link("a") + joint("j", "revolute", "world", "a")), "axis is missing"),
        (sdf(link("a") + joint("j", "revolute", "world", "a", axis("0 0 0"))), "axis must not be zero"),
        (sdf(link("a") + joint("j", "revolute", "world", "a", axis("1 0"))), "3 finite numbers"),
        (sdf(link("a", "0 0 0", relative_to="")), "6 finite numbers"),
        (sdf(link("a", "0 0 0 0 0 0", relative_to="b") + link("b", "0 0 0 0 0 0", relative_to="a") + HOLD), "ring"),
        (
            sdf(
                link("a")
                + '<frame name="f" attached_to="g"/><frame name="g" attached_to="f"/>'
                + joint("j", "fixed", "f", "a")
            ),
            "ring",
        ),
        (sdf(link("a", inner="<inertial><mass>nan</mass></inertial>") + HOLD), "finite number"),
        (sdf(link("a", inner="<inertial><mass>-1</mass></inertial>") + HOLD), "zero or more"),
    ],
)
def test_bad_files_are_refused_in_one_sentence(text: str, says: str, tmp_path: Path) -> None:
    path = write(tmp_path, text)
    with pytest.raises(FormatError, match=says) as raised:
        load_robot(path)
    assert str(raised.value).startswith(f"{path}: ")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("seed", range(5))
def test_mutated_files_end_in_a_robot_or_in_a_sentence(seed: int, tmp_path: Path) -> None:
    write(tmp_path, sdf(link("palm"), name="hand"), "hand.sdf")
    mimic = '<mimic joint="k" axis="axis"><multiplier>2</multiplier></mimic>'
    more = '<include merge="true"><uri>hand.sdf</uri></include>' + joint(
        "m", "universal", "a", "palm", axis("0 0 1") + axis("0 1 0", tag="axis2")
    )
    more += link("d") + joint("n", "screw", "a", "d", axis("0 0 1") + "<screw_thread_pitch>0.5</screw_thread_pitch>")
    more += link("e") + joint(
        "o", "prismatic", "d", "e", axis("0 0 1", "<lower>-1</lower><upper>1</upper>", inner=mimic)
    )
    words = [
        "__model__",
        "f",
        "j",
        "arm::hand",
        "arm",
        "revolute",
        "ball",
        "fixed",
        "screw",
        "gearbox",
        "revolute2",
        "1.4",
        "model.sdf",
        "hand.sdf",
    ]
    outcomes = fuzz.import_mutants(tmp_path / "model.sdf", [sdf(FRAMES + more)], seed, fuzz.CASES // 5, words)
    assert {Mechanism, FormatError} <= set(outcomes)
