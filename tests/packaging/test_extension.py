"""What the extension's zips are made of, and that the numbers in the several files agree."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name, parse_wheel_filename

import robik
from robik.jit.sources import sources
from tools.extension import (
    ADD_ON,
    CHECKOUT,
    COMPILED,
    LOCK,
    MANIFEST,
    PLATFORMS,
    PYTHONS,
    Target,
    blender_tool,
    build,
    compiled_code,
    copy,
    files,
    locked,
    stage,
)
from tools.manual import pages

PINS = CHECKOUT / "requirements" / "library.txt"
INSTALLED_BY_PIP = ("robik", "pyproject.toml", "README.md", "LICENSE")


@pytest.fixture(scope="module", params=PYTHONS)
def target(request: pytest.FixtureRequest) -> Target:
    return Target(Target.here().platform, request.param)


@pytest.fixture(scope="module")
def archive(target: Target) -> zipfile.ZipFile:
    return zipfile.ZipFile(build(target))


def pinned(python: str) -> dict[str, str]:
    """Return the pinned versions by name that hold for a Python version."""
    lines = (line.partition("#")[0].strip() for line in PINS.read_text(encoding="utf-8").splitlines())
    pins = [
        pin
        for pin in map(Requirement, filter(None, lines))
        if pin.marker is None or pin.marker.evaluate({"python_version": python})
    ]
    return {canonicalize_name(pin.name): next(iter(pin.specifier)).version for pin in pins}


def manifest_of(archive: zipfile.ZipFile) -> dict:
    return tomllib.loads(archive.read(MANIFEST.name).decode())


def test_the_committed_manifest_is_valid() -> None:
    tags = next(
        Path(sys.prefix).glob("lib/python*/site-packages/bpy/*/scripts/modules/_bpy_internal/extensions/tags.py")
    )
    blender_tool("validate", "--valid-tags", tags, CHECKOUT)


def test_versions_agree() -> None:
    manifest = tomllib.loads(MANIFEST.read_text(encoding="utf-8"))
    cited = re.findall(r"(?m)^version: (.+)$", (CHECKOUT / "CITATION.cff").read_text(encoding="utf-8"))
    changes = (CHECKOUT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.findall(r"(?m)^## (\d+\.\d+\.\d+) - \d{4}-\d\d-\d\d$", changes)[0]
    assert {manifest["version"], *cited, newest} == {robik.__version__}


def test_the_changelog_has_at_most_25_lines_a_version() -> None:
    versions = re.split(r"(?m)^## ", (CHECKOUT / "CHANGELOG.md").read_text(encoding="utf-8"))[1:]
    assert [text.splitlines()[0] for text in versions if sum(map(bool, text.splitlines()[1:])) > 25] == []


def test_the_zip_holds_the_add_on_with_the_library_and_nothing_else(archive: zipfile.ZipFile) -> None:
    add_on = {file.relative_to(CHECKOUT).as_posix() for name in ADD_ON for file in files(CHECKOUT / name)}
    manual = {f"docs/{page.stem}.html" for page in pages(CHECKOUT / "docs")} | {"docs/safety-matrix.csv"}
    wheels = {wheel.removeprefix("./") for wheel in manifest_of(archive)["wheels"]}
    code = {name for name in archive.namelist() if name.startswith(f"{COMPILED}/")}
    assert set(archive.namelist()) == add_on | manual | wheels | code | {MANIFEST.name}
    parts = {f"{part}/__init__.py" for part in ("robik", "scene", "operators", "panels", "translations")}
    assert parts | {"__init__.py", "LICENSE", "robik/data/robots/walker.robik.json"} <= add_on
    assert {"docs/panels.html", "docs/servos.html", "docs/import.html"} <= manual


def test_the_zip_brings_code_for_its_python_and_these_sources(archive: zipfile.ZipFile, target: Target) -> None:
    names = [name.removeprefix(f"{COMPILED}/") for name in archive.namelist() if name.startswith(f"{COMPILED}/")]
    assert {name.partition("/")[0] for name in names} == {f"py{target.python.replace('.', '')}-{sources()[:16]}"}
    assert sum("ik.sqp.minimise" in name for name in names) == 2, "an index, and code for all kinds of robots"
    assert any("ik.work.factor_tree" in name for name in names), "what large robots alone need, too"
    assert any("asked.add_asked_terms" in name for name in names), "and what clips ask for one by one"


def test_a_zip_for_the_extension_platform_brings_source_alone(target: Target, tmp_path: Path) -> None:
    reviewable = replace(target, reviewable=True)
    stage(reviewable, tmp_path)
    assert not (tmp_path / COMPILED).exists()
    assert (tmp_path / "robik" / "jit" / "fast.py").exists()
    compiled = [file for file in files(tmp_path) if file.suffix in (".nbi", ".nbc", ".so", ".pyd", ".pyc")]
    assert compiled == []
    assert reviewable.zip != target.zip


def test_a_zip_for_another_platform_brings_no_compiled_code(target: Target) -> None:
    other = next(name for name in PLATFORMS if name != target.platform)
    assert compiled_code(replace(target, platform=other), []) is None


def test_links_of_the_manual_lead_to_what_is_there(archive: zipfile.ZipFile) -> None:
    manual = {name: archive.read(name).decode() for name in archive.namelist() if name.startswith("docs/")}
    names = {name: {"", *re.findall(r' id="([^"]*)"', text)} for name, text in manual.items()}
    links = [
        (name, link)
        for name, text in manual.items()
        for link in re.findall(r'href="([^"]*)"', text)
        if "://" not in link
    ]
    assert len(links) > 50
    dead = []
    for name, link in links:
        file, _, anchor = link.partition("#")
        if anchor not in names.get(f"docs/{file}" if file else name, set()):
            dead.append((name, link))
    assert dead == []


def test_what_is_in_the_zip_is_what_is_in_the_source(archive: zipfile.ZipFile) -> None:
    for file in (file for name in ADD_ON for file in files(CHECKOUT / name)):
        assert archive.read(file.relative_to(CHECKOUT).as_posix()) == file.read_bytes()


def test_the_wheels_are_the_pinned_ones_for_the_target(archive: zipfile.ZipFile, target: Target) -> None:
    wheels = [parse_wheel_filename(Path(wheel).name) for wheel in manifest_of(archive)["wheels"]]
    assert {name: str(version) for name, version, *_ in wheels} == pinned(target.python)
    for *_, tags in wheels:
        assert {tag.interpreter for tag in tags} & {f"cp{target.python.replace('.', '')}", "py3"}
        assert {tag.platform for tag in tags} & {"any", *PLATFORMS[target.platform]}
    assert manifest_of(archive)["platforms"] == [target.platform]


def test_the_wheels_are_those_of_the_package_index_unmodified(archive: zipfile.ZipFile) -> None:
    """As the lock file has them, which lists what the package index serves."""
    wheels = [
        wheel for package in tomllib.loads(LOCK.read_text(encoding="utf-8"))["packages"] for wheel in package["wheels"]
    ]
    assert {urlsplit(wheel["url"]).hostname for wheel in wheels} == {"files.pythonhosted.org"}
    hashes = {unquote(wheel["url"].rpartition("/")[2]): wheel["hashes"]["sha256"] for wheel in wheels}
    packed = {
        Path(name).name: hashlib.sha256(archive.read(name)).hexdigest()
        for name in archive.namelist()
        if name.endswith(".whl")
    }
    assert packed
    assert packed == {name: hashes[name] for name in packed}


def test_the_lock_file_has_what_is_pinned() -> None:
    for python in PYTHONS:
        requirements = [Requirement(line.partition(" --hash")[0]) for line in locked(python)]
        assert {canonicalize_name(r.name): next(iter(r.specifier)).version for r in requirements} == pinned(python)


def test_the_zip_fits_the_extension_platform(archive: zipfile.ZipFile) -> None:
    assert Path(str(archive.filename)).stat().st_size < 200e6


def test_a_zip_is_built_once(target: Target) -> None:
    before = build(target).stat().st_mtime_ns
    assert build(target).stat().st_mtime_ns == before


def test_the_pins_satisfy_what_the_library_asks_for() -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = [*project["dependencies"], *(text for extra in project["optional-dependencies"].values() for text in extra)]
    ranges = {canonicalize_name(r.name): r.specifier for r in map(Requirement, asked) if str(r.specifier)}
    for python in PYTHONS:
        for name, version in pinned(python).items():
            assert ranges.get(name, SpecifierSet()).contains(version)


def test_the_lowest_versions_that_the_library_asks_for_are_those_that_the_tests_run_with() -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {k: v for k, v in project["optional-dependencies"].items() if k not in ("all", "dev")}
    asked = [
        *project["dependencies"],
        *(text for name in extras if name not in ("all", "dev") for text in extras[name]),
    ]
    lines = [line for file in (CHECKOUT / "requirements").glob("*.txt") for line in file.read_text().splitlines()]
    pins = {line.partition("#")[0].partition(";")[0].strip().lower() for line in lines if "==" in line}
    lowest = [f"{one.name}=={s.version}" for one in map(Requirement, asked) for s in one.specifier if s.operator != "<"]
    assert len(lowest) >= len(asked) > 15
    assert [one for one in lowest if one.lower() not in pins] == []


def test_the_library_installs_by_pip_with_its_command(tmp_path: Path) -> None:
    source, place = tmp_path / "source", tmp_path / "place"  # pip builds in the source's folder
    for name in INSTALLED_BY_PIP:
        copy(CHECKOUT / name, source / name)
    options = ("-q", "--no-deps", "--no-build-isolation", "--target", str(place))
    subprocess.run([sys.executable, "-m", "pip", "install", *options, str(source)], check=True, capture_output=True)
    packed = {file.relative_to(place).as_posix() for file in files(place / "robik")}
    assert packed == {file.relative_to(CHECKOUT).as_posix() for file in files(CHECKOUT / "robik")}
    environment = {**os.environ, "PYTHONPATH": str(place)}
    program = "import robik.robots; print(robik.robots.path('walker'))"
    found = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == str(place / "robik" / "data" / "robots" / "walker.robik.json")
    inspected = subprocess.run(
        [place / "bin" / "robik", "inspect", found.stdout.strip()],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert inspected.returncode == 0, inspected.stderr
    assert "walker" in inspected.stdout
