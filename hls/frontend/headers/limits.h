/* Most that this header has elsewhere, every kernel has. */
#pragma once
#define MB_LEN_MAX 1
#define LLONG_MAX LONG_MAX
#define LLONG_MIN LONG_MIN
#define ULLONG_MAX ULONG_MAX
