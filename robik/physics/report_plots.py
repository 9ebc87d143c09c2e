"""Plots of a report's page: what the motors must give for a motion, and what they take from the battery."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..dynamics import InverseDynamics
from ..dynamics.drives import Drive
from ..dynamics.loads import battery_power
from ..errors import RobikError
from ..motions import Motion
from ..report.report_page import Plot
from .motion_forces import motion_forces

FEW = 3  # samples at least, from which accelerations are known


def force_plots(room: InverseDynamics, motion: Motion, drives: Mapping[str, Drive]) -> list[Plot]:
    """Return plots of torques and power; none where forces cannot be known, as of a motion without its base."""
    if len(motion.times) < FEW:
        return []
    try:
        dynamics = motion_forces(room, motion).dynamics
    except RobikError:
        return []
    shares = {
        name: 100.0 * np.abs(dynamics.torque[:, k]) / drives[name].effort
        for k, name in enumerate(dynamics.actuators)
        if np.isfinite(drives[name].effort) and drives[name].effort > 0
    }
    plots = [Plot("motor torque [% of what it has at rest]", shares, 100.0)] if shares else []
    power = battery_power(dynamics, drives)
    if power is not None:
        plots.append(Plot("power from the battery [W]", {"all motors": power}))
    return plots
