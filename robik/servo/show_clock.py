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
        """Set when the show begins, or began.

        Args:
            begin: By `time.perf_counter` [s]; None where that is not known yet.
        """
        self._begin = begin
        if begin is None:
            self.behind = self.worst = 0.0

    def at(self, now: float) -> float | None:
        """Return the time of the show at a moment.

        Args:
            now: By `time.perf_counter` [s].

        Returns:
            Time [s], negative before the show begins; None where nobody has said when that is.
        """
        return None if self._begin is None else now - self._begin

    def note(self, behind: float) -> None:
        """Note how far a robot is behind.

        Args:
            behind: That [s]; negative where it is ahead.
        """
        self.behind, self.worst = behind, max(self.worst, abs(behind))
