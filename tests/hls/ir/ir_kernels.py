"""Small kernels built by hand, for the tests of the IR."""

from hls.ir import BOOL, F32, I32, I64, Builder, Function, MemoryObject, Parameter, Region, Value


def add_args(f: Function, **types):
    """Scalar parameters of the function; returns their values."""
    for name, type in types.items():
        f.args.append(Value(type, name, f.body, len(f.args)))
        f.params.append(Parameter(name, "scalar", str(type), type.bytes))
    return f.args


def add_buffer(f: Function, name: str, element):
    f.memories[name] = MemoryObject(name, "global", element)
    f.params.append(Parameter(name, "buffer", f"__global {element} *", 8))


def element(b: Builder, memory: str, index: Value, size: int = 4) -> Value:
    """The address of an element of ``size`` bytes."""
    wide = index if index.type == I64 else b.value("sext", index, result=I64)
    return b.addr(memory, b.value("mul", wide, b.const(size, I64)))


def loop(b: Builder, enable, inits, names=()):
    """A loop without its terminator: (operation, builder of the body, arguments)."""
    body = Region()
    body.args = [Value(v.type, name, body, k) for k, (v, name) in enumerate(zip(inits, (*names, *[""] * len(inits))))]
    op = b.op("loop", enable, *inits, results=[v.type for v in inits], regions=[body])
    return op, Builder(body), body.args


def scale() -> Function:
    """for (i = 0; i < n; i++) a[i] = a[i] * k;"""
    f = Function("scale", "kernel")
    add_buffer(f, "a", F32)
    n, k = add_args(f, n=I32, k=F32)
    b = Builder(f.body)
    zero = b.const(0, I32)
    _, c, (i,) = loop(b, b.value("slt", zero, n), [zero], ["i"])
    place = element(c, "a", i)
    value = c.value("load", place, c.true(), result=F32)
    c.op("store", place, c.value("fmul", value, k), c.true())
    after = c.value("add", i, c.const(1, I32))
    c.op("yield", c.value("slt", after, n), after)
    b.op("return")
    return f


def global_ids() -> Function:
    """a[get_global_id(0)] = get_global_id(1) * 16 + get_local_id(0);"""
    f = Function("ids", "kernel", attrs={"ndrange": True})
    add_buffer(f, "a", I32)
    b = Builder(f.body)
    gx, gy, lx = (
        b.value("work_item", result=I64, attrs={"fn": fn, "dim": d})
        for fn, d in (("global_id", 0), ("global_id", 1), ("local_id", 0))
    )
    value = b.value("add", b.value("mul", gy, b.const(16, I64)), lx)
    index = b.value("add", gx, b.value("mul", gy, b.const(4, I64)))
    b.op("store", element(b, "a", index), b.value("trunc", value, result=I32), b.true())
    b.op("return")
    return f


def swap_loop() -> Function:
    """do { swap(x, y); } while (--n): the carried values change at once."""
    f = Function("swap", "kernel")
    add_buffer(f, "a", I32)
    (n,) = add_args(f, n=I32)
    b = Builder(f.body)
    one, two = b.const(1, I32), b.const(2, I32)
    op, c, (x, y, left) = loop(b, b.value("ne", n, b.const(0, I32)), [one, two, n])
    less = c.value("sub", left, c.const(1, I32))
    c.op("yield", c.value("ne", less, c.const(0, I32)), y, x, less)
    for k, value in enumerate(op.results[:2]):
        b.op("store", b.addr("a", 4 * k), value, b.true())
    b.op("return")
    return f


__all__ = ["BOOL", "Region", "add_args", "add_buffer", "element", "global_ids", "loop", "scale", "swap_loop"]
