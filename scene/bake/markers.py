"""Timeline markers where a robot falls short.

Markers take no custom properties in every Blender, so the scene remembers which ones are RobIK's, by name and frame.
One that a user renames or moves is the user's from then on, like all that were there before.
"""

from __future__ import annotations

from bpy.types import Object, Scene

from ..robot.parts import robots

MOST = 40  # markers of a robot: more would only be a blur
LONGEST = 40  # characters of a marker's name


def mark_short(root: Object, scene: Scene) -> None:
    """Replace a robot's markers by one for each run of frames that fall short, the longest first.

    It stands at the worst frame of the run.
    """
    clear_markers(root, scene)
    for row in sorted(root.robik.robot.result.short, key=lambda row: row.first - row.last)[:MOST]:
        name = row.name.partition(";")[0][:LONGEST]
        made = scene.timeline_markers.new(name, frame=row.frame)
        made.select = False
        remembered = scene.robik.markers.add()
        remembered.name, remembered.frame, remembered.root = made.name, made.frame, root


def clear_markers(root: Object, scene: Scene) -> None:
    """Remove the markers of a robot, and those of robots that are not there any more."""
    others = {robot for robot in robots(scene) if robot != root}
    remembered = scene.robik.markers
    for k in reversed(range(len(remembered))):
        if remembered[k].root in others:
            continue
        found = next(
            (m for m in scene.timeline_markers if (m.name, m.frame) == (remembered[k].name, remembered[k].frame)), None
        )
        if found is not None:
            scene.timeline_markers.remove(found)
        remembered.remove(k)
