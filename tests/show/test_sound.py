"""Sound of a show: what a device is given, and when, and what its clock says; with devices that a test leads."""

from __future__ import annotations

import time as real_time
import wave

import numpy as np
import pytest

from robik.errors import FormatError
from robik.show import sound
from robik.show.sound import CHANNELS, PERIOD, RATE, Sound, seconds_of

miniaudio = pytest.importorskip("miniaudio")

SECONDS = 3.0
FRAMES = np.arange(1, round(SECONDS * RATE) + 1)
HEARD = (FRAMES % 30_000 + 1).astype("<i2")  # every frame says which one it is, and none is silence


@pytest.fixture(scope="module")
def song(tmp_path_factory):
    path = tmp_path_factory.mktemp("sound") / "song.wav"
    with wave.open(str(path), "wb") as file:
        file.setnchannels(CHANNELS)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(np.repeat(HEARD, CHANNELS).tobytes())
    return path


class Device:
    """A device in a time of its own; takes the place of the module `time`, too.

    Attributes:
        now: [s].
        heard: all that it was given.
        skew: by how much its clock is slower than the computer's, as a share.
    """

    backend = "a test"

    def __init__(self, skew: float = 0.0) -> None:
        self.now, self.skew, self.heard, self.is_closed = 100.0, skew, bytearray(), False

    def perf_counter(self) -> float:
        return self.now

    def start(self, frames) -> None:
        self._frames = frames
        for _ in range(3):  # it fills up first
            self._ask()

    def _ask(self) -> None:
        self.heard += self._frames.send(round(PERIOD * RATE))

    def go(self, seconds: float, jitter=lambda: 0.0) -> None:
        """Let time pass; a request may be late, and never early."""
        for _ in range(round(seconds / PERIOD)):
            due = self.now + PERIOD * (1.0 + self.skew)
            self.now = due + jitter()
            self._ask()
            self.now = due

    def close(self) -> None:
        self.is_closed = True

    @property
    def values(self) -> np.ndarray:
        """The left channel."""
        return np.frombuffer(bytes(self.heard), dtype="<i2")[::CHANNELS]


def opened(monkeypatch, song, start=0.0, skew=0.0):
    device = Device(skew)
    monkeypatch.setattr(sound, "time", device)
    return Sound(song, start, lambda: device), device


@pytest.mark.parametrize("start", [0.0, 0.7, -0.5])
def test_silence_until_it_begins_then_every_frame_in_its_order(monkeypatch, song, start) -> None:
    it, device = opened(monkeypatch, song, start)
    assert not it.is_ready
    device.go(2.0)
    assert it.is_ready
    assert (it.began, not device.values.any()) == (None, True)
    it.begin(device.now + 1.0)
    device.go(1.0 + SECONDS + start + 0.5)
    values = device.values
    first = int(np.argmax(values != 0))
    skipped = max(0, round(-start * RATE))
    assert (values[first : first + len(HEARD) - skipped] == HEARD[skipped:]).all()
    assert not values[first + len(HEARD) - skipped :].any()
    expected = 100.0 + 2.0 + 1.0 + max(0.0, start)  # what is given at a request is heard when what it keeps is over
    assert 100.0 + first / RATE == pytest.approx(expected, abs=1e-3)
    it.close()
    assert device.is_closed
    assert not it.is_playing


@pytest.mark.parametrize("skew", [2e-4, -2e-4])
def test_the_clock_of_the_device_is_found_under_late_requests(monkeypatch, song, skew) -> None:
    random = np.random.default_rng(3)
    it, device = opened(monkeypatch, song, skew=skew)
    device.go(3.0)
    begin = device.now + 1.0
    it.begin(begin)
    away = []
    for _ in range(120):
        device.go(1.0, lambda: random.choice([0.0, 0.002, 0.02], p=[0.2, 0.5, 0.3]))
        away.append(it.began - (begin + skew / (1.0 + skew) * (device.now - begin)))
    assert np.abs(away).max() < 2.5e-3
    assert abs(it.began - begin) == pytest.approx(119 * 2e-4, rel=0.1)  # 24 ms, which the robots follow


def test_where_the_device_had_nothing_to_play_the_sound_skips_as_much(monkeypatch, song) -> None:
    it, device = opened(monkeypatch, song)
    device.go(2.0)
    it.begin(begin := device.now + 0.5)
    device.go(1.0)
    device.now += 0.3
    device.go(2.5)
    assert it.skipped == pytest.approx(0.3, abs=0.02)
    assert it.began == pytest.approx(begin, abs=0.02)
    values = device.values
    assert (np.diff(values[values != 0].astype(int)) > 0.2 * RATE).sum() == 1


def test_a_device_that_asks_no_more_is_gone(monkeypatch, song) -> None:
    it, device = opened(monkeypatch, song)
    device.go(1.0)
    assert it.is_playing
    device.now += 1.5
    assert not it.is_playing


@pytest.mark.real_time
def test_a_real_device_without_a_speaker(song) -> None:
    """The null device of miniaudio plays by the system's clock, from a thread of its own."""
    made = miniaudio.PlaybackDevice(
        nchannels=CHANNELS,
        sample_rate=RATE,
        buffersize_msec=round(1e3 * PERIOD),
        callback_periods=3,
        backends=[miniaudio.Backend.NULL],
    )
    it = Sound(song, 0.0, lambda: made)
    try:
        ends = real_time.perf_counter() + 10.0
        while not it.is_ready and real_time.perf_counter() < ends:
            real_time.sleep(0.01)
        it.begin(begin := real_time.perf_counter() + 0.5)
        real_time.sleep(4.0)
        assert it.is_playing
        assert it.began == pytest.approx(begin, abs=0.02)
    finally:
        it.close()


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("no.wav", None, r"no\.wav: there is no such sound file"),
        ("song.txt", b"la la la", r"song\.txt: a sound is \.wav, \.flac, \.mp3, \.ogg, not \.txt"),
        ("song", b"la la la", r"song: a sound is .*, not a file without extension"),
        ("song.wav", b"la la la", r"song\.wav cannot be read as a sound"),
        ("song.mp3", b"", r"song\.mp3 cannot be read as a sound"),
    ],
)
def test_files_that_are_no_sound(tmp_path, name, content, sentence) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(FormatError, match=sentence) as raised:
        seconds_of(tmp_path / name)
    assert "\n" not in str(raised.value)


def test_seconds_of_a_file(song) -> None:
    assert seconds_of(song) == pytest.approx(SECONDS)


def test_after_a_pause_it_goes_on_where_the_show_does(monkeypatch, song) -> None:
    it, device = opened(monkeypatch, song)
    device.go(2.0)
    it.begin(device.now + 0.5)
    device.go(1.5)
    it.pause()
    paused = len(device.values)
    device.go(5.0)
    assert not device.values[paused:].any()
    it.begin(moment := device.now + 0.6, 0.8)
    assert it.began == pytest.approx(moment - 0.8)
    device.go(SECONDS + 1.0)
    values = device.values[paused:]
    first = int(np.argmax(values != 0))
    left = HEARD[round(0.8 * RATE) :]
    assert (values[first : first + len(left)] == left).all()
    assert not values[first + len(left) :].any()
    assert 100.0 + (paused + first) / RATE == pytest.approx(moment, abs=1e-3)
