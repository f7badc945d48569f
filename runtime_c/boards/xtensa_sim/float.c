/* SPDX-License-Identifier: MIT-0 */
/* Arithmetic of real numbers that an ESP8266 has in its ROM, and that Debian's libgcc for it therefore leaves out: as
 * IEEE 754 has it, rounded to the nearest, ties to even, numbers below the normal ones too.  Plain and slow. */
#include <stdint.h>

float __addsf3(float a, float b);
float __subsf3(float a, float b);
float __mulsf3(float a, float b);
float __floatsisf(int32_t x);
float __floatunsisf(uint32_t x);
float __truncdfsf2(double x);
uint32_t __fixunssfsi(float x);
double __adddf3(double a, double b);
double __subdf3(double a, double b);
double __muldf3(double a, double b);
double __divdf3(double a, double b);
double __floatsidf(int32_t x);
double __floatunsidf(uint32_t x);
double __extendsfdf2(float x);
int32_t __fixdfsi(double x);
uint32_t __fixunsdfsi(double x);

/* A format: bits of a mantissa, power of two of the least number, biased exponent of infinity. */
struct format {
    int bits, least, top;
};

static const struct format single = {24, -149, 255};
static const struct format wide = {53, -1074, 2047};

enum kind { FINITE, INFINITE, NOT_A_NUMBER };

/* m * 2^e, negative or not. */
struct number {
    enum kind kind;
    int negative, e;
    uint64_t m;
};

union single_bits {
    float value;
    uint32_t bits;
};

union wide_bits {
    double value;
    uint64_t bits;
};

static struct number unpacked(uint64_t bits, const struct format *f)
{
    const int exponent = (int)(bits >> (f->bits - 1)) & f->top;
    const uint64_t hidden = (uint64_t)1 << (f->bits - 1);
    struct number n = {FINITE, (int)(bits >> (f->bits == 24 ? 31 : 63)), f->least, bits & (hidden - 1)};
    if (exponent == f->top) {
        n.kind = n.m == 0 ? INFINITE : NOT_A_NUMBER;
    } else if (exponent != 0) {
        n.m |= hidden;
        n.e += exponent - 1;
    }
    return n;
}

/* With its highest bit at 63; of 0, 0. */
static struct number normal(struct number n)
{
    while (n.m != 0 && n.m >> 63 == 0) {
        n.m <<= 1;
        n.e--;
    }
    return n;
}

/* The nearest number of the format.  The lowest bit of m may stand for all that lies below it. */
static uint64_t packed(struct number n, const struct format *f)
{
    const uint64_t sign = (uint64_t)n.negative << (f->bits == 24 ? 31 : 63);
    const uint64_t infinity = (uint64_t)f->top << (f->bits - 1);
    if (n.kind == NOT_A_NUMBER) {
        return infinity | (uint64_t)1 << (f->bits - 2);
    }
    if (n.kind == INFINITE) {
        return sign | infinity;
    }
    n = normal(n);
    int drop = 64 - f->bits;
    if (n.e + drop < f->least) {
        drop = f->least - n.e;
    }
    if (n.m == 0 || drop > 64) {
        return sign;
    }
    const uint64_t half = (uint64_t)1 << 63;
    const uint64_t rest = drop == 64 ? n.m : n.m << (64 - drop);
    uint64_t kept = drop == 64 ? 0 : n.m >> drop;
    kept += rest > half || (rest == half && (kept & 1u) != 0);
    /* The hidden bit counts one of the exponent, and so does what rounding carries. */
    const int exponent = n.e + drop - f->least;
    if (exponent >= f->top) {
        return sign | infinity;
    }
    kept += (uint64_t)exponent << (f->bits - 1);
    return sign | (kept < infinity ? kept : infinity);
}

static struct number sum(struct number a, struct number b)
{
    if (a.kind != FINITE || b.kind != FINITE) {
        struct number n = a.kind == FINITE ? b : a;
        if (b.kind == NOT_A_NUMBER || (a.kind == INFINITE && b.kind == INFINITE && a.negative != b.negative)) {
            n.kind = NOT_A_NUMBER;
        }
        return n;
    }
    if (a.e < b.e) {
        const struct number other = a;
        a = b;
        b = other;
    }
    const int apart = a.e - b.e;
    a.m <<= 10; /* room for what b has below a, and for a carry */
    b.m <<= 10;
    a.e -= 10;
    if (apart > 0) {
        const uint64_t lost = apart < 64 ? b.m << (64 - apart) : b.m;
        b.m = (apart < 64 ? b.m >> apart : 0) | (lost != 0);
    }
    if (a.negative == b.negative) {
        a.m += b.m;
    } else if (a.m > b.m) {
        a.m -= b.m;
    } else {
        a.negative = b.m > a.m ? b.negative : 0;
        a.m = b.m - a.m;
    }
    return a;
}

