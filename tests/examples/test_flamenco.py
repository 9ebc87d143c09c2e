"""The Flamenco job type: its settings, its tasks and what they wait for. What they do is tests/blender's part."""

from __future__ import annotations

from tests.examples.flamenco import compiled

JOB = {"parts": 3, "folder": "/farm/motions", "blendfile": "/farm/scene.blend"}
KINDS = {"string", "int32", "float", "bool"}
KEYS = {"key", "type", "subtype", "default", "required", "propargs", "visible", "eval", "evalInfo", "description"}


def test_the_settings_are_of_kinds_that_flamenco_knows() -> None:
    rows = compiled(JOB)["settings"]
    assert {row["type"] for row in rows} <= KINDS and all(set(row) <= KEYS for row in rows)
    assert all(row["visible"] in ("web", "submission", "hidden", "visible") for row in rows)


def test_parts_run_beside_each_other_and_the_table_comes_last() -> None:
    tasks = compiled(JOB)["tasks"]
    assert [task["name"] for task in tasks] == ["part-1", "part-2", "part-3", "table"]
    assert [task["after"] for task in tasks] == [[], [], [], ["part-1", "part-2", "part-3"]]
    assert {task["type"] for task in tasks} == {"blender"}
    commands = [command for task in tasks for command in task["commands"]]
    assert {(command["name"], command["parameters"]["exe"]) for command in commands} == {("exec", "{blender}")}
    shared = ["--background", "/farm/scene.blend", "--command", "robik", "batch", "--folder", "/farm/motions"]
    shared += ["--format", "csv"]
    assert [command["parameters"]["args"] for command in commands] == [
        *([*shared, "--shard", f"{k}/3", "--errors-in-table"] for k in (1, 2, 3)),
        shared,
    ]


def test_choices_become_words() -> None:
    chosen = {"format": "mjlab-npz", "rate": 50.0, "strips": True, "only": "walk*", "robot": "g1"}
    words = compiled(JOB | chosen)["tasks"][-1]["commands"][0]["parameters"]["args"]
    assert words[7:] == [
        "--format", "mjlab-npz", "--rate", "50", "--strips", "--only", "walk*", "--robot", "g1",
    ]  # fmt: skip
    assert compiled(JOB | {"parts": 0})["error"] == "The number of parts must be 1 or more, not 0"
