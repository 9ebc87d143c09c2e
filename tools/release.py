"""Everything that a release consists of, in dist/: wheels, the sources, the zips of the extension, and its notes.

A wheel for this platform and each Python of `tools.extension` brings the solver's compiled code, as its zip does; pip
takes it before the one for all platforms. What is made is checked as the package index and Blender check it.

    python -m tools.release                    all
    python -m tools.release --platform linux-x64    the zips of one platform alone
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tarfile
import tempfile
from pathlib import Path

from tools.extension import (
    CHECKOUT,
    COMPILED,
    DIST,
    PLATFORMS,
    PYTHONS,
    Target,
    build,
    compiled_code,
    copy,
    dependency_wheels,
    pip,
    version,
)
from tools.process import run

PACKAGE = ("robik", "pyproject.toml", "README.md", "LICENSE")  # what a wheel is made of
# What the archive of sources has: everything that git knows but what only our own checks need.
SOURCES = (*PACKAGE, "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "docs", "examples", "tests", "tools")
WHEEL_TAGS = {"linux-x64": "manylinux_2_17_x86_64", "windows-x64": "win_amd64", "macos-arm64": "macosx_12_0_arm64"}
NEEDED = {"README.md", "CHANGELOG.md", "CITATION.cff", "docs/ik.md", "tests/test_cli.py", "robik/py.typed"}
CHECKS = CHECKOUT / ".cache" / "release" / "bin"  # twine and check-wheel-contents; `make release` sets it up


def wheel(target: Target | None, folder: Path) -> Path:
    """Return a wheel: for all platforms, or with compiled code for a target."""
    with tempfile.TemporaryDirectory() as work:
        staged, options = Path(work) / "robik", []
        for name in PACKAGE:
            copy(CHECKOUT / name, staged / name)
        _without_links(staged / "README.md")
        if target:
            code = compiled_code(target, dependency_wheels(target))
            assert code is not None
            shutil.copytree(code, staged / COMPILED)
            tags = f"--python-tag=cp{target.python.replace('.', '')}", f"--plat-name={WHEEL_TAGS[target.platform]}"
            options = [f"--config-settings=--build-option={tag}" for tag in tags]
        pip("wheel", "--quiet", "--no-deps", "--no-build-isolation", *options, "--wheel-dir", work, staged)
        (made,) = Path(work).glob("*.whl")
        return Path(shutil.move(made, folder / made.name))


def sources(folder: Path) -> Path:
    """Return the archive of the sources, with docs, tests, changes and how to cite it."""
    with tempfile.TemporaryDirectory() as work:
        staged = Path(work) / "robik"
        for name in SOURCES:
            copy(CHECKOUT / name, staged / name)
        _without_links(staged / "README.md")
        (staged / "MANIFEST.in").write_text("".join(f"include {name}\ngraft {name}\n" for name in SOURCES))
        script = f"from setuptools.build_meta import build_sdist; build_sdist({str(folder)!r})"
        run(sys.executable, "-c", f"import os; os.chdir({str(staged)!r}); {script}")
    return folder / f"robik-{version()}.tar.gz"


def _without_links(readme: Path) -> None:
    """Leave out a README's pictures and links to files, which an index does not have beside it."""
    text = re.sub(r"(?m)^!\[[^\]]*\]\(docs/[^)]*\)\n\n", "", readme.read_text(encoding="utf-8"))
    readme.write_text(re.sub(r"\[([^\]]*)\]\((?!https?:)[^)]*\)", r"\1", text), encoding="utf-8")


def notes() -> str:
    """Return the newest version's part of the changelog, and what a release does not have."""
    changes = (CHECKOUT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.split(r"(?m)^## ", changes)
    (ours,) = (text for text in newest if text.startswith(f"{version()} - "))
    missing = "There is nothing for macOS on Intel: llvmlite, which compiles the solver, has no wheels for it any more."
    return f"# RobIK {ours.rstrip()}\n\n### Files\n\n{missing}\n"


def check(made: list[Path]) -> None:
    """Check wheels and sources as the package index does; zips are checked by Blender's tool when they are built."""
    wheels = [path for path in made if path.suffix == ".whl"]
    run(CHECKS / "twine", "check", "--strict", *(path for path in made if path.suffix != ".zip"))
    run(CHECKS / "check-wheel-contents", *wheels)
    (archive,) = (path for path in made if path.name.endswith(".tar.gz"))
    with tarfile.open(archive) as packed:
        there = {name.partition("/")[2] for name in packed.getnames()}
    if lacking := sorted(NEEDED - there):
        sys.exit(f"{archive.name} lacks {', '.join(lacking)}")


def main() -> None:
    """Build, check and list a release."""
    parser = argparse.ArgumentParser(description="Builds a release into dist/, and checks it.")
    parser.add_argument("--platform", choices=[*PLATFORMS, "none"], action="append", help="of zips; default: all")
    chosen = [name for name in parser.parse_args().platform or PLATFORMS if name != "none"]
    DIST.mkdir(exist_ok=True)
    here = Target.here().platform
    made = [wheel(None, DIST), sources(DIST), *(wheel(Target(here, python), DIST) for python in PYTHONS)]
    made += [build(Target(name, python)) for name in chosen for python in PYTHONS]
    check(made)
    (DIST / "NOTES.md").write_text(notes(), encoding="utf-8")
    for path in made:
        print(f"{path.stat().st_size / 1e6:7.1f} MB  {path.relative_to(CHECKOUT)}")


if __name__ == "__main__":
    main()
