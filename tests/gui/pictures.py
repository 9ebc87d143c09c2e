"""Pictures of docs/, taken again in a real window, in a dark theme and a light one: tests/gui/run starts this inside
Blender."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
sys.path.append(str(CHECKOUT))

import bpy  # noqa: E402

from tests.gui.editors import open_dope_sheet, open_graph_editor  # noqa: E402
from tests.gui.sidebar import open_tab, press  # noqa: E402
from tests.gui.window import PICTURES, call, here, key, region, result, robot, root, run, screen_height, until, view  # noqa: E402
from tools.installed import PACKAGE, install  # noqa: E402

ARCHIVE = Path("/tmp/robik.zip")
TAKEN = Path("/tmp")  # each picture in both themes, before they are laid side by side
THEMES = ("Blender_Dark", "Blender_Light")
AWAY = (0.0, 0.0, 400.0)  # where the view shows nothing, so that a panel can be cut out
QUALITY = "82"
OPENED = "_opened"

# Pictures of panels: what of the tab stands in each.
PANELS = {
    "panel-robot": ("robot", "motors", "diagnosis"),
    "panel-build": ("robot", "build", "joint"),
    "panel-character": ("character", "target_advanced"),
    "panel-balance": ("balance", "contacts"),
    "panel-bake": ("bake", "bakes", "bake_advanced"),
    "panel-result": ("result",),
    "panel-overlays": ("overlays",),
}
SERVO_PANELS = {"panel-servos": ("servos", "servos_playing", "servos_state"), "panel-chain": ("servos", "servos_chain")}
# Pictures of overlays: what is switched on, and what the motors show.
OVERLAYS = {
    "overlay-balance": (("com", "com_target", "support"), "NONE"),
    "overlay-misses": (("errors",), "NONE"),
    "overlay-joints": (("joints",), "NONE"),
    "overlay-speed": ((), "SPEED"),
    "overlay-reach": ((), "LIMIT"),
    "overlay-singular": ((), "SINGULAR"),
}


def shoot() -> Iterator[float]:
    """All of them."""
    install(ARCHIVE)
    yield from start()
    yield from tutorial()
    yield from panels(PANELS)
    yield from overlays()
    yield from graph()
    yield from editors()
    yield from servos()


def start() -> Iterator[float]:
    """An empty scene, and the tab open."""
    bpy.data.batch_remove(list(bpy.data.objects))
    space = view().spaces[0]
    space.shading.color_type = "MATERIAL"
    space.overlay.show_cursor = space.overlay.show_relationship_lines = False
    space.region_3d.view_distance, space.region_3d.view_location = 3.3, (0.35, 1.2, 0.7)
    yield 0.5
    yield from open_tab()


def tutorial() -> Iterator[float]:
    """The steps of docs/tutorial.md."""
    scene = bpy.context.scene
    scene.render.fps = 24
    with bpy.context.temp_override(**here()):
        bpy.ops.robik.import_robot(filepath=str(CHECKOUT / "robik/data/robots/walker.robik.json"))
    yield from until(lambda: root() is not None, 300, "a robot")
    yield from key("Escape")
    yield from window("tutorial-robot")
    yield from press("robik.add_character")
    yield from until(lambda: "Character" in bpy.data.objects, 60, "the character")
    scene.frame_end = round(bpy.data.objects["Character"].animation_data.action.frame_range[1])
    yield from press("robik.auto_map", 0.2)
    yield from window("tutorial-auto-map")
    press_return()
    yield from until(lambda: len(robot().character.targets) == 3, 60, "the mapping")
    robot().balance.mode, robot().balance.pin_feet = "AUTO", True
    yield from window("tutorial-character")
    call(bpy.ops.robik.bake)
    yield from until(lambda: result().frames > 0, 600, "a bake")
    call(bpy.ops.robik.detect_contacts)
    bpy.context.scene.robik.overlays.graph = True
    scene.frame_set(60)
    with_only(("result",))
    yield from window("tutorial-result")
    bpy.context.scene.robik.overlays.graph = False


def panels(which: dict[str, tuple[str, ...]]) -> Iterator[float]:
    """Each panel alone, opened, cut out."""
    space = view().spaces[0]
    where = space.region_3d.view_location.copy()
    space.overlay.show_floor = space.overlay.show_axis_x = space.overlay.show_axis_y = False
    space.region_3d.view_location = AWAY
    joint = next(o for o in root().children_recursive if o.robik.kind == "JOINT" and o.robik.joint.actuated)
    joint.hide_set(False)
    bpy.context.view_layer.objects.active = joint
    for name, shown in which.items():
        with_only(shown)
        yield 2.0
        side = region("UI")
        for theme in THEMES:
            yield from themed(theme)
            taken(
                name,
                theme,
                f"{side.width - 4}x{side.height - 8}+{side.x}+{screen_height() - side.y - side.height}",
                "-fuzz",
                "3%",
                "-trim",
            )
        yield from together(name)
    space.region_3d.view_location = where
    space.overlay.show_floor = space.overlay.show_axis_x = space.overlay.show_axis_y = True
    with_only(())


def overlays() -> Iterator[float]:
    """The robot near by, with each of them."""
    scene, space = bpy.context.scene, view().spaces[0]
    show, overlay = scene.robik.overlays, import_module(f"{PACKAGE}.scene.overlay.views")
    scene.frame_set(max(result().actuators, key=lambda row: row.peak_velocity).frame)
    space.region_3d.view_location = next(o for o in root().children_recursive if o.robik.label == "torso").location
    space.region_3d.view_location.z, space.region_3d.view_distance = 0.24, 0.95
    robot().character.rig.hide_set(True)
    for child in robot().character.rig.children:
        child.hide_set(True)
    main = region("WINDOW")
    left, high = main.x + main.width // 2 - 190, screen_height() - main.y - main.height // 2 - 280
    for name, (on, motors) in OVERLAYS.items():
        for each in on:
            setattr(show, each, True)
        show.motors = motors
        yield from until(overlay.is_drawn, 120, name)
        yield 0.5
        for theme in THEMES:
            yield from themed(theme)
            taken(name, theme, f"380x560+{left}+{high}")
        yield from together(name)
        for each in on:
            setattr(show, each, False)
        show.motors = "NONE"


def graph() -> Iterator[float]:
    """The motor graph at the foot of the view."""
    bpy.context.scene.robik.overlays.graph = True
    yield 1.0
    main, side = region("WINDOW"), region("UI")
    for theme in THEMES:
        yield from themed(theme)
        taken("overlay-graph", theme, f"{main.width - side.width}x180+{main.x}+{screen_height() - main.y - 180}")
    yield from together("overlay-graph", "-append")
    bpy.context.scene.robik.overlays.graph = False


def editors() -> Iterator[float]:
    """Contacts in the dope sheet and limits in the graph editor, in the place of the 3D view."""
    area, show = view(), bpy.context.scene.robik.overlays
    for name, switch, opened in (
        ("overlay-contacts", "contacts", open_dope_sheet(area)),
        ("overlay-limits", "limits", open_graph_editor(area, "hip_pitch_l")),
    ):
        yield from opened
        setattr(show, switch, True)
        yield 1.0
        for theme in THEMES:
            yield from themed(theme)
            taken(
                name,
                theme,
                f"{area.width}x{min(area.height, 420)}+{area.x}+{screen_height() - area.y - min(area.height, 420)}",
            )
        yield from together(name, "-append")
        setattr(show, switch, False)
    area.type = "VIEW_3D"
    yield 1.0


def servos() -> Iterator[float]:
    """The servos' panels while a simulated chain holds."""
    play = import_module(f"{PACKAGE}.scene.servos.play")
    call(bpy.ops.robik.choose_servo, servo=3)
    call(bpy.ops.robik.connect_servos)
    yield from until(lambda: play.status().state.value == "ready", 60, "servos found")
    call(bpy.ops.robik.torque_servos, on=True)
    yield from until(lambda: play.status().state.value == "holding", 60, "torque")
    yield 1.0
    yield from panels(SERVO_PANELS)
    call(bpy.ops.robik.stop_servos, emergency=True)
    yield from until(lambda: not play.status().torque, 60, "torque off")
    call(bpy.ops.robik.disconnect_servos)
    yield 0.5


