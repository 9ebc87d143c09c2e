"""The type of references to groups of arrays.

A reference is the address of a table: of each array the data's address, the shape and the strides, of each number the
number, of each nested group the address of its own table. The table never changes, which the compiler is told.
"""

from __future__ import annotations

import hashlib
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
_types: dict[tuple[type, tuple], GroupType] = {}  # by kind of group and by what its fields are


class GroupType(types.Type):
    """The type of a reference: what kind of array, number or group each field is."""

    def __init__(self, group: str, fields: tuple[tuple[str, types.Type], ...]):
        self.group, self.fields = group, dict(fields)
        self.places: dict[str, int] = {}
        words = 0
        for name, kind in fields:
            self.places[name] = words
            words += 1 + 2 * kind.ndim if isinstance(kind, types.Array) else 1
        digest = hashlib.sha256(repr([(name, str(kind)) for name, kind in fields]).encode()).hexdigest()
        super().__init__(f"{group}_{digest[:12]}")


class Reference:
    """A group's fields, the `table` that compiled code reads, and its `address`."""

    def __init__(self, group: NamedTuple):
        self._numba_type_ = _group_type(type(group), tuple(map(_alike, group)), group)
        self.__dict__.update(group._asdict())
        self.table = np.concatenate([_words(value) for value in group])
        self.address = self.table.ctypes.data


def _alike(value: Any) -> Any:
    """Return what values of one type in compiled code have in common; cheaper to tell than the type."""
    if type(value) is np.ndarray:
        return value.dtype, value.ndim, value.flags.num
    return value._numba_type_ if isinstance(value, Reference) else type(value)


def _group_type(kind: type, alike: tuple, group: NamedTuple) -> GroupType:
    """Return the type of a group; the one that was made for the last group of such fields."""
    if (kind, alike) not in _types:
        fields = tuple((name, typeof(value)) for name, value in zip(group._fields, group, strict=True))
        _types[kind, alike] = GroupType(kind.__name__, fields)
    return _types[kind, alike]


def _words(value: Any) -> np.ndarray:
    """Return a field as the table has it, int64."""
    if isinstance(value, np.ndarray):
        return np.array([value.ctypes.data, *value.shape, *value.strides], dtype=np.int64)
    if isinstance(value, float):
        return np.array([value]).view(np.int64)
    return np.array([value.address if isinstance(value, Reference) else value], dtype=np.int64)


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
