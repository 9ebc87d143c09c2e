"""One set of defaults: what Python does without settings, the shell does, too."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import robik
from tests.shell import robik as robik_here


def test_python_and_shell_solve_a_clip_alike(tmp_path: Path) -> None:
    """An arm of seven axes whose hand has a place but no direction: what nothing asks for drifts alike, too."""
    arm, times = robik.load("arm7"), np.arange(600) / 60
    rest = np.array(arm.rest_pose("tool").position)
    way = np.stack([np.sin(times), np.cos(1.3 * times) - 1.0, np.sin(0.7 * times)], axis=1)
    clip = robik.TargetClip(times, {"tool": robik.Track(position=rest + 0.25 * way)})
    robik.save_clip(clip, tmp_path / "clip.npz")
    done = robik_here(tmp_path, "solve", "arm7", "clip.npz", "-o", "motion.csv")
    assert done.returncode == 0, done.stderr
    by_shell, by_python = robik.load_motion(tmp_path / "motion.csv"), robik.retarget(arm, clip)
    assert np.array_equal(by_shell.values, by_python.values)
