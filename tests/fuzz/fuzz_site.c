/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_site.c: a site that lends and borrows, among a broker, hosts and clients that
 * send arbitrary messages. */
#include <inttypes.h>
#include <string.h>

#include "provider/provider.h"
#include "site/config/site_config.h"
#include "site/site.h"
#include "tests/fuzz/machine.h"

static const char text[] = "Begin Site\n"
                           "NAME = north\n"
                           "SPOOL = /nowhere\n"
                           "BROKER = tcp://127.0.0.1:1\n"
                           "KEY = k\n"
                           "BROKER_KEY = b\n"
                           "End Site\n"
                           "Begin Host\n"
                           "HOST_NAME MXJ\n"
                           "n1 4\n"
                           "n2 4\n"
                           "n3 2\n"
                           "End Host\n"
                           "Begin Queue\n"
                           "QUEUE_NAME = normal\n"
                           "HOSTS = all allremote\n"
                           "End Queue\n"
                           "Begin Parameters\n"
                           "CLEAN_PERIOD = 1\n"
                           "End Parameters\n"
                           "Begin HostExport\n"
                           "PER_HOST = n1 n2\n"
                           "SLOTS = 3\n"
                           "TYPE = shared\n"
                           "DISTRIBUTION = ([south, 1])\n"
                           "End HostExport\n"
                           "Begin HostExport\n"
                           "PER_HOST = n3\n"
                           "SLOTS = 2\n"
                           "DISTRIBUTION = ([south, 1] [west, 1])\n"
                           "End HostExport\n";

static const struct peer peers[] = {
    {.kind = PEER_BROKER, .name = ""},
    {.kind = PEER_HOST, .name = "", .link = 11},
    {.kind = PEER_HOST, .name = "", .link = 12},
    {.kind = PEER_CLIENT, .name = "root", .link = 21, .roles = ROLE_ADMIN},
    {.kind = PEER_CLIENT, .name = "olga", .link = 22, .uid = 1000, .gid = 1000},
};

static const char *const words[] = {"",
                                    "north",
                                    "south",
                                    "west",
                                    "north/1/south",
                                    "north/2/west",
                                    "n1",
                                    "n2",
                                    "n3",
                                    "south/1/north",
                                    "s1",
                                    "s1@south",
                                    "1",
                                    "2",
                                    "3",
                                    "normal",
                                    "0",
                                    "n1@north",
                                    "/"};

/* The configuration, made once for all inputs. */
static const struct site_config *config(void)
{
    static struct arena arena;
    static struct site_setup setup;
    if (setup.config.name == NULL) {
        struct conf conf;
        arena_init(&arena);
        conf_init(&conf, &arena);
        conf_read(&conf, "site.conf", text, strlen(text));
        conf_check(&conf);
        if (!site_config_read(&conf, &setup) || conf.n_errors > 0) {
            input_fail("the configuration: %s", conf.diags->text);
        }
    }
    return &setup.config;
}

static void *create(void)
{
    return site_new(config());
}

static void destroy(void *self)
{
    site_free(self);
}

static void load(void *self, const struct row *row)
{
    site_load(self, row);
}

static void start(void *self, int64_t now_ms, struct effects *effects)
{
    site_start(self, now_ms, effects);
}

static void step(void *self, const struct event *event, struct effects *effects)
{
    site_step(self, event, effects);
}

static int64_t wake_ms(const void *self)
{
    return site_wake_ms(self);
}

/* Checks in the site's own state that no slot is used twice. */
static void check_hosts(const struct site *site)
{
    for (int i = 0; i < config()->n_hosts; i++) {
        const struct site_host *host = &config()->hosts[i];
        int own, consumers;
        site_host_used(site, host->name, &own, &consumers);
        if (own + consumers > host->max) {
            input_fail("%d + %d slots are in use on %s, which has %d", own, consumers,
                       host->name, host->max);
        }
    }
}

static void view(void *self, struct invariants_view *view)
{
    static struct invariants_site site;
    check_hosts(self);
    site = (struct invariants_site){.config = config(), .site = self};
    view->sites = &site;
    view->n_sites = 1;
}

