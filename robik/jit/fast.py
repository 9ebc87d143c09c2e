"""Kernels compiled with shortcuts through numba's inside.

numba links every compiled function into all that call it, and LLVM optimises the whole again in each of them: with a
solver's many layers most of the time goes there. A kernel is called by the name of a symbol instead, under which LLVM
finds its address. Where a call costs more than the function, in the innermost loops, it is better inlined.

Both are cached on disk by numba. Code from the cache brings along what it calls; and it counts only as long as all
sources of compiled code are the same.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

from llvmlite import binding
from numba.core import types
from numba.core.caching import FunctionCache
from numba.core.compiler import Flags
from numba.core.registry import CPUDispatcher
from numba.core.runtime import rtsys

from .cache import folder, kept_in
from .naming import LIBRARY, CacheFile
from .passes import Pipeline, quickly
from .sources import sources

OPTIONS = {"nopython": True, "boundscheck": None, "error_model": "numpy", "no_cfunc_wrapper": True}
_published: dict[str, Callable[[], None]] = {}  # by symbol, what brings it back in another process


def compiled(function: Callable, *, inline: bool, entry: bool, allocates: bool, nogil: bool) -> Any:
    """Return a function that is compiled at its first call.

    Args:
        function: The function in Python.
        inline: Whether its code goes into the functions that call it.
        entry: Whether Python calls it.
        allocates: Whether it makes arrays.
        nogil: Whether other threads of Python run meanwhile.

    Returns:
        The compiled function.
    """
    kind = _Inlined if inline else _Kernel if entry else _Inner
    options = OPTIONS | {"_nrt": allocates, "nogil": nogil, "no_cpython_wrapper": issubclass(kind, _ForKernels)}
    with kept_in(folder()):
        dispatcher = kind(function, targetoptions=options)
        dispatcher.enable_caching()
    return dispatcher


class _Flags(Flags):
    """Key of each look-up of an operator while types are inferred; numba's own compares all options each time."""

    HASH = hash(Flags())  # the same whatever the options

    def __hash__(self):
        return self.HASH

    def __eq__(self, other):
        return self is other or (self._values == other._values if isinstance(other, _Flags) else super().__eq__(other))


class _Cache(FunctionCache):
    """numba's cache of a function on disk, good as long as all sources are the same."""

    def __init__(self, function):
        super().__init__(function)
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file = CacheFile(self._cache_path, self._impl.filename_base, stamp)
        self._cache_file._version += sources()  # what numba compares before it reads on

    def load_overload(self, sig, target_context):
        """Load as numba does, without looking for new kinds of data each time, which only compiling needs."""
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)


class _Compiled(CPUDispatcher):
    """A function whose cached code brings along the kernels that it calls."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options | {"pipeline_class": Pipeline})
        self._compiler._customize_flags = _Flags  # type: ignore[attr-defined]

    def enable_caching(self):
        self._cache = _Cache(self.py_func)

    def compile(self, sig):
        """Compile without what kernels do not need.

        Args:
            sig: a tuple of types; numbers that are known count as any others.
        """
        if isinstance(sig, tuple):
            sig = tuple(types.unliteral(kind) for kind in sig)
            if sig in self.overloads:
                return self.overloads[sig].entry_point  # type: ignore[attr-defined]
        if self.targetoptions["_nrt"]:
            rtsys.initialize(self.targetctx)  # what arrays come from; a compilation would see to it, the cache does not
        with quickly():
            return super().compile(sig)

    def add_overload(self, cres):
        """Note with a compiled function, before it is cached, which kernels it calls."""
        super().add_overload(cres)
        if not cres.reload_init:
            called = [f.name for f in cres.library._final_module.functions if f.is_declaration and f.name in _published]
            cres.reload_init.extend(_published[symbol] for symbol in called)


class _ForKernels(_Compiled):
    """One without what Python would need to call it, which takes longer to compile than a short function itself."""

    def __call__(self, *args):
        raise TypeError(f"{self.py_func.__name__} is for compiled functions; Python cannot call it")


class _Inlined(_ForKernels):
    """A function as numba links it into others."""


class _Kernel(_Compiled):
    """A function that others call by its symbol, which depends on its name, its types and all sources only."""

    def add_overload(self, cres):
        super().add_overload(cres)
        module, name, types = self.py_func.__module__, self.py_func.__name__, cres.signature
        meaning = hashlib.sha256(f"{types} {sources()}".encode()).hexdigest()[:16]
        symbol = f"robik.{module.removeprefix(LIBRARY)}.{name}.{meaning}"
        binding.add_symbol(symbol, cres.library.get_pointer_to_function(cres.fndesc.llvm_func_name))
        _published[symbol] = partial(_bring, module, name, tuple(types.args))
        outside = copy.copy(cres.fndesc)
        outside.mangled_name = symbol
        self.targetctx.remove_user_function(cres.entry_point)
        self.targetctx.insert_user_function(cres.entry_point, outside)


class _Inner(_Kernel, _ForKernels):
    """A kernel of kernels."""


def kinds_on_disk(function: _Compiled) -> int:
    """Return for how many kinds of arguments a kernel is on disk, since the sources last changed.

    Args:
        function: A compiled function.

    Returns:
        Number of signatures.
    """
    return len(function._cache._cache_file._load_index())


def _bring(module: str, name: str, types: tuple) -> None:
    """Compile a kernel for some types, or get it from the cache."""
    getattr(import_module(module), name).compile(types)
