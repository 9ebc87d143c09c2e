"""Batch: every recording of a folder onto a robot, in processes of this machine or in shards on several."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import connection
from pathlib import Path
from threading import Thread
from typing import Any

from ..errors import FormatError
from ..files import check_writable
from .cluster import rows_of
from .job import Item, Plan, do, done_row, ended_row, is_compiled
from .table import save_tables

RECORDINGS = (".bvh", ".npz")
LONGEST = 20  # characters of a shard
TRIES = 2  # of a recording whose worker ended with it

Tell = Callable[[dict[str, Any], int, int], None]  # a row, how many are done, of how many


def shard_of(text: str) -> tuple[int, int]:
    """Return K and N of a shard K/N; raise FormatError where the text is none."""
    k, _, n = text.partition("/")
    if not (k.isdecimal() and n.isdecimal() and len(text) < LONGEST):
        raise FormatError(f"a shard is K/N, as 2/8, not {text!r}")
    _check_shard((int(k), int(n)))
    return int(k), int(n)


def _check_shard(shard: tuple[int, int]) -> None:
    """Check that there is such a part. Raises FormatError."""
    k, n = shard
    if not 1 <= k <= n:
        raise FormatError(f"a shard is K/N with K from 1 to N, as 2/8, not {k}/{n}")


def items_in(folder: str | Path, shard: tuple[int, int] = (1, 1)) -> list[Item]:
    """Return the recordings in a folder and its subfolders, by name.

    `shard` (k, n) picks the k-th of n parts, from 1 on. Raise FormatError where there is no such folder or part, or
    nothing in it.
    """
    _check_shard(shard)
    k, n = shard
    root = Path(folder)
    if not root.is_dir():
        raise FormatError(f"{folder}: there is no such folder")
    files = sorted(file for file in root.rglob("*") if file.suffix.lower() in RECORDINGS and file.is_file())
    if not files:
        raise FormatError(f"{folder}: no recordings in it; they end in {' or '.join(RECORDINGS)}")
    stems = [file.relative_to(root).with_suffix("").as_posix() for file in files]
    names = [s if stems.count(s) == 1 else f"{s}-{f.suffix[1:]}" for s, f in zip(stems, files, strict=True)]
    return [Item(str(file.resolve()), name) for file, name in zip(files, names, strict=True)][k - 1 :: n]


def run_batch(
    plan: Plan,
    folder: str | Path,
    workers: int | None = None,
    shard: tuple[int, int] = (1, 1),
    tell: Tell | None = None,
    scheduler: str | None = None,
) -> list[dict[str, Any]]:
    """Retarget every recording of a folder, and return a row of figures for each, as the output's tables have them.

    An earlier run with the same plan is not repeated. A row has an `error` where its recording cannot be read or
    followed. There are as many `workers` as cores if left out. `shard` (k, n) picks the k-th of n parts. `tell` is
    called after each recording. `scheduler` is the address or file of a Dask scheduler, whose workers take the place of
    processes here.

    Raise FormatError where there is nothing to do or the output cannot be written, RobikError without the scheduler;
    the table has the rows so far.
    """
    items = items_in(folder, shard)
    try:
        Path(plan.output).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FormatError(f"{plan.output} cannot be made: {error.strerror or error}") from None
    check_writable(Path(plan.output) / "table.csv")
    rows = {item.name: row for item in items if (row := done_row(plan, item)) is not None}
    left = [item for item in items if item.name not in rows]
    answers = _done(plan, left, workers or os.cpu_count() or 1) if scheduler is None else rows_of(plan, left, scheduler)
    suffix = "" if shard[1] == 1 else f"-{shard[0]}-of-{shard[1]}"
    try:
        for row in answers:
            rows[row["file"]] = row
            if tell is not None:
                tell(row, len(rows), len(items))
    finally:
        ordered = [rows[item.name] for item in items if item.name in rows]
        save_tables(ordered, Path(plan.output), suffix)
    return ordered


def _done(plan: Plan, items: list[Item], workers: int) -> Iterator[dict[str, Any]]:
    """Yield the rows of recordings as worker processes are done, the longest recordings first: no worker is late."""
    left = sorted(items, key=_size, reverse=True)
    while left:
        running: dict[Future, Item] = {}
        try:
            with _pool(min(workers, len(left))) as pool:
                yield from _pooled(plan, pool, min(workers, len(left)), left, running)
        except BrokenProcessPool:  # a worker was ended from outside, or ended by what it read
            for item in running.values():
                yield done_row(plan, item) or _alone(plan, item)


def _size(item: Item) -> int:
    """Return the bytes of a recording; 0 where it is gone."""
    try:
        return Path(item.file).stat().st_size
    except OSError:
        return 0


def _pool(workers: int) -> ProcessPoolExecutor:
    """Return processes that end with this one, also where it is killed."""
    return ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _end_with_the_command)


def _end_with_the_command() -> None:
    """In a worker: end as soon as the process that started it has; the pool's own workers wait for work forever."""
    command = multiprocessing.parent_process()
    assert command is not None

    def watch() -> None:
        connection.wait([command.sentinel])
        os._exit(1)

    Thread(target=watch, daemon=True).start()


def _alone(plan: Plan, item: Item) -> dict[str, Any]:
    """Return the row of a recording from a process of its own: one that ends its process takes no other along."""
    for _ in range(TRIES):
        try:
            with _pool(1) as pool:
                return pool.submit(do, plan, item).result()
        except BrokenProcessPool:
            continue
    return ended_row(plan, item)


def _pooled(
    plan: Plan, pool: ProcessPoolExecutor, workers: int, left: list[Item], running: dict[Future, Item]
) -> Iterator[dict[str, Any]]:
    """Yield rows from a pool that has one recording per worker; `left` and `running` say what is not done.

    Where nothing is compiled yet the shortest recordings are solved one by one, until one of them has compiled it.
    """
    is_cold = not pool.submit(is_compiled).result()  # starts all workers: they import meanwhile
    while left or running:
        while left and len(running) < (1 if is_cold else workers):
            item = left[-1 if is_cold else 0]
            running[pool.submit(do, plan, item)] = item
            left.remove(item)
        finished, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in finished:
            row = future.result()
            is_cold = is_cold and bool(row["error"])
            del running[future]
            yield row
