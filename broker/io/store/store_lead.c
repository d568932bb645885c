/* SPDX-License-Identifier: Apache-2.0 */
/* store_lead.c: see store_lead.h. */
#include "broker/io/store/store_lead.h"

#include "broker/io/store/store_parts.h"

int store_lead_try(struct store *store, const char *name, struct arena *arena,
                   struct store_leader *leader, struct err *err)
{
    return store->ops->try_lead != NULL
               ? store->ops->try_lead(store, name, arena, leader, err)
               : 1;
}

void store_lead_set_dismissed(struct store *store, store_dismissed_fn *fn, void *arg)
{
    store->dismissed = fn;
    store->dismissed_arg = arg;
}

void store_lead_renew(struct store *store)
{
    struct err err;
    if (store->ops->renew_lead != NULL && store->ops->renew_lead(store, &err) < 0 &&
        store->dismissed != NULL) {
        store->dismissed(store->dismissed_arg, &err);
    }
}

void store_lead_leave(struct store *store)
{
    if (store->ops->leave_lead != NULL) {
        store->ops->leave_lead(store);
    }
}
