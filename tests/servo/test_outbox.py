"""Messages to a process through a real pipe that nobody reads for a while."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import IO

import pytest

from robik.servo.port.outbox import Outbox

AT_MOST = 0.5  # [s] that a send may take, on a busy machine
PATIENCE = 10.0  # [s] for what must arrive some time
Pipe = tuple[IO[bytes], IO[bytes]]


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    """Its end to read from, and the one to write to."""
    ends = os.pipe()
    with os.fdopen(ends[0], "rb") as reads, os.fdopen(ends[1], "wb") as writes:
        yield reads, writes


def wish(k: int) -> bytes:
    """As long as that of 24 motors."""
    return f"wish {k} {'0' * 500}\n".encode()


def test_who_sends_never_waits_and_the_newest_wish_arrives(pipe):
    reads, writes = pipe
    box, slowest = Outbox(), 0.0
    box.open(writes, b"open\n")
    for k in range(1000):
        began = time.perf_counter()
        box.send(wish(k), "wish")
        if k == 500:
            box.send(b"press\n")
        slowest = max(slowest, time.perf_counter() - began)
    assert slowest < AT_MOST
    lines = []
    while not lines or lines[-1] != wish(999):
        lines.append(reads.readline())
    box.close(writes)
    wishes = [line for line in lines if line.startswith(b"wish")]
    assert lines[0] == b"open\n"
    assert lines.count(b"press\n") == 1, "a message that is not about how things are now is kept"
    assert wishes == sorted(wishes, key=lambda line: int(line.split()[1]))
    assert len(wishes) < 300, "what the pipe takes, and the newest"
    assert reads.read() == b"", "and the pipe is closed"


def test_what_is_sent_before_comes_after_the_first(pipe):
    reads, writes = pipe
    box = Outbox()
    for line in (b"a\n", b"beat\n", b"b\n", b"beat\n"):
        box.send(line, "beat" if line == b"beat\n" else "")
    box.open(writes, b"open\n")
    assert [reads.readline() for _ in range(4)] == [b"open\n", b"a\n", b"b\n", b"beat\n"]
    box.close(writes)
    box.send(b"too late\n")
    assert reads.read() == b""


def test_a_long_message_arrives_whole_and_in_its_place(pipe):
    reads, writes = pipe
    box = Outbox()
    box.open(writes, b"open\n")
    sent = [b"open\n", b"1" * 300_000 + b"\n", b"2\n", b"3" * 5000 + b"\n", b"4\n"]
    for line in sent[1:]:
        box.send(line)
    assert [reads.readline() for _ in sent] == sent
    box.close(writes)


def test_a_process_that_has_ended_is_in_nobodys_way(pipe):
    reads, writes = pipe
    reads.close()
    box = Outbox()
    box.open(writes, b"open\n")
    for k in range(10):
        box.send(wish(k))
    box.close(writes)
    ends = time.monotonic() + PATIENCE
    while not writes.closed:
        assert time.monotonic() < ends
        time.sleep(0.01)


def test_a_pipe_that_never_was_written_to_is_closed(pipe):
    reads, writes = pipe
    Outbox().close(writes)
    assert reads.read() == b""
