/* SPDX-License-Identifier: Apache-2.0 */
/* json.h: value trees as JSON text. Layer: sys. */
#ifndef SUBLET_SYS_JSON_H
#define SUBLET_SYS_JSON_H

#include "base/value.h"

/* Compact JSON on the heap; the caller frees it. */
char *json_render(const struct value *value);

#endif
