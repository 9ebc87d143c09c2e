"""The vendor's SDK, used directly, is the judge of the simulated chain."""

from __future__ import annotations

import random
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest
from dynamixel_sdk import (
    COMM_RX_CORRUPT,
    COMM_RX_TIMEOUT,
    COMM_SUCCESS,
    GroupBulkRead,
    GroupBulkWrite,
    GroupSyncRead,
    GroupSyncWrite,
    PacketHandler,
    PortHandler,
)

from robik.retarget.motion import Motion
from robik.servo.chain import Servo, ServoChain, default_chain
from robik.servo.models import MODELS
from robik.servo.packet import Decoder, encode
from robik.servo.player import Player
from robik.servo.serving import Server, SimulatorProcess
from robik.servo.simulated_port import PseudoTerminal
from robik.servo.status import PlaySettings, PlayState

RESULT_FAIL, INSTRUCTION, CRC, RANGE, LENGTH, LIMIT, ACCESS = range(1, 8)
ALERT = 0x80
WAKING = 0.15  # [s] and a little more, after a reboot
OK = (COMM_SUCCESS, 0)


@pytest.fixture
def wire(simulator, monkeypatch):
    monkeypatch.setattr("dynamixel_sdk.port_handler.LATENCY_TIMER", 60)  # [ms]: the machine may be busy with other things
    port = PortHandler(simulator.port)
    assert port.openPort()
    assert port.setBaudRate(1_000_000)
    yield port, PacketHandler(2.0)
    port.closePort()


@pytest.fixture
def sdk_of(monkeypatch):
    """The SDK on a simulated chain in this process, for chains of which there are many."""
    monkeypatch.setattr("dynamixel_sdk.port_handler.LATENCY_TIMER", 60)

    @contextmanager
    def open_chain(chain):
        server = Server(chain, PseudoTerminal())
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        port = PortHandler(server.port.name)
        assert port.setBaudRate(1_000_000)
        yield PacketHandler(2.0), port
        port.closePort()
        server.end()
        thread.join()

    return open_chain


@pytest.fixture
def port(wire):
    return wire[0]


@pytest.fixture
def sdk(wire):
    return wire[1]


def little(value, size):
    return list(value.to_bytes(size, "little", signed=value < 0))


def send_raw(port, data, wait=0.1):
    port.clearPort()
    port.writePort(data)
    time.sleep(wait)
    return Decoder().feed(bytes(port.readPort(4096)))


def test_ping_one_and_all(sdk, port):
    assert sdk.ping(port, 7) == (1010, *OK)
    assert sdk.ping(port, 77)[1] == COMM_RX_TIMEOUT
    found, result = sdk.broadcastPing(port)
    assert result == COMM_SUCCESS
    assert found == {id: [1010, 46] for id in range(1, 13)}


def test_every_entry_reads_as_from_the_factory(sdk, port, simulator):
    own = {"id": 3, "baud_rate": 3, "return_delay_time": 0, "goal_position": 2048, "present_position": 2048, "position_trajectory": 2048}
    for item in MODELS["XH430-W210"].items:
        if item.name in ("realtime_tick", "moving_status"):
            continue
        data, result, error = sdk.readTxRx(port, 3, item.address, item.size)
        assert (result, error) == OK
        value = int.from_bytes(bytes(data), "little", signed=item.is_signed)
        assert value == own.get(item.name, item.initial), item.name


def test_every_access_right(sdk, port):
    """What is writable takes its own value back; what is not, and what is kept while torque is on, refuses."""
    table = [i for i in MODELS["XH430-W210"].items if i.name not in ("torque_enable", "baud_rate", "id")]
    for torque in (0, 1):
        assert sdk.write1ByteTxRx(port, 2, 64, torque) == OK
        for item in table:
            data = sdk.readTxRx(port, 2, item.address, item.size)[0]
            error = sdk.writeTxRx(port, 2, item.address, item.size, list(data))[1]
            refused = not item.writable or (torque and item.address < 64)
            assert error == (ACCESS if refused else 0), (item.name, torque)


