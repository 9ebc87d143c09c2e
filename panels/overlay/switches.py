"""Switches of the overlays: in the tab, and where Blender has its own, in the 3D view's overlay menu."""

import bpy
from bpy.types import Context, Panel, SpaceView3D, UILayout

from ...scene.robot.parts import robots
from ..tab import FoldedPanel


class ROBIK_PT_overlays(FoldedPanel):
    """Overlays of the 3D views."""

    bl_idname = "ROBIK_PT_overlays"
    bl_label = "Overlays"

    def draw(self, context: Context) -> None:
        space = context.space_data
        self.layout.active = (
            isinstance(space, SpaceView3D) and space.overlay.show_overlays
        )  # Blender's own switch counts first
        _draw_switches(self.layout, context)


def _draw_switches(layout: UILayout, context: Context) -> None:
    show = context.scene.robik.overlays
    grid = layout.grid_flow(columns=2, even_columns=True, align=True)
    for name in ("com", "com_target", "support", "forces", "errors", "joints", "penetration", "diagnosis", "graph"):
        grid.prop(show, name, toggle=True)
    if show.graph:
        layout.prop(show, "graph_of", text="Graph")
    layout.label(text="Motors show their")
    layout.row(align=True).prop(show, "motors", expand=True)
    layout.label(text="In timeline and graph editor")
    row = layout.row(align=True)
    row.prop(show, "contacts", toggle=True)
    row.prop(show, "limits", toggle=True)


def _in_overlay_menu(self: Panel, context: Context) -> None:
    """At the end of Blender's own overlay menu, in scenes with robots."""
    if robots(context.scene):
        self.layout.label(text="Robots")
        _draw_switches(self.layout, context)


def register() -> None:
    """Add the switches to Blender's menu."""
    bpy.types.VIEW3D_PT_overlay.append(_in_overlay_menu)


def unregister() -> None:
    """Take them out again."""
    bpy.types.VIEW3D_PT_overlay.remove(_in_overlay_menu)


CLASSES = (ROBIK_PT_overlays,)
