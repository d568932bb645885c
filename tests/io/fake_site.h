/* SPDX-License-Identifier: Apache-2.0 */
/* fake_site.h: the site's end of the link with a sublet-host, without a site: it
 * welcomes, answers heartbeats, and remembers what was last said about each run. What
 * it asks, it asks once: repeating is a site's business. */
#ifndef SUBLET_TESTS_IO_FAKE_SITE_H
#define SUBLET_TESTS_IO_FAKE_SITE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/effect.h"
#include "sys/wire/wire.h"
#include "tests/io/run_fixture.h"

enum { FAKE_SITE_RUNS = 256, FAKE_SITE_OUTPUT = 1 << 18 };

struct fake_run {
    uint64_t attempt;
    int n_states; /* RUN_STATEs about it */
    int n_ends;   /* of them ENDED */
    struct msg_run_state state;
    char text[TEXT_MAX];
};

struct fake_site {
    struct wire_server *server;
    char endpoint[600];
    bool is_silent; /* hears, and says nothing by itself */
    struct peer host;
    uint64_t session; /* of the last HELLO */
    int n_hellos, n_synced;
    char name[HOST_NAME_SIZE], boot_id[NAME_SIZE];
    int n_cpus;
    struct journal_mark mark; /* of the last HELLO */
    bool lists_runs;          /* WELCOME asks for all own runs above `known` */
    uint64_t known;
    int n_found;
    uint64_t found_attempt, found_nonce; /* of the last RUN_FOUND */
    char found_command[TEXT_MAX];
    struct fake_run runs[FAKE_SITE_RUNS];
    int n_runs;
    /* The last piece of output */
    int n_outputs;
    struct msg_output output;
    char bytes[OUTPUT_CHUNK_MAX + 1];
};

void fake_site_init(struct fake_site *site, const struct run_fixture *fixture);
void fake_site_release(struct fake_site *site);
/* Takes in what has come. */
void fake_site_turn(struct fake_site *site);
/* As if the site had been started anew: nothing of before counts. */
void fake_site_forget_all(struct fake_site *site);

/* What is known of a run: phase RUN_UNKNOWN and n_states 0 where nothing was said. */
const struct fake_run *fake_site_run(struct fake_site *site, uint64_t attempt);
enum run_phase fake_site_phase(struct fake_site *site, uint64_t attempt);

void fake_site_send(struct fake_site *site, struct msg *msg);
void fake_site_start(struct fake_site *site, const struct msg_run_start *start);
void fake_site_go(struct fake_site *site, uint64_t attempt, uint64_t token);
void fake_site_control(struct fake_site *site, uint64_t attempt, uint64_t number,
                       enum control_action action);
void fake_site_forget(struct fake_site *site, uint64_t attempt);
void fake_site_ask(struct fake_site *site, uint64_t attempt, enum output_stream stream,
                   int64_t offset, int n_bytes);

#define fake_site_wait(site, condition)                                                \
    run_fixture_wait((fake_site_turn(site), (condition)))

#endif
