/* SPDX-License-Identifier: Apache-2.0 */
/* whose.h: whose jobs a listing is about: -u USER, -u all, else one's own; those that
 * are named are shown whoever's they are.
 * Layer: cli. */
#ifndef SUBLET_CLI_WHOSE_H
#define SUBLET_CLI_WHOSE_H

#include <stdbool.h>

#include "cli/call.h"

/* "" : everyone's. */
const char *whose_user(struct call *call, bool is_named);

#endif
