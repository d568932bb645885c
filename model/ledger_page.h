/* SPDX-License-Identifier: Apache-2.0 */
/* ledger_page.h: a page of a lease's books as the answer to QUERY_LEDGER:
 * {"schema_version":1,"ledger":[{"hour_ms":..,"side":"provider","held_ms":..,
 * "used_ms":..,"idle_ms":..,"n_changes":..,"n_slots":..}],"next_ms":..,"first_ms":..,
 * "merged_ms":..}, as in struct msg_ledger. With `by` "runs" of the query there is
 * "runs":
 * [{"run":..,"job":"5","side":"lent","start_ms":..,"end_ms":..,"used_ms":..,"at_ms":..,
 * "n_slots":..}] and "next_run", which is `after` of the next page; with "splits" there
 * is "splits":[{"side":..,"epoch":..,"at_ms":..,"n_slots":..}].
 *
 * Ownership: in the arena. Layer: model. */
#ifndef SUBLET_MODEL_LEDGER_PAGE_H
#define SUBLET_MODEL_LEDGER_PAGE_H

#include "base/value.h"
#include "model/msg_lease.h"

/* The hours that a page has at most, and that it is asked for. */
#define LEDGER_PAGE_MS (INT64_C(31) * 24 * 60 * 60 * 1000)

/* By `by` of the query. */
enum ledger_detail ledger_page_detail(const char *by);
struct value *ledger_page_show(const struct msg_ledger *ledger, struct arena *arena);

#endif
