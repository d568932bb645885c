/* SPDX-License-Identifier: Apache-2.0 */
/* fleet.c: see fleet.h. A site's batch is that of site/io/shell.c without its commit.
 *
 * libzmq signals news on the descriptor of a socket only once. Sending may consume that
 * signal, so each iteration of a site ends with a look for messages that finds none. */
#include "tests/bench/fleet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "sim/world/executor.h"
#include "site/config/site_config.h"
#include "site/site.h"
#include "sys/daemon.h"
#include "sys/wire/wire.h"

enum {
    DRAIN_MAX = 1000,
    EVENTS_MAX = 256,
    ALIVE_MS = 5000, /* heartbeats of hosts to their site */
    LOAD_EVERY = 3,  /* heartbeats per load report: every 15 s, as sublet-host */
    RECLAIM_S = 3600,
    FIRST_JOB_MS = 4000, /* and more per lease, since the jobs of a site run at once */
    FIRST_JOBS_AGAIN = 5,
    TOLD_S = 120,
    CONFIRMED_S = 120,
    CHANGES_S = 300,
};

struct fleet_lease {
    uint64_t epoch; /* of the last contract that its consumer received */
    bool is_told, is_made;
};

struct fleet_end {
    int64_t at_ms;
    uint64_t number;
    int host;
};

struct fleet_site {
    struct fleet *fleet;
    int index;
    char name[16];
    struct arena arena; /* of its configuration */
    struct site_setup setup;
    struct site *site;
    struct wire_client *client;
    int fd;
    struct effects effects[2], *filling; /* as in site/io/shell.c */
    bool is_in_batch;
    struct executor **hosts;
    struct fleet_end *ends; /* of jobs */
    int n_ends;
    int64_t alive_ms, wake_ms;
    int n_alive;
};

struct fleet {
    struct bench_place *place;
    int n_sites, n_each, epoll;
    struct fleet_site *sites;
    struct executor_effects host_effects;
    struct fleet_lease *leases; /* those of site i begin at i x n_each */
    struct wire_client *admin;
    int n_told, n_made;
    long n_changes, n_heard, n_said;
};

static void must(int code, const struct err *err)
{
    if (code < 0) {
        bench_fail("%s", err->text);
    }
}

/* ---------------------------------------------------------------- leases */

static int consumer_of(const struct fleet *fleet, int site, int policy)
{
    return (site + 1 + policy % (fleet->n_sites - 1)) % fleet->n_sites;
}

static struct fleet_lease *find_lease(const struct fleet *fleet, const char *id)
{
    int site, policy;
    if (sscanf(id, "s%d/%d/", &site, &policy) != 2 || site < 0 ||
        site >= fleet->n_sites || policy < 1 || policy > fleet->n_each) {
        bench_fail("lease \"%s\" is not known", id);
    }
    return &fleet->leases[site * fleet->n_each + policy - 1];
}

static void read_conf(struct fleet_site *site)
{
    const struct fleet *fleet = site->fleet;
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);
    fprintf(file,
            "Begin Site\nNAME = %s\nEnd Site\nBegin Parameters\n"
            "MC_RECLAIM_DELAY = %ds\nEnd Parameters\nBegin Host\nHOST_NAME MXJ\n",
            site->name, RECLAIM_S);
    for (int i = 1; i <= fleet->n_each; i++) {
        fprintf(file, "n%d 3\n", i);
    }
    fprintf(file, "End Host\nBegin Queue\nQUEUE_NAME = far\nPRIORITY = 30\n"
                  "HOSTS = allremote\nEnd Queue\n");
    for (int i = 0; i < fleet->n_each; i++) {
        fprintf(file,
                "Begin HostExport\nPER_HOST = n%d\nSLOTS = 3\nTYPE = shared\n"
                "DISTRIBUTION = ([s%d, 1])\nEnd HostExport\n",
                i + 1, consumer_of(fleet, site->index, i));
    }
    fclose(file);
    struct conf conf;
    arena_init(&site->arena);
    conf_init(&conf, &site->arena);
    conf_read(&conf, site->name, arena_str(&site->arena, text), length);
    free(text);
    conf_check(&conf);
    bool is_site = site_config_read_simulated(&conf, &site->setup);
    for (const struct conf_diag *diag = conf.diags; diag != NULL; diag = diag->next) {
        bench_fail("%s:%d: %s", diag->file, diag->line, diag->text);
    }
    if (!is_site) {
        bench_fail("%s: no site", site->name);
    }
}

