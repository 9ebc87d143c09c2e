"""The gallery: robots found in packages, wheels, caches and folders, and their previews."""

from __future__ import annotations

import subprocess
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from robik import program, robots
from robik.errors import RobikError
from robik.formats import import_robot
from robik.gallery import Entry, Places, entries, unpacked
from robik.gallery.entry import known_robots
from robik.gallery.preview import SIZE, draw, png
from robik.servo.chain.file import load_chain

ARM = '<mujoco model="arm"><worldbody><body><joint/><geom size="0.1"/></body></worldbody></mujoco>'


def titles(found: tuple[Entry, ...]) -> list[str]:
    return [entry.title for entry in found]


def package(folder: Path, name: str = "reachy_mini") -> Path:
    """A package with a robot where the gallery knows one."""
    file = folder / name / "descriptions/reachy_mini/mjcf/reachy_mini.xml"
    file.parent.mkdir(parents=True)
    file.write_text(ARM)
    (folder / name / "__init__.py").write_text("raise SystemExit('no code of a package may run')")
    return file


def wheel(path: Path, **more: str) -> Path:
    inside = "reachy_mini/descriptions/reachy_mini/"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr(f"{inside}mjcf/reachy_mini.xml", ARM)
        made.writestr(f"{inside}mjcf/assets/part.stl", "solid")
        made.writestr(f"{inside}mjcf/tool.py", "raise SystemExit")
        made.writestr("reachy_mini/__init__.py", "raise SystemExit")
        for name, text in more.items():
            made.writestr(inside + name, text)
    return path


def test_our_own_robots_come_first_with_their_servos() -> None:
    found = entries(Places())
    assert titles(found) == ["ARM7", "Boxer", "Chain", "Dancer", "Four Bar", "UR10", "Validation", "Walker"]
    assert found[-1].servos == robots.servos_path("walker")
    assert {entry.maker for entry in found} == {"RobIK"}


def test_our_own_robots_have_pictures_that_ship() -> None:
    assert all(entry.picture is not None and entry.picture.is_file() for entry in entries(Places()))


def test_a_robot_of_an_installed_package_is_found(tmp_path: Path) -> None:
    file = package(tmp_path)
    found = entries(Places(sites=(tmp_path / "none", tmp_path)))[-1]
    assert (found.title, found.maker, found.file, found.place) == (
        "Reachy Mini",
        "Pollen Robotics",
        file,
        "package reachy_mini",
    )


def test_this_machines_places_are_the_active_environments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = tmp_path / "venv/lib/python3.11/site-packages"
    package(site)
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "venv"))
    monkeypatch.setenv("ROBOT_DESCRIPTIONS_CACHE", str(tmp_path / "cache"))
    places = Places.of_this_machine([tmp_path, " "])
    assert site in places.sites
    assert places.descriptions == tmp_path / "cache"
    assert places.folders == (tmp_path,)


def test_a_robot_in_the_cache_of_robot_descriptions_is_found(tmp_path: Path) -> None:
    known = next(robot for robot in known_robots() if robot.repository)
    file = tmp_path / known.repository / known.files[0]
    file.parent.mkdir(parents=True)
    file.write_text(ARM)
    found = entries(Places(descriptions=tmp_path))
    assert [(entry.title, entry.file, entry.place) for entry in found[8:]] == [
        (known.title, file, "robot_descriptions")
    ]


