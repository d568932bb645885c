/* SPDX-License-Identifier: Apache-2.0 */
/* host_record.c: sublet-host's own copy of guard_record.c: the two programs are linked
 * from different files, and the record is what they share. */
#include "host/guard_record.c" // NOLINT(bugprone-suspicious-include)