/* ---------------------------------------------------------------- a site's batch */

static void step(struct fleet_site *site, struct event *event)
{
    event->now_ms = daemon_now_ms();
    site_step(site->site, event, site->filling);
}

static void open_socket(struct fleet_site *site)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.ptr = site};
    size_t size = sizeof(site->fd);
    if (zmq_getsockopt(zsock_resolve(wire_client_socket(site->client)), ZMQ_FD,
                       &site->fd, &size) != 0 ||
        epoll_ctl(site->fleet->epoll, EPOLL_CTL_ADD, site->fd, &event) != 0) {
        bench_fail("a socket cannot be polled");
    }
}

static void reconnect(struct fleet_site *site)
{
    struct err err;
    epoll_ctl(site->fleet->epoll, EPOLL_CTL_DEL, site->fd, NULL);
    must(wire_client_reopen(site->client, &err), &err);
    open_socket(site);
}

static void send_effect(struct fleet_site *site, const struct effect *effect)
{
    const struct peer *to = &effect->send.to;
    struct err err;
    if (to->kind == PEER_BROKER) {
        int code = wire_client_send(site->client, &effect->send.msg, &err);
        site->fleet->n_said += code == 0;
        if (code < 0 && code != ERR_AWAY) {
            bench_fail("%s", err.text);
        }
    } else if (to->kind == PEER_HOST && to->link > 0) {
        executor_message(site->hosts[to->link - 1], &effect->send.msg, daemon_now_ms());
    } else if (to->kind == PEER_CLIENT && effect->send.msg.kind == MSG_REPLY &&
               effect->send.msg.reply.code < 0) {
        bench_fail("%s: %s", site->name, effect->send.msg.reply.text);
    }
}

static void carry_out(struct fleet_site *site, const struct effects *batch)
{
    for (int i = 0; i < batch->count; i++) {
        const struct effect *effect = &batch->items[i];
        if (effect->kind == EFFECT_SEND) {
            send_effect(site, effect);
        } else if (effect->kind == EFFECT_RECONNECT) {
            reconnect(site);
        } else if (effect->kind == EFFECT_WRITE) {
            step(site, &(struct event){.kind = EVENT_WRITTEN,
                                       .written = {.job = effect->write.job}});
        }
    }
}

static void end_batch(struct fleet_site *site)
{
    if (site->is_in_batch) {
        return;
    }
    site->is_in_batch = true;
    do {
        step(site, &(struct event){.kind = EVENT_TICK});
        struct effects *batch = site->filling;
        site->filling =
            batch == &site->effects[0] ? &site->effects[1] : &site->effects[0];
        carry_out(site, batch);
        effects_clear(batch);
    } while (site->filling->count > 0);
    site->is_in_batch = false;
}

/* ---------------------------------------------------------------- its hosts */

static void host_send(void *arg, int host, const struct msg *msg)
{
    struct fleet_site *site = arg;
    struct event event = {.kind = EVENT_MESSAGE, .msg = msg};
    event.from = (struct peer){.kind = PEER_HOST,
                               .name = executor_name(site->hosts[host]),
                               .link = (uint64_t)host + 1};
    step(site, &event);
}

static void host_end_at(void *arg, int host, int64_t at_ms, uint64_t number)
{
    struct fleet_site *site = arg;
    site->ends =
        mem_grow(site->ends, (size_t)site->n_ends + 1, sizeof(struct fleet_end));
    site->ends[site->n_ends++] =
        (struct fleet_end){.at_ms = at_ms, .number = number, .host = host};
}

/* The jobs of a fleet have no pre- and post-execution commands. */
static void host_command(void *arg, const char *text, struct executor_command *command)
{
    (void)arg, (void)text;
    *command = (struct executor_command){0};
}

