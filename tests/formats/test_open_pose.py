"""The best pose of a robot whose loops do not close, for whoever draws it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from robik.budget import Budget, within
from robik.errors import AssemblyError
from robik.formats import import_robot
from robik.formats.assembly.open_pose import OpenPose
from tests.formats import mjcf_text
from tests.formats.mjcf_text import hopeless


def test_the_best_pose_is_offered_with_the_loop_that_stays_open(tmp_path: Path) -> None:
    poses: list[OpenPose] = []
    with within(Budget(offer=poses.append)), pytest.raises(AssemblyError, match="stays open by") as error:
        import_robot(hopeless(tmp_path, links=3, chains=1))
    best = poses[-1]
    assert len(best.gaps) == 1
    gap = best.gaps[0]
    assert f"loop {gap.name!r}" in str(error.value)
    assert f"{1e3 * gap.length:.3g} mm" in str(error.value)
    assert np.linalg.norm(gap.there - gap.here) == pytest.approx(gap.length)
    assert gap.length == pytest.approx(min(pose.gaps[0].length for pose in poses), rel=1e-3)
    assert 99.6 < gap.length < 100.0  # three links of 0.1 m, the post 100 m above
    assert len(best.bodies) >= 2


def test_a_robot_that_closes_leaves_nothing_open(tmp_path: Path) -> None:
    poses: list[OpenPose] = []
    ties = '<equality><connect body1="rod" body2="rocker" anchor="1.7 0.1 -0.2"/></equality>'
    with within(Budget(offer=poses.append)):
        import_robot(mjcf_text.write(tmp_path, mjcf_text.FOURBAR, ties))
    assert not (poses and poses[-1].gaps)
