"""Runs the tests in Blender's module with the built zip installed, and ends the process as Blender 4.2 and 4.5 need
it."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack

import pytest

from tools.installed import installed_extension

INSTALLATION = ExitStack()
SESSION: list[pytest.Session] = []


def pytest_configure() -> None:
    # Before the test modules are collected, so that they can import bpy and the add-on at their head.
    for name in ("NUMBA_CACHE_DIR", "NUMBA_CPU_NAME"):
        os.environ.pop(name, None)  # compiled kernels belong to the installed extension here, as at a user's
    INSTALLATION.enter_context(installed_extension())


def pytest_report_header() -> str:
    import bpy
    import numpy

    return (
        f"Blender {bpy.app.version_string}, Python {sys.version.split()[0]}, NumPy {numpy.__version__}, extension"
        " installed"
    )


def pytest_sessionstart(session: pytest.Session) -> None:
    SESSION.append(session)


def pytest_unconfigure(config: pytest.Config) -> None:
    INSTALLATION.close()
    if SESSION:
        config.get_terminal_writer().flush()
        sys.stdout.flush()
        sys.stderr.flush()
        # Blender 4.2 crashes and 4.5 hangs when Python winds up after an add-on was used.
        os._exit(int(SESSION[0].exitstatus))


@pytest.fixture
def empty_scene() -> None:
    from tests.blender import scenes  # which imports bpy

    scenes.begin()
