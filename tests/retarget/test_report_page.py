"""The report as a page: what it says is what was solved, and it stands alone."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from robik import robots
from robik.bench.walking import walk_clip
from robik.cli import main
from robik.errors import ClipError
from robik.mechanism.model import Mechanism
from robik.motions import Motion, load_motion, load_states, save_motion, save_states
from robik.objectives.settings import Settings
from robik.physics.motion_forces import motion_forces
from robik.physics.motors import motors_of
from robik.physics.report_plots import force_plots
from robik.retarget.clip import TargetClip, save_clip
from robik.retarget.report_page import MOST, _thinned, page, save_page, with_states
from robik.retarget.retarget import retarget
from robik.retarget.support import margins

Walk = tuple[Mechanism, TargetClip, Motion]


@pytest.fixture(scope="module")
def walk() -> Walk:
    """The walker, unbalanced, at 30 frames a second."""
    walker = robots.load("walker")
    clip = walk_clip(walker, 30, balanced=False)
    return walker, clip, retarget(walker, clip)


@pytest.fixture(scope="module")
def files(walk: Walk, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what `robik solve` leaves."""
    folder = tmp_path_factory.mktemp("solved")
    save_motion(walk[2], folder / "walk.csv")
    save_states(walk[2], folder / "walk.npz")
    save_clip(walk[1], folder / "clip.npz")
    return folder


def rows(html: str) -> dict[str, list[str]]:
    """The tables' rows by their first cell."""
    found = re.findall(r"<tr class=\"[^\"]*\">(.*?)</tr>", html)
    cells = [re.findall(r"<td>(.*?)</td>", row) for row in found]
    return {" ".join(filter(None, row[:1])) if row[1][:1].isdigit() else f"{row[0]} {row[1]}": row for row in cells}


def test_its_numbers_are_those_of_the_report(walk: Walk, files: Path) -> None:
    walker, clip, motion = walk
    out = files / "walk.html"
    arguments = [
        str(files / "walk.csv"),
        "--robot",
        "walker",
        "--clip",
        str(files / "clip.npz"),
        "--states",
        str(files / "walk.npz"),
    ]
    assert main(["report", *arguments]) == 0
    html = out.read_text(encoding="utf-8")
    found = rows(html)
    for k, name in enumerate(motion.report.targets):
        assert float(found[f"{name} distance from target"][3].split()[0]) == pytest.approx(
            1e3 * np.nanmax(motion.report.position_error[:, k]), abs=0.006
        )
    for name, peak in motion.peak_velocity().items():
        speed, of, limit = found[name][1].split()[:3]
        assert (float(speed), of, float(limit)) == (pytest.approx(peak, abs=0.006), "of", pytest.approx(5.24, abs=0.01))
    contacts = {n: t.contact for n, t in clip.tracks.items() if t.contact is not None}
    least = 1e3 * np.nanmin(margins(walker, motion, contacts))
    assert least < 0
    assert float(found["centre of mass margin"][3].split()[0]) == pytest.approx(least, abs=0.06)
    assert "Not known here" not in html
    for title in ("motor speed [%", "feet on the ground", "balance: inside the support", "angle from target"):
        assert title in html


def test_it_needs_nothing_from_elsewhere(walk: Walk) -> None:
    walker, clip, motion = walk
    html = page(motion, walker, clip, Settings(), frames=np.arange(len(motion.times)) + 1.0)
    assert "<th>at frame</th>" in html
    assert not re.search(r"<(script|link|img)[^>]+(src|href)=", html)
    assert html.count("</script>") >= 2
    assert 3e6 < len(html) < 8e6  # Plotly is in it


def test_names_are_not_taken_for_html(tmp_path: Path) -> None:
    motion = Motion(
        times=np.array([0.0, 0.1]), actuators=("<script>alert(1)</script>",), values=np.array([[0.0], [1.0]])
    )
    save_page(tmp_path / "page.html", motion)
    html = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<script>alert(1)" not in html
    assert "Not known here: the robot" in html


