/* SPDX-License-Identifier: Apache-2.0 */
/* lease_stage.h: a broker on a stage (stage.h) with one lease, north/1/south, as its
 * provider tells of it. A test changes `host` and `books`, and has the provider say
 * them.
 *
 * As it opens both sites are here, the lease is new and shared: of the 4 slots of host
 * n1 3 are the provider's and 1 is the consumer's. Nothing has been said of it. */
#ifndef SUBLET_TESTS_UNIT_BROKER_LEASE_STAGE_H
#define SUBLET_TESTS_UNIT_BROKER_LEASE_STAGE_H

#include "tests/unit/broker/stage.h"

#define LEASE_STAGE_ID "north/1/south"

struct lease_stage {
    struct stage stage;
    struct host_split host;
    struct msg_state books;
};

void lease_stage_open(struct lease_stage *on);
/* STATE with the books as they are, of that site in that session. */
void lease_stage_say(struct lease_stage *on, const char *site, uint64_t session);
/* The provider says that it is made. */
void lease_stage_make(struct lease_stage *on);
/* The broker's record of it. */
struct row_lease lease_stage_now(const struct lease_stage *on);
/* The latest batch sent that site this error. */
void lease_stage_expect_error(const struct lease_stage *on, const char *site, int code);

#endif
