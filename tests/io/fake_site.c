/* SPDX-License-Identifier: Apache-2.0 */
/* fake_site.c: see fake_site.h. */
#include "tests/io/fake_site.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct fake_run *find_or_add(struct fake_site *site, uint64_t attempt)
{
    for (int i = 0; i < site->n_runs; i++) {
        if (site->runs[i].attempt == attempt) {
            return &site->runs[i];
        }
    }
    if (site->n_runs == FAKE_SITE_RUNS) {
        abort();
    }
    struct fake_run *run = &site->runs[site->n_runs++];
    memset(run, 0, sizeof(*run));
    run->attempt = attempt;
    return run;
}

void fake_site_init(struct fake_site *site, const struct run_fixture *fixture)
{
    struct err err;
    memset(site, 0, sizeof(*site));
    snprintf(site->endpoint, sizeof(site->endpoint), "ipc://%s/site", fixture->dir);
    if (wire_server_new(site->endpoint, NULL, PEER_HOST, &site->server, &err) != 0) {
        fprintf(stderr, "%s\n", err.text);
        abort();
    }
}

void fake_site_release(struct fake_site *site)
{
    wire_server_free(site->server);
    site->server = NULL;
}

void fake_site_forget_all(struct fake_site *site)
{
    site->session = 0;
    site->n_hellos = site->n_synced = site->n_runs = site->n_outputs = 0;
}

void fake_site_send(struct fake_site *site, struct msg *msg)
{
    msg->session = site->session;
    msg->site = "";
    wire_server_send(site->server, &site->host, msg, NULL);
}

static void take_hello(struct fake_site *site, const struct peer *from,
                       const struct msg *msg)
{
    struct msg answer = {.kind = MSG_HOST_WELCOME};
    site->n_hellos++;
    site->host = (struct peer){.kind = from->kind, .link = from->link, .name = "host"};
    site->session = msg->session;
    snprintf(site->name, sizeof(site->name), "%s", msg->host_hello.name);
    snprintf(site->boot_id, sizeof(site->boot_id), "%s", msg->host_hello.boot_id);
    site->n_cpus = msg->host_hello.n_cpus;
    site->mark = msg->host_hello.mark;
    answer.welcome =
        (struct msg_welcome){.is_accepted = true, .text = "", .lost_after_ms = 15000};
    answer.welcome.lists_runs = site->lists_runs;
    answer.welcome.mark.attempt = site->known;
    if (!site->is_silent) {
        fake_site_send(site, &answer);
    }
}

static void take_state(struct fake_site *site, const struct msg_run_state *state)
{
    struct fake_run *run = find_or_add(site, state->run.attempt);
    run->n_states++;
    run->n_ends += state->phase == RUN_ENDED;
    run->state = *state;
    snprintf(run->text, sizeof(run->text), "%s", state->exit.text);
    run->state.exit.text = run->text;
}

static void take_output(struct fake_site *site, const struct msg_output *output)
{
    site->n_outputs++;
    site->output = *output;
    memcpy(site->bytes, output->bytes, (size_t)output->n_bytes);
    site->bytes[output->n_bytes] = '\0';
}

static void on_message(void *arg, const struct peer *from, const struct msg *msg)
{
    struct fake_site *site = arg;
    if (msg->kind == MSG_HOST_HELLO) {
        take_hello(site, from, msg);
        return;
    }
    if (msg->session != site->session || from->link != site->host.link) {
        struct msg answer = {.kind = MSG_ERROR};
        answer.session = msg->session;
        answer.site = "";
        answer.error = (struct msg_error){
            .code = ERR_STALE, .text = "no such session", .about = (int)msg->kind};
        if (!site->is_silent) {
            wire_server_send(site->server, from, &answer, NULL);
        }
        return;
    }
    if (msg->kind == MSG_HOST_SYNCED) {
        site->n_synced++;
    } else if (msg->kind == MSG_HOST_ALIVE && !site->is_silent) {
        struct msg answer = {.kind = MSG_HOST_PONG};
        answer.host_alive.seq = msg->host_alive.seq;
        fake_site_send(site, &answer);
    } else if (msg->kind == MSG_RUN_STATE) {
        take_state(site, &msg->run_state);
    } else if (msg->kind == MSG_RUN_FOUND) {
        site->n_found++;
        site->found_attempt = msg->run_start.run.attempt;
        site->found_nonce = msg->run_start.run.nonce;
        snprintf(site->found_command, sizeof(site->found_command), "%s",
                 msg->run_start.spec.command);
    } else if (msg->kind == MSG_OUTPUT) {
        take_output(site, &msg->output);
    }
}

static void on_refused(void *arg, const struct peer *from, const struct err *err)
{
    (void)arg;
    (void)from;
    fprintf(stderr, "refused: %s\n", err->text);
    abort(); /* what sublet-host says must pass the codec's checks */
}

void fake_site_turn(struct fake_site *site)
{
    wire_server_drain(site->server, 1000, on_message, on_refused, site);
}

const struct fake_run *fake_site_run(struct fake_site *site, uint64_t attempt)
{
    return find_or_add(site, attempt);
}

enum run_phase fake_site_phase(struct fake_site *site, uint64_t attempt)
{
    return find_or_add(site, attempt)->state.phase;
}

static struct run_id run_id(uint64_t attempt)
{
    return (struct run_id){.site = "north", .attempt = attempt};
}

void fake_site_start(struct fake_site *site, const struct msg_run_start *start)
{
    struct msg msg = {.kind = MSG_RUN_START};
    msg.run_start = *start;
    fake_site_send(site, &msg);
}

void fake_site_go(struct fake_site *site, uint64_t attempt, uint64_t token)
{
    struct msg msg = {.kind = MSG_RUN_GO};
    msg.run_go = (struct msg_run_go){.run = run_id(attempt), .token = token};
    fake_site_send(site, &msg);
}

void fake_site_control(struct fake_site *site, uint64_t attempt, uint64_t number,
                       enum control_action action)
{
    struct msg msg = {.kind = MSG_RUN_CONTROL};
    msg.run_control.run = run_id(attempt);
    msg.run_control.control = (struct run_control){.number = number, .action = action};
    fake_site_send(site, &msg);
}

void fake_site_forget(struct fake_site *site, uint64_t attempt)
{
    struct msg msg = {.kind = MSG_RUN_FORGET};
    msg.run.run = run_id(attempt);
    fake_site_send(site, &msg);
}

void fake_site_ask(struct fake_site *site, uint64_t attempt, enum output_stream stream,
                   int64_t offset, int n_bytes)
{
    struct msg msg = {.kind = MSG_OUTPUT_ASK};
    msg.output_ask = (struct msg_output_ask){.run = run_id(attempt),
                                             .request = 7,
                                             .stream = stream,
                                             .offset = offset,
                                             .n_bytes = n_bytes};
    fake_site_send(site, &msg);
}
