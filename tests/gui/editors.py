"""The animation editors in the window: contacts dragged in the dope sheet, motors' limits in the graph editor."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType

import bpy
from bpy.types import Area, Region

from tests.gui.window import picture, remember, robot, root, screen_height, settled, until, view, xdotool
from tools.installed import PACKAGE

FOOT = "foot_l"


def edit_contacts_and_see_limits() -> Iterator[float]:
    """In the place of the 3D view, which comes back."""
    area = view()
    yield from edit_contacts(area)
    yield from see_limits(area)
    area.type = "VIEW_3D"
    yield 0.5


def edit_contacts(area: Area) -> Iterator[float]:
    """A phase is moved, made longer, added and deleted; what the bake found has become the user's with the first."""
    strips = import_module(f"{PACKAGE}.scene.overlay.contact_strips")
    yield from open_dope_sheet(area)
    bpy.context.scene.robik.overlays.contacts = True
    remember("Contacts shown")
    yield 0.5
    found = phases(strips)
    assert len(found) > 2
    assert target().contact != "HAND"
    picture("05_contacts")
    yield from drag(area, strips, sum(found[1]) / 2, 4)
    assert phases(strips) == [(s + 4 * (k == 1), e + 4 * (k == 1)) for k, (s, e) in enumerate(found)]
    assert target().contact == "HAND"
    start, end = phases(strips)[1]
    yield from drag(area, strips, end + 0.45, -3)
    assert phases(strips)[1] == (start, end - 3)
    yield from point_at(area, strips, (phases(strips)[0][1] + start) / 2)
    xdotool("keydown", "ctrl", "click", 1, "keyup", "ctrl")
    yield from until(lambda: len(phases(strips)) == len(found) + 1, 60, "a phase added by Ctrl and a click")
    picture("05_contacts_by_hand")
    yield from point_at(area, strips, sum(phases(strips)[1]) / 2)
    xdotool("key", "x")
    yield from until(lambda: len(phases(strips)) == len(found), 60, "a phase deleted by X")
    assert phases(strips)[1] == (start, end - 3)
    for expected in ("HAND", "HAND", "HAND", "DETECT"):
        yield from point_at(area, strips, sum(found[1]) / 2)
        xdotool("key", "ctrl+z")
        yield from until(lambda expected=expected: target().contact == expected, 60, "undone")
    assert phases(strips) == found
    bpy.context.scene.robik.overlays.contacts = False  # asked for again: undoing has replaced what it was
    yield 0.3


def see_limits(area: Area) -> Iterator[float]:
    """A hip's curve with its limits, at a zoom that shows both."""
    lines, show = import_module(f"{PACKAGE}.scene.overlay.limit_lines"), bpy.context.scene.robik.overlays
    yield from open_graph_editor(area, "hip_pitch_l")
    show.limits = True
    yield 0.5
    with inside(area):
        labels = [text for _, text, _ in lines.limit_shapes(bpy.context).labels]
    assert len(labels) == 2, labels
    picture("05_limits")
    show.limits = False


def open_dope_sheet(area: Area) -> Iterator[float]:
    """With all of the scene's frames in view."""
    area.ui_type = "DOPESHEET"
    yield 0.5
    with inside(area):
        bpy.ops.action.view_all()
    yield 1.0


def open_graph_editor(area: Area, motor: str) -> Iterator[float]:
    """With the curve of one motor selected, between its limits."""
    bpy.ops.object.select_all(action="DESELECT")
    root().select_set(True)
    bpy.context.view_layer.objects.active = root()
    area.ui_type = "FCURVES"
    yield 0.5
    with inside(area):
        for curve in bpy.context.visible_fcurves:
            curve.select = curve.data_path == f'["{motor}"]'
        bpy.ops.graph.view_all()
        bpy.ops.view2d.zoom_out(zoomfacx=0.0, zoomfacy=-0.2)  # to five thirds
    yield 1.0


def target() -> bpy.types.PropertyGroup:
    """What the foot follows."""
    return next(t for t in robot().character.targets if t.frame == FOOT)


def phases(strips: ModuleType) -> list[tuple[int, int]]:
    """The foot's, as its strip shows them."""
    return list(next(lane for lane in strips.lanes(root()) if lane.foot == FOOT).phases)


def drag(area: Area, strips: ModuleType, frame: float, by: int) -> Iterator[float]:
    """Takes hold of the foot's strip at a frame and lets go so many frames later."""
    yield from point_at(area, strips, frame)
    xdotool("mousedown", 1)
    yield 0.3
    yield from settled()
    for share in (0.5, 1.0):
        yield from point_at(area, strips, frame + share * by)
    xdotool("mouseup", 1)
    yield 0.3
    yield from settled()


def point_at(area: Area, strips: ModuleType, frame: float) -> Iterator[float]:
    """Moves the mouse over the foot's strip."""
    main = main_region(area)
    with inside(area):
        place = strips.place_in(bpy.context)
    shown = strips.lanes(root())
    lane = next(k for k, lane in enumerate(shown) if lane.foot == FOOT)
    bottom, top = place.heights(lane, len(shown))
    xdotool("mousemove", round(main.x + place.x(frame)), round(screen_height() - main.y - 0.5 * (bottom + top)))
    yield 0.2
    yield from settled()


@contextmanager
def inside(area: Area) -> Iterator[None]:
    """The context of an editor."""
    window = bpy.context.window_manager.windows[0]
    with bpy.context.temp_override(window=window, area=area, region=main_region(area)):
        yield


def main_region(area: Area) -> Region:
    """Where an editor shows what it edits."""
    return next(region for region in area.regions if region.type == "WINDOW")
