"""What all tests share."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[1]
SHARED_DATA = CHECKOUT.parent / "shared" / "data"

# numba compiles a function anew when its own file changes, but not when a function of another file that it calls does.
# So the compiled kernels of each state of their sources are kept apart.
KERNELS = [source.read_bytes() for source in sorted(CHECKOUT.glob("robik/**/*.py")) if b"njit" in source.read_bytes()]
os.environ["NUMBA_CACHE_DIR"] = str(CHECKOUT / ".cache" / "numba" / hashlib.sha256(b"".join(KERNELS)).hexdigest()[:12])


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of robots, recordings and models that others made; it lies beside the checkout."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"needs the data in {SHARED_DATA}, which is not there")
    return SHARED_DATA