def test_without_the_states_a_floating_robot_shows_its_motors(files: Path) -> None:
    out = files / "motors.html"
    assert main(["report", str(files / "walk.csv"), "--robot", "walker", "-o", str(out)]) == 0
    html = out.read_text(encoding="utf-8")
    assert "motor speed [%" in html
    assert "Not known here: the clip" in html


def test_torques_and_power_are_those_of_the_servos(walk: Walk, files: Path) -> None:
    """As inverse dynamics has them; the robot's own file says nothing of the walker's motors."""
    walker, _, motion = walk
    save_motion(motion, files / "based.npz")
    out = files / "forces.html"
    asked = ["report", str(files / "based.npz"), "--robot", "walker", "-o", str(out)]
    assert main([*asked, "--servos", str(robots.servos_path("walker"))]) == 0
    html = out.read_text(encoding="utf-8")
    assert "motor torque [% of what it has at rest]" in html
    assert "power from the battery" in html
    motors = motors_of(str(robots.servos_path("walker")), walker)
    (torque, power) = force_plots(motors.room, motion, motors.drives())
    wanted = motion_forces(motors.room, motion).dynamics.torque
    knee = walker.actuators.index("knee_l")
    assert torque.lines["knee_l"] == pytest.approx(100 * np.abs(wanted[:, knee]) / 2.5)
    assert 0.5 < power.lines["all motors"].mean() < 200.0
    bare = replace(motion, base=None, position=None, quaternion=None)
    assert force_plots(motors.room, bare, motors.drives()) == [], "nobody knows where it is"


def test_states_go_through_their_file(walk: Walk, files: Path) -> None:
    walker, _, motion = walk
    bodies = tuple(body.name for body in walker.bodies)
    found = load_states(files / "walk.npz", load_motion(files / "walk.csv"), bodies)
    assert found.position == pytest.approx(motion.position)
    assert with_states(walker, found).com == pytest.approx(motion.com)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--clip", "clip.npz"], "--robot"),
        (["--robot", "boxer"], "no column"),
        (["--robot", "walker", "--states", "clip.npz"], "clip.npz"),
        (["--robot", "walker", "--states", "nothing.npz"], "no such file"),
        (["--robot", "walker", "--clip", "short.npz", "--states", "walk.npz"], "samples"),
    ],
)
def test_what_cannot_be_shown_is_told(
    walk: Walk,
    files: Path,
    arguments: list[str],
    said: str,
    capsys: pytest.CaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(files)
    clip = walk[1]
    save_clip(
        TargetClip(clip.times[:5], {"pelvis": type(clip.tracks["pelvis"])(clip.tracks["pelvis"].position[:5])}),
        "short.npz",
    )
    assert main(["report", "walk.csv", *arguments, "-o", "never.html"]) == 2
    assert said in capsys.readouterr().err
    assert not (files / "never.html").exists()


def test_a_grounded_robot_is_posed_by_its_motors() -> None:
    boxer = robots.load("boxer")
    rest = np.array([v for joint in boxer.actuated for v in joint.rest])
    motion = with_states(
        boxer, Motion(times=np.array([0.0, 0.1]), actuators=boxer.actuators, values=np.tile(rest, (2, 1)))
    )
    assert motion.position[0] == pytest.approx(np.array([b.pose.position for b in boxer.bodies]), abs=1e-9)
    walker = robots.load("walker")
    with pytest.raises(ClipError, match="floats"):
        with_states(walker, Motion(times=np.zeros(1), actuators=walker.actuators, values=np.zeros((1, 12))))


def test_thinning_keeps_the_peaks() -> None:
    x, values = np.arange(20000.0), np.zeros(20000)
    values[777], values[778] = 5.0, np.nan
    at, kept = _thinned(x, values)
    assert len(at) == MOST
    assert kept.max() == 5.0 and at[kept.argmax()] == 777
    assert _thinned(x, -values, low=True)[1].min() == -5.0
