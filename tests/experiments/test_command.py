"""The command `python -m experiments`: its list, its refusals, and the quick experiments at their smallest sizes."""

from __future__ import annotations

import importlib.util
import json
import time

import pytest

from experiments import experiment
from experiments.__main__ import main
from experiments.catalogue import CATALOGUE, load
from experiments.experiment import tell, telling

CASE_KEYS = {
    "case", "fps", "paper_ms", "frames", "ms_per_frame_median", "ms_per_frame_mean", "ms_per_frame_p99",
    "ms_per_frame_worst", "ms_per_frame_whole", "iterations_mean", "position_error_max_m",
    "position_error_mean_m",
    "orientation_error_max_rad", "com_error_max_m", "constraint_residual_max", "rounding_m", "peak_velocity",
    "peak_acceleration", "peak_jerk", "look_ahead", "frames_nearly", "frames_too_fast",
    "frames_jumping", "speed_cost", "hold",
    "frames_short", "objectives", "quality", "moved_footholds", "adjustments", "seconds", "penetration",
    "target_speed", "target_extent",
}  # fmt: skip
ROWS = {
    "cases": (["--fps", "30"], "cases", CASE_KEYS),
    "frame-rates": ([], "frame_rates", {"fps", "ms_per_frame", "iterations_mean", "position_error_max_m"}),
    "look-ahead": (
        ["--fps", "30"],
        "look_ahead",
        {
            "case",
            "way",
            "error_rms_m",
            "error_max_m",
            "speed_share",
            "acceleration",
            "jerk",
            "residual_m",
            "milliseconds",
        },
    ),
    "contacts": ([], "contacts", {"weights", "error_m", "room_rad"}),
    "poses": (
        ["--poses", "3"],
        "poses",
        {"robot", "frame", "poses", "found", "off_max_m", "ms_mean", "ms_worst"},
    ),
    "hold": (
        ["--paths", "1"],
        "hold",
        {"robot", "way", "clips", "below", "apart", "least", "off_mean_m", "seconds"},
    ),
    "dragging": (
        ["--hours", "1e-4"],
        "dragging",
        {"robot", "tracker", "steps", "residual", "judged", "coupled", "travelled", "ms"},
    ),
}
PLAIN = {
    "importing": (["--runs", "1"], {"report", "links", "first_s", "median_s"}),
    "memory": ([], {"memory_mb"}),
    "scherzinger": (
        ["--samples", "20", "--seed", "3"], {"seed", "scaling_factor", "mappings", "step_response", "square",
                                             "moving_square"},
    ),
    "streaming": (
        ["--seconds", "0.5"],
        {
            "rate", "sent", "dropped", "looks", "bus_bytes", "bus_ms", "sent_p99_ms", "sent_p999_ms", "sent_worst_ms",
            "arrived_p99_ms",
            "arrived_p999_ms", "lag_growth_ms", "memory_growth_mb", "cpu_share", "bare_seconds", "bare_dropped",
            "bare_p99_ms",
            "bare_p999_ms", "bare_worst_ms",
        },
    ),
}  # fmt: skip
LONG = {"importing", "memory", "scherzinger"}  # what they measure has tests of its own


def found_by(capsys: pytest.CaptureFixture[str], name: str, *arguments: str) -> dict:
    """The JSON of an experiment, which is all of stdout; progress is on stderr."""
    assert main([name, "--json", *arguments]) == 0
    said = capsys.readouterr()
    assert f"{name}: done" in said.err
    return json.loads(said.out)


def test_what_is_silent_for_long_is_said_to_go_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(experiment, "QUIET", 0.05)
    tell("a long part")
    with telling():
        time.sleep(0.5)
    said = capsys.readouterr().err
    assert said.count("s: a long part") >= 3
    time.sleep(0.3)
    assert not capsys.readouterr().err


def test_the_list_has_a_line_for_each(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    lines = capsys.readouterr().out.splitlines()
    for name, (_, line) in CATALOGUE.items():
        assert f"{name:20}{line}" in lines


@pytest.mark.parametrize("name", CATALOGUE)
def test_each_has_a_module(name: str) -> None:
    assert importlib.util.find_spec(CATALOGUE[name][0]) is not None


def test_bad_input_is_refused_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["boxing"]) == 2
    assert capsys.readouterr().err.startswith(
        "python -m experiments: there is no experiment 'boxing'; there are baking, cases,"
    )
    with pytest.raises(SystemExit, match="2"):
        main(["live", "--seed", "x"])
    assert capsys.readouterr().err.count("\n") == 1


def test_a_missing_package_is_named(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CATALOGUE, "contacts", ("experiments_without_this", "absent"))
    assert main(["contacts"]) == 2
    assert "contacts needs the Python package 'experiments_without_this'" in capsys.readouterr().err


def test_full_sizes_are_chosen_unless_given() -> None:
    tracking = load("tracking")
    assert tracking.values({}, full=False) == {"seed": 0, "samples": 100_000, "hours": 0.02, "targets": 200}
    assert tracking.values({"hours": 0.5, "seed": None}, full=True) == {
        "seed": 0,
        "samples": 100_000,
        "hours": 0.5,
        "targets": 10_000,
    }


@pytest.mark.parametrize("name", ROWS)
def test_rows_keep_their_keys(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments, key, columns = ROWS[name]
    found = found_by(capsys, name, *arguments)
    assert found[key]
    assert all(set(row) == columns for row in found[key])
    load(name).show(found)
    assert capsys.readouterr().out


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.long) if n in LONG else n for n in PLAIN])
def test_results_keep_their_keys(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments, keys = PLAIN[name]
    found = found_by(capsys, name, *arguments)
    assert set(found) == keys
    load(name).show(found)
    assert capsys.readouterr().out
