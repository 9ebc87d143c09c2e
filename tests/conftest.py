"""What all tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED_DATA = Path(__file__).resolve().parents[1] / ".." / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of robots, recordings and models that others made; it lies beside the checkout."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"needs the data in {SHARED_DATA.resolve()}, which is not there")
    return SHARED_DATA.resolve()
