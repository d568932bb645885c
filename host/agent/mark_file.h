/* SPDX-License-Identifier: Apache-2.0 */
/* mark_file.h: how far the journal of this host's site was, in the host's spool: the
 * site hears it when the host connects, and so notices that its journal is older.
 *
 * The file is one line of 80 bytes, "commits attempt job check", the last one
 * hexadecimal. It is written in place, in one call, since that is done at each start of
 * a job. It is not synced: after a power cut it may be too old, never too new. A file
 * that cannot be read or written is logged; the site has other witnesses.
 * Layer: host. */
#ifndef SUBLET_HOST_AGENT_MARK_FILE_H
#define SUBLET_HOST_AGENT_MARK_FILE_H

#include "model/msg.h"

/* Zeros if there is no file. */
struct journal_mark mark_file_read(const char *spool);
void mark_file_write(const char *spool, const struct journal_mark *mark);

#endif
