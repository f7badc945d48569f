/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * What lam_host_shim.c offers of any network; codegen/host/network.py reads this file and calls them.
 */
#ifndef LAM_HOST_SHIM_H
#define LAM_HOST_SHIM_H

#include <stddef.h>
#include <stdint.h>

size_t lam_host_net_bytes(void);
void lam_host_scratchpad(int32_t core, uint8_t *scratchpad, size_t scratchpad_bytes);
void lam_host_region(int32_t index, uint8_t *region, size_t region_bytes);
int lam_host_init(void *net, uint8_t *arena, size_t arena_bytes, const uint8_t *weights, size_t weights_bytes);
void *lam_host_input(void *net, int32_t index);
int lam_host_run(void *net);
int lam_host_run_core(void *net, int32_t stage, int32_t core);
void lam_host_reset(void *net);
void *lam_host_next_row(void *net);
int lam_host_push_row(void *net, const void *row);
const void *lam_host_output(void *net, int32_t index);
size_t lam_host_camera_bytes(void);
void lam_host_camera_begin(void *pre, void *net);
int lam_host_camera_line(void *pre, const void *line, const void *chroma);
int lam_host_camera_row(void *pre, void *row);
size_t lam_host_post_bytes(void);
int lam_host_post(void *post, const void *net);
int lam_host_camera_push(void *pre, void *net, const void *line, const void *chroma);

#endif /* LAM_HOST_SHIM_H */
