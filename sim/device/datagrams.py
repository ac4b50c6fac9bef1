"""Datagrams (UDP) to a board in the network and back."""

import errno
import select
import socket
import time

from .line import DeviceError

__all__ = ["PORT", "Datagrams"]

#: of Etherbone, at both ends
PORT = 1234
MOST = 2048


class Datagrams:
    """Datagrams from and to ``place``, HOST or HOST:PORT. A board answers to the port at which it is asked, whatever
    the sender's is, so that is bound here, too. Raises DeviceError."""

    def __init__(self, place: str) -> None:
        self.place = place
        host, port = _split(place)
        try:
            address = socket.getaddrinfo(host, port, socket.AF_INET, socket.SOCK_DGRAM)[0][4]
            self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        except OSError as error:
            raise DeviceError(
                f"cannot find {host}: {error.strerror}; name the board's address in SLUICE_DEVICE=eth:HOST"
            ) from error
        try:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as trial:
                trial.connect(address)
                own = trial.getsockname()[0]
            self._socket.bind((own, port))
            self._socket.connect(address)
        except OSError as error:
            self.close()
            if error.errno == errno.EADDRINUSE:
                raise DeviceError(
                    f"UDP port {port} of this machine, to which the board at {place} answers, is in use: end the other "
                    "program that talks to a board"
                ) from error
            raise self._gone(error) from error

    @property
    def closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return self._socket.fileno() < 0

    def close(self) -> None:
        """Close the socket; safe to call twice."""
        self._socket.close()

    def send(self, data: bytes) -> None:
        """Send a datagram, which may be lost on its way."""
        if self.closed:
            raise DeviceError(f"the link to the board at {self.place} is closed")
        try:
            self._socket.send(data)
        except OSError as error:
            raise self._gone(error) from error

    def receive(self, seconds: float) -> bytes | None:
        """The next datagram within that time, if one comes."""
        end = time.monotonic() + seconds
        if not select.select([self._socket], [], [], max(0.0, end - time.monotonic()))[0]:
            return None
        try:
            return self._socket.recv(MOST)
        except OSError as error:
            raise self._gone(error) from error

    def _gone(self, error: OSError) -> DeviceError:
        return DeviceError(
            f"the board at {self.place} cannot be reached: {error.strerror}; check cable, power and address, and "
            "load the bitstream"
        )


def _split(place: str) -> tuple[str, int]:
    """Host and port of HOST or HOST:PORT."""
    host, _, port = place.partition(":")
    if not host or (":" in place and not (port.isdigit() and 0 < int(port) < 1 << 16)):
        raise DeviceError(f"{place!r} is no address of a board: SLUICE_DEVICE=eth:HOST, or eth:HOST:PORT")
    return host, int(port or PORT)