static void host_begun(void *arg, int host, const char *site, const char *job,
                       const char *name)
{
    (void)arg, (void)host, (void)site, (void)job, (void)name;
}

static void host_used(void *arg, int host, const struct executor_use *use)
{
    (void)arg, (void)host, (void)use;
}

/* The periodic report of a sublet-host, which its site passes on to consumers. */
static void tell_load(struct fleet_site *site, int host)
{
    char r1m[16];
    const struct load_value values[] = {
        {.name = "r15s", .value = "0.1"},    {.name = "r1m", .value = r1m},
        {.name = "r15m", .value = "0.2"},    {.name = "ut", .value = "0.05"},
        {.name = "pg", .value = "0.0"},      {.name = "io", .value = "12"},
        {.name = "ls", .value = "1"},        {.name = "it", .value = "0"},
        {.name = "tmp", .value = "90000"},   {.name = "swp", .value = "4000"},
        {.name = "mem", .value = "60000"},   {.name = "ncpus", .value = "3"},
        {.name = "maxmem", .value = "64000"}};
    snprintf(r1m, sizeof(r1m), "0.%d", site->n_alive % 10);
    struct msg msg = {.kind = MSG_HOST_LOAD, .site = ""};
    msg.host_load = (struct msg_host_load){
        .values = values, .n_values = (int)(sizeof(values) / sizeof(values[0]))};
    host_send(site, host, &msg);
}

static void do_hosts(struct fleet_site *site, int64_t now_ms)
{
    for (int i = 0; i < site->n_ends; i++) {
        struct fleet_end end = site->ends[i];
        if (end.at_ms <= now_ms) {
            site->ends[i--] = site->ends[--site->n_ends];
            executor_run_end(site->hosts[end.host], end.number, now_ms);
        }
    }
    if (site->alive_ms > now_ms) {
        return;
    }
    site->alive_ms = now_ms + ALIVE_MS;
    site->n_alive++;
    for (int i = 0; i < site->fleet->n_each; i++) {
        executor_tick(site->hosts[i], now_ms);
        if ((site->n_alive + site->index) % LOAD_EVERY == 0) {
            tell_load(site, i);
        }
    }
}

static int64_t next_ms(const struct fleet_site *site)
{
    int64_t least_ms = site_wake_ms(site->site);
    least_ms = site->alive_ms < least_ms ? site->alive_ms : least_ms;
    for (int i = 0; i < site->n_ends; i++) {
        least_ms = site->ends[i].at_ms < least_ms ? site->ends[i].at_ms : least_ms;
    }
    return least_ms;
}

/* ---------------------------------------------------------------- messages */

static void note_contract(struct fleet *fleet, const struct msg_contract *contract)
{
    struct fleet_lease *lease = find_lease(fleet, contract->lease);
    fleet->n_told += !lease->is_told;
    lease->is_told = true;
    fleet->n_made += contract->is_made && !lease->is_made;
    lease->is_made |= contract->is_made;
    fleet->n_changes += contract->epoch > lease->epoch;
    lease->epoch = contract->epoch;
}

static void on_message(void *arg, const struct peer *from, const struct msg *msg)
{
    struct fleet_site *site = arg;
    site->fleet->n_heard++;
    if (msg->kind == MSG_CONTRACT) {
        note_contract(site->fleet, &msg->contract);
    }
    step(site, &(struct event){.kind = EVENT_MESSAGE, .from = *from, .msg = msg});
}

static void on_refused(void *arg, const struct peer *from, const struct err *err)
{
    (void)arg;
    (void)from;
    bench_fail("a message of the broker: %s", err->text);
}

static int drain(struct fleet_site *site)
{
    static const struct peer broker = {.kind = PEER_BROKER, .name = "broker"};
    return wire_client_drain(site->client, DRAIN_MAX, &broker, on_message, on_refused,
                             site);
}

static void attend(struct fleet_site *site)
{
    do {
        do_hosts(site, daemon_now_ms());
        end_batch(site);
    } while (drain(site) > 0);
    site->wake_ms = next_ms(site);
}

