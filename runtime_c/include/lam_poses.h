/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Poses of people from maps of keypoints and of offsets between them, in float32.
 * Bit-exact twin of codegen/float32/poses.py.
 *
 * A map has `height` x `width` places and at each of them 17 scores (before their sigmoid), 17 offsets along y and 17
 * along x to the keypoint nearby, and offsets along the 32 directed edges: 16 along y and 16 along x forward, then
 * backward.  Offsets are in places.
 */
#ifndef LAM_POSES_H
#define LAM_POSES_H

#include "lam_f32_exp.h"
#include "lam_nms.h"

#define LAM_POSE_KEYPOINTS 17
#define LAM_POSE_EDGES 16
#define LAM_POSE_STEPS 5

typedef struct {
    const float *scores;
    const float *offsets;
    const float *edges;
    int32_t height;
    int32_t width;
} lam_pose_maps;

/* What poses are to have: the least score of a keypoint that one begins with (before its sigmoid), the least mean score,
 * and the square of the distance, in places, below which two keypoints are one. */
typedef struct {
    float begin;
    float least;
    float reach;
} lam_pose_limits;

/* Keypoints: along y and along x, in places, and their scores. */
typedef struct {
    float y[LAM_POSE_KEYPOINTS];
    float x[LAM_POSE_KEYPOINTS];
    float score[LAM_POSE_KEYPOINTS];
} lam_pose;

/* The nearest number in 0 .. size - 1; 0 for NaN. */
static inline float lam_pose_inside(float v, int32_t size)
{
    const float last = (float)(size - 1);

    return (v > 0.0f) ? ((v < last) ? v : last) : 0.0f;
}

/* The number at a place between others of channel `c` of `count`: columns first, then rows. */
static inline float lam_pose_at(const lam_pose_maps *m, const float *map, int32_t count, float y, float x, int32_t c)
{
    const int32_t top = (int32_t)y;
    const int32_t left = (int32_t)x;
    const float down = y - (float)top;
    const float along = x - (float)left;
    const int32_t bottom = (down > 0.0f) ? top + 1 : top;
    const int32_t right = (along > 0.0f) ? left + 1 : left;
    const float *const upper = map + c + (size_t)top * (size_t)m->width * (size_t)count;
    const float *const lower = map + c + (size_t)bottom * (size_t)m->width * (size_t)count;
    const size_t a = (size_t)left * (size_t)count;
    const size_t b = (size_t)right * (size_t)count;
    const float above = lam_f32_product(1.0f - along, upper[a]) + lam_f32_product(along, upper[b]);
    const float below = lam_f32_product(1.0f - along, lower[a]) + lam_f32_product(along, lower[b]);

    return lam_f32_product(1.0f - down, above) + lam_f32_product(down, below);
}

/* Moves a place by the offsets of channels `first` and `second`. */
static inline void lam_pose_move(const lam_pose_maps *m, const float *map, int32_t count, float *place, int32_t first,
                                 int32_t second)
{
    const float down = lam_pose_at(m, map, count, place[0], place[1], first);
    const float along = lam_pose_at(m, map, count, place[0], place[1], second);

    place[0] = lam_pose_inside(place[0] + down, m->height);
    place[1] = lam_pose_inside(place[1] + along, m->width);
}

/* Where and how good the keypoint at the other end of an edge is: along the edge, then by its own offsets. */
static inline float lam_pose_follow(const lam_pose_maps *m, float *place, int32_t edge, int32_t keypoint)
{
    /* the first edge backward has the channels of the forward ones behind it, as the definition has it */
    const int32_t channel = (edge > LAM_POSE_EDGES) ? edge + LAM_POSE_EDGES : edge;

    lam_pose_move(m, m->edges, 4 * LAM_POSE_EDGES, place, channel, channel + LAM_POSE_EDGES);
    for (int32_t step = 0; step < LAM_POSE_STEPS; step++) {
        lam_pose_move(m, m->offsets, 2 * LAM_POSE_KEYPOINTS, place, keypoint, keypoint + LAM_POSE_KEYPOINTS);
    }
    return lam_pose_at(m, m->scores, LAM_POSE_KEYPOINTS, place[0], place[1], keypoint);
}

