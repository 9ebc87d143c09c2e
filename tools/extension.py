"""Builds the extension's zips into dist/, by Blender's own tool.

One zip per platform and Python, since the compiled wheels of all would pass the extension platform's limit of 200 MB.
The library is a folder of the add-on. Its dependencies are wheels as the package index has them: pip refuses one whose
hash is not in the lock file.

A zip that is built on the platform that it is for brings the compiled code of the solver (`tools/compiled.py`), so that
the first bake need not wait for the compiler. The extension platform wants code that can be reviewed: for it there is
`--reviewable`, without compiled code.

    python -m tools.extension                             this platform, the Pythons of Blender 4.2 to 5.2
    python -m tools.extension --reviewable                for extensions.blender.org, into dist/reviewable/
    python -m tools.extension --platform windows-x64 --python 3.13
    python -m tools.extension --platform all
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import os
import platform
import shutil
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.compiled import compiled
from tools.manual import write_manual
from tools.process import run

CHECKOUT = Path(__file__).resolve().parents[1]
CACHE = CHECKOUT / ".cache"
DIST = CHECKOUT / "dist"
MANIFEST = CHECKOUT / "blender_manifest.toml"
LOCK = CHECKOUT / "requirements" / "pylock.library.toml"
ADD_ON = ("__init__.py", "robik", "scene", "operators", "panels", "translations", "LICENSE")
TOOLS = ("tools/extension.py", "tools/compiled.py", "tools/manual.py", "tools/process.py")
COMPILED = "robik/jit/compiled"  # where in the zip

# Blender's names of the platforms → the wheels' tags that each takes.
PLATFORMS = {
    "linux-x64": ("manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64"),
    "windows-x64": ("win_amd64",),
    "macos-arm64": ("macosx_11_0_arm64", "macosx_12_0_arm64"),  # scipy's for 14 would not run on 12
}
PYTHONS = ("3.11", "3.13")  # Blender 4.2 to 5.0, Blender 5.1 and 5.2


@dataclass(frozen=True)
class Target:
    """Target of one zip.

    Attributes:
        platform: the platform, as Blender calls it.
        python: the version of Python, such as `3.11`.
        reviewable: for the extension platform, so without compiled code.
    """

    platform: str
    python: str
    reviewable: bool = False

    @classmethod
    def here(cls) -> Target:
        """Return the running platform and Python."""
        system = {"Linux": "linux", "Windows": "windows", "Darwin": "macos"}.get(
            platform.system(), platform.system().lower()
        )
        machine = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}.get(
            platform.machine().lower(), platform.machine().lower()
        )
        return cls(f"{system}-{machine}", f"{sys.version_info.major}.{sys.version_info.minor}")

    @property
    def zip(self) -> Path:
        """Path of the zip."""
        name = f"robik-{version()}-{self.platform.replace('-', '_')}-py{self.python.replace('.', '')}.zip"
        return (DIST / "reviewable" if self.reviewable else DIST) / name


def version() -> str:
    """Return the extension's version, as its manifest says."""
    return str(tomllib.loads(MANIFEST.read_text(encoding="utf-8"))["version"])


def build(target: Target) -> Path:
    """Return the zip for a target, which is built when something that goes into it has changed."""
    key_file = CACHE / "extension" / f"{target.zip.relative_to(DIST).as_posix().replace('/', '-')}.key"
    key = fingerprint(*ADD_ON, *TOOLS, "docs", MANIFEST.name, LOCK.relative_to(CHECKOUT))
    if target.zip.exists() and key_file.exists() and key_file.read_text() == key:
        return target.zip
    CACHE.mkdir(exist_ok=True)
    target.zip.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        staged = Path(folder) / "robik"
        stage(target, staged)
        unfinished = Path(folder) / target.zip.name
        blender_tool("build", "--source-dir", staged, "--output-filepath", unfinished)
        blender_tool("validate", unfinished)
        os.replace(unfinished, target.zip)
    key_file.parent.mkdir(exist_ok=True)
    key_file.write_text(key)
    return target.zip


def stage(target: Target, folder: Path) -> None:
    """Lay out the extension: the add-on, its manual, compiled code, the wheels, and the manifest that lists them."""
    (folder / "wheels").mkdir(parents=True)
    for name in ADD_ON:
        copy(CHECKOUT / name, folder / name)
    write_manual(CHECKOUT / "docs", folder / "docs")
    wheels = dependency_wheels(target)
    for wheel in wheels:
        shutil.copy(wheel, folder / "wheels")
    if code := compiled_code(target, wheels):
        shutil.copytree(code, folder / COMPILED)
    listed = "".join(f'    "./wheels/{wheel.name}",\n' for wheel in wheels)
    manifest = MANIFEST.read_text(encoding="utf-8")
    if manifest.count("\nwheels = []\n") != 1:
        sys.exit(f"{MANIFEST}: needs the line `wheels = []` once, for the list of wheels to take its place")
    manifest = manifest.replace("\nwheels = []\n", f'\nplatforms = ["{target.platform}"]\nwheels = [\n{listed}]\n')
    (folder / MANIFEST.name).write_text(manifest, encoding="utf-8")


