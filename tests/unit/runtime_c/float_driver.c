/* Applies the functions of float32 to bits; tests/unit/runtime_c/test_float_twin.py compares with codegen/float32/.
 *
 * LAM_ONE(f) names functions of one argument, LAM_TWO(f) those of two: float_names.h, which the test writes.
 * On a host: standard input is pairs of float32, the output all results of every function in turn, in host byte order.
 * On a board: the arguments are edges and COUNT hashes of their index, and one sum of each function's results is printed.
 */
#include "lam_f32_flushed.h"
#include "lam_f32_functions.h"

/* Fused, it would be rounded once. */
static inline float lam_f32_product_and_sum(float x, float y)
{
    return lam_f32_product(x, y) + x;
}

static inline float lam_f32_through_f16(float x)
{
    return lam_f32_from_f16(lam_f32_to_f16(x));
}

static inline float lam_f32_low_as_f16(float x)
{
    return lam_f32_from_f16((uint16_t)(lam_f32_bits(x) & 0xFFFFu));
}

static inline float lam_f32_through_bf16(float x)
{
    return lam_f32_as_bfloat16(x);
}

/* Integers in two halves, each of them exact. */
static inline float lam_f32_s32_low(float x)
{
    return (float)((uint32_t)lam_f32_to_s32(x) & 0xFFFFu);
}

static inline float lam_f32_s32_high(float x)
{
    return (float)(lam_f32_to_s32(x) >> 16);
}

static inline float lam_f32_u32_low(float x)
{
    return (float)(lam_f32_to_u32(x) & 0xFFFFu);
}

static inline float lam_f32_u32_high(float x)
{
    return (float)(lam_f32_to_u32(x) >> 16);
}

static inline float lam_f32_as_s8(float x)
{
    return (float)lam_f32_to_s8(x);
}

static inline float lam_f32_as_u8(float x)
{
    return (float)lam_f32_to_u8(x);
}

static inline float lam_f32_as_s16(float x)
{
    return (float)lam_f32_to_s16(x);
}

static inline float lam_f32_as_u16(float x)
{
    return (float)lam_f32_to_u16(x);
}

/* What rounding took from a product; and three numbers that have nothing to do with each other, by both ways. */
static inline float lam_f32_fused_rest(float x, float y)
{
    return lam_f32_fma(x, y, -lam_f32_product(x, y));
}

static inline float lam_f32_whole_rest(float x, float y)
{
    return lam_f32_whole_fma(x, y, -lam_f32_product(x, y));
}

static inline float lam_f32_third(float x, float y)
{
    return lam_f32_from_bits((lam_f32_bits(x) + lam_f32_bits(y)) ^ 0x40000000u);
}

static inline float lam_f32_fused(float x, float y)
{
    return lam_f32_fma(x, y, lam_f32_third(x, y));
}

static inline float lam_f32_whole_fused(float x, float y)
{
    return lam_f32_whole_fma(x, y, lam_f32_third(x, y));
}

static inline float lam_f32_flushed_third(float x, float y)
{
    return lam_f32_flushed(x, y, lam_f32_third(x, y));
}

#define LAM_ONE(name) \
    static float one_##name(float x, float y) \
    { \
        LAM_UNUSED(y); \
        return lam_f32_##name(x); \
    }
#define LAM_TWO(name) \
    static float two_##name(float x, float y) \
    { \
        return lam_f32_##name(x, y); \
    }
#include "float_names.h"
#undef LAM_ONE
#undef LAM_TWO

typedef float (*function)(float, float);

#define LAM_ONE(name) one_##name,
#define LAM_TWO(name) two_##name,
static const function functions[] = {
#include "float_names.h"
};

#define FUNCTIONS (sizeof functions / sizeof *functions)

#if defined(LAM_ON_BOARD)
#include "lam_board.h"

static const uint32_t edges[] = {EDGES};

#define EDGE_COUNT (uint32_t)(sizeof edges / sizeof *edges)

static uint32_t argument(uint32_t i)
{
    return i < EDGE_COUNT * EDGE_COUNT ? edges[i % EDGE_COUNT] : i * 2654435761u;
}

static uint32_t second_argument(uint32_t i)
{
    return i < EDGE_COUNT * EDGE_COUNT ? edges[i / EDGE_COUNT] : (i * 2246822519u) ^ (i << 7);
}

int main(void)
{
    uint32_t f, i;

    for (f = 0; f < FUNCTIONS; f++) {
        uint32_t sum = 0;
        for (i = 0; i < EDGE_COUNT * EDGE_COUNT + COUNT; i++) {
            const float y = functions[f](lam_f32_from_bits(argument(i)), lam_f32_from_bits(second_argument(i)));
            sum += (lam_f32_is_nan(y) ? LAM_F32_NAN : lam_f32_bits(y)) * (2u * i + 1u);
        }
        lam_board_number(sum);
        lam_board_puts("\n");
    }
    return 0;
}
#else
#include <stdio.h>

static float pairs[1 << 20][2];
static float results[1 << 20];

int main(void)
{
    const size_t count = fread(pairs, sizeof *pairs, sizeof pairs / sizeof *pairs, stdin);
    size_t f, i;

    for (f = 0; f < FUNCTIONS; f++) {
        for (i = 0; i < count; i++) {
            results[i] = functions[f](pairs[i][0], pairs[i][1]);
        }
        if (fwrite(results, sizeof *results, count, stdout) != count) {
            return 1;
        }
    }
    return 0;
}
#endif
