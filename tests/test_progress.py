"""What a run of tests tells of itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.progress import Progress

CHECKOUT = Path(__file__).parents[1]


def test_it_tells_now_and_then_how_far_it_is() -> None:
    said, now = list[str](), [0.0]
    progress = Progress("servo", said.append, lambda: now[0])
    progress.begin(40)
    for _ in range(40):
        now[0] += 10.0
        progress.pytest_runtest_logfinish()
    assert len(said) == 13
    assert said[0] == "servo: 3 of 40 tests, 30 s, about 6 min left"
    assert said[-1] == "servo: 39 of 40 tests, 6 min, about 10 s left"


def test_what_passes_has_no_dot_and_what_fails_is_named(tmp_path: Path) -> None:
    file = tmp_path / "test_two.py"
    file.write_text(
        "import tests.progress\ntests.progress.EVERY = 0\ndef test_good(): pass\ndef test_bad(): assert 1 == 2\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.progress", str(file), f"--rootdir={tmp_path}"]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True)
    assert done.returncode == 1
    assert f"{file.as_posix().strip('/')}: 1 of 2 tests, 0 s, about 0 s left\n" in done.stdout
    assert done.stdout.count(".\n") == 0
    assert "FAILED" in done.stdout
    assert "1 failed, 1 passed" in done.stdout
