/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * What a lam_status is called, for a log.  Takes no bytes where it is not called.
 */
#ifndef LAM_STATUS_H
#define LAM_STATUS_H

#include "lam_base.h"

/* The name of a status without LAM_, "?" for a number that is none. */
static inline const char *lam_status_text(lam_status status)
{
    const char *text = "?";
    switch (status) {
    case LAM_OK:
        text = "OK";
        break;
    case LAM_ERROR_NULL:
        text = "ERROR_NULL";
        break;
    case LAM_ERROR_NOT_READY:
        text = "ERROR_NOT_READY";
        break;
    case LAM_ERROR_ARENA_SIZE:
        text = "ERROR_ARENA_SIZE";
        break;
    case LAM_ERROR_ARENA_ALIGN:
        text = "ERROR_ARENA_ALIGN";
        break;
    case LAM_ERROR_REGION_SIZE:
        text = "ERROR_REGION_SIZE";
        break;
    case LAM_ERROR_REGION_ALIGN:
        text = "ERROR_REGION_ALIGN";
        break;
    case LAM_ERROR_WEIGHTS_MAGIC:
        text = "ERROR_WEIGHTS_MAGIC";
        break;
    case LAM_ERROR_WEIGHTS_VERSION:
        text = "ERROR_WEIGHTS_VERSION";
        break;
    case LAM_ERROR_WEIGHTS_BYTE_ORDER:
        text = "ERROR_WEIGHTS_BYTE_ORDER";
        break;
    case LAM_ERROR_WEIGHTS_ISA:
        text = "ERROR_WEIGHTS_ISA";
        break;
    case LAM_ERROR_WEIGHTS_MODEL:
        text = "ERROR_WEIGHTS_MODEL";
        break;
    case LAM_ERROR_WEIGHTS_SIZE:
        text = "ERROR_WEIGHTS_SIZE";
        break;
    case LAM_ERROR_WEIGHTS_CRC:
        text = "ERROR_WEIGHTS_CRC";
        break;
    case LAM_ERROR_WEIGHTS_ALIGN:
        text = "ERROR_WEIGHTS_ALIGN";
        break;
    case LAM_NEED_MORE:
        text = "NEED_MORE";
        break;
    case LAM_DONE:
        text = "DONE";
        break;
    case LAM_ERROR_WEIGHTS_STRUCTURE:
        text = "ERROR_WEIGHTS_STRUCTURE";
        break;
    case LAM_ERROR_WEIGHTS_INTERFACE:
        text = "ERROR_WEIGHTS_INTERFACE";
        break;
    case LAM_ERROR_WEIGHTS_HEADER:
        text = "ERROR_WEIGHTS_HEADER";
        break;
    case LAM_ERROR_WEIGHTS_RESERVED:
        text = "ERROR_WEIGHTS_RESERVED";
        break;
    case LAM_ERROR_ROW_OVERLAP:
        text = "ERROR_ROW_OVERLAP";
        break;
    case LAM_ERROR_WEIGHTS_READ:
        text = "ERROR_WEIGHTS_READ";
        break;
    case LAM_STOPPED:
        text = "STOPPED";
        break;
    default:
        break;
    }
    return text;
}

#endif /* LAM_STATUS_H */
