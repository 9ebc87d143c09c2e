"""Following live: the robot follows its targets while they are dragged or animated.

A tracker takes a step at every beat of Blender's main loop. It moves the sliders too, so that servos which follow the
sliders follow the targets. Where a bake moves the robot, playback comes first.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from time import monotonic

import bpy
import numpy as np
from bpy.app.handlers import persistent
from bpy.types import Action, Context, Depsgraph, Object, Scene

from ...robik.bake.settings import AUTO, OBJECT
from ...robik.errors import RobikError
from ...robik.mechanism import Mechanism
from ...robik.mechanism.orientations import rotation
from ...robik.objectives.settings import Settings
from ...robik.tracking import DifferentialTracker, StateBasedTracker, Target, Targets, Tracker
from ...robik.tracking.balance import LiveBalance
from ..balance.centre_of_mass import Balance, read_balance, with_give
from ..balance.contacts import standing
from ..character.asked import asked_for
from ..character.mapping import (
    CharacterMapping,
    MappedTarget,
    check_object,
    check_source,
    read_mapping,
    source_matrix,
    track,
)
from ..robot import posing
from ..robot.parts import local_pose, pose_of, robots
from ..robot.reading import Moving, read_moving
from ..robot.sliders import set_sliders, slider_values
from .apart import read_walls
from .by_tens import weight_of
from .example import example_prior
from .request import of_panel, solver_settings

BEAT = 1 / 60  # s between steps
REST = 0.2  # s between looks while none can follow: the tracker that is being compiled needs the time
LONGEST = 0.1  # s: of a window that hung no more than this is caught up with
MOVED = 1e-6  # [rad, m]: what a slider of single precision may be off
TRACKERS: dict[str, Callable[[Mechanism], Tracker]] = {
    "DIFFERENTIAL": DifferentialTracker,
    "STATE": StateBasedTracker,
}


@dataclass(frozen=True, kw_only=True)
class FollowRequest:
    """Request to follow at one beat.

    Attributes:
        robot: that follows.
        mapping: what its frames follow.
        balance: what its centre of mass follows.
        tracker: key of `TRACKERS`.
        weights: a bake's settings, for the weights of targets and centre of mass.
        settings: of the solver; None for trackers that take none.
        example: an action whose poses are preferred; None without one.
        example_weight: of the pull towards them.
        keep_apart: whether the robot's bodies are kept out of each other; only At Once can.
    """

    robot: Moving
    mapping: CharacterMapping
    balance: Balance
    weights: Settings
    tracker: str
    settings: Settings | None
    example: Action | None
    example_weight: float
    keep_apart: bool

    @property
    def choice(self) -> tuple:
        """All that a new tracker is needed for when it changes, beside the robot."""
        example = self.example.session_uid if self.example else 0
        balance = self.balance.mode, self.balance.pin_feet, self.balance.margin, self.balance.gives
        return self.tracker, example, self.example_weight, self.settings, balance, self.keep_apart


def read_follow_request(root: Object) -> FollowRequest:
    """Read from a robot's panels what it follows live, and by which settings."""
    robot, settings = read_moving(root), root.robik.robot
    mapping, tracker = read_mapping(root, robot.mechanism), settings.follow.tracker
    balance = read_balance(root, robot.mechanism, mapping)
    bake = solver_settings(
        robot.mechanism, mapping, balance, of_panel(settings.bake), has_example=settings.bake.example is not None
    ).frame_by_frame()
    solver = _live_settings(bake) if TRACKERS[tracker] is StateBasedTracker else None
    return FollowRequest(
        robot=robot,
        mapping=mapping,
        balance=balance,
        weights=bake,
        tracker=tracker,
        settings=solver,
        example=settings.bake.example,
        example_weight=weight_of(settings.bake.likeness),
        keep_apart=solver is not None and settings.bake.keep_apart,
    )


def _live_settings(bake: Settings) -> Settings:
    """Return a bake's settings without weights and speeds.

    Weights come with the targets, and only a bake holds speeds.
    """
    default = Settings()
    return replace(
        bake,
        targets={},
        com_weight=default.com_weight,
        enforce_velocity=False,
        velocity_share=default.velocity_share,
    )


class Following:
    """One robot's tracker, made ready on a thread of its own: compiling takes a while the first time."""

    def __init__(
        self,
        request: FollowRequest,
        balance: Balance,
        make: Callable[[Mechanism], Tracker],
        targets: Targets,
        stands: dict[str, bool],
    ) -> None:
        mechanism = request.robot.mechanism
        self.mechanism, self.choice, self._make_tracker = mechanism, request.choice, make
        over_feet = balance.over_feet
        self.balance = LiveBalance(
            mechanism,
            pin_feet=balance.pin_feet,
            over_feet=over_feet,
            margin=balance.whole_margin(mechanism) if over_feet else balance.margin,
            pace=balance.mode if over_feet else AUTO,
        )
        targets = self.balance.step(targets, BEAT, stands)
        self.tracker: Tracker | None = None
        self.error: RobikError | None = None
        self.written: np.ndarray | None = None  # the sliders as the last step left them
        self.posed: np.ndarray | None = None  # and the bodies
        self._maker = threading.Thread(
            target=self._make, args=(targets,), name=f"tracker of {mechanism.name}", daemon=True
        )
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
    """Return why a robot does not follow its targets now; empty if it does."""
    return _problems.get(root.session_uid, "")


def leans(root: Object) -> bool:
    """Return whether a robot follows over its feet, without the future that a bake knows."""
    found = _following.get(root.session_uid)
    return found is not None and found.balance.over_feet


