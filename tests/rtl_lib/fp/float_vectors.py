"""Operands that reveal mistakes in floating-point hardware."""

import random


def specials(fmt):
    """About 40 numbers: zeros, ends of the subnormal and normal range, neighbours of powers of two, NaNs."""
    ones, one = (1 << fmt.mantissa) - 1, fmt.bias << fmt.mantissa
    magnitudes = [
        0,
        1,
        2,
        3,
        ones // 2,
        ones - 1,
        ones,
        ones + 1,
        ones + 2,
        2 * (ones + 1),
        2 * ones + 1,
        one - 1,
        one,
        one + 1,
        one + ones,
        one + (ones + 1) // 2,
        one + (fmt.mantissa << fmt.mantissa),
        one - (fmt.precision << fmt.mantissa),
        fmt.infinity() - 1,
        fmt.infinity() - 1 - ones,
        fmt.infinity(),
        fmt.infinity() + 1,
        fmt.quiet_nan,
    ]
    return [fmt.zero(negative) | bits for bits in magnitudes for negative in (False, True)]


def random_float(rng, fmt):
    """Any exponent, but often an extreme or a middle one; often a mantissa of few ones or few zeros."""
    exponent = rng.choice(
        [
            rng.randrange(fmt.top_exponent + 1),
            rng.choice([0, 1, 2, fmt.top_exponent - 1]),
            fmt.bias + rng.randint(-3, 3),
        ]
    )
    mantissa = rng.getrandbits(fmt.mantissa)
    if rng.random() < 0.5:
        sparse = 1 << rng.randrange(fmt.mantissa) | 1 << rng.randrange(fmt.mantissa)
        mantissa = sparse if rng.random() < 0.5 else ~sparse & ((1 << fmt.mantissa) - 1)
    return fmt.zero(rng.random() < 0.5) | exponent << fmt.mantissa | mantissa


def random_pair(rng, fmt):
    """Two numbers, in half of all cases so close in magnitude that sums cancel and align."""
    a = random_float(rng, fmt)
    if rng.random() < 0.5:
        return a, random_float(rng, fmt)
    near = a + (rng.randint(-2, 2) << fmt.mantissa) + rng.randint(-2, 2)
    return a, near % (1 << fmt.width) ^ fmt.zero(rng.random() < 0.5)


def random_pairs(fmt, count, seed):
    rng = random.Random(seed)
    return [random_pair(rng, fmt) for _ in range(count)]


def underflowing_pairs(fmt, count, seed):
    """Factors whose product lies about the least numbers, where rounding happens at a place that moves."""
    rng = random.Random(seed)
    pairs = []
    for _ in range(count):
        a, b = random_float(rng, fmt), random_float(rng, fmt)
        field = a >> fmt.mantissa & fmt.top_exponent
        other = fmt.bias - field + rng.randint(-fmt.precision - 2, 3)
        if 0 <= other < fmt.top_exponent:
            b = b & ~(fmt.top_exponent << fmt.mantissa) | other << fmt.mantissa
        pairs.append((a, b))
    return pairs


def random_triples(fmt, count, seed):
    """Factors, and an addend that is often near their product, or its opposite."""
    rng = random.Random(seed)
    triples = []
    for a, b in random_pairs(fmt, count // 2, seed) + underflowing_pairs(fmt, count - count // 2, seed):
        finite = all(bits & fmt.infinity() != fmt.infinity() for bits in (a, b))
        product = fmt.round(fmt.value(a) * fmt.value(b)) if finite else random_float(rng, fmt)
        near = product + (rng.randint(-3, 3) << fmt.mantissa) + rng.randint(-2, 2)
        c = rng.choice(
            [random_float(rng, fmt), near % (1 << fmt.width), product ^ fmt.zero(True), rng.choice(specials(fmt))]
        )
        triples.append((a, b, c))
    return triples


def random_sums(fmt, count, vectors, seed):
    """``count`` operands each: anything; or all of a middle size, some of them opposites of others, so that sums
    cancel; or special ones."""
    rng = random.Random(seed)
    middle = max(1, fmt.bias - fmt.precision)

    def close():
        field = rng.choice([fmt.bias, fmt.bias + rng.randint(-4, 4), rng.randint(middle, 2 * fmt.bias - middle)])
        return random_float(rng, fmt) & ~(fmt.top_exponent << fmt.mantissa) | field << fmt.mantissa

    result = []
    for _ in range(vectors):
        kind = rng.random()
        pick = (lambda: random_float(rng, fmt)) if kind < 0.2 else close
        operands = [pick() for _ in range(count)]
        for k in range(count):
            if rng.random() < 0.25:
                operands[k] = operands[rng.randrange(count)] ^ fmt.zero(rng.random() < 0.5)
            if kind > 0.85 and rng.random() < 0.3 or kind > 0.95:
                operands[k] = rng.choice(specials(fmt) if kind < 0.95 else specials(fmt)[:6])
        result.append(tuple(operands))
    return result