/* The keypoint with the best score of those that were found and not yet left; the first of equal ones, -1 of none. */
static inline int32_t lam_pose_next(const lam_pose *pose, const int8_t *state)
{
    int32_t best = -1;

    for (int32_t k = 0; k < LAM_POSE_KEYPOINTS; k++) {
        if ((state[k] == 1) && ((best < 0) || (pose->score[k] > pose->score[best]))) {
            best = k;
        }
    }
    return best;
}

/* Follows all edges from a keypoint that was reached to those that were not, and keeps the best place of each. */
static inline void lam_pose_spread(const lam_pose_maps *m, lam_pose *pose, int8_t *state, int32_t from)
{
    static const int8_t one[LAM_POSE_EDGES] = {0, 1, 0, 2, 0, 5, 7, 5, 11, 13, 0, 6, 8, 6, 12, 14};
    static const int8_t other[LAM_POSE_EDGES] = {1, 3, 2, 4, 5, 7, 9, 11, 13, 15, 6, 8, 10, 12, 14, 16};

    for (int32_t edge = 0; edge < 2 * LAM_POSE_EDGES; edge++) {
        const int forward = (edge < LAM_POSE_EDGES) ? 1 : 0;
        const int32_t at = (forward != 0) ? edge : edge - LAM_POSE_EDGES;
        const int32_t begin = (forward != 0) ? one[at] : other[at];
        const int32_t end = (forward != 0) ? other[at] : one[at];
        if ((begin == from) && (state[end] != 2)) {
            float place[2];
            float score;
            place[0] = pose->y[from];
            place[1] = pose->x[from];
            score = lam_pose_follow(m, place, edge, end);
            if ((state[end] == 0) || (score > pose->score[end])) {
                state[end] = 1;
                pose->y[end] = place[0];
                pose->x[end] = place[1];
                pose->score[end] = score;
            }
        }
    }
}

/* All keypoints of the pose that has one at a place, the better ones first; scores behind their sigmoid. */
static inline void lam_pose_of(const lam_pose_maps *m, lam_pose *pose, float y, float x, int32_t keypoint)
{
    int8_t state[LAM_POSE_KEYPOINTS] = {0};

    pose->y[keypoint] = y;
    pose->x[keypoint] = x;
    pose->score[keypoint] = lam_pose_at(m, m->scores, LAM_POSE_KEYPOINTS, y, x, keypoint);
    state[keypoint] = 1;
    for (int32_t k = keypoint; k >= 0; k = lam_pose_next(pose, state)) {
        state[k] = 2;
        lam_pose_spread(m, pose, state, k);
    }
    for (int32_t k = 0; k < LAM_POSE_KEYPOINTS; k++) {
        pose->score[k] = lam_f32_sigmoid(pose->score[k]);
    }
}

/* The mean of the scores, the greatest added first; those with a mark in `left_out` count as 0. */
static inline float lam_pose_mean(const lam_pose *pose, const int8_t *left_out)
{
    int32_t order[LAM_POSE_KEYPOINTS];
    float total = 0.0f;

    for (int32_t k = 0; k < LAM_POSE_KEYPOINTS; k++) {
        order[k] = k;
    }
    lam_nms_sort(pose->score, order, LAM_POSE_KEYPOINTS);
    for (int32_t k = 0; k < LAM_POSE_KEYPOINTS; k++) {
        if (left_out[order[k]] == 0) {
            total += pose->score[order[k]];
        }
    }
    return total / (float)LAM_POSE_KEYPOINTS;
}

/* 1 when a pose has a keypoint of this kind near a place. */
static inline int lam_pose_has(const lam_pose *pose, int32_t keypoint, float y, float x, float reach)
{
    const float down = pose->y[keypoint] - y;
    const float along = pose->x[keypoint] - x;

    return ((lam_f32_product(down, down) + lam_f32_product(along, along)) <= reach) ? 1 : 0;
}

