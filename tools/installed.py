"""Blender's module with the extension's zip installed in it, as a user has it: for the tests and the demo."""

from __future__ import annotations

import importlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType

from tools.extension import Target, build

PACKAGE = "bl_ext.user_default.robik"
KEPT = "ROBIK_INSTALLATIONS"  # environment variable: a folder of installations that processes make others from


@contextmanager
def installed_extension() -> Iterator[Path]:
    """Build the zip if need be, install it into this process's Blender and enable it.

    Yield the folder of Blender's user resources. Take everything away again at the end. Where the environment names a
    folder for it (`ROBIK_INSTALLATIONS`), the first process with a zip keeps what it has installed there, and others
    begin with links to that: to unpack 5,000 files and to compile them for Python takes 9 s of a processor.

    To be entered before the first `import bpy`. Blender then uses fresh user resources, and the library is imported
    from the add-on, as `bl_ext.user_default.robik.robik`. On Blender 4.2 and 4.5 a process is best ended with
    `os._exit` afterwards: they may crash or hang when Python winds up.
    """
    if "bpy" in sys.modules:
        raise RuntimeError("bpy was imported before the extension was installed")
    archive = build(Target.here())
    resources = Path(tempfile.mkdtemp(prefix="robik-blender-"))
    os.environ["BLENDER_USER_RESOURCES"] = str(resources)
    # Blender puts this folder before Python's own packages if it is there at the start, and after them at the first
    # installation.
    (resources / f"extensions/.local/lib/python{Target.here().python}/site-packages").mkdir(parents=True)
    others = os.environ.get(KEPT)
    try:
        if others and kept(archive, others).exists():
            begin_with(kept(archive, others), resources)
        else:
            install(archive)
            if others:
                keep(resources, kept(archive, others))
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
    if not is_enabled():
        raise RuntimeError(f"Blender installed {archive} but could not enable it; its output says why")


def kept(archive: Path, folder: str) -> Path:
    """Return where the installation of a zip is kept in a folder."""
    return Path(folder) / f"{archive.stem}-{archive.stat().st_mtime_ns}"


def keep(resources: Path, place: Path) -> None:
    """Keep what is installed, by links, with the bytecode that Python has made of it; another may have been faster."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent) as folder:
        linked = Path(folder) / "extensions"
        for name in (".local", "user_default"):
            shutil.copytree(resources / "extensions" / name, linked / name, copy_function=_link)
        with suppress(OSError):
            os.rename(linked, place)


def begin_with(place: Path, resources: Path) -> None:
    """Let this process's Blender begin with what another has installed, and enable it."""
    shutil.copytree(place, resources / "extensions", copy_function=_link, dirs_exist_ok=True)
    import bpy

    if bpy.ops.preferences.addon_enable(module=PACKAGE) != {"FINISHED"} or not is_enabled():
        raise RuntimeError(f"Blender could not enable what was installed in {place}; its output says why")


def _link(source: str, goal: str) -> None:
    """Link a file; copy what Blender may write again in its place, and whatever is on another disk."""
    try:
        (shutil.copy2 if ".blender_ext" in source else os.link)(source, goal)
    except OSError:
        shutil.copy2(source, goal)


def is_enabled() -> bool:
    """Return whether Blender has enabled the add-on."""
    import bpy

    return PACKAGE in bpy.context.preferences.addons


def add_on(module: str) -> ModuleType:
    """Return a module of the installed add-on."""
    return importlib.import_module(f"{PACKAGE}.{module}")


def disable() -> None:
    """Unregister the extension."""
    import addon_utils

    addon_utils.disable(PACKAGE, default_set=True)
