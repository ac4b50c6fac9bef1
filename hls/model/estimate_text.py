"""A prediction as text."""

from .prediction import OtherPrediction, Potential, Prediction

__all__ = ["estimate_text"]


def estimate_text(prediction: Prediction) -> str:
    """A few lines: the cycles, then a line for each loop and each access."""
    cycles = prediction.cycles
    whole = f"{cycles.likely:,.0f} cycles"
    if cycles.least < cycles.most or not prediction.accounts:
        whole += f" ({cycles.least:,.0f} to {cycles.most:,.0f})"
    lines = [f"{prediction.kernel} on {prediction.board}: {whole}, {prediction.seconds * 1e3:.4g} ms"]
    if prediction.wide:
        lines.append(f"  widest side: {prediction.wide}")
    for loop in prediction.loops:
        lines.append(
            f"  loop {loop.name or 'without a name'} (line {loop.line}): {loop.iterations:,.0f} iterations in "
            f"{loop.invocations:,.0f} invocations, {loop.interval:.4g} cycles apart: {loop.cause}"
        )
    for access in prediction.accesses:
        lines.append(
            f"  {access.kind} of {access.buffer} (line {access.line}), {access.unit}: {access.count:,.0f} times, "
            f"{access.words:,.0f} words of memory"
        )
    if prediction.potentials:
        lines.append(f"  potentials: {_shares(prediction.potentials)}")
    lines += map(_other, prediction.others)
    return "\n".join([*lines, *(f"  assumed: {one}" for one in prediction.assumed)])


def _shares(potentials: tuple[Potential, ...]) -> str:
    return ", ".join(f"{one.name} {one.share:.2f}" for one in potentials)


def _other(one: OtherPrediction) -> str:
    time = f"{one.cycles:,.0f} cycles, {one.seconds * 1e3:.4g} ms"
    return f"  model {one.model}, as {one.variant}: {time}; potentials: {_shares(one.potentials)}"