@pytest.mark.parametrize("name", MODELS)
def test_every_models_factory_values_and_access_rights(name, sdk_of):
    """Without torque: what is writable takes its own value back, the rest refuses; what only reports is not judged by its value."""
    with sdk_of(ServoChain((Servo("one", 1, name),))) as (sdk, port):
        assert sdk.ping(port, 1) == (MODELS[name].number, *OK)
        for item in MODELS[name].items:
            data, result, error = sdk.readTxRx(port, 1, item.address, item.size)
            assert (result, error) == OK, item.name
            if item.name in ("torque_enable", "baud_rate", "id"):
                continue
            if item.writable and item.name != "return_delay_time":
                assert int.from_bytes(bytes(data), "little", signed=item.is_signed) == {"goal_position": 2048}.get(item.name, item.initial)
            error = sdk.writeTxRx(port, 1, item.address, item.size, list(data))[1]
            assert error == (0 if item.writable else ACCESS), item.name


def test_the_forms_that_do_not_wait_for_an_answer(sdk, port):
    """The servo answers all the same; the next packet clears that away, if it is there by then."""
    for sent in (
        lambda: sdk.write1ByteTxOnly(port, 3, 65, 1),
        lambda: sdk.write2ByteTxOnly(port, 3, 84, 321),
        lambda: sdk.write4ByteTxOnly(port, 3, 116, 2222),
    ):
        assert sent() == COMM_SUCCESS
        time.sleep(0.05)
    assert sdk.read1ByteTxRx(port, 3, 65) == (1, *OK)
    assert sdk.read2ByteTxRx(port, 3, 84) == (321, *OK)
    assert sdk.read4ByteTx(port, 3, 116) == COMM_SUCCESS
    assert sdk.read4ByteRx(port, 3) == (2222, *OK)
    assert sdk.regWriteTxOnly(port, 3, 65, 1, [0]) == COMM_SUCCESS
    time.sleep(0.05)
    assert sdk.action(port, 0xFE) == COMM_SUCCESS
    assert sdk.read1ByteTxRx(port, 3, 65) == (0, *OK)


def test_addresses_without_an_entry_and_parts_of_entries(sdk, port):
    for address, size in ((14, 1), (66, 2), (147, 4), (1000, 1)):
        assert sdk.readTxRx(port, 1, address, size)[1:] == (COMM_SUCCESS, ACCESS)
    assert sdk.write2ByteTxRx(port, 1, 116, 100) == (COMM_SUCCESS, LENGTH)
    assert sdk.write2ByteTxRx(port, 1, 117, 100) == (COMM_SUCCESS, LENGTH)
    assert sdk.write1ByteTxRx(port, 1, 67, 1) == (COMM_SUCCESS, ACCESS)
    assert sdk.readTxRx(port, 1, 133, 1) == ([8], *OK)  # a part may be read
    assert sdk.writeTxRx(port, 1, 108, 12, little(10, 4) + little(20, 4) + little(2100, 4)) == OK  # a run of entries
    assert sdk.readTxRx(port, 1, 108, 12)[0] == little(10, 4) + little(20, 4) + little(2100, 4)


def test_ranges_and_limits(sdk, port):
    assert sdk.write1ByteTxRx(port, 1, 64, 2) == (COMM_SUCCESS, RANGE)
    assert sdk.write1ByteTxRx(port, 1, 31, 101) == (COMM_SUCCESS, RANGE)
    assert sdk.write4ByteTxRx(port, 1, 48, 3000) == OK
    assert sdk.write4ByteTxRx(port, 1, 116, 3001) == (COMM_SUCCESS, LIMIT)
    assert sdk.write4ByteTxRx(port, 1, 116, 3000) == OK
    assert sdk.write4ByteTxRx(port, 1, 104, 361) == (COMM_SUCCESS, LIMIT)
    assert sdk.write2ByteTxRx(port, 1, 102, 649) == (COMM_SUCCESS, RANGE)
    assert sdk.write1ByteTxRx(port, 1, 11, 4) == OK  # over several turns there are no limits
    assert sdk.write4ByteTxRx(port, 1, 116, 2**32 - 90_000) == OK


def test_stuffed_values_arrive(sdk, port):
    """FF FF FD inside a value is a header if nobody takes care of it."""
    assert sdk.write1ByteTxRx(port, 1, 11, 4) == OK
    value = 0xFFFDFFFF - 2**32  # bytes FF FF FD FF
    assert sdk.write4ByteTxRx(port, 1, 116, value & 0xFFFFFFFF) == OK
    data, result, error = sdk.readTxRx(port, 1, 116, 4)
    assert (data, result, error) == ([0xFF, 0xFF, 0xFD, 0xFF], *OK)


