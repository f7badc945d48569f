/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * Names of the network that the C here drives: with -DLAM_HOST_NAME=kws and -DLAM_HOST_UPPER=KWS, NET(_run) is kws_run and
 * BIG(_ARENA_SIZE) is KWS_ARENA_SIZE.  APPLY(NAME, (a, b)) is the macro NAME(a, b), whose name is made up first.
 */
#ifndef LAM_HOST_NAMES_H
#define LAM_HOST_NAMES_H

#define LAM_HOST_PASTE(a, b) a##b
#define LAM_HOST_JOIN(a, b) LAM_HOST_PASTE(a, b)
#define NET(suffix) LAM_HOST_JOIN(LAM_HOST_NAME, suffix)
#define BIG(suffix) LAM_HOST_JOIN(LAM_HOST_UPPER, suffix)
#define APPLY(name, arguments) name arguments

#endif /* LAM_HOST_NAMES_H */
