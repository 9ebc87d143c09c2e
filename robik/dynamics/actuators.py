"""Motors' data: stall torque, speed without load and stiffness of servos.

A servo of proportional gain P gives its motor a share of all it has, by its error and P. It then behaves as a spring of
the stiffness

    k = τ_stall · P · drive        [N m/rad]

until it is saturated. Its torque falls with speed, from τ_stall at rest to none at the speed without load.
"""

from __future__ import annotations

from dataclasses import dataclass

DAMPING = 0.02  # [s] of stiffness: measured on a looped walker in simulation


@dataclass(frozen=True)
class MotorData:
    """Data of a motor with its gear, at one voltage.

    Attributes:
        stall_torque: at rest [N m].
        free_speed: of the horn without load [rad/s].
        p_gain: the position P gain from the factory.
        drive: share of the stall torque by radian of error and unit of the P gain.
        stall_power: that it takes from the battery at rest [W]; None where that is not known.
    """

    stall_torque: float
    free_speed: float
    p_gain: float
    drive: float
    stall_power: float | None = None

    def stiffness(self, p_gain: float | None = None) -> float:
        """Return the servo's stiffness [N m/rad] at a position P gain, that of the factory if left out."""
        gain = self.p_gain if p_gain is None else p_gain
        return self.stall_torque * gain * self.drive

    @property
    def efficiency(self) -> float:
        """Return the share of the battery's power that is not lost in the gear; 1 if unknown.

        An ideal motor that stalls turns τ_stall · ω_free into heat. What a real one takes more is lost in the gear.
        """
        if not self.stall_power:
            return 1.0
        return min(self.stall_torque * self.free_speed / self.stall_power, 1.0)
