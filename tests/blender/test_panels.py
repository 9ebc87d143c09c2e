"""Panels by use: what is drawn in which state, how many controls that are, and that no text is cut in any language."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import pytest

from tests.blender import installed, scenes
from tests.blender.sheet import Sheet, Words

pytestmark = pytest.mark.usefixtures("empty_scene")
MOST = 12  # controls that are open in a panel
BAKE = ("ROBIK_PT_bake", "ROBIK_PT_bake_motors", "ROBIK_PT_bake_style", "ROBIK_PT_bakes", "ROBIK_PT_stand")
SPEAKING = ("panels.tab", "panels.bake.verdict", "scene.bake.result")  # besides panels themselves
LANGUAGES = ("en_US", *(pytest.param(other, marks=pytest.mark.one_blender) for other in ("ja_JP", "zh_HANS")))


def panels() -> list[type[bpy.types.Panel]]:
    modules = installed.module("panels").MODULES
    return [cls for module in modules for cls in module.CLASSES if issubclass(cls, bpy.types.Panel)]


def drawn(name: str, words: Words = lambda _context, text: text) -> Sheet | None:
    """What a panel draws now; None where it is not shown."""
    panel = next(cls for cls in panels() if cls.bl_idname == name)
    if not getattr(panel, "poll", lambda _context: True)(bpy.context):
        return None
    sheet = Sheet(words)
    panel.draw(SimpleNamespace(layout=sheet), bpy.context)
    return sheet


def spoken(language: str, monkeypatch: pytest.MonkeyPatch) -> Words:
    """Let panels speak a language, which Blender's module itself is built without."""
    told = installed.module("translations").languages().get(language, {})

    def words(context: str, text: str) -> str:
        return told.get((context, text), text)

    for module in (*installed.module("panels").MODULES, *map(installed.module, SPEAKING)):
        monkeypatch.setattr(module, "pgettext_iface", lambda text, context="*": words(context, text), raising=False)
        monkeypatch.setattr(module, "sentence", lambda text, **values: words("*", text).format(**values), raising=False)
    return words


def baked_squats() -> bpy.types.Object:
    root = scenes.squats()
    assert bpy.ops.robik.bake() == {"FINISHED"}
    return root


def controls(name: str) -> list[str]:
    sheet = drawn(name)
    return [] if sheet is None else sheet.controls


def test_a_bake_is_frames_look_ahead_one_button_and_follow_live() -> None:
    baked_squats()
    assert controls("ROBIK_PT_bake") == [
        "use_range", "frame_start", "frame_end", "look_ahead", "robik.bake", "ROBIK_MT_bake", "on", "tracker",
    ]  # fmt: skip


def test_no_panel_of_the_bake_has_more_controls_than_one_looks_through() -> None:
    root = baked_squats()
    bake = root.robik.robot.bake
    bake.use_range = bake.cyclic = bake.soften = bake.own_jerk = bake.own_acceleration = True
    for name in BAKE:
        assert len(controls(name)) <= MOST, name


def test_what_look_ahead_makes_obsolete_is_not_drawn() -> None:
    bake = scenes.squats(2).robik.robot.bake
    ahead = set(controls("ROBIK_PT_bake_motors"))
    bake.look_ahead = False
    alone = set(controls("ROBIK_PT_bake_motors"))
    assert ahead - alone == {"own_acceleration", "own_jerk", "torque", "zero_moment"}
    assert alone - ahead == {"soften"}
    bake.look_ahead = bake.soften = True
    assert {"soften", "velocity_weight"} <= set(controls("ROBIK_PT_bake_motors")), "what acts is seen"


def test_limits_are_the_motors_until_own_ones_are_asked_for() -> None:
    root = scenes.squats(2)
    bake = root.robik.robot.bake
    asked = scenes.request_of(root).settings
    assert (asked.acceleration, asked.jerk) == (0.0, 0.0)
    assert not {"acceleration", "jerk"} & set(controls("ROBIK_PT_bake_motors"))
    bake.own_acceleration = bake.own_jerk = True
    assert {"acceleration", "jerk"} <= set(controls("ROBIK_PT_bake_motors"))
    asked = scenes.request_of(root).settings
    assert (asked.acceleration, asked.jerk) == pytest.approx((100.0, 5000.0))
    bake.own_acceleration = bake.own_jerk = False
    assert (bake.acceleration, bake.jerk) == (0.0, 0.0)


