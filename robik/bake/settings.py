"""Settings of a bake and its balance, as animators ask for them in Blender and in the shell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from ..balance.giving import sole_share
from ..errors import ClipError
from ..mechanism.model import Mechanism
from ..mechanism.motor_limits import Limits, limits_of
from ..objectives.settings import Settings
from ..skeleton.single import single

OFF, STILL, MOVING, AUTO, OBJECT = "off", "still", "moving", "auto", "object"
BALANCES = (OFF, STILL, MOVING, AUTO)  # those that need no object


@dataclass(frozen=True, kw_only=True)
class Balance:
    """Balance of a clip.

    Attributes:
        mode: "still", "moving" or "auto" for a centre of mass over the feet at one of `with_balance`'s paces,
            "object" for a track of its own, "off" for none.
        margin: distance that it keeps inside the outline of the standing foot [m], beside what motors give way by.
        gives: what motors give way by [m]; None for a share of the sole's size.
        lead: time before a foot lifts at which the weight is off it [s].
        give_way: whether balance alone says where the hips are sideways.
        pin_feet: whether standing feet are held flat and without sliding.
        weight: (3,) of the centre of mass along the world's axes; over the feet it counts a hundred times as much.
    """

    mode: str = AUTO
    margin: float = field(default=single(0.01))
    gives: float | None = None
    lead: float = field(default=single(0.06))
    give_way: bool = True
    pin_feet: bool = True
    weight: tuple[float, float, float] = (1.0, 1.0, 1.0)

    @property
    def over_feet(self) -> bool:
        """Return whether the centre of mass is kept over the feet."""
        return self.mode in (STILL, MOVING, AUTO)

    @property
    def needs_contacts(self) -> bool:
        """Return whether it depends on when the feet stand."""
        return self.pin_feet or self.over_feet

    def as_far_as(self, mechanism: Mechanism, frames: Iterable[str]) -> Self:
        """Return the balance that a robot can keep: none by itself, and no foot pinned, where no foot follows.

        Args:
            mechanism: The robot.
            frames: Names of the frames that follow.

        Returns:
            The balance.
        """
        stands = not mechanism.is_grounded and any(mechanism.frame(name).is_foot for name in frames)
        is_free = self.mode == AUTO and not (stands and mechanism.mass > 0)
        return replace(self, mode=OFF if is_free else self.mode, pin_feet=self.pin_feet and stands)

    def whole_margin(self, mechanism: Mechanism) -> float:
        """Return the margin with what motors give way by.

        Args:
            mechanism: The robot.

        Returns:
            The margin [m].
        """
        return self.margin + (sole_share(mechanism) if self.gives is None else self.gives)


@dataclass(frozen=True, kw_only=True)
class BakeSettings:
    """Settings of a bake, as its panel shows them.

    Attributes:
        enforce_velocity: whether no motor turns faster than it can.
        velocity_share: of each motor's speed that may be used, above 0 to 1.
        soften: whether what turns faster than that share of the slowest motor's speed is held back.
        velocity_limit: above which it is, where no motor's speed is known [rad/s].
        velocity_weight: of holding back.
        stillness: pull towards the frame before, times the time step [s].
        posture: pull of the motors to their rest pose.
        joint_limits: whether joints keep their limits.
        hold: that the motors keep of loops; 0 for poses in which they lose it, too.
        keep_apart: whether the robot's bodies are kept out of each other.
        look_ahead: whether all frames are solved at once where motors have speeds to keep; without limits that are
            given here, only if that is possible.
        acceleration: that motors keep then [rad/s²]; 0 for their servos', and where none is known as in `limits_of`.
        jerk: likewise [rad/s³].
        torque: whether the efforts that the robot's file names are kept then, too.
        zero_moment: whether the zero-moment point is kept inside the support then, by the balance's margin.
        servo_acceleration: of motors whose servos are known, by actuator [rad/s² or m/s²].
        cyclic: whether the last frame is the first then.
    """

    enforce_velocity: bool = True
    velocity_share: float = 1.0
    soften: bool = False
    velocity_limit: float = 5.0
    velocity_weight: float = field(default=single(1e-2))
    stillness: float = field(default=single(Settings().stillness))
    posture: float = field(default=single(Settings().posture))
    joint_limits: bool = True
    hold: float = field(default=single(Settings().hold))
    keep_apart: bool = True
    look_ahead: bool = True
    acceleration: float = 0.0
    jerk: float = 0.0
    torque: bool = False
    zero_moment: bool = False
    servo_acceleration: Mapping[str, float] = field(default_factory=dict)
    cyclic: bool = False

    def limits(self, mechanism: Mechanism) -> Limits:
        """Return the limits that motors keep where all frames are solved at once: their own where none are given.

        Args:
            mechanism: The robot.

        Returns:
            Speeds, accelerations and jerks by motor.

        Raises:
            ClipError: A limit of a motor that the robot does not have, or that is no positive number.
        """
        acceleration = self.acceleration or {
            name: limit for name, limit in self.servo_acceleration.items() if name in mechanism.actuators
        }
        return limits_of(mechanism, acceleration, self.jerk or None, self.velocity_share)


def balance_by_name(name: str, pin_feet: bool = True) -> Balance:
    """Return a balance by its name in the shell.

    Args:
        name: One of `BALANCES`.
        pin_feet: Whether standing feet are held flat and without sliding.

    Returns:
        The balance.

    Raises:
        ClipError: There is none of that name; lists those there are.
    """
    if name not in BALANCES:
        raise ClipError(f"unknown balance {name!r}; there are {', '.join(BALANCES)}")
    return Balance(mode=name, pin_feet=pin_feet)
