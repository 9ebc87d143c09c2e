"""Test in Physics: with progress and ESC in a window, straight through elsewhere."""

from collections.abc import Generator
from pathlib import Path
from threading import Event

import bpy
from bpy.props import IntProperty, StringProperty
from bpy.types import Context
from bpy_extras.io_utils import ExportHelper

from ...robik.errors import RobikError
from ...robik.motions.penetration import Penetration
from ...robik.physics.rehearsal import Rehearsal
from ...robik.physics.standing import Search
from ...robik.physics.verdict import Verdict
from ...robik.report.shortfall import millimetres
from ...scene.bake.ghost import COLORS, remove_ghost
from ...scene.bake.penetration import penetration_steps
from ...scene.bake.physics import export_scene, physics_steps
from ...scene.bake.rehearse import rehearse_steps
from ...scene.bake.stand import choose, stand_steps
from ...scene.long_work.steps import Progress
from ...scene.robot.chain import robot_motors
from ...scene.robot.parts import changeable_robot, chosen_robot
from ..reporting import Reporting
from ..stepping import Stepping


class ROBIK_OT_test_in_physics(Stepping):
    """Play the bake in MuJoCo, undisturbed and under disturbances, and say whether the robot falls"""

    bl_idname = "robik.test_in_physics"
    bl_label = "Test in Physics"
    bl_options = {"REGISTER", "UNDO"}
    stopped = "Test stopped; nothing was changed"
    trials: IntProperty(name="Trials", description="How many disturbed trials", min=0, max=1000, default=20)

    def steps(self, context: Context) -> Generator[Progress, None, Verdict]:
        """Read the curves and simulate."""
        root = chosen_robot(context.scene)
        carry = root.robik.robot.physics.carry_weight
        return physics_steps(context, root, robot_motors(root, context.scene), carry, self.trials)

    def done(self, context: Context, result: Verdict) -> None:
        told = chosen_robot(context.scene).robik.robot.result.physics
        self.report({"INFO"} if result.stands else {"WARNING"}, told)


class ROBIK_OT_export_scene(Reporting, ExportHelper):
    """Write the robot on a floor with soles, motors and the bake as keys: MuJoCo's viewer plays it as it is"""

    bl_idname = "robik.export_scene"
    bl_label = "Export MuJoCo Scene"
    bl_options = {"REGISTER"}
    filename_ext = ".xml"
    filter_glob: StringProperty(default="*.xml", options={"HIDDEN"})

    def run(self, context: Context) -> set[str]:
        """Write scene and robot, and say what cannot be shown."""
        context.view_layer.update()
        root, path = chosen_robot(context.scene), Path(bpy.path.abspath(self.filepath))
        carry = root.robik.robot.physics.carry_weight
        for sentence in export_scene(root, context.scene, robot_motors(root, context.scene), carry, path):
            self.report({"WARNING"}, sentence)
        self.report({"INFO"}, f"python -m mujoco.viewer --mjcf={path} shows it")
        return {"FINISHED"}


class ROBIK_OT_make_it_stand(Stepping):
    """Try in physics what makes the bake stand, and use the least change that does; each attempt is a bake"""

    # set-points that carry the weight, stiffer servos, more margin, a balance that knows momentum, a slower pace,
    # shorter swings, softer landings; enough is to stand in nine of ten trials
    bl_idname = "robik.make_it_stand"
    bl_label = "Make It Stand"
    bl_options = {"REGISTER", "UNDO"}
    stopped = "Stopped; nothing was changed"
    trials: IntProperty(name="Trials", description="How many disturbed trials", min=1, max=1000, default=20)

    def steps(self, context: Context) -> Generator[Progress, None, Search]:
        """Try one thing after the other."""
        root = changeable_robot(context.scene)
        return stand_steps(context, root, robot_motors(root, context.scene), self.trials)

    def done(self, context: Context, result: Search) -> None:
        best = result.best
        if best.stands:
            self.report({"INFO"}, f"{best.name}: {best.told()}")
        else:
            self.report(
                {"WARNING"}, "; ".join([f"nothing that was tried stands; {best.name} {best.told()}", *result.needs])
            )


class ROBIK_OT_rehearse(Stepping):
    """Try the bake in physics with a planner that changes the legs' goals until it stands, as a bake of its own"""

    bl_idname = "robik.rehearse"
    bl_label = "Rehearse"
    bl_options = {"REGISTER", "UNDO"}
    escape = "stop, and keep what stands until then"
    _ends: Event

    def steps(self, context: Context) -> Generator[Progress, None, Rehearsal]:
        """Read the curves and rehearse."""
        self._ends = Event()
        root = changeable_robot(context.scene)
        return rehearse_steps(context, root, robot_motors(root, context.scene), self._ends.is_set)

    def keeps(self) -> bool:
        is_first = not self._ends.is_set()
        self._ends.set()
        return is_first

    def done(self, context: Context, result: Rehearsal) -> None:
        self.report({"INFO"} if result.stands else {"WARNING"}, "; ".join(result.lines()))


class ROBIK_OT_judge_penetration(Stepping):
    """Find how deep the robot goes into itself and into the ground, by the convex hulls of its meshes"""

    bl_idname = "robik.judge_penetration"
    bl_label = "Judge Penetration"
    bl_options = {"REGISTER", "UNDO"}
    stopped = "Stopped; nothing was changed"

    def steps(self, context: Context) -> Generator[Progress, None, Penetration]:
        """Read the curves and judge them."""
        return penetration_steps(context, chosen_robot(context.scene))

    def done(self, context: Context, result: Penetration) -> None:
        is_deep = max(result.self_share, result.ground_share) > 0.0
        rows = chosen_robot(context.scene).robik.robot.result.penetration
        told = [f"{row.where} by {millimetres(row.depth)} at frame {row.frame}" for row in rows if row.where]
        self.report({"WARNING"} if is_deep else {"INFO"}, "; ".join(told) or str(result))


class ROBIK_OT_use_attempt(Reporting):
    """Let this attempt of Make It Stand move the robot; markers and the scene's end go to its pace"""

    bl_idname = "robik.use_attempt"
    bl_label = "Use Attempt"
    bl_options = {"REGISTER", "UNDO"}
    index: IntProperty(name="Attempt", min=0)

    def run(self, context: Context) -> set[str]:
        """Use its bake."""
        root = changeable_robot(context.scene)
        attempts = root.robik.robot.physics.attempts
        if self.index >= len(attempts):
            raise RobikError(f"there is no attempt {self.index}; there are {len(attempts)}")
        choose(root, context.scene, self.index)
        return {"FINISHED"}


class ROBIK_OT_remove_ghost(Reporting):
    """Remove the ghosts that show what the robot did in physics and how a motion file has it"""

    bl_idname = "robik.remove_ghost"
    bl_label = "Remove Ghost"
    bl_options = {"REGISTER", "UNDO"}

    def run(self, context: Context) -> set[str]:
        """Remove it."""
        root = chosen_robot(context.scene)
        for kind in COLORS:
            remove_ghost(root, kind)
        return {"FINISHED"}


CLASSES = (
    ROBIK_OT_test_in_physics, ROBIK_OT_export_scene, ROBIK_OT_make_it_stand, ROBIK_OT_judge_penetration,
    ROBIK_OT_rehearse, ROBIK_OT_use_attempt, ROBIK_OT_remove_ghost,
)  # fmt: skip
