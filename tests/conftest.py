"""What all tests share."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.stalls import Stalls

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
os.environ["OPENBLAS_NUM_THREADS"] = "1"  # for matrices as small as the reference's, threads cost more than they bring

STALLS = pytest.StashKey[Stalls]()
RERUNS = 3


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A test in real time that fails while the machine stalls is run again; one that fails on a machine that does not
    has failed."""
    in_real_time = [item for item in items if item.get_closest_marker("real_time")]
    if in_real_time:
        stalls = config.stash[STALLS] = Stalls()
        for item in in_real_time:
            item.add_marker(pytest.mark.flaky(reruns=RERUNS, condition=stalls.saw_one))


def pytest_collection_finish() -> None:
    """What was imported stays until the end: the garbage collector need not look through it again and again, and
    seldom for the rest, which takes a twelfth of the time of tests else."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    if stalls := item.config.stash.get(STALLS, None):
        if item.get_closest_marker("real_time"):
            stalls.forget()
        else:
            stalls.rest()
    return (yield)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of robots, recordings and models that others made; it lies beside the checkout."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"needs the data in {SHARED_DATA}, which is not there")
    return SHARED_DATA


@pytest.fixture(scope="session")
def reachy_mini() -> Path:
    """The folder of Reachy Mini's description in its maker's wheel, none of whose code runs."""
    found = find_spec("reachy_mini")
    if found is None or not found.submodule_search_locations:
        pytest.skip("needs the wheel reachy-mini of requirements/robots.txt, which is not installed")
    return Path(found.submodule_search_locations[0]) / "descriptions/reachy_mini"


@pytest.fixture(scope="session")
def reachy_mini_robot(reachy_mini: Path) -> Callable[[str], Any]:
    """Return the mechanism of one of Reachy Mini's files, read once: to close the loops of its URDF takes 3 s."""
    from robik.formats import import_robot

    return cache(lambda file: import_robot(reachy_mini / file).mechanism)
