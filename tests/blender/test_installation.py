"""The zip in Blender's hands: installed by its extension system, used, replaced by a newer one."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit
from zipfile import ZipFile

import bpy
import pytest
from bl_ext.user_default.robik.robik import program

from tests.blender import installed, scenes
from tools.extension import CHECKOUT, Target, build
from tools.installed import KEPT, keep, kept

RESOURCES = Path(os.environ["BLENDER_USER_RESOURCES"])
PACKAGES = RESOURCES / f"extensions/.local/lib/python{Target.here().python}/site-packages"
EXTENSION = RESOURCES / "extensions/user_default/robik"

# A new user's session, which begins with links to what is installed here: prints which functions the first bake and
# following live compile, and what it keeps; then it installs another zip, and prints what that brings.
SESSION = """
import importlib, os, sys
from tools.installed import PACKAGE, install, installed_extension

with installed_extension() as resources:
    import bpy
    from numba.core import event
    compiled = []
    class Listening(event.Listener):
        def on_start(self, event): compiled.append(event.data["dispatcher"].py_func.__qualname__)
        def on_end(self, event): pass
    event.register("numba:compile", Listening())
    from tests.blender import installed, scenes
    root = scenes.add_squats()
    root.robik.robot.bake.velocity_share = 10.0  # so that it looks ahead
    assert bpy.ops.robik.bake() == {"FINISHED"}
    assert root.robik.robot.result.looked_ahead
    root.robik.robot.follow.on = True
    bpy.context.view_layer.update()
    follow = installed.module("scene.bake.follow")
    for tracker in ("DIFFERENTIAL", "STATE"):
        root.robik.robot.follow.tracker = tracker
        assert follow.step(root, bpy.context.scene, bpy.context.evaluated_depsgraph_get(), 0.02), follow.problem(root)
    library = "extensions/user_default/robik/robik/__init__.py"
    print("linked:", os.path.samefile(resources / library, os.path.join(sys.argv[2], library)))
    print("compiled:", *compiled)
    print("kept:", *(file.name for file in (resources / "extensions/.user/user_default/robik").rglob("*.nbc")))
    def loaded():
        importlib.import_module(f"{PACKAGE}.robik.kinematics.kernels")
        return importlib.import_module(f"{PACKAGE}.robik")
    assert not hasattr(loaded(), "MARK")
    install(sys.argv[1])
    print("in this session:", getattr(loaded(), "MARK", None))
    print("on disk:", "MARK" in (resources / "extensions/user_default/robik/robik/__init__.py").read_text())