def test_robot_files_below_a_folder_of_the_user_are_found(tmp_path: Path) -> None:
    (tmp_path / "walker").mkdir()
    (tmp_path / "walker/walker.urdf.xacro").write_text("<robot name='walker'/>")
    (tmp_path / "walker/walker.legs.xacro").write_text("<robot/>")
    for name in ("deep/arm/arm.xml", "arm/scene.xml", "arm/urdf/robot.urdf", ".hidden/arm.xml", "arm/notes.xml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(ARM.replace("mujoco", "notes") if "notes" in name else ARM)
    (tmp_path / "deep/arm/arm.servos.json").write_text("{}")
    found = entries(Places(folders=(tmp_path, tmp_path / "deep")))[8:]
    assert [(entry.title, entry.file.relative_to(tmp_path).as_posix()) for entry in found] == [
        ("arm", "arm/urdf/robot.urdf"),
        ("arm", "deep/arm/arm.xml"),
        ("walker", "walker/walker.urdf.xacro"),
    ]
    assert found[1].servos == tmp_path / "deep/arm/arm.servos.json"


@pytest.mark.parametrize("home", ["clone/deep", "Open_Duck_Mini"])
def test_known_robots_are_told_by_the_end_of_their_path(tmp_path: Path, home: str) -> None:
    """In a copy of their repository, wherever it is and whatever it is called; each by its best file."""
    known = next(robot for robot in known_robots() if robot.name == "so_arm101")
    for file in (*known.files, "Simulation/SO101/so101_old_calib.xml"):
        (tmp_path / home / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / home / file).write_text(ARM)
    found = entries(Places(folders=(tmp_path,)))[8:]
    assert {(entry.title, entry.file, entry.servos) for entry in found} == {
        (known.title, tmp_path / home / known.files[0], known.servos),
        ("so101_old_calib", tmp_path / home / "Simulation/SO101/so101_old_calib.xml", None),
    }


def test_servos_of_known_robots_are_those_of_their_files(shared_data: Path) -> None:
    (entry,) = (entry for entry in entries(Places(folders=(shared_data,))) if entry.title == "OMX-F")
    assert entry.servos is not None
    chain, robot = load_chain(entry.servos), import_robot(entry.file).mechanism
    assert (chain.actuators, chain.ids) == (robot.actuators, tuple(range(11, 17)))
    within = chain.limits - robot.actuator_limits
    assert within[:, 0].min() > -2e-3
    assert within[:, 1].max() < 2e-3


def test_zeros_of_arms_that_lerobot_calibrates() -> None:
    """The middle of each range is at 2048 counts; so are the values of both arms' files in the pose that this is."""
    middle = {
        "so_arm101": [0.0, 0.0, 0.0, 0.0, 0.0, 0.785],
        "so_arm100": [0.0, -1.571, 1.571, 0.0, 0.0, 0.785],
    }
    for known in known_robots():
        if known.name in middle:
            assert known.servos is not None
            counts = load_chain(known.servos).counts(np.array(middle[known.name]))
            assert np.abs(counts - 2048).max() <= 1, known.name


def test_every_servo_file_can_be_played() -> None:
    for known in known_robots():
        if known.servos is not None:
            chain = load_chain(known.servos)
            assert all(servo.datasheet.is_playable for servo in chain.servos), known.name
            assert np.all(chain.count_limits[:, 0] < chain.count_limits[:, 1]), known.name


def test_a_wheel_in_a_folder_is_unpacked_without_its_code(tmp_path: Path) -> None:
    wheel(tmp_path / "reachy_mini-1.0-py3-none-any.whl")
    found = entries(Places(folders=(tmp_path,)))[-1]
    assert found.inside == "reachy_mini/descriptions/reachy_mini/mjcf/reachy_mini.xml"
    file = unpacked(found, tmp_path / "kept")
    there = {path.relative_to(tmp_path / "kept").name for path in (tmp_path / "kept").rglob("*") if path.is_file()}
    assert there == {"reachy_mini.xml", "part.stl"}
    assert len(import_robot(file).mechanism.joints) == 1
    file.write_text("kept")
    assert unpacked(found, tmp_path / "kept").read_text() == "kept"


def test_wheels_that_lead_out_or_are_none_are_refused(tmp_path: Path) -> None:
    path = wheel(tmp_path / "reachy_mini-1.0-py3-none-any.whl", **{"../../../../out.stl": "solid"})
    entry = entries(Places(folders=(tmp_path,)))[-1]
    with pytest.raises(RobikError, match="which leads out of it"):
        unpacked(entry, tmp_path / "kept")
    assert not (tmp_path / "out.stl").exists()
    path.write_bytes(b"no wheel")
    with pytest.raises(RobikError, match="cannot be unpacked"):
        unpacked(entry, tmp_path / "kept")
    assert len(entries(Places(folders=(tmp_path,)))) == 8


def test_servos_of_reachy_mini_turn_what_its_files_name(reachy_mini: Path) -> None:
    entry = entries(Places(sites=(reachy_mini.parents[2],)))[-1]
    assert entry.servos is not None
    chain, robot = load_chain(entry.servos), import_robot(entry.file).mechanism
    assert chain.actuators == robot.actuators
    assert chain.ids == tuple(range(10, 19))
    held = chain.limits[:7] - robot.actuator_limits[:7]
    assert np.abs(held).max() < 2e-3  # the maker's servo limits are those of its model, in whole counts
    # Counts that the maker's own driver (reachy-mini-motor-controller 1.5.5) wrote for these angles. What it calls an
    # antenna's angle is the other way round in the maker's files: so its daemon moves them in MuJoCo.
    angles = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, -0.9])
    assert chain.counts(angles) == pytest.approx([2113, 2178, 2243, 2308, 2373, 2439, 2504, 1526, 2634], abs=1)


def decoded(picture: bytes, folder: Path) -> np.ndarray:
    import matplotlib.image

    (folder / "read.png").write_bytes(picture)
    return np.asarray(matplotlib.image.imread(folder / "read.png"))


def test_a_preview_shows_the_robot_in_its_colours(tmp_path: Path) -> None:
    file = robots.path("walker")
    robot = import_robot(file).mechanism
    picture = decoded(png(draw(robot, file)), tmp_path)
    assert picture.shape == (SIZE, SIZE, 4)
    shown = picture[..., 3] > 0.5
    assert 0.08 < shown.mean() < 0.6
    rows, columns = np.flatnonzero(shown.any(axis=1)), np.flatnonzero(shown.any(axis=0))
    assert np.ptp(rows) > 0.8 * SIZE  # a tall robot fills the height
    assert abs(rows.mean() - SIZE / 2) < 4
    assert abs(0.5 * (columns[0] + columns[-1]) - SIZE / 2) < 4
    assert (picture[shown][:, 0] - picture[shown][:, 2] > 0.3).any()  # its orange parts
    bare = replace(robot, bodies=tuple(replace(body, visuals=()) for body in robot.bodies))
    assert not draw(bare, file).any()


def test_previews_are_drawn_by_a_process(tmp_path: Path) -> None:
    def run(robot: Path) -> subprocess.CompletedProcess:
        return subprocess.run(
            program.command("gallery.preview", str(robot), str(tmp_path / "boxer.png")),
            env=program.environment(), capture_output=True, text=True, check=False,
        )  # fmt: skip

    assert run(robots.path("boxer")).returncode == 0
    drawn = decoded((tmp_path / "boxer.png").read_bytes(), tmp_path)
    shipped = decoded((robots.FOLDER / "boxer.png").read_bytes(), tmp_path)
    assert drawn[..., 3].any()
    assert np.abs(drawn - shipped).mean() < 0.01  # drawn again when the robot changed
    failed = run(tmp_path / "none.urdf")
    assert failed.returncode == 2
    assert len(failed.stderr.splitlines()) == 1
