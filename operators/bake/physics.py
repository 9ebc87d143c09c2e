"""Test in Physics: with progress and ESC in a window, straight through elsewhere."""

from collections.abc import Generator

from bpy.props import BoolProperty, IntProperty
from bpy.types import Context

from ...robik.physics.verdict import Verdict
from ...scene.bake.physics import physics_steps
from ...scene.long_work.steps import Progress
from ...scene.robot.parts import chosen_robot
from ...scene.servos.play import known_chain
from ..stepping import Stepping


class ROBIK_OT_test_in_physics(Stepping):
    """Play the bake in MuJoCo, undisturbed and under disturbances, and say whether the robot falls"""

    bl_idname = "robik.test_in_physics"
    bl_label = "Test in Physics"
    bl_options = {"REGISTER", "UNDO"}
    stopped = "Test stopped; nothing was changed"
    carry_weight: BoolProperty(
        name="Carry Weight",
        description="Tell the motors to go further by what they give way under the weight",
        default=False,
    )
    trials: IntProperty(name="Trials", description="How many disturbed trials", min=0, max=1000, default=20)

    def steps(self, context: Context) -> Generator[Progress, None, Verdict]:
        """Read the curves and simulate."""
        root = chosen_robot(context.scene)
        return physics_steps(context, root, known_chain(root, context.scene), self.carry_weight, self.trials)

    def done(self, context: Context, result: Verdict) -> None:
        """Say what became of it."""
        told = chosen_robot(context.scene).robik.robot.result.physics
        self.report({"INFO"} if result.stands else {"WARNING"}, told)


CLASSES = (ROBIK_OT_test_in_physics,)
