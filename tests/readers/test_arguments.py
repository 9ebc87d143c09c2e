"""Numbers, formats and paths on the command line: nonsense is refused in one line before anything is read or solved."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from robik import cli

NONSENSE = ("0", "-1", "nan", "inf", "-inf", "1e300", "", "x")
SOLVE, RETARGET = ("solve", "walker", "none.npz", "-o", "m.csv"), ("retarget", "walker", "none.bvh", "-o", "m.csv")
BATCH, EXPORT = ("batch", "walker", "none", "-o", "out"), ("export", "none.csv", "-o", "m.json")
RETIME, PHYSICS = ("retime", "walker", "none.csv"), ("physics", "walker", "none.csv")
PLAY = ("play", "none.csv", "--servos", "none.json", "--port", "sim")
TEACH = ("teleoperate", "--servos", "a", "--port", "sim", "--leader", "b", "--leader-port", "sim")
GAINS = ("servos", "gains", "--port", "sim", "--servos", "none.json")
SET = ("servos", "set", "--port", "sim", "--id", "1")
# An option, and the words of `NONSENSE` that it takes.
OPTIONS: tuple[tuple[tuple[str, ...], str, tuple[str, ...]], ...] = (
    (SOLVE, "--prior-weight", ("0",)), (RETARGET, "--rate", ()), (RETARGET, "--acceleration", ("0",)),
    (RETARGET, "--jerk", ("0",)), (RETARGET, "--start", ("0", "-1")), (RETARGET, "--end", ("0", "-1")),
    (BATCH, "--rate", ()), (BATCH, "--workers", ()), (BATCH, "--shard", ()), (BATCH, "--jerk", ("0",)),
    (EXPORT, "--rate", ()), (EXPORT, "--fps", ()), (EXPORT, "--p-gain", ()),
    (("transfer", "walker", "walker", "none.csv", "-o", "m.csv"), "--fps", ()),
    (RETIME, "--speed", ()), (RETIME, "--acceleration", ()), (RETIME, "--jerk", ()), (RETIME, "--catch-up", ("0",)),
    (RETIME, "--vibration", ()), (PHYSICS, "--rate", ()), (PHYSICS, "--speed", ()), (PHYSICS, "--p-gain", ()),
    (PHYSICS, "--stiffness", ()), (PHYSICS, "--trials", ("0",)), (PLAY, "--rate", ()), (PLAY, "--approach", ()),
    (PLAY, "--speed", ()), (PLAY, "--without", ("0",)), (TEACH, "--rate", ()), (("show", "none.json"), "--rate", ()),
    (("show", "none.json"), "--approach", ()), (GAINS, "--id", ("0",)), (GAINS, "--p", ("0",)),
    (GAINS, "--acceleration", ()), (SET, "--new-id", ("0",)), (SET, "--baud", ()),
)  # fmt: skip


def cases() -> Iterator[tuple[str, ...]]:
    for words, option, taken in OPTIONS:
        for word in NONSENSE:
            if word not in taken:
                yield (*words, f"{option}={word}")
    for frames in (("-1", "5"), ("0", "nan"), ("0", "1e3")):
        yield (*SOLVE, "--look-ahead", "--before", "none.csv", "--own-range", *frames)
    yield (*RETARGET, "--start", "5", "--end", "4")
    yield (*PLAY, "--range", "nan", "4")
    yield (*BATCH, "--shard", "²/3")
    yield (*BATCH, "--shard", "1/" + "9" * 5000)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def told(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> str:
    """The line on stderr of a command that is refused."""
    try:
        code = cli.main(words)
    except SystemExit as error:  # of argparse
        code = error.code
    out, said = capsys.readouterr()
    assert (code, out, said.count("\n")) == (2, "", 1), (words, out, said)
    return said


def test_numbers_that_cannot_be_are_refused_before_any_file_is_opened(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No file of these commands exists: whoever opens one says so, instead of what is wrong with the number."""
    late = [
        f"{' '.join(words)[:120]}: {said}"
        for words in cases()
        if "none" in (said := told(words, capsys)) and "no such" in said
    ]
    assert late == []
    assert not list(folder.iterdir())


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("retarget", "ur10", "none.bvh", "-o", "m.csv", "--format", "lafan1-csv"), "for robots that float"),
        (("retarget", "walker", "none.bvh", "-o", "m.ino"), "robik export --servos SERVOS.json"),
        (("retarget", "walker", "none.bvh", "-o", "m.json", "--format", "reachy-move"), "need its motors"),
        (("retarget", "walker", "none.bvh", "-o", "m", "--format", "sonic-csv", "--rate", "30"), "--rate 50"),
        (("retarget", "walker", "none.bvh", "-o", "none/m.csv"), "none/m.csv cannot be written: No such file"),
        (("retarget", "walker", "none.bvh", "-o", ""), "cannot be written|a motion is exported as"),
        (("retarget", "walker", "none.bvh", "-o", "m.csv", "--format", "fbx"), "unknown motion format 'fbx'"),
        (("batch", "ur10", "in", "-o", "out", "--format", "gmr-pkl"), "for robots that float"),
        (("batch", "none.urdf", "in", "-o", "out"), "none.urdf: there is no such file"),
        (("batch", "walker", "in", "-o", "in/a.bvh"), "cannot be made: File exists"),
        (("retime", "ur10", "none.csv", "-o", "m.csv", "--format", "lafan1-csv"), "for robots that float"),
        (("transfer", "walker", "ur10", "none.csv", "-o", "m.pkl"), "for robots that float"),
        (("solve", "none.urdf", "none.npz", "-o", "none/m.csv"), "none/m.csv cannot be written"),
        (("fk", "none.urdf", "none.csv", "-o", "none/m.npz"), "none/m.npz cannot be written"),
        (("export", "none.csv", "-o", "none/m.json"), "none/m.json cannot be written"),
        (("export", "none.csv", "-o", "m.ino"), r"needs a servo chain; give a \*.servos.json"),
        (("export", "none.csv", "-o", "m.pkl"), "needs its robot"),
        (("report", "none.csv", "-o", "none/r.html"), "none/r.html cannot be written"),
        (("physics", "none.urdf", "none.csv", "--goals", "none/g.csv"), "none/g.csv cannot be written"),
        (("inspect", "none.urdf", "--motion", "none.csv", "-o", "none/d.csv"), "none/d.csv cannot be written"),
    ],
)
def test_what_cannot_be_written_is_told_before_long_work(
    folder: Path, words: tuple[str, ...], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The recording, the clip or the motion is not there, which is seen only where work would begin."""
    (folder / "in").mkdir()
    (folder / "in" / "a.bvh").write_text("HIERARCHY")
    said = told(words, capsys)
    assert re.search(says, said), said
    assert sorted(path.name for path in folder.rglob("*")) == ["a.bvh", "in"]
