/* SPDX-License-Identifier: Apache-2.0 */
/* db_batch.c: see db.h. */
#include "sys/daemon.h"
#include "sys/db/db.h"

static int commit_once(const struct db_batch *batch, const struct effects *effects,
                       struct err *err)
{
    int rc = db_begin(batch->db, err);
    for (int i = 0; i < effects->count && rc == 0; i++) {
        if (effects->items[i].kind == EFFECT_STORE) {
            rc = batch->write(batch->store, &effects->items[i].row, err);
        }
    }
    if (rc == 0 && batch->finish != NULL) {
        rc = batch->finish(batch->store, err);
    }
    return rc == 0 ? db_commit(batch->db, err) : rc;
}

/* A batch for which room was made on a full disk is written again. */
int db_batch_commit(void *arg, const struct effects *effects, struct err *err)
{
    const struct db_batch *batch = arg;
    int rc = commit_once(batch, effects, err);
    rc = rc == ERR_AWAY ? commit_once(batch, effects, err) : rc;
    if (rc == 0 && batch->committed != NULL) {
        batch->committed(batch->store);
    }
    return rc;
}

void db_batch_maintain(void *arg)
{
    const struct db_batch *batch = arg;
    db_maintain(batch->db, daemon_now_ms());
}
