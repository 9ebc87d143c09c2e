"""The robot follows its targets live, while they are dragged or animated: a tracker takes a step at every beat of Blender's main loop.

It moves the sliders too, so that servos which follow the sliders follow the targets. Where a bake moves the robot, playback comes first.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from time import monotonic

import bpy
import numpy as np
from bpy.app.handlers import persistent
from bpy.types import Context, Depsgraph, Object, Scene

from robik.errors import RobikError
from robik.mechanism import Mechanism
from robik.objectives.settings import Settings
from robik.tracking import DifferentialTracker, ForwardDynamicsTracker, StateBasedTracker, Target, Targets, Tracker

from . import live
from .actuators import set_sliders, slider_values
from .bake import bake_settings, weights_of
from .example import example_prior
from .mapping import active_targets, check_object, check_source, placement, rotation, source_matrix, track
from .parts import local_pose, pose_of, robots
from .read_robot import Moving, read_moving

BEAT = 1 / 60  # s between steps
REST = 0.2  # s between looks while none can follow: the tracker that is being compiled needs the time
LONGEST = 0.1  # s: of a window that hung no more than this is caught up with
MOVED = 1e-6  # [rad, m]: what a slider of single precision may be off
TRACKERS: dict[str, Callable[[Mechanism], Tracker]] = {
    "DIFFERENTIAL": DifferentialTracker,
    "STATE": StateBasedTracker,
    "DYNAMICS": ForwardDynamicsTracker,
}


class Following:
    """One robot's tracker, made ready on a thread of its own: compiling takes a while the first time."""

    def __init__(self, mechanism: Mechanism, choice: tuple, make: Callable[[Mechanism], Tracker], targets: Targets) -> None:
        self.mechanism, self.choice, self._make_tracker = mechanism, choice, make
        self.tracker: Tracker | None = None
        self.error: RobikError | None = None
        self.written: np.ndarray | None = None  # the sliders as the last step left them
        self.posed: np.ndarray | None = None  # and the bodies
        self._maker = threading.Thread(target=self._make, args=(targets,), name=f"tracker of {mechanism.name}", daemon=True)
        self._maker.start()
        if bpy.app.background:
            self._maker.join()

    def _make(self, targets: Targets) -> None:
        try:
            tracker = self._make_tracker(self.mechanism)
            tracker.step(targets, BEAT)  # what it needs is compiled now
        except RobikError as error:
            self.error = error
            return
        self.tracker = tracker


_following: dict[int, Following] = {}  # by the root's session_uid
_problems: dict[int, str] = {}
_last = 0.0


def problem(root: Object) -> str:
    """Why a robot does not follow its targets now; empty if it does."""
    return _problems.get(root.session_uid, "")


def wake() -> None:
    """Starts the beat, if some robot follows."""
    if not bpy.app.background and not bpy.app.timers.is_registered(tick):
        bpy.app.timers.register(tick, first_interval=BEAT, persistent=True)


def tick() -> float | None:
    """One beat: every robot that follows takes a step. In a window Blender's main loop calls it."""
    global _last
    now = monotonic()
    dt, _last = min(max(now - _last, 1e-3), LONGEST), now
    scene = bpy.context.scene
    followers = [root for root in robots(scene) if root.robik.robot.follow.on]
    followed = [step(root, scene, bpy.context.evaluated_depsgraph_get(), dt) for root in followers]
    if not followers:
        _following.clear()
        return None
    return BEAT if any(followed) else REST


def step(root: Object, scene: Scene, depsgraph: Depsgraph, dt: float) -> bool:
    """A robot takes a step towards its targets: bodies and sliders move.

    Args:
        root: of the robot.
        scene, depsgraph: where its targets are.
        dt: for how long it moves [s].

    Returns:
        Whether it followed; if not, `problem` tells why.
    """
    uid = root.session_uid
    if live.is_paused():
        return False
    if _plays(bpy.context) and live.has_baked_bodies(root):
        _problems[uid] = "The bake plays; following goes on when it stops"
        return False
    try:
        robot = read_moving(root)
        targets = _targets(root, robot.mechanism, scene, depsgraph)
        following = _ready(root, robot.mechanism, targets)
        if following is None or following.tracker is None:
            _problems[uid] = "Preparing the tracker, which takes longer the first time"
            return False
        _place(root, robot, following)
        values = following.tracker.step(targets, dt)
    except RobikError as error:
        _problems[uid] = str(error)
        return False
    _problems.pop(uid, None)
    _show(root, robot, following, values)
    return True


