"""The page about data sets, word for word: its lines for the shell and its blocks of Python run in a new folder."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from robik import program
from tests.recordings.bvh_text import bvh_text
from tests.shell import robik
from tests.skeleton.conventions import skeleton
from tests.skeleton.test_fit import walking

PAGE = (Path(__file__).parents[2] / "docs/datasets.md").read_text(encoding="utf-8")


@pytest.fixture
def fresh(tmp_path: Path, shared_data: Path) -> Path:
    """A folder with a robot and recordings, under the names that the page has."""
    (tmp_path / "g1.xml").symlink_to(shared_data / "unitree_g1/g1_29dof.xml")
    (tmp_path / "meshes").symlink_to(shared_data / "unitree_g1/meshes")
    (tmp_path / "recordings").mkdir()
    text = bvh_text(walking(skeleton("lafan1")[0], 24), order="ZYX")
    (tmp_path / "recordings/dance.bvh").write_text(text)
    (tmp_path / "recordings/other.bvh").write_text(text)
    (tmp_path / "dance.bvh").write_text(bvh_text(walking(skeleton("lafan1")[0], 75), order="ZYX"))
    return tmp_path


def test_the_ten_lines_make_training_files(fresh: Path) -> None:
    block = PAGE.partition("## Ten lines")[2].partition("\n\n")[2].partition("\n\nLine 2")[0]
    lines = [line.strip() for line in block.replace("\\\n", " ").splitlines()]
    assert len(block.splitlines()) - block.count("\\\n") == 10
    own = [shlex.split(line)[1:] for line in lines if line.startswith("robik ")]
    assert len(own) == 3
    for words in own:
        done = robik(fresh, *words)
        assert done.returncode == 0, done.stderr
    assert (fresh / "mjlab/table.html").is_file()
    for folder in ("mjlab", "holosoma"):
        for name in ("dance", "other"):
            with np.load(fresh / f"{folder}/{name}.npz") as file:
                assert file["fps"].tolist() == [50] and len(file["joint_pos"]) > 30
    named = re.findall(r"(?:cp|motion_file=\S*?)\s*(?:\.\./)?((?:mjlab|holosoma)/\S+\.npz)", " ".join(lines))
    assert sorted(named) == ["holosoma/dance.npz", "mjlab/dance.npz"]
    assert all((fresh / name).is_file() for name in named)


def test_the_python_of_the_page_runs(fresh: Path) -> None:
    blocks = re.findall(r"(?ms)^```python\n(.*?)^```", PAGE)
    assert len(blocks) == 2
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(blocks)], cwd=fresh, env=program.environment(), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    for name in re.findall(r'"(dance[-\w]*(?:\.\w+)?)"', "\n".join(blocks)):
        assert (fresh / name).exists(), name
