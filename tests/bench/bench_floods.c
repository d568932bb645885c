/* SPDX-License-Identifier: Apache-2.0 */
/* bench_floods.c: what one hostile member costs the others: a real sublet-broker, two
 * sites whose requests are measured (ATTEMPT_ASK from the consumer, ATTEMPT_STATE back
 * from the provider, one at a time, by the same way as a leased start), and a member
 * with a key that sends what it likes over several connections.
 *
 * The provider answers at once. So the figure is the broker's part of a leased start
 * alone, and a job that starts sees less of the difference.
 *
 * FLOOD=N: that flood only, from 0.
 * FLOOD_S=N: no figures, but all floods in turn for N seconds, and the memory of the
 * broker at the start, while they last, and at the end (`make soak-floods S=N`). */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/codec.h"
#include "tests/bench/bench.h"
#include "tests/bench/crowd.h"

enum {
    PROVIDER,
    CONSUMER,
    HOSTILE,
    N_SITES,
    VOICES = 4, /* connections of the hostile member */
    TRIPS = 1000,
    TURN_MS = 20,
    SOAK_ROUND_S = 10,
    SOAK_REPORT_S = 30,
    FRAME = 98000,
    DEMANDS = 9000,
    QUEUES = 1000, /* each is a leaf of the plan */
    USES = 6000,
};

/* ---------------------------------------------------------------- floods */

static uint8_t frame[FRAME_MAX];
static size_t frame_size;

static void put_varint(uint64_t value)
{
    while (value >= 0x80) {
        frame[frame_size++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    frame[frame_size++] = (uint8_t)value;
}

/* A STATE (15) with 49,000 empty hosts (13). */
static void build_empty_parts(void)
{
    frame_size = 0;
    put_varint(1 << 3), put_varint(1);
    put_varint(15 << 3 | 2), put_varint(FRAME);
    for (int i = 0; i < FRAME / 2; i++) {
        put_varint(13 << 3 | 2), put_varint(0);
    }
}

static void build(const struct msg *msg)
{
    struct err err;
    uint8_t *bytes;
    if (codec_encode(msg, &bytes, &frame_size, &err) < 0) {
        bench_fail("%s", err.text);
    }
    memcpy(frame, bytes, frame_size);
    free(bytes);
}

static void build_usage(void)
{
    static struct lease_demand demands[DEMANDS];
    static char names[DEMANDS][32];
    struct msg msg = {.kind = MSG_USAGE, .session = 1, .site = ""};
    for (int i = 0; i < DEMANDS; i++) {
        snprintf(names[i], sizeof(names[i]), "s0/%d/s2", i);
        demands[i] = (struct lease_demand){.lease = names[i], .n_waiting = 1};
    }
    msg.usage.demands = demands;
    msg.usage.n_demands = DEMANDS;
    build(&msg);
}

/* Each second one wants more slots than the one before, so that the plan is computed
 * for it. */
static void build_plan_usage(void)
{
    static struct queue_demand queues[QUEUES];
    static struct priority_use uses[USES];
    static char names[QUEUES][16], leases[USES][32];
    static int n_built;
    struct msg msg = {.kind = MSG_USAGE, .session = 1, .site = ""};
    n_built++;
    for (int i = 0; i < QUEUES; i++) {
        snprintf(names[i], sizeof(names[i]), "q%d", i);
        queues[i] = (struct queue_demand){
            .queue = names[i], .n_waiting = n_built % 2, .job_size = 1};
    }
    for (int i = 0; i < USES; i++) {
        snprintf(leases[i], sizeof(leases[i]), "s0/%d/s2", (i * 7919) % USES);
        uses[i] = (struct priority_use){.lease = leases[i], .n_slots = 1};
    }
    msg.usage.queues = queues;
    msg.usage.n_queues = QUEUES;
    msg.usage.uses = uses;
    msg.usage.n_uses = USES;
    build(&msg);
}

/* Relayed: the hostile member is a provider of the consumer, too. */
static void build_output(void)
{
    static uint8_t bytes[OUTPUT_CHUNK_MAX];
    struct msg msg = {.kind = MSG_OUTPUT, .session = 1, .site = "s1"};
    msg.output.run = (struct run_id){.site = "s1", .attempt = 1};
    msg.output.bytes = bytes;
    msg.output.n_bytes = sizeof(bytes);
    build(&msg);
}

/* Each opens a session. */
static void build_hello(void)
{
    static uint64_t session = 1;
    struct msg msg = {.kind = MSG_HELLO, .session = ++session, .site = ""};
    msg.hello.name = "s2";
    msg.hello.roles = ROLE_PROVIDER | ROLE_CONSUMER;
    build(&msg);
}

static void build_query(void)
{
    struct msg msg = {.kind = MSG_QUERY, .site = ""};
    msg.query.kind = QUERY_LEASES;
    msg.query.name = msg.query.user = msg.query.queue = msg.query.host = "";
    msg.query.after = "";
    build(&msg);
}

struct flood {
    const char *name;
    void (*build)(void);
    bool is_built_anew; /* for each message */
};

static const struct flood floods[] = {
    {"STATE with 49,000 empty parts", build_empty_parts, false},
    {"USAGE with 9,000 demands", build_usage, false},
    {"USAGE of 1,000 leaves of a plan", build_plan_usage, true},
    {"OUTPUT of 64 KiB, relayed", build_output, false},
    {"HELLO", build_hello, true},
    {"queries", build_query, false},
};

enum { N_FLOODS = sizeof(floods) / sizeof(floods[0]) };

static void *open_voice(void *context, const struct wire_key *own,
                        const struct wire_key *broker, const char *endpoint)
{
    void *socket = zmq_socket(context, ZMQ_DEALER);
    int zero = 0;
    zmq_setsockopt(socket, ZMQ_LINGER, &zero, sizeof(zero));
    zmq_setsockopt(socket, ZMQ_SNDTIMEO, &zero, sizeof(zero));
    zmq_setsockopt(socket, ZMQ_CURVE_PUBLICKEY, own->public_z85, 41);
    zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, own->secret_z85, 41);
    zmq_setsockopt(socket, ZMQ_CURVE_SERVERKEY, broker->public_z85, 41);
    if (zmq_connect(socket, endpoint) != 0) {
        _exit(1);
    }
    return socket;
}

/* Sends for ever: 200 messages a second of the large ones, as an attacker did. */
static void send_flood(const struct bench_place *place, int port,
                       const struct flood *flood)
{
    struct wire_key own, broker;
    struct err err;
    char endpoint[64], byte;
    void *voices[VOICES];
    void *context = zmq_ctx_new();
    snprintf(endpoint, sizeof(endpoint), "tcp://127.0.0.1:%d", port);
    if (wire_key_load(bench_place_path(place, "s2.key_secret"), &own, &err) < 0 ||
        wire_key_load(bench_place_path(place, "broker.key"), &broker, &err) < 0) {
        _exit(1);
    }
    for (int i = 0; i < VOICES; i++) {
        voices[i] = open_voice(context, &own, &broker, endpoint);
    }
    useconds_t pause_us = frame_size > 10000 ? 5000 : 200;
    for (int i = 0;; i = (i + 1) % VOICES) {
        if (flood->is_built_anew) {
            flood->build();
        }
        (void)zmq_send(voices[i], frame, frame_size, ZMQ_DONTWAIT);
        while (zmq_recv(voices[i], &byte, 1, ZMQ_DONTWAIT) >= 0) {
        }
        usleep(pause_us);
    }
}

/* The library's context of this process is not to be used in the child, which has one
 * of its own. */
static pid_t begin_flood(const struct bench_place *place, int port, int number)
{
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        floods[number].build();
        send_flood(place, port, &floods[number]);
    }
    return child;
}

