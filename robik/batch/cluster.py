"""Batch on a Dask cluster: recordings as tasks of its workers, which see the same folders as the command.

Whatever is killed, a row on disk says what is done: a task whose worker ended goes to another worker, tasks that a
scheduler has lost are handed out again when it is back, and a command that is called again goes on.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Lock
from time import monotonic, sleep
from typing import Any

from ..errors import FormatError, RobikError
from ..extras import extra
from ..files import read_json
from ..robots import names
from .job import Item, Plan, do, done_row, ended_row

LOOK = 0.1  # s between two looks at what is done
CONNECT = 5.0  # s for a client to connect to a scheduler that has answered
FIRST = 4.0  # s for a scheduler to answer at first
PATIENCE = 60.0  # s for one to come back
_one_at_a_time = Lock()  # of this process: the solver keeps one core busy, whatever threads its worker has


class _Lost(Exception):
    """A scheduler that is gone."""


def rows_of(plan: Plan, items: Sequence[Item], address: str, patience: float = PATIENCE) -> Iterator[dict[str, Any]]:
    """Yield the row of each recording as a cluster is done with it; the first alone, so that all is compiled once.

    `address` is the scheduler's, such as `tcp://host:8786`, or the path of the file that it writes about itself; it has
    `patience` [s] to come back. Raise RobikError where there is none, it stays away, or its workers lack something.
    """
    with extra("dask"):
        import distributed  # noqa: F401
    left = {item.name: item for item in items}
    wait = min(FIRST, patience)
    while left:
        with _client(address, wait) as client:
            wait = patience
            _check_workers(client, plan, next(iter(left.values())))
            try:
                first = len(left) == len(items)
                for row in _answers(client, plan, list(left.values())[: 1 if first else None]):
                    left.pop(row["file"])
                    yield row
            except _Lost:
                continue


def once(plan: Plan, item: Item) -> dict[str, Any]:
    """Return the row of a recording, on a worker; do it unless it has been done.

    Raise FormatError where this machine does not see the recording or the output.
    """
    if missing := _missing(plan, item):
        raise FormatError(missing)
    with _one_at_a_time:
        return done_row(plan, item) or do(plan, item)


def _missing(plan: Plan, item: Item) -> str:
    """Return what a worker does not see of what it needs, in words; empty if nothing."""
    robot = () if plan.robot in names() else (plan.robot,)
    asked = (*robot, item.file, plan.output, *filter(None, (plan.mapping, plan.body_model)))
    unseen = [path for path in asked if not os.path.exists(path)]
    if not unseen:
        return ""
    host = os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")
    return f"the worker on {host} does not see {unseen[0]}: robot, recordings and output must be in folders of all"


def _client(address: str, patience: float) -> Any:
    """Return a connection to a scheduler. Raises RobikError where none answers within `patience` seconds."""
    from distributed import Client

    until = monotonic() + patience
    while True:
        left = max(until - monotonic(), LOOK)
        try:
            asyncio.run(asyncio.wait_for(_answer(_place(address), left), left))
            return Client(_place(address), timeout=CONNECT, set_as_default=False)
        except Exception as error:  # whoever listens there can answer anything
            problem = "nobody answers there" if isinstance(error, OSError) else " ".join(str(error).split())
            if isinstance(error, ValueError | TypeError) or monotonic() >= until:
                break
        sleep(min(0.5, max(until - monotonic(), 0.0)))
    raise RobikError(
        f"no Dask scheduler at {address} ({problem}); start one (dask scheduler) and call the same command again: "
        "what is done is not done twice"
    )


def _place(address: str) -> str:
    """Return a scheduler's address, where that is a file the one that is in it."""
    if not address.endswith(".json"):
        return address
    if not Path(address).is_file():
        raise FormatError("there is no such file")
    found = read_json(address)
    if not isinstance(found, dict) or not isinstance(found.get("address"), str):
        raise FormatError('a scheduler writes its "address" into that file, and there is none')
    return found["address"]


async def _answer(address: str, timeout: float) -> None:
    """Wait for an answer of whoever listens at an address: a client would wait for one that never comes."""
    from distributed.core import connect
    from distributed.security import Security

    (await connect(address, timeout, **Security().get_connection_args("client"))).abort()


def _check_workers(client: Any, plan: Plan, item: Item) -> None:
    """Check that the workers that are there have this RobIK and see the folders. Raises RobikError."""
    from .. import __version__

    try:
        seen = client.run(_seen, plan, item)
    except ModuleNotFoundError as error:
        told = f"the cluster's workers have no module {error.name!r}: pip install '.[dask]' there, in a checkout"
        raise RobikError(told) from None
    except OSError:
        return  # a worker, or the scheduler, went away just now
    for worker, (version, missing) in seen.items():
        if version != __version__:
            raise RobikError(f"the worker {worker} has RobIK {version}, this is {__version__}: install the same there")
        if missing:
            raise RobikError(missing)


def _seen(plan: Plan, item: Item) -> tuple[str, str]:
    """Return a worker's version, and what it does not see."""
    from .. import __version__

    return __version__, _missing(plan, item)


def _answers(client: Any, plan: Plan, items: Sequence[Item]) -> Iterator[dict[str, Any]]:
    """Yield rows as tasks end. Raises _Lost where the scheduler is gone."""
    from distributed import as_completed
    from distributed.scheduler import KilledWorker

    asked = {client.submit(once, plan, item, key=f"robik {item.name}", pure=False): item for item in items}
    ended = as_completed(list(asked), loop=client.loop)
    while asked:
        if client.status != "running":
            raise _Lost
        for future in ended.next_batch(block=False):
            item = asked.pop(future)
            if future.status in ("cancelled", "lost"):
                raise _Lost
            error = future.exception() if future.status == "error" else None
            if isinstance(error, RobikError):
                raise error
            if error is not None and not isinstance(error, KilledWorker):
                raise error
            if error is not None:
                yield ended_row(plan, item)
            else:  # a worker that has ended since cannot be asked, and the row is on the disk that all share
                yield done_row(plan, item) or future.result()
        sleep(LOOK)
