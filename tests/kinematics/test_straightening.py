"""Linkages whose numbers are rounded move as the exact ones do; what truly stands still stays so."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from robik.kinematics.forward import ForwardKinematics
from robik.kinematics.mobility import inspect
from robik.kinematics.straightening import straightened
from robik.mechanism import Mechanism
from tests.kinematics import linkages
from tests.kinematics.linkages import rounded

MOBILE = [(linkages.parallelogram, 1), (linkages.neck, 1), (linkages.bennett, 1), (linkages.sarrus, 1),
          (linkages.delta, 3),
          (linkages.stewart, 6), (linkages.leg, 4)]  # fmt: skip


@pytest.mark.parametrize(("make", "mobility"), MOBILE)
@pytest.mark.parametrize("amount", [1e-12, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5])
def test_a_rounded_linkage_moves_as_the_exact_one(make: Callable[[], Mechanism], mobility: int, amount: float) -> None:
    robot = rounded(make(), amount, 1)
    found = inspect(robot)
    assert found.mobility == mobility
    assert found.rounding <= robot.tolerance
    assert found.rounding <= 3.0 * amount
    fk = ForwardKinematics(robot)
    for turn in np.linspace(0.0, 0.1, 4):
        rest = np.array([v for joint in robot.actuated for v in joint.rest])
        values = rest + (turn if mobility == len(rest) else 0.0)
        assembly = fk.solve(values)
        assert assembly.assembled
        assert assembly.residual <= 1e-10 * fk.flat.size


@pytest.mark.parametrize(("make", "mobility"), MOBILE)
def test_exact_numbers_stay_as_they_are(make: Callable[[], Mechanism], mobility: int) -> None:
    robot = rounded(make(), 0.0)
    assert straightened(robot) is robot
    assert inspect(robot).mobility == mobility


@pytest.mark.parametrize("amount", [0.0, 1e-9, 1e-7, 1e-5])
@pytest.mark.parametrize(
    "make", [linkages.truss, linkages.shaky, lambda: linkages.shaky(1e-4), lambda: linkages.parallelogram(third=1e-3)]
)
def test_what_truly_stands_still_is_not_freed(make: Callable[[], Mechanism], amount: float) -> None:
    robot = rounded(make(), amount)
    assert straightened(robot) is robot
    assert inspect(robot).mobility == 0


def test_the_tolerance_is_settable() -> None:
    robot = rounded(linkages.parallelogram(), 1e-6)
    assert inspect(robot).mobility == 1
    assert inspect(robot.with_changes(tolerance=0.0)).mobility == 0
    far = rounded(linkages.parallelogram(), 1e-4)
    assert inspect(far).mobility == 0
    assert inspect(far.with_changes(tolerance=1e-3)).mobility == 1
