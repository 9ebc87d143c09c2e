"""The page on how servos followed, its drawings read back."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from robik.servo.port.recording import Recording
from robik.servo.setup.recording_report import HEIGHT, WIDTH, tracking_table, write_report

TIMES = np.array([2.0, 3.0, 5.0, 6.0])


def recording() -> Recording:
    """Two servos: one behind its goal, then ahead of it; one that stands."""
    goal = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 1.0], [3.0, 1.0]])
    position = goal - np.array([[0.0, 0.0], [0.4, 0.0], [0.1, 0.0], [-0.2, 0.0]])
    return Recording(
        times=TIMES, at=TIMES, names=("arm <1>", "leg"), goal=goal, position=position, load=np.full((4, 2), np.nan),
        current=np.array([[0.5, np.nan], [-1.5, np.nan], [0.25, np.nan], [0.0, np.nan]]),
        celsius=np.array([[30.0, 40.0], [36.0, 41.0], [35.0, 44.0], [31.0, 43.0]]),
        volts=np.full((4, 2), 12.0), errors=np.zeros((4, 2)),
    )  # fmt: skip


def curves(page: str) -> list[dict[str, np.ndarray]]:
    """Each drawing's lines (K, 2) [px] by their kind."""
    found = []
    for drawing in re.findall(r"<svg.*?</svg>", page):
        lines = re.findall(r'<polyline class="(\w+)" points="([^"]*)"', drawing)
        found.append(
            {kind: np.array([point.split(",") for point in points.split()], dtype=float) for kind, points in lines}
        )
    return found


def test_the_drawings_show_what_was_recorded(tmp_path: Path) -> None:
    seen = recording()
    write_report(seen, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "arm &lt;1&gt;" in page and "arm <1>" not in page
    arm, leg = curves(page)
    for lines in (arm, leg):
        for line in lines.values():
            np.testing.assert_allclose(line[:, 0], WIDTH * np.array([0.0, 0.25, 0.75, 1.0]), atol=0.1)
            assert ((line[:, 1] >= 0) & (line[:, 1] <= HEIGHT)).all()
    heights = HEIGHT - arm["goal"][:, 1]
    np.testing.assert_allclose(np.diff(heights), np.diff(seen.goal[:, 0]) * (heights[-1] - heights[0]) / 3.0, atol=0.2)
    for kind, values in (("goal", seen.goal), ("position", seen.position), ("error", seen.error)):
        assert np.corrcoef(arm[kind][:, 1], values[:, 0])[0, 1] < -0.999, f"{kind}: what is more is drawn higher"
    middle = HEIGHT / 2
    assert arm["error"][0, 1] == pytest.approx(middle), "no error is in the middle"
    assert abs(arm["error"][1, 1] - middle) == pytest.approx(middle - 4), "the largest fills the drawing"
    np.testing.assert_allclose(leg["error"][:, 1], middle)
    assert "error ±0.4000" in page and "error ±0.0000" in page


def test_the_table_tells_mean_worst_and_hottest(tmp_path: Path) -> None:
    (name, mean, worst, _, hot, current), (_, still, _, _, warm, unknown) = tracking_table(recording())
    assert name == "arm <1>"
    assert (mean, worst) == pytest.approx((np.sqrt((0.16 + 0.01 + 0.04) / 4), 0.4))
    assert (still, hot, warm, current) == (0.0, 36.0, 44.0, 1.5)
    assert np.isnan(unknown)
    write_report(recording(), tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert re.search(r"<td>0\.2291</td><td>0\.4000</td><td>-?\d+ ms</td><td>36 °C</td><td>1\.50 A</td>", page)
    assert "<td>44 °C</td><td>–</td>" in page
    assert "4 looks over 4.0 s" in page
