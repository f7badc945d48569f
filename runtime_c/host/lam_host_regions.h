/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Working memories beside the arena, for programs that run any network: with LAM_HOST_REGIONS (see lam_host_shim.c) an
 * array for each, and REGIONS for the arguments of NAME_MEMORY behind the arena.  Include it where BIG is defined.
 */
#ifndef LAM_HOST_REGIONS_H
#define LAM_HOST_REGIONS_H

#ifdef LAM_HOST_REGIONS
#define REGION(small, big) static uint8_t small##_arena[BIG(_ARENA_##big##_SIZE)] BIG(_ARENA_ALIGNED);
LAM_HOST_REGIONS
#undef REGION
#define REGION(small, big) , small##_arena
#define REGIONS LAM_HOST_REGIONS
#else
#define REGIONS
#endif

#endif /* LAM_HOST_REGIONS_H */
