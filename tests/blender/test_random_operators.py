"""Operators in random order, with undo and redo between: none fails in other words than its own, and nothing is left
lying about.

ROBIK_RANDOM_CALLS says how many (default 60), ROBIK_RANDOM_SEED with which seed (default 0); what a run did is in its
output.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random

import bpy
import pytest
from bl_ext.user_default.robik.robik import robots
from bl_ext.user_default.robik.robik.errors import RobikError, UnconnectedError

from tests.blender import installed, scenes

pytestmark = pytest.mark.usefixtures("empty_scene")
CALLS, SEED = int(os.environ.get("ROBIK_RANDOM_CALLS", "60")), int(os.environ.get("ROBIK_RANDOM_SEED", "0"))


class User:
    """Somebody who tries everything."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.random, self.folder = Random(seed), folder
        self.steps = self.refused = 0

    def actions(self) -> list[Callable[[], None]]:
        """What can be done, the common things several times."""
        names = [name.removeprefix("_do_") for name in dir(self) if name.startswith("_do_")]
        return [getattr(self, f"_do_{name}") for name in names]

    def step(self) -> None:
        """One thing more."""
        action = self.random.choice(self.actions())
        self.steps += 1
        print(f"{self.steps} {action.__name__}", flush=True)  # at once: with -s it is there after a crash too
        action()

    def call(self, name: str, **properties: object) -> None:
        """An operator; it may refuse, in words of its own."""
        operator, before = getattr(bpy.ops.robik, name), pointers()
        print(f"    {name}({properties})", flush=True)
        try:
            operator("EXEC_DEFAULT", True, **properties)
        except RuntimeError as error:
            if "Traceback" in str(error) or not str(error).startswith("Error: "):
                raise
            self.refused += 1
            assert pointers() == before, f"{name} refused, which makes no undo step, but changed something"

    def root(self) -> bpy.types.Object | None:
        found = installed.module("scene.robot.parts").robots(bpy.context.scene)
        return self.random.choice(found) if found else None

    def target(self) -> bpy.types.PropertyGroup | None:
        targets = list(root.robik.robot.character.targets) if (root := self.root()) else []
        return self.random.choice(targets) if targets else None

    def changed(self, what: str) -> None:
        bpy.ops.ed.undo_push(message=what)

    def purged(self, what: str) -> None:
        """What deleting an object leaves behind is Blender's, not ours."""
        bpy.data.orphans_purge(do_recursive=True)
        self.changed(what)

    def _do_import(self) -> None:
        if len(installed.module("scene.robot.parts").robots(bpy.context.scene)) < 3:
            self.call("import_robot", filepath=str(robots.path(self.random.choice(["boxer", "walker", "dancer"]))))

    def _do_choose(self) -> None:
        bpy.context.scene.robik.robot = self.root()
        self.changed("Robot")

    def _do_bring_rig(self) -> None:
        if sum(o.type == "ARMATURE" for o in bpy.data.objects) < 2:
            scenes.walking_rig(frames=6)
            self.changed("Rig")

    def _do_map(self) -> None:
        root = self.root()
        rigs = [o for o in bpy.context.scene.objects if o.type == "ARMATURE"]
        if root is not None and rigs:
            root.robik.robot.character.rig = self.random.choice(rigs)
            self.changed("Rig of the character")
        self.call("auto_map", fit=self.random.random() < 0.7)

    def _do_target(self) -> None:
        name = self.random.choice(["add_target", "remove_target", "choose_source", "match_now", "fit_character"])
        self.call(name, **({"poses": self.random.choice(["NOW", "REST"])} if name == "match_now" else {}))

    def _do_setting(self) -> None:
        root = self.root()
        if root is None:
            return
        robot, r = root.robik.robot, self.random
        modes = ["OFF", "AUTO", "STILL", "MOVING", "OBJECT"]
        robot.balance.mode, robot.balance.pin_feet = r.choice(modes), r.random() < 0.5
        robot.bake.use_range, robot.bake.start, robot.bake.end = r.random() < 0.3, r.randint(-2, 5), r.randint(2, 9)
        robot.bake.samples, robot.bake.blend, robot.bake.velocity_share = (
            r.choice([1, 1, 2]),
            r.randint(0, 4),
            r.choice([100.0, 40.0]),
        )
        robot.bake.enforce_velocity, robot.bake.soften = r.random() < 0.5, r.random() < 0.5
        robot.character.fit_by, robot.character.stride = r.choice(["LEGS", "HEIGHT", "EXACT"]), r.choice([1.0, 1.3])
        if (target := self.target()) is not None:
            target.enabled, target.weight = r.random() < 0.8, r.choice([0.0, 1.0])
        self.changed("Settings")

    def _do_bake(self) -> None:
        self.call("bake")

    _do_bake_again = _do_bake

    def _do_kept_bake(self) -> None:
        self.call(self.random.choice(["use_bake", "remove_bake"]), index=self.random.randint(0, 3))

    def _do_polish(self) -> None:
        self.call(self.random.choice(["rebuild_bodies", "reduce_keys", "key_pose"]))

    def _do_mend(self) -> None:
        root = self.root()
        if root is None:
            return
        bodies, r = scenes.body_objects(root), self.random
        for shown in bpy.context.view_layer.objects:
            shown.select_set(shown in r.sample(bodies, min(2, len(bodies))))
        bpy.context.view_layer.objects.active = r.choice(bodies)
        name = r.choice(
            ["add_joint", "remove_joint", "set_ground", "set_motor", "set_limits", "set_mass", "rest_pose", "diagnose"]
        )
        joint = {"type": r.choice(["revolute", "spherical", "free"]), "actuated": r.random() < 0.3}
        self.call(name, **(joint if name == "add_joint" else {}))

    def _do_build(self) -> None:
        """Two plates on the floor, and something made of them."""
        if len(installed.module("scene.robot.parts").robots(bpy.context.scene)) > 3:
            return
        for shown in bpy.context.view_layer.objects:
            shown.select_set(False)
        for k in range(2):
            mesh = bpy.data.meshes.new("plate")
            mesh.from_pydata(
                [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 0.1)], [], [(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)]
            )
            plate = bpy.data.objects.new("plate", mesh)
            plate.location.x = k
            bpy.context.scene.collection.objects.link(plate)
            plate.select_set(True)
            bpy.context.view_layer.objects.active = plate
        self.changed("Plates")
        self.call(self.random.choice(["make_robot", "add_joint"]))

    def _do_contacts(self) -> None:
        name = self.random.choice(["detect_contacts", "add_phase", "move_phase", "remove_phase"])
        target = self.target()
        foot = target.frame if target is not None else "foot_l"
        phase = {"foot": foot, "index": self.random.randint(0, 2)}
        start = self.random.randint(-2, 6)
        moved = {**phase, "start": start, "end": start + self.random.randint(-1, 4)}
        given = {"detect_contacts": {}, "add_phase": {"foot": foot}, "move_phase": moved, "remove_phase": phase}
        self.call(name, **given[name])

    def _do_preset(self) -> None:
        file = self.folder / "presets" / "any.py"
        self.call("load_mapping", filepath=str(file))

    def _do_show(self) -> None:
        self.call("show_joints", show=self.random.random() < 0.5)

    def _do_reload(self) -> None:
        self.call("reload_robot")

    def _do_export(self) -> None:
        files = {
            "motion.csv": "export_motion",
            "report.html": "report",
            "scene.xml": "export_scene",
            "robot.urdf": "export_robot",
            "robot.robik.json": "export_robot",
        }
        file = self.random.choice(list(files))
        self.call(files[file], filepath=str(self.folder / file))

    def _do_ghost(self) -> None:
        """As while servos are connected."""
        ghost, root = installed.module("scene.overlay.ghost"), self.root()
        if root is not None and self.random.random() < 0.7:
            try:
                ghost.show(root, dict.fromkeys(scenes.read(root).actuators, 0.1))
            except RobikError:
                self.refused += 1
        else:
            ghost.hide()

    def _do_follow(self) -> None:
        follow, root = installed.module("scene.bake.follow"), self.root()
        if root is not None:
            follow.step(root, bpy.context.scene, bpy.context.evaluated_depsgraph_get(), 1 / 60)

    def _do_preflight(self) -> None:
        self.call("preflight")

    def _do_frame(self) -> None:
        bpy.context.scene.frame_set(self.random.randint(-3, 12), subframe=self.random.choice([0.0, 0.5]))

    def _do_slider(self) -> None:
        root = self.root()
        if root is None:
            return
        names = [name for name, value in root.items() if isinstance(value, float)]
        if names:
            root[self.random.choice(names)] += self.random.uniform(-0.3, 0.3)
            root.update_tag()
            bpy.context.view_layer.update()
            self.changed("Slider")

    def _do_rename(self) -> None:
        if bpy.data.objects:
            self.random.choice(list(bpy.data.objects)).name = self.random.choice(["a", "ß", "very " * 20, "walker"])
            self.changed("Rename")

    def _do_delete_source(self) -> None:
        if (target := self.target()) is not None and target.source is not None and self.random.random() < 0.4:
            bpy.data.objects.remove(target.source)
            self.purged("Delete")

    def _do_duplicate(self) -> None:
        root = self.root()
        if root is None or len(bpy.data.objects) > 250:
            return
        if self.random.random() < 0.5:
            self.call("duplicate_robot")
        else:  # as Shift+D does with all of a robot selected
            for part in (root, *root.children_recursive):
                part.hide_set(False)
            for part in bpy.context.scene.objects:
                part.select_set(part == root or part in root.children_recursive)
            bpy.ops.object.duplicate("EXEC_DEFAULT", True)

    def _do_delete_robot(self) -> None:
        root = self.root()
        if root is not None and self.random.random() < 0.2:
            bpy.data.batch_remove([root, *root.children_recursive])
            self.purged("Delete robot")

    def _do_undo(self) -> None:
        for _ in range(self.random.randint(1, 4)):
            if bpy.ops.ed.undo.poll():
                bpy.ops.ed.undo()

    _do_undo_again = _do_undo

    def _do_redo(self) -> None:
        for _ in range(self.random.randint(1, 4)):
            if bpy.ops.ed.redo.poll():
                bpy.ops.ed.redo()


