"""Packages that lie beside a robot's file are found by the names that it uses, and read only when the user says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from robik.formats import import_robot
from robik.formats.options import packages_nearby


def robot_naming(folder: Path, *packages: str) -> Path:
    """A URDF file whose link shows a mesh of each package."""
    folder.mkdir(parents=True)
    visuals = "".join(
        f'<visual><geometry><mesh filename="package://{name}/m.stl"/></geometry></visual>' for name in packages
    )
    path = folder / "robot.urdf"
    path.write_text(f'<robot name="r"><link name="a">{visuals}</link></robot>')
    return path


@pytest.mark.parametrize("where", ["../arm_meshes", "../../arm_meshes"])
def test_a_folder_beside_the_file_or_above_is_offered(where: str, tmp_path: Path) -> None:
    path = robot_naming(tmp_path / "top" / "arm_description" / "robots", "arm_meshes")
    folder = (path.parent / where).resolve()
    folder.mkdir()
    (folder / "m.stl").write_bytes(b"")
    assert packages_nearby(path) == (folder,)
    assert any("arm_meshes" in warning for warning in import_robot(path).warnings), "nothing is read unasked"
    assert import_robot(path, packages_nearby(path)).warnings == ()
    assert packages_nearby(path, [folder]) == ()


@pytest.mark.parametrize("name", ["..", ".", "%2e%2e", "nowhere", "a b", "%00"])
def test_no_other_folder_is(name: str, tmp_path: Path) -> None:
    path = robot_naming(tmp_path / "top" / "robots", name)
    (tmp_path / "etc").mkdir()
    assert packages_nearby(path) == ()


@pytest.mark.parametrize("top", [".git", "manifest.xml"])
def test_packages_of_the_same_checkout_are_read(top: str, tmp_path: Path) -> None:
    path = robot_naming(tmp_path / "top" / "arm_description" / "robots", "arm_meshes")
    (tmp_path / "top" / "arm_meshes").mkdir()
    (tmp_path / "top" / "arm_meshes" / "m.stl").write_bytes(b"")
    assert any("arm_meshes" in warning for warning in import_robot(path).warnings)
    (tmp_path / "top" / top).mkdir()
    assert import_robot(path).warnings == ()
