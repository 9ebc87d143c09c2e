"""The type of references to groups of arrays.

A reference is the address of a table: a number for its kind, then of each array the data's address, the shape and the
strides, of each number the number, of each nested group the address of its own table. The table never changes, which
the compiler is told.

Kinds of a group are subclasses of its NamedTuple. Where kernels are compiled `late`, all are of one type.
"""

from __future__ import annotations

import hashlib
import struct
from binascii import crc32
from collections import defaultdict
from collections.abc import Callable
from itertools import chain
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import typeof
from numba.core import cgutils, types
from numba.core.datamodel.models import PrimitiveModel
from numba.core.typing.templates import AttributeTemplate
from numba.extending import NativeValue, infer_getattr, lower_getattr_generic, register_model, unbox
from numba.np.numpy_support import as_dtype

WORD = ir.IntType(64)
NAMED_TUPLE = -3  # place among the classes that a kind of it has: before tuple and object
_types: dict[tuple[type, tuple], GroupType] = {}  # by kind of group and by what its fields are
_made: set[type] = set()  # kinds of which there has been a reference
_waiting: dict[type, list[Callable[[], None]]] = defaultdict(list)  # what is to be done before there is one
_lock = Lock()


class GroupType(types.Type):
    """The type of a reference: what kind of array, number or group each field is."""

    def __init__(self, record: type, fields: tuple[tuple[str, types.Type], ...]):
        self.record, self.fields = record, dict(fields)
        self.places: dict[str, int] = {}
        words = 1
        for name, kind in fields:
            self.places[name] = words
            words += 1 + 2 * kind.ndim if isinstance(kind, types.Array) else 1
        digest = hashlib.sha256(repr([(name, str(kind)) for name, kind in fields]).encode()).hexdigest()
        super().__init__(f"{record.__name__}_{digest[:12]}")


class Reference:
    """A group's fields, the `table` that compiled code reads, and its `address`.

    Its type is that of its class, or of the NamedTuple that this is a kind of.
    """

    def __init__(self, group: NamedTuple, kinds_are_one_type: bool = False):
        record = type(group).__mro__[NAMED_TUPLE] if kinds_are_one_type else type(group)
        self._numba_type_ = _group_type(record, tuple(map(_alike, group)), group)
        self.__dict__.update(group._asdict())
        words = [kind_number(type(group)), *chain.from_iterable(map(_words, group))]
        self.table = np.array(words, dtype=np.int64)
        self.address = self.table.ctypes.data
        if type(group) not in _made:
            _make_ready(type(group))


def when_made(kind: type, action: Callable[[], None]) -> None:
    """Call an action before the first reference to a kind of group is handed out; at once if one has been.

    It may be called twice.
    """
    with _lock:
        _waiting[kind].append(action)
        ready = kind in _made
    if ready:
        action()


def _make_ready(kind: type) -> None:
    """Do what waits for a kind of group; compiling may add to it meanwhile."""
    done = 0
    while True:
        with _lock:
            actions = _waiting[kind][done:]
            if not actions:
                _made.add(kind)
                return
        for action in actions:
            action()
        done += len(actions)


def kind_number(kind: type) -> int:
    """Return the number that tells a kind of group from the others, the same in all processes."""
    return crc32(kind.__name__.encode())


def _alike(value: Any) -> Any:
    """Return what values of one type in compiled code have in common; cheaper to tell than the type."""
    if type(value) is np.ndarray:
        return value.dtype, value.ndim, value.flags.num
    return value._numba_type_ if isinstance(value, Reference) else type(value)


def _group_type(kind: type, alike: tuple, group: NamedTuple) -> GroupType:
    """Return the type of a group; the one that was made for the last group of such fields."""
    if (kind, alike) not in _types:
        fields = tuple((name, typeof(value)) for name, value in zip(group._fields, group, strict=True))
        _types[kind, alike] = GroupType(kind, fields)
    return _types[kind, alike]


def _words(value: Any) -> tuple[int, ...]:
    """Return a field as the table has it."""
    if isinstance(value, np.ndarray):
        return value.__array_interface__["data"][0], *value.shape, *value.strides
    if isinstance(value, float):
        return struct.unpack("q", struct.pack("d", value))
    return (value.address if isinstance(value, Reference) else int(value),)


@register_model(GroupType)
class _GroupModel(PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, ir.IntType(8).as_pointer())


@infer_getattr
class _GroupFields(AttributeTemplate):
    key = GroupType

    def generic_resolve(self, value, attr):  # type: ignore[override]
        return value.fields.get(attr)


@unbox(GroupType)
def _unbox(kind, reference, c):
    number = c.pyapi.object_getattr_string(reference, "address")
    address = c.pyapi.long_as_voidptr(number)
    c.pyapi.decref(number)
    return NativeValue(address)


@lower_getattr_generic(GroupType)
def _read(context, builder, kind, table, name):
    """Return a field, from the table."""
    field, place = kind.fields[name], kind.places[name]
    if not isinstance(field, types.Array):
        return _load(builder, table, place, context.get_value_type(field))
    data = _load(builder, table, place, context.get_data_type(field.dtype).as_pointer())
    numbers = [_load(builder, table, place + 1 + i, WORD) for i in range(2 * field.ndim)]
    return _array(context, builder, field, data, numbers[: field.ndim], numbers[field.ndim :])


def load_kind(builder, table):
    """Return, as LLVM's value, the number of a reference's kind at the address `table`."""
    return _load(builder, table, 0, WORD)


def _array(context, builder, kind, data, lengths, strides):
    """Return an array that owns nothing, as numba lays it out, built of few instructions."""
    zeros = [WORD(0)] * kind.ndim
    array = ir.Constant(
        context.get_value_type(kind), [None, None, WORD(0), WORD(as_dtype(kind.dtype).itemsize), None, zeros, zeros]
    )
    count = lengths[0]
    for length in lengths[1:]:
        count = builder.mul(count, length)
    array = builder.insert_value(builder.insert_value(array, count, 2), data, 4)
    for i in range(kind.ndim):
        array = builder.insert_value(builder.insert_value(array, lengths[i], (5, i)), strides[i], (6, i))
    return array


def _load(builder, table, place, kind):
    """Return a word of the table that never changes."""
    at = builder.bitcast(cgutils.pointer_add(builder, table, place * 8), kind.as_pointer())
    value = builder.load(at)
    value.set_metadata("invariant.load", builder.module.add_metadata([]))
    return value
