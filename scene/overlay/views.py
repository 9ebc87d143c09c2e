"""Overlays of the 3D views: draws them where a scene asks for them.

While no scene does, Blender knows no draw function of ours at all.

What is drawn is worked out when the scene has changed, not when the view turns.
"""

from __future__ import annotations

import bpy
from bpy.app.handlers import persistent
from bpy.types import ID, Action, Context, Depsgraph, Object, Scene, SpaceView3D
from bpy_extras.view3d_utils import location_3d_to_region_2d
from mathutils import Matrix, Vector

from ...robik.errors import RobikError
from ...robik.formats.assembly.open_pose import OpenPose
from ..robot.parts import chosen_robot, robots
from . import editors, forces, penetration
from .drawing import HEAVY, TEXT, Drawn, flat, paint, paint_flat, redraw, write
from .findings import mark_findings
from .motor_graph import MotorCurves, graph_shapes, motor_curves, place_in, playhead
from .open_loops import open_shapes
from .penetration import mark_penetration
from .shapes import Shapes, shapes_of
from .state import present, robot_state

SWITCHES = ("com", "com_target", "support", "forces", "errors", "joints", "penetration", "diagnosis", "graph")

_handles: list[tuple[object, str]] = []
_robots: dict[int, list[Drawn]] = {}  # by the scene's session_uid
_curves: dict[tuple[int, str, str], MotorCurves | None] = {}  # by the root's session_uid, its result and what is shown
_graphs: dict[tuple, Drawn] = {}  # by what they depend on
_open: dict[int, Drawn] = {}  # by the scene's session_uid: the pose of a robot whose loops do not close


def is_on(scene: Scene) -> bool:
    """Return whether a scene asks for any overlay of the 3D views."""
    show = scene.robik.overlays
    return any(getattr(show, name) for name in SWITCHES) or show.motors != "NONE" or scene.session_uid in _open


def draw_open_pose(scene: Scene, pose: OpenPose | None) -> None:
    """Draw the best pose of a robot whose loops do not close, at the world's origin, or nothing of the kind."""
    if pose is None and scene.session_uid not in _open:
        return
    _open.pop(scene.session_uid, None)
    if pose is not None:
        _open[scene.session_uid] = Drawn(Matrix.Identity(4), open_shapes(pose))
    refresh()


def open_loops(scene: Scene) -> list[str]:
    """Return the open loops that a scene shows, in words."""
    drawn = _open.get(scene.session_uid)
    return [text for _, text, _ in drawn.shapes.labels] if drawn is not None else []


def _drawn_in(scene: Scene) -> list[Drawn]:
    uid = scene.session_uid
    return [*_robots.get(uid, ()), *([_open[uid]] if uid in _open else [])]


def is_drawing() -> bool:
    """Return whether Blender knows draw functions of ours, in whichever editor."""
    return bool(_handles) or editors.is_drawing()


def is_drawn() -> bool:
    """Return whether what is to be seen has been drawn as it is now."""
    return any(drawn.batches for listed in _robots.values() for drawn in listed)


def refresh() -> None:
    """Start or stop drawing, as the scenes ask for, and compute everything again."""
    wanted = any(is_on(scene) for scene in bpy.data.scenes)
    if wanted and not _handles:
        _handles.append((SpaceView3D.draw_handler_add(_draw_shapes, (), "WINDOW", "POST_VIEW"), "WINDOW"))
        _handles.append((SpaceView3D.draw_handler_add(_draw_flat, (), "WINDOW", "POST_PIXEL"), "WINDOW"))
        bpy.app.handlers.depsgraph_update_post.append(_after_update)
        bpy.app.handlers.frame_change_post.append(_after_frame_change)
    elif not wanted:
        stop()
    editors.refresh()
    _forget()
    redraw("VIEW_3D")


def stop() -> None:
    """Draw nothing any more."""
    if _handles:
        bpy.app.handlers.depsgraph_update_post.remove(_after_update)
        bpy.app.handlers.frame_change_post.remove(_after_frame_change)
    while _handles:
        SpaceView3D.draw_handler_remove(*_handles.pop())
    _forget()


