// Functions of half whose results depend on the format itself, so that they cannot be computed in float.

half nextafter(half x, half y) {
  short bits = as_short(x);
  short step = (x < y) == (bits >= 0) ? 1 : -1;
  half least = copysign(as_half((short)1), y);
  half result = x == (half)0 ? least : as_half((short)(bits + step));
  return x != x || y != y ? as_half((ushort)0x7e00) : x == y ? y : result;
}

half nan(ushort code) {
  return as_half((ushort)(0x7e00 | code & 0x1ff));
}
