"""Figures of bakes with held feet: what G1 and the walker are to show on the walking character and a recorded dance."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("bpy")

from experiments.held_feet import EXPERIMENT


@pytest.mark.long
def test_feet_are_held_and_the_robot_is_balanced(shared_data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = EXPERIMENT.run(folder=str(shared_data), robots="g1,walker")
    rows = {(row["robot"], row["clip"]): row for row in found["held_feet"]}
    assert len(rows) == 5
    for row in rows.values():
        assert row["slide_mm_s"] < 1.0
        assert row["contact_off_mm"] < 0.1 and row["contact_turned_deg"] < 0.1
        assert row["footholds_moved"] == 0
        assert row["jump_rad"] < 0.2
        assert row["ms_mean"] < 1.0
    for case in (("g1", "walk"), ("g1", "one leg"), ("walker", "walk"), ("walker", "walk at half pace")):
        assert rows[case]["frames_in_floor"] == 0
    for case in (("g1", "walk"), ("walker", "walk")):
        assert rows[case]["zero_moment_inside"] >= 0.97
    assert rows["walker", "walk at half pace"]["zero_moment_inside"] == 1.0
    EXPERIMENT.show(found)
    assert len(capsys.readouterr().out.splitlines()) == 7
