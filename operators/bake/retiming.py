"""After the bake: later where motors cannot keep up, and without a vibration. What it costs is shown before."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import bpy
from bpy.props import BoolProperty, FloatProperty, StringProperty
from bpy.types import Context, Event

from ...robik.errors import RobikError
from ...robik.motions import Motion
from ...robik.retiming import Slowed, measured_vibration
from ...robik.servo.port.recording import load_recording
from ...robik.words import counted
from ...scene.bake.retimed import calmed, keep, slowing
from ...scene.long_work.steps import Progress
from ...scene.robot.parts import changeable_robot
from ..reporting import Reporting
from ..stepping import Stepping


@dataclass(frozen=True, kw_only=True)
class Offer:
    """A motion that a user may keep.

    Attributes:
        robot: name of the robot's root.
        motion: the motion.
        cost: what it costs, in words.
    """

    robot: str
    motion: Motion
    cost: str


_offers: list[Offer] = []  # the last one, until it is kept


class ROBIK_OT_slow_down(Stepping):
    """Keep the way and give up time: the same motion, later where motors cannot keep up. Says first what it costs"""

    bl_idname = "robik.slow_down"
    bl_label = "Slow Down Where Needed"
    bl_options = {"REGISTER", "UNDO"}

    def steps(self, context: Context) -> Generator[Progress, None, Slowed]:
        """Find the quickest way along the path."""
        return slowing(changeable_robot(context.scene), context.scene)

    def done(self, context: Context, result: Slowed) -> None:
        root, told = changeable_robot(context.scene), str(result)
        if lag := root.robik.robot.result.held_back:
            told += f"; {counted(lag, 'sample')} of this bake lag: one without Keep Motor Speeds goes all the way"
        offer = Offer(robot=root.name, motion=result.motion, cost=told)
        if not self.options.is_invoke:
            _keep(self, context, offer)
            return
        _offers[:] = [offer]
        bpy.ops.robik.keep_slower("INVOKE_DEFAULT")


class ROBIK_OT_calm_vibration(Reporting):
    """Shape the motion so that it does not shake the robot at a frequency, which is given or measured"""

    bl_idname = "robik.calm_vibration"
    bl_label = "Calm Vibration"
    bl_options = {"REGISTER", "UNDO"}

    frequency: FloatProperty(
        name="Frequency per s",
        description="How often a second the robot shakes",
        min=0.1,
        soft_max=20.0,
        default=5.0,
    )
    recording: StringProperty(
        name="Or Measure In",
        description="A recording of servos (telemetry.csv), in which the strongest vibration is looked for",
        subtype="FILE_PATH",
    )

    def invoke(self, context: Context, event: Event) -> set[str]:
        """Ask for the frequency."""
        return context.window_manager.invoke_props_dialog(self, width=480, confirm_text="Calm")

    def run(self, context: Context) -> set[str]:
        """Shape the motion, and keep it as a bake of its own."""
        root, frequency, seen = changeable_robot(context.scene), self.frequency, ""
        if self.recording:
            file = Path(bpy.path.abspath(self.recording))
            frequency, name, share = measured_vibration(load_recording(file))
            seen = f"; best seen in {name} ({100 * share:.0f} % of its error)"
        motion, by = calmed(root, context.scene, frequency)
        cost = f"{by.length:.3g} s longer, so that {frequency:.3g} Hz are not excited{seen}"
        _keep(self, context, Offer(robot=root.name, motion=motion, cost=cost))
        return {"FINISHED"}


class ROBIK_OT_keep_slower(Reporting):
    """Key the slower motion that was found as a bake of its own, beside the others"""

    bl_idname = "robik.keep_slower"
    bl_label = "Keep the Slower Motion"
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}

    extend: BoolProperty(
        name="Extend Scene",
        description="Let the scene end with the motion, where it would end before",
        default=True,
    )

    def invoke(self, context: Context, event: Event) -> set[str]:
        """Show what it costs."""
        return context.window_manager.invoke_props_dialog(self, width=480, confirm_text="Keep")

    def draw(self, context: Context) -> None:
        """Draw what it costs, and the choice."""
        for part in _offers[0].cost.split("; ") if _offers else ():
            self.layout.label(text=part[:1].upper() + part[1:])
        self.layout.prop(self, "extend")

    def run(self, context: Context) -> set[str]:
        """Write the motion."""
        root = changeable_robot(context.scene)
        if not _offers or _offers[0].robot != root.name:
            raise RobikError(f"there is no slower motion of robot {root.name!r} to keep; click Slow Down first")
        _keep(self, context, _offers.pop(), self.extend)
        return {"FINISHED"}


def _keep(operator: Reporting, context: Context, offer: Offer, extends: bool = True) -> None:
    """Key a motion as a bake of its own, let the scene end with it where that is wanted, and say so."""
    scene = context.scene
    last = round(keep(changeable_robot(scene), scene, offer.motion))
    if extends and scene.frame_end < last:
        scene.frame_end = last
    operator.report({"INFO"}, f"{offer.cost}; it ends in frame {last}, as a bake of its own")


CLASSES = (ROBIK_OT_slow_down, ROBIK_OT_calm_vibration, ROBIK_OT_keep_slower)