static void run_once(struct fleet *fleet)
{
    struct epoll_event events[EVENTS_MAX];
    int64_t now_ms = daemon_now_ms(), least_ms = now_ms + 100;
    for (int i = 0; i < fleet->n_sites; i++) {
        struct fleet_site *site = &fleet->sites[i];
        if (site->wake_ms <= now_ms) {
            attend(site);
        }
        least_ms = site->wake_ms < least_ms ? site->wake_ms : least_ms;
    }
    now_ms = daemon_now_ms();
    int n = epoll_wait(fleet->epoll, events, EVENTS_MAX,
                       least_ms > now_ms ? (int)(least_ms - now_ms) : 0);
    for (int i = 0; i < n; i++) {
        struct fleet_site *site = events[i].data.ptr;
        if (drain(site) > 0) {
            attend(site);
        }
    }
}

void fleet_run(struct fleet *fleet, double seconds)
{
    double until = bench_now() + seconds;
    while (bench_now() < until) {
        run_once(fleet);
    }
}

/* ---------------------------------------------------------------- making one */

static void make_keys(const struct bench_place *place, int n_sites)
{
    char name[32];
    if (access(bench_place_path(place, "broker.key"), F_OK) != 0) {
        bench_place_make_key(place, "broker");
        bench_place_make_key(place, "ops");
    }
    for (int i = 0; i < n_sites; i++) {
        snprintf(name, sizeof(name), "s%d.key", i);
        if (access(bench_place_path(place, name), F_OK) != 0) {
            snprintf(name, sizeof(name), "s%d", i);
            bench_place_make_key(place, name);
        }
    }
}

static void write_conf(const struct bench_place *place, int n_sites, int port)
{
    const char *dir = place->dir;
    unlink(bench_place_path(place, "broker.conf"));
    FILE *file = fopen(bench_place_path(place, "broker.conf"), "we");
    if (file == NULL) {
        bench_fail("broker.conf cannot be written");
    }
    fprintf(file,
            "Begin Broker\nLISTEN = tcp://127.0.0.1:%d\nHTTP = 127.0.0.1:%d\n"
            "STATE = %s/broker.db\nKEY = %s/broker.key_secret\nEnd Broker\n"
            "Begin Member\nNAME KEY_FILE ROLES MAX_LEASES\nops %s/ops.key (admin) 1\n",
            port, bench_free_port(), dir, dir, dir);
    for (int i = 0; i < n_sites; i++) {
        fprintf(file, "s%d %s/s%d.key (provider consumer) %d\n", i, dir, i,
                LEASES_PER_PROVIDER_MAX);
    }
    fprintf(file, "End Member\n");
    fclose(file);
}

static struct wire_client *connect_as(const struct bench_place *place, const char *name,
                                      int port)
{
    struct wire_client *client;
    struct wire_key own, broker;
    struct err err;
    char file[32], endpoint[64];
    snprintf(file, sizeof(file), "%s.key_secret", name);
    snprintf(endpoint, sizeof(endpoint), "tcp://127.0.0.1:%d", port);
    must(wire_key_load(bench_place_path(place, file), &own, &err), &err);
    must(wire_key_load(bench_place_path(place, "broker.key"), &broker, &err), &err);
    must(wire_client_new(endpoint, &own, broker.public_z85, &client, &err), &err);
    return client;
}

static void open_site(struct fleet *fleet, int index, int port)
{
    struct fleet_site *site = &fleet->sites[index];
    site->fleet = fleet;
    site->index = index;
    snprintf(site->name, sizeof(site->name), "s%d", index);
    read_conf(site);
    effects_init(&site->effects[0]);
    effects_init(&site->effects[1]);
    site->filling = &site->effects[0];
    site->client = connect_as(fleet->place, site->name, port);
    open_socket(site);
    struct executor_world calls = {.send = host_send,
                                   .end_at = host_end_at,
                                   .command = host_command,
                                   .begun = host_begun,
                                   .used = host_used,
                                   .arg = site,
                                   .effects = &fleet->host_effects};
    site->hosts = mem_alloc((size_t)fleet->n_each, sizeof(struct executor *));
    for (int i = 0; i < fleet->n_each; i++) {
        site->hosts[i] =
            executor_new(site->setup.config.hosts[i].name, i, &calls, daemon_now_ms());
    }
    site->site = site_new(&site->setup.config);
    site_start(site->site, daemon_now_ms(), site->filling);
    /* hosts report at different instants */
    site->alive_ms = daemon_now_ms() + index * ALIVE_MS / fleet->n_sites;
    for (int i = 0; i < fleet->n_each; i++) {
        executor_hello(site->hosts[i], daemon_now_ms());
    }
    attend(site);
}

