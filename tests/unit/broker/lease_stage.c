/* SPDX-License-Identifier: Apache-2.0 */
/* lease_stage.c: see lease_stage.h. */
#include "tests/unit/broker/lease_stage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

void lease_stage_open(struct lease_stage *on)
{
    stage_open(&on->stage);
    on->host =
        (struct host_split){.host = "n1", .n_slots = 4, .provider = 3, .consumer = 1};
    on->books = (struct msg_state){.lease = LEASE_STAGE_ID,
                                   .epoch = 1,
                                   .type = LEASE_SHARED,
                                   .lease_term_ms = 300000,
                                   .hosts = &on->host,
                                   .n_hosts = 1,
                                   .reason = ""};
    stage_hello(&on->stage, "north", 1);
    stage_hello(&on->stage, "south", 1);
}

void lease_stage_say(struct lease_stage *on, const char *site, uint64_t session)
{
    struct msg msg = {.kind = MSG_STATE, .state = on->books};
    stage_say(&on->stage, site, session, &msg);
}

void lease_stage_make(struct lease_stage *on)
{
    on->books.is_made = true;
    lease_stage_say(on, "north", 1);
}

struct row_lease lease_stage_now(const struct lease_stage *on)
{
    struct row_lease lease;
    assert_true(broker_find_lease(on->stage.broker, LEASE_STAGE_ID, &lease));
    return lease;
}

void lease_stage_expect_error(const struct lease_stage *on, const char *site, int code)
{
    const struct msg *msg = stage_sent(&on->stage, site, MSG_ERROR, 0);
    assert_non_null(msg);
    assert_int_equal(msg->error.code, code);
}
