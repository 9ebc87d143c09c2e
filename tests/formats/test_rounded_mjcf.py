"""A parallelogram with a third crank whose loops are closed by two connects each, with numbers that are rounded."""

from __future__ import annotations

from math import cos, sin
from pathlib import Path

import numpy as np
import pytest

from robik.clips.clip import TargetClip, Track
from robik.formats import import_robot
from robik.kinematics.mobility import inspect
from robik.objectives.settings import Settings
from robik.objectives.weights import Weights
from robik.retargeting.retarget import retarget
from tests.formats.mjcf_text import write

CRANK, TILT, APART = 0.1, 0.3, 0.15  # length [m], angle [rad], distance of the cranks [m]
GEOM = '<geom size="0.01" mass="0.1"/>'


def parallelogram(folder: Path, amount: float, seed: int, motors: str) -> Path:
    """The file, each number off by up to `amount` [m]."""
    rng = np.random.default_rng(seed)

    def off(*values: float) -> str:
        return " ".join(repr(float(v + amount * rng.uniform(-1, 1))) for v in values)

    x, z = CRANK * sin(TILT), CRANK * cos(TILT)

    def pins(name: str, at: tuple[float, float]) -> str:
        return "".join(f'<site name="{name}{k}" pos="{off(at[0], y, at[1])}"/>' for k, y in enumerate((-0.01, 0.01)))

    ends = "".join(pins(f"end{k}", (k * APART, 0.0)) for k in (1, 2))
    hinge = f'<joint name="h" axis="{off(0, 1, 0)}"/>'
    coupler = (
        f'<body name="coupler" pos="{off(x, 0, z)}">{hinge}{GEOM}{ends}<site name="mid" pos="0.15 0 0.05"/></body>'
    )
    bodies = "".join(
        f'<body name="crank{k}" pos="{off(k * APART, 0, 0)}"><joint name="j{k}" axis="{off(0, 1, 0)}"/>{GEOM}'
        f"{pins(f'tip{k}', (x, z))}{coupler if k == 0 else ''}</body>"
        for k in range(3)
    )
    ties = "".join(f'<connect site1="tip{k}{s}" site2="end{k}{s}"/>' for k in (1, 2) for s in (0, 1))
    return write(folder, bodies, f"<equality>{ties}</equality>{motors}")


@pytest.mark.parametrize("motors", ["", '<actuator><motor joint="j0"/></actuator>'])
@pytest.mark.parametrize("amount", [0.0, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_rounded_parallelogram_is_driven_and_moves(tmp_path: Path, amount: float, seed: int, motors: str) -> None:
    robot = import_robot(parallelogram(tmp_path, amount, seed, motors)).mechanism
    assert robot.actuators == ("j0",)
    found = inspect(robot)
    assert found.mobility == 1
    assert found.rounding <= amount
    height = robot.rest_pose("mid").position[2]
    assert height == pytest.approx(CRANK * cos(TILT) + 0.05, abs=1e-12 + 10 * amount), "as it stands in the file"
    t = np.linspace(0.0, 1.0, 40)
    angle = TILT + 0.8 * np.sin(2 * t)
    path = np.stack([CRANK * np.sin(angle) + APART, 0 * t, CRANK * np.cos(angle) + 0.05], axis=1)
    weights = Settings(targets={"mid": Weights(orientation=(0, 0, 0))})
    motion = retarget(robot, TargetClip(t, {"mid": Track(path)}), weights)
    assert motion.report is not None
    assert np.nanmax(motion.report.position_error) < 1e-5  # 50 to 152 mm while it is locked
    assert motion.report.residual.max() < 1e-11
    assert motion.report.rounding == found.rounding
