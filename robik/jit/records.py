"""Groups of arrays that compiled code gets by one pointer.

A NamedTuple of arrays is how such a group is declared. Handed to compiled functions as it is, every call would pass
every array of it, which costs time in each call and minutes of compiling. A reference to it (`references`) has the
same arrays under the same names, in Python and in compiled code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from numba import types
from numba.extending import overload

from .trial import numbas

Group = TypeVar("Group", bound=NamedTuple)


def by_reference(arrays: Group) -> Group:
    """Return a reference to a NamedTuple's arrays; nested groups must be references already.

    It is the group itself where numba cannot take references.
    """
    if not numbas().references:
        return arrays
    from .references import Reference

    reference: Any = Reference(arrays, kinds_are_one_type=numbas().fast)
    return reference


def compiled_for_record(record: type, *, otherwise: Any = None) -> Callable[[Callable], Callable]:
    """Let compiled code call a function only where its last argument is such a record (a decorator).

    It is not compiled before there is one. `record` is a NamedTuple or the kind of it, which is a subclass. For
    other records the call gives `otherwise`, of the type that the function returns.
    """

    def decorate(function: Callable) -> Callable:
        if numbas().fast:
            from .late import compiled_late

            compiled_late(function, record, otherwise)
            return function

        def choose(*arguments: types.Type) -> Callable:
            return function if _group_of(arguments[-1]) == record.__name__ else (lambda *arguments: otherwise)

        overload(function, strict=False)(choose)
        return function

    return decorate


def _group_of(kind: types.Type) -> str | None:
    """Return the name of the NamedTuple that a type stands for, None if it is none."""
    if isinstance(kind, types.NamedTuple):
        return kind.instance_class.__name__
    found = getattr(kind, "record", None)
    return found.__name__ if found else None
