"""Menu RobIK of the 3D view, which Blender's search (F3) looks through."""

from bpy.types import Context, Menu

ENTRIES = (
    (
        "robik.stop_servos",
        "robik.connect_servos",
        "robik.disconnect_servos",
        "robik.preflight",
        "robik.play_servos",
        "robik.live_servos",
        "robik.play_with_timeline",
        "robik.perform",
    ),
    (
        "robik.bake",
        "robik.bake_all_actions",
        "robik.test_in_physics",
        "robik.rehearse",
        "robik.make_it_stand",
        "robik.remove_ghost",
        "robik.rebuild_bodies",
        "robik.reduce_keys",
        "robik.key_pose",
        "robik.flip_pose",
        "robik.mirror_motion",
        "robik.slow_down",
        "robik.calm_vibration",
        "robik.judge_again",
        "robik.report",
        "robik.export_motion",
        "robik.export_scene",
        "robik.import_motion",
    ),
    (
        "robik.auto_map",
        "robik.add_handles",
        "robik.hear_vmc",
        "robik.add_target",
        "robik.match_now",
        "robik.fit_character",
        "robik.detect_contacts",
    ),
    ("robik.add_character", "robik.import_recording", "robik.make_loop", "robik.export_character"),
    (
        "robik.gallery",
        "robik.import_robot",
        "robik.reload_robot",
        "robik.duplicate_robot",
        "robik.diagnose",
        "robik.rest_pose",
        "robik.export_robot",
    ),
    (
        "robik.make_robot",
        "robik.remove_joint",
        "robik.set_motor",
        "robik.set_limits",
        "robik.set_ground",
        "robik.make_foot",
    ),
)


class ROBIK_MT_main(Menu):
    """All that RobIK does."""

    bl_idname = "ROBIK_MT_main"
    bl_label = "RobIK"

    def draw(self, context: Context) -> None:
        self.layout.operator_context = "INVOKE_DEFAULT"
        for k, group in enumerate(ENTRIES):
            if k:
                self.layout.separator()
            for name in group:
                self.layout.operator(name)


def in_header(self: Menu, _context: Context) -> None:
    """At the end of the 3D view's menus."""
    self.layout.menu(ROBIK_MT_main.bl_idname)


CLASSES = (ROBIK_MT_main,)
