"""The zip in Blender's hands: installed by its extension system, used, replaced by a newer one."""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import bpy
import pytest
from bl_ext.user_default.robik.robik import robots
from bl_ext.user_default.robik.robik.kinematics.forward import ForwardKinematics

from tests.blender import installed
from tools.extension import ADD_ON, CACHE, CHECKOUT, LIBRARY, Target

RESOURCES = Path(os.environ["BLENDER_USER_RESOURCES"])
PACKAGES = RESOURCES / f"extensions/.local/lib/python{Target.here().python}/site-packages"

UPGRADE = """
import os, sys
from tools.installed import PACKAGE, installed_extension

with installed_extension() as resources:
    import bpy
    import robik.kinematics.kernels
    assert not hasattr(robik, "MARK")
    bpy.ops.extensions.package_install_files(filepath=sys.argv[1], repo="user_default", enable_on_install=True)
    assert PACKAGE in bpy.context.preferences.addons
    import robik
    print("in this session:", getattr(robik, "MARK", None))
    [kept] = {path.name for path in resources.glob("extensions/.local/lib/*/site-packages/robik-*")}
    print("on disk:", "MARK" in next(resources.glob("extensions/.local/lib/*/site-packages/robik/__init__.py")).read_text(), kept)
sys.stdout.flush()
os._exit(0)
"""


def test_the_add_on_is_enabled() -> None:
    assert installed.PACKAGE in bpy.context.preferences.addons
    assert Path(str(installed.module().__file__)).is_relative_to(RESOURCES)


@pytest.mark.parametrize("name", ["robik", "scipy", "numba", "llvmlite", "serial", "dynamixel_sdk"])
def test_the_packages_are_those_of_the_zip(name: str) -> None:
    assert Path(str(importlib.import_module(name).__file__)).is_relative_to(PACKAGES)


def test_compiled_kernels_are_kept_for_the_next_start() -> None:
    boxer = robots.load("boxer")
    ForwardKinematics(boxer).solve([0.1] * len(boxer.actuators))
    assert list((PACKAGES / "robik" / "kinematics" / "__pycache__").glob("kernels.*.nbc"))


def test_a_newer_zip_replaces_the_library(tmp_path: Path) -> None:
    """Also one of the same version, and in the running session, not only after Blender's next start."""
    newer = tmp_path / "checkout"
    for name in {*ADD_ON, *LIBRARY, "blender_manifest.toml", "requirements", "tools"}:
        source = CHECKOUT / name
        place = newer / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, place, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, place)
    with open(newer / "robik" / "__init__.py", "a", encoding="utf-8") as file:
        file.write("MARK = 'newer'\n")
    shutil.copytree(CACHE / "wheels", newer / ".cache" / "wheels", copy_function=os.symlink)
    subprocess.run([sys.executable, "-m", "tools.extension", "--python", Target.here().python], cwd=newer, check=True)
    [archive] = (newer / "dist").glob("*.zip")

    session = subprocess.run([sys.executable, "-c", UPGRADE, archive], cwd=CHECKOUT, capture_output=True, text=True)

    assert session.returncode == 0, session.stderr
    assert "in this session: newer" in session.stdout
    assert "on disk: True" in session.stdout