def test_reg_write_and_action(sdk, port):
    assert send_raw(port, encode(4, 0x05, b""))[0].parameters[0] == INSTRUCTION  # nothing registered
    assert sdk.regWriteTxRx(port, 4, 65, 1, [1]) == OK
    assert sdk.read1ByteTxRx(port, 4, 65) == (0, *OK)
    assert sdk.read1ByteTxRx(port, 4, 69) == (1, *OK)
    assert sdk.action(port, 4) == COMM_SUCCESS
    time.sleep(0.05)  # the SDK does not read the answer to this one; the next packet clears it away
    assert sdk.read1ByteTxRx(port, 4, 65) == (1, *OK)
    assert sdk.read1ByteTxRx(port, 4, 69) == (0, *OK)
    assert sdk.regWriteTxRx(port, 4, 65, 1, [2]) == (COMM_SUCCESS, RANGE)


def test_sync_and_bulk_write_then_read(sdk, port):
    sync = GroupSyncWrite(port, sdk, 116, 4)
    for id in range(1, 13):
        assert sync.addParam(id, little(1000 + id, 4))
    assert sync.txPacket() == COMM_SUCCESS
    bulk = GroupBulkWrite(port, sdk)
    assert bulk.addParam(2, 65, 1, [1])
    assert bulk.addParam(3, 112, 4, little(77, 4))
    assert bulk.txPacket() == COMM_SUCCESS
    for fast in (False, True):
        read = GroupSyncRead(port, sdk, 116, 4)
        for id in range(1, 13):
            read.addParam(id)
        assert (read.fastSyncRead() if fast else read.txRxPacket()) == COMM_SUCCESS
        assert [read.getData(id, 116, 4) for id in range(1, 13)] == [1000 + id for id in range(1, 13)]
        several = GroupBulkRead(port, sdk)
        several.addParam(2, 65, 1)
        several.addParam(3, 112, 4)
        several.addParam(1, 144, 2)
        assert (several.fastBulkRead() if fast else several.txRxPacket()) == COMM_SUCCESS
        assert (several.getData(2, 65, 1), several.getData(3, 112, 4), several.getData(1, 144, 2)) == (1, 77, 120)


def test_a_missing_servo_in_a_group_read(sdk, port, simulator):
    simulator.command("silent 5")
    read = GroupSyncRead(port, sdk, 132, 4)
    for id in range(1, 13):
        read.addParam(id)
    assert read.txRxPacket() == COMM_RX_TIMEOUT
    assert read.fastSyncRead() in (COMM_RX_TIMEOUT, COMM_RX_CORRUPT)
    simulator.command("answer 5")
    assert read.txRxPacket() == COMM_SUCCESS


def test_status_return_level(sdk, port):
    for level, reads, writes in ((0, False, False), (1, True, False), (2, True, True)):
        sdk.write1ByteTxOnly(port, 6, 68, level)
        time.sleep(0.02)
        assert sdk.ping(port, 6)[1] == COMM_SUCCESS
        assert (sdk.read1ByteTxRx(port, 6, 7)[1] == COMM_SUCCESS) is reads
        assert (sdk.write1ByteTxRx(port, 6, 65, 0)[0] == COMM_SUCCESS) is writes


def test_bad_packets(sdk, port):
    broken = bytearray(encode(1, 0x03, bytes([65, 0, 1])))
    broken[-1] ^= 0x01
    assert [(p.id, p.parameters[0]) for p in send_raw(port, bytes(broken))] == [(1, CRC)]
    assert sdk.read1ByteTxRx(port, 1, 65) == (0, *OK)
    assert send_raw(port, encode(1, 0x77, b""))[0].parameters[0] == INSTRUCTION
    assert send_raw(port, encode(1, 0x02, b"\x00"))[0].parameters[0] == LENGTH
    assert send_raw(port, encode(1, 0x02, bytes([0, 0, 0, 0])))[0].parameters[0] == LENGTH
    for group in (0x82, 0x83, 0x8A, 0x92, 0x93, 0x9A):
        assert send_raw(port, encode(0xFE, group, b"\x01"), 0.02) == []
        assert send_raw(port, encode(3, group, bytes(12)), 0.02) == []
    send_raw(port, random.Random(3).randbytes(500), 0.02)
    assert sdk.ping(port, 1) == (1010, *OK)


def test_alert_bit_shutdown_and_reboot(sdk, port, simulator):
    assert sdk.write1ByteTxRx(port, 9, 64, 1) == OK
    simulator.command("error 9 0x20")
    assert sdk.read1ByteTxRx(port, 9, 70) == (0x20, COMM_SUCCESS, ALERT)
    assert sdk.read1ByteTxRx(port, 9, 64)[0] == 0
    assert sdk.write1ByteTxRx(port, 9, 64, 1) == (COMM_SUCCESS, ALERT | RESULT_FAIL)
    assert sdk.reboot(port, 9) == OK
    assert sdk.ping(port, 9)[1] == COMM_RX_TIMEOUT  # it wakes up first
    time.sleep(WAKING)
    assert sdk.read1ByteTxRx(port, 9, 70) == (0, *OK)
    assert sdk.write1ByteTxRx(port, 9, 64, 1) == OK


