"""Whatever is done to a file of a motion, a clip, a recording or settings, reading it ends in one sentence at worst."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.readers.mutants import check_readers
from tests.readers.samples import Sample, samples

FEW, MANY = 12, int(os.environ.get("ROBIK_FUZZ", "400"))  # mutants of each file
NAMES = (
    *(f"motion {name}" for name in (
        "csv", "json", "npz", "lafan1-csv", "gmr-pkl", "mjlab-npz", "holosoma-npz", "isaac-npz", "qpos-npz",
        "sonic-csv", "mujoco-keys", "ros2", "reachy-move", "arduino")),
    *(f"recording {name}" for name in ("bvh", "character", "joints", "free", "amass", "body model")),
    "clip clip", "clip asked", "states", "settings", "mapping", "show", "transfer table", "servo chain", "telemetry",
)  # fmt: skip


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Sample]:
    return samples(tmp_path_factory.mktemp("samples"))


def test_every_kind_of_file_is_mutated(good: dict[str, Sample], tmp_path: Path) -> None:
    assert sorted(good) == sorted(NAMES)
    for name, sample in good.items():
        path = tmp_path / f"good{sample.extension}"
        path.write_bytes(sample.content)
        assert sample.read(path), name


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("cases", [FEW, pytest.param(MANY, marks=pytest.mark.long)])
def test_mutated_files(good: dict[str, Sample], tmp_path: Path, name: str, cases: int) -> None:
    sample = good[name]
    path, with_memory = tmp_path / f"m{sample.extension}", name != "motion reachy-move"
    outcomes = check_readers(path, sample.content, sample.read, cases, with_memory=with_memory)
    print(name, dict(outcomes))
    assert outcomes.keys() <= {"read", "refused"}, outcomes
