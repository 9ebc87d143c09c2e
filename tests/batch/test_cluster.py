"""Batches on a Dask cluster: the same bits, and nothing lost or doubled, whatever is killed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from socket import create_server
from threading import Thread

import numpy as np
import pytest

from robik import program
from robik.bake.settings import BakeSettings
from robik.batch.cluster import rows_of
from robik.batch.job import Plan, output_file
from robik.batch.run import items_in, run_batch
from robik.errors import RobikError
from robik.motions import load_motion
from robik.recordings.retargeting import retarget_recording
from tests.batch.dask_cluster import Cluster, cluster, rows_on_disk
from tests.recordings.bvh_text import bvh_text
from tests.skeleton.conventions import skeleton
from tests.skeleton.test_fit import walking

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processes are ended by signals")
COUNT = 12
FRAMES = 60


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "in"
    made.mkdir()
    text = bvh_text(walking(skeleton("lafan1")[0], FRAMES), order="ZYX")
    for k in range(COUNT):
        (made / f"{k:02}.bvh").write_text(text)
    return made


def plan_for(folder: Path) -> Plan:
    output = folder.parent / "out"
    output.mkdir(exist_ok=True)
    return Plan(
        robot="walker",
        output=str(output),
        format="csv",
        extension=".csv",
        balance="off",
        pin_feet=False,
        settings={"keep_apart": False},
    )


def start(folder: Path, made: Cluster) -> subprocess.Popen:
    words = ("walker", "in", "-o", "out", "--balance", "off", "--no-pin-feet", "--scheduler", made.address)
    return subprocess.Popen(
        program.command("cli", "batch", *words),
        cwd=folder.parent, env=program.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def until(done: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + 240.0
    while not done():
        assert time.monotonic() < end, what
        time.sleep(0.02)


def check_all(folder: Path) -> None:
    """Every recording has its motion, its row and its line in the table, once."""
    names = [f"{k:02}" for k in range(COUNT)]
    output = folder.parent / "out"
    assert rows_on_disk(output) == names
    assert [line.split(",")[0] for line in (output / "table.csv").read_text().splitlines()[1:]] == names
    assert not list(output.rglob("*.part"))
    alone = retarget_recording(
        "walker", folder / "00.bvh", balance="off", pin_feet=False, settings=BakeSettings(keep_apart=False)
    ).motion
    for name in names:
        assert np.array_equal(load_motion(output / f"{name}.csv").values, alone.values), name


@pytest.mark.parametrize("workers", [2, pytest.param(4, marks=pytest.mark.long)])
def test_workers_behind_a_slow_link_and_one_is_killed(
    folder: Path, tmp_path: Path, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker is killed in the middle; what it worked on goes to another.

    Nothing that a worker has in memory is asked for: one that ended meanwhile would be waited for.
    """
    monkeypatch.setattr("distributed.Future.result", lambda *_: pytest.fail("a worker's memory is asked"))
    plan, told = plan_for(folder), []
    with cluster(tmp_path / "cluster", workers, delay=0.02) as made:

        def tell(row: dict, done: int, of: int) -> None:
            told.append(row["file"])
            if len(told) == 3:
                os.kill(made.workers[0].pid, signal.SIGKILL)

        rows = run_batch(plan, folder, tell=tell, scheduler=made.address)
    assert [row["error"] for row in rows] == [""] * COUNT
    assert sorted(told) == [f"{k:02}" for k in range(COUNT)], "none is told twice"
    check_all(folder)


@pytest.mark.long
def test_a_scheduler_that_is_killed_and_comes_back(folder: Path, tmp_path: Path) -> None:
    plan, told = plan_for(folder), []
    with cluster(tmp_path / "cluster", 2) as made:

        def tell(row: dict, done: int, of: int) -> None:
            told.append(row["file"])
            if len(told) == 3:
                assert made.scheduler is not None
                os.kill(made.scheduler.pid, signal.SIGKILL)
                made.scheduler.wait()
                made.start_scheduler()
                made.start_worker()

        rows = run_batch(plan, folder, tell=tell, scheduler=made.address)
    assert [row["error"] for row in rows] == [""] * COUNT
    assert sorted(told) == [f"{k:02}" for k in range(COUNT)]
    check_all(folder)


@pytest.mark.long
def test_the_command_is_killed_then_the_scheduler_stays_away(folder: Path, tmp_path: Path) -> None:
    output = folder.parent / "out"
    with cluster(tmp_path / "cluster", 2) as made:
        command = start(folder, made)
        until(lambda: output.exists() and len(list((output / ".robik-batch").glob("*.json"))) >= 2, "two are done")
        os.kill(command.pid, signal.SIGKILL)
        command.communicate()
        first = (output / "00.csv").stat().st_mtime_ns
        again = start(folder, made)
        said = again.communicate(timeout=240)
        assert again.returncode == 0, said
        assert said[0] == f"{COUNT} of {COUNT} recordings; table.html in out has the worst first\n"
        assert (output / "00.csv").stat().st_mtime_ns == first
        check_all(folder)
        (output / "05.csv").unlink()
        made.end()
        with pytest.raises(RobikError, match=r"no Dask scheduler at tcp://127\.0\.0\.1:\d+ \(.*\); start one"):
            list(rows_of(plan_for(folder), items_in(folder)[5:6], made.address, patience=1.0))


@pytest.mark.parametrize("listener", ["nobody", "one that is silent", "one that says something else"])
def test_an_address_where_no_scheduler_answers_is_told_within_ten_seconds(folder: Path, listener: str) -> None:
    with create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        if listener == "nobody":
            server.close()
        elif listener != "one that is silent":
            Thread(target=lambda: server.accept()[0].sendall(b"SSH-2.0-OpenSSH_9.6\r\n" * 9), daemon=True).start()
        words = ("walker", "in", "-o", "out", "--scheduler", f"tcp://127.0.0.1:{port}")
        began = time.monotonic()
        done = subprocess.run(
            program.command("cli", "batch", *words), cwd=folder.parent, env=program.environment(), capture_output=True,
            text=True, timeout=60,
        )  # fmt: skip
        took = time.monotonic() - began
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(rf"robik: no Dask scheduler at tcp://127\.0\.0\.1:{port} \(.+\); start one .*\n", done.stderr)
    assert took < 10.0


def test_what_a_cluster_lacks_is_one_sentence(folder: Path, tmp_path: Path) -> None:
    plan = plan_for(folder)
    with pytest.raises(RobikError, match=r"no Dask scheduler at none\.json \(there is no such file\)"):
        list(rows_of(plan, items_in(folder), "none.json", patience=0.1))
    with pytest.raises(RobikError, match="no Dask scheduler at nonsense://x"):
        list(rows_of(plan, items_in(folder), "nonsense://x", patience=0.1))
    gone = Plan(**{**plan.__dict__, "robot": str(tmp_path / "gone.urdf")})
    with cluster(tmp_path / "cluster", 1) as made, pytest.raises(RobikError, match=r"does not see .*gone\.urdf: robot"):
        list(rows_of(gone, items_in(folder), made.address))
    assert not output_file(plan, "00").exists()
