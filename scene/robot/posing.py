"""The robot follows its sliders: whenever they changed, its bodies are posed by forward kinematics.

Where the bodies have curves of their own (a bake), these pose the robot during playback and the sliders only between
frames.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType

import bpy
import numpy as np
from bpy.app.handlers import persistent
from bpy.types import Depsgraph, Object, Scene

from ...robik.errors import RobikError
from ...robik.kinematics.forward import Assembly, ForwardKinematics
from ..animation.sources import is_animated
from . import reading
from .parts import local_pose, robots
from .reading import Moving, read_moving
from .sliders import slider_values

_solvers: dict[int, ForwardKinematics] = {}  # by the root's session_uid
_seen: dict[int, tuple[float, ...]] = {}  # the sliders for which the bodies stand where they should
_problems: dict[int, str] = {}
_paused = 0


@contextmanager
def paused() -> Iterator[None]:
    """Nothing follows while other code moves the sliders or the frame."""
    global _paused
    _paused += 1
    try:
        yield
    finally:
        _paused -= 1


def is_paused() -> bool:
    """Return whether other code moves the sliders or the frame."""
    return _paused > 0


def pose_by_sliders(root: Object) -> bool:
    """Pose a robot's bodies as its sliders say, or as near as possible, and return whether its loops close there."""
    robot = read_moving(root)
    found = assembly_at(root, _solvers, robot=robot)
    pose(robot.bodies, found.position, found.quaternion)
    return found.assembled


def pose(bodies: Iterable[Object], position: np.ndarray, quaternion: np.ndarray) -> None:
    """Pose bodies in the coordinates of their root: (n, 3) and (n, 4) wxyz."""
    for body, where, turn in zip(bodies, position, quaternion, strict=True):
        body.rotation_mode = "QUATERNION"
        body.location = where
        body.rotation_quaternion = turn


def assembly_at(
    root: Object,
    solvers: dict[int, ForwardKinematics],
    present: Mapping[str, float] = MappingProxyType({}),
    robot: Moving | None = None,
) -> Assembly:
    """Return a robot's bodies in its root's coordinates.

    `solvers` are by the root's session_uid, and filled; each starts where it was before, which decides between ways
    to close the loops. Motors that `present` [rad or m] does not name are as their sliders say. `robot` is what
    `read_moving` returns of the root, if it was called already.
    """
    mechanism, bodies = robot or read_moving(root)
    solver = solvers.get(root.session_uid)
    if solver is None or solver.mechanism != mechanism:
        solver = solvers[root.session_uid] = ForwardKinematics(mechanism)
    base = None if solver.root is None else local_pose(bodies[mechanism.body_index[solver.root]])
    values = slider_values(root, mechanism.actuators)
    values = np.array(
        [present.get(name, value) for name, value in zip(mechanism.actuators, values.tolist(), strict=True)]
    )
    return solver.solve(values, base)


def problem(root: Object) -> str:
    """Return why a robot does not follow its sliders now; empty if it does."""
    return _problems.get(root.session_uid, "")


def tell(root: Object, problem: str) -> None:
    """Note why a robot cannot follow its sliders."""
    _problems[root.session_uid] = problem


def settled(root: Object) -> None:
    """Note that a robot's bodies stand where its sliders say."""
    _seen[root.session_uid] = _numbers(root)
    _problems.pop(root.session_uid, None)


def forget() -> None:
    """Of another file nothing is known."""
    for known in (_solvers, _seen, _problems):
        known.clear()
    reading.forget()


def _numbers(root: Object) -> tuple[float, ...]:
    """Return all number-valued custom properties of a root, the sliders among them."""
    return tuple(v for v in root.values() if isinstance(v, float))


def _follow(root: Object) -> None:
    now = _numbers(root)
    before = _seen.get(root.session_uid)
    _seen[root.session_uid] = now
    if before is None or before == now:  # one that has just been made stands as its sliders say
        return
    try:
        closed = pose_by_sliders(root)
        _problems[root.session_uid] = "" if closed else "The loops do not close at these motor angles"
    except RobikError as error:
        _problems[root.session_uid] = str(error)


def on_main_thread() -> bool:
    """Return whether this is Blender's main thread: handlers also run where a render job evaluates the scene."""
    return threading.current_thread() is threading.main_thread()


@persistent
def _after_update(scene: Scene, depsgraph: Depsgraph) -> None:
    if _paused or not on_main_thread():
        return
    for update in depsgraph.updates:
        changed = update.id.original
        if isinstance(changed, Object) and changed.robik.kind == "ROBOT":
            _follow(changed)


@persistent
def _after_frame_change(scene: Scene, _depsgraph: Depsgraph) -> None:
    if _paused or not on_main_thread():
        return
    for root in robots(scene):
        if has_baked_bodies(root):
            settled(root)
        elif root.animation_data is not None:
            _follow(root)


@persistent
def _after_load(_file: str) -> None:
    forget()
    for scene in bpy.data.scenes:
        for root in robots(scene):
            _seen[root.session_uid] = _numbers(root)  # it stands as it was saved


def has_baked_bodies(root: Object) -> bool:
    """Return whether the bodies have a motion of their own, which poses the robot during playback."""
    return any(child.robik.kind == "BODY" and is_animated(child) for child in root.children)


HANDLERS = (
    (bpy.app.handlers.depsgraph_update_post, _after_update),
    (bpy.app.handlers.frame_change_post, _after_frame_change),
    (bpy.app.handlers.load_post, _after_load),
)


def register() -> None:
    """Start following."""
    for handlers, handler in HANDLERS:
        handlers.append(handler)


def unregister() -> None:
    """Stop following."""
    for handlers, handler in HANDLERS:
        handlers.remove(handler)
    forget()