def test_reboot_keeps_the_eeprom_and_forgets_the_rest(sdk, port):
    assert sdk.write1ByteTxRx(port, 1, 31, 60) == OK
    assert sdk.write1ByteTxRx(port, 1, 65, 1) == OK
    assert sdk.reboot(port, 1) == OK
    time.sleep(WAKING)
    assert sdk.read1ByteTxRx(port, 1, 31)[0] == 60
    assert sdk.read1ByteTxRx(port, 1, 65)[0] == 0


def test_factory_reset(sdk, port):
    assert sdk.write1ByteTxRx(port, 8, 31, 60) == OK
    assert sdk.factoryReset(port, 0xFE, 0xFF)[0] == COMM_SUCCESS  # to all, of all: not done
    assert sdk.read1ByteTxRx(port, 8, 31)[0] == 60
    assert sdk.factoryReset(port, 8, 0x03) == (COMM_SUCCESS, RANGE)
    assert sdk.factoryReset(port, 8, 0x02) == OK
    time.sleep(WAKING)
    assert sdk.read1ByteTxRx(port, 8, 31)[0] == 80
    assert sdk.factoryReset(port, 8, 0x01)[0] == COMM_SUCCESS
    time.sleep(WAKING)
    assert sdk.ping(port, 8)[1] == COMM_RX_TIMEOUT  # at 57,600 baud again
    assert port.setBaudRate(57_600)
    assert sdk.ping(port, 8) == (1010, *OK)
    assert sdk.ping(port, 7)[1] == COMM_RX_TIMEOUT


def test_id_baud_rate_and_return_delay(sdk, port):
    assert sdk.write1ByteTxRx(port, 12, 7, 200) == OK
    assert sdk.ping(port, 200)[1] == COMM_SUCCESS
    assert sdk.write1ByteTxRx(port, 200, 9, 254) == OK
    started = time.monotonic()
    for _ in range(20):
        assert sdk.ping(port, 200)[1] == COMM_SUCCESS
    assert time.monotonic() - started > 20 * 254 * 2e-6
    assert sdk.write1ByteTxRx(port, 200, 8, 4) == OK
    assert sdk.ping(port, 200)[1] == COMM_RX_TIMEOUT
    assert port.setBaudRate(2_000_000)
    assert sdk.ping(port, 200)[1] == COMM_SUCCESS


def test_shadow_id_obeys_without_answering(sdk, port):
    for id in (1, 2):
        assert sdk.write1ByteTxRx(port, id, 12, 100) == OK
    assert sdk.write1ByteTxRx(port, 100, 65, 1)[0] == COMM_RX_TIMEOUT
    assert [sdk.read1ByteTxRx(port, id, 65)[0] for id in (1, 2, 3)] == [1, 1, 0]


def test_indirect_addresses(sdk, port):
    """Goal and profile velocity side by side through indirect data, both banks; the entries' own rules hold."""
    for bank, (address, data) in enumerate(((168, 224), (578, 634))):
        for k, target in enumerate((116, 117, 118, 119, 112, 113, 114, 115)):
            assert sdk.write2ByteTxRx(port, 10, address + 2 * k, target) == OK
        values = little(1500 + bank, 4) + little(44 + bank, 4)
        assert sdk.writeTxRx(port, 10, data, 8, values) == OK
        assert sdk.readTxRx(port, 10, data, 8)[0] == values
        assert sdk.read4ByteTxRx(port, 10, 116)[0] == 1500 + bank
        assert sdk.read4ByteTxRx(port, 10, 112)[0] == 44 + bank
    assert sdk.write4ByteTxRx(port, 10, 224, 9999) == (COMM_SUCCESS, LIMIT)
    assert sdk.write2ByteTxRx(port, 10, 224, 1) == (COMM_SUCCESS, LENGTH)
    assert sdk.write2ByteTxRx(port, 10, 168, 63) == (COMM_SUCCESS, RANGE)  # the EEPROM is not to be had this way
    assert sdk.write2ByteTxRx(port, 10, 168, 132) == OK
    assert sdk.write1ByteTxRx(port, 10, 224, 1) == (COMM_SUCCESS, ACCESS)


