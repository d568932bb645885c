/* SPDX-License-Identifier: Apache-2.0 */
/* spool_witness.h: notices that the journal is missing or empty although hosts of this
 * machine have run jobs for it: their spools are beside it, and say how far it was.
 *
 * Errors: ERR_IO with what is known. Layer: site/io. */
#ifndef SUBLET_SITE_IO_SPOOL_WITNESS_H
#define SUBLET_SITE_IO_SPOOL_WITNESS_H

#include <stdbool.h>

#include "base/err.h"

/* `accepts_loss`: it is logged, and no error. */
int spool_witness_check(const char *spool, const char *journal, bool accepts_loss,
                        struct err *err) MUST_CHECK;

#endif
