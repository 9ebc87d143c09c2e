"""Motion files: round trips, which format a file is of, and what is said of files that cannot be read."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robik.errors import ClipError, FormatError
from robik.motions import BaseTrack, Companions, Motion, MotionFormat, load_motion, registry, save_motion
from robik.motions.needs import Needs
from robik.motions.registry import _named

TIMES = 0.1 + np.arange(30) / 24
RANDOM = np.random.default_rng(2)
TURNS = RANDOM.normal(size=(30, 4))
BASE = BaseTrack(
    body="pelvis", position=RANDOM.normal(size=(30, 3)), quaternion=TURNS / np.linalg.norm(TURNS, axis=1)[:, None]
)
PLAIN = Motion(times=TIMES, actuators=("hip", "knee, left", 'the "third"'), values=RANDOM.normal(size=(30, 3)))
FLOATING = replace(PLAIN, base=BASE, passive={"rod": RANDOM.normal(size=30), "rod.ry": RANDOM.normal(size=30)})
NEEDY = replace(FLOATING, needs=Needs(carry_weight=True, p_gain=10500.0))
NAMES = (
    "csv, json, npz, lafan1-csv, gmr-pkl, mjlab-npz, holosoma-npz, isaac-npz, qpos-npz, sonic-csv, mujoco-keys, ros2"
    ", reachy-move, arduino"
)
LOSSLESS = ("csv", "json", "npz")  # hold all of a motion by itself, to the last bit


def same(back: Motion, motion: Motion) -> None:
    """Every number to its last bit: each format that is read writes all digits."""
    assert back.actuators == motion.actuators
    assert (back.times == motion.times).all()
    assert (back.values == motion.values).all()
    assert (back.base is None) == (motion.base is None)
    if back.base is not None and motion.base is not None:
        assert back.base.body == motion.base.body
        assert (back.base.position == motion.base.position).all()
        assert (back.base.quaternion == motion.base.quaternion).all()


@pytest.mark.parametrize(
    "needs", ['{"p_gain": 0}', '{"p_gain": true}', '{"carry_weight": 1}', '{"gain": 1}', "[1]", '"hi"']
)
def test_what_no_motor_can_be_set_to_is_told(tmp_path: Path, needs: str) -> None:
    (tmp_path / "m.json").write_text(
        f'{{"format": "robik-motion", "version": 1, "time": [0], "actuators": {{"a": [0]}}, "needs": {needs}}}'
    )
    with pytest.raises(ClipError, match="needs: "):
        load_motion(tmp_path / "m.json")


@pytest.mark.parametrize("motion", [PLAIN, FLOATING, NEEDY], ids=["grounded", "floating", "needy"])
@pytest.mark.parametrize("name", LOSSLESS)
def test_what_is_written_is_read_to_the_last_bit(tmp_path: Path, name: str, motion: Motion) -> None:
    save_motion(motion, tmp_path / "motion", name)
    for format in (name, None):
        back = load_motion(tmp_path / "motion", format)
        same(back, motion)
        assert back.needs == motion.needs
        if name != "csv" and motion.passive is not None:
            assert back.passive is not None
            assert list(back.passive) == ["rod", "rod.ry"]
            assert all((back.passive[key] == motion.passive[key]).all() for key in back.passive)
        else:
            assert back.passive is None


names = st.text(min_size=1, max_size=8).filter(lambda name: "\0" not in name and name != "time")


@given(
    actuators=st.lists(names, max_size=4, unique=True),
    body=st.text(max_size=12).filter(lambda name: "\0" not in name),
    seed=st.integers(0, 99),
)
@settings(max_examples=200, deadline=None)
def test_any_name_survives(
    tmp_path_factory: pytest.TempPathFactory, actuators: list[str], body: str, seed: int
) -> None:
    rng, folder = np.random.default_rng(seed), tmp_path_factory.mktemp("any")
    scale = 10.0 ** rng.integers(-300, 300, (2, len(actuators)))
    base = BaseTrack(
        body=body, position=rng.normal(size=(2, 3)), quaternion=[[0.6, 0.8, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]]
    )
    motion = Motion(
        times=[-1.0, 2.5], actuators=tuple(actuators), values=rng.normal(size=(2, len(actuators))) * scale, base=base
    )
    for name in LOSSLESS:
        save_motion(motion, folder / "motion", name)
        same(load_motion(folder / "motion", name), motion)


def test_a_csv_file_is_as_the_page_says(tmp_path: Path) -> None:
    base = BaseTrack(body="pelvis", position=[[1.0, 2.0, 0.5]], quaternion=[[1.0, 0.0, 0.0, 0.0]])
    save_motion(Motion(times=[0.0], actuators=("hip",), values=[[0.25]], base=base), tmp_path / "m.csv")
    assert (tmp_path / "m.csv").read_text().splitlines() == [
        "# base: pelvis",
        "time,hip,base.x,base.y,base.z,base.qw,base.qx,base.qy,base.qz",
        "0.0,0.25,1.0,2.0,0.5,1.0,0.0,0.0,0.0",
    ]
    save_motion(Motion(times=[0.0], actuators=("hip",), values=[[0.25]]), tmp_path / "m.csv")
    assert (tmp_path / "m.csv").read_bytes() == b"time,hip\n0.0,0.25\n", "as it was before there were bases"


HEAD = "time,a,base.x,base.y,base.z,base.qw,base.qx,base.qy,base.qz"
ROWS = "0,1,0,0,1,1,0,0,0\n1,2,0,0,1,0.9995,0,0,0\n"
STRANGE = {
    "byte order mark": f"\ufeff# base: b\n{HEAD}\n{ROWS}",
    "windows": f"# base: b\r\n{HEAD}\r\n{ROWS}".replace("\n", "\r\n").replace("\r\r", "\r"),
    "old mac": f"# base: b\n{HEAD}\n{ROWS}".replace("\n", "\r"),
    "more comments": f"# by hand\n#base:  b \n# again\n{HEAD}\n{ROWS}",
    "empty lines": f"# base: b\n{HEAD}\n\n{ROWS}\n\n",
    "no last line end": f"# base: b\n{HEAD}\n{ROWS}".rstrip(),
    "quotes": '# base: "b"\n"time","a","base.x","base.y","base.z","base.qw","base.qx","base.qy","base.qz"\n' + ROWS,
    "base in front": "# base: b\ntime,base.qz,base.qy,base.qx,base.qw,base.z,base.y,base.x,a\n"
    "0,0,0,0,1,1,0,0,1\n1,0,0,0,0.9995,1,0,0,2\n",
}


@pytest.mark.parametrize("case", STRANGE)
def test_strange_csv_files_are_read(tmp_path: Path, case: str) -> None:
    (tmp_path / "m.csv").write_bytes(STRANGE[case].encode())
    motion = load_motion(tmp_path / "m.csv")
    assert motion.actuators == ("a",)
    assert motion.values.tolist() == [[1.0], [2.0]]
    assert motion.base is not None
    assert motion.base.body == "b"
    assert motion.base.position.tolist() == [[0.0, 0.0, 1.0]] * 2
    assert motion.base.quaternion.tolist() == [[1.0, 0.0, 0.0, 0.0]] * 2, "one that is rounded is made unit"


def test_a_base_may_be_without_a_name(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text(f"{HEAD}\n{ROWS}")
    motion = load_motion(tmp_path / "m.csv")
    assert motion.base is not None
    assert motion.base.body == ""
    save_motion(motion, tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_text().splitlines()[0] == HEAD


WRONG = {
    "twice": ("time,a,b,a\n0,1,2,3\n", "two columns are called 'a', the 2. and the 4.; names must differ"),
    "time twice": ("time,a,time\n0,1,2\n", "two columns are called 'time'"),
    "half a base": (
        "time,a,base.x,base.y\n0,1,2,3\n",
        "no column for base.z, base.qw, base.qx, base.qy, base.qz; a base has base.x",
    ),
    "long quaternion": (
        f"{HEAD}\n0,1,0,0,1,1,0,0,0\n1,1,0,0,1,1.1,0,0,0\n",
        "quaternions must have length 1; sample 1 has 1.1",
    ),
    "zero quaternion": (f"{HEAD}\n0,1,0,0,1,0,0,0,0\n", "quaternions must have length 1; sample 0 has 0"),
    "not a number": ("# base: b\ntime,a\n0,1\n1,nan\n", "line 4, column 'a': nan is not a finite number"),
    "infinite": (f"{HEAD}\n0,1,0,inf,1,1,0,0,0\n", "line 2, column 'base.y': inf is not a finite number"),
    "a word": ("time,a\n\n0,left\n", "line 3, column 'a': 'left' is not a number"),
    "too few": ("time,a,b\n0,1\n", "line 2: 2 columns where the first line names 3"),
    "no numbers": ("time,a\n", "there is no line with numbers"),
    "empty": ("", "it is empty"),
    "only a comment": ("# base: b", "the first line must name the columns, 'time' first"),
    "no time": ("a,b\n0,1\n", "the first line must name the columns, 'time' first"),
    "semicolons": (
        "time;a\n0;1\n",
        "the first line must name the columns, 'time' first, then the actuators, with commas between",
    ),
    "backwards": ("time,a\n1,0\n0,0\n", "times must increase; sample 1 at 0 s follows 1 s"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_csv_files_get_one_sentence(tmp_path: Path, case: str) -> None:
    content, words = WRONG[case]
    (tmp_path / "m.csv").write_text(content)
    with pytest.raises(ClipError) as caught:
        load_motion(tmp_path / "m.csv")
    assert str(caught.value).startswith(f"{tmp_path / 'm.csv'}: ")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_bytes("time,a\n0,1\n".encode("utf-16"))
    with pytest.raises(
        ClipError, match=r"m\.csv: not a motion \(\.csv\): not UTF-8 text: invalid start byte at byte 0"
    ):
        load_motion(tmp_path / "m.csv")


JSON = {"format": "robik-motion", "version": 1, "time": [0.0, 1.0], "actuators": {"a": [0.0, 1.0]}}
BASE_DATA = {"body": "b", "position": [[0, 0, 1]] * 2, "quaternion": [[1, 0, 0, 0]] * 2}
WRONG_JSON = {
    "other": ({"format": "robik"}, 'such a file says "format": "robik-motion"'),
    "newer": ({"version": 2}, 'its version is 2, but this RobIK reads "version": 1; update RobIK'),
    "no times": ({"time": None}, "time: it must be a list of numbers"),
    "too short": ({"actuators": {"a": [0.0]}}, "actuators.a: it must have 2 numbers, one per time, not the shape (1,)"),
    "words": ({"actuators": {"a": ["x", "y"]}}, "actuators.a: it must be a list of numbers"),
    "no columns": ({"actuators": []}, "actuators: it must be an object with a list of numbers per name"),
    "NaN": ({"actuators": {"a": [0.0, float("nan")]}}, "actuators.a must be finite; entry [1] is not"),
    "base without a body": (
        {"base": {"position": []}},
        "base: it must be an object with body, position and quaternion",
    ),
    "short base": ({"base": BASE_DATA | {"position": [[0, 0, 1]]}}, "the base has 1 positions, but 2 quaternions"),
    "flat base": (
        {"base": BASE_DATA | {"position": [0, 0]}},
        "the base's position must have 3 numbers per sample, not the shape (2,)",
    ),
    "other length": (
        {"base": BASE_DATA | {"position": [[0, 0, 1]], "quaternion": [[1, 0, 0, 0]]}},
        "the base has 1 samples where the motion has 2",
    ),
    "passive": ({"passive": {"rod": [1.0]}}, "passive.rod: it must have 2 numbers"),
}


@pytest.mark.parametrize("case", WRONG_JSON)
def test_wrong_json_files_get_one_sentence(tmp_path: Path, case: str) -> None:
    change, words = WRONG_JSON[case]
    (tmp_path / "m.json").write_text(json.dumps(JSON | change))
    with pytest.raises(ClipError) as caught:
        load_motion(tmp_path / "m.json")
    assert str(caught.value).startswith(f"{tmp_path / 'm.json'}: ")
    assert words in str(caught.value)


def test_json_that_is_broken_or_says_something_twice(tmp_path: Path) -> None:
    (tmp_path / "m.json").write_text('{"format": "robik-motion",\n "version": }')
    with pytest.raises(ClipError, match=r"m\.json: line 2, column 13: not JSON"):
        load_motion(tmp_path / "m.json")
    (tmp_path / "m.json").write_text(json.dumps(JSON)[:-2] + ', "a": [0.0, 2.0]}}')
    with pytest.raises(ClipError, match="'a' is there twice; names must differ"):
        load_motion(tmp_path / "m.json")


ARRAYS = {"times": np.arange(2.0), "actuators": np.array(["a"]), "values": np.zeros((2, 1))}
WRONG_ARRAYS = {
    "missing": ({"values": None}, "no array values; there are actuators, times"),
    "words": ({"values": np.array([["x"], ["y"]])}, "values must hold numbers, not <U1"),
    "shape": ({"values": np.zeros((2, 2))}, "values must have the shape (2, 1), not (2, 2)"),
    "half a base": ({"base_position": np.zeros((2, 3))}, "no array base_body, base_quaternion"),
    "passive": (
        {"passive": np.array(["a", "b"]), "passive_values": np.zeros((2, 1))},
        "passive_values must have the shape (2, 2), not (2, 1)",
    ),
    "twice": ({"actuators": np.array(["a", "a"]), "values": np.zeros((2, 2))}, "'a' is there twice"),
    "objects": ({"values": np.array([[None], [1]], dtype=object)}, "values holds Python objects, which are not opened"),
}


@pytest.mark.parametrize("case", WRONG_ARRAYS)
def test_wrong_archives_get_one_sentence(tmp_path: Path, case: str) -> None:
    change, words = WRONG_ARRAYS[case]
    np.savez(tmp_path / "m.npz", **{name: array for name, array in (ARRAYS | change).items() if array is not None})
    with pytest.raises(ClipError) as caught:
        load_motion(tmp_path / "m.npz")
    assert str(caught.value).startswith(f"{tmp_path / 'm.npz'}: ")
    assert words in str(caught.value)


def test_archives_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "m.npz").write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(ClipError, match=r"not an archive of arrays \(\.npz\)"):
        load_motion(tmp_path / "m.npz")
    with zipfile.ZipFile(tmp_path / "m.npz", "w") as archive:
        for name in ARRAYS:
            archive.writestr(f"{name}.npy", "no array")
    with pytest.raises(ClipError, match=r"m\.npz: times cannot be unpacked: the magic string is not correct"):
        load_motion(tmp_path / "m.npz")


def test_the_content_goes_before_the_extension(tmp_path: Path) -> None:
    for name in LOSSLESS:
        save_motion(FLOATING, tmp_path / "motion.csv", name)
        same(load_motion(tmp_path / "motion.csv"), FLOATING)
    save_motion(FLOATING, tmp_path / "motion.csv", "json")
    with pytest.raises(ClipError, match="the first line must name the columns"):
        load_motion(tmp_path / "motion.csv", "csv")


def test_the_name_goes_before_the_extension(tmp_path: Path) -> None:
    save_motion(PLAIN, tmp_path / "motion.npz", "json")
    assert json.loads((tmp_path / "motion.npz").read_text())["format"] == "robik-motion"


def test_formats_that_are_unknown_or_work_one_way_only(tmp_path: Path) -> None:
    save_motion(PLAIN, tmp_path / "m.csv")
    with pytest.raises(
        FormatError,
        match=rf"^unknown motion format 'bvh'; there are {NAMES}$",
    ):
        save_motion(PLAIN, tmp_path / "m.bvh", "bvh")
    with pytest.raises(
        FormatError,
        match=rf"^unknown motion format 'bvh'; there are {NAMES}$",
    ):
        load_motion(tmp_path / "m.csv", "bvh")
    with pytest.raises(
        FormatError, match=r"^motion files of the format 'arduino' cannot be read; there are csv, json$"
    ):
        _named("arduino", ("csv", "json"), "read")
    with pytest.raises(ClipError, match=r"m\.csv: the format arduino needs a servo chain; give a \*\.servos\.json$"):
        load_motion(tmp_path / "m.csv", "arduino")
    with pytest.raises(FormatError, match=r"m\.ino: the format arduino needs a servo chain; give a \*\.servos\.json$"):
        save_motion(PLAIN, tmp_path / "m.ino")
    with pytest.raises(
        FormatError, match=r"a motion is exported as .*, not as a file without extension; or name its format: csv, json"
    ):
        save_motion(PLAIN, tmp_path / "motion")
    (tmp_path / "m.bvh").write_text("HIERARCHY")
    with pytest.raises(ClipError, match=r"m\.bvh: no motion that can be read here; the formats are csv, json, npz"):
        load_motion(tmp_path / "m.bvh")
    with pytest.raises(ClipError, match="there is no such file"):
        load_motion(tmp_path / "nothing.csv")
    with pytest.raises(ClipError, match="it is a folder"):
        load_motion(tmp_path)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["m.bvh", "m.csv"]


def test_a_format_is_a_row_and_several_that_fit_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second format of .csv files is written and read by name; by extension alone, the two cannot be told apart."""

    def read(content: bytes, companions: Companions) -> Motion:
        return replace(PLAIN, times=PLAIN.times + float(content.split(b"\n")[1]))

    def write(motion: Motion, path: Path, companions: Companions) -> bytes:
        return b"time\n7"

    def matches(content: bytes) -> bool:
        return content.startswith(b"time")

    other = MotionFormat(name="other", label="Other", extensions=(".csv",), matches=matches, read=read, write=write)
    monkeypatch.setitem(registry.FORMATS, "other", other)
    monkeypatch.setattr(registry, "READABLE", (*registry.READABLE, "other"))
    monkeypatch.setattr(registry, "WRITABLE", (*registry.WRITABLE, "other"))
    with pytest.raises(
        FormatError, match=r"m\.csv: \.csv files are of several formats: csv, other; name the one that is meant"
    ):
        save_motion(PLAIN, tmp_path / "m.csv")
    save_motion(PLAIN, tmp_path / "m.csv", "other")
    assert (load_motion(tmp_path / "m.csv", "other").times == PLAIN.times + 7.0).all()
    with pytest.raises(ClipError, match="its content fits several formats: csv, other; name the one that is meant"):
        load_motion(tmp_path / "m.csv")


def test_a_column_that_csv_cannot_hold(tmp_path: Path) -> None:
    for name in ("time", "base.qw"):
        motion = Motion(times=[0.0], actuators=(name,), values=[[1.0]])
        with pytest.raises(ClipError, match=rf"m\.csv: an actuator cannot be called '{name}' in a CSV file"):
            save_motion(motion, tmp_path / "m.csv")
        save_motion(motion, tmp_path / "m.json")
        same(load_motion(tmp_path / "m.json"), motion)
    assert [file.name for file in tmp_path.iterdir()] == ["m.json"]
