"""Batch on a Dask cluster: recordings as tasks of its workers, which see the same folders as the command.

Whatever is killed, a row on disk says what is done: a task whose worker ended goes to another worker, tasks that a
scheduler has lost are handed out again when it is back, and a command that is called again goes on.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Lock
from time import monotonic, sleep
from typing import Any

from ..errors import FormatError, RobikError
from ..extras import extra
from ..robots import names
from .job import Item, Plan, do, done_row, ended_row

LOOK = 0.1  # s between two looks at what is done
PATIENCE = 60.0  # s for a scheduler to come, or to come back
_one_at_a_time = Lock()  # of this process: the solver keeps one core busy, whatever threads its worker has


class _Lost(Exception):
    """A scheduler that is gone."""


def rows_of(plan: Plan, items: Sequence[Item], address: str, patience: float = PATIENCE) -> Iterator[dict[str, Any]]:
    """Yield the row of each recording as a cluster is done with it; the first alone, so that all is compiled once.

    `address` is the scheduler's, such as `tcp://host:8786`, or the path of the file that it writes about itself; it is
    waited for `patience` [s]. Raise RobikError where there is none, it does not come back, or its workers lack
    something.
    """
    with extra("dask"):
        import distributed  # noqa: F401
    left = {item.name: item for item in items}
    while left:
        with _client(address, patience) as client:
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
    """Return a connection to a scheduler. Raises RobikError where there is none within `patience` seconds."""
    from distributed import Client

    by_file = {"scheduler_file": address} if address.endswith(".json") else {"address": address}
    until, problem = monotonic() + patience, ""
    while True:
        try:
            if "scheduler_file" in by_file and not Path(address).is_file():
                raise OSError("there is no such file")
            return Client(**by_file, timeout=min(patience, 5.0), set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            problem = " ".join(str(error).split())
            if isinstance(error, ValueError | TypeError) or monotonic() > until:
                break
        sleep(0.5)
    raise RobikError(
        f"no Dask scheduler at {address} ({problem}); start one (dask scheduler) and call the same command again: "
        "what is done is not done twice"
    )


def _check_workers(client: Any, plan: Plan, item: Item) -> None:
    """Check that the workers that are there have this RobIK and see the folders. Raises RobikError."""
    from .. import __version__

    try:
        seen = client.run(_seen, plan, item)
    except ModuleNotFoundError as error:
        told = f"the cluster's workers have no module {error.name!r}: pip install 'robik[dask]' there"
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
            yield ended_row(plan, item) if error is not None else future.result()
        sleep(LOOK)
