"""The command `robik`: what it writes, and what it says of bad input."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from experiments.baking.clips import walker_clip
from robik import robots
from robik.bench.clips import boxer_clip
from robik.clips.clip import TargetClip, Track, save_clip
from robik.commands import progress
from robik.formats import load_robot
from robik.motions import Motion, load_motion, save_motion
from tests.shell import robik, robik_apart


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_clip(boxer_clip(robots.load("boxer"), 30.0), tmp_path / "punch.npz")
    save_clip(walker_clip(robots.load("walker"), 30.0), tmp_path / "strides.npz")
    return tmp_path


def test_solve_then_forward_kinematics(folder: Path) -> None:
    weights = {"targets": {"foot_l": {"orientation_weight": [2, 2, 2]}}, "com_weight": [1, 1, 0], "state_weight": 1e-4}
    (folder / "settings.json").write_text(json.dumps(weights))
    asked = (
        "solve",
        "walker",
        "strides.npz",
        "--settings",
        "settings.json",
        "-o",
        "m.csv",
        "--report",
        "r.json",
        "--states",
        "s.npz",
    )
    done = robik(folder, *asked)
    assert (done.returncode, done.stderr) == (0, "")
    report = json.loads((folder / "r.json").read_text())
    assert report["frames"] == 60
    assert report["constraint_residual_max"] < 1e-9
    assert set(report["peak_velocity"]) == set(robots.load("walker").actuators)
    lines = (folder / "m.csv").read_text().splitlines()
    assert lines[0] == "# base: torso"
    assert lines[1].startswith("time,hip_yaw_l,")
    assert lines[1].endswith(",base.x,base.y,base.z,base.qw,base.qx,base.qy,base.qz")
    assert robik(folder, "solve", "boxer", "punch.npz", "-o", "b.csv", "--states", "b.npz").returncode == 0
    assert (folder / "b.csv").read_text().startswith("time,")
    for robot, motion, states in (
        ("boxer", "b.csv", "b.npz"),
        ("walker", "m.csv", "s.npz"),
    ):  # one that stands, one that floats
        assert robik(folder, "fk", robot, motion, "-o", "f.npz").returncode == 0
        with np.load(folder / states) as solved, np.load(folder / "f.npz") as posed:
            assert list(posed["bodies"]) == [b.name for b in robots.load(robot).bodies]
            np.testing.assert_allclose(posed["position"], solved["position"], atol=1e-9)
            np.testing.assert_allclose(
                np.abs((posed["quaternion"] * solved["quaternion"]).sum(axis=2)), 1.0, atol=1e-12
            )
            assert posed["residual"].shape == solved["residual"].shape == posed["times"].shape
    save_motion(replace(load_motion(folder / "m.csv"), base=None), folder / "bare.csv")
    for motion, is_unknown in (("m.csv", False), ("bare.csv", True)):
        assert robik(folder, "report", motion, "--robot", "walker", "-o", "page.html").returncode == 0
        assert ("the bodies' states: distances and balance" in (folder / "page.html").read_text()) == is_unknown


def test_values_at_which_the_robot_cannot_be_assembled_are_named(folder: Path) -> None:
    """A crank beyond its rocker's reach; one of the dancer's motors, of more than it has freedoms, that disagrees with
    the others."""
    (folder / "crank.csv").write_text("time,crank_drive\n0,0.0\n0.1,0.5\n0.2,3.0\n")
    (folder / "dance.csv").write_text(
        "time,ankle_roll_l,knee_l,hip_pitch_l,hip_roll_l,ankle_roll_r,knee_r,hip_pitch_r,hip_roll_r\n"
        "0,0,0,0,0,0,0,0,0\n0.1,0.5,0,0,0,0,0,0,0\n"
    )
    for robot, motion, bad in (("four_bar", "crank.csv", 2), ("dancer", "dance.csv", 1)):
        done = robik(folder, "fk", robot, motion, "-o", "states.npz")
        assert done.returncode == 0, "as with all that falls short"
        with np.load(folder / "states.npz") as states:
            residual = states["residual"]
        assert residual[bad] > 1e-3 and residual[:bad].max() < 1e-9
        words = (
            f"1 of {bad + 1} frames cannot be assembled with these actuator values: {bad}; "
            f"the loops stay open by up to {1e3 * residual[bad]:.1f} mm, in frame {bad}"
        )
        assert done.stderr == f"robik: {motion}: {words}\n"
        assert words in robik(folder, "inspect", robot, "--motion", motion).stdout
        assert json.loads(robik(folder, "inspect", robot, "--motion", motion, "--json").stdout)["unassembled"] == words


def test_export_by_name_and_by_extension(folder: Path) -> None:
    assert robik(folder, "solve", "walker", "strides.npz", "-o", "m.csv").returncode == 0
    written = (folder / "m.csv").read_bytes()
    for one, name in (("m.json", "json"), ("m.npz", "npz")):
        done = robik(folder, "export", "m.csv", "-o", one)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        assert robik(folder, "export", one, "-o", "back.txt", "--from", name, "--format", "csv").returncode == 0
        assert (folder / "back.txt").read_bytes() == written
    assert robik(folder, "export", "m.csv", "-o", "slow.csv", "--rate", "10", "--robot", "walker").returncode == 0
    motion, slow = load_motion(folder / "m.csv"), load_motion(folder / "slow.csv")
    assert slow.actuators == robots.load("walker").actuators
    np.testing.assert_allclose(slow.values, motion.values[::3], rtol=0, atol=1e-12)
    assert slow.base is not None and motion.base is not None
    np.testing.assert_allclose(slow.base.position, motion.base.position[::3], rtol=0, atol=1e-12)
    assert robik(folder, "export", "m.csv", "-o", "m.h", "--servos", str(robots.servos_path("walker"))).returncode == 0
    assert "m_counts[60][12]" in (folder / "m.h").read_text()


def test_inspect_prints_json(folder: Path) -> None:
    found = json.loads(robik(folder, "inspect", "walker", "--json").stdout)
    assert found["mobility"] == 18
    assert found["joints"] == {"revolute": 36}
    assert found["frames"] == ["pelvis", "foot_l", "foot_r"]
    assert set(found) >= {"name", "bodies", "actuators", "loops", "redundant_rows", "closure_residual", "mass"}


def test_convert_writes_what_can_be_read(folder: Path) -> None:
    for file in ("w.xml", "w.urdf", "w.robik.json"):
        done = robik(folder, "convert", "walker", file)
        assert done.returncode == 0
        assert all(line.startswith("robik: ") for line in done.stderr.splitlines())
    assert load_robot(folder / "w.robik.json") == robots.load("walker")
    assert json.loads(robik(folder, "inspect", "w.xml", "--json").stdout)["mobility"] == 18


def test_a_file_is_read_as_asked(folder: Path) -> None:
    """Another package's meshes and the arguments of a xacro file reach the reader, whatever is done with the robot."""
    package = folder / "ros" / "parts"
    package.mkdir(parents=True, exist_ok=True)
    (package / "package.xml").write_text("<package><name>parts</name></package>")
    opened = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'
    (package / "bar.xacro").write_text(
        f'{opened}<xacro:arg name="word" default="bar"/><link name="$(arg word)"/></robot>'
    )
    include = (
        '<xacro:arg name="who" default="nobody"/><xacro:include filename="$(find parts)/bar.xacro"/><link name="$(arg'
        ' who)"/>'
    )
    joint = '<joint name="j" type="fixed"><parent link="$(arg word)"/><child link="$(arg who)"/></joint>'
    (folder / "r.xacro").write_text(f"{opened}{include}{joint}</robot>")
    done = robik(
        folder, "convert", "r.xacro", "r.urdf", "--packages", "ros", "--arguments", "who:=ann word:='two words'"
    )
    assert (done.returncode, [body.name for body in load_robot(folder / "r.urdf").bodies]) == (0, ["two words", "ann"])
    assert "there is no folder nowhere" in robik(folder, "inspect", "r.xacro", "--packages", "nowhere").stderr
    assert "'who' is not like name:=value" in robik(folder, "inspect", "r.xacro", "--arguments", "who").stderr
    assert (
        "only xacro files have some"
        in robik(folder, "fk", "r.urdf", "m.csv", "-o", "s.npz", "--arguments", "a:=b").stderr
    )


