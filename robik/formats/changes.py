"""Differences between a robot and the same robot read again, after its CAD model was changed."""

from __future__ import annotations

from collections.abc import Iterable

from ..mechanism import Body, Joint, Mechanism
from .imported import listed

CLOSE = 1e-9  # what counts as the same number


def changes(old: Mechanism, new: Mechanism) -> tuple[str, ...]:
    """Return one sentence for each kind of change, with the names of what changed."""
    said = [*_come_and_gone("bodies", (b.name for b in old.bodies), (b.name for b in new.bodies))]
    said += _come_and_gone("joints", (j.name for j in old.joints), (j.name for j in new.joints))
    said += _come_and_gone("motors", old.actuators, new.actuators)
    said += _come_and_gone("frames", (f.name for f in old.frames), (f.name for f in new.frames))
    joints = _pairs(old.joints, new.joints)
    said += _changed("limits", (a.name for a, b in joints if a.motions == b.motions and not _same(a.limits, b.limits)))
    said += _changed("types", (a.name for a, b in joints if a.motions != b.motions))
    said += _changed("bodies tied", (a.name for a, b in joints if (a.parent, a.child) != (b.parent, b.child)))
    said += _changed("places", (a.name for a, b in joints if not _same(_place(a), _place(b))))
    said += _changed("motor speeds", (a.name for a, b in joints if not _same((a.velocity_limit,), (b.velocity_limit,))))
    bodies = _pairs(old.bodies, new.bodies)
    said += _changed("masses", (a.name for a, b in bodies if not _same(_weight(a), _weight(b))))
    said += _changed("looks", (a.name for a, b in bodies if a.visuals != b.visuals))
    return tuple(said)


def _come_and_gone(what: str, old: Iterable[str], new: Iterable[str]) -> list[str]:
    before, after = list(old), list(new)
    gone, come = [n for n in before if n not in after], [n for n in after if n not in before]
    return [
        *([f"{what} that are gone: {listed(gone)}"] if gone else []),
        *([f"new {what}: {listed(come)}"] if come else []),
    ]


def _changed(what: str, names: Iterable[str]) -> list[str]:
    names = list(names)
    return [f"changed {what}: {listed(names)}"] if names else []


def _pairs(old: Iterable, new: Iterable) -> list[tuple]:
    """Parts of the same name."""
    known = {part.name: part for part in new}
    return [(part, known[part.name]) for part in old if part.name in known]


def _same(a: Iterable, b: Iterable) -> bool:
    return all(x == y or abs(x - y) <= CLOSE for x, y in zip(_flat(a), _flat(b), strict=True))


def _flat(values: Iterable) -> list[float]:
    return [v for value in values for v in (value if isinstance(value, tuple) else (value,))]


def _place(joint: Joint) -> tuple:
    return joint.position, joint.axis


def _weight(body: Body) -> tuple:
    return body.mass, body.com, body.inertia
