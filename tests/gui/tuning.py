"""Pictures of tuning, on the simulated chain, in a window: tests/gui/run 4.3 tuning docs/images."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
sys.path.append(str(CHECKOUT))

import bpy  # noqa: E402

from tests.gui.shots import THEMES, panels, start, taken, together, walker, with_only  # noqa: E402
from tests.gui.sidebar import press  # noqa: E402
from tests.gui.window import call, key, region, run, screen_height, until  # noqa: E402
from tools.installed import PACKAGE, install  # noqa: E402

ARCHIVE = Path("/tmp/robik.zip")
HEIGHT = 262  # of what is cut out at the foot of the view [px]


def shoot() -> Iterator[float]:
    """The panel, the graph after a nudge, and ESC during one."""
    install(ARCHIVE)
    yield from start()
    yield from walker()
    play, graph = (import_module(f"{PACKAGE}.scene.servos.{name}") for name in ("play", "live_graph"))
    drawn, tuning = import_module(f"{PACKAGE}.scene.overlay.servo_graph"), bpy.context.scene.robik.playing.tuning

    settings_of = play.settings_of  # a machine that stalls is no fault of the servos
    play.settings_of = lambda scene: replace(settings_of(scene), heartbeat=15.0, watchdog=2.5, silence=2.0)

    def state() -> str:
        return play.status().state.value

    call(bpy.ops.robik.connect_servos)
    yield from until(lambda: state() == "ready", 60, "servos found")
    call(bpy.ops.robik.torque_servos, on=True)
    yield from until(lambda: state() == "holding", 60, "torque")
    tuning.servo, tuning.p, tuning.d = "4", 1200, 20
    yield from until(lambda: play.status().tunings and play.status().tunings[3][:3] == (1200, 0, 20), 60, "gains")
    tuning.graph = True
    yield from until(lambda: len(graph.samples()) > 20, 60, "a trace")
    with_only(("servos", "servos_tuning"))
    yield 2.0
    yield from press("robik.step_servo")
    yield from until(lambda: "ms behind" in drawn.picture().words, 60, "a nudge")
    yield from until(lambda: state() == "holding", 60, "its end")
    main, side = region("WINDOW"), region("UI")
    foot = f"{main.width - side.width}x{HEIGHT}+{main.x}+{screen_height() - main.y - HEIGHT}"
    taken("overlay-servo", THEMES[0], foot)  # one theme: in the other the nudge would have gone by
    yield from together("overlay-servo")
    bpy.context.scene.robik.overlays.graph = True  # no bake: nothing of it is drawn, and this graph makes room for it
    yield 1.0
    bpy.context.scene.robik.overlays.graph = False
    tuning.graph = False  # whose lines behind the sidebar would be cut out with it
    yield from panels({"panel-tuning": ("servos", "servos_tuning")})
    tuning.nudge = 0.3
    bpy.context.scene.robik.playing.speed = 1.0
    call(bpy.ops.robik.step_servo)
    yield from key("Escape")
    yield from until(lambda: state() == "holding", 60, "stopped by ESC, or at its end")
    call(bpy.ops.robik.disconnect_servos)
    assert drawn.picture() is None
    yield 0.5


bpy.context.preferences.view.show_splash = False  # before the window is first drawn
run(shoot)
