"""The modules of the installed add-on, for the tests: `scene = installed.module("scene")`."""

from __future__ import annotations

import importlib
from types import ModuleType

from tools.installed import PACKAGE


def module(name: str = "") -> ModuleType:
    """A module of the add-on by its dotted name inside it; the add-on itself without a name."""
    return importlib.import_module(f"{PACKAGE}.{name}".rstrip("."))
