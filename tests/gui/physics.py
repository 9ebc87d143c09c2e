"""Will it fall? in a real window: Blender stays fluent, ESC and a killed process end a test in one sentence. Takes the
pictures of docs/physics.md: tests/gui/run 5.2 physics docs/images."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Generator, Iterator
from importlib import import_module
from pathlib import Path
from time import perf_counter

CHECKOUT = Path(__file__).resolve().parents[2]
sys.path.append(str(CHECKOUT))

import bpy  # noqa: E402
import numpy as np  # noqa: E402

from tests.gui.shots import THEMES, character, panels, start, taken, themed, together, walker, with_only  # noqa: E402
from tests.gui.sidebar import press  # noqa: E402
from tests.gui.window import (  # noqa: E402
    call,
    here,
    key,
    middle,
    region,
    result,
    robot,
    root,
    run,
    screen_height,
    until,
    view,
    xdotool,
)
from tools.installed import PACKAGE, install  # noqa: E402

ARCHIVE = Path("/tmp/robik.zip")
PULSE = 0.005  # [s] between two looks at whether Blender is alive
TOLD: list[str] = []  # what operators said as they ended early


def shoot() -> Iterator[float]:
    """All of them."""
    install(ARCHIVE)
    listen()
    yield from start()
    yield from walking()
    yield from fluent()
    yield from stopped()
    yield from killed()
    yield from fall()
    yield from forces()
    yield from torques()
    yield from stand()
    yield from strange()


def listen() -> None:
    """Note what operators say as they end early; a window shows it in a popup, which no script can read."""
    stepping = import_module(f"{PACKAGE}.operators.stepping").Stepping
    ended = stepping._ended

    def noted(self: object, context: object, kind: set[str], text: str, outcome: set[str]) -> set[str]:
        TOLD.append(text)
        return ended(self, context, kind, text, outcome)

    stepping._ended = noted


def walking() -> Iterator[float]:
    """The walker's balanced walk, baked by defaults."""
    yield from walker()
    call(bpy.ops.robik.add_character)
    yield from character()
    with bpy.context.temp_override(**here()):
        bpy.ops.robik.auto_map("EXEC_DEFAULT", True)
    call(bpy.ops.robik.bake)
    yield from until(lambda: result().frames > 0, 600, "a bake")
    for shown in (robot().character.rig, *robot().character.rig.children):
        shown.hide_set(True)
    space = view().spaces[0]
    space.region_3d.view_location, space.region_3d.view_distance = (0.0, 0.15, 0.22), 1.5
    with_only(("bake", "stand"))
    yield 1.0


def is_testing() -> bool:
    return bool(bpy.context.window_manager.windows[0].modal_operators)


def physics_process() -> int | None:
    """The process that simulates, a child of Blender's."""
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                words, parent = (folder / "cmdline").read_bytes(), (folder / "stat").read_text().rpartition(")")[2]
            except OSError:
                continue
            if b"job.npz" in words and int(parent.split()[1]) == os.getpid():
                return int(folder.name)
    return None


def beats(seconds: float, alive: object = None) -> Generator[float, None, np.ndarray]:
    """Times between two looks of Blender's at its timers [s], for so long or until something is over."""
    seen: list[float] = []

    def beat() -> float:
        seen.append(perf_counter())
        return PULSE

    bpy.app.timers.register(beat)
    ends = perf_counter() + seconds
    while perf_counter() < ends and (alive is None or alive()):
        yield 0.05
    bpy.app.timers.unregister(beat)
    return np.diff(seen)


def fluent() -> Iterator[float]:
    """While a test runs, playback goes on, the view turns, and no look at the timers takes longer than without."""
    scene, screen = bpy.context.scene, bpy.context.window_manager.windows[0].screen
    robot().physics.p_gain, robot().physics.carry_weight = 10500, True  # which stands, so that a test takes its time
    yield from key("space")
    usual = yield from beats(4.0)
    assert screen.is_animation_playing
    yield from key("space")
    scene.frame_set(1)
    yield from press("robik.test_in_physics", 0.3)
    yield from until(is_testing, 60, "a test")
    yield from until(lambda: physics_process() is not None, 60, "its process")
    yield from key("space")
    assert screen.is_animation_playing
    began = scene.frame_current
    busy = yield from beats(4.0, is_testing)
    assert scene.frame_current != began, "playback stands while physics is tested"
    yield from turned()
    assert is_testing(), "the test was over before the view was turned"
    for name, each in (("playing", usual), ("playing beside a test", busy)):
        milliseconds = 1e3 * np.array([np.median(each), np.percentile(each, 95), each.max()])
        print(
            f"{name}: looks median {milliseconds[0]:.0f}, 95 % {milliseconds[1]:.0f}, longest {milliseconds[2]:.0f} ms",
            flush=True,
        )
    yield from until(lambda: not is_testing(), 300, "the verdict")
    yield from key("space")
    assert not screen.is_animation_playing
    assert result().physics
    print(result().physics, "|", result().physics_more, flush=True)


def turned() -> Iterator[float]:
    """The middle mouse button turns the view."""
    seen = view().spaces[0].region_3d
    before = seen.view_rotation.copy()
    x, y = middle()
    xdotool("mousemove", x, y)
    yield 1.0
    xdotool("mousedown", 2)
    yield 1.0
    for k in range(6):
        xdotool("mousemove", x + 20 * k, y)
        yield 0.3
    xdotool("mouseup", 2)
    yield from until(lambda: seen.view_rotation != before, 20, "a view that turns while physics is tested")
    seen.view_rotation = before


