"""Contacts as strips in dope sheet and timeline.

A lane for each foot at the bottom, whose phases can be dragged with the mouse.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from bpy.types import Context, Object, SpaceDopeSheetEditor

from ..bake.kept_clip import kept_clip
from ..balance.contacts import phases_in, rows
from ..robot.parts import parts
from .shapes import BAD, GOOD, WANTED, Color, Shapes

LANE, LEAST, GAP = (
    16,
    7,
    3,
)  # heights of lanes, at least where there is little room, and between them [px at a scale of 1]
FOOT, MARKERS = 12, 44  # what is left free below: for the scroll bar, and for markers where there are some
RULER = 26  # and above, for the frames' numbers
GRASP = 6  # how near to a phase's end the mouse takes hold of it
BACK: Color = (0.07, 0.07, 0.08, 0.7)
WORDS: Color = (1.0, 1.0, 1.0, 0.9)


@dataclass(frozen=True)
class Lane:
    """A foot's phases.

    Attributes:
        foot: the robot's frame.
        phases: first and last frame of each.
        by_hand: whether they were set by hand; else the last bake found them.
    """

    foot: str
    phases: tuple[tuple[int, int], ...]
    by_hand: bool


@dataclass(frozen=True)
class Place:
    """Place of the lanes in an editor's region.

    Attributes:
        first, last: frames at its left and right edge.
        width: of the region [px].
        bottom, top: between which the lanes lie [px].
        scale: of the interface.
    """

    first: float
    last: float
    width: float
    bottom: float
    top: float
    scale: float

    def x(self, frame: float) -> float:
        """Of a frame [px]."""
        return self.width * (frame - self.first) / (self.last - self.first)

    def frame(self, x: float) -> float:
        """At a place across the region."""
        return self.first + (self.last - self.first) * x / self.width

    def heights(self, k: int, count: int) -> tuple[float, float]:
        """Bottom and top of a lane, the first one uppermost [px]."""
        room = (self.top - self.bottom) / count - GAP * self.scale
        height = min(max(room, LEAST * self.scale), LANE * self.scale)
        bottom = self.bottom + (count - 1 - k) * (height + GAP * self.scale)
        return bottom, bottom + height

    def span(self, phase: tuple[int, int]) -> tuple[float, float]:
        """Return where a phase begins and ends [px]: with the whole of its first and last frame.

        A phase that runs backwards likewise.
        """
        return self.x(min(phase) - 0.5), self.x(max(phase) + 0.5)


@dataclass(frozen=True)
class Grip:
    """The part of a lane under the mouse.

    Attributes:
        lane: which one.
        phase: its index; None between phases.
        moves: whether its start and its end go with the mouse.
        frame: under the mouse.
    """

    lane: Lane
    phase: int | None
    moves: tuple[bool, bool]
    frame: float


dragged: tuple[Grip, tuple[int, int]] | None = None  # a phase that the mouse holds, as it would be if let go


def place_in(context: Context) -> Place | None:
    """In the dope sheet or timeline that a context is of; None in other editors."""
    space, region = context.space_data, context.region
    if not isinstance(space, SpaceDopeSheetEditor) or region is None or region.type != "WINDOW":
        return None
    scale = context.preferences.system.ui_scale
    first, last = region.view2d.region_to_view(0, 0)[0], region.view2d.region_to_view(region.width, 0)[0]
    marked = space.show_markers and len(context.scene.timeline_markers) > 0
    return Place(first, last, region.width, (MARKERS if marked else FOOT) * scale, region.height - RULER * scale, scale)


def lanes(root: Object) -> list[Lane]:
    """Of the robot's feet that follow something: their phases by hand, else those that its bake found."""
    feet = {frame.robik.label for frame in parts(root)["FRAME"] if frame.robik.is_foot}
    kept, found = kept_clip(root), []
    for target in root.robik.robot.character.targets:
        if not (target.enabled and target.leads) or target.frame not in feet:
            continue
        if target.contact == "HAND":
            found.append(Lane(target.frame, tuple(rows(target)), True))
        elif (
            kept is not None and target.frame in kept.clip.tracks and kept.clip.tracks[target.frame].contact is not None
        ):
            found.append(
                Lane(target.frame, tuple(phases_in(kept.clip.tracks[target.frame].contact, kept.frames)), False)
            )
        else:
            found.append(Lane(target.frame, (), False))
    return found


def grip_at(shown: list[Lane], place: Place, x: float, y: float) -> Grip | None:
    """Return what is under the mouse; None beside all lanes.

    Ends come before what is between them, and later phases before earlier ones.
    """
    for k, lane in enumerate(shown):
        bottom, top = place.heights(k, len(shown))
        if not bottom <= y <= top:
            continue
        spans = [place.span(phase) for phase in lane.phases]
        for index in reversed(range(len(spans))):
            left, right = spans[index]
            near = min(GRASP * place.scale, (right - left) / 3)
            if left - near <= x <= right + near:
                moves = (True, False) if x < left + near else (False, True) if x > right - near else (True, True)
                return Grip(lane, index, moves, place.frame(x))
        return Grip(lane, None, (False, False), place.frame(x))
    return None


def moved(phase: tuple[int, int], moves: tuple[bool, bool], by: float) -> tuple[int, int]:
    """Return a phase whose start, end or both were dragged by frames; an end stops at the other."""
    start, end = (bound + round(by) * goes for bound, goes in zip(phase, moves, strict=True))
    if start > end:
        return (phase[1], phase[1]) if moves[0] else (phase[0], phase[0])
    return start, end


def strip_shapes(shown: list[Lane], place: Place) -> Shapes:
    """Return all lanes, in pixels, with what is being dragged where it would be."""
    shapes = Shapes()
    for k, lane in enumerate(shown):
        bottom, top = place.heights(k, len(shown))
        shapes.fan(_box(0.0, place.width, bottom, top), BACK)
        phases = list(lane.phases)
        if dragged is not None and dragged[0].lane == lane:
            phases[dragged[0].phase] = dragged[1]
        for phase in phases:
            left, right = place.span(phase)
            color = BAD if phase[1] < phase[0] else GOOD if lane.by_hand else WANTED
            box = _box(left, right, bottom + place.scale, top - place.scale)
            shapes.fan(box, (*color[:3], 0.75 if lane.by_hand else 0.4))
            shapes.path(box, color, closed=True)
        size = min(11.0, 0.8 * (top - bottom) / place.scale)
        shapes.labels.append(
            (np.array([8 * place.scale, 0.5 * (bottom + top) - 0.35 * size * place.scale, size]), _title(lane), WORDS)
        )
    return shapes


def _title(lane: Lane) -> str:
    if lane.by_hand:
        return lane.foot
    return f"{lane.foot}, found by the bake" if lane.phases else f"{lane.foot}: Ctrl-click where it stands, or Detect"


def _box(left: float, right: float, bottom: float, top: float) -> np.ndarray:
    return np.array([(left, bottom, 0.0), (right, bottom, 0.0), (right, top, 0.0), (left, top, 0.0)])
