"""`robik bench`: the cases cover the robots that ship, and each is followed."""

from __future__ import annotations

import numpy as np
import pytest

from robik import robots
from robik.bench import Case, cases, print_table
from robik.bench.measure import row, solve
from robik.retargeting.retarget import retarget

CASES = cases(fps=60.0)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_each_case_is_followed(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    found = row(case, [solve(case)])
    assert found["case"] == case.name
    assert found["fps"] == pytest.approx(60.0)
    assert found["frames"] == len(case.clip.times)
    assert found["constraint_residual_max"] < 1e-10
    assert found["position_error_max_m"] < 0.02
    assert 0.0 < found["ms_per_frame_median"] <= found["ms_per_frame_p99"] <= found["ms_per_frame_worst"] < np.inf
    assert found["ms_per_frame_mean"] <= found["ms_per_frame_whole"] < np.inf
    print_table({"cases": [found]})
    assert case.name in capsys.readouterr().out


def test_every_robot_that_ships_is_measured() -> None:
    assert {case.mechanism.name for case in CASES} == {robots.load(name).name for name in robots.names()}


def test_an_arm_reaches_what_forward_kinematics_gave() -> None:
    arm = next(case for case in CASES if case.name == "ur10")
    report = retarget(arm.mechanism, arm.clip, arm.settings).report
    assert report is not None
    assert report.position_error.max() < 1e-5
