/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Which boxes overlap, and the best ones of those that do (greedy non-maximum suppression), in float32.
 * Bit-exact twin of codegen/float32/boxes.py.
 *
 * A box is four numbers: two opposite corners y, x, y, x (or x, y, x, y), or `centred`: its middle and its two sizes.
 */
#ifndef LAM_NMS_H
#define LAM_NMS_H

#include "lam_f32.h"

/* Where a box begins and ends along one axis. */
static inline void lam_box_extent(const float *box, int32_t axis, int centred, float *low, float *high)
{
    if (centred != 0) {
        const float half = box[axis + 2] / 2.0f;
        *low = box[axis] - half;
        *high = box[axis] + half;
    } else {
        const int turned = (box[axis] >= box[axis + 2]) ? 2 : 0;
        *low = box[axis + turned];
        *high = box[axis + 2 - turned];
    }
}

/* 1 when the intersection of two boxes over their union is more than `limit`; 0 for boxes without an area. */
static inline int lam_boxes_overlap(const float *a, const float *b, int centred, float limit)
{
    float both = 1.0f;
    float area_a = 1.0f;
    float area_b = 1.0f;
    float joined;

    for (int32_t axis = 1; axis >= 0; axis--) {
        float a_low, a_high, b_low, b_high, low, high;
        lam_box_extent(a, axis, centred, &a_low, &a_high);
        lam_box_extent(b, axis, centred, &b_low, &b_high);
        low = (a_low < b_low) ? b_low : a_low;
        high = (b_high < a_high) ? b_high : a_high;
        if (high <= low) {
            return 0;
        }
        both = lam_f32_rounded(both * (high - low));
        area_a = lam_f32_rounded(area_a * (a_high - a_low));
        area_b = lam_f32_rounded(area_b * (b_high - b_low));
    }
    joined = (area_a + area_b) - both;
    if ((both <= 0.0f) || (area_a <= 0.0f) || (area_b <= 0.0f) || (joined <= 0.0f)) {
        return 0;
    }
    return ((both / joined) > limit) ? 1 : 0;
}

/* The indexes of scores above `least`, rising, into `order`; how many. */
static inline int32_t lam_nms_above(const float *scores, int32_t count, float least, int32_t *order)
{
    int32_t found = 0;

    for (int32_t i = 0; i < count; i++) {
        if (scores[i] > least) {
            order[found++] = i;
        }
    }
    return found;
}

/* The indexes of all scores that are numbers, rising, into `order`; how many. */
static inline int32_t lam_nms_all(const float *scores, int32_t count, int32_t *order)
{
    int32_t found = 0;

    for (int32_t i = 0; i < count; i++) {
        if (lam_f32_is_nan(scores[i]) == 0) {
            order[found++] = i;
        }
    }
    return found;
}

/* 1 when box a comes before box b: the higher score, and of equal ones the lower index. */
static inline int lam_nms_before(const float *scores, int32_t a, int32_t b)
{
    return ((scores[a] > scores[b]) || ((scores[a] == scores[b]) && (a < b))) ? 1 : 0;
}

/* Moves order[at] down the heap of `count` whose last one is on top. */
static inline void lam_nms_sift(const float *scores, int32_t *order, int32_t at, int32_t count)
{
    const int32_t moved = order[at];

    for (int32_t below = 2 * at + 1; below < count; below = 2 * at + 1) {
        if ((below + 1 < count) && (lam_nms_before(scores, order[below], order[below + 1]) != 0)) {
            below++;
        }
        if (lam_nms_before(scores, moved, order[below]) == 0) {
            break;
        }
        order[at] = order[below];
        at = below;
    }
    order[at] = moved;
}

/* Sorts indexes, best first: in place, no recursion. */
static inline void lam_nms_sort(const float *scores, int32_t *order, int32_t count)
{
    for (int32_t at = count / 2 - 1; at >= 0; at--) {
        lam_nms_sift(scores, order, at, count);
    }
    for (int32_t last = count - 1; last > 0; last--) {
        const int32_t worst = order[0];
        order[0] = order[last];
        order[last] = worst;
        lam_nms_sift(scores, order, 0, last);
    }
}

/* Of sorted boxes those that overlap none kept before them by more than `limit`, at most `most`: at the front of `order`,
 * in its order; how many. */
static inline int32_t lam_nms_keep(const float *boxes, int32_t *order, int32_t count, int centred, float limit, int32_t most)
{
    int32_t kept = 0;

    for (int32_t i = 0; (i < count) && (kept < most); i++) {
        const float *const box = boxes + 4 * (size_t)order[i];
        int32_t k = 0;
        while ((k < kept) && (lam_boxes_overlap(box, boxes + 4 * (size_t)order[k], centred, limit) == 0)) {
            k++;
        }
        if (k == kept) {
            order[kept++] = order[i];
        }
    }
    return kept;
}

#endif /* LAM_NMS_H */
