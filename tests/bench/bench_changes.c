/* SPDX-License-Identifier: Apache-2.0 */
/* bench_changes.c: contract changes made durable, with 1, 16 and 64 sites at once.
 *
 * Each provider reports a new epoch and split of each of its leases as soon as the
 * consumer has received the last one. The broker sends the CONTRACT only after the
 * commit. A change is three messages (STATE, CONTRACT, CONTRACT_ACK) and three rows
 * (contract, its host, history).
 *
 * The contracts are in a file, and then in a PostgreSQL server of the benchmark's own,
 * where that is installed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/crowd.h"
#include "tests/bench/floor.h"

enum { LEASES_PER_SITE = 16, LISTEN_MS = 100 };

static const double measured_s = 1.5, again_s = 2;

struct lease {
    char id[64];
    uint64_t epoch, confirmed;
    double said;
};

struct asking {
    struct crowd *crowd;
    int n_sites, n_leases; /* leases: of each site */
    struct lease leases[CROWD_SITES_MAX][LEASES_PER_SITE];
    long n_changes;
};

static void state(struct asking *asking, int site, struct lease *lease)
{
    bool is_even = lease->epoch % 2 == 0;
    struct host_split host = {.host = "n1",
                              .n_slots = 2,
                              .provider = is_even ? 1 : 2,
                              .consumer = is_even ? 1 : 0};
    struct msg msg = {.kind = MSG_STATE};
    msg.state = (struct msg_state){.lease = lease->id,
                                   .epoch = lease->epoch,
                                   .type = LEASE_SHARED,
                                   .is_made = true,
                                   .hosts = &host,
                                   .n_hosts = 1,
                                   .reason = ""};
    lease->said = bench_now();
    crowd_say(asking->crowd, site, &msg);
}

static struct lease *find(struct asking *asking, const char *id, int *site)
{
    int place = 0;
    if (sscanf(id, "s%d/%d/", site, &place) != 2 || *site >= asking->n_sites ||
        place < 1 || place > asking->n_leases) {
        bench_fail("lease \"%s\" is not known", id);
    }
    return &asking->leases[*site][place - 1];
}

static void on_message(void *arg, int consumer, const struct msg *msg)
{
    (void)consumer;
    struct asking *asking = arg;
    int site;
    if (msg->kind == MSG_STATE_ASK) {
        struct lease *asked = find(asking, msg->state_ask.lease, &site);
        state(asking, site, asked);
        return;
    }
    if (msg->kind != MSG_CONTRACT) {
        return;
    }
    struct lease *lease = find(asking, msg->contract.lease, &site);
    if (msg->contract.epoch == lease->epoch && lease->confirmed != lease->epoch) {
        lease->confirmed = lease->epoch++;
        asking->n_changes++;
        state(asking, site, lease);
    }
}

/* Repeats what was dropped. */
static void state_again(struct asking *asking)
{
    double now = bench_now();
    for (int i = 0; i < asking->n_sites; i++) {
        for (int k = 0; k < asking->n_leases; k++) {
            if (now - asking->leases[i][k].said > again_s) {
                state(asking, i, &asking->leases[i][k]);
            }
        }
    }
}

static double run(struct asking *asking)
{
    double start = bench_now(), now, look = start;
    long before = asking->n_changes;
    while ((now = bench_now()) < start + measured_s) {
        crowd_listen(asking->crowd, LISTEN_MS, on_message, asking);
        if (now - look > again_s) {
            look = now;
            state_again(asking);
        }
    }
    return (double)(asking->n_changes - before) / (now - start);
}

