"""Files that are written whole, in folders that others can write to as well."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from robik import files
from robik.errors import FormatError
from robik.files import check_folder_writable, check_writable, write_folder, write_whole


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


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_a_folder_is_written_through_no_link_that_somebody_made_beside_it(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "motion.part").symlink_to(tmp_path / "theirs")
    write_folder(tmp_path / "motion", {"a.csv": b"new"})
    assert not (tmp_path / "motion").is_symlink()
    assert (tmp_path / "motion" / "a.csv").read_bytes() == b"new"
    assert list((tmp_path / "theirs").iterdir()) == []


def test_what_others_put_into_an_unfinished_folder_stays_out_of_it(tmp_path: Path) -> None:
    (tmp_path / "motion.part").mkdir()
    (tmp_path / "motion.part" / "b.csv").write_text("theirs")
    write_folder(tmp_path / "motion", {"a.csv": b"new"})
    assert [file.name for file in (tmp_path / "motion").iterdir()] == ["a.csv"]


def test_a_full_disk_is_told_before_long_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "ROOM", 10**18)
    for check in (lambda: check_writable(tmp_path / "m.csv"), lambda: check_folder_writable(tmp_path / "m", ["a"])):
        with pytest.raises(FormatError, match=r"m(\.csv)? cannot be written: .* MB are free there, at least 1e\+12 MB"):
            check()
    assert list(tmp_path.iterdir()) == []