def stopped() -> Iterator[float]:
    """ESC ends test and process; the verdict before stays."""
    before = result().physics
    call(bpy.ops.robik.test_in_physics, trials=200)
    yield from until(lambda: physics_process() is not None, 60, "its process")
    yield 1.0
    yield from key("Escape")
    yield from until(lambda: not is_testing() and physics_process() is None, 10, "the end of test and process")
    assert TOLD[-1] == "Test stopped; nothing was changed", TOLD
    assert result().physics == before


def killed() -> Iterator[float]:
    """A process that is killed becomes a sentence."""
    call(bpy.ops.robik.test_in_physics, trials=200)
    yield from until(lambda: physics_process() is not None, 60, "its process")
    yield 1.0
    os.kill(physics_process(), signal.SIGKILL)
    yield from until(lambda: not is_testing(), 10, "the end of the test")
    yield from key("Escape")
    assert TOLD[-1] == "the physics process was ended from outside (signal 9); test again", TOLD


def fall() -> Iterator[float]:
    """The ghost beside the bake, and the verdict."""
    robot().physics.p_gain, robot().physics.carry_weight = 5000, False
    call(bpy.ops.robik.test_in_physics)
    yield from until(lambda: not is_testing(), 300, "the verdict")
    print(result().physics, flush=True)
    assert not result().physics_stands
    bpy.context.scene.frame_set(result().physics_frame)
    with_only(("stand",))
    yield 2.0
    picture_of_view("physics-fall", 860)
    yield from together("physics-fall")


def forces() -> Iterator[float]:
    """Ground force, and the motors' torques as colours."""
    show, overlay = bpy.context.scene.robik.overlays, import_module(f"{PACKAGE}.scene.overlay.views")
    call(bpy.ops.robik.remove_ghost)
    bpy.context.scene.frame_set(60)
    view().spaces[0].region_3d.view_distance = 0.95
    show.forces, show.support, show.motors = True, True, "TORQUE"
    yield from until(overlay.is_drawn, 120, "forces")
    yield 1.0
    main = region("WINDOW")
    left, high = main.x + main.width // 2 - 190, screen_height() - main.y - main.height // 2 - 280
    for theme in THEMES:
        yield from themed(theme)
        taken("overlay-forces", theme, f"380x560+{left}+{high}")
    yield from together("overlay-forces")


def torques() -> Iterator[float]:
    """The motor graph shows torques."""
    show = bpy.context.scene.robik.overlays
    show.graph, show.graph_of = True, "TORQUE"
    yield 1.0
    main, side = region("WINDOW"), region("UI")
    for theme in THEMES:
        yield from themed(theme)
        taken("overlay-torques", theme, f"{main.width - side.width}x180+{main.x}+{screen_height() - main.y - 180}")
    yield from together("overlay-torques", "-append")
    show.graph = show.forces = show.support = False
    show.motors = "NONE"


def stand() -> Iterator[float]:
    """The rows of Make It Stand."""
    robot().physics.p_gain = 0
    began = perf_counter()
    call(bpy.ops.robik.make_it_stand)
    yield from until(lambda: not is_testing(), 900, "what stands")
    print(f"make it stand: {perf_counter() - began:.0f} s", flush=True)
    for row in robot().physics.attempts:
        print("  ", row.name, "|", row.told, flush=True)
    assert robot().physics.attempts[robot().physics.chosen].stands
    yield from panels({"panel-stand": ("stand",)})
    bpy.context.scene.frame_set(bpy.context.scene.frame_end)
    view().spaces[0].region_3d.view_distance = 1.5


def strange() -> Iterator[float]:
    """A curve that is no number, a robot without mass, and one of whose bodies has none: a sentence each."""
    bodies = [o for o in root().children_recursive if o.robik.kind == "BODY"]
    masses = {o.name: o.robik.body.mass for o in bodies}
    for names in (list(masses), [bodies[-1].name]):
        for name in names:
            bpy.data.objects[name].robik.body.mass = 0.0
        yield from told(f"{len(names)} bodies without mass")
        for name, mass in masses.items():
            bpy.data.objects[name].robik.body.mass = mass
    name = next(iter(root().robik.robot.result.actuators)).name
    root()[name] = float("nan")
    root().keyframe_insert(f'["{name}"]', frame=5)
    yield from told("a slider that is no number")


def told(what: str) -> Iterator[float]:
    """What a test says of it, as an error."""
    try:
        call(bpy.ops.robik.test_in_physics, trials=0)
        yield from until(lambda: not is_testing(), 120, "the end")
        print(f"{what}: {TOLD[-1]}", flush=True)
    except RuntimeError as error:
        print(f"{what}: {error}", flush=True)
        yield 0.1
    yield from key("Escape")


def picture_of_view(name: str, height: int) -> None:
    """The view and its sidebar, from the top, so high [pixels]."""
    side, area = region("UI"), view()
    place = f"{side.x + side.width}x{height}+0+{screen_height() - area.y - area.height}"
    taken(name, THEMES[0], place, "-resize", "840x")


bpy.context.preferences.view.show_splash = False  # before the window is first drawn
run(shoot)
