"""Following a playhead: a motion by the frames that a program shows."""

from __future__ import annotations

from collections import deque

import numpy as np

from ...motions import Motion
from ..chain.chain import ServoChain
from ..chain.trajectory import part
from ..port.guide import STEERING
from .softening import fitting_speed

STANDS = 0.02  # of its speed limit, below which a motor begins at once
FASTER = 1.0 / 3.0  # of the pace by which a robot that joined from a stand catches up, at most
JOINING = 10.0  # [s] in which it has caught up
SPAN, SPANS = 1.0, 5  # [s] of which the earliest frame is kept, and how many of these count
FALSE_START = 1.5  # frames by which the second one is later than the first, where playback had not begun yet
ELSEWHERE = 0.5  # [s] by which a frame is too early to come from playing


class ShownFrames:
    """Clock of playback, by the moments at which its frames are shown.

    A frame is shown late, by several frames where drawing is slow, and never early. So with the rate *f* [Hz] the
    first frame was due at

        begin = min over the last seconds of  (moment − (frame − first) / f)

    A program may show a frame and then wait, as for its sound device. So a first frame does not count where the
    second one comes later than it should.

    Attributes:
        last: the frame that is shown.
    """

    def __init__(self, first: int, rate: float) -> None:
        self.first, self.rate, self.last = first, rate, first
        self._noted = 0
        self._spans: deque[tuple[float, float]] = deque(maxlen=SPANS)  # its begin, and the earliest in it

    @property
    def begin(self) -> float | None:
        """Return when the first frame was due, by the clock of `note` [s]; None where no other was shown yet."""
        return min(earliest for _, earliest in self._spans) if self._spans else None

    def due(self, now: float) -> float:
        """Return the frame that is due, with its fraction; the first one while no other was shown."""
        begin = self.begin
        return self.first if begin is None else self.first + (now - begin) * self.rate

    def note(self, frame: int, now: float) -> bool:
        """Note a frame that is shown, and return whether playing can lead there: neither back nor far ahead."""
        if frame <= self.last:
            return frame == self.last
        earliest = now - (frame - self.first) / self.rate
        begin = self.begin
        if begin is not None and earliest < begin - ELSEWHERE:
            return False
        self.last, self._noted = frame, self._noted + 1
        if begin is not None and self._noted == 2 and (earliest - begin) * self.rate > FALSE_START:
            self._spans.clear()
        if not self._spans or now - self._spans[-1][0] > SPAN:
            self._spans.append((now, earliest))
        else:
            since, before = self._spans.pop()
            self._spans.append((since, min(before, earliest)))
        return True


def joining(motion: Motion, chain: ServoChain) -> tuple[float, float]:
    """Return the timing of `Player.perform` by which a robot that stands at the begin of a motion joins it.

    It is the pace with which it begins, 0 where a motor would have to jump to its speed; and the share of the pace
    that its limits leave for catching up, at least STEERING.
    """
    if len(motion.times) < 2:
        return 1.0, STEERING
    speeds = np.abs(motion.values[1] - motion.values[0]) / (motion.times[1] - motion.times[0])
    limits = [(motion.actuators.index(servo.actuator), servo.velocity_limit) for servo in chain.servos]
    stands = all(speeds[column] <= STANDS * limit for column, limit in limits)
    end = min(float(motion.times[-1]), float(motion.times[0]) + JOINING)
    fitting = fitting_speed(part(motion, end=end), chain, 1.0 + FASTER)
    return float(stands), max(STEERING, fitting - 1.0)
