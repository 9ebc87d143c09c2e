"""Wishes of an owner whose stream is in another process."""

from __future__ import annotations

import time
from collections.abc import Callable
from math import inf

import numpy as np

from .stream import LOOK

BEAT_EVERY = 0.02  # [s] at most


class SentWishes:
    """Requests to a stream in another process: see `Wishes`.

    Attributes:
        stop, wish, show: to be `set`.
    """

    def __init__(self, send: Callable[..., None]) -> None:
        self.stop, self.wish, self.show = _SentStop(send), _SentWish(send), _SentShow(send)
        self._send, self._pace, self._look_every, self._beat = send, 1.0, LOOK, -inf
        self._traced = -1

    @property
    def pace(self) -> float:
        """1 as planned, 0 for a pause."""
        return self._pace

    @pace.setter
    def pace(self, pace: float) -> None:
        self._pace = pace
        self._send("pace", pace=pace)

    @property
    def look_every(self) -> float:
        """Time between looks at the servos while nothing plays [s]."""
        return self._look_every

    @look_every.setter
    def look_every(self, seconds: float) -> None:
        self._look_every = seconds
        self._send("look_every", seconds=seconds)

    @property
    def traced(self) -> int:
        """Id of the servo whose trace is wanted; -1 for none."""
        return self._traced

    @traced.setter
    def traced(self, id: int) -> None:
        self._traced = id
        self._send("traced", id=id)

    def beat(self) -> None:
        """Alive."""
        now = time.perf_counter()
        if now - self._beat >= BEAT_EVERY:
            self._beat = now
            self._send("beat", is_newest=True)

    def clear(self) -> None:
        """No wishes, and alive."""
        self._pace = 1.0
        self._send("clear")


class _SentStop:
    def __init__(self, send: Callable[..., None]) -> None:
        self._send = send

    def set(self) -> None:
        """Come to a stand."""
        self._send("stop")


class _SentWish:
    def __init__(self, send: Callable[..., None]) -> None:
        self._send = send

    def set(self, values: np.ndarray | None) -> None:
        """Request values (n,) [rad or m]; None, or NaN in some, where nothing is requested."""
        self._send("wish", is_newest=True, values=None if values is None else np.asarray(values, dtype=float).tolist())


class _SentShow:
    def __init__(self, send: Callable[..., None]) -> None:
        self._send = send

    def set(self, begin: float) -> None:
        """Set when a show begins, by `time.perf_counter` [s], which all processes share."""
        self._send("show", is_newest=True, begin=begin)
