"""Settings of a retargeting: the objectives' weights, limits, and what holds in every frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf, isfinite
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ClipError, FormatError, RobikError
from ..files import is_number, read_json
from ..mechanism.model import Mechanism
from ..mechanism.pose import Vector
from .objective import Objective
from .weights import Weights, checked_weights

CONTACTS = ("hold", "ignore")  # what a frame in contact can do
LIMITS = ("acceleration_limit", "jerk_limit", "torque_limit")  # of the actuators
OVER_TIME = (*LIMITS, "zero_moment_margin")  # kept where all frames are solved at once


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings of following a clip.

    Attributes:
        targets: weights by the name of a frame; a target without an entry has weights of one.
        com_weight: of the centre of mass along the world's axes.
        state_weight: pull towards the previous state in every frame, however short, as in the paper; positive, so that
            every problem has one answer. None, the default, for posture and stillness in its place.
        stillness: pull towards the previous state, times the time step [s]; alike at any sample rate. It grows with
            what targets miss.
        posture: pull of the motors to their rest pose; it grows likewise (`objectives/calm.py`).
        velocity_weight: of the velocity regularizer; 0 leaves it out.
        velocity_limit: angular velocity of any body above which the regularizer acts [rad/s].
        linear_velocity_limit: velocity of any body's centre of mass above which it acts [m/s].
        length: that counts as much as a radian [m]; None for the robot's own (`Mechanism.extent`).
        joint_limits: whether the joints' limits hold, those of passive joints and of joints in loops too; of a
            ball, its cone and its largest turn.
        enforce_velocity: whether every actuator keeps its own velocity limit from frame to frame, whatever that costs
            in tracking; the regularizer bends the motion smoothly before, if it is on. An actuated
            ball is held to it as a whole, but where all frames are solved at once; a joint with slides beside is not.
        objectives: weights of what a clip asks for beside frames and centre of mass, by its key, as `hand.in.pelvis`.
        contacts: "hold" keeps a frame in contact where it stands, as a closure; "ignore" only follows its target.
        velocity_share: how much of each actuator's velocity limit may be used where it is enforced, above 0 to 1.
        acceleration_limit: of the actuators where all frames are solved at once: one number [rad/s²], or extents of the
            robot for a motor that slides, or numbers by actuator [rad/s² or m/s²]; None for none.
        jerk_limit: likewise [rad/s³ or m/s³].
        torque_limit: likewise: one number or numbers by actuator [N m, or N where it slides]; None for none. The torque
            that a motion needs is that of inverse dynamics, with feet on the ground where they stand.
        zero_moment_margin: distance that the zero-moment point keeps inside the support where all frames are solved at
            once [m]; None for wherever it is. Half of a narrow support's depth at the most.
        hold: least motion of the motors by that of all joints, below 1, in which every frame keeps loops
            (`objectives/hold.py`); 0 allows poses in which bodies move though all motors stand still.
        look_ahead: whether all frames are solved at once after they were solved one by one.
        ranges: bounds of coordinates by name that are narrower than their limits [rad or m], kept as limits are.
        cyclic: whether the clip's last frame is its first, so that it can be played in a loop; with `look_ahead`.

    Raises:
        ClipError: names the setting and what would be right.
    """

    targets: Mapping[str, Weights] = field(default_factory=dict)
    com_weight: Vector = (1.0, 1.0, 1.0)
    state_weight: float | None = None
    stillness: float = 1.2e-8
    posture: float = 2e-9
    velocity_weight: float = 0.0
    velocity_limit: float = inf
    joint_limits: bool = True
    enforce_velocity: bool = False
    velocity_share: float = 1.0
    linear_velocity_limit: float = inf
    length: float | None = None
    objectives: Mapping[str, Any] = field(default_factory=dict)
    acceleration_limit: float | Mapping[str, float] | None = None
    jerk_limit: float | Mapping[str, float] | None = None
    torque_limit: float | Mapping[str, float] | None = None
    zero_moment_margin: float | None = None
    hold: float = 0.05
    look_ahead: bool = False
    cyclic: bool = False
    contacts: str = "hold"
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "com_weight", checked_weights(self.com_weight, "com_weight"))
        for name in ("stillness", "posture"):
            if not (isfinite(getattr(self, name)) and getattr(self, name) > 0):
                raise ClipError(f"{name} must be positive, for example 1e-8, not {getattr(self, name)}")
        if self.state_weight is not None and not (isfinite(self.state_weight) and self.state_weight > 0):
            raise ClipError(f"state_weight must be positive, for example 1e-7, not {self.state_weight}")
        if not (isfinite(self.velocity_weight) and self.velocity_weight >= 0):
            raise ClipError(f"velocity_weight must be zero or more, not {self.velocity_weight}")
        if not self.velocity_limit > 0:
            raise ClipError(f"velocity_limit must be positive [rad/s], not {self.velocity_limit}")
        if not self.linear_velocity_limit > 0:
            raise ClipError(f"linear_velocity_limit must be positive [m/s], not {self.linear_velocity_limit}")
        if self.length is not None and not (isfinite(self.length) and self.length > 0):
            raise ClipError(f"length must be positive [m], not {self.length}")
        if not 0 <= self.hold < 1:
            raise ClipError(f"hold must be from 0, which allows every pose, to below 1, not {self.hold}")
        if self.contacts not in CONTACTS:
            raise ClipError(f"contacts must be {' or '.join(CONTACTS)}, not {self.contacts!r}")
        if not 0 < self.velocity_share <= 1:
            raise ClipError(f"velocity_share must be above 0 and at most 1, not {self.velocity_share}")
        for name, bounds in self.ranges.items():
            if not (isinstance(bounds, Sequence) and len(bounds) == 2 and all(map(is_number, bounds))):
                raise ClipError(f"ranges: {name} must have a lower and an upper bound, two numbers, not {bounds!r}")
            if not bounds[0] <= bounds[1]:
                raise ClipError(f"ranges: the lower bound of {name} must be the first one, not {bounds!r}")
        self._check_look_ahead()

    def _check_look_ahead(self) -> None:
        """Check the settings of solving all frames at once. Raises ClipError."""
        for name, unit in (("acceleration_limit", "rad/s²"), ("jerk_limit", "rad/s³"), ("torque_limit", "N m")):
            limit = getattr(self, name)
            numbers = {"": limit} if not isinstance(limit, Mapping) else limit
            for actuator, number in numbers.items():
                if number is not None and not (is_number(number) and number > 0):
                    of = f" of {actuator}" if actuator else ""
                    raise ClipError(f"{name}{of} must be a positive number [{unit}], not {number!r}")
        margin = self.zero_moment_margin
        if margin is not None and not (is_number(margin) and 0 <= margin < inf):
            raise ClipError(f"zero_moment_margin must be zero or more [m], not {margin!r}")

    def _check_ranges(self, mechanism: Mechanism) -> None:
        """Check that ranges are of coordinates that the robot has, and within reach of their limits."""
        limits = {
            name: limit
            for joint in mechanism.joints
            for name, limit in zip(joint.coordinate_names, joint.limits, strict=True)
        }
        if unknown := set(self.ranges) - set(limits):
            raise ClipError(f"ranges of {', '.join(sorted(unknown))}, which robot {mechanism.name!r} does not have")
        for name, (low, high) in self.ranges.items():
            if low > limits[name][1] or high < limits[name][0]:
                raise ClipError(
                    f"ranges: {name} cannot be between {low:g} and {high:g}, its limits are {limits[name][0]:g} and"
                    f" {limits[name][1]:g}"
                )

    def check(self, mechanism: Mechanism) -> None:
        """Check that the robot has every frame that is weighed, and that the settings agree with each other.

        Args:
            mechanism: The robot.

        Raises:
            ClipError: Lists the frames that exist, or says which setting needs another one.
        """
        if unknown := set(self.targets) - set(mechanism.frame_names):
            listed = ", ".join(mechanism.frame_names)
            raise ClipError(
                f"weights for {', '.join(sorted(unknown))}, which robot {mechanism.name!r} does not have; it has"
                f" {listed}"
            )
        self._check_ranges(mechanism)
        for name in OVER_TIME:
            limit = getattr(self, name)
            if limit is not None and not self.look_ahead:
                raise ClipError(f"{name} is kept only where all frames are solved at once; set look_ahead as well")
            if isinstance(limit, Mapping) and (unknown := set(limit) - set(mechanism.actuators)):
                raise ClipError(
                    f"{name} of {', '.join(sorted(unknown))}, which robot {mechanism.name!r} does not have; its"
                    f" actuators are {', '.join(mechanism.actuators)}"
                )
        for name in ("torque_limit", "zero_moment_margin"):
            if getattr(self, name) is not None and not mechanism.mass > 0:
                raise ClipError(f"{name} needs masses, and robot {mechanism.name!r} has none; give its bodies masses")
        if self.zero_moment_margin is not None:
            self._check_stands(mechanism)
        if self.cyclic and not self.look_ahead:
            raise ClipError("a clip is made cyclic only where all frames are solved at once; set look_ahead as well")
        balls = [joint.name for joint in mechanism.actuated if joint.is_ball]
        if balls and self.look_ahead and self.enforce_velocity:
            raise ClipError(
                f"look_ahead does not keep the speed of a motor that turns every way, as that of {balls[0]!r}; solve"
                " frame by frame, or do not keep speeds"
            )

    @staticmethod
    def _check_stands(mechanism: Mechanism) -> None:
        """Check that a robot stands on feet of its own, so that it has a zero-moment point. Raises ClipError."""
        if mechanism.is_grounded:
            raise ClipError(
                f"zero_moment_margin keeps a robot from tipping over, and the ground holds robot {mechanism.name!r};"
                " leave it out, or let the robot float"
            )
        if not any(frame.is_foot for frame in mechanism.frames):
            raise ClipError(
                f"zero_moment_margin needs feet, and robot {mechanism.name!r} has none: give the frames that it stands"
                " on a sole (in Blender: Make Foot)"
            )

    def frame_by_frame(self) -> Settings:
        """Return these settings without what only a solver of all frames at once keeps.

        Returns:
            The settings.
        """
        without: dict[str, Any] = dict.fromkeys(OVER_TIME)
        return replace(self, look_ahead=False, cyclic=False, **without)

    def thresholds(self, dt: np.ndarray) -> np.ndarray:
        """Return the thresholds t of the velocity regularizer's terms (T, 2), angular and linear.

        Infinite where a term does not act: without a weight or a limit, and for steps in which half a turn is allowed.

        Args:
            dt: Time steps (T,) [s].

        Returns:
            Thresholds (T, 2).
        """
        t = np.full((len(dt), 2), inf)
        if self.velocity_weight > 0:
            with np.errstate(invalid="ignore"):
                angle = np.nan_to_num(self.velocity_limit * dt, nan=inf, posinf=inf)
                t[:, 0] = np.where(angle < np.pi, 4.0 * np.sin(0.5 * np.minimum(angle, np.pi)) ** 2, inf)
                t[:, 1] = np.nan_to_num(self.linear_velocity_limit * dt, nan=inf, posinf=inf) ** 2
        return t

    def per_square_metre(self, mechanism: Mechanism) -> float:
        """Return 1/ℓ² for a robot.

        Args:
            mechanism: The robot.

        Returns:
            1/ℓ² [1/m²].
        """
        return (self.length or mechanism.extent) ** -2

    def weights(self, name: str) -> Weights:
        """Return the weights of a frame target.

        Args:
            name: Name of the frame.

        Returns:
            Its weights; ones where the settings do not name it.
        """
        return self.targets.get(name, Weights())

    def weight_of(self, item: Objective) -> Any:
        """Return the weight of an objective; its kind's own where nothing is said.

        Args:
            item: Objective of a clip.

        Returns:
            The weight, of the kind's own type.

        Raises:
            ClipError: A weight that is none of its kind's.
        """
        return item.weight_from(self.objectives[item.key], item.key) if item.key in self.objectives else item.WEIGHT


