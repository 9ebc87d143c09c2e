"""Folders of recordings onto a robot: the same bits as one by one, a table, and nothing done twice."""

from __future__ import annotations

import csv
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robik import program
from robik.batch import run
from robik.batch.job import Item, Plan, do, done_row, keep, output_file, trace
from robik.batch.run import items_in, run_batch
from robik.batch.table import TRACE, save_tables
from robik.errors import FormatError
from robik.motions import load_motion
from robik.recordings.retargeting import retarget_recording
from tests.recordings.bvh_text import bvh_text
from tests.skeleton.conventions import skeleton
from tests.skeleton.test_fit import walking


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "in"
    (made / "more").mkdir(parents=True)
    text = bvh_text(walking(skeleton("lafan1")[0], 12), order="ZYX")
    for name in ("a.bvh", "b.bvh", "more/a.bvh"):
        (made / name).write_text(text)
    (made / "bad.bvh").write_text(text[:400])
    (made / "readme.txt").write_text("no recording")
    return made


def plan_for(folder: Path) -> Plan:
    return Plan(robot="walker", output=str(folder.parent / "out"), format="csv", extension=".csv")


def test_the_same_as_one_by_one_and_one_bad_file_is_one_line(folder: Path) -> None:
    plan, told = plan_for(folder), []
    alone = retarget_recording("walker", folder / "b.bvh").motion  # one process compiles, not each worker
    rows = run_batch(plan, folder, workers=2, tell=lambda row, done, of: told.append((row["file"], done, of)))
    assert [row["file"] for row in rows] == ["a", "b", "bad", "more/a"]
    assert [bool(row["error"]) for row in rows] == [False, False, True, False]
    assert "bad.bvh: " in rows[2]["error"]
    assert sorted(done for _, done, _ in told) == [1, 2, 3, 4]
    for name in ("a", "b", "more/a"):
        assert np.array_equal(load_motion(output_file(plan, name)).values, alone.values), name
    assert not output_file(plan, "bad").exists()
    with (folder.parent / "out/table.csv").open() as file:
        table = list(csv.DictReader(file))
    assert [row["file"] for row in table] == ["a", "b", "bad", "more/a"]
    assert table[0]["frames"] == "12"
    page = (folder.parent / "out/table.html").read_text()
    assert page.index("bad") < page.index("more/a"), "what failed comes first"
    before = {file: file.stat().st_mtime_ns for file in (folder.parent / "out").rglob("*.csv")}
    told.clear()
    again = run_batch(plan, folder, workers=2, tell=lambda row, done, of: told.append(row["file"]))
    assert again == rows
    assert told == [], "nothing is done twice"
    assert all(file.stat().st_mtime_ns == time for file, time in before.items() if file.name != "table.csv")