def _ready(root: Object, mechanism: Mechanism, targets: Targets) -> Following | None:
    """The robot's tracker; a new one where the robot or the choice has changed.

    Raises:
        RobikError: there cannot be one.
    """
    bake, kind, found = root.robik.robot.bake, root.robik.robot.follow.tracker, _following.get(root.session_uid)
    settings = _settings(root, mechanism) if TRACKERS[kind] is StateBasedTracker else None
    choice = (kind, bake.example.session_uid if bake.example else 0, bake.example_weight, settings)
    if found is None or found.mechanism != mechanism or found.choice != choice:
        make = TRACKERS[kind]
        if settings is not None:
            prior, weight = example_prior(root, mechanism), float(bake.example_weight)
            make = partial(StateBasedTracker, settings=settings, prior=prior, prior_weight=weight)
        found = _following[root.session_uid] = Following(mechanism, choice, make, targets)
    if found.error is not None:
        raise found.error
    return found


def _settings(root: Object, mechanism: Mechanism) -> Settings:
    """The bake's, for poses like its own; but for weights, which come with the targets, and speeds that only a bake holds."""
    every = Settings()
    bake = bake_settings(root, mechanism)
    return replace(bake, targets={}, com_weight=every.com_weight, enforce_velocity=False, velocity_share=every.velocity_share)


def _place(root: Object, robot: Moving, following: Following) -> None:
    """Puts the tracker where the robot is, if that is not where it left it: at first, and where sliders were moved."""
    tracker = following.tracker
    assert tracker is not None
    values = slider_values(root, robot.mechanism.actuators)
    rounding = MOVED * (1.0 + np.abs(values).max(initial=0.0))
    if following.written is not None and np.abs(values - following.written).max(initial=0.0) <= rounding:
        return
    name = tracker.topology.root
    base = None if name is None else local_pose(robot.bodies[robot.mechanism.body_index[name]])
    tracker.reset(values, base)


def _show(root: Object, robot: Moving, following: Following, values: np.ndarray) -> None:
    """Poses bodies and sliders as the tracker is; where nothing moves, Blender has nothing to do."""
    assert following.tracker is not None
    position, quaternion = following.tracker.bodies()
    posed = np.hstack([position, quaternion])
    if following.posed is not None and np.abs(posed - following.posed).max(initial=0.0) < MOVED:
        return
    with live.paused():
        live.pose(robot.bodies, position, quaternion)
        set_sliders(root, robot.mechanism.actuators, values)
        live.settled(root)
    following.written, following.posed = values, posed


def _targets(root: Object, mechanism: Mechanism, scene: Scene, depsgraph: Depsgraph) -> Targets:
    """Where the robot's frames, and its centre of mass if it follows an object, should be now, in the robot's coordinates.

    Raises:
        RobikError: a target follows something that is not there.
    """
    placed, frames = placement(root), {}
    for target in active_targets(root, mechanism):
        check_source(target, scene, depsgraph)
        seen = pose_of(source_matrix(target, depsgraph))
        now = track(target, np.array([seen.position]), np.array([seen.quaternion]), placed)
        frames[target.frame] = Target(now.position[0], now.quaternion[0], weights_of(target))
    balance = root.robik.robot.balance
    if balance.source != "OBJECT":
        return Targets(frames)
    followed = check_object(balance.target, "the centre of mass", scene, depsgraph)
    seen = pose_of(followed.evaluated_get(depsgraph).matrix_world)
    where, _ = placed.apply(np.array([seen.position]), rotation(np.array([seen.quaternion])))
    return Targets(frames, where[0], tuple(balance.weight))


def _plays(context: Context) -> bool:
    return any(window.screen.is_animation_playing for window in context.window_manager.windows)


@persistent
def _after_change(*_arguments: object) -> None:
    """Of a file, or a state, that came back, robots may follow."""
    _following.clear()
    _problems.clear()
    if any(root.robik.robot.follow.on for scene in bpy.data.scenes for root in robots(scene)):
        wake()


HANDLERS = (bpy.app.handlers.load_post, bpy.app.handlers.undo_post, bpy.app.handlers.redo_post)


def register() -> None:
    """Starts looking for robots that follow."""
    for handlers in HANDLERS:
        handlers.append(_after_change)


def unregister() -> None:
    """Stops."""
    for handlers in HANDLERS:
        handlers.remove(_after_change)
    if bpy.app.timers.is_registered(tick):
        bpy.app.timers.unregister(tick)
    _following.clear()
    _problems.clear()
