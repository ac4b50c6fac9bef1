"""A board of hardware in a thread, behind a pseudo terminal or a socket: the bus of a system, and kernels that are Python
functions."""

import os
import select
import socket
import threading
import tty
from collections.abc import Callable, Mapping

import numpy as np

from hls.export.soc_map import SOC_MAP
from hls.rtl.interface import SystemInterface
from rtl_lib.axi import register_map as at

WRITE, READ = 1, 2
HEAD = 6


class FakeBoard:
    """``kernels`` compute on the memory (an array of bytes) from the values of their argument registers, by name.
    ``lose`` is asked for each byte that the host sends, by its number, whether it is lost."""

    def __init__(
        self,
        interface: SystemInterface,
        digest: str,
        kernels: Mapping[str, Callable[..., None]],
        lose: Callable[[int], bool] = lambda number: False,
        bytes: int = 1 << 25,
    ) -> None:
        self.interface, self.digest, self.kernels, self.lose = interface, digest, kernels, lose
        self.memory = np.frombuffer(np.random.default_rng(1).bytes(1 << 20) * (bytes >> 20), np.uint8).copy()
        self.registers: dict[int, int] = {}
        self.interrupts, self.controller, self.came, self.written = 0, [], 0, 0
        self.count = self.starts = 0  #: words that were written, and starts of kernels
        self._pending, self._alive = b"", True
        self._open()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _open(self) -> None:
        self._host, self._line = os.openpty()
        tty.setraw(self._line)
        self.port = os.ttyname(self._line)

    def unplug(self) -> None:
        """Take the port away."""
        self._alive = False
        self._thread.join()
        for fd in (self._line, self._host):
            if fd >= 0:
                os.close(fd)
        self._line = self._host = -1

    def _serve(self) -> None:
        while self._alive:
            if not select.select([self._host], [], [], 0.05)[0]:
                self._pending = b""  # the bridge forgets what is not complete
                continue
            for byte in os.read(self._host, 4096):
                self.came += 1
                if not self.lose(self.came):
                    self._pending += bytes((byte,))
            while self._command():
                pass

    def _command(self) -> bool:
        """Do the first command that is complete, if there is one."""
        if len(self._pending) < HEAD:
            return False
        command, words = self._pending[:2]
        address = 4 * int.from_bytes(self._pending[2:HEAD], "big")
        if command == READ:
            self._pending = self._pending[HEAD:]
            values = [self._read(address + 4 * k) for k in range(words)]
            os.write(self._host, b"".join(value.to_bytes(4, "big") for value in values))
            return True
        if command != WRITE:
            self._pending = self._pending[1:]
            return True
        end = HEAD + 4 * words
        if len(self._pending) < end:
            return False
        data, self._pending = self._pending[HEAD:end], self._pending[end:]
        for k in range(words):
            self._write(address + 4 * k, int.from_bytes(data[4 * k : 4 * k + 4], "big"))
        return True

    def _read(self, address: int) -> int:
        if address >= SOC_MAP.kernels:
            return self.registers.get(address - SOC_MAP.kernels, 0)
        if address >= SOC_MAP.memory:
            place = address - SOC_MAP.memory
            return int.from_bytes(self.memory[place : place + 4].tobytes(), "little")
        if SOC_MAP.digest <= address < SOC_MAP.clock:
            return int(self.digest[2 * (address - SOC_MAP.digest) :][:8], 16)
        found = {SOC_MAP.clock: 60_000, SOC_MAP.interrupt: self.interrupts, SOC_MAP.written: self.count}
        return found.get(address, 0)

    def _write(self, address: int, value: int) -> None:
        self.count = (self.count + 1) % (1 << 32)
        if address < SOC_MAP.memory:
            self.controller.append((address, value))
        elif address < SOC_MAP.kernels:
            self.written += 1
            place = address - SOC_MAP.memory
            self.memory[place : place + 4] = np.frombuffer(value.to_bytes(4, "little"), np.uint8)
        else:
            self._write_register(address - SOC_MAP.kernels, value)

    def _write_register(self, address: int, value: int) -> None:
        self.registers[address] = value
        for kernel in self.interface.kernels:
            if address == kernel.base + at.CONTROL:
                self.registers[address] = at.IDLE
                if value & at.START:
                    self.starts += 1
                    given = {
                        one.name: self.registers[kernel.base + one.offset]
                        | self.registers[kernel.base + one.offset + 4] << 32
                        for one in kernel.arguments
                    }
                    self.kernels[kernel.name](self.memory, **given)
                    self.registers[kernel.base + at.CYCLES] = 1234
                    self.interrupts |= 1 << kernel.index
                if value & at.DONE:
                    self.interrupts &= ~(1 << kernel.index)


class NetworkBoard(FakeBoard):
    """The same behind Etherbone, as LiteEth has it: answers go to the port at which the board is asked, whatever the
    sender's is. ``lose`` is asked for each datagram, of both directions, and ``twice`` for each that comes whether it is
    delivered twice."""

    twice: Callable[[int], bool] = staticmethod(lambda number: False)

    def _open(self) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.2", 0))
        self._socket.settimeout(0.05)
        self._number = self._socket.getsockname()[1]
        self.port = f"127.0.0.2:{self._number}"

    def unplug(self) -> None:
        self._alive = False
        self._thread.join()
        self._socket.close()

    def _lost(self) -> bool:
        self.came += 1
        return self.lose(self.came)

    def _serve(self) -> None:
        while self._alive:
            try:
                packet, (host, _) = self._socket.recvfrom(2048)
            except TimeoutError:
                continue
            if not self._lost():
                for _ in range(2 if self.twice(self.came) else 1):
                    self._take(packet, host)

    def _take(self, packet: bytes, host: str) -> None:
        """Do what the one record of a packet says."""
        assert packet[:4] == bytes.fromhex("4e6f1044") and packet[9] == 0x0F
        writes, reads = packet[10:12]
        assert len(packet) == 12 + 4 * (bool(writes) + writes + bool(reads) + reads) and not (writes and reads)
        first, *words = (int(word) for word in np.frombuffer(packet, ">u4", offset=12))
        if writes:
            for k, word in enumerate(words):
                self._write(first + 4 * k, word)
        elif reads and not self._lost():
            values = [first, *(self._read(word) for word in words)]
            answer = packet[:8] + bytes((0, 0x0F, reads, 0)) + np.array(values, ">u4").tobytes()
            self._socket.sendto(answer, (host, self._number))
