/* Most that this header has elsewhere, every kernel has. */
#pragma once
#define offsetof(type, member) ((size_t)&((type *)0)->member)
