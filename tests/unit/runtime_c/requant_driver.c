/* Applies functions of the runtime to records read from standard input; tests/unit/runtime_c/test_requant_twin.py
 * compares the results with codegen/fixedpoint.py.
 *
 * Input: any number of (int32 function, int32 count, count records); output: one int32 per record.  Host byte order.
 */
#include <stdio.h>
#include <stdlib.h>

#include "lam_crc32.h"
#include "lam_requant.h"
#include "lam_requant_fast.h"
#include "lam_requant_ort.h"
#include "lam_requant_rounded.h"

typedef struct record {
    int64_t acc;
    int32_t multiplier;
    int32_t shift;
    int32_t zp;
    int32_t low;
    int32_t high;
    float scale;
} record;

LAM_STATIC_ASSERT(sizeof(record) == 32, record_has_no_padding);

static int32_t rounded(const record *r, int32_t rounding)
{
    return lam_requant_rounded_q(r->acc, r->multiplier, r->shift, rounding, r->zp, r->low, r->high);
}

static int32_t twice_rounded(const record *r, int32_t rounding)
{
    const int32_t twice = lam_twice_rounded((int32_t)r->acc, rounding, r->shift, 2 * r->zp + 1);
    return lam_clamp_i32(twice >> 1, r->low, r->high);
}

static int32_t apply(int32_t function, const record *r)
{
    const int32_t acc = (int32_t)r->acc;
    uint32_t crc;
    int32_t bits;

    switch (function) {
    case 0: return lam_requant_single_q(acc, r->multiplier, r->shift, r->zp, r->low, r->high);
    case 1: return lam_requant_single(acc, r->multiplier, r->shift);
    case 2: return lam_requant_single_high_q(acc, r->multiplier, r->shift, r->zp, r->low, r->high);
    case 3: return lam_requant_single_high(acc, r->multiplier, r->shift);
    case 4: return lam_requant_single_64_q(r->acc, r->multiplier, r->shift, r->zp, r->low, r->high);
    case 5: return lam_requant_single_64(r->acc, r->multiplier, r->shift);
    case 6: return lam_requant_tflite_q(acc, r->multiplier, r->shift, r->zp, r->low, r->high);
    case 7: return lam_requant_tflite(acc, r->multiplier, r->shift);
    case 8: return lam_requant_ort_q(acc, r->scale, r->zp, r->low, r->high);
    case 9: return lam_rounding_doubling_high_mul(acc, r->multiplier);
    case 10: return lam_rounding_divide_by_pot(acc, r->shift);
    case 11: return lam_clamp_i32(acc, r->low, r->high);
    case 12:
        crc = lam_crc32((uint32_t)r->multiplier, r, (size_t)r->shift);
        memcpy(&bits, &crc, sizeof bits);
        return bits;
    case 14: return lam_high_product(acc, r->multiplier);
    case 15: return lam_clamp_i32(lam_twice_single(acc, r->multiplier, r->shift, 2 * r->zp + 1) >> 1, r->low, r->high);
    case 16: return lam_clamp_i32(lam_twice_tflite(acc, r->multiplier, r->shift, 2 * r->zp + 1) >> 1, r->low, r->high);
    case 17: return lam_high_product_rounded(acc * 2, r->multiplier);
    case 18: return lam_divided_away(acc, r->shift + 1, (int32_t)1 << r->shift);
    case 19: return lam_halved_s8(acc);
    case 20: return lam_halved_u8(acc);
    case 21: return lam_halved_u7(acc);
    case 22: return lam_requant_ort_64_q(r->acc, r->scale, r->zp, r->low, r->high);
    case 23: return rounded(r, LAM_HALF_UP);
    case 24: return rounded(r, LAM_HALF_EVEN);
    case 25: return rounded(r, LAM_HALF_DOWN);
    case 26: return rounded(r, LAM_HALF_AWAY);
    case 27: return twice_rounded(r, LAM_HALF_UP);
    case 28: return twice_rounded(r, LAM_HALF_EVEN);
    case 29: return twice_rounded(r, LAM_HALF_DOWN);
    case 30: return twice_rounded(r, LAM_HALF_AWAY);
    case 31: return lam_clamp_i32(lam_twice_low(acc, r->multiplier, r->shift, 2 * r->zp + 1) >> 1, r->low, r->high);
    case 32: return lam_clamp_i32(lam_twice_any(acc, r->multiplier, r->shift, 2 * r->zp + 1) >> 1, r->low, r->high);
    case 33: return lam_high_product_doubled(acc, r->multiplier);
    case 34: return lam_lined(acc, r->multiplier, r->shift);
    case 35: return lam_saturated_s8(acc);
    case 36: return lam_saturated_u8(acc);
    case 37: return lam_saturated_u7(acc);
    default: exit(2);
    }
}

/* The shape in which kernels call it: constants inlined, accumulators of a known small range, a loop to vectorise. */
static void float_block(const uint8_t *x, int32_t *y, int32_t n)
{
    int32_t i;
    for (i = 0; i < n; i++) {
        y[i] = lam_requant_ort_q((int32_t)x[i] * 3 - 200, 0.0859375f, -3, -128, 127);
    }
}

int main(void)
{
    int32_t header[2];

    while (fread(header, sizeof header, 1, stdin) == 1) {
        const size_t count = (size_t)header[1];
        record *records = (record *)malloc(count * sizeof(record));
        int32_t *results = (int32_t *)malloc(count * sizeof(int32_t));
        size_t i;

        if (records == NULL || results == NULL || fread(records, sizeof(record), count, stdin) != count) {
            return 1;
        }
        if (header[0] == 13) {
            uint8_t x[256] = {0};
            for (i = 0; i < count && i < 256; i++) {
                x[i] = (uint8_t)(records[i].acc & 255);
            }
            float_block(x, results, (int32_t)i);
        } else {
            for (i = 0; i < count; i++) {
                results[i] = apply(header[0], &records[i]);
            }
        }
        if (fwrite(results, sizeof(int32_t), count, stdout) != count) {
            return 1;
        }
        free(records);
        free(results);
    }
    return 0;
}