static void end_flood(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

/* ---------------------------------------------------------------- the others */

static struct crowd *crowd;
static struct msg answer;
static bool is_answered;
static int n_leases;

static void on_message(void *arg, int site, const struct msg *msg)
{
    (void)arg;
    n_leases += msg->kind == MSG_CONTRACT && site == CONSUMER;
    if (site == PROVIDER && msg->kind == MSG_ATTEMPT_ASK) {
        answer = (struct msg){.kind = MSG_ATTEMPT_STATE, .site = "s1"};
        answer.attempt_state.run =
            (struct run_id){.site = "s1", .attempt = msg->attempt.run.attempt};
        answer.attempt_state.state = ATTEMPT_RUNNING;
        answer.attempt_state.start_ms = 1;
        answer.attempt_state.reason = "";
        crowd_say(crowd, PROVIDER, &answer);
    }
    is_answered |= site == CONSUMER && msg->kind == MSG_ATTEMPT_STATE;
}

static void state_lease(int provider, const char *id)
{
    static const struct host_split host = {.host = "n1", .n_slots = 1, .provider = 1};
    struct msg msg = {.kind = MSG_STATE};
    msg.state = (struct msg_state){
        .lease = id, .epoch = 1, .hosts = &host, .n_hosts = 1, .reason = ""};
    crowd_say(crowd, provider, &msg);
}

/* Milliseconds until the answer; nothing is lost on the way of those who are within
 * their budgets, so that no request is repeated. */
static double trip(uint64_t attempt)
{
    struct msg msg = {.kind = MSG_ATTEMPT_ASK, .site = "s0"};
    msg.attempt.run = (struct run_id){.site = "s1", .attempt = attempt};
    double begin = bench_now();
    is_answered = false;
    crowd_say(crowd, CONSUMER, &msg);
    while (!is_answered) {
        crowd_listen(crowd, TURN_MS, on_message, NULL);
        if (bench_now() - begin > 60) {
            bench_fail("a request is not answered within a minute");
        }
    }
    return (bench_now() - begin) * 1e3;
}

struct trips {
    double values[TRIPS];
    double median, late;
};

static void measure(struct trips *trips)
{
    static uint64_t attempt;
    for (int i = 0; i < TRIPS; i++) {
        trips->values[i] = trip(++attempt);
        usleep(1000); /* as jobs come, not one after the other at full speed */
    }
    trips->median = bench_percentile(trips->values, TRIPS, 0.5);
    trips->late = bench_percentile(trips->values, TRIPS, 0.99);
}

/* A pool whose leaves are queues of the hostile member. */
static char *write_plan(void)
{
    char *text;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    if (to == NULL) {
        bench_fail("no memory");
    }
    fprintf(to, "Begin Pool\nNAME = p\nEnd Pool\n"
                "Begin PlanNode\nNAME POOL OWNED SITE QUEUES\n");
    for (int i = 0; i < QUEUES; i++) {
        fprintf(to, "/n%d p 1 s2 (q%d)\n", i, i);
    }
    fprintf(to, "End PlanNode\n");
    fclose(to);
    return text;
}

static void begin_federation(struct bench_place *place)
{
    char *plan = write_plan();
    crowd = crowd_new(place, N_SITES, 0, plan);
    free(plan);
    state_lease(PROVIDER, "s0/1/s1");
    state_lease(HOSTILE, "s2/1/s1");
    while (n_leases < 2) {
        crowd_listen(crowd, TURN_MS, on_message, NULL);
    }
}

/* ---------------------------------------------------------------- figures */

static void compare(struct bench_place *place, int number)
{
    static struct trips without, with;
    struct bench_series alone = {0}, alone_late = {0}, median = {0}, late = {0};
    struct bench_series ratio = {0};
    for (int k = 0; k < BENCH_RUNS; k++) {
        measure(&without);
        pid_t child = begin_flood(place, crowd_port(crowd), number);
        measure(&with);
        end_flood(child);
        bench_add(&alone, without.median);
        bench_add(&alone_late, without.late);
        bench_add(&median, with.median);
        bench_add(&late, with.late);
        bench_add(&ratio, with.median / without.median);
    }
    bench_print_head(floods[number].name);
    bench_print_row("request and answer without it: median", "ms", &alone, "");
    bench_print_row("without it: 99 of 100", "ms", &alone_late, "");
    bench_print_row("with it: median", "ms", &median, "");
    bench_print_row("with it: 99 of 100", "ms", &late, "");
    bench_print_row("median with it, of that without", "", &ratio, "2");
}

static void report(const struct bench_place *place, double begin, const char *what)
{
    printf("%6.0f s  %7.1f MiB now  %7.1f MiB at its peak  %s\n", bench_now() - begin,
           bench_place_memory_mib(place, false), bench_place_memory_mib(place, true),
           what);
    fflush(stdout);
}

static void soak(struct bench_place *place, double seconds)
{
    double begin = bench_now(), reported = 0;
    uint64_t attempt = 1000000;
    report(place, begin, "before the first flood");
    for (int number = 0; bench_now() - begin < seconds;
         number = (number + 1) % N_FLOODS) {
        pid_t child = begin_flood(place, crowd_port(crowd), number);
        double until = bench_now() + SOAK_ROUND_S;
        while (bench_now() < until) {
            trip(++attempt);
            usleep(10000);
        }
        if (bench_now() - reported >= SOAK_REPORT_S) {
            reported = bench_now();
            report(place, begin, floods[number].name);
        }
        end_flood(child);
    }
    report(place, begin, "at the end");
    sleep(SOAK_ROUND_S);
    report(place, begin, "ten seconds later");
}

int main(void)
{
    struct bench_place place;
    const char *seconds = getenv("FLOOD_S");
    bench_place_init(&place);
    begin_federation(&place);
    if (seconds != NULL) {
        soak(&place, strtod(seconds, NULL));
    } else {
        const char *only = getenv("FLOOD");
        for (int i = 0; i < N_FLOODS; i++) {
            if (only != NULL && strtol(only, NULL, 10) != i) {
                continue;
            }
            compare(&place, i);
        }
    }
    crowd_free(crowd);
    bench_place_release(&place);
    return 0;
}
