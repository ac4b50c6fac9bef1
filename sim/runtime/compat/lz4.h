// The two functions of LZ4 that the waveform writer calls, for machines without LZ4's headers.
// The output is a valid LZ4 block of one run of literals: nothing is compressed.
#pragma once
#include <cstring>

inline int LZ4_compressBound(int bytes) { return bytes + bytes / 255 + 16; }

inline int LZ4_compress_default(const char* in, char* out, int bytes, int capacity) {
  constexpr int kShort = 15;   // longest run whose length fits into the token
  constexpr int kMore = 255;   // a length byte after which another follows
  if (capacity < LZ4_compressBound(bytes)) return 0;
  char* const begin = out;
  if (bytes < kShort) {
    *out++ = static_cast<char>(bytes << 4);
  } else {
    *out++ = static_cast<char>(kShort << 4);
    int rest = bytes - kShort;
    for (; rest >= kMore; rest -= kMore) *out++ = static_cast<char>(kMore);
    *out++ = static_cast<char>(rest);
  }
  std::memcpy(out, in, static_cast<size_t>(bytes));
  return static_cast<int>(out - begin) + bytes;
}
