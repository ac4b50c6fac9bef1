"""Hazard units of a kernel: the store units that each watches, and the accesses that it releases."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from amaranth import *

from rtl_lib.lsu.hazard import HazardUnit
from rtl_lib.lsu.store_finder import StoreFinder

from ..ir import Attr, Op
from ..ir import Value as IrValue
from ..planning.memory import HazardPlan
from .access import Request, Response

if TYPE_CHECKING:
    from .context import KernelContext
    from .level import LevelBuilder

__all__ = ["HazardAccess", "build_hazards", "hazards_of"]


class HazardAccess:
    """A hazard operation as a variable-latency unit: a request brings addresses, the response says that no store to
    them is in flight, or which of them has a store in flight."""

    def __init__(self, context: "KernelContext", op: Op, plan: HazardPlan) -> None:
        self.op, self.inside = op, plan.inside
        units = context.servers.units | context.servers.ports
        self.stores, self.loads = [units[store] for store in plan.stores], [units[load] for load in plan.loads]
        self.until_pushed, finds = Attr.UNTIL_PUSHED in op.attrs, Attr.FINDS in op.attrs
        bits = plan.slot_bits if self.until_pushed else context.address_bits - plan.inside
        sizes = bits, plan.entries, op.attrs[Attr.ASKS], plan.certain, plan.per_word
        self.unit = StoreFinder(*sizes, plan.slot_bits) if finds else HazardUnit(*sizes)
        self.fates = {u.op: getattr(self.unit, f"fate{k}") for k, u in enumerate(self.stores) if not plan.certain[k]}

    def request(self) -> Request:
        """The stream of requests, and a function of its payload: place and predicate of every access compared, as
        the low bits of its address are cut."""

        def fields(payload: Any) -> Iterator[tuple[Value, IrValue]]:
            accesses = [*payload.asking, *payload.stores]
            operands = self.op.operands[: 2 * len(accesses)]
            for access, pointer, predicate in zip(accesses, operands[::2], operands[1::2], strict=True):
                yield Cat(Signal(self.inside), access.place), pointer
                yield access.valid, predicate

        return self.unit.i, fields

    def tell(self, builder: "LevelBuilder", store: Op, stage: int, made: Value) -> None:
        """Report, for each token in the stage of a level, whether it executes the store, if the unit must know."""
        if store in self.fates:
            # a store whose value is on the chip needs no wait for memory
            fate, made = self.fates[store], C(0) if self.until_pushed else made
            builder.m.d.comb += [fate.valid.eq(builder.valid(stage)), fate.made.eq(made)]

    def response(self) -> Response:
        """The stream of answers, and a function of its payload: nothing for a hazard that only waits, else hit and
        slot of each load and the slots of the stores."""

        def fields(payload: Any) -> list[tuple[IrValue, Value, IrValue | None]]:
            if len(self.op.results) == 1:
                return []
            found = [part for answer in payload.found for part in (answer.hit, answer.slot)]
            return [
                (result, bits, None)
                for result, bits in zip(self.op.results[1:], [*found, *payload.stores], strict=True)
            ]

        return self.unit.o, fields


def hazards_of(context: "KernelContext") -> dict[Op, HazardAccess]:
    """The hazard units of a kernel whose store and load units are known."""
    return {op: HazardAccess(context, op, plan) for op, plan in context.memory.hazards.items()}


def build_hazards(context: "KernelContext") -> None:
    """Connect the hazard units with store units, once all queues exist; loads are invalidated when a store that their
    hazard unit watches reaches memory."""
    m = context.m
    hurried: dict[Any, list[Value]] = {}  # by store unit
    for op, hazard in context.servers.hazards.items():
        m.submodules[f"{context.names.op(op)}_unit"] = hazard.unit
        if hazard.until_pushed:
            continue  # it waits for no store unit
        for k, store in enumerate(hazard.stores):
            if store.op in context.servers.ports:  # in memory in the next cycle
                m.d.comb += getattr(hazard.unit, f"retired{k}").eq(store.unit.i.valid)
                continue
            m.d.comb += getattr(hazard.unit, f"retired{k}").eq(store.unit.retired)
            hurried.setdefault(store, []).append(hazard.unit.waits)
        for load in hazard.loads:
            if load.op in context.servers.ports and load.op not in context.servers.stepping:
                continue  # it holds no word
            renewed = Cat(store.unit.retired.any() for store in hazard.stores).any()
            context.servers.flushes[load.op] = context.servers.flushes.get(load.op, 0) | renewed
    for store, waits in hurried.items():
        m.d.comb += store.unit.hurry.eq(Cat(waits).any())
