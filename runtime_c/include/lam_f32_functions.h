/* SPDX-License-Identifier: MIT-0
 * Copyright (c) Lamina contributors
 *
 * All functions of float32.  Their twins are codegen/float32/.
 */
#ifndef LAM_F32_FUNCTIONS_H
#define LAM_F32_FUNCTIONS_H

#include "lam_f32.h"
#include "lam_f32_arc.h"
#include "lam_f32_area.h"
#include "lam_f32_circle.h"
#include "lam_f32_erf.h"
#include "lam_f32_exp.h"
#include "lam_f32_fma.h"
#include "lam_f32_gated.h"
#include "lam_f32_log.h"
#include "lam_f32_power.h"
#include "lam_f32_root.h"
#include "lam_f32_soft.h"
#include "lam_f32_storage.h"

#endif /* LAM_F32_FUNCTIONS_H */
