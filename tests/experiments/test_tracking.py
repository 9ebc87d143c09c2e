"""The claims of the papers on live solvers, on shorter runs than `python -m experiments tracking --full`.

docs/tracking-experiments.md has the long ones.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.experiment import plain
from experiments.tracking import dragging, following, live, plots, scherzinger, solvers
from experiments.tracking.serial_chain import SerialChain
from experiments.tracking.tables import EXPERIMENT
from robik.robots import load
from robik.tracking import ForwardDynamicsTracker

pytestmark = pytest.mark.long  # test_command.py runs each of these experiments for a moment
Found = dict[str, Any]


@pytest.fixture(scope="module")
def found() -> Found:
    """All of it, as `python -m experiments tracking --json` prints it, but with few samples."""
    return json.loads(json.dumps(plain(EXPERIMENT.run(seed=1, samples=4000, targets=6, hours=0.003))))


# Scherzinger, Fig. 4


@pytest.fixture(scope="module")
def mappings(found: Found) -> Found:
    return {
        key: {k: np.array(v) for k, v in each.items()} if isinstance(each, dict) else each
        for key, each in found["mappings"].items()
    }


def test_mean_mappings_are_diagonal(mappings: Found) -> None:
    """But for what so few samples leave: less than four standard errors."""
    for name in scherzinger.MAPPINGS:
        mean, error = mappings[name]["mean"], mappings[name]["deviation"] / np.sqrt(mappings["samples"])
        beside = ~np.eye(6, dtype=bool)
        assert (np.abs(mean) < 4 * error + 1e-12)[beside].all()
        assert (np.diag(mean) > 0.4).all()


def test_scaling_factor_is_the_paper_s(found: Found) -> None:
    assert found["scaling_factor"] == pytest.approx(0.7885, rel=0.01)


def test_mass_in_the_end_effector_makes_the_mapping_the_same_everywhere(mappings: Found) -> None:
    """Less spread than the transpose by far, in every entry; dynamics as such do not help."""
    ours, even, plain = (mappings[name]["variance"] for name in ("end_effector", "even", "transpose"))
    known = plain > 1e-9
    assert (ours[known] < 0.2 * plain[known]).all()
    assert ours.max() < 0.05 and np.trace(ours) < 0.02 * np.trace(plain)
    assert np.trace(even) > np.trace(plain)
    np.testing.assert_allclose(mappings["end_effector"]["deviation"] ** 2, ours, rtol=1e-9)


# Fig. 5


def test_step_response(found: Found) -> None:
    """Ours settles with the rotational errors held, the transpose overshoots in four of six dimensions and has not
    settled."""
    ours, theirs = (
        {key: np.array(value) for key, value in found["step_response"][name].items()} for name in ("twin", "transpose")
    )
    assert ours["errors"].shape == (151, 6)
    assert np.linalg.norm(ours["errors"][0, :3]) > 1.0, "a distant target [m]"
    assert ours["left"].max() < 1e-4
    assert ours["overshoot"][:3].max() < 0.01 and ours["overshoot"][3:].max() < 0.02
    assert (theirs["overshoot"] > 0.02).sum() >= 4 and theirs["overshoot"][3:].max() > 0.5
    assert theirs["left"].max() > 0.02


# Fig. 7


def test_square_from_corner_to_corner(found: Found) -> None:
    """Ours leads straight to every corner without turning; the transpose takes distorted paths, and longer."""
    ours, theirs = (
        {key: np.array(value) for key, value in found["square"][name].items()} for name in ("twin", "transpose")
    )
    assert ours["paths"].shape == (4, 1001, 3)
    assert ours["length"].max() < 1.001 and ours["deviation"].max() < 0.002 and ours["turned"].max() < 0.002
    assert (ours["steps"] < 40).all() and (theirs["steps"] > 5 * ours["steps"]).all()
    assert theirs["deviation"].min() > 5 * ours["deviation"].max() and theirs["deviation"].max() > 0.04
    assert theirs["turned"].min() > 0.2


# Fig. 8


def test_gain_leads_from_smooth_and_late_to_fast_and_exact(found: Found) -> None:
    rows = found["moving_square"]["gains"]
    assert [row["gain"] for row in rows] == [5, 10, 20, 30, 50]
    errors, accelerations = ([row[key] for row in rows] for key in ("error_mean_m", "peak_acceleration"))
    assert errors == sorted(errors, reverse=True) and accelerations == sorted(accelerations)
    assert errors[0] > 0.005 and errors[-1] < 0.0002, "m"
    assert accelerations[-1] > 3 * accelerations[0]


# Lee


@pytest.fixture(scope="module")
def table(found: Found) -> dict[tuple[str, str], Found]:
    return {(row["robot"], row["solver"]): row for row in found["solvers"]}


def test_every_solver_has_a_row(table: dict[tuple[str, str], Found]) -> None:
    shared = {*solvers.CLASSICS, "forward dynamics", "state-based"}
    assert {robot for robot, _ in table} == {"two_link", "arm7", "ur10"}
    for robot in ("two_link", "arm7", "ur10"):
        assert shared <= {solver for r, solver in table if r == robot}
    assert ("arm7", "analytic limb") in table and ("arm7", "hybrid") in table and ("two_link", "analytic") in table
    assert all(np.isfinite(row[key]) for row in table.values() for key, _, _ in solvers.COLUMNS)


def test_closed_forms_reach_all_that_can_be_reached(table: dict[tuple[str, str], Found]) -> None:
    for each in (("two_link", "analytic"), ("arm7", "analytic limb")):
        assert table[each]["success"] == 1.0 and table[each]["iterations"] == 1.0


def test_along_a_path_all_keep_up(table: dict[tuple[str, str], Found]) -> None:
    assert all(row["path_error_m"] < 1e-3 for row in table.values())


def test_at_the_singularity(table: dict[tuple[str, str], Found]) -> None:
    """The plain pseudo-inverse runs wild there; forward dynamics and the state-based solver stretch, stop at the
    nearest and come back."""
    for robot in ("two_link", "arm7", "ur10"):
        wild = table[robot, "pseudo-inverse"]
        assert wild["singular_speed"] > 100 and wild["nearest"] < 0.5
        for solver in ("forward dynamics", "state-based"):
            calm = table[robot, solver]
            assert calm["singular_speed"] < 25 and calm["singular_end_error_m"] < 2e-3
            assert calm["nearest"] == 1.0


# The walker, loops


def test_dragging_keeps_loops_closed(found: Found) -> None:
    rows = found["dragging"]
    assert {"walker", "dancer", "validation"} <= {row["robot"] for row in rows}
    assert len(rows) == len(dragging.DRAGGED) * len(dragging.TRACKERS)
    assert all(row["residual"] < 1e-8 and row["judged"] < 1e-8 and row["travelled"] > 1 for row in rows)


# Caron: three contacts


def test_weights_make_a_compromise_or_priorities_and_limits_hold(found: Found) -> None:
    compromise, priorities = found["contacts"]
    assert min(compromise["error_m"]) > 0.01
    assert priorities["error_m"][0] < 1e-4 < priorities["error_m"][1] < 0.01 < priorities["error_m"][2]
    assert all(row["room_rad"] >= 0 for row in found["contacts"])


# Live


def test_live_keeps_speeds_and_accelerations_and_says_how_late_it_is(found: Found) -> None:
    assert {(row["tracker"], row["rate"]) for row in found["live"]} == {
        (t, r) for t in live.TRACKERS for r in live.RATES
    }
    for row in found["live"]:
        assert row["speed"] <= 1 + 1e-9
        assert row["acceleration"] <= 1 + 1e-9
        assert 0 < row["delay_s"] < 0.2
        assert row["error_m"] < 0.005


# Follow Live


def test_followed_at_once_or_as_the_motors_can(found: Found) -> None:
    """The state-based tracker is where it should be, at once; the differential one gets there and never asks too much
    of a motor."""
    table = {(row["motion"], row["tracker"]): row for row in found["following"]}
    assert len(table) == 5 * len(live.TRACKERS)
    for motion in ("squat", "squat, scrubbed", "walk", "dance", "dragged"):
        at_once, as_they_can = table[motion, "state-based"], table[motion, "differential"]
        assert as_they_can["speed"] <= 1.001 and as_they_can["acceleration"] <= 1.05, (
            "but for what loops bend within a step"
        )
        assert as_they_can["held_back_rad"] < 0.01
        assert at_once["delay_s"] == 0 and at_once["error_m"] <= as_they_can["error_m"] + 1e-6
        assert as_they_can["left_m"] < 1e-3
    assert table["squat, scrubbed", "state-based"]["too_much"] > 0, "no motor is that fast"


# Reproducible


def test_what_is_random_comes_from_the_seed() -> None:
    """The same again, but for the times; with another seed something else."""

    def once(seed: int) -> list[Found]:
        arm = ForwardDynamicsTracker(load("ur10"))
        dragged = dragging.drag(arm, dragging.dragged_frames(arm), 60, seed)
        return [
            scherzinger.mappings(seed, samples=20),
            {key: value for key, value in dragged.items() if key != "ms"},
            {"targets": [goal.position for goal in solvers._reachable(SerialChain(arm.mechanism, "tool"), seed, 3)]},
            {"pelvis": following.dragged(load("walker"), seed, 3.0).tracks["pelvis"].position},
        ]

    first, again, other = ([json.dumps(plain(row)) for row in once(seed)] for seed in (2, 2, 3))
    assert first == again
    assert all(a != b for a, b in zip(first, other, strict=True))


def test_plots_are_drawn_from_a_kept_result(found: Found, tmp_path: Path) -> None:
    (tmp_path / "tracking.json").write_text(json.dumps(found))
    drawn = plots.EXPERIMENT.run(folder=str(tmp_path / "plots"), found=str(tmp_path / "tracking.json"))["files"]
    assert len(drawn) == 6
    assert all(Path(file).stat().st_size > 5000 for file in drawn)


def test_tables_can_be_read(found: Found, capsys: pytest.CaptureFixture[str]) -> None:
    EXPERIMENT.show(found)
    assert "scaling factor" in capsys.readouterr().out
