/* What the example uses of Espressif's camera driver; the images are a file's, camera.rgb565, one after the other. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define ESP_OK 0
#define IMAGE_BYTES (96 * 96 * 2)

typedef enum { PIXFORMAT_RGB565 } pixformat_t;
typedef enum { FRAMESIZE_96X96 } framesize_t;
typedef enum { CAMERA_FB_IN_PSRAM, CAMERA_FB_IN_DRAM } camera_fb_location_t;
typedef struct { uint8_t *buf; size_t len; } camera_fb_t;
typedef struct {
    int pin_pwdn, pin_reset, pin_xclk, pin_sccb_sda, pin_sccb_scl, pin_d7, pin_d6, pin_d5, pin_d4, pin_d3, pin_d2, pin_d1,
        pin_d0, pin_vsync, pin_href, pin_pclk, xclk_freq_hz;
    pixformat_t pixel_format;
    framesize_t frame_size;
    size_t fb_count;
    camera_fb_location_t fb_location;
} camera_config_t;

static FILE *camera_file;

static inline int esp_camera_init(const camera_config_t *config)
{
    camera_file = fopen("camera.rgb565", "rb");
    return camera_file != NULL && config->frame_size == FRAMESIZE_96X96 ? ESP_OK : -1;
}

static inline camera_fb_t *esp_camera_fb_get(void)
{
    static uint8_t image[IMAGE_BYTES];
    static camera_fb_t frame = {image, IMAGE_BYTES};
    return fread(image, 1, IMAGE_BYTES, camera_file) == IMAGE_BYTES ? &frame : NULL;
}

static inline void esp_camera_fb_return(camera_fb_t *frame)
{
    (void)frame;
}