def wake() -> None:
    """Start the beat, if some robot follows."""
    if not bpy.app.background and not bpy.app.timers.is_registered(tick):
        bpy.app.timers.register(tick, first_interval=BEAT, persistent=True)


def tick() -> float | None:
    """Return one beat: every robot that follows takes a step. In a window Blender's main loop calls it."""
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
    """Move a robot's bodies and sliders towards its targets for `dt` [s], and return whether it followed.

    If not, `problem` returns why. `depsgraph` evaluates the targets.
    """
    uid = root.session_uid
    if posing.is_paused():
        return False
    if _plays(bpy.context) and posing.has_baked_bodies(root):
        _problems[uid] = "The bake plays; following goes on when it stops"
        return False
    try:
        request = read_follow_request(root)
        targets = _targets(request, scene, depsgraph)
        stands = _by_hand(request, scene)
        following = _ready(root, request, targets, stands)
        if following.tracker is None:
            _problems[uid] = "Preparing the tracker, which takes longer the first time"
            return False
        _place(root, request.robot, following)
        values = following.tracker.step(following.balance.step(targets, dt, stands), dt)
    except RobikError as error:
        _problems[uid] = str(error)
        return False
    _problems.pop(uid, None)
    _show(root, request.robot, following, values)
    return True


def _ready(root: Object, request: FollowRequest, targets: Targets, stands: dict[str, bool]) -> Following:
    """Return the tracker of a robot, a new one where the robot or the choice has changed."""
    uid, mechanism = root.session_uid, request.robot.mechanism
    found = _following.get(uid)
    if found is None or found.mechanism != mechanism or found.choice != request.choice:
        make = TRACKERS[request.tracker] if request.settings is None else _at_once(root, request, request.settings)
        balance = with_give(request.balance, root, mechanism, bpy.context.scene)
        found = _following[uid] = Following(request, balance, make, targets, stands)
    if found.error is not None:
        raise found.error
    return found


def _at_once(root: Object, request: FollowRequest, settings: Settings) -> Callable[[Mechanism], Tracker]:
    """Return what makes the tracker by the bake's own solver; it takes a while, and touches nothing of Blender's."""
    prior = example_prior(request.example, request.robot.mechanism)
    walls = read_walls(root, request.robot.mechanism) if request.keep_apart else None

    def make(mechanism: Mechanism) -> Tracker:
        return StateBasedTracker(mechanism, settings, prior, request.example_weight, walls() if walls else None)

    return make


def _place(root: Object, robot: Moving, following: Following) -> None:
    """Put the tracker where the robot is, if that is not where it left it: at first, and where sliders were moved."""
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
    """Pose bodies and sliders as the tracker is; where nothing moves, Blender has nothing to do."""
    assert following.tracker is not None
    position, quaternion = following.tracker.bodies()
    posed = np.hstack([position, quaternion])
    if following.posed is not None and np.abs(posed - following.posed).max(initial=0.0) < MOVED:
        return
    with posing.paused():
        posing.pose(robot.bodies, position, quaternion)
        set_sliders(root, robot.mechanism.actuators, values)
        posing.settled(root)
    following.written, following.posed = values, posed


def _targets(request: FollowRequest, scene: Scene, depsgraph: Depsgraph) -> Targets:
    """Return the targets of the frames, and of the centre of mass if it follows an object, for the robot.

    They are in the robot's coordinates.
    """
    placed, frames, leads = request.mapping.placement, {}, {}
    for target in request.mapping.targets:
        leads[target.frame] = seen = _seen(target, scene, depsgraph)
        now = track(target, *seen, placed)
        frames[target.frame] = Target(now.position[0], now.quaternion[0], request.weights.targets[target.frame])
    asked = request.mapping.asked
    sources = {k: _seen(target, scene, depsgraph) for k, target in enumerate(asked) if target.source is not None}
    if asked and request.settings is None:
        raise RobikError("this tracker follows poses of frames alone: choose At Once, or switch the other targets off")
    objectives = asked_for(request.robot.mechanism, asked, sources, leads, placed, 1)
    com_weight = request.weights.com_weight
    if request.balance.mode != OBJECT:
        return Targets(frames, com_weight=com_weight, objectives=objectives)
    followed = check_object(request.balance.target, "the centre of mass", scene, depsgraph)
    point = pose_of(followed.evaluated_get(depsgraph).matrix_world)
    where, _ = placed.apply(np.array([point.position]), rotation(np.array([point.quaternion])))
    return Targets(frames, where[0], com_weight, objectives)


def _by_hand(request: FollowRequest, scene: Scene) -> dict[str, bool]:
    """Return whether the feet whose phases are set by hand stand at the present frame."""
    now = np.array([scene.frame_current_final])
    return {
        target.frame: bool(standing(target.phases, now, target.frame)[0])
        for target in request.mapping.targets
        if target.phases is not None
    }


def _seen(target: MappedTarget, scene: Scene, depsgraph: Depsgraph) -> tuple[np.ndarray, np.ndarray]:
    """Return the position (1, 3) [m] and orientation (1, 4) of what a target follows, in the world."""
    check_source(target, scene, depsgraph)
    seen = pose_of(source_matrix(target, depsgraph))
    return np.array([seen.position]), np.array([seen.quaternion])


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
    """Start looking for robots that follow."""
    for handlers in HANDLERS:
        handlers.append(_after_change)


def unregister() -> None:
    """Stop."""
    for handlers in HANDLERS:
        handlers.remove(_after_change)
    if bpy.app.timers.is_registered(tick):
        bpy.app.timers.unregister(tick)
    _following.clear()
    _problems.clear()
