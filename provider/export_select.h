/* SPDX-License-Identifier: Apache-2.0 */
/* export_select.h: RES_SELECT of an export policy: which hosts are meant.
 *
 * Terms joined by &&: `any` or `type==any` (every host), `type==NAME`, or the name of a
 * Boolean resource that the host must have. No term at all is `type==any`. The whole
 * requirement language comes with its own issue; what it would need is an error here.
 *
 * Ownership: terms live in the arena given. Errors: ERR_PARSE with the term in quotes.
 * Source: lsf.md 1.2, ARCHITECTURE 5. Layer: provider (base only). */
#ifndef SUBLET_PROVIDER_EXPORT_SELECT_H
#define SUBLET_PROVIDER_EXPORT_SELECT_H

#include "provider/export.h"

struct export_term {
    bool is_type;     /* else a Boolean */
    const char *name; /* NULL: any */
};

struct export_select {
    struct export_term *terms;
    int n_terms;
};

int export_select_parse(struct arena *arena, const char *text,
                        struct export_select *select, struct err *err) MUST_CHECK;

bool export_select_matches(const struct export_select *select,
                           const struct export_host *host);

#endif
