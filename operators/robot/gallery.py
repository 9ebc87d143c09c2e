"""The gallery: robots of this machine to choose from, with previews."""

from __future__ import annotations

from collections.abc import Generator

import bpy
from bpy.props import StringProperty
from bpy.types import Context, Event, Object, Operator

from ...robik.errors import RobikError
from ...robik.gallery import Entry
from ...scene.importing import gallery
from ...scene.long_work.steps import Progress, compile_ahead
from ..stepping import Stepping
from .import_file import leave_modes, tell

WIDTH, COLUMNS = 620, 5  # of the popup [pixels]
PICTURE = 5.0  # size of a preview, in rows of text
REDRAW = 0.3  # [s] while previews are being drawn


class ROBIK_OT_gallery(Operator):
    """Choose a robot: those that come with RobIK, those of installed packages, and those in your folders"""

    bl_idname = "robik.gallery"
    bl_label = "Gallery"
    _found: tuple[Entry, ...] = ()

    def invoke(self, context: Context, event: Event) -> set[str]:
        """Show what there is; pictures that are missing come in while it is open."""
        type(self)._found = gallery.gallery()
        assert gallery.previews is not None
        gallery.previews.want(self._found)
        if not bpy.app.timers.is_registered(_redraw):
            bpy.app.timers.register(_redraw, first_interval=REDRAW)
        return context.window_manager.invoke_popup(self, width=WIDTH)

    def execute(self, context: Context) -> set[str]:
        """Do nothing: choosing is another operator."""
        return {"FINISHED"}

    def draw(self, context: Context) -> None:
        """Draw a cell per robot."""
        assert gallery.previews is not None
        grid = self.layout.grid_flow(row_major=True, columns=COLUMNS, even_columns=True, even_rows=True)
        for entry in self._found:
            cell = grid.box().column()
            icon = gallery.previews.icon(entry)
            if icon:
                cell.template_icon(icon, scale=PICTURE)
            else:
                empty = cell.column()
                empty.scale_y = PICTURE
                empty.label(text="", icon="ARMATURE_DATA")
            chosen = cell.operator("robik.import_gallery_robot", text=entry.title)
            chosen.robot, chosen.about = entry.key, _about(entry)
            told = cell.row()
            told.enabled = False
            told.label(text=entry.maker or entry.place)
        self.layout.label(text="Your folders: Edit > Preferences > Add-ons > RobIK", icon="INFO")


class ROBIK_OT_import_gallery_robot(Stepping):
    """Import this robot into a collection of its own"""

    bl_idname = "robik.import_gallery_robot"
    bl_label = "Import from Gallery"
    bl_options = {"REGISTER", "UNDO"}
    stopped = "Import stopped; nothing was changed"
    robot: StringProperty(name="Robot", description="Its title, or its file", options={"SKIP_SAVE"})
    about: StringProperty(options={"HIDDEN", "SKIP_SAVE"})

    @classmethod
    def description(cls, context: Context, properties: ROBIK_OT_import_gallery_robot) -> str:
        """Return what there is to know of the robot."""
        return properties.about or "Import this robot into a collection of its own"

    def steps(self, context: Context) -> Generator[Progress, None, Object]:
        """Read and build."""
        found = gallery.gallery()
        entry = next((entry for entry in found if self.robot in (entry.key, entry.title)), None)
        if entry is None:
            listed = ", ".join(entry.title for entry in found)
            raise RobikError(f"the gallery has no robot {self.robot!r}; there are {listed}")
        leave_modes(context)
        compile_ahead()
        return gallery.gallery_steps(context, entry)

    def done(self, context: Context, result: Object) -> None:
        tell(self, context, result)


def _about(entry: Entry) -> str:
    """Return a robot's tooltip."""
    known = [entry.about, f"From {entry.place}: {entry.file}"]
    if entry.servos is not None:
        known.insert(1, "Its servos' ids, limits and zeros are known.")
    return "\n".join(filter(None, known))


def _redraw() -> float | None:
    """Show pictures that have come in; end with the last one."""
    if gallery.previews is None or not gallery.previews.is_drawing:
        return None
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            area.tag_redraw()
    return REDRAW


CLASSES = (ROBIK_OT_gallery, ROBIK_OT_import_gallery_robot)
