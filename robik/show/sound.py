"""Sound of a show, played by the system's default device, and that device's clock.

The device asks for frames as it plays them, so that the frames that it was given are a clock. A request may come late
and never early: of each second, the earliest one counts. Robots follow this clock, a fifth of the difference a second.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from math import inf
from pathlib import Path
from typing import Any, Protocol

from ..errors import FormatError
from ..extras import extra

RATE, CHANNELS, WIDTH = 48_000, 2, 2  # [Hz], and bytes of a sample
PERIOD, PERIODS = 0.04, 3  # [s] of sound that the device asks for at a time, and how many of them it keeps
SETTLING = 0.3  # [s] of first requests, which come as the device fills up and starts
WINDOW = 1.0  # [s] of which the earliest request counts
GAIN = 0.2  # of the difference that is followed, each window
GAP = 0.05  # [s] by which the device's clock jumps where it had nothing to play; the sound then skips as much
PIECE = 4096  # frames that are read at a time
SILENT = 1.0  # [s] without a request, after which the device is gone
KNOWN = (".wav", ".flac", ".mp3", ".ogg")
WITHOUT_SOUND = "the show plays without sound, by this computer's clock"


class Device(Protocol):
    """A sound device: see `miniaudio.PlaybackDevice`."""

    backend: str

    def start(self, frames: Generator[bytes, int, None]) -> None:
        """Ask for frames from now on: the generator is sent how many are wanted, and yields them."""

    def close(self) -> None:
        """Ask for no more."""


class NoDevice(Exception):
    """There is no sound device; its text says why."""


def default_device() -> Device:
    """Return the default sound device; raise NoDevice if there is none, MissingExtraError without its package."""
    with extra("sound"):
        import miniaudio
    try:
        with _hushed():
            device = miniaudio.PlaybackDevice(
                nchannels=CHANNELS, sample_rate=RATE, buffersize_msec=round(1e3 * PERIOD), callback_periods=PERIODS
            )
    except miniaudio.MiniaudioError as error:
        raise NoDevice(f"there is no sound device ({error.args[0]})") from None
    if device.backend == "Null":  # what it takes where there is no other
        device.close()
        raise NoDevice("there is no sound device")
    return device


@contextmanager
def _hushed() -> Iterator[None]:
    """Keep from the terminal what the system's sound libraries write there by themselves."""
    try:
        kept = os.dup(2)
    except OSError:  # it is closed already
        yield
        return
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def seconds_of(path: Path) -> float:
    """Return the length of a sound file [s].

    Raise FormatError if it is no sound that can be played, MissingExtraError without the package that reads it.
    """
    if not path.is_file():
        raise FormatError(f"{path}: there is no such sound file")
    if path.suffix.lower() not in KNOWN:
        raise FormatError(f"{path}: a sound is {', '.join(KNOWN)}, not {path.suffix or 'a file without extension'}")
    with extra("sound"):
        import miniaudio
    try:
        info = miniaudio.get_file_info(str(path))
    except miniaudio.MiniaudioError as error:
        raise FormatError(f"{path} cannot be read as a sound ({error.args[0]})") from None
    return info.num_frames / info.sample_rate


class Sound:
    """A sound file on a device that plays silence until the show begins.

    The file begins at the time `start` of the show [s]. `open_device` returns the device; the default one if None.

    Attributes:
        skipped: of the sound, since the device had nothing to play for so long [s].
    """

    def __init__(self, path: Path, start: float = 0.0, open_device: Callable[[], Device] | None = None) -> None:
        self.duration, self.skipped = seconds_of(path), 0.0
        self._path, self._start = path, start
        self._lock = threading.Lock()
        self._given, self._zero = 0, 0.0  # frames; when frame 0 was asked for, by the device's clock now [s]
        self._window, self._earliest, self._is_known = -inf, inf, False
        self._first: float | None = None  # the frame at which the show begins
        self._silent_until = -inf  # the frame before which nothing is heard
        self._is_paused = False
        self._is_ended = False
        self._heard = time.perf_counter()
        self._source: Generator[Any, int, None] | None = None
        self._at = 0  # the frame of the file that the source gives next
        self._device = (open_device or default_device)()
        frames = self._frames()
        next(frames)
        self._device.start(frames)

    @property
    def is_ready(self) -> bool:
        """Return whether the device's clock is known."""
        return self._is_known

    @property
    def is_playing(self) -> bool:
        """Return whether the device still asks for frames."""
        return not self._is_ended and time.perf_counter() - self._heard < SILENT

    def begin(self, moment: float, at: float = 0.0) -> None:
        """Begin the show, or go on, at a moment by `time.perf_counter` [s], when the show's time is `at` [s].

        The moment must be later than the sound that the device keeps already.
        """
        with self._lock:
            self._silent_until = (moment - self._zero - _latency()) * RATE
            self._first, self._is_paused = self._silent_until - at * RATE, False

    def pause(self) -> None:
        """Be silent, once what the device keeps is over, until `begin`."""
        with self._lock:
            self._is_paused = True

    @property
    def began(self) -> float | None:
        """Return when the show began or begins by the device's clock, as of now [s]; None before it was told."""
        with self._lock:
            return None if self._first is None else self._zero + _latency() + self._first / RATE

    def close(self) -> None:
        """End it."""
        if not self._is_ended:
            self._is_ended = True
            self._device.close()

    # the device's thread

    def _frames(self) -> Generator[bytes, int, None]:
        wanted = yield b""
        while True:
            with self._lock:
                self._tick(time.perf_counter())
                content = self._content(wanted)
                self._given += wanted
            wanted = yield content

    def _tick(self, now: float) -> None:
        """Take in that the device asks for frames."""
        self._heard = now
        zero = now - self._given / RATE
        if self._window == -inf:
            self._window = now + SETTLING
        if now < self._window:
            return
        self._earliest = min(self._earliest, zero)
        if now - self._window < (WINDOW if self._is_known else WINDOW / 2):
            return
        if not self._is_known:
            self._zero, self._is_known = self._earliest, True
        elif abs(away := self._earliest - self._zero) > GAP:
            self._zero = self._earliest
            if self._first is not None:
                self._first, self._silent_until = self._first - away * RATE, self._silent_until - away * RATE
                self.skipped += away
        else:
            self._zero += GAIN * away
        self._window, self._earliest = now, inf

    def _content(self, wanted: int) -> bytes:
        """Return the next frames: the sound's where it plays, silence elsewhere."""
        silence = bytes(wanted * CHANNELS * WIDTH)
        if self._first is None or self._is_paused:
            return silence
        at = self._given - round(self._first + self._start * RATE)
        before = max(0, -at, round(self._silent_until) - self._given)
        if before >= wanted or at >= self.duration * RATE:
            return silence
        content = silence[: before * CHANNELS * WIDTH] + self._read(at + before, wanted - before)
        return content + silence[len(content) :]

    def _read(self, at: int, wanted: int) -> bytes:
        """Return frames of the file, fewer at its end."""
        import miniaudio

        if self._source is None or at != self._at:
            self._source = miniaudio.stream_file(
                str(self._path), nchannels=CHANNELS, sample_rate=RATE, seek_frame=max(0, at)
            )
        self._at, content = at + wanted, b""
        while (left := wanted - len(content) // (CHANNELS * WIDTH)) > 0:
            try:
                content += bytes(self._source.send(min(left, PIECE)))
            except StopIteration:
                break
        return content


def _latency() -> float:
    """Return the time from a request to when its first frame is heard: what the device keeps meanwhile [s]."""
    return (PERIODS - 1) * PERIOD
