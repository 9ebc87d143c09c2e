"""Bases of the panels in the tab, and what they draw alike."""

import re
from unicodedata import east_asian_width

from bpy.app.translations import pgettext_iface
from bpy.types import Context, Object, Panel, PropertyGroup, UILayout

from ..robik.errors import RobikError
from ..scene.robot.parts import chosen_robot, robots

WIDE = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef"  # characters of Chinese and Japanese
ENDS = "、。，：；！？）」』】〉》・ー〜…％゛゜々ぁぃぅぇぉっゃゅょァィゥェォッャュョ"  # of these, none begins a line
PIECES = re.compile(
    rf"[ァ-ヺー]+[{ENDS}]*\s*|[{WIDE}][{ENDS}]*\s*|[^\s{WIDE}]+[{ENDS}]*\s*|\s+"
)  # words, also of Katakana


class TabPanel(Panel):
    """A panel of the tab RobIK."""

    bl_idname = "ROBIK_PT_tab"  # never registered
    bl_label = ""
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "RobIK"


class FoldedPanel(TabPanel):
    """Folded away below a panel, once there is a robot."""

    bl_idname = "ROBIK_PT_tab_folded"  # never registered
    bl_label = "Advanced"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        return bool(robots(context.scene))


def robot_now(context: Context) -> Object | None:
    """Return the robot that the panels work on; None where there is none, or none is chosen of several."""
    try:
        return chosen_robot(context.scene)
    except RobikError:
        return None


def robot_or_hint(context: Context, layout: UILayout) -> Object | None:
    """Return the robot that the panels work on; where there is none, a line says what to do, and None."""
    root = robot_now(context)
    if root is None:
        line(layout, "Import a robot first" if not robots(context.scene) else "Choose a robot above", "INFO")
    return root


def axes(layout: UILayout, data: PropertyGroup, name: str, text: str) -> None:
    """Three numbers of a property, each with its axis."""
    column = layout.column(align=True)
    for k, axis in enumerate("XYZ"):
        column.prop(data, name, index=k, text=f"{pgettext_iface(text)} {axis}" if k == 0 else axis)


def jump(row: UILayout, frame: int, motor: str = "", why: str = "", tight: bool = False) -> None:
    """Draw a button that goes to a frame."""
    button = row.operator("robik.go_to_frame", text=str(frame), icon="ERROR" if tight else "PLAY")
    button.frame, button.motor, button.why = frame, motor, pgettext_iface(why)


def line(layout: UILayout, text: str, icon: str = "NONE", share: float = 1.0) -> None:
    """One line of status, translated, broken where the sidebar's end, or that of its share of it, would cut it."""
    column = layout.column(align=True)
    column.scale_y = 0.85
    for k, part in enumerate(_wrapped(pgettext_iface(text), round(share * (42 if icon == "NONE" else 36)))):
        own = icon if k == 0 else "BLANK1" if icon != "NONE" else "NONE"
        column.label(text=part, icon=own, translate=False)  # Blender would translate a word that stands alone


def _wrapped(text: str, width: int) -> list[str]:
    """Return the lines of a text, each at most so wide, broken between words and characters of Chinese or Japanese."""
    lines = [""]
    for piece in PIECES.findall(text):
        if lines[-1] and _width(lines[-1] + piece.rstrip()) > width:
            lines.append("")
        lines[-1] += piece
    return [one.strip() for one in lines]


def _width(text: str) -> int:
    """Return the width in Latin letters; a Chinese or Japanese character is as wide as two."""
    return sum(1 + (east_asian_width(character) in "WF") for character in text)
