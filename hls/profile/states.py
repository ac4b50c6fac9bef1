"""Words for what the probe shows in a cycle: the account of a compute unit, and the state of a place where requests can
be held up. A waveform has a signal for each, whose values are these words."""

import re
from collections.abc import Sequence

from .layout import Account

__all__ = ["NOT_RUNNING", "STATES", "account_words"]

#: no request; a request taken; a request that is not taken; nothing but a wait for its answer
STATES = ("idle", "move", "stall", "wait")
#: number and word of the account of a unit that does not run; cause k has number k + 1
NOT_RUNNING = "not_running"
_OTHER = re.compile(r"\W+", re.ASCII)


def account_words(accounts: Sequence[Account], causes: int) -> list[str]:
    """A unique word for each number of an account, without spaces: that the unit does not run, its causes, and that
    none of them holds. ``accounts`` are those of its layout."""
    found = [NOT_RUNNING]
    for account in accounts[:causes]:
        place = f"_L{account.line}" if account.line else ""
        word = _OTHER.sub("_", account.cause).strip("_") + place
        same = sum(one == word or one.startswith(f"{word}__") for one in found)
        found.append(f"{word}__{same + 1}" if same else word)
    return [*found, "latency"]
