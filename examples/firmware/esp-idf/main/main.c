/* SPDX-License-Identifier: MIT-0 */
/* A person detector behind a camera: each line goes into the network as it is, and no other image is held. */
#include <stdio.h>

#include "esp_camera.h"
#include "person_helpers.h"
#include "person_preprocess.h"

#define PERSON 1 /* of the two outputs */

static uint8_t arena[PERSON_ARENA_SIZE] PERSON_ARENA_ALIGNED;
static person_t net;
static person_preprocess_t pre;

/* Pins of the board ESP32-S3-EYE; yours may have others. */
static const camera_config_t camera = {
    .pin_pwdn = -1, .pin_reset = -1, .pin_xclk = 15, .pin_sccb_sda = 4, .pin_sccb_scl = 5,
    .pin_d7 = 16, .pin_d6 = 17, .pin_d5 = 18, .pin_d4 = 12, .pin_d3 = 10, .pin_d2 = 8, .pin_d1 = 9, .pin_d0 = 11,
    .pin_vsync = 6, .pin_href = 7, .pin_pclk = 13, .xclk_freq_hz = 20000000,
    .pixel_format = PIXFORMAT_RGB565, .frame_size = FRAMESIZE_96X96, .fb_count = 1,
    .fb_location = CAMERA_FB_IN_DRAM,
};

void app_main(void);

void app_main(void)
{
    const person_memory memory = PERSON_MEMORY(arena);
    camera_fb_t *image;
    if (person_init(&net, &memory) != LAM_OK || esp_camera_init(&camera) != ESP_OK) {
        printf("no network or no camera\n");
        return;
    }
    while ((image = esp_camera_fb_get()) != NULL) {
        lam_status status = LAM_NEED_MORE;
        float score;
        if (image->len == PERSON_PREPROCESS_FRAME_BYTES) {
            status = person_preprocess_frame(&pre, &net, image->buf);
        }
        esp_camera_fb_return(image);
        if (status != LAM_DONE) {
            printf("not a frame of the table's size\n");
            return;
        }
        score = PERSON_OUTPUT0_SCALE * (float)(person_output(&net, 0)[PERSON] - PERSON_OUTPUT0_ZERO_POINT);
        printf("%s (%.2f)\n", score > 0.5f ? "person" : "nobody", (double)score);
    }
}