def compiled_code(target: Target, wheels: list[Path]) -> Path | None:
    """Return the folder of the compiled code of a target; None if it has none, or if it cannot be made here."""
    if target.reviewable or target.platform != Target.here().platform:
        return None
    return compiled(target.platform, target.python, wheels)


def dependency_wheels(target: Target) -> list[Path]:
    """Return the locked wheels of the dependencies, downloaded once for each target."""
    required = locked(target.python)
    mark = hashlib.sha256("\n".join(required).encode()).hexdigest()[:12]
    folder = CACHE / "wheels" / f"{target.platform}-py{target.python}-{mark}"
    if not folder.exists():
        tags = [option for tag in PLATFORMS[target.platform] for option in ("--platform", tag)]
        abis = ("--abi", f"cp{target.python.replace('.', '')}", "--abi", "abi3", "--abi", "none")
        options = (
            "--no-deps",
            "--only-binary=:all:",
            "--require-hashes",
            "--python-version",
            target.python,
            *tags,
            *abis,
        )
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as work:
            wheels, requirements = Path(work) / "wheels", Path(work) / "requirements.txt"
            requirements.write_text("\n".join(required) + "\n", encoding="utf-8")
            pip("download", *options, "--dest", wheels, "--requirement", requirements)
            keep(wheels, folder)
    return sorted(folder.glob("*.whl"))


def locked(python: str) -> list[str]:
    """Return the locked dependencies of a Python version as pip's requirements, each with the hashes of its wheels.

    (pip would read their markers for the Python that it runs in.)
    """
    from packaging.markers import Marker

    packages = tomllib.loads(LOCK.read_text(encoding="utf-8"))["packages"]
    return [
        " ".join(
            [
                f"{package['name']}=={package['version']}",
                *(f"--hash=sha256:{w['hashes']['sha256']}" for w in package["wheels"]),
            ]
        )
        for package in packages
        if "marker" not in package
        or Marker(package["marker"]).evaluate({"python_version": python, "python_full_version": f"{python}.0"})
    ]


def blender_tool(*arguments: str | Path) -> None:
    """Run the extension tool that Blender brings; it needs no Blender to run."""
    spec = importlib.util.find_spec("bpy")
    tools = list(Path(str(spec.origin)).parent.glob("*/scripts/addons_core/bl_pkg/cli/blender_ext.py")) if spec else []
    if not tools:
        sys.exit(f"{sys.executable} has no Blender module to build the extension with; `make extension` sets one up")
    run(sys.executable, tools[0], *arguments)


def pip(*arguments: str | Path) -> None:
    """Run pip."""
    run(sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments)


def fingerprint(*names: str | Path) -> str:
    """Return a hash of files and folders of the checkout."""
    digest = hashlib.sha256()
    for name in names:
        for file in files(CHECKOUT / name):
            content = file.read_bytes()
            digest.update(f"{file.relative_to(CHECKOUT).as_posix()} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def files(path: Path) -> Iterator[Path]:
    """Yield a file, or every file below a folder but Python's caches, in a set order."""
    if path.is_dir():
        yield from (file for file in sorted(path.rglob("*")) if file.is_file() and "__pycache__" not in file.parts)
    elif path.exists():
        yield path


def copy(source: Path, goal: Path) -> None:
    """Copy what `files` lists."""
    for file in files(source):
        place = goal / file.relative_to(source)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, place)


def keep(folder: Path, place: Path) -> None:
    """Move a finished folder into the cache; another process may have been faster with the same."""
    place.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.rename(folder, place)
    except OSError:
        if not place.is_dir():
            raise


def main() -> None:
    """Build the zips that the command line asks for."""
    here = Target.here()
    parser = argparse.ArgumentParser(description="Builds the extension's zips into dist/.")
    parser.add_argument("--platform", choices=[*PLATFORMS, "all"], default=here.platform, help="default: this one")
    parser.add_argument("--python", action="append", help=f"default: {' and '.join(PYTHONS)}; may be repeated")
    parser.add_argument("--reviewable", action="store_true", help="for the extension platform: without compiled code")
    arguments = parser.parse_args()
    for name in PLATFORMS if arguments.platform == "all" else [arguments.platform]:
        for python in arguments.python or PYTHONS:
            made = build(Target(name, python, arguments.reviewable))
            print(f"{made.relative_to(CHECKOUT)}  {made.stat().st_size / 1e6:.0f} MB, {contents(made)}")


def contents(archive: Path) -> str:
    """Return whether a zip brings compiled code, in words."""
    with zipfile.ZipFile(archive) as packed:
        sizes = [file.compress_size for file in packed.infolist() if file.filename.startswith(f"{COMPILED}/")]
    return f"{sum(sizes) / 1e6:.1f} MB of it compiled code" if sizes else "without compiled code"


if __name__ == "__main__":
    main()
