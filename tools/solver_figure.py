"""The figure of docs/solver.md: `python -m tools.solver_figure` writes docs/images/solver.svg.

A four-bar linkage is solved for a target of its coupler's point, with the mathematics of the solver in the plane: the
crank's angle is the independent coordinate, the angles of coupler and rocker are the dependent ones.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

FILE = Path(__file__).parents[1] / "docs" / "images" / "solver.svg"
CRANK, COUPLER, ROCKER, GROUND = 40.0, 120.0, 90.0, 110.0  # lengths in the picture
START, REACHED = 0.6, 1.5  # crank angles before and at the target [rad]
PANEL, HEIGHT, SCALE = 250, 190, 0.95
BAR, CUT, TARGET, TEXT = "#4a7fb5", "#d9534f", "#3c9a5f", "#808080"
TITLES = (
    ("1  Cut the loop", "A tree of joints, and equations at the cut"),
    ("2  Step the independent coordinate", "The others follow along the tangent"),
    ("3  Project", "The dependent coordinates close the cut"),
    ("4  Repeat", "until no step lowers the objective"),
)


def points(q: np.ndarray) -> dict[str, np.ndarray]:
    """Return the linkage's pins and the coupler's point, (2,) by name.

    Angles (3,) of crank, coupler and rocker count against the ground [rad]. `b` is the coupler's end, `c` the rocker's:
    they coincide where the loop is closed.
    """
    along = [np.array([np.cos(angle), np.sin(angle)]) for angle in q]
    o, p = np.zeros(2), np.array([GROUND, 0.0])
    a = CRANK * along[0]
    b = a + COUPLER * along[1]
    middle = a + 0.5 * COUPLER * along[1] + 45.0 * np.array([-along[1][1], along[1][0]])
    return {"o": o, "p": p, "a": a, "b": b, "c": p + ROCKER * along[2], "point": middle}


def closure(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the closure (2,) at angles q (3,), and its derivatives (2, 3)."""
    found = points(q)
    lengths = np.array([CRANK, COUPLER, -ROCKER])
    return found["b"] - found["c"], np.stack([-lengths * np.sin(q), lengths * np.cos(q)])


def projected(q: np.ndarray) -> np.ndarray:
    """Return angles (3,) with the loop closed by Newton steps of coupler and rocker."""
    q = q.copy()
    for _ in range(20):
        value, J = closure(q)
        q[1:] -= np.linalg.solve(J[:, 1:], value)
    return q


def stepped(q: np.ndarray, step: float) -> np.ndarray:
    """Return angles (3,) after a step of the crank [rad], with coupler and rocker along the tangent."""
    _, J = closure(q)
    return q + step * np.array([1.0, *np.linalg.solve(J[:, 1:], -J[:, 0])])


def drawn(q: np.ndarray, target: np.ndarray, faint: np.ndarray | None, marks_cut: bool) -> str:
    """Return a linkage and the target as SVG; `faint` is a linkage behind it."""
    parts = []
    for angles, opacity in ((faint, 0.25), (q, 1.0)):
        if angles is None:
            continue
        at = points(angles)
        triangle = " ".join(f"{x:.1f},{-y:.1f}" for x, y in (at["a"], at["b"], at["point"]))
        parts.append(f'<g opacity="{opacity}"><polygon points="{triangle}" fill="{BAR}" fill-opacity="0.25"/>')
        for one, other in (("o", "a"), ("a", "b"), ("p", "c")):
            (x, y), (u, v) = at[one], at[other]
            parts.append(
                f'<line x1="{x:.1f}" y1="{-y:.1f}" x2="{u:.1f}" y2="{-v:.1f}" stroke="{BAR}" stroke-width="5"/>'
            )
        pins = "".join(f'<circle cx="{at[n][0]:.1f}" cy="{-at[n][1]:.1f}" r="4"/>' for n in ("o", "p", "a"))
        parts.append(f'<g fill="{TEXT}">{pins}</g>')
        x, y = at["point"]
        parts.append(f'<circle cx="{x:.1f}" cy="{-y:.1f}" r="5" fill="{TARGET}"/></g>')
    at = points(q)
    for name in "bc":
        x, y = at[name]
        radius, width = (8, 2.5) if marks_cut else (4, 2)
        parts.append(
            f'<circle cx="{x:.1f}" cy="{-y:.1f}" r="{radius}" fill="none" stroke="{CUT}" stroke-width="{width}"/>'
        )
    x, y = target
    parts.append(f'<path d="M{x - 8:.1f} {-y:.1f}h16M{x:.1f} {-y - 8:.1f}v16" stroke="{TARGET}" stroke-width="2.5"/>')
    return "".join(parts)


def figure() -> str:
    """Return the figure as SVG: four panels, one a step."""
    start = projected(np.array([START, 0.5, 1.9]))
    goal = start
    for angle in np.linspace(START, REACHED, 10)[1:]:
        goal = projected(np.array([angle, *goal[1:]]))
    moved = stepped(start, 0.75 * (REACHED - START))
    target = points(goal)["point"]
    states = ((start, None, True), (moved, start, True), (projected(moved), moved, False), (goal, start, False))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {PANEL * len(states)} {HEIGHT}" '
        f'font-family="sans-serif" fill="{TEXT}">'
    ]
    for k, ((q, faint, marks_cut), (title, text)) in enumerate(zip(states, TITLES, strict=True)):
        inside = drawn(q, target, faint, marks_cut)
        parts.append(
            f'<g transform="translate({PANEL * k} 0)"><text x="8" y="18" font-size="14" font-weight="bold">{title}'
            f'</text><text x="8" y="36" font-size="12">{text}</text>'
            f'<g transform="translate(60 {HEIGHT - 12}) scale({SCALE})">{inside}</g></g>'
        )
    return "\n".join([*parts, "</svg>", ""])


if __name__ == "__main__":
    FILE.write_text(figure(), encoding="utf-8")