/* The indexes of scores of at least `begin` that no neighbour of their kind exceeds, the best first; how many. */
static inline int32_t lam_pose_roots(const lam_pose_maps *m, float begin, int32_t *order)
{
    int32_t found = 0;

    for (int32_t i = 0; i < m->height * m->width * LAM_POSE_KEYPOINTS; i++) {
        const int32_t place = i / LAM_POSE_KEYPOINTS;
        const int32_t row = place / m->width;
        const int32_t column = place % m->width;
        int best = (m->scores[i] >= begin) ? 1 : 0;
        for (int32_t y = row - 1; (best != 0) && (y <= row + 1); y++) {
            for (int32_t x = column - 1; x <= column + 1; x++) {
                const int inside = ((y >= 0) && (y < m->height) && (x >= 0) && (x < m->width)) ? 1 : 0;
                const int32_t beside = i + ((y - row) * m->width + (x - column)) * LAM_POSE_KEYPOINTS;
                if ((inside != 0) && (m->scores[beside] > m->scores[i])) {
                    best = 0;
                }
            }
        }
        if (best != 0) {
            order[found++] = i;
        }
    }
    lam_nms_sort(m->scores, order, found);
    return found;
}

/* Poses whose mean score is at least `limits->least`, at most `most`, each begun at the best keypoint that no other one
 * has; their mean scores into `means`; how many.  `order` is for an index of each score. */
static inline int32_t lam_pose_find(const lam_pose_maps *m, const lam_pose_limits *limits, int32_t most, int32_t *order,
                                    lam_pose *poses, float *means)
{
    static const int8_t none[LAM_POSE_KEYPOINTS] = {0};
    const int32_t roots = lam_pose_roots(m, limits->begin, order);
    int32_t found = 0;

    for (int32_t i = 0; (i < roots) && (found < most); i++) {
        const int32_t keypoint = order[i] % LAM_POSE_KEYPOINTS;
        const int32_t place = order[i] / LAM_POSE_KEYPOINTS;
        const float *const offset = m->offsets + 2 * (size_t)place * LAM_POSE_KEYPOINTS + keypoint;
        const float y = lam_pose_inside((float)(place / m->width) + offset[0], m->height);
        const float x = lam_pose_inside((float)(place % m->width) + offset[LAM_POSE_KEYPOINTS], m->width);
        int32_t p = 0;
        while ((p < found) && (lam_pose_has(poses + p, keypoint, y, x, limits->reach) == 0)) {
            p++;
        }
        if (p == found) {
            lam_pose_of(m, poses + found, y, x, keypoint);
            means[found] = lam_pose_mean(poses + found, none);
            if (means[found] >= limits->least) {
                found++;
            }
        }
    }
    return found;
}

/* Means without the keypoints that a better pose has nearby, and poses sorted by them: `order` has their indexes. */
static inline void lam_pose_rank(const lam_pose *poses, int32_t count, float reach, float *means, int32_t *order)
{
    for (int32_t i = 0; i < count; i++) {
        order[i] = i;
    }
    lam_nms_sort(means, order, count);
    for (int32_t i = 0; i < count; i++) {
        const lam_pose *const pose = poses + order[i];
        int8_t hidden[LAM_POSE_KEYPOINTS] = {0};
        for (int32_t k = 0; k < LAM_POSE_KEYPOINTS; k++) {
            for (int32_t j = 0; j < i; j++) {
                if (lam_pose_has(poses + order[j], k, pose->y[k], pose->x[k], reach) != 0) {
                    hidden[k] = 1;
                }
            }
        }
        means[order[i]] = lam_pose_mean(pose, hidden);
    }
    for (int32_t i = 0; i < count; i++) {
        order[i] = i;
    }
    lam_nms_sort(means, order, count);
}

#endif /* LAM_POSES_H */
