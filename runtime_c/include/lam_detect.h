/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * What heads of detectors say, as scores and boxes in float32.
 * Bit-exact twin of codegen/float32/detections.py.
 *
 * A box is two corners x, y, x, y, in pixels of the network's picture.
 */
#ifndef LAM_DETECT_H
#define LAM_DETECT_H

#include "lam_f32_exp.h"
#include "lam_f32_power.h"
#include "lam_f32_root.h"
#include "lam_nms.h"

/* Where a box is proposed: column and row of its cell, how many pixels a cell is, and a size in pixels. */
typedef struct lam_place {
    float x;
    float y;
    float step_x;
    float step_y;
    float width;
    float height;
} lam_place;

/* x, limited to 0 .. 1; 0 for a NaN. */
static inline float lam_clip(float x)
{
    if (x > 0.0f) {
        return (x < 1.0f) ? x : 1.0f;
    }
    return 0.0f;
}

static inline float lam_score_label(float object, float label)
{
    LAM_UNUSED(object);
    return label;
}

static inline float lam_score_product(float object, float label)
{
    return object * label;
}

/* The geometric mean, as YuNet has it. */
static inline float lam_score_root(float object, float label)
{
    return lam_f32_sqrt(object * label);
}

/* As FastestDet has it. */
static inline float lam_score_powers(float object, float label)
{
    return lam_f32_power(object, 0.6f) * lam_f32_power(label, 0.4f);
}

/* Corners of a box of which the middle and the size are known. */
static inline void lam_box_corners(float x, float y, float width, float height, float *box)
{
    const float half_width = width / 2.0f;
    const float half_height = height / 2.0f;

    box[0] = x - half_width;
    box[1] = y - half_height;
    box[2] = x + half_width;
    box[3] = y + half_height;
}

/* raw: middle and size, in steps. */
static inline void lam_box_middle(const float *raw, const lam_place *place, float *box)
{
    lam_box_corners(lam_f32_product(raw[0], place->step_x), lam_f32_product(raw[1], place->step_y),
                    lam_f32_product(raw[2], place->step_x), lam_f32_product(raw[3], place->step_y), box);
}

/* FastestDet: the middle is up to one cell away, the size a part of width and height, which are the picture's. */
static inline void lam_box_fastestdet(const float *raw, const lam_place *place, float *box)
{
    lam_box_corners(lam_f32_product(place->x + lam_f32_tanh(raw[0]), place->step_x),
                    lam_f32_product(place->y + lam_f32_tanh(raw[1]), place->step_y),
                    lam_f32_product(lam_f32_sigmoid(raw[2]), place->width),
                    lam_f32_product(lam_f32_sigmoid(raw[3]), place->height), box);
}

/* YuNet: the middle from the cell's corner in cells, the logarithm of the size in cells. */
static inline void lam_box_yunet(const float *raw, const lam_place *place, float *box)
{
    lam_box_corners(lam_f32_product(place->x + raw[0], place->step_x), lam_f32_product(place->y + raw[1], place->step_y),
                    lam_f32_product(lam_f32_exp(raw[2]), place->step_x),
                    lam_f32_product(lam_f32_exp(raw[3]), place->step_y), box);
}

/* YOLOv3: the middle is within the cell; width and height are the anchor's. */
static inline void lam_box_yolov3(const float *raw, const lam_place *place, float *box)
{
    lam_box_corners(lam_f32_product(place->x + lam_f32_sigmoid(raw[0]), place->step_x),
                    lam_f32_product(place->y + lam_f32_sigmoid(raw[1]), place->step_y),
                    lam_f32_product(lam_f32_exp(raw[2]), place->width),
                    lam_f32_product(lam_f32_exp(raw[3]), place->height), box);
}

/* 2 sigmoid(x) */
static inline float lam_twice_sigmoid(float x)
{
    const float once = lam_f32_sigmoid(x);
    return once + once;
}

/* YOLOv5: the middle is up to half a cell beyond the cell; width and height are the anchor's, times up to 4. */
static inline void lam_box_yolov5(const float *raw, const lam_place *place, float *box)
{
    const float wide = lam_twice_sigmoid(raw[2]);
    const float high = lam_twice_sigmoid(raw[3]);

    lam_box_corners(lam_f32_product((lam_twice_sigmoid(raw[0]) - 0.5f) + place->x, place->step_x),
                    lam_f32_product((lam_twice_sigmoid(raw[1]) - 0.5f) + place->y, place->step_y),
                    lam_f32_product(wide * wide, place->width), lam_f32_product(high * high, place->height), box);
}

/* The mean of 0 .. 15, each as likely as the softmax of 16 numbers says. */
static inline float lam_mean_of_16(const float *raw)
{
    float most = -LAM_INFINITY;
    float sum = 0.0f;
    float mean = 0.0f;

    for (int32_t i = 0; i < 16; i++) {
        most = (raw[i] > most) ? raw[i] : most;
    }
    for (int32_t i = 0; i < 16; i++) {
        const float share = lam_f32_exp(raw[i] - most);
        sum += share;
        mean += lam_f32_product(share, (float)i);
    }
    return mean / sum;
}

/* YOLOv8: 16 numbers for each side, left, top, right, bottom, which say how many cells it is from the cell's middle. */
static inline void lam_box_yolov8(const float *raw, const lam_place *place, float *box)
{
    const float x = place->x + 0.5f;
    const float y = place->y + 0.5f;

    box[0] = lam_f32_product(x - lam_mean_of_16(raw), place->step_x);
    box[1] = lam_f32_product(y - lam_mean_of_16(raw + 16), place->step_y);
    box[2] = lam_f32_product(x + lam_mean_of_16(raw + 32), place->step_x);
    box[3] = lam_f32_product(y + lam_mean_of_16(raw + 48), place->step_y);
}

/* SSD: the middle and the size of a prior box, moved by parts of its size and scaled by powers of e. */
static inline void lam_box_ssd(const float *raw, const lam_place *place, float *box)
{
    lam_box_corners(place->x + lam_f32_product(raw[0], place->width), place->y + lam_f32_product(raw[1], place->height),
                    lam_f32_product(lam_f32_exp(raw[2]), place->width),
                    lam_f32_product(lam_f32_exp(raw[3]), place->height), box);
}

#endif /* LAM_DETECT_H */
