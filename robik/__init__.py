"""Retargeting of animation onto robots, kinematic loops included.

    >>> import numpy as np
    >>> import robik
    >>> robot = robik.load("boxer")
    >>> times = np.arange(24) / 24
    >>> hand = np.array([0.25, 0.0, 0.25]) + 0.05 * np.stack([np.cos(3 * times), np.sin(3 * times), 0 * times], axis=1)
    >>> clip = robik.TargetClip(times, {"hand": robik.Track(position=hand)})
    >>> motion = robik.retarget(robot, clip)
    >>> motion.values.shape  # a row per time, a column per actuator [rad]
    (24, 4)
    >>> bool(motion.report.position_error.max() < 1e-6)  # how far the hand is off [m]
    True

Names are imported when they are first used, so that `import robik` costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from .errors import AssemblyError, ClipError, FormatError, MechanismError, MissingExtraError, RobikError, ServoError

if TYPE_CHECKING:
    from .clips.clip import TargetClip, Track, load_clip, save_clip
    from .formats import import_robot, save_robot
    from .kinematics.calls import center_of_mass, forward, jacobian
    from .kinematics.forward import Assembly
    from .kinematics.mobility import Inspection, inspect
    from .mechanism import WORLD, Body, Coupling, Frame, Joint, Mechanism, Pose, Visual
    from .motions import BaseTrack, Motion, Report, load_motion, save_motion, save_report, save_states
    from .motions.posing import posed
    from .objectives.distance import Distance
    from .objectives.look_at import LookAt
    from .objectives.posture import Posture
    from .objectives.relative_frame import RelativeFrame
    from .objectives.settings import Settings, load_settings
    from .objectives.weights import Weights
    from .recordings import load_recording, save_recording
    from .recordings.retargeting import Retargeted, retarget_recording
    from .retargeting.following_poses import follow_poses
    from .retargeting.mirroring import mirrored
    from .retargeting.own_range import OwnRange
    from .retargeting.reach_map import ReachMap, reach_map
    from .retargeting.retarget import Retargeting, retarget
    from .retargeting.solve_pose import SolvedPose, solve_pose
    from .robots import load
    from .surroundings.obstacle import Obstacle, read_obstacle
    from .tracking import DifferentialTracker, ForwardDynamicsTracker, StateBasedTracker, Target, Targets

__version__ = "0.2.0"

__all__ = [
    "WORLD", "Assembly", "AssemblyError", "BaseTrack", "Body", "ClipError", "Coupling", "DifferentialTracker",
    "Distance", "FormatError", "ForwardDynamicsTracker", "Frame", "Inspection", "Joint", "LookAt", "Mechanism",
    "MechanismError", "MissingExtraError", "Motion", "Obstacle", "OwnRange", "Pose", "Posture", "ReachMap",
    "RelativeFrame", "Report", "Retargeted", "Retargeting", "RobikError", "ServoError", "Settings", "SolvedPose",
    "StateBasedTracker", "Target", "TargetClip", "Targets", "Track", "Visual", "Weights", "center_of_mass",
    "follow_poses", "forward", "import_robot", "inspect", "jacobian", "load", "load_clip", "load_motion",
    "load_recording", "load_settings", "mirrored", "posed", "reach_map", "read_obstacle", "retarget",
    "retarget_recording", "save_clip", "save_motion", "save_recording", "save_report", "save_robot", "save_states",
    "solve_pose",
]  # fmt: skip

_MODULES = {
    ".formats": ("import_robot", "save_robot"),
    ".kinematics.calls": ("center_of_mass", "forward", "jacobian"),
    ".kinematics.forward": ("Assembly",),
    ".kinematics.mobility": ("Inspection", "inspect"),
    ".mechanism": ("WORLD", "Body", "Coupling", "Frame", "Joint", "Mechanism", "Pose", "Visual"),
    ".motions": ("BaseTrack", "Motion", "Report", "load_motion", "save_motion", "save_report", "save_states"),
    ".objectives.distance": ("Distance",),
    ".objectives.look_at": ("LookAt",),
    ".objectives.posture": ("Posture",),
    ".objectives.relative_frame": ("RelativeFrame",),
    ".objectives.settings": ("Settings", "load_settings"),
    ".objectives.weights": ("Weights",),
    ".clips.clip": ("TargetClip", "Track", "load_clip", "save_clip"),
    ".recordings": ("load_recording", "save_recording"),
    ".retargeting.following_poses": ("follow_poses",),
    ".retargeting.mirroring": ("mirrored",),
    ".retargeting.own_range": ("OwnRange",),
    ".motions.posing": ("posed",),
    ".recordings.retargeting": ("Retargeted", "retarget_recording"),
    ".retargeting.reach_map": ("ReachMap", "reach_map"),
    ".retargeting.retarget": ("Retargeting", "retarget"),
    ".retargeting.solve_pose": ("SolvedPose", "solve_pose"),
    ".robots": ("load",),
    ".surroundings.obstacle": ("Obstacle", "read_obstacle"),
    ".tracking": ("DifferentialTracker", "ForwardDynamicsTracker", "StateBasedTracker", "Target", "Targets"),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> object:
    """Return a public name, imported on its first use."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_MODULE_OF[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted({*globals(), *__all__})
