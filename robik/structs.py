"""Groups of arrays that compiled code gets by one pointer.

A NamedTuple of arrays is how such a group is declared. Handed to compiled functions as it is, every call would pass every array of
it, which costs time in each call and minutes of compiling. Its reference has the same arrays under the same names, in Python and in
compiled code.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

from numba import config, njit  # config.DISABLE_JIT: NUMBA_DISABLE_JIT=1 runs the same source uncompiled
from numba.core import types
from numba.experimental import structref

Group = TypeVar("Group", bound=NamedTuple)
_packers: dict[type, Any] = {}


def referable(group: type[Group]) -> type[Group]:
    """Class decorator: makes a NamedTuple of arrays one that `by_reference` takes."""
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        return group
    name = group.__name__
    kind = type(f"{name}Type", (types.StructRef,), {"__module__": __name__})
    proxy = type(f"{name}Reference", (structref.StructRefProxy,), {"__module__": __name__})
    globals()[kind.__name__], globals()[proxy.__name__] = kind, proxy  # where numba's cache looks them up
    structref.register(kind)
    structref.define_proxy(proxy, kind, list(group._fields))

    @njit(cache=True)
    def pack(arrays):
        return proxy(*arrays)

    _packers[group] = pack
    return group


def by_reference(arrays: Group) -> Group:
    """A reference to a group's arrays; nested groups must be references already."""
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        return arrays
    reference = _packers[type(arrays)](arrays)
    for name, value in zip(arrays._fields, arrays, strict=True):
        object.__setattr__(reference, name, value)
    return reference
