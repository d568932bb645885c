/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_fake.c: see slurm_fake.h. */
#include "tests/unit/slurm/slurm_fake.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/exec/exec_session.h"

static const char *const names[2] = {"n1", "n2"};
static const int cpus[2] = {2, 4};

struct fake_run *slurm_fake_run(struct slurm_fake *fake, uint64_t attempt)
{
    return &fake->runs[attempt % FAKE_RUNS];
}

/* ---------------------------------------------------------------- io */

static void send(void *arg, const char *node, const struct msg *msg)
{
    static const char *const phases[] = {"UNKNOWN", "WAITING", "RUNNING", "SUSPENDED",
                                         "ENDED"};
    static const char *const ends[] = {"NONE",   "EXITED", "SIGNALLED",
                                       "FAILED", "LOST",   "LIMIT"};
    struct slurm_fake *fake = arg;
    int index = strcmp(node, "n2") == 0;
    if (msg->kind == MSG_HOST_HELLO) {
        fake->sessions[index] = msg->session;
        fake->is_welcome_due[index] = true;
    } else if (msg->kind == MSG_HOST_ALIVE) {
        fake->is_pong_due[index] = true;
    } else if (msg->kind == MSG_HOST_SYNCED) {
        fake->n_synced++;
    } else if (msg->kind == MSG_HOST_LOAD) {
        fake->load[index] = msg->host_load;
    } else if (msg->kind == MSG_RUN_STATE && fake->n_said < FAKE_LINES) {
        const struct msg_run_state *state = &msg->run_state;
        const char *text =
            state->phase == RUN_ENDED
                ? arena_printf(&fake->memory, "%s.%llu %s %d%s", state->run.site,
                               (unsigned long long)state->run.attempt,
                               ends[state->exit.end], state->exit.code,
                               state->exit.cause == RUN_CAUSE_NOT_BEGUN
                                   ? " before it began"
                                   : "")
                : arena_printf(&fake->memory, "%s.%llu %s %llu", state->run.site,
                               (unsigned long long)state->run.attempt,
                               phases[state->phase],
                               (unsigned long long)state->control_done);
        bool is_new =
            fake->n_said == 0 || strcmp(fake->said[fake->n_said - 1], text) != 0;
        if (is_new) {
            fake->said[fake->n_said++] = text;
        }
    }
}

static void command(void *arg, const char *const *words)
{
    struct slurm_fake *fake = arg;
    const char *text = words[0];
    assert_string_equal(fake->running, ""); /* one at a time */
    for (int i = 1; words[i] != NULL; i++) {
        text = arena_printf(&fake->memory, "%s %s", text, words[i]);
    }
    fake->running = text;
}

static int make_run(void *arg, const struct slurm_run_record *record,
                    const struct msg_run_start *start, struct err *err)
{
    struct fake_run *run = slurm_fake_run(arg, record->run.attempt);
    (void)start;
    (void)err;
    *run = (struct fake_run){.record = *record, .is_there = true};
    return 0;
}

static bool look(void *arg, const struct run_id *id, struct slurm_run_files *files)
{
    const struct fake_run *run = slurm_fake_run(arg, id->attempt);
    *files = run->files;
    return run->is_there;
}

static bool claim(void *arg, const struct run_id *id)
{
    struct fake_run *run = slurm_fake_run(arg, id->attempt);
    bool is_mine = run->is_there && !run->files.is_claimed;
    run->files.is_claimed = run->is_there;
    return is_mine;
}

static void remove_run(void *arg, const struct run_id *id)
{
    slurm_fake_run(arg, id->attempt)->is_there = false;
}

static void keep_control(void *arg, const struct run_id *id, uint64_t number)
{
    slurm_fake_run(arg, id->attempt)->record.control_done = number;
}

static const char *group(void *arg, const char *account, struct arena *arena)
{
    (void)arg;
    (void)account;
    return arena_str(arena, "60");
}

static const char *script(void *arg, const struct run_id *id, struct arena *arena)
{
    (void)arg;
    return arena_printf(arena, "/spool/%llu/script", (unsigned long long)id->attempt);
}

static void read_output(void *arg, const struct msg_output_ask *ask,
                        struct msg_output *output, struct arena *arena)
{
    (void)arg;
    (void)ask;
    (void)arena;
    output->is_gone = true;
}

static bool read_start(void *arg, const struct run_id *id, struct msg_run_start *start,
                       struct arena *arena)
{
    (void)arg;
    (void)id;
    (void)start;
    (void)arena;
    return false;
}

static void held(void *arg, const struct slurm_contract *contract,
                 const char *const *nodes, int n_nodes)
{
    struct slurm_fake *fake = arg;
    fake->held = arena_printf(&fake->memory, "%s %s %llu:", contract->policy,
                              contract->consumer, (unsigned long long)contract->epoch);
    for (int i = 0; i < n_nodes; i++) {
        fake->held = arena_printf(&fake->memory, "%s %s", fake->held, nodes[i]);
    }
}

static void waiting(void *arg, int n_cpus)
{
    struct slurm_fake *fake = arg;
    fake->n_waiting = n_cpus;
}