def test_clear_turns(sdk, port, simulator):
    assert sdk.write1ByteTxRx(port, 1, 11, 4) == OK
    simulator.command("place 1 10000")
    assert sdk.read4ByteTxRx(port, 1, 132)[0] == 10000
    assert sdk.clearMultiTurn(port, 1) == OK
    assert sdk.read4ByteTxRx(port, 1, 132)[0] == 10000 - 2 * 4096
    assert sdk.write1ByteTxRx(port, 1, 64, 1) == OK
    assert sdk.write4ByteTxRx(port, 1, 112, 5) == OK
    assert sdk.write4ByteTxRx(port, 1, 116, 8000) == OK
    assert sdk.clearMultiTurn(port, 1) == (COMM_SUCCESS, RESULT_FAIL)  # not while it moves


def test_watchdog_of_the_bus(sdk, port):
    assert sdk.write4ByteTxRx(port, 1, 112, 20) == OK
    assert sdk.write1ByteTxRx(port, 1, 64, 1) == OK
    assert sdk.write1ByteTxRx(port, 1, 98, 5) == OK
    assert sdk.write4ByteTxRx(port, 1, 116, 4000) == OK
    for _ in range(6):
        time.sleep(0.04)
        sdk.ping(port, 12)  # any packet feeds it, whomever it is for
    assert sdk.read1ByteTxRx(port, 1, 98)[0] == 5
    time.sleep(0.15)
    assert sdk.read1ByteTxRx(port, 1, 98)[0] == 255
    stood = sdk.read4ByteTxRx(port, 1, 132)[0]
    assert 2048 < stood < 4000
    assert sdk.write4ByteTxRx(port, 1, 116, 3000) == (COMM_SUCCESS, RANGE)
    time.sleep(0.05)
    assert sdk.read4ByteTxRx(port, 1, 132)[0] == stood
    assert sdk.write1ByteTxRx(port, 1, 98, 0) == OK
    assert sdk.write4ByteTxRx(port, 1, 116, 3000) == OK


def test_motion_under_a_profile(sdk, port):
    """30 units are 6.87 rev/min, 469 counts/s: after half a second it is about there, and it gets to its goal."""
    assert sdk.write4ByteTxRx(port, 1, 112, 30) == OK
    assert sdk.write1ByteTxRx(port, 1, 64, 1) == OK
    started = time.monotonic()
    assert sdk.write4ByteTxRx(port, 1, 116, 2400) == OK
    time.sleep(0.4)
    position, moving = sdk.read4ByteTxRx(port, 1, 132)[0], sdk.read1ByteTxRx(port, 1, 122)[0]
    elapsed = time.monotonic() - started
    assert 2048 + 469 * 0.4 - 2 <= position <= 2048 + 469 * elapsed + 2
    assert moving == 1
    assert sdk.read4ByteTxRx(port, 1, 128)[0] == 30
    time.sleep(0.5)
    assert sdk.read4ByteTxRx(port, 1, 132)[0] == 2400
    assert sdk.read1ByteTxRx(port, 1, 122)[0] == 0


def test_over_a_socket(tmp_path):
    """Where there is no pseudo-terminal, the same bytes go over TCP."""
    from robik.servo.bus import Bus
    from robik.servo.finding import find

    with SimulatorProcess.of(default_chain(("a", "b"))) as process:
        assert process.port.startswith("/dev/")
    from robik.servo.chain import save_chain

    chain = default_chain(("a", "b"))
    save_chain(chain, tmp_path / "two.servos.json")
    with SimulatorProcess(tmp_path / "two.servos.json", over_socket=True) as process:
        bus = Bus(chain, process.port)
        assert [found.position for found in find(bus)[0]] == [2048, 2048]
        bus.close()
        bus = Bus(chain, process.port)  # one client after another
        assert bus.positions().tolist() == [2048, 2048]
        bus.close()
        player = Player(chain, process.port, PlaySettings(approach_speed=3.0))
        player.connect()
        player.wait(PlayState.READY)
        player.torque(True)
        player.wait(PlayState.HOLDING)
        player.play(Motion(np.array([0.0, 0.5]), ("a", "b"), np.array([[0.0, 0.0], [0.3, -0.2]])))
        player.wait(PlayState.PLAYING)
        process.unplug()
        assert "is gone" in player.wait(PlayState.FAULT).message
        process.plug()
        player = Player(chain, process.port)
        player.connect()
        assert player.wait(PlayState.HOLDING).torque
        player.close()
