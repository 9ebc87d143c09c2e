"""After the bake: bodies from curves, fewer keys, keys by hand."""

from math import degrees, radians

from bpy.props import FloatProperty
from bpy.types import Context

from ...robik.words import counted
from ...scene.bake.curves import rebuild_bodies
from ...scene.bake.mirror import flip_pose, mirror_motion
from ...scene.bake.polish import key_pose, reduce_motors
from ...scene.robot.parts import changeable_robot
from ..reporting import Reporting

SHOWN = 8  # frames that a message lists


class ROBIK_OT_rebuild_bodies(Reporting):
    """Key the bodies again from the motors' curves, after these were edited"""

    bl_idname = "robik.rebuild_bodies"
    bl_label = "Rebuild Bodies"
    bl_options = {"REGISTER", "UNDO"}

    def run(self, context: Context) -> set[str]:
        """Run the curves through forward kinematics."""
        root = changeable_robot(context.scene)
        _warn(self, rebuild_bodies(root, context.scene))
        return {"FINISHED"}


class ROBIK_OT_reduce_keys(Reporting):
    """Thin out the motors' keys for editing by hand; the curves stay within the tolerance at every sample"""

    bl_idname = "robik.reduce_keys"
    bl_label = "Reduce Keys"
    bl_options = {"REGISTER", "UNDO"}

    angle: FloatProperty(
        name="Tolerance",
        description="How far a motor that turns may be from where it was",
        subtype="ANGLE",
        unit="ROTATION",
        min=1e-5,
        default=radians(0.1),
    )
    length: FloatProperty(
        name="Tolerance of Slides",
        description="How far a motor that slides may be from where it was",
        unit="LENGTH",
        min=1e-6,
        default=1e-4,
        precision=5,
    )

    def run(self, context: Context) -> set[str]:
        """Replace the keys and says what came of it."""
        done = reduce_motors(changeable_robot(context.scene), context.scene, self.angle, self.length)
        within = [] if done.turned_off is None else [f"motors within {degrees(done.turned_off):.3f}°"]
        within += [] if done.slid_off is None else [f"slides within {1e3 * done.slid_off:.2f} mm"]
        within.append(f"bodies within {1e3 * done.bodies_off:.2f} mm")
        self.report({"INFO"}, f"{done.before} keys became {done.after}: {', '.join(within)}")
        _warn(self, done.broken)
        return {"FINISHED"}


class ROBIK_OT_key_pose(Reporting):
    """Key all motors as the sliders stand, in this frame; the bodies follow"""

    bl_idname = "robik.key_pose"
    bl_label = "Key Pose"
    bl_options = {"REGISTER", "UNDO"}

    def run(self, context: Context) -> set[str]:
        """Set the keys, and rebuilds bodies that have keys of their own."""
        root, scene = changeable_robot(context.scene), context.scene
        if key_pose(root, scene.frame_current + scene.frame_subframe):
            _warn(self, rebuild_bodies(root, scene))
        return {"FINISHED"}


def _warn(operator: Reporting, broken: list[float]) -> None:
    """Say in which frames the loops do not close."""
    if broken:
        listed = ", ".join(f"{frame:g}" for frame in broken[:SHOWN]) + (" …" if len(broken) > SHOWN else "")
        operator.report(
            {"WARNING"},
            f"The loops do not close in {counted(len(broken), 'frame')} ({listed}): move the motors' curves there",
        )


class ROBIK_OT_flip_pose(Reporting):
    """Let the left side take the right side's pose, and the right side the left's; key it as any other pose"""

    bl_idname = "robik.flip_pose"
    bl_label = "Flip Pose"
    bl_options = {"REGISTER", "UNDO"}

    def run(self, context: Context) -> set[str]:
        """Move the sliders."""
        if alone := flip_pose(changeable_robot(context.scene)):
            self.report({"INFO"}, f"{', '.join(alone)} {'has' if len(alone) == 1 else 'have'} no counterpart")
        return {"FINISHED"}


class ROBIK_OT_mirror_motion(Reporting):
    """Make the mirror image of this motion a bake of its own: what the left side did, the right side does"""

    bl_idname = "robik.mirror_motion"
    bl_label = "Mirror Motion"
    bl_options = {"REGISTER", "UNDO"}

    def run(self, context: Context) -> set[str]:
        """Write the image beside the other bakes."""
        frames = mirror_motion(changeable_robot(context.scene), context.scene)
        self.report({"INFO"}, f"{counted(frames, 'frame')} mirrored, as a bake of their own")
        return {"FINISHED"}


CLASSES = (
    ROBIK_OT_rebuild_bodies, ROBIK_OT_reduce_keys, ROBIK_OT_key_pose, ROBIK_OT_flip_pose, ROBIK_OT_mirror_motion,
)  # fmt: skip
