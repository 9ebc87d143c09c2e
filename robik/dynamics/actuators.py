"""Motors' data: stall torque, speed without load and stiffness of servos, by model.

A servo of proportional gain P drives its motor by P/128 units of PWM per count of error, 885 units being all. It then
behaves as a spring of the stiffness

    k = τ_stall · P/128 · (4096 / 2π) / 885        [N m/rad]

until it is saturated. Its torque falls with speed, from τ_stall at rest to none at the speed without load.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import pi, tau

P_UNIT = 128.0  # of the control table's position P gain
FULL_PWM = 885.0
COUNTS = 4096.0
DAMPING = 0.02  # [s] of stiffness: measured on a looped walker in simulation


@dataclass(frozen=True)
class MotorData:
    """The vendor's data of a servo at its nominal voltage.

    Attributes:
        stall_torque: at rest [N m].
        free_speed: of the horn without load [rad/s].
        voltage: nominal [V].
        p_gain: the position P gain from the factory.
    """

    stall_torque: float
    free_speed: float
    voltage: float
    p_gain: int

    def stiffness(self, p_gain: float | None = None) -> float:
        """Return the spring that the servo is at a position P gain, that of the factory if left out [N m/rad].

        Args:
            p_gain: Position P gain as the servo counts it; that of the factory if left out.

        Returns:
            Stiffness [N m/rad].
        """
        gain = self.p_gain if p_gain is None else p_gain
        return self.stall_torque * gain / P_UNIT * COUNTS / tau / FULL_PWM


def _motor(stall_torque: float, rpm: float, voltage: float, p_gain: int) -> MotorData:
    return MotorData(stall_torque, rpm * 2 * pi / 60, voltage, p_gain)


# ROBOTIS e-Manual, "Specifications" and "Control Table" of each model (https://emanual.robotis.com/docs/en/dxl/).
# Not yet held against its page: MX-28(2.0).
MOTORS: dict[str, MotorData] = {
    "XH430-W350": _motor(3.4, 30, 12.0, 900),
    "XH430-W210": _motor(2.5, 50, 12.0, 900),
    "XM430-W350": _motor(4.1, 46, 12.0, 800),
    "XM540-W270": _motor(10.6, 30, 12.0, 800),
    "XL430-W250": _motor(1.5, 61, 12.0, 640),
    "XL330-M288": _motor(0.52, 103, 5.0, 400),
    "XC330-T288": _motor(1.0, 71, 12.0, 900),
    "MX-28(2.0)": _motor(2.5, 55, 12.0, 850),
    "MX-64(2.0)": _motor(6.0, 63, 12.0, 850),
    "MX-106(2.0)": _motor(8.4, 45, 12.0, 850),
}
