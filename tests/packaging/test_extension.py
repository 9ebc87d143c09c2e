"""What the extension's zips are made of, and that the numbers in the several files agree."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name, parse_wheel_filename

import robik
from tools.extension import ADD_ON, CHECKOUT, MANIFEST, PLATFORMS, PYTHONS, Target, blender_tool, build, files, library_wheel, pinned


@pytest.fixture(scope="module", params=PYTHONS)
def target(request: pytest.FixtureRequest) -> Target:
    return Target(Target.here().platform, request.param)


@pytest.fixture(scope="module")
def archive(target: Target) -> zipfile.ZipFile:
    return zipfile.ZipFile(build(target))


def manifest_of(archive: zipfile.ZipFile) -> dict:
    return tomllib.loads(archive.read(MANIFEST.name).decode())


def test_the_committed_manifest_is_valid() -> None:
    tags = next(Path(sys.prefix).glob("lib/python*/site-packages/bpy/*/scripts/modules/_bpy_internal/extensions/tags.py"))
    blender_tool("validate", "--valid-tags", tags, CHECKOUT)


def test_versions_agree() -> None:
    manifest = tomllib.loads(MANIFEST.read_text(encoding="utf-8"))
    assert manifest["version"] == robik.__version__
    assert library_wheel().name.startswith(f"robik-{robik.__version__}+")


def test_the_zip_holds_the_add_on_and_nothing_else(archive: zipfile.ZipFile) -> None:
    add_on = {file.relative_to(CHECKOUT).as_posix() for name in ADD_ON for file in files(CHECKOUT / name)}
    wheels = {wheel.removeprefix("./") for wheel in manifest_of(archive)["wheels"]}
    assert set(archive.namelist()) == add_on | wheels | {MANIFEST.name}
    assert {"__init__.py", "LICENSE", "scene/__init__.py", "operators/__init__.py", "panels/__init__.py"} <= add_on


def test_the_wheels_are_the_pinned_ones_for_the_target(archive: zipfile.ZipFile, target: Target) -> None:
    wheels = [parse_wheel_filename(Path(wheel).name) for wheel in manifest_of(archive)["wheels"]]
    pins = {canonicalize_name(r.name): r.specifier for r in map(Requirement, pinned(target.python))}
    assert {name for name, *_ in wheels} == set(pins) | {"robik"}
    for name, version, _, tags in wheels:
        assert name == "robik" or pins[name].contains(version)
        assert {tag.interpreter for tag in tags} & {f"cp{target.python.replace('.', '')}", "py3"}
        assert {tag.platform for tag in tags} <= {"any", *PLATFORMS[target.platform]}
    assert manifest_of(archive)["platforms"] == [target.platform]


def test_the_zip_fits_the_extension_platform(archive: zipfile.ZipFile) -> None:
    assert Path(str(archive.filename)).stat().st_size < 200e6


def test_the_librarys_wheel_is_whole(archive: zipfile.ZipFile) -> None:
    [wheel] = [name for name in archive.namelist() if name.startswith("wheels/robik-")]
    packed = {name for name in zipfile.ZipFile(io.BytesIO(archive.read(wheel))).namelist() if ".dist-info/" not in name}
    assert packed == {file.relative_to(CHECKOUT).as_posix() for file in files(CHECKOUT / "robik")}


def test_a_zip_is_built_once(target: Target) -> None:
    before = build(target).stat().st_mtime_ns
    assert build(target).stat().st_mtime_ns == before


def test_the_pins_satisfy_what_the_library_asks_for() -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = [*project["dependencies"], *(text for extra in project["optional-dependencies"].values() for text in extra)]
    ranges = {canonicalize_name(r.name): r.specifier for r in map(Requirement, asked) if str(r.specifier)}
    for python in PYTHONS:
        for pin in map(Requirement, pinned(python)):
            [exact] = pin.specifier
            assert ranges.get(canonicalize_name(pin.name), pin.specifier).contains(exact.version)


def test_the_library_installs_by_pip_with_its_command(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(tmp_path), str(library_wheel())]
    subprocess.run(command, check=True, capture_output=True)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    program = "import robik.robots; print(robik.robots.path('walker'))"
    found = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == str(tmp_path / "robik" / "data" / "robots" / "walker.robik.json")
    inspected = subprocess.run(
        [tmp_path / "bin" / "robik", "inspect", found.stdout.strip()], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert inspected.returncode == 0, inspected.stderr
    assert "walker" in inspected.stdout
