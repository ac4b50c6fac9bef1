"""The ports of a user's Verilog module, as ``rtl`` operations note them: control, the result, the operands."""

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["CONTROL", "RtlPorts"]

#: ports of control, in the order in which they are noted; each may be empty
CONTROL = ("clock", "enable", "reset", "resetn", "input_valid", "input_ready", "output_valid", "output_ready")


@dataclass(frozen=True)
class RtlPorts:
    """Names of the ports: of control by the names in :data:`CONTROL` (those that the module has), the result, the
    operands in order."""

    control: dict[str, str]
    output: str
    inputs: tuple[str, ...]

    @classmethod
    def of(cls, names: Sequence[str]) -> "RtlPorts":
        """The ports from the names that an operation notes."""
        count = len(CONTROL)
        control = {key: name for key, name in zip(CONTROL, names[:count], strict=True) if name}
        return cls(control, names[count], tuple(names[count + 1 :]))
