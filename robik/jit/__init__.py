"""Compilation of kernels to machine code: the one room that knows numba.

    from robik.jit import by_reference, inlined, kernel

Functions are declared by the decorators `kernel` and `inlined` (`kernels`), their groups of arrays by `by_reference`
(`records`). This room imports nothing else of robik.
"""

from .events import is_compiling
from .kernels import compile_for, inlined, kernel, kinds_in_cache
from .records import arrays_of, by_reference, compiled_for_record

__all__ = [
    "arrays_of", "by_reference", "compile_for", "compiled_for_record", "inlined", "is_compiling", "kernel",
    "kinds_in_cache",
]  # fmt: skip
