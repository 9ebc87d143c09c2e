"""Clock of a show, by which several robots and a sound play together."""

from __future__ import annotations


class ShowClock:
    """Time of a show, by the moment at which it begins. One thread sets it, another one reads it.

    The moment is one of `time.perf_counter`, which all processes of a computer share. Who steers the show moves it as
    the sound's own clock goes faster or slower than the computer's.

    Attributes:
        behind, worst: by how much the robot is behind the clock [s], and by how much it was at worst, to either side.
    """

    def __init__(self) -> None:
        self._begin: float | None = None
        self.behind = self.worst = 0.0

    def set(self, begin: float | None) -> None:
        """Set the time of `time.perf_counter` [s] at which the show begins, or began; None if not known yet."""
        self._begin = begin
        if begin is None:
            self.behind = self.worst = 0.0

    def at(self, now: float) -> float | None:
        """Return the time of the show [s] at a time of `time.perf_counter`, negative before it begins.

        None where nobody has said when that is.
        """
        return None if self._begin is None else now - self._begin

    def note(self, behind: float) -> None:
        """Note the time by which a robot is behind [s]; negative where it is ahead."""
        self.behind, self.worst = behind, max(self.worst, abs(behind))
