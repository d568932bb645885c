/* SPDX-License-Identifier: Apache-2.0 */
/* db_batch.c: see db.h. */
#include "sys/db/db.h"

int db_batch_commit(void *arg, const struct effects *effects, struct err *err)
{
    const struct db_batch *batch = arg;
    int rc = db_begin(batch->db, err);
    for (int i = 0; i < effects->count && rc == 0; i++) {
        if (effects->items[i].kind == EFFECT_STORE) {
            rc = batch->write(batch->store, &effects->items[i].row, err);
        }
    }
    return rc == 0 ? db_commit(batch->db, err) : rc;
}

void db_batch_maintain(void *arg)
{
    const struct db_batch *batch = arg;
    db_maintain(batch->db);
}