sys.stdout.flush()
os._exit(0)
"""


@cache
def archive() -> Path:
    """The zip that is installed here; to see that it is up to date takes a second."""
    return build(Target.here())


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What a new user's session prints, by what stands before the colon."""
    newer = tmp_path_factory.mktemp("zip") / "newer.zip"
    with ZipFile(archive()) as before, ZipFile(newer, "w") as after:
        for entry in before.infolist():
            marked = b"MARK = 'newer'\n" if entry.filename == "robik/__init__.py" else b""
            after.writestr(entry.filename, before.read(entry) + marked)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("ROBIK_", "BLENDER_"))}
    environment[KEPT] = str(tmp_path_factory.mktemp("installations"))
    keep(RESOURCES, kept(archive(), environment[KEPT]))
    done = subprocess.run(
        [sys.executable, "-c", SESSION, newer, RESOURCES], cwd=CHECKOUT, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return dict(line.split(":", 1) for line in done.stdout.splitlines() if ":" in line)


def test_the_add_on_is_enabled() -> None:
    assert installed.PACKAGE in bpy.context.preferences.addons
    assert Path(str(installed.module().__file__)).is_relative_to(RESOURCES)


def test_the_library_is_a_part_of_the_add_on() -> None:
    """Nothing imports one by the name that it has outside."""
    assert Path(program.__file__) == EXTENSION / "robik" / "program.py"
    outside = {name: module.__file__ for name, module in sys.modules.items() if name.partition(".")[0] == "robik"}
    if outside.get("robik") == str(CHECKOUT / "__init__.py"):
        del outside["robik"]  # pytest names the checkout itself after its folder
    assert outside == {}


@pytest.mark.parametrize("name", ["scipy", "numba", "llvmlite", "serial", "dynamixel_sdk"])
def test_the_packages_are_those_of_the_zip(name: str) -> None:
    assert Path(str(importlib.import_module(name).__file__)).is_relative_to(PACKAGES)


def test_the_first_bake_of_a_new_user_compiles_nothing(session: dict[str, str]) -> None:
    """The zip brings the code; nor does following live need more."""
    assert (session["linked"], session["compiled"], session["kept"]) == (" True", "", "")


def test_code_for_this_cpu_is_kept_for_the_next_start() -> None:
    """As the process in the background makes it, in the folder for the user's files."""
    code = "import numpy as np; from robik.kinematics.ball_coordinates import follow; "  # a small one
    code += "follow(np.zeros((1, 3)), np.array([[0.0, 0.0, 0.0, 1.0]]), np.zeros(3))"
    environment = program.environment() | {"PYTHONPATH": os.pathsep.join([str(EXTENSION), *sys.path])}
    kept = Path(bpy.utils.extension_path_user(installed.PACKAGE, path="compiled"))
    assert kept.is_relative_to(RESOURCES)
    assert not kept.is_relative_to(EXTENSION)
    assert Path(environment["ROBIK_CACHE_DIR"]) == kept
    subprocess.run([sys.executable, "-P", "-c", code], env=environment | {"ROBIK_FOR_THIS_CPU": "1"}, check=True)
    assert list(kept.rglob("kinematics.ball_coordinates.*.nbc"))


def test_processes_that_it_starts_run_its_own_library(tmp_path: Path) -> None:
    """Beside a folder of the library's name, and without the add-on, which could not do without Blender."""
    (tmp_path / "robik").mkdir()
    (tmp_path / "robik" / "__init__.py").write_text("raise SystemExit('the wrong robik')")
    command, environment = program.command("cli", "inspect", "walker"), program.environment()
    assert str(EXTENSION / "robik" / "program.py") in command
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("walker: 31 bodies")


def test_nothing_is_written_beside_the_add_on(empty_scene: None) -> None:
    """After a bake, Python's own caches apart."""
    scenes.squats()
    assert bpy.ops.robik.bake() == {"FINISHED"}
    found = {
        file.relative_to(EXTENSION).as_posix()
        for file in EXTENSION.rglob("*")
        if file.is_file() and file.suffix != ".pyc"
    }
    with ZipFile(archive()) as file:
        assert found == set(file.namelist()) - {
            name for name in file.namelist() if name not in found and name.startswith("wheels/")
        }


@pytest.mark.parametrize(
    ("name", "page"),
    [
        ("bpy.ops.robik.bake", "panels.html#bake"),
        ("bpy.ops.robik.import_robot", "panels.html#robot"),
        ("bpy.ops.robik.play_servos", "servos.html"),
        ("bpy.types.RobikBalance.mode", "panels.html#balance"),
        ("bpy.types.RobikOverlays.com", "panels.html#overlays"),
        ("bpy.types.RobikScene.robot", "panels.html"),
    ],
)
def test_the_manual_is_a_page_of_the_extension(name: str, page: str) -> None:
    """*Online Manual*, in the menu on the right mouse button."""
    from bl_operators.wm import WM_OT_doc_view_manual

    url = urlsplit(WM_OT_doc_view_manual._lookup_rna_url(name, verbose=False))
    file = Path(unquote(url.path))
    assert (url.scheme, file.parent) == ("file", EXTENSION / "docs")
    assert f"{file.name}#{url.fragment}".rstrip("#") == page
    text = file.read_text(encoding="utf-8")
    assert not url.fragment or f'id="{url.fragment}"' in text


def test_a_newer_zip_replaces_the_library(session: dict[str, str]) -> None:
    """Also one of the same version, and in the running session, not only after Blender's next start."""
    assert (session["in this session"], session["on disk"]) == (" newer", " True")
