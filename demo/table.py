"""Report as a short table."""

from __future__ import annotations


def table(report: dict) -> str:
    """Return the report for people."""
    naive, servos = report["naive"], report["servos"]
    rows = [("", "naive", "balanced")]
    for label, name, factor, form in (
        ("frames", "frames", 1, "{:.0f}"),
        ("farthest from a target", "position_error_max_m", 1e3, "{:.2f} mm"),
        ("on average", "position_error_mean_m", 1e3, "{:.3f} mm"),
        ("most turned from a target", "orientation_error_max_rad", 1e3, "{:.2f} mrad"),
        ("loops open at most", "constraint_residual_max", 1, "{:.1e} m"),
        ("time per frame, median", "ms_per_frame_median", 1, "{:.2f} ms"),
        ("ground's force inside the feet by", "zero_moment_margin_min_m", 1e3, "{:+.1f} mm"),
        ("frames that tip", "frames_tipping", 1, "{:.0f}"),
    ):
        rows.append((label, *(form.format(factor * r[name]) for r in (naive, report))))
    rows.append(("CoM off its target at most", "", f"{1e3 * report['com_error_max_m']:.2f} mm"))
    speeds = []
    for r in (naive, report):
        fastest = max(r["peak_velocity"], key=lambda name: r["peak_velocity"][name] / report["velocity_limit"][name])
        speeds.append(f"{r['peak_velocity'][fastest]:.2f} of {report['velocity_limit'][fastest]:.2f} rad/s")
    rows.append(("fastest motor", *speeds))
    left = max(len(row[0]) for row in rows)
    lines = [f"{label:<{left}}  {a:>20}  {b:>20}".rstrip() for label, a, b in rows]
    slow = "" if servos["slowed_down"] == 1 else f", {servos['slowed_down']:.1f} times slower than baked"
    lines += [
        "",
        f"{servos['servos']} simulated servos at {servos['rate_hz']:.0f} Hz{slow}: {servos['message']}",
        (
            f"{servos['packets']} packets of {servos['bytes_per_packet']} bytes,"
            f" {servos['ms_per_packet_on_the_bus']:.2f} ms each on the bus ({100 * servos['bus_load']:.0f} % of it),"
            f" {servos['dropped']} dropped, late by {servos['late_p99_ms']:.2f} ms (99 %)"
        ),
    ]
    return "\n".join(lines)


def falls(report: dict) -> str:
    """Return what became of both bakes in physics."""
    naive, balanced = (_verdict(bake["physics"]) for bake in (report["naive"], report))
    return f"in physics, with the settings that walker.csv names: the naive bake {naive}, the balanced one {balanced}"


def attempts(stood: dict) -> str:
    """Return what Make It Stand has tried, a line each, and what came of it."""
    width = max(len(attempt["name"]) for attempt in stood["attempts"])
    lines = [
        f"{'→' if k == stood['chosen'] else ' '} {attempt['name']:<{width}}  {attempt['told']}"
        for k, attempt in enumerate(stood["attempts"])
    ]
    return "\n".join(["Make It Stand, the balanced walk in physics:", *lines, f"at its own pace: {stood['own_pace']}"])


def _verdict(found: dict) -> str:
    """Return when a robot falls, and in how many disturbed trials it does not."""
    share = found["stands_share"]
    trials = "" if share is None else f", and in {100 * share:.0f} % of the disturbed trials"
    return f"stands to the end{trials}" if found["stands"] else f"falls after {found['falls_at_s']:.1f} s"