def shapes_in(context: Context) -> list[tuple[Object, Shapes]]:
    """Return the marks of every robot that is to be seen in a context's scene."""
    scene, depsgraph = context.scene, context.evaluated_depsgraph_get()
    show, found = scene.robik.overlays, []
    for root in robots(scene):
        if root.visible_get(view_layer=context.view_layer):
            try:
                state = robot_state(root, scene, depsgraph)
            except RobikError:  # incomplete: every operator and panel says so, marks would only mislead
                continue
            shapes = shapes_of(state, show.com, show.com_target, show.support)
            if show.penetration:
                mark_penetration(shapes, root, scene, *present(root))
            if show.diagnosis:
                mark_findings(shapes, root, state.size)
            found.append((root, shapes))
    return found


def _forget() -> None:
    for known in (_robots, _curves, _graphs):
        known.clear()
    forces.forget()
    penetration.forget()


def _is_hidden(context: Context) -> bool:
    """Return whether this view shows no overlays now.

    They are switched off, or a render is on and may be changing the scene.
    """
    space = context.space_data
    return not isinstance(space, SpaceView3D) or not space.overlay.show_overlays or bpy.app.is_job_running("RENDER")


def _draw_shapes() -> None:
    context = bpy.context
    if _is_hidden(context) or not is_on(context.scene):
        return
    uid = context.scene.session_uid
    if uid not in _robots:
        _robots[uid] = [Drawn(root.matrix_world.copy(), shapes) for root, shapes in shapes_in(context)]
    for drawn in _drawn_in(context.scene):
        paint(drawn, HEAVY)


def _draw_flat() -> None:
    """Words at the marks, and the graph."""
    context = bpy.context
    if _is_hidden(context) or not is_on(context.scene):
        return
    region, view = context.region, context.region_data
    for drawn in _drawn_in(context.scene):
        for point, text, color in drawn.shapes.labels:
            where = location_3d_to_region_2d(region, view, drawn.matrix @ Vector(point.tolist()))
            if where is not None:
                write(where.x + 8, where.y + 4, text, TEXT, color)
    if context.scene.robik.overlays.graph:
        _draw_graph(context)


def _draw_graph(context: Context) -> None:
    try:
        root = chosen_robot(context.scene)
        kind = root.session_uid, root.robik.robot.result.mark, context.scene.robik.overlays.graph_of
        if kind not in _curves:
            _curves[kind] = motor_curves(root, context.scene, kind[2])
    except RobikError:  # no robot is chosen, or it is incomplete: the panels say so
        return
    scale = context.preferences.system.ui_scale
    curves, place = _curves[kind], place_in(context.area, context.region, scale)
    if curves is None or place is None:
        return
    key = (kind, place, root.robik.robot.result.shown)
    if key not in _graphs:
        if len(_graphs) > 8:  # a view that is being resized asks for a new one each time
            _graphs.clear()
        _graphs[key] = flat(graph_shapes(curves, place, key[2]))
    for drawn in (_graphs[key], flat(playhead(curves, place, context.scene.frame_current_final))):
        paint_flat(drawn)


@persistent
def _after_update(_scene: Scene, depsgraph: Depsgraph) -> None:
    _robots.clear()
    if any(isinstance(update.id, Action) or _is_robot(update.id) for update in depsgraph.updates):
        _curves.clear()
        _graphs.clear()
        forces.forget()


def _is_robot(changed: ID) -> bool:
    return isinstance(changed, Object) and changed.robik.kind == "ROBOT"


@persistent
def _after_frame_change(_scene: Scene, _depsgraph: Depsgraph) -> None:
    _robots.clear()


@persistent
def _after_load(_file: str) -> None:
    _open.clear()
    refresh()


@persistent
def _after_undo(_scene: Scene, _other: object = None) -> None:
    refresh()


HANDLERS = (
    (bpy.app.handlers.load_post, _after_load),
    (bpy.app.handlers.undo_post, _after_undo),
    (bpy.app.handlers.redo_post, _after_undo),
)


def register() -> None:
    """Look after the switches of files that are opened, and after undo."""
    for handlers, handler in HANDLERS:
        handlers.append(handler)
    if hasattr(bpy.data, "scenes"):  # not while Blender starts; then the first file's loading follows
        refresh()


def unregister() -> None:
    """Take everything away again."""
    for handlers, handler in HANDLERS:
        handlers.remove(handler)
    _open.clear()
    stop()
    editors.stop()
