// SPDX-License-Identifier: GPL-3.0-or-later
//
// Flamenco job type: bake all actions of a character onto its robot, in parts, on a render farm.
// Put it into the folder `scripts` beside Flamenco Manager. Each worker's Blender needs RobIK.

const JOB_TYPE = {
    label: "RobIK: Bake All Actions",
    description: "Bake every action of the character onto its robot, and write a motion of each, and a table",
    settings: [
        { key: "parts", type: "int32", default: 8, required: true, propargs: {min: 1, max: 1000}, visible: "submission",
          description: "Number of tasks that share the actions" },
        { key: "folder", type: "string", subtype: "dir_path", required: true, visible: "submission",
          eval: "abspath('//motions')",
          evalInfo: { showLinkButton: true, description: "Folder 'motions' beside the Blend file" },
          description: "Where the motions and the table are written; all workers see it" },
        { key: "format", type: "string", required: true, default: "csv", visible: "submission",
          description: "Format of the motions, as 'robik export' names it" },
        { key: "rate", type: "float", default: 0.0, propargs: {min: 0.0}, visible: "submission",
          description: "Samples per second; 0 for those of the scene" },
        { key: "strips", type: "bool", default: false, visible: "submission",
          description: "Bake the strips of the character's NLA instead of its actions" },
        { key: "only", type: "string", default: "", visible: "submission",
          description: "Only those whose names fit, such as 'walk*'; empty for all" },
        { key: "robot", type: "string", default: "", visible: "submission",
          description: "Root object of the robot, where the scene has several" },

        // Set by Flamenco:
        { key: "blendfile", type: "string", required: true, visible: "web", description: "Path of the Blend file" },
    ]
};

function compileJob(job) {
    const settings = job.settings;
    if (!(settings.parts >= 1)) {
        throw `The number of parts must be 1 or more, not ${settings.parts}`;
    }
    // What cannot be baked is a line in the table: it stops no part, and the table's task tells of it at the end.
    const table = bakeTask("table", settings, []);
    for (let k = 1; k <= settings.parts; k++) {
        const part = bakeTask(`part-${k}`, settings, ["--shard", `${k}/${settings.parts}`, "--errors-in-table"]);
        table.addDependency(part);
        job.addTask(part);
    }
    job.addTask(table);
}

// What is baked already is not baked again: after all parts this only writes the table of all.
function bakeTask(name, settings, more) {
    const words = ["--background", settings.blendfile, "--command", "robik", "batch"];
    words.push("--folder", settings.folder, "--format", settings.format);
    if (settings.rate > 0) words.push("--rate", `${settings.rate}`);
    if (settings.strips) words.push("--strips");
    if (settings.only) words.push("--only", settings.only);
    if (settings.robot) words.push("--robot", settings.robot);
    const task = author.Task(name, "blender");
    task.addCommand(author.Command("exec", { exe: "{blender}", args: words.concat(more) }));
    return task;
}