static int first_job_ms(const struct fleet *fleet)
{
    return FIRST_JOB_MS + fleet_count_leases(fleet);
}

/* As many jobs of one slot as the site has leases. */
static void submit_first_jobs(struct fleet_site *site)
{
    char command[32], name[32];
    struct msg msg = {.kind = MSG_SUBMIT, .site = ""};
    struct event event = {.kind = EVENT_MESSAGE, .msg = &msg};
    snprintf(command, sizeof(command), "run %d", first_job_ms(site->fleet));
    snprintf(name, sizeof(name), "first[1-%d]", site->fleet->n_each);
    msg.submit.request = 1;
    msg.submit.spec = (struct job_spec){.name = name,
                                        .queue = "",
                                        .command = command,
                                        .user = "",
                                        .cwd = "/",
                                        .in_file = "",
                                        .out_file = "",
                                        .err_file = "",
                                        .n_slots = 1};
    event.from = (struct peer){.kind = PEER_CLIENT,
                               .name = "ana",
                               .link = 1,
                               .roles = ROLE_ADMIN,
                               .uid = 1000,
                               .gid = 1000};
    step(site, &event);
    attend(site);
}

static void run_until(struct fleet *fleet, const int *count, int wanted, double seconds)
{
    double until = bench_now() + seconds;
    while (*count < wanted && bench_now() < until) {
        run_once(fleet);
    }
}

/* The jobs of a site spread over all its leases only when it knows all of them. */
static void make_leases(struct fleet *fleet)
{
    int n_leases = fleet_count_leases(fleet);
    double job_s = first_job_ms(fleet) / 1e3;
    run_until(fleet, &fleet->n_told, n_leases, TOLD_S);
    for (int k = 0; k < FIRST_JOBS_AGAIN && fleet->n_made < n_leases; k++) {
        for (int i = 0; i < fleet->n_sites; i++) {
            submit_first_jobs(&fleet->sites[i]);
        }
        run_until(fleet, &fleet->n_made, n_leases, 2 * job_s);
    }
    if (fleet->n_made < n_leases) {
        bench_fail("%d of %d leases are made, %d known", fleet->n_made, n_leases,
                   fleet->n_told);
    }
    fleet_run(fleet, job_s); /* until the last of them has ended */
}

struct fleet *fleet_new(struct bench_place *place, int n_sites, int n_leases_each)
{
    struct fleet *fleet = mem_alloc(1, sizeof(*fleet));
    int port = bench_free_port();
    fleet->place = place;
    fleet->n_sites = n_sites;
    fleet->n_each = n_leases_each;
    fleet->epoll = epoll_create1(EPOLL_CLOEXEC);
    executor_effects_init(&fleet->host_effects);
    fleet->sites = mem_alloc((size_t)n_sites, sizeof(*fleet->sites));
    fleet->leases =
        mem_alloc((size_t)fleet_count_leases(fleet), sizeof(*fleet->leases));
    zsys_set_max_sockets(4 * FLEET_SITES_MAX);
    make_keys(place, n_sites);
    write_conf(place, n_sites, port);
    unlink(bench_place_path(place, "broker.db"));
    unlink(bench_place_path(place, "broker.db-wal"));
    unlink(bench_place_path(place, "broker.db-commit"));
    bench_place_start(place, "sublet-broker", "broker");
    fleet->admin = connect_as(place, "ops", port);
    for (int i = 0; i < n_sites; i++) {
        open_site(fleet, i, port);
    }
    make_leases(fleet);
    return fleet;
}