def test_a_recording_that_is_cut_off_is_told_in_its_row(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    text = bvh_text(walking(skeleton("lafan1")[0], 12), order="ZYX")
    (tmp_path / "in/cut.bvh").write_text("\n".join(text.splitlines()[:-4]))
    (tmp_path / "in/whole.bvh").write_text(text)
    plan = plan_for(tmp_path / "in")
    cut, whole = (do(plan, item) for item in items_in(tmp_path / "in"))
    assert (cut["error"], cut["frames"], whole["frames"]) == ("", 8, 12)
    assert cut["note"].endswith("cut.bvh: it says that it has 12 frames, and has 8; is it cut off?")
    assert "note" not in whole


def test_what_has_changed_is_done_again(folder: Path) -> None:
    plan, item = plan_for(folder), items_in(folder)[0]
    row = {"file": "a", "error": ""}
    keep(plan, item, row)
    assert done_row(plan, item) is None, "its motion is not there"
    output_file(plan, "a").write_text("time\n0\n")
    assert done_row(plan, item) == row
    other = Plan(robot="walker", output=plan.output, format="csv", extension=".csv", balance="still")
    assert done_row(other, item) is None, "another plan"
    Path(item.file).write_text("changed")
    assert done_row(plan, item) is None, "another recording"
    assert done_row(plan, Item(str(folder / "none.bvh"), "none")) is None


def test_shards_are_parts(folder: Path) -> None:
    parts = [items_in(folder, (k, 3)) for k in (1, 2, 3)]
    assert sorted(item.name for part in parts for item in part) == ["a", "b", "bad", "more/a"]
    for shard in ((0, 3), (4, 3)):
        with pytest.raises(FormatError, match="a shard is K/N with K from 1 to N"):
            items_in(folder, shard)
    with pytest.raises(FormatError, match="there is no such folder"):
        items_in(folder / "none")
    empty = folder / "empty"
    empty.mkdir()
    with pytest.raises(FormatError, match=r"no recordings in it; they end in \.bvh or \.npz"):
        items_in(empty)


def test_a_table_of_names_that_are_html(tmp_path: Path) -> None:
    save_tables([{"file": "<b>", "error": "a & b", "seconds": 1.0}], tmp_path, "-1-of-2")
    page = (tmp_path / "table-1-of-2.html").read_text()
    assert "&lt;b&gt;" in page and "a &amp; b" in page and "<b>" not in page


def test_the_page_has_small_plots_and_sorts_with_failures_first(tmp_path: Path) -> None:
    rows = [
        {"file": "good", "error": "", "frames": 4, "position_error_max_m": 0.001, TRACE: [0.0, 0.001, 0.0005]},
        {"file": "bad", "error": "", "frames": 4, "position_error_max_m": 0.3, TRACE: [0.3, 0.1]},
        {"file": "broken", "error": "not a BVH"},
    ]
    save_tables(rows, tmp_path)
    page = (tmp_path / "table.html").read_text()
    assert page.index(">broken<") < page.index(">bad<") < page.index(">good<")
    assert page.count("<polyline") == 2 and page.count("<figure>") == 1
    heights = [float(point.split(",")[1]) for point in page.split('<polyline points="')[2].split('"')[0].split()]
    assert heights[0] > heights[2] > heights[1] >= 1.0, "zero is below, the largest above"
    assert TRACE not in (tmp_path / "table.csv").read_text()


def test_a_line_of_few_points_keeps_the_peaks() -> None:
    values = np.zeros(1000)
    values[777] = 0.12345
    line = trace(values)
    assert len(line) == 80 and max(line) == 0.123 and line.index(0.123) == 61
    assert trace(np.array([1.0])) == [1.0]


def is_running(pid: int) -> bool:
    """Return whether there is such a process that has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_after_kill_9_a_run_goes_on_where_it_stopped(folder: Path) -> None:
    """The command is killed when its second recording is told; its workers end, what was written is whole and stays."""
    (folder / "bad.bvh").unlink()
    command = program.command("cli", "batch", "walker", "in", "-o", "out", "--workers", "2")
    own, where = program.environment(), folder.parent
    process = subprocess.Popen(
        command, cwd=where, env=own, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    )
    assert process.stderr is not None
    first, second = (re.match(r"(\d)/3 (\S+) (\S+): ", process.stderr.readline()) for _ in range(2))
    assert first is not None and first.group(1, 2) == ("1", "██████░░░░░░░░░░░░░░")
    assert second is not None and second.group(1, 2) == ("2", "█████████████░░░░░░░")
    workers = [int(pid) for pid in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]
    assert len(workers) >= 2
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stderr.close()
    give_up = time.monotonic() + 60.0
    while any(map(is_running, workers)):
        assert time.monotonic() < give_up, "workers outlive the command"
        time.sleep(0.1)
    files = [where / "out" / f"{told[3]}.csv" for told in (first, second)]
    written = [file.stat().st_mtime_ns for file in files]
    done = subprocess.run(command, cwd=where, env=own, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "3 of 3 recordings; table.html in out has the worst first\n"
    assert [file.stat().st_mtime_ns for file in files] == written, "they are not done twice"
    assert not list((where / "out").rglob("*.part"))
    assert sorted(file.name for file in (where / "out").rglob("*.csv")) == ["a.csv", "a.csv", "b.csv", "table.csv"]


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("deadly", ["a", "d", "g"])
def test_no_recording_is_lost_or_doubled_when_workers_end(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, deadly: str, workers: int
) -> None:
    """A stand-in for the pool: one that breaks as a job is handed to it, others that break with a job."""
    pools: list[BreakingPool] = []

    class BreakingPool:
        def __init__(self, *_arguments: object) -> None:
            pools.append(self)
            self.jobs = 0

        def __enter__(self) -> BreakingPool:
            return self

        def __exit__(self, *_error: object) -> None:
            return None

        def submit(self, job: Callable, *given: Any) -> Future:
            future: Future = Future()
            if job is run.is_compiled:
                future.set_result(True)
                return future
            plan, item = given
            self.jobs += 1
            if len(pools) == 1 and self.jobs == 3:
                raise BrokenProcessPool
            if item.name == deadly or (len(pools) == 2 and self.jobs == 2):
                future.set_exception(BrokenProcessPool())
            else:
                future.set_result(job(plan, item))
            return future

    monkeypatch.setattr(run, "ProcessPoolExecutor", BreakingPool)
    monkeypatch.setattr(run, "do", lambda plan, item: {"file": item.name, "error": ""})
    plan = Plan(robot="walker", output=str(tmp_path), format="csv", extension=".csv")
    names = ["a", "b", "c", "d", "e", "f", "g"]
    rows = list(run._done(plan, [Item(name, name) for name in names], workers))
    assert sorted(row["file"] for row in rows) == names
    assert [row["file"] for row in rows if row["error"]] == [deadly]


@pytest.mark.parametrize("is_compiled", [False, True])
def test_one_recording_compiles_for_all(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, is_compiled: bool) -> None:
    """Where nothing is compiled the shortest ones go first, alone, until one of them is solved; else the longest."""
    handed: list[tuple[str, int]] = []  # names, and how many are at work then

    class Pool:
        def submit(self, job: Callable, *given: Any) -> Future:
            future: Future = Future()
            if job is run.is_compiled:
                future.set_result(is_compiled)
            else:
                handed.append((given[1].name, len(running) + 1))
            return future

    def ended(futures: dict[Future, Item], return_when: str) -> tuple[set[Future], None]:
        future, item = next(iter(futures.items()))
        future.set_result({"file": item.name, "error": "not a BVH" if item.name == "1" else ""})
        return {future}, None

    for size in (1, 3, 2, 4):
        (tmp_path / str(size)).write_bytes(b"0" * size)
    monkeypatch.setattr(run, "wait", ended)
    plan = Plan(robot="walker", output=str(tmp_path), format="csv", extension=".csv")
    running: dict[Future, Item] = {}
    left = sorted((Item(str(tmp_path / n), n) for n in "1324"), key=run._size, reverse=True)
    rows = list(run._pooled(plan, Pool(), 2, left, running))
    assert sorted(row["file"] for row in rows) == ["1", "2", "3", "4"]
    if is_compiled:
        assert handed == [("4", 1), ("3", 2), ("2", 2), ("1", 2)]
    else:
        assert handed == [("1", 1), ("2", 1), ("4", 1), ("3", 2)]
