"""Whether running kernels still get on, and if not, what each waits for."""

from collections.abc import Mapping, Sequence

from hls.profile.layout import CYCLES
from hls.rtl.interface import KernelInterface
from rtl_lib.axi import register_map as at

from .session import Session

__all__ = ["PATIENCE", "Progress", "read_counters"]

#: Cycles between two looks at running kernels: one of them must have issued something or moved a value in between.
PATIENCE = 2_000_000
#: The same where a memory with nothing on its way proves that nobody waits for it; longer than any pipeline.
SHORT_PATIENCE = 50_000


class Progress:
    """Compares the counters of ``kernels``, which run at the same time, from look to look."""

    def __init__(self, session: Session, kernels: Sequence[KernelInterface]):
        self.session, self.kernels = session, kernels
        self._joined = any(kernel.layout.channels for kernel in kernels)
        self._seen: list[dict[str, int]] | None = None

    @property
    def patience(self) -> int:
        """Cycles until the next look."""
        return SHORT_PATIENCE if self._joined else PATIENCE

    def look(self) -> str:
        """Why no kernel will ever get on; empty while one does, or memory is still at work."""
        before, now = self._seen, [read_counters(self.session, kernel) for kernel in self.kernels]
        self._seen = now
        if before is None or (self._joined and not self.session.quiet()):
            return ""
        moved = [name for kernel, old, new in zip(self.kernels, before, now) for name in _moving(kernel) if old[name] != new[name]]
        if moved or not any(map(_moving, self.kernels)):
            return ""
        return self._explain(before, now)

    def _explain(self, before, now) -> str:
        waits = [f"kernel {kernel.name} has stopped: for {self.patience:,} cycles no loop issued, no memory access was accepted "
                 f"and no channel passed a value{_longest_wait(kernel, old, new)}"
                 for kernel, old, new in zip(self.kernels, before, now)]
        states = dict.fromkeys(state for kernel, counters in zip(self.kernels, now) for state in _channels(kernel, counters))
        hint = ["start the kernel at the other end, give a channel more depth, or change the order of calls"] if states else []
        return "\n".join([*waits, *states, *hint])


def read_counters(session: Session, kernel: KernelInterface) -> dict[str, int]:
    """Every counter. Low words come before high ones: reading a low word holds the high one."""
    places = {CYCLES: at.CYCLES} | {counter.name: counter.offset for counter in kernel.counters}
    words = session.read([kernel.base + offset + half for offset in places.values() for half in (0, 4)])
    return {name: low | high << 32 for name, low, high in zip(places, words[::2], words[1::2], strict=True)}


def _moving(kernel: KernelInterface) -> list[str]:
    """The counters that stand still only when the kernel does."""
    present = {counter.name for counter in kernel.counters}
    owners = [*kernel.layout.loops, *kernel.layout.accesses, *kernel.layout.channels]
    moving = [counter.name for owner in owners for counter in owner.counters() if counter.kind in ("issued", "accepted", "words", "moved")]
    return [name for name in moving if name in present]


def _longest_wait(kernel: KernelInterface, before: Mapping[str, int], now: Mapping[str, int]) -> str:
    """Where the cycles since the look before went, as the end of a sentence."""
    accounts = [(now[counter.name] - before[counter.name], account) for account in kernel.layout.accounts
                for counter in account.counters() if counter.name in now]
    if not accounts:
        return ""
    cycles, account = max(accounts, key=lambda pair: pair[0])
    place = f" (line {account.line})" if account.line else ""
    return f"; it is {account.cause}{place}" if cycles else ""


def _channels(kernel: KernelInterface, counters: Mapping[str, int]) -> list[str]:
    """The state of every channel of the kernel."""
    return [f"channel {channel.name} holds {counters[counter.name]} of {channel.depth} values"
            for channel in kernel.layout.channels for counter in channel.counters() if counter.kind == "level" and counter.name in counters]
