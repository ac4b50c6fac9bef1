"""A prediction as text."""

from .prediction import NOT_ISSUED, WORK_ITEMS, OtherPrediction, Potential, PredictedAccount, Prediction, Symbol

__all__ = ["estimate_text"]


def estimate_text(prediction: Prediction) -> str:
    """A few lines: the cycles, then a line for each loop and each access."""
    cycles = prediction.cycles
    whole = f"{cycles.likely:,.0f} cycles"
    if cycles.least < cycles.most:
        whole += f" ({cycles.least:,.0f} to {cycles.most:,.0f})"
    lines = [f"{prediction.kernel} on {prediction.board}: {whole}, {prediction.seconds * 1e3:.4g} ms"]
    if prediction.symbols:
        lines = [*_growth(prediction), f"  where {_sizes(prediction)}: {whole}, {prediction.seconds * 1e3:.4g} ms"]
    if prediction.wide:
        lines.append(f"  widest side: {prediction.wide}")
    if all(one.cause != NOT_ISSUED for one in prediction.accounts):  # those of a replay say nothing more
        lines += map(_account, prediction.accounts)
    for loop in prediction.loops:
        name, iterations = loop.name or "added by the compiler", _counted(loop.iterations, "iteration")
        invocations, apart = _counted(loop.invocations, "invocation"), _counted(loop.interval, "cycle", ".4g")
        lines.append(f"  loop {name} (line {loop.line}): {iterations} in {invocations}, {apart} apart: {loop.cause}")
    for access in prediction.accesses:
        moved = f"{_counted(access.count, 'time')}, {_counted(access.words, 'word')} of memory"
        lines.append(f"  {access.kind} of {access.buffer} (line {access.line}), {access.unit}: {moved}")
    if prediction.potentials:
        lines.append(f"  potentials: {_shares(prediction.potentials)}")
    lines += map(_other, prediction.others)
    if prediction.resources is not None:
        used = prediction.resources
        lines.append(
            f"  the design takes {_counted(used.logic, 'logic cell')}, {_counted(used.registers, 'register')}, "
            f"{_counted(used.rams, 'block RAM')}, {_counted(used.dsps, 'DSP block')}"
        )
    return "\n".join([*lines, *(f"  assumed: {one}" for one in prediction.assumed)])


def _account(one: PredictedAccount) -> str:
    line = f" (line {one.line})" if one.line else ""
    return f"  {_counted(one.cycles, 'cycle')}: {one.cause}{line}"


def _counted(number: float, noun: str, form: str = ",.0f") -> str:
    """The number with the noun in the singular or plural."""
    text = format(number, form)
    return f"{text} {noun}{'' if text == '1' else 's'}"


def _growth(prediction: Prediction) -> list[str]:
    """The cycles as a formula; where there is none, at each of the sizes. Then what the symbols are."""
    names = [symbol.name for symbol in prediction.symbols]
    if prediction.formula:
        whole = f"{prediction.formula} cycles, from {' = '.join(names)} = {prediction.formula_from:,} on"
    else:
        samples = ", ".join(f"{one.cycles:,.0f} cycles at {one.size:,}" for one in prediction.samples)
        lines = ", ".join(f"{one.name} (line {one.line})" for one in prediction.symbols)
        whole = f"grows with {lines}: {samples}"
    said = [f"{one.name}: {_meaning(one)}" for one in prediction.symbols]
    return [f"{prediction.kernel} on {prediction.board}: {whole}", *(f"  {one}" for one in said)]


def _meaning(symbol: Symbol) -> str:
    if symbol.loop == WORK_ITEMS:
        return f"work-items of a launch; --trip {WORK_ITEMS}=N sets it"
    place = f"{symbol.file}:{symbol.line}" if symbol.file else f"L{symbol.line}"
    line = f"{symbol.file}, line {symbol.line}" if symbol.file else f"line {symbol.line}"
    return f"iterations of loop {symbol.loop or 'without a name'} ({line}); --trip {place}=N sets it"


def _sizes(prediction: Prediction) -> str:
    names = " = ".join(symbol.name for symbol in prediction.symbols)
    return f"{names} = {prediction.samples[len(prediction.samples) // 2].size:,}"


def _shares(potentials: tuple[Potential, ...]) -> str:
    return ", ".join(f"{one.name} {one.share:.2f}" for one in potentials)


def _other(one: OtherPrediction) -> str:
    time = f"{one.cycles:,.0f} cycles, {one.seconds * 1e3:.4g} ms"
    return f"  model {one.model}, as {one.variant}: {time}; potentials: {_shares(one.potentials)}"
