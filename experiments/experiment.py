"""The interface of an experiment."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Found = dict[str, Any]
_began = time.monotonic()
QUIET = 8.0  # s


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A measurement that runs alone.

    Attributes:
        run: takes the parameters as keywords; returns what was found.
        show: prints what was found as tables.
        parameters: by keyword of `run`, the value by default and the value under `--full`.
    """

    run: Callable[..., Found]
    show: Callable[[Found], None]
    parameters: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)

    def values(self, given: Mapping[str, Any], full: bool) -> dict[str, Any]:
        """Return each parameter's value: the given one, else that of the chosen size."""
        return {
            name: given[name] if given.get(name) is not None else sizes[full] for name, sizes in self.parameters.items()
        }


def together(*parts: Experiment) -> Experiment:
    """Return the experiment that runs the parts one after the other into one result."""

    def run(**values: Any) -> Found:
        found: Found = {}
        for part in parts:
            found |= part.run(**part.values(values, full=False))
        return found

    def show(found: Found) -> None:
        for part in parts:
            part.show(found)

    return Experiment(
        run=run, show=show, parameters={name: sizes for part in parts for name, sizes in part.parameters.items()}
    )


class _Said:
    """The last line of progress, and when it was printed."""

    line = "start"
    at = _began
    since = _began


def tell(progress: str) -> None:
    """Print a line of progress to stderr, after the seconds since the start."""
    _Said.line, _Said.since = progress, time.monotonic()
    _print(progress)


@contextmanager
def telling() -> Iterator[None]:
    """Tell the last line of progress again whenever nothing was told for `QUIET` seconds."""
    done = threading.Event()

    def watch() -> None:
        while not done.wait(max(0.1, _Said.at + QUIET - time.monotonic())):
            if time.monotonic() >= _Said.at + QUIET:
                _print(f"… for {time.monotonic() - _Said.since:.0f} s: {_Said.line}")

    watching = threading.Thread(target=watch, name="progress", daemon=True)
    watching.start()
    try:
        yield
    finally:
        done.set()
        watching.join()


def _print(line: str) -> None:
    _Said.at = time.monotonic()
    print(f"[{_Said.at - _began:5.0f} s] {line}", file=sys.stderr, flush=True)


def plain(value: Any) -> Any:
    """Return a value with its arrays as lists, for JSON."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
