/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * The functions of float32 against the C library's double ones; benchmarks/float_functions.py builds and reads it.
 *
 *   PROGRAM FUNCTION STRIDE    every STRIDE-th of the 2^32 inputs: how many, the most units in the last place, where,
 *                              and how many results are wrong in kind (NaN, infinite, the sign of a zero)
 *   PROGRAM FUNCTION           standard input is float32; standard output the results
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lam_f32_activations.h"
#include "lam_f32_functions.h"

static double sigmoid(double x)
{
    return (x >= 0.0) ? 1.0 / (1.0 + exp(-x)) : exp(x) / (1.0 + exp(x));
}

static double softplus(double x)
{
    return (x > 0.0) ? x + log1p(exp(-x)) : log1p(exp(x));
}

static double mish(double x)
{
    const double decay = exp(-fabs(x));
    if (x > 0.0) {
        return x * ((1.0 + 2.0 * decay) / (1.0 + 2.0 * decay * (1.0 + decay)));
    }
    return x * (decay * (2.0 + decay) / (2.0 + decay * (2.0 + decay)));
}

static double gelu(double x)
{
    return x * (0.5 * erfc(-0x1.6a09e667f3bcdp-1 * x));
}

static double gelu_tanh(double x)
{
    return x * sigmoid(1.5957691216057308 * (x + 0.044715 * (x * x * x)));
}

static double swish(double x)
{
    return x * sigmoid(x);
}

static double elu(double x)
{
    return (x < 0.0) ? expm1(x) : x;
}

static double celu(double x)
{
    return ((x < 0.0) ? expm1(x) : x) + 0.0; /* +0 of both zeros */
}

static double selu(double x)
{
    return 1.05070102214813232421875 * ((x < 0.0) ? 1.67326319217681884765625 * expm1(x) : x);
}

static float tested_elu(float x)
{
    return lam_f32_elu(x, 1.0f);
}

static float tested_celu(float x)
{
    return lam_f32_celu(x, 1.0f);
}

static float tested_selu(float x)
{
    return lam_f32_selu(x, 1.67326319217681884765625f, 1.05070102214813232421875f);
}

static float tested_swish(float x)
{
    return lam_f32_swish(x, 1.0f);
}

typedef struct function {
    const char *name;
    float (*tested)(float);
    double (*reference)(double);
    int symmetry; /* f(-x) is f(x) times this; 0 where it is something else */
    int turns;    /* there is a least value between -2 and -1/2 */
} function;

static const function functions[] = {
    {"acos", lam_f32_acos, acos, 0, 0},
    {"acosh", lam_f32_acosh, acosh, 0, 0},
    {"asin", lam_f32_asin, asin, -1, 0},
    {"asinh", lam_f32_asinh, asinh, -1, 0},
    {"atan", lam_f32_atan, atan, -1, 0},
    {"atanh", lam_f32_atanh, atanh, -1, 0},
    {"celu", tested_celu, celu, 0, 0},
    {"cos", lam_f32_cos, cos, 1, 0},
    {"cosh", lam_f32_cosh, cosh, 1, 0},
    {"elu", tested_elu, elu, 0, 0},
    {"erf", lam_f32_erf, erf, -1, 0},
    {"exp", lam_f32_exp, exp, 0, 0},
    {"expm1", lam_f32_expm1, expm1, 0, 0},
    {"gelu", lam_f32_gelu, gelu, 0, 1},
    {"gelu_tanh", lam_f32_gelu_tanh, gelu_tanh, 0, 1},
    {"log", lam_f32_log, log, 0, 0},
    {"mish", lam_f32_mish, mish, 0, 1},
    {"selu", tested_selu, selu, 0, 0},
    {"sigmoid", lam_f32_sigmoid, sigmoid, 0, 0},
    {"sin", lam_f32_sin, sin, -1, 0},
    {"sinh", lam_f32_sinh, sinh, -1, 0},
    {"softplus", lam_f32_softplus, softplus, 0, 0},
    {"sqrt", lam_f32_sqrt, sqrt, 0, 0},
    {"swish", tested_swish, swish, 0, 1},
    {"tan", lam_f32_tan, tan, -1, 0},
    {"tanh", lam_f32_tanh, tanh, -1, 0},
    {"whole_root", lam_f32_whole_root, sqrt, 0, 0},
};

typedef struct worst {
    double units;
    uint32_t at;
    uint64_t inputs;
    uint64_t wrong;
} worst;