static void write_log(void *arg, enum log_level level, const char *text)
{
    (void)arg;
    (void)level;
    (void)text;
}

/* ---------------------------------------------------------------- answers */

static const char *answer_nodes(struct slurm_fake *fake)
{
    const char *text = "";
    for (int i = 0; i < 2; i++) {
        const char *used = arena_printf(&fake->memory, "%d/%d/0/%d", fake->used[i],
                                        cpus[i] - fake->used[i], cpus[i]);
        text = arena_printf(&fake->memory, "%s%s|%s|%s|%s|%s|%s|%s|%s|%s|\n", text,
                            names[i], fake->state[i], used, "1000", "900", "0.50",
                            "(null)", "(null)", "main");
    }
    return text;
}

static const char *answer(struct slurm_fake *fake, const char *words)
{
    if (strncmp(words, "sinfo", 5) == 0) {
        return answer_nodes(fake);
    }
    if (strncmp(words, "squeue", 6) == 0) {
        return arena_printf(&fake->memory, "%s%s", fake->list, fake->jobs);
    }
    if (strstr(words, "show reservation") != NULL) {
        return fake->reservations[0] != '\0' ? fake->reservations
                                             : "No reservations in the system\n";
    }
    if (fake->n_done < FAKE_LINES) {
        fake->done[fake->n_done++] = words;
    }
    if (strncmp(words, "sbatch", 6) != 0) {
        return "";
    }
    const char *attempt = strstr(words, "sublet:north:south:");
    assert_non_null(attempt);
    return arena_printf(&fake->memory, "%d\n",
                        101 + (int)strtol(attempt + 19, NULL, 10));
}

static void say(struct slurm_fake *fake, int node, struct msg *msg)
{
    msg->session = fake->sessions[node];
    msg->site = "";
    slurm_agent_message(fake->agent, names[node], msg, fake->now_ms);
}

/* The site answers HELLO and ALIVE. */
static void answer_sessions(struct slurm_fake *fake)
{
    for (int i = 0; i < 2; i++) {
        struct msg msg = {.kind = MSG_HOST_PONG};
        if (fake->is_welcome_due[i]) {
            msg.kind = MSG_HOST_WELCOME;
            msg.welcome.is_accepted = true;
        }
        if (fake->is_welcome_due[i] || fake->is_pong_due[i]) {
            fake->is_welcome_due[i] = fake->is_pong_due[i] = false;
            say(fake, i, &msg);
        }
    }
}

void slurm_fake_pass(struct slurm_fake *fake, int64_t ms)
{
    enum { STEP_MS = 100, COMMANDS_MAX = 40 };
    for (int64_t left_ms = ms; left_ms >= 0; left_ms -= STEP_MS) {
        slurm_agent_tick(fake->agent, fake->now_ms);
        answer_sessions(fake);
        slurm_agent_tick(fake->agent, fake->now_ms);
        for (int i = 0; i < COMMANDS_MAX && fake->running[0] != '\0'; i++) {
            const char *words = fake->running;
            struct err err = {0};
            fake->running = "";
            bool fails = fake->is_away ||
                         (fake->fails_sbatch && strncmp(words, "sbatch", 6) == 0);
            const char *text = fails ? "" : answer(fake, words);
            int rc = fails ? err_set(&err, ERR_AWAY, "no answer") : 0;
            slurm_agent_done(fake->agent, rc, text, &err, fake->now_ms);
        }
        fake->now_ms += left_ms > 0 ? STEP_MS : 0;
    }
}

/* ---------------------------------------------------------------- the site */

static struct run_id id_of(uint64_t attempt)
{
    return (struct run_id){"south", attempt, 77};
}

void slurm_fake_start(struct slurm_fake *fake, int node, uint64_t attempt)
{
    const struct host_slots slots = {names[node], 1};
    struct msg msg = {.kind = MSG_RUN_START};
    msg.run_start = (struct msg_run_start){.run = id_of(attempt),
                                           .job = "1",
                                           .lease = "north/p/south",
                                           .hosts = &slots,
                                           .n_hosts = 1,
                                           .account = "guest",
                                           .spec = {.name = "job",
                                                    .user = "ana",
                                                    .queue = "normal",
                                                    .command = "true",
                                                    .limits = &fake->limit,
                                                    .n_limits = fake->limit != NULL,
                                                    .cwd = "",
                                                    .run_limit_ms = 60000}};
    say(fake, node, &msg);
    slurm_fake_pass(fake, 0);
}

void slurm_fake_go(struct slurm_fake *fake, int node, uint64_t attempt)
{
    struct msg msg = {.kind = MSG_RUN_GO};
    msg.run_go.run = id_of(attempt);
    msg.run_go.token = slurm_fake_run(fake, attempt)->record.token;
    say(fake, node, &msg);
    slurm_fake_pass(fake, 0);
}