void fleet_free(struct fleet *fleet)
{
    for (int i = 0; i < fleet->n_sites; i++) {
        struct fleet_site *site = &fleet->sites[i];
        site_free(site->site);
        for (int k = 0; k < fleet->n_each; k++) {
            executor_free(site->hosts[k]);
        }
        free(site->hosts);
        free(site->ends);
        wire_client_free(site->client);
        effects_release(&site->effects[0]);
        effects_release(&site->effects[1]);
        arena_release(&site->arena);
    }
    executor_effects_release(&fleet->host_effects);
    wire_client_free(fleet->admin);
    close(fleet->epoll);
    bench_place_stop_last(fleet->place);
    free(fleet->sites);
    free(fleet->leases);
    free(fleet);
}

/* ---------------------------------------------------------------- queries */

int fleet_count_leases(const struct fleet *fleet)
{
    return fleet->n_sites * fleet->n_each;
}

long fleet_count_changes(const struct fleet *fleet)
{
    return fleet->n_changes;
}

long fleet_count_heard(const struct fleet *fleet)
{
    return fleet->n_heard;
}

long fleet_count_said(const struct fleet *fleet)
{
    return fleet->n_said;
}

void fleet_forget(struct fleet *fleet)
{
    fleet->n_changes = fleet->n_heard = fleet->n_said = 0;
}

static void take_reply(void *arg, const struct peer *from, const struct msg *msg)
{
    (void)from;
    bool *is_answered = arg;
    if (msg->kind != MSG_REPLY || msg->reply.code < 0) {
        bench_fail("the broker refuses: %s",
                   msg->kind == MSG_REPLY ? msg->reply.text : msg->error.text);
    }
    *is_answered = true;
}

void fleet_set_delay(struct fleet *fleet, int64_t delay_ms)
{
    static const struct peer broker = {.kind = PEER_BROKER, .name = "broker"};
    struct msg msg = {.kind = MSG_SET_RECLAIM, .site = ""};
    bool is_answered = false;
    struct err err;
    msg.set_reclaim = (struct msg_set_reclaim){
        .request = 1, .scope = RECLAIM_ALL, .name = "", .delay_ms = delay_ms};
    must(wire_client_reopen(fleet->admin, &err),
         &err); /* its connection was idle for long */
    while (wire_client_send(fleet->admin, &msg, &err) < 0) {
        run_once(fleet); /* it is connecting */
    }
    while (!is_answered) {
        run_once(fleet);
        wire_client_drain(fleet->admin, 1, &broker, take_reply, on_refused,
                          &is_answered);
    }
}

double fleet_await_changes(struct fleet *fleet, long n_changes)
{
    double start = bench_now();
    while (fleet->n_changes < n_changes) {
        run_once(fleet);
        if (bench_now() > start + CHANGES_S) {
            bench_fail("%ld of %ld leases have changed", fleet->n_changes, n_changes);
        }
    }
    return bench_now() - start;
}

static bool has_said(const struct fleet *fleet, const char *part)
{
    char *text = NULL;
    size_t room = 0;
    bool is_found = false;
    FILE *file = fopen(bench_place_path(fleet->place, "broker.log"), "re");
    while (file != NULL && !is_found && getline(&text, &room, file) > 0) {
        is_found = strstr(text, part) != NULL;
    }
    free(text);
    if (file != NULL) {
        fclose(file);
    }
    return is_found;
}

struct fleet_restart fleet_restart(struct fleet *fleet)
{
    struct fleet_restart took;
    double start = bench_now();
    bench_place_kill_last(fleet->place);
    bench_place_start(fleet->place, "sublet-broker", "broker");
    took.ready_s = bench_now() - start;
    while (!has_said(fleet, "all contracts are confirmed")) {
        fleet_run(fleet, 0.02);
        if (bench_now() > start + CONFIRMED_S) {
            bench_fail("the contracts are not confirmed");
        }
    }
    took.confirmed_s = bench_now() - start;
    return took;
}