/* One unit in the last place of the float32 next to a true value. */
static double unit(double value)
{
    const uint64_t least = (uint64_t)(1023 - 126) << 52, exponent = (uint64_t)0x7FF << 52;
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    bits = ((bits & exponent) < least ? least : bits & exponent) - ((uint64_t)23 << 52);
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void judge(worst *found, uint32_t bits, float got, double wanted)
{
    const float rounded = (float)wanted;
    double units;

    if (isnan(got) || isnan(wanted) || isinf(wanted)) {
        found->wrong += (isnan(got) && isnan(wanted)) || (isinf(wanted) && lam_f32_bits(got) == lam_f32_bits(rounded)) ? 0u : 1u;
        return;
    }
    if (isinf(got)) {
        units = (fabs(wanted) > 0x1.fffffep127) ? fabs(0x1p128 - fabs(wanted)) / 0x1p104 : HUGE_VAL;
        units = isinf(rounded) ? 0.0 : units;
        found->wrong += ((got < 0.0f) != (wanted < 0.0)) ? 1u : 0u;
    } else {
        units = fabs((double)got - wanted) / unit(wanted);
        found->wrong += (fabs(wanted) <= 0.0 && lam_f32_bits(got) != lam_f32_bits(rounded)) ? 1u : 0u;
    }
    if (units > found->units) {
        found->units = units;
        found->at = bits;
    }
}

/* All inputs of one sign.  Of neighbours that share one result, or whose result is the input, the first and the last are
 * judged: the true functions rise or fall throughout there, or touch the result in between.  About a least value all are. */
static void scan_half(const function *f, uint32_t sign, uint64_t stride, worst *found)
{
    uint32_t last = ~0u, last_bits = ~0u;
    float last_got = 0.0f;
    int waiting = 0, itself = 0;
    uint64_t i;

    for (i = 0; i < LAM_F32_SIGN; i += stride) {
        const uint32_t bits = (uint32_t)i | sign;
        const float got = f->tested(lam_f32_from_bits(bits));
        const uint32_t got_bits = lam_f32_bits(got);
        const int least = f->turns && bits >= 0xBF000000u && bits <= 0xC0000000u;
        const int repeats = !least && (got_bits == last || (got_bits == bits && itself));
        if (waiting && !repeats) {
            judge(found, last_bits, last_got, f->reference((double)lam_f32_from_bits(last_bits)));
        }
        if (!repeats) {
            judge(found, bits, got, f->reference((double)lam_f32_from_bits(bits)));
        }
        waiting = repeats;
        itself = got_bits == bits;
        last = got_bits;
        last_bits = bits;
        last_got = got;
        found->inputs++;
    }
    judge(found, last_bits, last_got, f->reference((double)lam_f32_from_bits(last_bits)));
}

/* Inputs below 0 have the results of those above, but for the sign. */
static void mirror(const function *f, uint64_t stride, worst *found)
{
    const uint32_t sign = (f->symmetry < 0) ? LAM_F32_SIGN : 0u;
    uint64_t i;

    for (i = 0; i < LAM_F32_SIGN; i += stride) {
        const float got = f->tested(lam_f32_from_bits((uint32_t)i | LAM_F32_SIGN));
        const float other = f->tested(lam_f32_from_bits((uint32_t)i));
        found->wrong += (lam_f32_bits(got) != (lam_f32_bits(other) ^ sign) && !(isnan(got) && isnan(other))) ? 1u : 0u;
        found->inputs++;
    }
}

static void scan(const function *f, uint64_t stride)
{
    worst found = {0.0, 0u, 0u, 0u};

    scan_half(f, 0u, stride, &found);
    if (f->symmetry != 0) {
        mirror(f, stride, &found);
    } else {
        scan_half(f, LAM_F32_SIGN, stride, &found);
    }
    printf("%s %llu %.4f %08x %.9g %llu\n", f->name, (unsigned long long)found.inputs, found.units, (unsigned)found.at,
           (double)lam_f32_from_bits(found.at), (unsigned long long)found.wrong);
}

static int apply(const function *f)
{
    static float block[1 << 16];
    size_t count, i;

    while ((count = fread(block, sizeof *block, sizeof block / sizeof *block, stdin)) != 0u) {
        for (i = 0; i < count; i++) {
            block[i] = f->tested(block[i]);
        }
        if (fwrite(block, sizeof *block, count, stdout) != count) {
            return 1;
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    size_t i;

    for (i = 0; argc > 1 && i < sizeof functions / sizeof *functions; i++) {
        if (strcmp(functions[i].name, argv[1]) == 0) {
            if (argc > 2) {
                scan(&functions[i], strtoull(argv[2], NULL, 10));
                return 0;
            }
            return apply(&functions[i]);
        }
    }
    return 2;
}
