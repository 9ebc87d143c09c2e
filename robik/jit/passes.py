"""Passes of numba that our kernels need not: left out, or done once, while they are compiled.

Half of the time goes there otherwise. Nothing of it changes what the code computes: types of operators are looked up
once, not at each place where they occur; passes over the source for what kernels never use (closures, array
expressions, parallel loops) are left out; and LLVM optimises each function once, instead of three times to find
counts of references that there are none of. Outside of a compilation of ours numba is as it was.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from numba.core import codegen, event, typed_passes, untyped_passes
from numba.core.base import BaseContext
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import PassManager
from numba.core.types.functions import BaseFunction

from . import loading
from .replacing import replaced

LEFT_OUT = {
    untyped_passes.WithLifting,
    untyped_passes.InlineClosureLikes,
    typed_passes.NopythonRewrites,
    typed_passes.DumpParforDiagnostics,
}
_inside: list[bool] = []
_signatures: dict[
    tuple, tuple[BaseFunction, Any]
] = {}  # of operators and numba's own functions, by which one and types
_resolve: Callable = BaseFunction.get_call_type
_look_up: Callable = BaseContext.get_function


class Pipeline(CompilerBase):
    """numba's passes, without those for what kernels never use."""

    def define_pipelines(self):
        """Return the passes, in order."""
        kept = PassManager("kernel")
        for part in (
            DefaultPassBuilder.define_untyped_pipeline,
            DefaultPassBuilder.define_typed_pipeline,
            DefaultPassBuilder.define_nopython_lowering_pipeline,
        ):
            for made, why in part(self.state).passes:
                if made not in LEFT_OUT:
                    kept.add_pass(made, why)
        kept.finalize()
        return [kept]


@contextmanager
def quickly() -> Iterator[None]:
    """While this lasts numba compiles without what kernels need not. One compilation may begin within another."""
    with global_compiler_lock, ExitStack() as stack:
        if _inside:
            yield
            return
        collects = gc.isenabled()
        stack.callback(_inside.clear)
        _inside.append(True)
        for owner, name, instead in INSTEAD:
            stack.enter_context(replaced(owner, name, instead))
        gc.disable()  # a tenth of the time
        if collects:
            stack.callback(gc.enable)
        yield


def _remembered(self, context, args, kws):
    """`get_call_type`, once for each operator and types."""
    if kws:
        return _resolve(self, context, args, kws)
    of, signature = _signatures.get((id(self), args), (None, None))
    if of is not self:
        signature = _resolve(self, context, args, kws)
        _signatures[id(self), args] = self, signature
    return signature


def _function(self, name, *more, **options):
    """`get_function`, without asking of each array whether it is of somebody's own kind, and then for new kinds."""
    if name == "__array__":
        raise NotImplementedError  # as numba's own does where there is none; `make_array` asks, and takes that for no
    return _look_up(self, name, *more, **options)


def _set_layout(self, module):
    """Functions are optimised with their module."""
    module.data_layout = self._codegen._data_layout


def _optimise_once(self):
    """All of LLVM's passes, not first the cheap ones alone."""
    passes, builder = self._codegen._module_pass_manager()
    passes.run(self._final_module, builder)


INSTEAD = (
    (BaseFunction, "get_call_type", _remembered),
    (BaseContext, "get_function", _function),
    (codegen.CPUCodeLibrary, "_optimize_functions", _set_layout),
    (codegen.CPUCodeLibrary, "_optimize_final_module", _optimise_once),
    (codegen.CPUCodeLibrary, "serialize_using_object_code", loading.serialize),
    (codegen.Codegen, "unserialize_library", loading.load),
    (event, "install_timer", loading.untimed),
)
