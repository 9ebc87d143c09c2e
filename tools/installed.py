"""Blender's module with the extension's zip installed in it, as a user has it: for the tests and the demo."""

from __future__ import annotations

import importlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from tools.extension import Target, build

PACKAGE = "bl_ext.user_default.robik"


@contextmanager
def installed_extension() -> Iterator[Path]:
    """Build the zip if need be, install it into this process's Blender and enable it.

    Takes everything away again at the end.

    To be entered before the first `import bpy`. Blender then uses fresh user resources, and the library is imported
    from the add-on, as `bl_ext.user_default.robik.robik`. On Blender 4.2 and 4.5 a process is best ended with
    `os._exit` afterwards: they may crash or hang when Python winds up.

    Yields:
        The folder of Blender's user resources.
    """
    if "bpy" in sys.modules:
        raise RuntimeError("bpy was imported before the extension was installed")
    archive = build(Target.here())
    resources = Path(tempfile.mkdtemp(prefix="robik-blender-"))
    os.environ["BLENDER_USER_RESOURCES"] = str(resources)
    # Blender puts this folder before Python's own packages if it is there at the start, and after them at the first
    # installation.
    (resources / f"extensions/.local/lib/python{Target.here().python}/site-packages").mkdir(parents=True)
    try:
        install(archive)
        yield resources
        disable()
    finally:
        shutil.rmtree(resources)


def install(archive: Path) -> None:
    """Install and enable a zip of the extension, as Blender's preferences do."""
    import bpy

    if bpy.ops.extensions.package_install_files(filepath=str(archive), repo="user_default", enable_on_install=True) != {
        "FINISHED"
    }:
        raise RuntimeError(f"Blender did not install {archive}")
    if PACKAGE not in bpy.context.preferences.addons:
        raise RuntimeError(f"Blender installed {archive} but could not enable it; its output says why")


def add_on(module: str) -> ModuleType:
    """Return a module of the installed add-on."""
    return importlib.import_module(f"{PACKAGE}.{module}")


def disable() -> None:
    """Unregister the extension."""
    import addon_utils

    addon_utils.disable(PACKAGE, default_set=True)