def test_an_arm_is_not_asked_whether_it_stands() -> None:
    root, _ = scenes.punches(2)
    assert drawn("ROBIK_PT_stand") is None
    assert "zero_moment" not in controls("ROBIK_PT_bake_motors")
    assert bpy.ops.robik.bake() == {"FINISHED"}
    assert root.robik.robot.result.frames and drawn("ROBIK_PT_stand") is None


def test_a_robot_on_feet_is_asked_once_it_is_baked() -> None:
    scenes.squats(2)
    assert controls("ROBIK_PT_stand") == []
    assert "Bake first" in " ".join(drawn("ROBIK_PT_stand").said())
    assert bpy.ops.robik.bake() == {"FINISHED"}
    assert controls("ROBIK_PT_stand") == [
        "robik.test_in_physics", "robik.make_it_stand", "robik.rehearse", "carry_weight", "tilt_feedback",
    ]  # fmt: skip
    root = bpy.context.scene.robik.robot
    root.robik.robot.source = ""  # beside which its servos are
    assert controls("ROBIK_PT_stand")[-1] == "stiffness"


def test_the_worst_cause_comes_with_one_remedy() -> None:
    """At a hundredth of their speeds motors lag; looking ahead is the remedy, and where that is on, more time is."""
    root = scenes.squats(30)
    bake = root.robik.robot.bake
    bake.velocity_share, bake.look_ahead = 1.0, False
    assert bpy.ops.robik.bake() == {"FINISHED"}
    result = root.robik.robot.result
    assert result.held_back
    assert controls("ROBIK_PT_bake")[-2:] == ["robik.go_to_frame", "look_ahead"]
    bake.look_ahead = True
    assert controls("ROBIK_PT_bake")[-2:] == ["robik.go_to_frame", "robik.slow_down"]
    result.hold, result.hold_frame = "the motors lose hold of 'shin_l' at frame 7", 7
    cause = installed.module("panels.bake.verdict").worst_cause(root)
    assert (cause.frame, cause.remedy) == (7, None), "what no better following would help comes first"
    root["knee_l"] += 0.1
    root.keyframe_insert('["knee_l"]', frame=3)
    assert controls("ROBIK_PT_bake")[-1:] == ["robik.judge_again"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_text_is_cut_at_the_default_width(language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    root, words = baked_squats(), spoken(language, monkeypatch)
    result = root.robik.robot.result
    result.has_margin = result.has_contacts = True
    result.margin, result.margin_asked, result.tipping = 0.026, 0.033, 0.12
    bake = root.robik.robot.bake
    bake.use_range = bake.cyclic = bake.own_jerk = bake.own_acceleration = True
    cut = set()
    for look_ahead in (True, False):
        bake.look_ahead, bake.soften = look_ahead, not look_ahead
        for name in [cls.bl_idname for cls in panels()]:
            sheet = drawn(name, words)
            cut |= set() if sheet is None else {(name, text) for text in sheet.cut()}
    assert cut == set()


def test_without_targets_a_motion_can_be_imported_in_one_click() -> None:
    scenes.import_robot("walker")
    assert "robik.import_motion" in controls("ROBIK_PT_bake")
    scenes.add_squats(2)
    assert "robik.import_motion" not in controls("ROBIK_PT_bake")


def test_the_sheet_judges_texts_as_a_window_showed_them() -> None:
    """Blender 5.2 at the default width: the first two were cut there, the last two were not."""
    bake = scenes.import_robot("boxer").robik.robot.bake
    seen = {"Acceleration per s²": True, "Soften Above, per s": True, "Samples / Frame": False, "Motor Speed": False}
    for text, is_cut in seen.items():
        sheet = Sheet(lambda _context, text: text, is_split=True)
        sheet.prop(bake, "samples", text=text)
        assert bool(list(sheet.cut())) == is_cut, text
