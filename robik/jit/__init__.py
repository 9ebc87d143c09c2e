"""Compilation of kernels to machine code: the one room that knows numba.

    from robik.jit import by_reference, inlined, kernel

Functions are declared by the decorators `kernel` and `inlined` (`kernels`), their groups of arrays by `by_reference`
(`records`). With NUMBA_DISABLE_JIT=1 all is run by Python, and numba is not loaded (`interpreted`). This room imports
nothing else of robik but the rule for folders of one user.
"""

import os

from .arrays import arrays_of

if os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0"):
    from .events import compiled_functions, is_compiling
    from .kernels import compile_for, inlined, kernel, kinds_in_cache
    from .records import by_reference, compiled_for_record
else:
    from .interpreted import (
        by_reference,
        compile_for,
        compiled_for_record,
        compiled_functions,
        inlined,
        is_compiling,
        kernel,
        kinds_in_cache,
    )

__all__ = [
    "arrays_of", "by_reference", "compile_for", "compiled_for_record", "compiled_functions", "inlined", "is_compiling",
    "kernel", "kinds_in_cache",
]  # fmt: skip