static struct number product(struct number a, struct number b)
{
    const int negative = a.negative ^ b.negative;
    a = normal(a);
    b = normal(b);
    struct number n = {FINITE, negative, a.e + b.e + 64, 0};
    if (a.kind == NOT_A_NUMBER || b.kind == NOT_A_NUMBER) {
        n.kind = NOT_A_NUMBER;
    } else if (a.kind == INFINITE || b.kind == INFINITE) {
        const struct number other = a.kind == INFINITE ? b : a;
        n.kind = other.kind == FINITE && other.m == 0 ? NOT_A_NUMBER : INFINITE;
    } else {
        const uint64_t low = (a.m & 0xFFFFFFFFu) * (b.m & 0xFFFFFFFFu);
        const uint64_t left = (a.m >> 32) * (b.m & 0xFFFFFFFFu) + (low >> 32);
        const uint64_t right = (a.m & 0xFFFFFFFFu) * (b.m >> 32) + (left & 0xFFFFFFFFu);
        n.m = (a.m >> 32) * (b.m >> 32) + (left >> 32) + (right >> 32);
        n.m |= ((right << 32) | (low & 0xFFFFFFFFu)) != 0;
    }
    return n;
}

static struct number quotient(struct number a, struct number b)
{
    struct number n = {FINITE, a.negative ^ b.negative, 0, 0};
    a = normal(a);
    b = normal(b);
    if (a.kind == NOT_A_NUMBER || b.kind == NOT_A_NUMBER || (a.kind == INFINITE && b.kind == INFINITE)) {
        n.kind = NOT_A_NUMBER;
    } else if (a.kind == INFINITE) {
        n.kind = INFINITE;
    } else if (b.kind == FINITE && b.m == 0) {
        n.kind = a.m == 0 ? NOT_A_NUMBER : INFINITE;
    } else if (b.kind == FINITE) {
        uint64_t rest = a.m >> 1;
        const uint64_t by = b.m >> 1;
        for (int bit = 63; bit >= 0; bit--) {
            if (rest >= by) {
                rest -= by;
                n.m |= (uint64_t)1 << bit;
            }
            rest <<= 1;
        }
        n.m |= rest != 0;
        n.e = a.e - b.e - 63;
    }
    return n;
}

/* Towards zero; what does not fit becomes the nearest that does. */
static uint32_t whole(struct number n, uint32_t most)
{
    n = normal(n);
    if (n.kind == NOT_A_NUMBER || (n.kind == FINITE && (n.m == 0 || n.e <= -64))) {
        return 0;
    }
    if (n.kind == INFINITE || n.e > -32 || n.m >> -n.e > most) {
        return most;
    }
    return (uint32_t)(n.m >> -n.e);
}

static struct number of_single(float x)
{
    const union single_bits u = {.value = x};
    return unpacked(u.bits, &single);
}

static struct number of_wide(double x)
{
    const union wide_bits u = {.value = x};
    return unpacked(u.bits, &wide);
}

static struct number of_size(int negative, uint32_t size)
{
    const struct number n = {FINITE, negative, 0, size};
    return n;
}

static struct number of_int(int32_t x)
{
    return of_size(x < 0, x < 0 ? 0u - (uint32_t)x : (uint32_t)x);
}

static float to_single(struct number n)
{
    const union single_bits u = {.bits = (uint32_t)packed(n, &single)};
    return u.value;
}

static double to_wide(struct number n)
{
    const union wide_bits u = {.bits = packed(n, &wide)};
    return u.value;
}

static struct number opposite(struct number n)
{
    n.negative ^= 1;
    return n;
}

float __addsf3(float a, float b)
{
    return to_single(sum(of_single(a), of_single(b)));
}

float __subsf3(float a, float b)
{
    return to_single(sum(of_single(a), opposite(of_single(b))));
}

float __mulsf3(float a, float b)
{
    return to_single(product(of_single(a), of_single(b)));
}

float __floatsisf(int32_t x)
{
    return to_single(of_int(x));
}

float __floatunsisf(uint32_t x)
{
    return to_single(of_size(0, x));
}

float __truncdfsf2(double x)
{
    return to_single(of_wide(x));
}

uint32_t __fixunssfsi(float x)
{
    const struct number n = of_single(x);
    return n.negative ? 0 : whole(n, 0xFFFFFFFFu);
}

double __adddf3(double a, double b)
{
    return to_wide(sum(of_wide(a), of_wide(b)));
}

double __subdf3(double a, double b)
{
    return to_wide(sum(of_wide(a), opposite(of_wide(b))));
}

double __muldf3(double a, double b)
{
    return to_wide(product(of_wide(a), of_wide(b)));
}

double __divdf3(double a, double b)
{
    return to_wide(quotient(of_wide(a), of_wide(b)));
}

double __floatsidf(int32_t x)
{
    return to_wide(of_int(x));
}

double __floatunsidf(uint32_t x)
{
    return to_wide(of_size(0, x));
}

double __extendsfdf2(float x)
{
    return to_wide(of_single(x));
}

int32_t __fixdfsi(double x)
{
    const struct number n = of_wide(x);
    const uint32_t size = whole(n, n.negative ? 0x80000000u : 0x7FFFFFFFu);
    return (int32_t)(n.negative ? 0u - size : size);
}

uint32_t __fixunsdfsi(double x)
{
    const struct number n = of_wide(x);
    return n.negative ? 0 : whole(n, 0xFFFFFFFFu);
}
