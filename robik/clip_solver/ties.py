"""Ties between frames, which are objectives of one frame elsewhere: here both frames move."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..objectives.registry import ObjectiveTables
from .model import Neighbours


class Ties:
    """Weights of what ties frames together, from the objectives of one frame."""

    def __init__(self, tables: ObjectiveTables, beside: Neighbours):
        self._tables, self._beside = tables, beside
        self._weights = tables.change_of_state.weight.copy(), tables.velocity.weight.copy()

    @contextmanager
    def apart(self) -> Iterator[None]:
        """Take what ties frames together out of the tables of one frame meanwhile."""
        state, speed = self._tables.change_of_state.weight, self._tables.velocity.weight
        self._weights = state.copy(), speed.copy()
        self.tie(self._beside)
        state[:] = speed[:] = 0.0
        try:
            yield
        finally:
            state[:], speed[:] = self._weights

    def tie(self, beside: Neighbours) -> None:
        """Set the weights of what ties a frame to its neighbours."""
        for tie in (beside.back, beside.ahead):
            tie.state.weight[:], tie.velocity.weight[:] = self._weights
