"""Pictures of a real window: a part of the screen in a dark theme and a light one. Runs inside that Blender."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import bpy

from tests.gui.sidebar import open_tab
from tests.gui.window import PICTURES, call, here, key, region, root, screen_height, until, view
from tools.installed import PACKAGE

CHECKOUT = Path(__file__).resolve().parents[2]
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
    "panel-bake": ("bake", "bake_motors", "bake_style", "bakes"),
    "panel-result": ("bake", "result"),
    "panel-overlays": ("overlays",),
}
SERVO_PANELS = {"panel-servos": ("servos", "servos_playing", "servos_state"), "panel-chain": ("servos", "servos_chain")}


def start() -> Iterator[float]:
    """An empty scene, and the tab open."""
    bpy.data.batch_remove(list(bpy.data.objects))
    space = view().spaces[0]
    space.shading.color_type = "MATERIAL"
    space.overlay.show_cursor = space.overlay.show_relationship_lines = False
    space.region_3d.view_distance, space.region_3d.view_location = 3.3, (0.35, 1.2, 0.7)
    yield 0.5
    yield from open_tab()


def walker() -> Iterator[float]:
    """Our walker, at Blender's own rate."""
    bpy.context.scene.render.fps = 24
    with bpy.context.temp_override(**here()):
        bpy.ops.robik.import_robot(filepath=str(CHECKOUT / "robik/data/robots/walker.robik.json"))
    yield from until(lambda: root() is not None, 300, "a robot")
    yield from key("Escape")


def character() -> Iterator[float]:
    """The walking character once it is there, and the frames of its walk."""
    yield from until(lambda: "Character" in bpy.data.objects, 60, "the character")
    action = bpy.data.objects["Character"].animation_data.action
    bpy.context.scene.frame_end = round(action.frame_range[1])


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


def servos(which: dict[str, tuple[str, ...]] = SERVO_PANELS) -> Iterator[float]:
    """The servos' panels while a simulated chain holds."""
    play = import_module(f"{PACKAGE}.scene.servos.play")
    call(bpy.ops.robik.choose_servo, servo=3)
    call(bpy.ops.robik.connect_servos)
    yield from until(lambda: play.status().state.value == "ready", 60, "servos found")
    call(bpy.ops.robik.torque_servos, on=True)
    yield from until(lambda: play.status().state.value == "holding", 60, "torque")
    yield 1.0
    yield from panels(which)
    call(bpy.ops.robik.stop_servos, emergency=True)
    yield from until(lambda: not play.status().torque, 60, "torque off")
    call(bpy.ops.robik.disconnect_servos)
    yield 0.5


def window(name: str) -> Iterator[float]:
    """The window from its left to the sidebar's end."""
    side = region("UI")
    yield 3.0  # panels unfold slowly on a busy machine
    taken(name, THEMES[0], f"{side.x + side.width}x{screen_height()}+0+0", "-resize", "840x")
    yield from together(name)


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
