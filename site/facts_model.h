/* SPDX-License-Identifier: Apache-2.0 */
/* facts_model.h: which model of section HostModel a host is of.
 *
 * A host describes its processor as FAMILY_SPEED_NAME ("x6_4000_IntelXeon"). The model
 * is the one with that word under ARCHITECTURE; else one that differs in the speed
 * alone, the nearest: speeds are measured, and never twice the same. A host may also
 * say a model's name itself (LSF_LOCAL_RESOURCES).
 *
 * Order: models as in the file; of equally near ones the first.
 * Source: LSF's lsf.shared. Layer: site. */
#ifndef SUBLET_SITE_FACTS_MODEL_H
#define SUBLET_SITE_FACTS_MODEL_H

#include <stdbool.h>

#include "site/facts_config.h"

/* "" or "!": type and model are what the host says. */
bool facts_model_is_detected(const char *text);

/* The model's name, and its factor; where the section has none that fits, the text
 * itself, and a factor of 1. */
const char *facts_model_find(const struct facts_config *config, const char *text,
                             double *cpuf);

#endif
