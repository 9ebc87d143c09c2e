"""The ghost of a robot: where the real one is, drawn beside the pose that the scene commands."""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic
from typing import Any

import bpy
import gpu
import numpy as np
from bpy.types import Object, SpaceView3D
from gpu_extras.batch import batch_for_shader
from mathutils import Matrix, Quaternion, Vector

from ...robik.kinematics.forward import ForwardKinematics
from ..robot.parts import bodies, robot_of
from ..robot.posing import assembly_at
from .drawing import redraw

COLOR = (0.25, 0.65, 1.0)
ALPHA = 0.45
LIGHT, DARKEST = (
    Vector((0.3, -0.6, 0.75)).normalized(),
    0.35,
)  # from where the ghost is lit, and what its dark side keeps
EVERY = 0.1  # [s], at most: servos that play tell where they are as often
NEARER = 2e-4  # of the depth: a ghost that stands where the robot stands is seen in front of it


@dataclass
class _Ghost:
    """Of one robot.

    Attributes:
        root: its name.
        matrices: per body, in the world.
        shapes: per body, corners of triangles (K, 3) in its coordinates.
        shown: when [s].
        batches: of these, made at the first drawing: only then there is something to draw with.
    """

    root: str
    matrices: list[Matrix]
    shapes: list[np.ndarray]
    shown: float = 0.0
    batches: list[gpu.types.GPUBatch | None] | None = None


_ghost: _Ghost | None = None
_solvers: dict[int, ForwardKinematics] = {}  # of ghosts
_handle: object = None


def show(root: Object, present: dict[str, float]) -> None:
    """Show a robot's ghost at actuator values [rad or m]; motors that are not named stand as in the scene."""
    global _ghost, _handle
    if _ghost is not None and _ghost.root != root.name:
        hide()
    if _ghost is not None and monotonic() - _ghost.shown < EVERY:
        return
    assembly = assembly_at(root, _solvers, present)
    placed = zip(assembly.position.tolist(), assembly.quaternion.tolist(), strict=True)
    matrices = [root.matrix_world @ Matrix.LocRotScale(position, Quaternion(turn), None) for position, turn in placed]
    if _ghost is None:
        _ghost = _Ghost(root.name, matrices, [_triangles(body) for body in bodies(root)])
        _handle = SpaceView3D.draw_handler_add(_draw, (), "WINDOW", "POST_VIEW")
    _ghost.matrices, _ghost.shown = matrices, monotonic()
    redraw("VIEW_3D")


def hide() -> None:
    """Draw nothing any more."""
    global _ghost, _handle
    if _ghost is not None:
        SpaceView3D.draw_handler_remove(_handle, "WINDOW")
        _ghost = _handle = None
        _solvers.clear()
        redraw("VIEW_3D")


def places() -> list[Matrix]:
    """Return where the ghost's bodies are, in the world; none without a ghost."""
    return [] if _ghost is None else _ghost.matrices


def _triangles(body: Object) -> np.ndarray:
    """Corners (K, 3) of everything that is to be seen of a body, in its coordinates without its scale."""
    location, rotation, _ = body.matrix_world.decompose()
    back = Matrix.LocRotScale(location, rotation, None).inverted()
    found = [np.zeros((0, 3), dtype=np.float32)]
    for part in (body, *body.children_recursive):
        if part.type == "MESH" and _body_of(part) == body and not part.hide_viewport:
            found.append(
                _corners(part) @ np.array((back @ part.matrix_world).to_3x3()).T
                + (back @ part.matrix_world).translation
            )
    return np.concatenate(found).astype(np.float32)


def _body_of(part: Object) -> Object | None:
    """Return the body that a part moves with."""
    while part is not None and part.robik.kind not in ("BODY", "ROBOT"):
        part = part.parent
    return part


def _corners(part: Object) -> np.ndarray:
    mesh = part.data
    mesh.calc_loop_triangles()
    corners = np.zeros(3 * len(mesh.loop_triangles), dtype=np.int32)
    mesh.loop_triangles.foreach_get("vertices", corners)
    points = np.zeros(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", points)
    return points.reshape(-1, 3)[corners]


def _batch(corners: np.ndarray) -> gpu.types.GPUBatch | None:
    """Triangles, lit from one side."""
    if not len(corners):
        return None
    a, b, c = corners[0::3], corners[1::3], corners[2::3]
    normals = np.cross(b - a, c - a)
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
    shade = DARKEST + (1.0 - DARKEST) * np.clip(0.5 + 0.5 * normals @ np.array(LIGHT), 0.0, 1.0)
    colors = np.column_stack([shade[:, None] * COLOR, np.full(len(shade), ALPHA)]).astype(np.float32)
    contents: dict[str, Any] = {"pos": corners, "color": np.repeat(colors, 3, axis=0)}
    return batch_for_shader(gpu.shader.from_builtin("FLAT_COLOR"), "TRIS", contents)


def _draw() -> None:
    context = bpy.context
    root = None if _ghost is None else context.scene.objects.get(_ghost.root)
    if _ghost is None or root is None or robot_of(root) != root or not context.space_data.overlay.show_overlays:
        return
    if _ghost.batches is None:
        _ghost.batches = [_batch(corners) for corners in _ghost.shapes]
    shader = gpu.shader.from_builtin("FLAT_COLOR")
    shader.bind()
    gpu.matrix.push_projection()
    projection = gpu.matrix.get_projection_matrix()
    projection[2] -= NEARER * projection[3]
    gpu.matrix.load_projection_matrix(projection)
    gpu.state.depth_test_set("LESS_EQUAL")
    gpu.state.depth_mask_set(True)
    try:
        # First the depths, so that its own inside does not shine through.
        gpu.state.color_mask_set(False, False, False, False)
        _draw_bodies(shader)
        gpu.state.color_mask_set(True, True, True, True)
        gpu.state.blend_set("ALPHA")
        _draw_bodies(shader)
    finally:
        gpu.state.color_mask_set(True, True, True, True)
        gpu.state.blend_set("NONE")
        gpu.state.depth_mask_set(False)
        gpu.state.depth_test_set("NONE")
        gpu.matrix.pop_projection()


def _draw_bodies(shader: gpu.types.GPUShader) -> None:
    assert _ghost is not None
    for matrix, batch in zip(_ghost.matrices, _ghost.batches or (), strict=True):
        if batch is not None:
            gpu.matrix.push()
            gpu.matrix.multiply_matrix(matrix)
            batch.draw(shader)
            gpu.matrix.pop()
