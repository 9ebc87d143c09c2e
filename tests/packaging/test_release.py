"""What a release consists of: wheels, the sources, and zips that run where they say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.utils import parse_wheel_filename

from tools.extension import COMPILED, LOCK, PLATFORMS, PYTHONS, Target, pip
from tools.release import NEEDED, notes, sources, wheel

OLDEST_MACOS = 12
SOLVE = """
from numba.core import event
class Count(event.Listener):
    compiled = 0
    def on_start(self, event): Count.compiled += 1
    def on_end(self, event): pass
event.register("numba:compile", Count())
import robik
solved = robik.solve_pose(robik.load("ur10"), {"flange": (0.5, 0.2, 0.4)})
print(robik.__file__, solved.found, Count.compiled)
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this platform and Python."""
    return wheel(Target.here(), tmp_path_factory.mktemp("wheel"))


def test_a_first_solve_from_the_wheel_of_the_platform_compiles_nothing(made: Path, tmp_path: Path) -> None:
    place = tmp_path / "place"
    pip("install", "--quiet", "--no-deps", "--target", place, made)
    environment = os.environ | {"PYTHONPATH": str(place), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "-P", "-c", SOLVE], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [str(place / "robik" / "__init__.py"), "True", "0"]


def test_the_wheels_are_taken_where_they_run_and_the_one_for_all_elsewhere(made: Path, tmp_path: Path) -> None:
    """pip takes the one with more tags in its name first."""
    everywhere = wheel(None, tmp_path)
    (own,), (any_tag,) = (parse_wheel_filename(path.name)[3] for path in (made, everywhere))
    assert own.interpreter == f"cp{sys.version_info.major}{sys.version_info.minor}"
    assert own.platform in PLATFORMS[Target.here().platform]
    assert str(any_tag) == "py3-none-any"
    assert not any(name.startswith(COMPILED) for name in zipfile.ZipFile(everywhere).namelist())


def test_an_index_shows_no_picture_or_link_that_leads_nowhere(made: Path) -> None:
    with zipfile.ZipFile(made) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
        text = archive.read(name).decode()
    assert "Summary: Retargets" in text and "Author: The RobIK developers" in text and "Classifier: " in text
    links = re.findall(r"\]\(([^)]*)\)", text)
    assert [link for link in links if not link.startswith("https://")] == []
    assert "## Use it from the shell or from Python" in text


def test_the_sources_have_docs_tests_changes_and_how_to_cite(tmp_path: Path) -> None:
    with tarfile.open(sources(tmp_path)) as packed:
        there = {name.partition("/")[2] for name in packed.getnames()}
    assert there >= NEEDED
    assert not any("__pycache__" in name or name.startswith((".", "out")) for name in there)


def test_zips_for_macos_bring_wheels_that_run_on_the_oldest_one() -> None:
    """The first tag that a package has a wheel for is taken."""
    packages = tomllib.loads(LOCK.read_text(encoding="utf-8"))["packages"]
    tags = PLATFORMS["macos-arm64"]
    for package in packages:
        names = [wheel["url"].rpartition("/")[2] for wheel in package["wheels"]]
        for python in PYTHONS:
            mine = [name for name in names if f"cp{python.replace('.', '')}-" in name and "macosx" in name]
            if mine:
                assert any(tag in name for name in mine for tag in tags), package["name"]
    assert max(int(tag.split("_")[1]) for tag in tags) <= OLDEST_MACOS


def test_the_notes_say_what_changed_and_what_there_is_not() -> None:
    text = notes()
    assert text.startswith("# RobIK 0.") and "### Added" in text
    assert "nothing for macOS on Intel" in text
