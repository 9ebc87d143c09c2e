"""Joints that follow others, as plugins of Gazebo say it in URDF and SDF."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import isclose
from xml.etree.ElementTree import Element

from .xml_file import number_within


@dataclass(frozen=True)
class Mimic:
    """A joint whose coordinate is `offset` + `multiplier` · its leader's; `source` is the element that says so."""

    follower: str
    leader: str
    offset: float
    multiplier: float
    source: str

    def says_as(self, other: Mimic) -> bool:
        """Return whether two couplings of joints are one equation."""
        if {self.follower, self.leader} != {other.follower, other.leader}:
            return False
        if self.follower == other.follower:
            return isclose(self.multiplier, other.multiplier) and isclose(self.offset, other.offset)
        return isclose(self.multiplier * other.multiplier, 1.0) and isclose(
            self.offset, -self.multiplier * other.offset
        )


def mimics_of_plugins(plugins: Iterable[Element]) -> Iterator[Mimic]:
    """Yield the joints that plugins make follow others.

    `mimicJoint` follows `joint`; in Care-O-bot's plugin, `jointName` follows `mimicJoint`.
    """
    for plugin in plugins:
        joint, own, mimic = ((plugin.findtext(tag) or "").strip() for tag in ("joint", "jointName", "mimicJoint"))
        if mimic and (joint or own):
            where = f"plugin {plugin.get('name', '')!r}"
            offset, multiplier = (
                number_within(plugin, key, where, default) for key, default in (("offset", 0.0), ("multiplier", 1.0))
            )
            follower, leader = (mimic, joint) if joint else (own, mimic)
            yield Mimic(follower, leader, offset, multiplier, where)
