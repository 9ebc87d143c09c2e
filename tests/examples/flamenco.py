"""Compiles a Flamenco job type as Flamenco Manager does: its script in an interpreter with `author` and a job."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

JOB_TYPE = Path(__file__).parents[2] / "examples/flamenco/robik_bake_all_actions.js"
MANAGER = """
const author = {
    Task: (name, type) => ({name, type, commands: [], after: [],
        addCommand(command) { this.commands.push(command) }, addDependency(task) { this.after.push(task.name) }}),
    Command: (name, parameters) => ({name, parameters}),
};
const tasks = [], settings = {};
for (const row of JOB_TYPE.settings) if ("default" in row) settings[row.key] = row.default;
try {
    compileJob({settings: Object.assign(settings, %s), addTask: task => tasks.push(task)});
    console.log(JSON.stringify({settings: JOB_TYPE.settings, tasks}));
} catch (error) {
    console.log(JSON.stringify({error: String(error)}));
}
"""


def compiled(settings: dict[str, Any]) -> dict[str, Any]:
    """Return what a job with these settings becomes: its settings' rows and its tasks, or an error."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs node, to run the script as Flamenco Manager does")
    script = JOB_TYPE.read_text() + MANAGER % json.dumps(settings)
    done = subprocess.run([node, "-"], input=script, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)
