"""Our daemon of Reachy Mini in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any


class StandIn:
    """Our daemon in a process of its own, on a TCP port that stays the same when it is started again."""

    def __init__(self) -> None:
        self.number = 0
        self.start()

    def start(self) -> None:
        command = [sys.executable, Path(__file__).with_name("daemon.py"), str(self.number)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.number = int(self.process.stdout.readline())

    @property
    def port(self) -> str:
        return f"reachy:127.0.0.1:{self.number}"

    def tell(self, command: str) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{command}\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    @property
    def state(self) -> dict[str, Any]:
        return self.tell("state")

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()
