/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * The best candidates among many: a heap of fixed size, sorted in place.
 */
#ifndef LAM_CANDIDATES_H
#define LAM_CANDIDATES_H

#include "lam_base.h"

/* A score and whose it is. */
typedef struct lam_candidate {
    float score;
    int32_t index;
} lam_candidate;

/* 1 when a comes before b: the higher score, and of equal ones the lower index. */
static inline int lam_candidate_before(const lam_candidate *a, const lam_candidate *b)
{
    return ((a->score > b->score) || ((a->score == b->score) && (a->index < b->index))) ? 1 : 0;
}

/* Moves heap[at] down a heap of `count` whose last one is on top. */
static inline void lam_candidates_sift(lam_candidate *heap, int32_t at, int32_t count)
{
    const lam_candidate moved = heap[at];

    for (int32_t below = 2 * at + 1; below < count; below = 2 * at + 1) {
        if ((below + 1 < count) && (lam_candidate_before(&heap[below], &heap[below + 1]) != 0)) {
            below++;
        }
        if (lam_candidate_before(&moved, &heap[below]) == 0) {
            break;
        }
        heap[at] = heap[below];
        at = below;
    }
    heap[at] = moved;
}

/* Takes a candidate into `heap`, which has `count` and room for `most`, and of more keeps the best; how many there are.
 * Indexes rise from call to call. */
static inline int32_t lam_candidates_add(lam_candidate *heap, int32_t count, int32_t most, float score, int32_t index)
{
    if (count < most) {
        heap[count].score = score;
        heap[count].index = index;
        if (count + 1 == most) {
            for (int32_t at = most / 2 - 1; at >= 0; at--) {
                lam_candidates_sift(heap, at, most);
            }
        }
        return count + 1;
    }
    if (score > heap[0].score) {
        heap[0].score = score;
        heap[0].index = index;
        lam_candidates_sift(heap, 0, most);
    }
    return count;
}

/* Sorts candidates, best first: in place, no recursion. */
static inline void lam_candidates_sort(lam_candidate *heap, int32_t count)
{
    for (int32_t at = count / 2 - 1; at >= 0; at--) {
        lam_candidates_sift(heap, at, count);
    }
    for (int32_t last = count - 1; last > 0; last--) {
        const lam_candidate worst = heap[0];
        heap[0] = heap[last];
        heap[last] = worst;
        lam_candidates_sift(heap, 0, last);
    }
}

#endif /* LAM_CANDIDATES_H */
