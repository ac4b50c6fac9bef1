// The two functions of zlib that the waveform writer calls, for machines without zlib's headers.
// The output is a valid zlib stream of stored blocks: nothing is compressed.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>

using Bytef = unsigned char;
using uLong = unsigned long;
using uLongf = uLong;
constexpr int Z_OK = 0;
constexpr int Z_BUF_ERROR = -5;

namespace stored_zlib {
constexpr uLong kBlock = 65535;      // most bytes one stored block holds
constexpr uLong kBlockHeader = 5;    // final flag, length, complement of the length
constexpr uLong kFrame = 2 + 4;      // zlib header and checksum
constexpr uint32_t kAdlerPrime = 65521;
}  // namespace stored_zlib

inline uLong compressBound(uLong bytes) {
  const uLong blocks = std::max<uLong>(1, (bytes + stored_zlib::kBlock - 1) / stored_zlib::kBlock);
  return bytes + blocks * stored_zlib::kBlockHeader + stored_zlib::kFrame;
}

inline int compress2(Bytef* out, uLongf* out_bytes, const Bytef* in, uLong bytes, int /*level*/) {
  using namespace stored_zlib;
  if (*out_bytes < compressBound(bytes)) return Z_BUF_ERROR;
  Bytef* const begin = out;
  *out++ = 0x78;  // deflate, 32 KiB window
  *out++ = 0x01;  // no preset dictionary; makes the header a multiple of 31
  uLong done = 0;
  do {
    const uLong size = std::min(kBlock, bytes - done);
    *out++ = done + size == bytes;
    *out++ = static_cast<Bytef>(size), *out++ = static_cast<Bytef>(size >> 8);
    *out++ = static_cast<Bytef>(~size), *out++ = static_cast<Bytef>(~size >> 8);
    if (size) std::memcpy(out, in + done, size);
    out += size;
    done += size;
  } while (done < bytes);
  uint32_t low = 1, high = 0;
  for (uLong i = 0; i < bytes; i++) {
    low = (low + in[i]) % kAdlerPrime;
    high = (high + low) % kAdlerPrime;
  }
  for (const uint32_t half : {high, low}) {
    *out++ = static_cast<Bytef>(half >> 8);
    *out++ = static_cast<Bytef>(half);
  }
  *out_bytes = static_cast<uLongf>(out - begin);
  return Z_OK;
}