def test_reach_prints_boxes_and_surfaces(folder: Path) -> None:
    words = robik(folder, "reach", "four_bar", "handle").stdout
    assert words.startswith("handle: ") and "within limits and hold 0.05" in words and "one axis alone: x" in words
    found = json.loads(robik(folder, "reach", "four_bar", "handle", "--hold", "0", "--json").stdout)
    assert found["hold"] == 0.0 and {"direction", "far", "hold", "ends"} == set(found["position"]["surface"][0])
    done = robik(folder, "reach", "four_bar", "nose")
    assert done.returncode == 2 and "there are" in done.stderr and "Traceback" not in done.stderr
    assert robik(folder, "reach", "four_bar", "handle", "--hold", "1").returncode == 2


def test_inspect_looks_along_a_motion(folder: Path) -> None:
    assert robik(folder, "solve", "boxer", "punch.npz", "-o", "m.csv").returncode == 0
    done = robik(folder, "inspect", "boxer", "--motion", "m.csv", "-o", "d.csv", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    table = np.genfromtxt(folder / "d.csv", delimiter=",", names=True)
    assert found["singularity"]["loops"] is None and np.isinf(table["loops"]).all()
    assert found["singularity"]["steer"]["least"] == pytest.approx(table["steer"].min())
    assert found["singularity"]["steer"]["frame"] == table["steer"].argmin()
    assert len(table) == 60
    words = robik(folder, "inspect", "boxer", "--motion", "m.csv").stdout
    assert "steer: at least" in words and "on its base it has 4 degrees of freedom, and its actuators 4" in words
    assert "give one by --motion" in robik(folder, "inspect", "boxer", "-o", "d.csv").stderr
    assert "no column for hip_yaw_l" in robik(folder, "inspect", "walker", "--motion", "m.csv").stderr


def test_solve_in_the_manner_of_an_example(folder: Path) -> None:
    """The hand's place leaves the boxer one degree of freedom: an example in which the arm is held otherwise decides
    it."""
    boxer = robots.load("boxer")
    clip = boxer_clip(boxer, 30.0)
    save_clip(TargetClip(clip.times, {"hand": Track(clip.tracks["hand"].position)}), folder / "places.npz")
    assert robik(folder, "solve", "boxer", "places.npz", "-o", "m.csv").returncode == 0
    plain = load_motion(folder / "m.csv")
    held = plain.values + np.array([0.0, 0.0, 0.5, 0.0])
    save_motion(Motion(times=plain.times, actuators=plain.actuators, values=held), folder / "example.csv")
    done = robik(
        folder,
        "solve",
        "boxer",
        "places.npz",
        "--prior",
        "example.csv",
        "--prior-weight",
        "1e-4",
        "-o",
        "n.csv",
        "--report",
        "r.json",
    )
    assert (done.returncode, done.stderr) == (0, "")
    drawn = load_motion(folder / "n.csv")
    assert np.abs(drawn.values - held)[:, 2].mean() < 0.4 < np.abs(plain.values - held)[:, 2].mean()
    assert json.loads((folder / "r.json").read_text())["position_error_max_m"] < 3e-4


def broken(folder: Path, name: str, change: dict) -> None:
    with np.load(folder / "punch.npz") as file:
        np.savez(folder / name, **({k: file[k] for k in file.files} | change))


def own_range(first: str, last: str, *more: str) -> tuple[str, ...]:
    """A command that solves frames of the punch again, in a motion that is not of it."""
    return ("solve", "boxer", "punch.npz", "-o", "m.csv", "--before", "short.csv", "--own-range", first, last, *more)


BAD = {
    "unknown frame": (("solve", "boxer", "unknown.npz", "-o", "m.csv"), ("unknown.npz", "paw", "hand")),
    "not a number": (("solve", "boxer", "nan.npz", "-o", "m.csv"), ("nan.npz", "hand.position", "sample 3")),
    "backwards": (("solve", "boxer", "backwards.npz", "-o", "m.csv"), ("backwards.npz", "increase")),
    "torque alone": (("solve", "boxer", "punch.npz", "--torque", "-o", "m.csv"), ("--torque", "--look-ahead")),
    "zero-moment alone": (("solve", "boxer", "punch.npz", "--zero-moment", "-o", "m.csv"), ("give --look-ahead",)),
    "zero-moment without feet": (
        ("solve", "boxer", "punch.npz", "--look-ahead", "--zero-moment", "-o", "m.csv"),
        ("zero_moment_margin keeps a robot from tipping over", "the ground holds robot 'boxer'"),
    ),
    "own range alone": (
        ("solve", "boxer", "punch.npz", "--look-ahead", "--own-range", "5", "20", "-o", "m.csv"),
        ("--own-range", "--before"),
    ),
    "before alone": (
        ("solve", "boxer", "punch.npz", "--before", "short.csv", "-o", "m.csv"),
        ("--own-range FIRST LAST",),
    ),
    "own range frame by frame": (own_range("5", "20"), ("--own-range", "give --look-ahead")),
    "own range slower": (own_range("5", "20", "--slow-down"), ("--own-range", "--slow-down takes more")),
    "own range of another clip": (
        own_range("5", "20", "--settings", "limits.json"),
        ("short.csv goes from 0 to 0 s in 1 frame", "in 60; an own range needs"),
    ),
    "own range backwards": (own_range("20", "5", "--look-ahead"), ("in this order, not 20 and 5",)),
    "no such clip": (("solve", "boxer", "none.npz", "-o", "m.csv"), ("none.npz", "no such file")),
    "not a clip": (("solve", "boxer", "text.npz", "-o", "m.csv"), ("text.npz", "not an archive of arrays")),
    "example of another robot": (
        ("solve", "boxer", "punch.npz", "--prior", "other.csv", "-o", "m.csv"),
        ("other.csv", "no column for"),
    ),
    "too short an example": (
        ("solve", "boxer", "punch.npz", "--prior", "short.csv", "-o", "m.csv"),
        ("short.csv", "at least 2 poses"),
    ),
    "weights for nothing": (
        ("solve", "boxer", "punch.npz", "--settings", "paw.json", "-o", "m.csv"),
        ("paw.json", "paw", "hand"),
    ),
    "no such folder": (("solve", "boxer", "punch.npz", "-o", "none/m.csv"), ("none/m.csv", "cannot be written")),
    "no such folder for the report": (
        ("solve", "boxer", "punch.npz", "-o", "m.csv", "--report", "none/r.json"),
        ("none/r.json", "cannot be written"),
    ),
    "unknown kind of robot": (("inspect", "robot.step"), ("robot.step", ".robik.json")),
    "unknown kind to write": (("convert", "boxer", "robot.step"), ("robot.step", ".urdf")),
    "unknown format": (
        ("export", "short.csv", "-o", "m.bvh", "--format", "bvh"),
        ("bvh", "csv, json, npz, ", "arduino"),
    ),
    "unknown format to read": (("export", "short.csv", "-o", "m.json", "--from", "bvh"), ("bvh", "csv, json, npz")),
    "unknown extension": (
        ("export", "short.csv", "-o", "m.bvh"),
        ("m.bvh", ".csv, .json, .npz, ", ".yaml, .ino, .h", "arduino"),
    ),
    "no servos": (("export", "short.csv", "-o", "m", "--format", "arduino"), ("m: ", "*.servos.json")),
    "no rate": (("export", "short.csv", "-o", "m.json", "--rate", "0"), ("rate", "positive")),
    "another robot's motion": (
        ("export", "other.csv", "-o", "m.json", "--robot", "boxer"),
        ("other.csv", "no column for"),
    ),
    "no motion": (("export", "paw.json", "-o", "m.csv"), ("paw.json", "robik-motion")),
    "base of another robot": (("fk", "walker", "based.csv", "-o", "s.npz"), ("based.csv", "'paw'", "'torso'")),
    "half a base": (("fk", "boxer", "half.csv", "-o", "s.npz"), ("half.csv", "base.qz")),
    "no command": ((), ("COMMAND", "--help")),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line_and_leaves_nothing(folder: Path, case: str) -> None:
    arguments, words = BAD[case]
    broken(folder, "unknown.npz", {"paw.position": np.zeros((60, 3))})
    broken(folder, "nan.npz", {"hand.position": np.where(np.arange(60)[:, None] == 3, np.nan, 0.0) * np.ones(3)})
    broken(folder, "backwards.npz", {"times": -np.arange(60.0)})
    (folder / "text.npz").write_text("no clip")
    (folder / "other.csv").write_text("time,knee\n0,0\n1,0.1\n")
    (folder / "short.csv").write_text(f"time,{','.join(robots.load('boxer').actuators)}\n0,0,0,0,0\n")
    (folder / "limits.json").write_text('{"look_ahead": true, "acceleration_limit": 30}')
    (folder / "paw.json").write_text('{"targets": {"paw": {}}}')
    columns = ",".join(robots.load("walker").actuators)
    head = f"# base: paw\ntime,{columns},base.x,base.y,base.z,base.qw,base.qx,base.qy,base.qz\n"
    (folder / "based.csv").write_text(f"{head}0,{'0,' * 12}0,0,1,1,0,0,0\n")
    (folder / "half.csv").write_text("time,base.x\n0,0\n")
    before = {p.name: p.read_bytes() for p in folder.iterdir()}
    done = robik(folder, *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1
    assert all(word in done.stderr for word in words), done.stderr
    assert {p.name: p.read_bytes() for p in folder.iterdir()} == before


@pytest.mark.parametrize("words", [("inspect", "boxer"), ("solve", "boxer", "none.npz", "-o", "m.csv"), ()])
def test_a_process_of_its_own_says_the_same(folder: Path, words: tuple[str, ...]) -> None:
    assert robik_apart(folder, *words) == robik(folder, *words)


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("robik ins", ["inspect"]),
        ("robik retarget wal", ["walker"]),
        ("robik retarget walker walk.bvh --bal", ["--balance"]),
        ("robik physics walker walk.csv --tri", ["--trials"]),
    ],
)
def test_words_are_completed_in_bash(line: str, offered: list[str]) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("no bash here")
    words = line.split()
    script = robik(Path.cwd(), "--completion").stdout
    asked = f"COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _robik; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    done = subprocess.run([bash, "-c", script + asked], capture_output=True, text=True, check=True)
    assert done.stdout.split() == offered


def test_a_robot_that_is_not_there_is_told_by_the_name_that_it_may_be(folder: Path) -> None:
    (folder / "empty.urdf").touch()
    (folder / "meshes").mkdir()
    for name, words in (
        ("waker", "is it walker? There are"), ("meshes", "it is a folder"), ("empty.urdf", "it is empty"),
    ):  # fmt: skip
        done = robik(folder, "inspect", name)
        assert (done.returncode, done.stdout) == (2, "")
        assert words in done.stderr and done.stderr.count(name) == 1


def test_without_a_terminal_a_line_comes_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = iter([0.0, 9.0, 11.0, 11.0, 12.0, 25.0, 25.0])
    monkeypatch.setattr(progress, "monotonic", lambda: next(clock))
    with progress.ProgressLine() as line:
        for share in (1, 2, 3, 4):
            line.tell(f"{share} %")
    assert capsys.readouterr() == ("", "2 %\n4 %\n")