def pointers() -> list[object]:
    """What refers to objects. An undo keeps what two of its steps have alike as it is now: a pointer that was changed
    without a step of its own outlives what it points to, and Blender crashes."""
    found: list[object] = [bpy.context.scene.robik.robot, *bpy.data.objects]
    for part in bpy.data.objects:
        robot, joint = part.robik.robot, part.robik.joint
        found += [
            joint.parent,
            joint.child,
            robot.character.rig,
            robot.balance.target,
            *(t.source for t in robot.character.targets),
        ]
    return found


def check() -> None:
    """Nothing is half there."""
    names = ("robot.parts", "bake.bakes", "robot.reading")
    parts, bakes, reading = (installed.module(f"scene.{name}") for name in names)
    assert len(bpy.data.scenes) == 1
    assert installed.module("scene.robot.posing")._paused == 0
    for part in bpy.data.objects:
        if part.robik.kind != "NONE":
            assert parts.robot_of(part) is not None, f"{part.name} belongs to no robot"
    for root in parts.robots(bpy.context.scene):
        with suppress(UnconnectedError):  # it is being built
            assert reading.read_robot(root).bodies
        assert -1 <= bakes.in_use(root) < len(root.robik.robot.bakes)
        for bake in root.robik.robot.bakes:
            assert all(part.action is not None for part in bake.parts), f"{bake.name} has lost an action"
    lost = [block.name for block in (*bpy.data.actions, *bpy.data.meshes, *bpy.data.collections) if block.users == 0]
    lost += [made.name for made in bpy.data.objects if not made.users_scene]
    assert not lost, f"nobody uses {lost}"


def test_anything_in_any_order(tmp_path: Path) -> None:
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 6
    bpy.ops.ed.undo_push(message="Start")
    user = User(SEED, tmp_path)
    bpy.ops.robik.import_robot("EXEC_DEFAULT", True, filepath=str(robots.path("boxer")))
    for _ in range(CALLS):
        user.step()
        check()
    assert user.refused < CALLS
