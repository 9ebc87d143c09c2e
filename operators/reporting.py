"""Base of operators that report errors in one sentence."""

from __future__ import annotations

from collections.abc import Callable

from bpy.types import Context, Operator

from ..robik.errors import RobikError


class Reporting(Operator):
    """An operator whose `run` may raise: the error's sentence becomes its report, and it counts as cancelled."""

    bl_idname = "robik.reporting"  # never registered
    bl_label = ""

    run: Callable[[Context], set[str]]  # what the operator does

    def execute(self, context: Context) -> set[str]:
        """Run, and reports a `RobikError`."""
        try:
            return self.run(context)
        except RobikError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