void slurm_fake_control(struct slurm_fake *fake, int node, uint64_t attempt,
                        uint64_t number, enum control_action action, int signal)
{
    struct msg msg = {.kind = MSG_RUN_CONTROL};
    msg.run_control.run = id_of(attempt);
    msg.run_control.control =
        (struct run_control){.number = number, .action = action, .signal = signal};
    say(fake, node, &msg);
    slurm_fake_pass(fake, 0);
}

void slurm_fake_forget(struct slurm_fake *fake, int node, uint64_t attempt)
{
    struct msg msg = {.kind = MSG_RUN_FORGET};
    msg.run.run = id_of(attempt);
    say(fake, node, &msg);
    slurm_fake_pass(fake, 0);
}

/* ---------------------------------------------------------------- the cluster */

void slurm_fake_reserve(struct slurm_fake *fake, const char *name, const char *nodes,
                        const char *users)
{
    fake->reservations = arena_printf(
        &fake->memory,
        "%sReservationName=%s StartTime=%lld EndTime=%lld Duration=00:15:00 Nodes=%s "
        "NodeCnt=1 CoreCnt=2 Features=(null) PartitionName=(null) "
        "Flags=FLEX,SPEC_NODES "
        "TRES=cpu=2 Users=%s Groups=(null) Accounts=(null) Licenses=(null) "
        "State=ACTIVE BurstBuffer=(null) Watts=n/a MaxStartDelay=(null)\n",
        fake->reservations, name, (long long)(fake->now_ms / 1000 - 1),
        (long long)(fake->now_ms / 1000 + 900), nodes, users);
}

static const char *print_job(struct slurm_fake *fake, const struct fake_job *job)
{
    const char *reason = job->reason != NULL ? job->reason : "None";
    const char *comment = job->comment != NULL ? job->comment : "(null)";
    const char *node = job->node != NULL ? job->node : "";
    return arena_printf(&fake->memory,
                        "%d|%s|%s|main|%d|%d|%lld|%lld|%-24.24s|%-240s|%-200s|%s|\n",
                        job->id, job->state, job->user != NULL ? job->user : "bob",
                        job->n_cpus, job->status, (long long)job->start_s,
                        (long long)job->end_s, reason, job->reservation, comment, node);
}

void slurm_fake_job(struct slurm_fake *fake, const struct fake_job *job)
{
    fake->jobs = arena_printf(&fake->memory, "%s%s", fake->jobs, print_job(fake, job));
}

void slurm_fake_list(struct slurm_fake *fake, int id, const char *state, int status,
                     uint64_t attempt, int ran_s)
{
    struct fake_job job = {
        .id = id,
        .state = state,
        .user = "guest",
        .reservation = "sublet_north_p_south_e1",
        .node = "n1",
        .status = status,
        .start_s = fake->now_ms / 1000 - ran_s,
        .end_s = fake->now_ms / 1000,
        .comment = arena_printf(&fake->memory, "sublet:north:south:%llu:77",
                                (unsigned long long)attempt),
    };
    fake->list = arena_printf(&fake->memory, "%s%s", fake->list, print_job(fake, &job));
}

const char *slurm_fake_said(const struct slurm_fake *fake)
{
    return fake->n_said > 0 ? fake->said[fake->n_said - 1] : "";
}

int slurm_fake_count(const struct slurm_fake *fake, const char *text)
{
    int count = 0;
    for (int i = 0; i < fake->n_done; i++) {
        count += strstr(fake->done[i], text) != NULL;
    }
    return count;
}

/* ---------------------------------------------------------------- life */

struct slurm_fake *slurm_fake_new(const struct slurm_run_record *found)
{
    static const struct slurm_agent_config config = {.site = "north",
                                                     .agent = "root",
                                                     .partition = "",
                                                     .account = "",
                                                     .term_s = 900,
                                                     .cycle_ms = 15000,
                                                     .seed = 1};
    struct slurm_fake *fake = mem_alloc(1, sizeof(*fake));
    arena_init(&fake->memory);
    fake->now_ms = FAKE_NOW_MS;
    fake->running = fake->held = fake->jobs = fake->reservations = fake->list = "";
    fake->state[0] = fake->state[1] = "idle";
    const struct slurm_agent_io io = {
        .arg = fake,
        .send = send,
        .command = command,
        .make_run = make_run,
        .look = look,
        .claim = claim,
        .remove_run = remove_run,
        .keep_control = keep_control,
        .group = group,
        .script = script,
        .read_output = read_output,
        .read_start = read_start,
        .held = held,
        .waiting = waiting,
        .log = write_log,
    };
    fake->agent = slurm_agent_new(&config, &io);
    if (found != NULL) {
        *slurm_fake_run(fake, found->run.attempt) =
            (struct fake_run){.record = *found, .is_there = true};
        slurm_agent_load(fake->agent, found, fake->now_ms);
    }
    slurm_agent_set_nodes(fake->agent, names, 2, fake->now_ms);
    slurm_agent_tick(fake->agent, fake->now_ms);
    answer_sessions(fake);
    return fake;
}

void slurm_fake_free(struct slurm_fake *fake)
{
    slurm_agent_free(fake->agent);
    arena_release(&fake->memory);
    free(fake);
}