def load_settings(path: str | Path) -> Settings:
    """Return the settings in a `SETTINGS.json`, whose keys are the attributes of `Settings`, each of them optional.

    Args:
        path: The file.

    Returns:
        The settings.

    Raises:
        FormatError: Names the file and the entry that is wrong.
    """
    data = read_json(path)
    try:
        return settings_from(data)
    except (RobikError, TypeError, ValueError, AttributeError) as error:
        raise FormatError(f"{path}: {error}") from None


def settings_from(data: Any) -> Settings:
    """Return the settings in plain data, as `SETTINGS.json` holds them.

    Args:
        data: The content of a JSON file.

    Returns:
        The settings.

    Raises:
        ClipError: Names the entry that is wrong and what would be right.
    """
    if not isinstance(data, dict):
        raise ClipError(f"settings must be an object with names, not {type(data).__name__}")
    pulls = ("state_weight", "stillness", "posture")
    numbers = (*pulls, "velocity_weight", "velocity_limit", "linear_velocity_limit", "velocity_share", "length", "hold")
    switches = ("joint_limits", "enforce_velocity", "look_ahead", "cyclic")
    known = {"targets", "objectives", "com_weight", *numbers, *switches, *OVER_TIME, "contacts", "ranges"}
    if unknown := set(data) - known:
        raise ClipError(f"unknown setting {', '.join(sorted(unknown))}; there are {', '.join(sorted(known))}")
    fields = dict(data)
    targets = fields.pop("targets", {})
    if not isinstance(targets, dict) or not all(isinstance(entry, dict) for entry in targets.values()):
        raise ClipError("'targets' must be an object: frame name to position_weight and orientation_weight")
    if not isinstance(fields.get("objectives", {}), dict):
        raise ClipError(
            "'objectives' must be an object: an objective's name in the clip, as hand.look_at, to its weight"
        )
    if not isinstance(fields.get("ranges", {}), dict):
        raise ClipError("'ranges' must be an object: a coordinate's name to its lower and upper bound")
    weights = {}
    for name, entry in targets.items():
        if unknown := set(entry) - {"position_weight", "orientation_weight", "along"}:
            known_here = "position_weight, orientation_weight, along"
            raise ClipError(f"target {name!r}: unknown {', '.join(sorted(unknown))}; there are {known_here}")
        position, orientation = (entry.get(f"{what}_weight", (1.0,) * 3) for what in ("position", "orientation"))
        weights[name] = Weights(position, orientation, entry.get("along"))
    for name in numbers:
        if name in fields and not is_number(fields[name]):
            raise ClipError(f"{name} must be a number, not {fields[name]!r}")
    for name in switches:
        if not isinstance(fields.get(name, True), bool):
            raise ClipError(f"{name} must be true or false, not {fields[name]!r}")
    return Settings(targets=weights, **fields)
