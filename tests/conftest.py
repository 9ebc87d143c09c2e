"""What all tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[1]
SHARED_DATA = CHECKOUT.parent / "shared" / "data"

try:
    from hypothesis import HealthCheck, settings
except ImportError:  # in the other Blenders' environments, which need none
    pass
else:  # a shared machine stalls at any time
    settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("patient")
os.environ["NUMBA_CACHE_DIR"] = str(CHECKOUT / ".cache" / "numba")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of robots, recordings and models that others made; it lies beside the checkout."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"needs the data in {SHARED_DATA}, which is not there")
    return SHARED_DATA
