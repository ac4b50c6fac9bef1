/* Most that this header has elsewhere, every kernel has. */
#pragma once
#define FLT_ROUNDS 1
#define FLT_EVAL_METHOD 0
#define DECIMAL_DIG 17
