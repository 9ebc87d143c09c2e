"""Functions that are compiled only where a record of theirs exists.

Some records come in kinds: a large robot's scratch is one of its own, as are the objectives of a clip that asks for
some. To the compiler all kinds of a record are one type, so kernels that take them are compiled once. A function for
one kind is called by an address that lies in a cell, after a look at the record's kind; the cell is filled when the
first record of that kind is made, or when the call is compiled, whichever comes last.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from llvmlite import binding, ir
from numba import typeof
from numba.core import cgutils, types
from numba.core.typing import signature
from numba.core.typing.templates import AbstractTemplate, infer_global
from numba.extending import lower_builtin

from .fast import compiled, publish
from .naming import LIBRARY
from .references import WORD, GroupType, kind_number, load_kind, when_made
from .sources import sources

_late: dict[Callable, _Late] = {}  # by the function in Python
_cells: dict[str, np.ndarray] = {}  # (1,) address of a function, by the symbol of the cell


class _Late(NamedTuple):
    """A function, as it is declared."""

    compiled: Any  # what compiles it, an `_Inner`
    record: type  # the kind of record that it is for
    result: types.Type  # what it returns


def compiled_late(function: Callable, record: type, otherwise: Any) -> None:
    """Let compiled code call a function where its last argument is of the NamedTuple `record`.

    For other records the call gives `otherwise`, of the type that the function returns.
    """
    result = types.none if otherwise is None else typeof(otherwise)
    inner = compiled(function, inline=False, entry=False, allocates=False, nogil=False)
    _late[function] = _Late(inner, record, result)

    class Call(AbstractTemplate):
        key = function

        def generic(self, args, kws):
            return signature(result, *(types.unliteral(kind) for kind in args))

    infer_global(function, types.Function(Call))

    @lower_builtin(function, types.VarArg(types.Any))
    def lower(context, builder, sig, args):
        kind = sig.args[-1]
        constant = context.get_dummy_value() if otherwise is None else context.get_constant(result, otherwise)
        if not (isinstance(kind, GroupType) and issubclass(record, kind.record)):
            return constant
        answer = cgutils.alloca_once_value(builder, constant)
        is_of_kind = builder.icmp_unsigned("==", load_kind(builder, args[-1]), WORD(kind_number(record)))
        with builder.if_then(is_of_kind):
            cell = _cell_in(builder.module, _cell(function, sig.args))
            convention = context.call_conv
            shape = convention.get_function_type(result, sig.args)
            address = builder.inttoptr(builder.load(cell), shape.as_pointer())
            status, value = convention.call_function(builder, address, result, sig.args, args)
            with cgutils.if_unlikely(builder, status.is_error):
                convention.return_status_propagate(builder, status)
            if otherwise is not None:
                builder.store(value, answer)
        return builder.load(answer)


def _cell_in(module: ir.Module, symbol: str) -> ir.GlobalVariable:
    """Return the variable by which code of a module reads a cell."""
    if symbol not in module.globals:
        ir.GlobalVariable(module, WORD, symbol)
    return module.globals[symbol]


def _cell(function: Callable, kinds: tuple) -> str:
    """Return the symbol of the cell for a function and types of arguments; it is made where there is none yet."""
    late = _late[function]
    meaning = hashlib.sha256(f"{kinds} {sources()}".encode()).hexdigest()[:16]
    symbol = f"robik.late.{function.__module__.removeprefix(LIBRARY)}.{function.__name__}.{meaning}"
    if symbol not in _cells:
        cell = _cells[symbol] = np.zeros(1, np.int64)
        binding.add_symbol(symbol, cell.ctypes.data)
        publish(symbol, partial(_bring, function.__module__, function.__name__, tuple(kinds)))
        when_made(late.record, partial(_fill, cell, late, tuple(kinds)))
    return symbol


def _fill(cell: np.ndarray, late: _Late, kinds: tuple) -> None:
    """Compile a function, or get it from the cache, and write its address into a cell."""
    late.compiled.compile(kinds)
    returned = types.unliteral(late.compiled.overloads[kinds].signature.return_type)
    if returned != late.result:
        raise TypeError(f"{late.compiled.py_func.__name__} returns {returned}, but {late.result} for other records")
    cell[0] = late.compiled.address(kinds)


def _bring(module: str, name: str, kinds: tuple) -> None:
    """Make the cell that code from the cache reads."""
    _cell(getattr(import_module(module), name), kinds)