static bool is_end(enum job_state state)
{
    return state == JOB_DONE || state == JOB_EXIT;
}

/* Ledger and jobs. The state of a running job may differ. */
static const char *describe(void *self, struct arena *arena)
{
    struct provider *provider = site_provider(self);
    const char *said = "";
    for (int i = 0; i < provider_count_leases(provider); i++) {
        struct msg_state state;
        if (provider_find_lease(provider, provider_lease_id(provider, i), &state)) {
            said = arena_printf(arena, "%s%s made %d withdrawn %d\n", said, state.lease,
                                state.is_made, state.is_withdrawn);
        }
    }
    for (int i = 0; i < site_count_jobs(self); i++) {
        struct site_job job;
        site_job_at(self, i, &job);
        said =
            arena_printf(arena, "%sjob %" PRIu64 " attempt %" PRIu64 " %d\n", said,
                         job.id, job.attempt, is_end(job.state) ? (int)job.state : -1);
    }
    return said;
}

static struct msg run_state(const struct msg *heard, const struct run_id *run,
                            enum run_phase phase, uint64_t token)
{
    struct msg msg = {.kind = MSG_RUN_STATE, .session = heard->session, .site = ""};
    msg.run_state = (struct msg_run_state){
        .run = *run, .phase = phase, .token = token, .start_ms = 1, .exit.text = ""};
    if (phase == RUN_ENDED) {
        msg.run_state.exit.end = RUN_END_EXITED;
    }
    return msg;
}

/* The answers of an honest broker and an honest host. */
static bool answer(const struct msg *heard, const struct peer *to, struct arena *arena,
                   struct peer *from, struct msg *answer)
{
    (void)arena;
    *from = *to;
    *answer = (struct msg){.session = heard->session, .site = ""};
    switch ((int)heard->kind) {
    case MSG_HELLO:
        answer->kind = MSG_WELCOME;
        answer->welcome = (struct msg_welcome){
            .is_accepted = true, .text = "", .lost_after_ms = 15000};
        return true;
    case MSG_STATE: /* another freeze, or the proposal for it */
        if (!heard->state.is_frozen) {
            answer->kind = MSG_FREEZE;
            answer->freeze = (struct msg_freeze){.lease = heard->state.lease,
                                                 .base = heard->state.epoch,
                                                 .freeze = heard->state.freeze + 1};
            return true;
        }
        answer->kind = MSG_PROPOSE;
        struct host_split *hosts = arena_copy(
            arena, heard->state.hosts, (size_t)heard->state.n_hosts * sizeof(*hosts));
        for (int i = 0; i < heard->state.n_hosts; i++) {
            hosts[i].consumer = hosts[i].n_slots - hosts[i].provider_used;
            hosts[i].provider = hosts[i].provider_used;
        }
        answer->propose = (struct msg_propose){.lease = heard->state.lease,
                                               .base = heard->state.epoch,
                                               .hosts = hosts,
                                               .n_hosts = heard->state.n_hosts};
        return true;
    case MSG_START:
        answer->kind = MSG_ATTEMPT_STATE;
        answer->site = "south";
        answer->attempt_state = (struct msg_attempt_state){
            .run = heard->start.run, .state = ATTEMPT_TAKEN, .reason = ""};
        answer->attempt_state.exit.text = "";
        return true;
    case MSG_RUN_START:
        *answer = run_state(heard, &heard->run_start.run, RUN_WAITING, 7);
        return true;
    case MSG_RUN_GO:
        *answer =
            run_state(heard, &heard->run_go.run, RUN_RUNNING, heard->run_go.token);
        return true;
    case MSG_RUN_CONTROL:
        *answer = run_state(heard, &heard->run_control.run, RUN_ENDED, 7);
        return true;
    default:
        return false;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct machine_role role = {
        .create = create,
        .destroy = destroy,
        .load = load,
        .start = start,
        .step = step,
        .wake_ms = wake_ms,
        .view = view,
        .describe = describe,
        .answer = answer,
        .peers = peers,
        .n_peers = (int)(sizeof(peers) / sizeof(peers[0])),
        .words = words,
        .n_words = (int)(sizeof(words) / sizeof(words[0])),
    };
    return machine_run(&role, data, size);
}
