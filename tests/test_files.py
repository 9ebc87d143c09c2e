"""Files that are written whole, in folders that others can write to as well."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from robik.files import write_whole


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_a_file_is_written_through_no_link_that_somebody_made_beside_it(tmp_path: Path) -> None:
    """Its unfinished neighbour has a name that anybody can guess, as in a temporary folder."""
    (tmp_path / "precious").write_text("precious")
    (tmp_path / "motion.csv.part").symlink_to(tmp_path / "precious")
    write_whole(tmp_path / "motion.csv", "new")
    assert (tmp_path / "precious").read_text() == "precious"
    assert (tmp_path / "motion.csv").read_text() == "new"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["motion.csv", "precious"]


def test_what_a_program_that_ended_too_early_left_is_in_nobodys_way(tmp_path: Path) -> None:
    (tmp_path / "motion.csv.part").write_text("half of i")
    write_whole(tmp_path / "motion.csv", "new")
    assert [file.name for file in tmp_path.iterdir()] == ["motion.csv"]
