"""Fields of records that are worked out when they are first asked for."""

from __future__ import annotations

from typing import Any


class OnDemand:
    """Field of a record that may be given as a function, which is called when its value is first asked for.

    It is kept under its name behind an underscore, and is None where nothing is given.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = f"_{name}"

    def __get__(self, record: Any, owner: type | None = None) -> Any:
        if record is None:
            return None  # the field's default
        value = record.__dict__[self._name]
        if callable(value):
            value = record.__dict__[self._name] = value()
        return value

    def __set__(self, record: Any, value: Any) -> None:
        record.__dict__[self._name] = value


def on_demand() -> Any:
    """Return such a field, as a default that any type of field takes."""
    return OnDemand()