static void begin(struct asking *asking, struct bench_place *place, int n_sites,
                  int n_leases)
{
    *asking = (struct asking){.n_sites = n_sites, .n_leases = n_leases};
    /* Each site lends to the next one; a single one needs a consumer too. */
    int n_members = n_sites > 1 ? n_sites : 2;
    asking->crowd = crowd_new(place, n_members, 0, "");
    for (int i = 0; i < n_sites; i++) {
        for (int k = 0; k < n_leases; k++) {
            struct lease *lease = &asking->leases[i][k];
            snprintf(lease->id, sizeof(lease->id), "s%d/%d/s%d", i, k + 1,
                     (i + 1) % n_members);
            lease->epoch = 1;
            state(asking, i, lease);
        }
    }
    run(asking); /* makes all leases, and the file reaches its size */
}

/* ---------------------------------------------------------------- the stores */

/* Runs tests/postgres-server; `line` gets what it prints. */
static bool control_server(const struct bench_place *place, const char *command,
                           char *line, int size)
{
    char words[256];
    snprintf(words, sizeof(words), "tests/postgres-server %s %s/postgres", command,
             place->dir);
    FILE *out = popen(words, "r");
    line[0] = '\0';
    if (out == NULL || fgets(line, size, out) == NULL) {
        line[0] = '\0';
    }
    line[strcspn(line, "\n")] = '\0';
    return out != NULL && pclose(out) == 0;
}

/* Rates of a file, for the ratio. */
static double of_file[4];

static void print_ratio(struct bench_series *rate, double file)
{
    printf("  of the rate with a file: %.2f\n", bench_median(rate) / file);
}

static void measure(struct bench_place *place, const char *only, bool is_file)
{
    static const struct {
        int n_sites, n_leases;
        const char *work, *aim, *cpu_aim;
    } rows[] = {
        {1, 1, "changes: 1 site, 1 lease", "0.6 x", ""},
        {1, LEASES_PER_SITE, "changes: 1 site, 16 leases", "", ""},
        {16, LEASES_PER_SITE, "changes: 16 sites, 16 leases each", "", ""},
        {64, LEASES_PER_SITE, "changes: 64 sites, 16 leases each", "40000; 0.15x",
         "20"},
    };
    static struct asking asking;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct bench_series rate = {0}, floor = {0}, cpu = {0};
        if (only != NULL && strtol(only, NULL, 10) != rows[i].n_sites) {
            continue;
        }
        char url[256] = "";
        if (!is_file && !control_server(place, "start", url, sizeof(url))) {
            printf("PostgreSQL is not installed\n");
            return;
        }
        crowd_set_state(is_file ? NULL : url);
        int batch = rows[i].n_leases * rows[i].n_sites > 1 ? 100 : 1;
        begin(&asking, place, rows[i].n_sites, rows[i].n_leases);
        for (int k = 0; k < BENCH_RUNS; k++) {
            bench_add(&floor, floor_commit_rows(place, batch));
            long before = asking.n_changes;
            double cpu_s = bench_place_cpu_s(place);
            bench_add(&rate, run(&asking));
            bench_add(&cpu, (bench_place_cpu_s(place) - cpu_s) * 1e6 /
                                (double)(asking.n_changes - before));
        }
        bench_print_row_floor(rows[i].work, "/s", &rate, rows[i].aim,
                              batch > 1 ? "SQLite rows, 100 a commit"
                                        : "SQLite rows, 1 a commit",
                              &floor);
        bench_print_row("  processor time of the broker for one", "us", &cpu,
                        rows[i].cpu_aim);
        crowd_free(asking.crowd);
        if (is_file) {
            of_file[i] = bench_median(&rate);
        } else {
            print_ratio(&rate, of_file[i]);
            control_server(place, "remove", url, sizeof(url));
        }
    }
}

/* `bench_changes 64`: only that many sites. */
int main(int argc, char **argv)
{
    struct bench_place place;
    bench_place_init(&place);
    bench_print_head("contract changes made durable, in a file");
    measure(&place, argc > 1 ? argv[1] : NULL, true);
    bench_print_head("contract changes made durable, in PostgreSQL");
    measure(&place, argc > 1 ? argv[1] : NULL, false);
    bench_place_release(&place);
    return 0;
}
