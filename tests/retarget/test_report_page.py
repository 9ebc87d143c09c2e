"""The report as a page: what it says is what was solved, and it stands alone."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import replace
from math import cos, sin
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robik import robots
from robik.bench.walking import walk_clip
from robik.cli import main
from robik.clips.clip import TargetClip, Track, save_clip
from robik.errors import ClipError
from robik.feet.finding import find_contacts
from robik.feet.phases import runs
from robik.feet.support import margins, zero_moment_margins
from robik.mechanism import WORLD, Body, Frame, Joint, Mechanism, Pose
from robik.motions import Motion, load_motion, load_states, save_motion, save_states
from robik.objectives.settings import Settings
from robik.physics.motion_forces import motion_forces
from robik.physics.motors import motors_of
from robik.physics.report_plots import force_plots
from robik.report.report_page import LIMIT, MOST, ROW, _thinned, page, save_page, with_states
from robik.retargeting.retarget import retarget

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


# What is drawn, read back


def numbers(found: Any) -> np.ndarray:
    """An array as Plotly writes it: a list, or the base64 of its bytes."""
    if isinstance(found, dict):
        return np.frombuffer(base64.b64decode(found["bdata"]), dtype=found["dtype"]).astype(float)
    return np.array(found, dtype=float)


def drawn(html: str) -> tuple[dict[str, dict[str, dict]], list[tuple[str, float, str]], dict]:
    """The traces by the title of their plot and their name; the lines across with their plot and colour; the layout."""
    text, decoder = html[html.rindex("Plotly.newPlot(") + len("Plotly.newPlot(") :], json.JSONDecoder()
    _, end = decoder.raw_decode(text := text.lstrip())
    data, end = decoder.raw_decode(text := text[end:].lstrip(" ,\n"))
    layout, _ = decoder.raw_decode(text[end:].lstrip(" ,\n"))
    titles = {f"y{k or ''}" if k == 0 else f"y{k + 1}": one["text"] for k, one in enumerate(layout["annotations"])}
    plots: dict[str, dict[str, dict]] = {title: {} for title in titles.values()}
    for trace in data:
        plots[titles[trace.get("yaxis", "y")]][trace["name"]] = trace
    across = [(titles[one["yref"].split()[0]], one["y0"], one["line"]["color"]) for one in layout.get("shapes", ())]
    assert all(one["y0"] == one["y1"] for one in layout.get("shapes", ()))
    return plots, across, layout


TIMES = np.array([0.0, 0.5, 1.5])


def arm_and_lift(turn: float = 2.0, top: float = 0.2) -> Mechanism:
    """A hinge with a tip 1 m off and a slide beside it, each with limits and a speed."""
    joints = (
        Joint(
            "hinge", "revolute", WORLD, "arm", axis=(0, 0, 1), actuated=True, limits=((-1.0, 2.0),), velocity_limit=turn
        ),
        Joint(
            "lift", "prismatic", WORLD, "block", axis=(0, 0, 1), actuated=True, limits=((0.0, top),), velocity_limit=0.5
        ),
        Joint("loose", "revolute", WORLD, "wheel", axis=(0, 0, 1), actuated=True),
    )
    bodies = (Body("arm", 1.0), Body("block", 3.0), Body("wheel", 1.0))
    return Mechanism("arm & lift", bodies, joints, frames=(Frame("tip", "arm", Pose((1.0, 0.0, 0.0))),))


def moved() -> Motion:
    """A hinge that ends at its limit, at 0.8 and 1.6 rad/s, a slide at 0.1 m/s."""
    values = np.array([[0.0, 0.05, 0.0], [0.4, 0.1, 7.0], [2.0, 0.1, 7.0]])
    return Motion(times=TIMES, actuators=("hinge", "lift", "loose"), values=values)


def test_motors_are_drawn_and_listed_by_their_limits() -> None:
    robot = arm_and_lift()
    html = page(with_states(robot, moved()), robot, None, Settings())
    plots, across, layout = drawn(html)
    assert list(plots) == ["motor speed [% of its limit]", "motor angle [% from the middle of its range to its end]"]
    speed, angle = plots.values()
    assert list(speed) == list(angle) == ["hinge", "lift"], "no limits, no share of them"
    for found, wanted in (
        (speed["hinge"], [0.0, 40.0, 80.0]), (speed["lift"], [0.0, 20.0, 0.0]),
        (angle["hinge"], [100 / 3, 20 / 3, 100.0]), (angle["lift"], [50.0, 0.0, 0.0]),
    ):  # fmt: skip
        np.testing.assert_allclose(numbers(found["x"]), TIMES)
        np.testing.assert_allclose(numbers(found["y"]), wanted, atol=1e-4)
    assert across == [(title, 100.0, LIMIT) for title in plots]
    assert layout["height"] == 2 * ROW + 80
    colors = [[trace["marker"]["color"] for trace in plot.values()] for plot in plots.values()]
    assert colors[0] == colors[1] and len(set(colors[0])) == 2, "a motor has one colour in all plots"
    assert [[trace["showlegend"] for trace in plot.values()] for plot in plots.values()] == [[True] * 2, [False] * 2]
    assert layout["xaxis2"]["title"]["text"] == "time [s]"
    legends = [layout["legend"]["y"], layout["legend2"]["y"]]
    assert legends == [layout["yaxis"]["domain"][1], layout["yaxis2"]["domain"][1]] and legends[0] > legends[1]
    assert layout["xaxis"]["matches"] == "x2", "both zoom together"
    assert layout["xaxis"]["showticklabels"] and layout["xaxis2"]["showticklabels"]
    assert html.count("<html") == 1 and '"displaylogo": false' in html and '"responsive": true' in html
    assert "<h1>arm &amp; lift</h1>" in html and "3 samples, 1.50 s" in html
    assert rows(html) == {
        "hinge": ["hinge", "1.60 of 2.00 rad/s", "80%", "1.50", "0.0°"],
        "lift": ["lift", "0.10 of 0.50 m/s", "20%", "0.50", "50.0 mm"],
        "loose": ["loose", "14.00 rad/s", "", "0.50", ""],
    }


def test_without_a_robot_speeds_are_drawn_as_they_are() -> None:
    html = page(moved(), None, None, Settings(), frames=np.array([1.0, 13.0, 37.0]))
    plots, across, layout = drawn(html)
    ((title, lines),) = plots.items()
    assert title == "speed [rad/s, m/s]" and across == []
    np.testing.assert_allclose(numbers(lines["hinge"]["y"]), [0.0, 0.8, 1.6], atol=1e-6)
    np.testing.assert_allclose(numbers(lines["loose"]["x"]), [1.0, 13.0, 37.0])
    assert layout["xaxis"]["title"]["text"] == "frame"
    assert rows(html)["hinge"] == ["hinge", "1.60 rad/s", "", "37", ""]
    assert "<th>at frame</th>" in html and "<h1>Motion</h1>" in html
    assert 'class="bad"' not in html


@pytest.mark.parametrize(
    ("turn", "top", "bad"),
    [
        (2.0, 0.2, []),
        (1.6 / (1 + 5e-7), 0.2, []),  # rounding
        (1.6 / (1 + 1.5e-6), 0.2, ["hinge"]),
        (2.0, 0.1 - 5e-7, []),
        (2.0, 0.1 - 1.5e-6, ["lift"]),
    ],
)
def test_a_motor_beyond_its_limits_is_marked(turn: float, top: float, bad: list[str]) -> None:
    html = page(moved(), arm_and_lift(turn, top), None, Settings())
    assert re.findall(r'<tr class="bad"><td>(\w+)</td>', html) == bad


def test_targets_are_drawn_and_listed_by_their_distance() -> None:
    robot = arm_and_lift()
    motion = with_states(robot, moved())
    angles = motion.values[:, 0]
    tip = np.array([[cos(a), sin(a), 0.0] for a in angles])
    off = np.array([[0.0, 0.003, 0.004], [0.01, 0.0, 0.0], [0.0, 0.0, 0.0]])
    turned = np.array([[cos((a + 0.1) / 2), 0.0, 0.0, sin((a + 0.1) / 2)] for a in angles])
    clip = TargetClip(TIMES, {"tip": Track(tip + off, turned), "arm": Track(None, turned)})
    html = page(motion, robot, clip, Settings())
    plots, _, _ = drawn(html)
    distance, angle = plots["distance from target [mm]"], plots["angle from target [°]"]
    assert list(distance) == ["tip"] and list(angle) == ["tip", "arm"]
    np.testing.assert_allclose(numbers(distance["tip"]["y"]), [5.0, 10.0, 0.0], atol=1e-4)
    np.testing.assert_allclose(numbers(angle["arm"]["y"]), np.degrees(0.1), atol=1e-4)
    found = rows(html)
    assert found["tip distance from target"][1:4] == ["distance from target", "5.00 mm", "10.00 mm"]
    assert found["arm angle from target"][1:4] == ["angle from target", "5.73 °", "5.73 °"]
    assert "Not known here" not in html
    assert "Not known here: the bodies' states: distances and balance." in page(moved(), robot, clip, Settings())


@pytest.mark.parametrize(("later", "fits"), [(0.5e-6, True), (1.5e-6, False)])
def test_a_clip_of_other_times_is_refused(later: float, fits: bool) -> None:
    robot, clip = arm_and_lift(), TargetClip(TIMES + np.array([0.0, 0.0, later]), {"tip": Track(np.ones((3, 3)))})
    if fits:
        assert "the clip" not in page(moved(), robot, clip, Settings())
    else:
        with pytest.raises(ClipError, match=r"the clip has 3 samples to 1\.5 s, the motion 3 to 1\.5 s"):
            page(moved(), robot, clip, Settings())


def test_balance_and_contacts_are_drawn(walk: Walk) -> None:
    walker, clip, motion = walk
    html = page(motion, walker, clip, Settings())
    plots, across, _ = drawn(html)
    contacts = {n: t.contact for n, t in clip.tracks.items() if t.contact is not None}
    balance, feet = plots["balance: inside the support [mm]"], plots["feet on the ground"]
    for name, margin in (("centre of mass", margins), ("zero-moment point", zero_moment_margins)):
        wanted = 1e3 * margin(walker, motion, contacts)
        np.testing.assert_allclose(numbers(balance[name]["y"]), wanted, rtol=1e-5, atol=1e-4)
    assert ("balance: inside the support [mm]", 0.0, LIMIT) in across
    for name, contact in contacts.items():
        start, length = numbers(feet[name]["base"]), numbers(feet[name]["x"])
        assert len(start) > 1
        stands = [bool(((start <= t + 1e-9) & (t <= start + length + 1e-9)).any()) for t in clip.times]
        assert stands == contact.tolist()
    least = 1e3 * np.nanmin(margins(walker, motion, contacts))
    row = r'<tr class="bad"><td>centre of mass</td><td>margin</td><td>[-.0-9]+ mm</td>'
    assert re.search(rf"{row}<td>{least:.1f} mm", html)
    tracks = {name: replace(track, contact=None) for name, track in clip.tracks.items()}
    bare = TargetClip(clip.times, tracks)
    for name, contact in find_contacts(walker, bare).items():
        found = drawn(page(motion, walker, bare, Settings()))[0]["feet on the ground"][name]
        assert len(numbers(found["base"])) == len(runs(contact))
    weightless = replace(walker, bodies=tuple(replace(body, mass=0.0) for body in walker.bodies))
    plots = drawn(page(motion, weightless, clip, Settings()))[0]
    assert list(plots["balance: inside the support [mm]"]) == ["centre of mass"]
