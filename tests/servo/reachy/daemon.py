"""A stand-in for Reachy Mini's daemon, written from what the real one was seen to say: messages, paths, and that it
ignores goals without a word while it plays a move. It shares no code with the player.

    python tests/servo/reachy/daemon.py      # prints its TCP port; a command a line, an answer a line

Motors go to their targets at 10 rad/s at most, every 20 ms, while they have torque.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import struct
import sys
import time

SECRET = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # RFC 6455
TICK, FASTEST = 0.02, 10.0  # [s], [rad/s]
SLEEPING = [0.0, -0.98, 1.26, -0.24, 0.21, -1.24, 1.0, -3.05, 3.05]  # [rad]


class Daemon:
    def __init__(self) -> None:
        self.at, self.target = list(SLEEPING), list(SLEEPING)
        self.mode, self.moves, self.error = "disabled", set(), ""
        self.said: list[str] = []  # what clients said that was no goal
        self.clients: dict[str, set[asyncio.StreamWriter]] = {"/ws/sdk": set(), "/api/move/ws/updates": set()}
        self.is_mute = self.ignores_torque = False
        self.goals = 0
        self.moved = self.largest_step = 0.0  # when any motor moved last [s]; of a target since `forget` [rad]

    # what it says

    def push(self, path: str, **content: object) -> None:
        data = json.dumps(content).encode()
        head = bytes([0x81, len(data)]) if len(data) < 126 else bytes([0x81, 126]) + struct.pack(">H", len(data))
        for writer in list(self.clients[path]):
            writer.write(head + data)

    async def run(self) -> None:
        ticks = 0
        while True:
            self.tick()
            if not self.is_mute:
                self.push(
                    "/ws/sdk", type="joint_positions", head_joint_positions=self.at[:7],
                    antennas_joint_positions=self.at[7:],
                )  # fmt: skip
                self.push("/ws/sdk", type="head_pose", head_pose=[[1.0, 0.0, 0.0, 0.0]] * 4)
                if ticks % 50 == 0:
                    status = {"motor_control_mode": self.mode, "error": self.error or None}
                    self.push("/ws/sdk", type="daemon_status", state="running", backend_status=status, error=None)
            ticks += 1
            await asyncio.sleep(TICK)

    def tick(self) -> None:
        if self.mode != "enabled":
            return
        for k, target in enumerate(self.target):
            step = max(-FASTEST * TICK, min(FASTEST * TICK, target - self.at[k]))
            if abs(step) > 1e-4:
                self.moved = time.monotonic()
            self.at[k] += step

    # what it is told

    def take(self, message: dict) -> None:
        kind = message["type"]
        if kind in ("set_head_joints", "set_antennas"):
            self.goals += 1
            if not self.moves:
                self.set_target(0 if kind == "set_head_joints" else 7, message.get("joints") or message["antennas"])
            return
        self.said.append(kind)
        if kind == "set_motor_mode":
            self.set_mode(message["mode"])
        elif kind == "stop_move":
            for move in list(self.moves):
                self.end_move(move)

    def set_target(self, first: int, values: list[float]) -> None:
        for k, value in enumerate(values, first):
            if self.mode == "enabled":
                self.largest_step = max(self.largest_step, abs(value - self.target[k]))
            self.target[k] = value

    def set_mode(self, mode: str) -> None:
        if self.ignores_torque:
            return
        if mode == "enabled" and self.mode != "enabled":
            self.target = list(self.at)
        self.mode = mode

    def begin_move(self, move: str) -> None:
        self.moves.add(move)
        self.push("/api/move/ws/updates", type="move_started", uuid=move, details="")

    def end_move(self, move: str) -> None:
        self.moves.discard(move)
        self.push("/api/move/ws/updates", type="move_completed", uuid=move, details="")

    def answer(self, method: str, path: str) -> tuple[int, object]:
        if path == "/api/motors/status":
            return 200, {"mode": self.mode}
        if path == "/api/move/running":
            return 200, [{"uuid": move} for move in self.moves]
        if path == "/api/daemon/status":
            return 200, {"state": "running", "error": None}
        if method == "POST" and path.startswith("/api/motors/set_mode/"):
            self.set_mode(path.rpartition("/")[2])
            return 200, {"status": "ok"}
        return 404, {"detail": "Not Found"}

    # HTTP and WebSocket

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            method, path, _ = head[0].split(" ")
            fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
            if fields.get("upgrade", "").lower() == "websocket":
                await self.converse(path, fields["sec-websocket-key"], reader, writer)
                return
            status, said = self.answer(method, path)
            body = json.dumps(said).encode()
            writer.write(
                b"HTTP/1.1 %d X\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % (status, len(body)) + body
            )
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            return
        finally:
            writer.close()

    async def converse(self, path: str, key: str, reader, writer) -> None:
        if path not in self.clients:
            writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            return
        accept = base64.b64encode(hashlib.sha1(key.encode() + SECRET).digest())
        writer.write(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n"
        )
        self.clients[path].add(writer)
        try:
            while True:
                first, size = await reader.readexactly(2)
                size &= 0x7F
                if size == 126:
                    (size,) = struct.unpack(">H", await reader.readexactly(2))
                mask = await reader.readexactly(4)
                data = bytes(byte ^ mask[k % 4] for k, byte in enumerate(await reader.readexactly(size)))
                if first & 0x0F == 8:
                    return
                if first & 0x0F == 10:
                    self.said.append(f"pong {data.decode()}")
                elif first & 0x0F == 1:
                    self.take(json.loads(data))
        finally:
            self.clients[path].discard(writer)

    # the strings

    def obey(self, command: str) -> object:
        verb, _, word = command.partition(" ")
        match verb:
            case "mute":
                self.is_mute = word == "on"
            case "begin":
                self.begin_move(word)
            case "end":
                self.end_move(word)
            case "mode":
                self.mode = word
            case "stubborn":
                self.ignores_torque = True
            case "ping":
                for writer in self.clients["/ws/sdk"]:
                    writer.write(bytes([0x89, 2]) + b"hi")
            case "forget":
                self.largest_step, self.goals = 0.0, 0
                self.said.clear()
            case "state":
                names = ("at", "target", "mode", "said", "goals", "largest_step", "moved")
                return {name: getattr(self, name) for name in names} | {"now": time.monotonic()}
        return None


async def main() -> None:
    daemon = Daemon()
    server = await asyncio.start_server(daemon.serve, "127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    running = asyncio.create_task(daemon.run())
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        print(json.dumps(daemon.obey(line.strip())), flush=True)
    running.cancel()


if __name__ == "__main__":
    asyncio.run(main())
