"""Kernels compiled with shortcuts through numba's inside.

numba links every compiled function into all that call it, and LLVM optimises the whole again in each of them: with a
solver's many layers most of the time goes there. A kernel is called by the name of a symbol instead, under which LLVM
finds its address. Where a call costs more than the function, in the innermost loops, it is better inlined.

Both are cached on disk in numba's files, under names that do not depend on where the library is. Code from the cache
brings along what it calls; and it counts only as long as all sources of compiled code are the same. What is not there
for this CPU may have come with the extension, compiled for any CPU of its kind.
"""

from __future__ import annotations

import copy
import hashlib
import platform
import re
import sys
from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from llvmlite import binding
from numba.core import types
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.compiler import Flags
from numba.core.registry import CPUDispatcher
from numba.core.runtime import rtsys

from .cache import room, shipped_room
from .naming import LIBRARY, CacheFile
from .passes import Pipeline, quickly
from .sources import sources

OPTIONS = {"nopython": True, "boundscheck": None, "error_model": "numpy", "no_cfunc_wrapper": True}
_published: dict[str, Callable[[], None]] = {}  # by symbol, what brings it back in another process


def compiled(function: Callable, *, inline: bool, entry: bool, allocates: bool, nogil: bool) -> Any:
    """Return a function that is compiled at its first call.

    `inline` puts its code into the functions that call it; `entry` says that Python calls it, `allocates` that it
    makes arrays, `nogil` that other threads of Python run meanwhile.
    """
    kind = _Inlined if inline else _Kernel if entry else _Inner
    options = OPTIONS | {"_nrt": allocates, "nogil": nogil, "no_cpython_wrapper": issubclass(kind, _ForKernels)}
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


class _Processor(NamedTuple):
    """Processor that code is compiled for, as numba's index of a function names it.

    The system stands for LLVM's triple, which on macOS differs with each version of it.
    """

    name: str  # as LLVM has it; "generic" for any
    features: str  # that LLVM may use

    def magic_tuple(self) -> tuple[str, str, str]:
        return f"{sys.platform}-{platform.machine().lower()}", self.name, self.features


ANY = _Processor("generic", "")  # what numba compiles for with NUMBA_CPU_NAME=generic


class _Content(CompileResultCacheImpl):
    """Content of the cache of a compiled function; `_Cache` says where."""

    def __init__(self):
        """Look for no folder, which numba's own does."""


class _Cache(FunctionCache):
    """Cache of a function on disk: the user's, behind it what came with the extension."""

    def __init__(self, function):
        self._name, self._py_func, self._impl = repr(function), function, _Content()
        self._cache_path = str(room())
        self._cache_file = _file(room(), function)
        self.enable()

    def load_overload(self, sig, target_context):
        """Load as numba does, without looking for new kinds of data each time, which only compiling needs."""
        with self._guard_against_spurious_io_errors():
            for file, processor in self._places(target_context.codegen()):
                data = file.load(self._index_key(sig, processor))
                if data is not None:
                    return self._impl.rebuild(target_context, data)
        return None

    def kinds(self, codegen):
        """Return for how many kinds of arguments there is code that this process can load."""
        found = set()
        for file, processor in self._places(codegen):
            found |= {sig for sig, of, _ in file._load_index() if of == processor.magic_tuple()}
        return len(found)

    def _places(self, codegen):
        """Yield the files that may have code, the best first, and the processor that it must be for."""
        yield self._cache_file, self._processor(codegen)
        if shipped := shipped_room():
            yield _file(shipped, self._py_func), ANY

    def _save_overload(self, sig, data):
        if self._impl.check_cachable(data):
            key = self._index_key(sig, self._processor(data.codegen))
            self._cache_file.save(key, self._impl.reduce(data))

    @staticmethod
    def _processor(codegen):
        _, name, features = codegen.magic_tuple()
        return _Processor(name, features)


def _file(place: Path, function: Callable) -> CacheFile:
    """Return a function's files in a room; they count only with its very source and all others, and this numba."""
    name = f"{function.__module__.removeprefix(LIBRARY).strip('.')}.{function.__qualname__}"
    base = f"{re.sub('[<>]', '', name)}-{function.__code__.co_firstlineno}"
    file = CacheFile(str(place), base, _digest(function.__code__.co_filename))
    file._version += sources()  # what numba compares before it reads on
    return file


@cache
def _digest(source: str) -> str:
    return hashlib.sha256(Path(source).read_bytes()).hexdigest()


class _Compiled(CPUDispatcher):
    """A function whose cached code brings along the kernels that it calls."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options | {"pipeline_class": Pipeline})
        self._compiler._customize_flags = _Flags  # type: ignore[attr-defined]

    def enable_caching(self):
        self._cache = _Cache(self.py_func)

    def compile(self, sig):
        """Compile for a tuple of types without what kernels do not need.

        Numbers that are known count as any others.
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
            module = cres.library._final_module
            outside = [one for one in (*module.functions, *module.global_variables) if one.is_declaration]
            called = [one.name for one in outside if one.name in _published]
            cres.reload_init.extend(_published[symbol] for symbol in called)


class _ForKernels(_Compiled):
    """One without what Python would need to call it, which takes longer to compile than a short function itself."""

    def __call__(self, *args):
        raise TypeError(f"{self.py_func.__name__} is for compiled functions; Python cannot call it")


class _Inlined(_ForKernels):
    """A function as numba links it into others."""


class _Kernel(_Compiled):
    """A function that others call by its symbol, which depends on its name, its types and all sources only."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self._addresses: dict[tuple, int] = {}

    def address(self, kinds):
        """Return the address of the code for these types, which `compile` has made."""
        return self._addresses[kinds]

    def add_overload(self, cres):
        super().add_overload(cres)
        module, name, types = self.py_func.__module__, self.py_func.__name__, cres.signature
        meaning = hashlib.sha256(f"{types} {sources()}".encode()).hexdigest()[:16]
        symbol = f"robik.{module.removeprefix(LIBRARY)}.{name}.{meaning}"
        address = cres.library.get_pointer_to_function(cres.fndesc.llvm_func_name)
        self._addresses[tuple(types.args)] = address
        binding.add_symbol(symbol, address)
        publish(symbol, partial(_bring, module, name, tuple(types.args)))
        outside = copy.copy(cres.fndesc)
        outside.mangled_name = symbol
        self.targetctx.remove_user_function(cres.entry_point)
        self.targetctx.insert_user_function(cres.entry_point, outside)


class _Inner(_Kernel, _ForKernels):
    """A kernel of kernels."""


def publish(symbol: str, bring: Callable[[], None]) -> None:
    """Note what brings a symbol back in another process before code from the cache that needs it is loaded.

    The symbol is the name by which LLVM finds an address.
    """
    _published[symbol] = bring


def kinds_on_disk(function: _Compiled) -> int:
    """Return the number of a kernel's signatures on disk, from these sources and for this CPU or any."""
    return function._cache.kinds(function.targetctx.codegen())  # type: ignore[attr-defined]


def loaded_again(function: _Compiled) -> Callable:
    """Return a kernel that was called as another process loads it; itself where the disk took nothing."""
    kinds = next(iter(function.overloads))
    with quickly():
        found = function._cache.load_overload(kinds, function.targetctx)
    return found.entry_point if found else function


def _bring(module: str, name: str, types: tuple) -> None:
    """Compile a kernel for some types, or get it from the cache."""
    getattr(import_module(module), name).compile(types)
