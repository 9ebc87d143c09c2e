"""A recording on a robot: by the library, by the command, by a mapping of one's own."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import robik
from robik.bake.progress import Progress
from robik.bake.settings import BakeSettings, Balance
from robik.batch.job import Item, Plan, do, done_row
from robik.errors import ClipError
from robik.feet.support import thin_feet
from robik.formats import save_robot
from robik.mechanism import Mechanism
from robik.motions import load_motion
from robik.recordings.retargeting import retarget_recording
from robik.skeleton.mapping_file import load_rows, save_rows
from tests.recordings.bvh_text import bvh_text
from tests.shell import Done, robik_apart
from tests.shell import robik as robik_here
from tests.skeleton.conventions import skeleton
from tests.skeleton.test_fit import walking


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("recordings")
    (made / "lafan1.bvh").write_text(bvh_text(walking(skeleton("lafan1")[0], 24), order="ZYX"))
    return made


@pytest.fixture(scope="module")
def walker() -> Mechanism:
    return robik.load("walker")


def run(folder: Path, *arguments: str) -> Done:
    return robik_here(folder, "retarget", *arguments)


def test_a_walk_is_followed(folder: Path, walker: Mechanism) -> None:
    told: list[Progress] = []
    found = retarget_recording(walker, folder / "lafan1.bvh", progress=told.append)
    assert told[0].is_planning and not told[-1].is_planning
    assert max(step.done for step in told) == 24
    assert [step.share for step in told] == sorted(step.share for step in told)
    followed = {follower.frame: follower.bone for follower in found.following.followers}
    assert (followed["foot_l"], followed["foot_r"]) == ("LeftFoot", "RightFoot")
    assert found.motion.report.residual.max() < 1e-9
    ahead = found.motion.base.position[-1] - found.motion.base.position[0]
    assert -ahead[1] > 0.1, "it walks where the recording walks"
    feet = [found.motion.report.targets.index(name) for name in ("foot_l", "foot_r")]
    assert found.motion.report.position_error[:, feet].mean() < 0.02


def on_blades(robot: Mechanism) -> Mechanism:
    """The robot with soles 4 mm wide."""
    feet = [frame for frame in robot.frames if frame.is_foot]
    narrow = {foot.name: tuple((x, float(np.sign(y)) * 0.002, z) for x, y, z in foot.sole) for foot in feet}
    frames = tuple(replace(frame, sole=narrow.get(frame.name, frame.sole)) for frame in robot.frames)
    return robot.with_changes(frames=frames)


def test_soles_that_cannot_stand_alone_are_said(
    folder: Path, walker: Mechanism, caplog: pytest.LogCaptureFixture
) -> None:
    """The library says it once, before anything is solved; a robot that does not balance hears nothing."""
    blades = on_blades(walker)
    retarget_recording(blades, folder / "lafan1.bvh", end=0.1)
    (said,) = [record.getMessage() for record in caplog.records]
    assert thin_feet(blades, Balance().margin) in said
    assert "cannot stand on one of them alone" in said
    caplog.clear()
    retarget_recording(blades, folder / "lafan1.bvh", end=0.1, balance="off", pin_feet=False)
    retarget_recording(walker, folder / "lafan1.bvh", end=0.1)
    assert not caplog.records
    save_robot(blades, folder / "blades.robik.json")
    done = robik_apart(folder, "retarget", "blades.robik.json", "lafan1.bvh", "-o", "blades.csv", "--end", "0.1")
    assert done.returncode == 0
    assert done.stderr.count("cannot stand on one of them alone") == 1


def test_the_command_gives_the_same_to_the_last_bit(folder: Path, walker: Mechanism) -> None:
    """In a process of its own."""
    words = "walker", "lafan1.bvh", "-o", "walk.csv", "--report", "r.json", "--save-mapping", "m.json"
    done = robik_apart(folder, "retarget", *words)
    assert (done.returncode, done.stderr) == (0, "")
    assert "foot_l follows LeftFoot" in done.stdout
    found = retarget_recording("walker", folder / "lafan1.bvh")
    motion = load_motion(folder / "walk.csv")
    assert np.array_equal(motion.values, found.motion.values)
    assert np.array_equal(motion.base.position, found.motion.base.position)
    assert json.loads((folder / "r.json").read_text())["frames"] == 24
    mapped = retarget_recording("walker", folder / "lafan1.bvh", mapping=folder / "m.json")
    assert np.array_equal(mapped.motion.values, found.motion.values), "a mapping that was saved is the one it was"
    part = retarget_recording("walker", folder / "lafan1.bvh", start=0.2, end=0.5)
    assert len(part.motion.times) == 10
    assert part.motion.times[0] == 0.0


WRONG = {
    "no file": (("walker", "none.bvh", "-o", "w.csv"), "none.bvh: there is no such file"),
    "format": (("walker", "lafan1.bvh", "-o", "w.csv", "--format", "fbx"), "unknown motion format 'fbx'"),
    "range": (("walker", "lafan1.bvh", "-o", "w.csv", "--start", "9"), "no frame lies between 9 and"),
    "mapping": (("walker", "lafan1.bvh", "-o", "w.csv", "--mapping", "bad.json"), "there is no such bone; there are"),
    "folder": (("walker", "lafan1.bvh", "-o", "none/w.csv"), "none/w.csv cannot be written"),
    "jerk": (
        ("walker", "lafan1.bvh", "-o", "w.csv", "--jerk", "-3"),
        "argument --jerk: a limit (0: as the motors') must be a number from 0 to 1e+12, not -3",
    ),
    "two": (
        ("walker", "lafan1.bvh", "-o", "w.csv", "--jerk", "3", "--slow-down"),
        "--zero-moment another way; give either",
    ),
    "slower": (
        ("walker", "lafan1.bvh", "-o", "w.csv", "--torque", "--slow-down"),
        "--zero-moment another way; give either",
    ),
    "tips slower": (
        ("walker", "lafan1.bvh", "-o", "w.csv", "--zero-moment", "--slow-down"),
        "--zero-moment another way; give either",
    ),
    "tips": (("walker", "lafan1.bvh", "-o", "w.csv", "--zero-moment", "--no-look-ahead"), "or --zero-moment"),
    "weak": (("walker", "lafan1.bvh", "-o", "w.csv", "--torque", "--no-look-ahead"), "or --torque"),
    "walks on": (("walker", "lafan1.bvh", "-o", "w.csv", "--cyclic"), "a cyclic clip ends where it begins, but the"),
    "no loop": (("walker", "lafan1.bvh", "-o", "w.csv", "--cyclic", "--no-look-ahead"), "or --cyclic"),
    "ends": (("walker", "lafan1.bvh", "-o", "w.csv", "--cyclic", "--slow-down"), "--cyclic has no end; give either"),
    "no motion": (("walker", "lafan1.bvh", "-o", "w.csv", "--own-range", "3", "9"), "say with --before as what"),
    "too far": (
        ("walker", "lafan1.bvh", "-o", "w.csv", "--own-range", "3", "900", "--before", "still.csv"),
        "the own range from frame 3 to 900 is not within the clip",
    ),
    "no ends": (
        ("walker", "lafan1.bvh", "-o", "w.csv", "--own-range", "3", "9", "--before", "still.csv", "--cyclic"),
        "leave out --cyclic, or the range",
    ),
    "resampled": (
        ("walker", "lafan1.bvh", "-o", "w.csv", "--own-range", "3", "9", "--before", "still.csv", "--rate", "50"),
        "leave out --rate, or the range",
    ),
    "one by one": (
        ("walker", "lafan1.bvh", "-o", "w.csv", "--own-range", "3", "9", "--before", "still.csv", "--no-look-ahead"),
        "leave out --no-look-ahead, or the range",
    ),
    "blind": (("walker", "lafan1.bvh", "-o", "w.csv", "--jerk", "3", "--no-look-ahead"), "leave out --no-look-ahead"),
}


@pytest.mark.parametrize("case", WRONG)
def test_bad_input_gets_one_line(folder: Path, case: str) -> None:
    (folder / "bad.json").write_text('{"foot_l": "LinkerFuss"}')
    columns = ",".join(robik.load("walker").actuators)
    (folder / "still.csv").write_text(f"time,{columns}\n0,{','.join('0' * 12)}\n")
    arguments, words = WRONG[case]
    done = run(folder, *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (folder / "w.csv").exists()


def test_a_recording_that_comes_back_becomes_a_loop(folder: Path) -> None:
    """By `robik retarget --cyclic` and in a batch, alike: the last sample is the first."""
    walk, there = walking(skeleton("lafan1")[0], 12), np.r_[np.arange(12), np.arange(10, -1, -1)]
    places, turns = walk.positions[there], walk.quaternions[there]
    back = replace(walk, times=walk.times[1] * np.arange(len(there)), positions=places, quaternions=turns)
    (folder / "loop").mkdir()
    (folder / "loop" / "back.bvh").write_text(bvh_text(back, order="ZYX"))
    done = run(folder, "walker", "loop/back.bvh", "-o", "loop.csv", "--cyclic", "--balance", "off", "--no-keep-apart")
    assert done.returncode == 0, done.stderr
    loop = load_motion(folder / "loop.csv")
    assert np.array_equal(loop.values[-1], loop.values[0])
    plan = Plan(
        robot="walker", output=str(folder / "out"), format="csv", extension=".csv",
        balance="off", settings={"keep_apart": False, "cyclic": True},
    )  # fmt: skip
    assert do(plan, Item(str(folder / "loop" / "back.bvh"), "back"))["error"] == ""
    assert np.array_equal(load_motion(folder / "out" / "back.csv").values, loop.values)
    open_ = retarget_recording("walker", back, balance="off", settings=BakeSettings(keep_apart=False))
    assert not np.allclose(open_.motion.values[-1], open_.motion.values[0], atol=1e-4)


def test_an_own_range_is_solved_again_within_the_rest(folder: Path) -> None:
    """By `robik retarget` and in a batch, alike: lines of other frames are the same."""
    (folder / "takes").mkdir()
    (folder / "takes" / "walk.bvh").write_bytes((folder / "lafan1.bvh").read_bytes())
    (folder / "before").mkdir()
    asked = ("--balance", "off", "--no-keep-apart")
    assert (
        run(folder, "walker", "takes/walk.bvh", "-o", "before/walk.csv", *asked, "--acceleration", "4").returncode == 0
    )
    own = ("--own-range", "4", "9", "--before", "before/walk.csv")
    done = run(folder, "walker", "takes/walk.bvh", "-o", "part.csv", *asked, *own)
    assert done.returncode == 0, done.stderr
    old, new = ((folder / name).read_text().splitlines() for name in ("before/walk.csv", "part.csv"))
    changed = [k for k, (a, b) in enumerate(zip(old[2:], new[2:], strict=True)) if a != b]
    assert old[:2] == new[:2]
    assert set(changed) <= set(range(4, 10)) and len(changed) > 3
    plan = Plan(
        robot="walker", output=str(folder / "again"), format="csv", extension=".csv", balance="off",
        settings={"keep_apart": False}, own_range=(4, 9), before=str(folder / "before"),
    )  # fmt: skip
    item = Item(str(folder / "takes" / "walk.bvh"), "walk")
    assert do(plan, item)["error"] == ""
    assert (folder / "again" / "walk.csv").read_text() == (folder / "part.csv").read_text()
    assert done_row(plan, item) is not None
    (folder / "before" / "walk.csv").write_text("\n".join(new) + "\n")
    assert done_row(plan, item) is None, "the motion before is another one"
    assert "gone.csv: there is no such file" in do(plan, Item(item.file, "gone"))["error"]


def test_where_no_target_has_a_place_nothing_is_said_of_one(folder: Path) -> None:
    turned = {"frame": "torso", "bone": "Hips", "position_weight": [0.0, 0.0, 0.0]}
    mapping = {"format": "robik-mapping", "version": 1, "targets": [turned]}
    (folder / "turned.json").write_text(json.dumps(mapping))
    done = run(folder, "walker", "lafan1.bvh", "-o", "turned.csv", "--mapping", "turned.json", "--no-keep-apart")
    assert done.returncode == 0, done.stderr
    assert " frames: no target has a place; " in done.stdout


def test_limits_of_acceleration_are_kept_by_looking_ahead(folder: Path, walker: Mechanism) -> None:
    """A walk that is held frame by frame needs many times the acceleration; the file keeps what is asked."""
    asked = ("--no-keep-apart", "--acceleration", "6", "--report", "ahead.json")
    done = run(folder, "walker", "lafan1.bvh", "-o", "ahead.csv", *asked)
    assert (done.returncode, done.stderr) == (0, "")
    assert "all frames at once in" in done.stdout
    assert json.loads((folder / "ahead.json").read_text())["look_ahead"]["converged"] is True
    motion = load_motion(folder / "ahead.csv")
    steps = np.diff(motion.times)
    acceleration = np.abs(np.diff(np.diff(motion.values, axis=0) / steps[:, None], axis=0)) / steps[1:, None]
    free = BakeSettings(keep_apart=False)
    report = retarget_recording(walker, folder / "lafan1.bvh", settings=free).motion.report
    assert acceleration.max() <= 1.0005 * 6 < 0.5 * np.abs(report.acceleration).max()


def test_mappings_by_hand(tmp_path: Path, folder: Path, walker: Mechanism) -> None:
    (tmp_path / "m.json").write_text('{"foot_l": "LeftFoot", "foot_r": "RightFoot", "torso": "Hips"}')
    found = retarget_recording("walker", folder / "lafan1.bvh", mapping=tmp_path / "m.json")
    assert [follower.frame for follower in found.following.followers] == ["foot_l", "foot_r", "torso"]
    rows = load_rows(tmp_path / "m.json")
    save_rows(rows, tmp_path / "n.json")
    assert load_rows(tmp_path / "n.json") == rows
    for text, words in (
        ("[]", "not a mapping"),
        ('{"format": "robik-mapping", "version": 2, "targets": []}', "its version is 2"),
        ('{"format": "robik-mapping", "version": 1, "targets": [{"frame": "a"}]}', "a target names a frame and a bone"),
        (
            '{"format": "robik-mapping", "version": 1, "targets": [{"frame": "a", "bone": "b", "weight": -1}]}',
            "its weight must be a number, zero or more",
        ),
        (
            '{"format": "robik-mapping", "version": 1, "targets": [{"frame": "a", "bone": "b", "wait": 1}]}',
            "has the unknown entry 'wait'",
        ),
    ):
        (tmp_path / "m.json").write_text(text)
        with pytest.raises(ClipError, match=words):
            load_rows(tmp_path / "m.json")