def with_only(shown: tuple[str, ...]) -> None:
    """Leaves only some of the tab's panels, unfolded; all of them where none is named."""
    classes = [
        cls
        for module in import_module(f"{PACKAGE}.panels").MODULES
        for cls in module.CLASSES
        if issubclass(cls, bpy.types.Panel)
    ]
    for cls in reversed(classes):
        if cls.is_registered:
            bpy.utils.unregister_class(cls)
    for cls in classes:
        if not shown or cls.bl_idname.removeprefix("ROBIK_PT_").removesuffix(OPENED) in shown:
            if "DEFAULT_CLOSED" in getattr(
                cls, "bl_options", ()
            ):  # under another name, as Blender remembers that it was folded
                cls.bl_options, cls.bl_idname = set(), cls.bl_idname + OPENED
            bpy.utils.register_class(cls)


def window(name: str) -> Iterator[float]:
    """The window from its left to the sidebar's end."""
    side = region("UI")
    yield 3.0  # panels unfold slowly on a busy machine
    taken(name, THEMES[0], f"{side.x + side.width}x{screen_height()}+0+0", "-resize", "840x")
    yield from together(name)


def press_return() -> None:
    subprocess.run(["xdotool", "key", "Return"], check=True)


def themed(theme: str) -> Iterator[float]:
    """Blender's own theme of this name."""
    folder = Path(bpy.utils.system_resource("SCRIPTS")) / "presets/interface_theme"
    bpy.ops.script.execute_preset(
        filepath=str(folder / f"{theme}.xml"), menu_idname="USERPREF_MT_interface_theme_presets"
    )
    yield 1.5


def taken(name: str, theme: str, place: str, *changes: str) -> None:
    """A part of the screen, in one theme: width x height + left + top [pixels]."""
    whole = TAKEN / "screen.png"
    subprocess.run(["import", "-window", "root", whole], check=True)
    subprocess.run(
        ["convert", whole, "-crop", place, "+repage", *changes, "+repage", TAKEN / f"{name}.{theme}.png"], check=True
    )


def together(name: str, direction: str = "+append") -> Iterator[float]:
    """The themes side by side, as one small file."""
    files = [str(file) for theme in THEMES if (file := TAKEN / f"{name}.{theme}.png").exists()]
    subprocess.run(["convert", *files, direction, "-strip", "-quality", QUALITY, f"{PICTURES}/{name}.jpg"], check=True)
    yield from themed(THEMES[0])


bpy.context.preferences.view.show_splash = False  # before the window is first drawn
run(shoot)
