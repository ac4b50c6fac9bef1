"""A serial line to a board: bytes out and in, with a limit on how long none comes."""

import contextlib
import os
import select
import termios
import time
import tty

from ..errors import SimulationError

__all__ = ["DeviceError", "Line"]

#: seconds without a byte after which a line is dead
SILENCE = 10.0


class DeviceError(SimulationError):
    """A board does not answer, or not as it must."""


class Line:
    """The terminal device ``path`` at ``baud`` bits a second, eight bits, no parity. Raises DeviceError."""

    def __init__(self, path: str, baud: int) -> None:
        self.path = path
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        except OSError as error:
            raise DeviceError(
                f"cannot open {path}: {error.strerror}; connect the board, and name its serial port in "
                "SLUICE_DEVICE=uart:PORT"
            ) from error
        try:
            self._set(baud)
        except BaseException:
            self.close()
            raise

    def _set(self, baud: int) -> None:
        speed = getattr(termios, f"B{baud}", None)
        if speed is None:
            raise DeviceError(f"this system has no serial lines of {baud} Baud; change baud in the board's table [soc]")
        try:
            tty.setraw(self._fd)
            mode = termios.tcgetattr(self._fd)
            mode[4] = mode[5] = speed
            termios.tcsetattr(self._fd, termios.TCSANOW, mode)
        except termios.error as error:
            raise DeviceError(f"{self.path} is no serial port: {error.args[-1]}") from error

    @property
    def closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return self._fd < 0

    def close(self) -> None:
        """Close the device; safe to call twice."""
        if self._fd >= 0:
            with contextlib.suppress(OSError):
                os.close(self._fd)
            self._fd = -1

    def send(self, data: bytes) -> None:
        """Write all bytes."""
        view = memoryview(data)
        while view:
            self._wait([], [self._fd], "takes no more bytes")
            view = view[self._write(view) :]

    def receive(self, bytes: int) -> bytes:
        """So many bytes."""
        data = b""
        while len(data) < bytes:
            self._wait([self._fd], [], f"does not answer: {len(data)} of {bytes} bytes came")
            data += self._read(bytes - len(data))
        return data

    def forget(self, seconds: float) -> None:
        """Drop what comes within that time."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if select.select([self._fd], [], [], left)[0]:
                self._read(4096)

    def _wait(self, reads: list[int], writes: list[int], what: str) -> None:
        if self._fd < 0:
            raise DeviceError(f"the line to the board at {self.path} is closed")
        if not any(select.select(reads, writes, [], SILENCE)):
            raise DeviceError(
                f"the board at {self.path} {what} within {SILENCE:g} s; check cable and power, and load the bitstream"
            )

    def _write(self, data: memoryview) -> int:
        """The number of bytes that the line has taken."""
        try:
            return os.write(self._fd, data)
        except OSError as error:
            raise self._gone(error.strerror) from error

    def _read(self, most: int) -> bytes:
        """What has come, which is something."""
        try:
            found = os.read(self._fd, most)
        except OSError as error:
            raise self._gone(error.strerror) from error
        if not found:
            raise self._gone("the line has ended")
        return found

    def _gone(self, reason: str | None) -> DeviceError:
        return DeviceError(
            f"the board at {self.path} is gone: {reason}; connect it again, and load the bitstream if it lost power"
        )
