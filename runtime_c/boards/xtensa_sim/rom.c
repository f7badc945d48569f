/* SPDX-License-Identifier: MIT-0 */
/* Arithmetic of integers that an ESP8266 has in its ROM, and that Debian's libgcc for it therefore leaves out; float.c
 * has that of real numbers.  Plain and slow. */
#include <stdint.h>

uint32_t __udivsi3(uint32_t n, uint32_t d);
uint32_t __umodsi3(uint32_t n, uint32_t d);
int32_t __divsi3(int32_t n, int32_t d);
uint64_t __umulsidi3(uint32_t a, uint32_t b);
uint64_t __muldi3(uint64_t a, uint64_t b);
uint64_t __udivdi3(uint64_t n, uint64_t d);
uint64_t __umoddi3(uint64_t n, uint64_t d);
int64_t __divdi3(int64_t n, int64_t d);
int64_t __moddi3(int64_t n, int64_t d);

/* A magnitude, also of the least integer. */
static uint32_t size32(int32_t x)
{
    return x < 0 ? 0u - (uint32_t)x : (uint32_t)x;
}

static uint64_t size64(int64_t x)
{
    return x < 0 ? (uint64_t)0 - (uint64_t)x : (uint64_t)x;
}

/* The quotient; *rest is the remainder.  A divisor of 0 gives all ones and n, and no fault. */
static uint32_t divided32(uint32_t n, uint32_t d, uint32_t *rest)
{
    uint32_t quotient = 0, r = 0;
    for (int bit = 31; bit >= 0; bit--) {
        const uint32_t carry = r >> 31;
        r = r << 1 | (n >> bit & 1u);
        if (carry != 0 || r >= d) {
            r -= d;
            quotient |= 1u << bit;
        }
    }
    *rest = r;
    return quotient;
}

static uint64_t divided64(uint64_t n, uint64_t d, uint64_t *rest)
{
    uint64_t quotient = 0, r = 0;
    for (int bit = 63; bit >= 0; bit--) {
        const uint64_t carry = r >> 63;
        r = r << 1 | (n >> bit & 1u);
        if (carry != 0 || r >= d) {
            r -= d;
            quotient |= (uint64_t)1 << bit;
        }
    }
    *rest = r;
    return quotient;
}

uint32_t __udivsi3(uint32_t n, uint32_t d)
{
    uint32_t rest;
    return divided32(n, d, &rest);
}

uint32_t __umodsi3(uint32_t n, uint32_t d)
{
    uint32_t rest;
    divided32(n, d, &rest);
    return rest;
}

int32_t __divsi3(int32_t n, int32_t d)
{
    const uint32_t size = __udivsi3(size32(n), size32(d));
    return (int32_t)((n < 0) != (d < 0) ? 0u - size : size);
}

/* By halves of 16 bits, which the core multiplies at once. */
uint64_t __umulsidi3(uint32_t a, uint32_t b)
{
    const uint32_t low = (a & 0xFFFFu) * (b & 0xFFFFu);
    const uint32_t left = (a >> 16) * (b & 0xFFFFu);
    const uint32_t right = (a & 0xFFFFu) * (b >> 16);
    const uint32_t middle = left + (low >> 16);   /* cannot overflow: 65535 * 65535 + 65535 < 2^32 */
    const uint32_t sum = right + (middle & 0xFFFFu);
    const uint32_t high = (a >> 16) * (b >> 16) + (middle >> 16) + (sum >> 16);
    return (uint64_t)high << 32 | (sum << 16 | (low & 0xFFFFu));
}

uint64_t __muldi3(uint64_t a, uint64_t b)
{
    const uint32_t a0 = (uint32_t)a, a1 = (uint32_t)(a >> 32), b0 = (uint32_t)b, b1 = (uint32_t)(b >> 32);
    return __umulsidi3(a0, b0) + ((uint64_t)(a0 * b1 + a1 * b0) << 32);
}

uint64_t __udivdi3(uint64_t n, uint64_t d)
{
    uint64_t rest;
    return divided64(n, d, &rest);
}

uint64_t __umoddi3(uint64_t n, uint64_t d)
{
    uint64_t rest;
    divided64(n, d, &rest);
    return rest;
}

int64_t __divdi3(int64_t n, int64_t d)
{
    const uint64_t size = __udivdi3(size64(n), size64(d));
    return (int64_t)((n < 0) != (d < 0) ? (uint64_t)0 - size : size);
}

int64_t __moddi3(int64_t n, int64_t d)
{
    const uint64_t size = __umoddi3(size64(n), size64(d));
    return (int64_t)(n < 0 ? (uint64_t)0 - size : size);
}
