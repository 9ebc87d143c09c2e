"""Commands that the tools run."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]


def run(*command: str | Path, environment: Mapping[str, str] | None = None) -> None:
    """Run a command quietly in the checkout; if it fails, end this process with what it said."""
    done = subprocess.run(
        list(map(str, command)),
        cwd=CHECKOUT,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        said = [line for line in (done.stdout + done.stderr).splitlines() if not line.startswith("WARNING: Location")]
        sys.exit("\n".join([*said[-30:], f"This failed: {' '.join(map(str, command))}"]))
