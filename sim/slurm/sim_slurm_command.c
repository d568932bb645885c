/* SPDX-License-Identifier: Apache-2.0 */
/* sim_slurm_command.c: see sim_slurm_command.h. */
#include "sim/slurm/sim_slurm_command.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "sim/slurm/sim_slurm_list.h"

enum { OPTIONS_MAX = 32 };

struct command {
    struct sim_slurm *slurm;
    struct arena *arena;
    const char *const *words;
    struct sim_slurm_answer *answer;
    /* Options of sinfo, squeue, sbatch and scancel: "--name=value", "--name value". */
    const char *names[OPTIONS_MAX], *values[OPTIONS_MAX];
    int n_options;
    const char *const *rest; /* the words behind the options */
};

static void fail(const struct command *command, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void fail(const struct command *command, int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    command->answer->status = status;
    command->answer->error = arena_vprintf(command->arena, format, args);
    va_end(args);
}

static void print(const struct command *command, const char *text)
{
    command->answer->output = text;
}

/* A text that lives as long as the cluster. */
static const char *keep(const struct command *command, const char *text)
{
    return arena_str(&command->slurm->arena, text);
}

/* ---------------------------------------------------------------- arguments */

/* Those of which the value is the next word. */
static bool has_separate_value(const char *name)
{
    static const char *const names[] = {"--Format", "--partition", "--user", "--jobs",
                                        "--states", "--wrap",      "-w",     NULL};
    for (int i = 0; names[i] != NULL; i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* False: there is one that `known`, names separated by commas, does not have. */
static bool read_options(struct command *command, const char *known)
{
    const char *const *at = command->words + 1;
    for (; *at != NULL && (*at)[0] == '-'; at++) {
        const char *equals = (*at)[1] == '-' ? strchr(*at, '=') : NULL;
        const char *name = equals != NULL
                               ? arena_strn(command->arena, *at, (size_t)(equals - *at))
                               : *at;
        const char *value = equals != NULL ? equals + 1 : "";
        if (equals == NULL && has_separate_value(name) && at[1] != NULL) {
            value = *++at;
        }
        if (!sim_slurmctld_has_word(known, name) || command->n_options == OPTIONS_MAX) {
            fail(command, 1, "%s: unrecognized option '%s'\n", command->words[0], name);
            return false;
        }
        command->names[command->n_options] = name;
        command->values[command->n_options++] = value;
    }
    command->rest = at;
    return true;
}

/* NULL: the option is not given. */
static const char *option(const struct command *command, const char *name)
{
    for (int i = 0; i < command->n_options; i++) {
        if (strcmp(command->names[i], name) == 0) {
            return command->values[i];
        }
    }
    return NULL;
}

static const char *option_or(const struct command *command, const char *name,
                             const char *other)
{
    const char *value = option(command, name);
    return value != NULL ? value : other;
}

/* The value of a word "KEY=value" of scontrol, or NULL. */
static const char *value_of(const struct command *command, const char *key)
{
    size_t length = strlen(key);
    for (const char *const *at = command->words; *at != NULL; at++) {
        if (strncmp(*at, key, length) == 0 && (*at)[length] == '=') {
            return *at + length + 1;
        }
    }
    return NULL;
}

static bool has_word(const struct command *command, const char *word)
{
    for (const char *const *at = command->words; *at != NULL; at++) {
        if (strcmp(*at, word) == 0) {
            return true;
        }
    }
    return false;
}

/* False: one of the names, separated by commas, is that of no node. */
static bool read_nodes(const struct command *command, const char *names,
                       node_set *nodes)
{
    char *rest = arena_str(command->arena, names);
    *nodes = 0;
    for (const char *name; (name = strsep(&rest, ",")) != NULL;) {
        int node = sim_slurmctld_find_node(command->slurm, name);
        if (node < 0) {
            return false;
        }
        *nodes |= (node_set)1 << node;
    }
    return true;
}

/* "now" and "now+SECONDS". */
static int64_t read_time(const struct command *command, const char *text)
{
    return command->slurm->now_ms +
           (strncmp(text, "now", 3) == 0 ? strtoll(text + 3, NULL, 10) * 1000 : 0);
}

/* ---------------------------------------------------------------- listings */

static void list_nodes(struct command *command)
{
    if (read_options(command, "--noheader,--Node,--Format,--partition")) {
        const char *text = sim_slurm_list_nodes(command->slurm, command->arena,
                                                option_or(command, "--Format", ""),
                                                option(command, "--partition"));
        if (text == NULL) {
            fail(command, 1, "sinfo: error: Invalid node format specification\n");
        } else {
            print(command, text);
        }
    }
}

static void list_jobs(struct command *command)
{
    if (read_options(
            command,
            "--noheader,--all,--local,--states,--user,--jobs,--partition,--Format,"
            "--array")) {
        const char *text = sim_slurm_list_jobs(
            command->slurm, command->arena, option_or(command, "--Format", ""),
            option_or(command, "--states", "PD,R,CG,ST,RD"), option(command, "--user"),
            option(command, "--partition"), option(command, "--jobs"));
        if (text == NULL) {
            fail(command, 1, "squeue: error: Invalid job format specification\n");
        } else {
            print(command, text);
        }
    }
}

/* ---------------------------------------------------------------- reservations */

/* Reads what the words say about the reservation. NULL, or why it cannot be. */
static const char *read_reservation(const struct command *command,
                                    struct ctld_reservation *reservation)
{
    const char *start = value_of(command, "StartTime");
    const char *end = value_of(command, "EndTime");
    const char *nodes = value_of(command, "Nodes");
    const char *users = value_of(command, "Users");
    if (start != NULL) {
        reservation->start_ms = read_time(command, start);
    }
    if (end != NULL) {
        reservation->end_ms = read_time(command, end);
        reservation->purge_ms = SIM_SLURM_NEVER;
    }
    if (users != NULL) {
        reservation->users = keep(command, users);
    }
    if (has_word(command, "Flags=FLEX") || has_word(command, "Flags+=FLEX")) {
        reservation->is_flex = true;
    } else if (has_word(command, "Flags-=FLEX")) {
        reservation->is_flex = false;
    }
    if (has_word(command, "Flags=IGNORE_JOBS")) {
        reservation->ignores_jobs = true;
    }
    if (nodes != NULL && !read_nodes(command, nodes, &reservation->nodes)) {
        return "Invalid node name specified";
    }
    return reservation->end_ms < command->slurm->now_ms
               ? "Invalid time specified"
               : sim_slurmctld_refuse(command->slurm, reservation);
}

static void create_reservation(struct command *command)
{
    const char *name = value_of(command, "ReservationName");
    struct ctld_reservation made = {.name = keep(command, name != NULL ? name : ""),
                                    .users = "",
                                    .start_ms = command->slurm->now_ms,
                                    .purge_ms = SIM_SLURM_NEVER};
    const char *why = sim_slurmctld_find_reservation(command->slurm, made.name) != NULL
                          ? "Duplicate reservation name"
                          : read_reservation(command, &made);
    if (why != NULL) {
        fail(command, 1, "Error creating the reservation: %s\n", why);
        return;
    }
    *sim_slurmctld_add_reservation(command->slurm) = made;
    print(command,
          arena_printf(command->arena, "Reservation created: %s\n", made.name));
}

static void update_reservation(struct command *command)
{
    struct ctld_reservation *found = sim_slurmctld_find_reservation(
        command->slurm, value_of(command, "ReservationName"));
    struct ctld_reservation made;
    const char *why = "Requested reservation is invalid";
    if (found != NULL) {
        made = *found;
        why = read_reservation(command, &made);
    }
    if (why != NULL) {
        fail(command, 1, "Error updating the reservation: %s\nslurm_update error: %s\n",
             why, why);
        return;
    }
    *found = made;
    sim_slurmctld_changed(command->slurm);
    print(command, "Reservation updated.\n");
}

static void delete_reservation(struct command *command, const char *name)
{
    const char *why = sim_slurmctld_find_reservation(command->slurm, name) == NULL
                          ? "Requested reservation is invalid"
                      : sim_slurmctld_is_in_use(command->slurm, name)
                          ? "Requested reservation is in use"
                          : NULL;
    if (why != NULL) {
        fail(command, 1, "delete_reservation ReservationName=%s: %s\n", name, why);
    } else {
        sim_slurmctld_remove_reservation(command->slurm, name);
    }
}

/* ---------------------------------------------------------------- nodes */

static void update_node(struct command *command)
{
    int node = sim_slurmctld_find_node(command->slurm, value_of(command, "NodeName"));
    const char *state = value_of(command, "State");
    if (node < 0 || state == NULL) {
        fail(command, 1, "slurm_update error: Invalid node name specified\n");
        return;
    }
    struct ctld_node *books = &command->slurm->books.nodes[node];
    bool is_out = strcmp(state, "DOWN") == 0 || strcmp(state, "DRAIN") == 0;
    if (is_out && value_of(command, "Reason") == NULL) {
        fail(command, 1,
             "You must specify a reason when DOWNING or DRAINING a node. "
             "Request denied\n");
        return;
    }
    if (!is_out && !books->is_down && !books->is_drained) {
        fail(command, 1, "slurm_update error: Invalid node state specified\n");
        return;
    }
    books->is_drained = strcmp(state, "DRAIN") == 0 || (is_out && books->is_drained);
    books->is_down = strcmp(state, "DOWN") == 0 || (is_out && books->is_down);
    if (books->is_down) {
        sim_slurmctld_lose_node(command->slurm, node);
    }
    sim_slurmctld_changed(command->slurm);
}

static void delete_node(struct command *command, const char *name)
{
    int node = sim_slurmctld_find_node(command->slurm, name);
    if (node < 0 || !command->slurm->nodes[node].is_dynamic) {
        fail(command, 1, "delete_node NodeName=%s: Invalid node name specified\n",
             name);
    } else if (sim_slurmctld_count_used(command->slurm, node) > 0) {
        fail(command, 1, "delete_node NodeName=%s: Requested nodes are busy\n", name);
    } else {
        command->slurm->books.nodes[node] = (struct ctld_node){.is_gone = true};
        sim_slurmctld_changed(command->slurm);
    }
}

/* ---------------------------------------------------------------- scontrol */

static void requeue(struct command *command, const char *id)
{
    struct ctld_job *job =
        sim_slurmctld_find_job(command->slurm, strtoll(id, NULL, 10));
    if (job == NULL) {
        fail(command, 1, "Invalid job id specified for job %s\n", id);
    } else if (!job->may_requeue || !sim_slurmctld_has_cpus(job)) {
        fail(command, 1, "Requested operation is presently disabled for job %s\n", id);
    } else {
        sim_slurmctld_requeue(command->slurm, job);
    }
}

static const char config_text[] =
    "AccountingStorageEnforce = none\nPrivateData             = none\n"
    "ResvOverRun             = 0 min\nSelectType              = select/cons_tres\n"
    "SLURM_VERSION           = 22.05.8\n";

static void control(struct command *command)
{
    const char *const *words = command->words + 1;
    words += words[0] != NULL && strcmp(words[0], "--oneliner") == 0;
    const char *verb = words[0] != NULL ? words[0] : "";
    const char *object = verb[0] != '\0' && words[1] != NULL ? words[1] : "";
    const char *reservation = value_of(command, "ReservationName");
    const char *node = value_of(command, "NodeName");
    if (strcmp(verb, "show") == 0 && strncmp(object, "res", 3) == 0) {
        print(command, sim_slurm_list_reservations(command->slurm, command->arena));
    } else if (strcmp(verb, "show") == 0 && strcmp(object, "config") == 0) {
        print(command, config_text);
    } else if (strcmp(verb, "create") == 0 && reservation != NULL) {
        create_reservation(command);
    } else if (strcmp(verb, "update") == 0 && reservation != NULL) {
        update_reservation(command);
    } else if (strcmp(verb, "update") == 0 && node != NULL) {
        update_node(command);
    } else if (strcmp(verb, "delete") == 0 && reservation != NULL) {
        delete_reservation(command, reservation);
    } else if (strcmp(verb, "delete") == 0 && node != NULL) {
        delete_node(command, node);
    } else if (strcmp(verb, "requeue") == 0) {
        requeue(command, object);
    } else if (strcmp(verb, "reconfigure") != 0) {
        fail(command, 1, "invalid keyword: %s\n", verb);
    }
}

/* ---------------------------------------------------------------- sbatch */

static void refuse(const struct command *command, const char *why)
{
    fail(command, 1, "sbatch: error: Batch job submission failed: %s\n", why);
}

/* Some node may be able to run the job once it is idle. A partition of dynamic nodes
 * may get one. */
static bool can_run(const struct sim_slurm *slurm, const struct ctld_job *job,
                    node_set nodes, bool has_list)
{
    bool has_fixed = has_list;
    for (int i = 0; i < slurm->n_nodes; i++) {
        bool is_in = !slurm->books.nodes[i].is_gone &&
                     sim_slurmctld_has_word(slurm->nodes[i].partitions, job->partition);
        if (is_in && (nodes >> i & 1) != 0 && slurm->nodes[i].n_cpus >= job->n_cpus) {
            return true;
        }
        has_fixed = has_fixed || (is_in && !slurm->nodes[i].is_dynamic);
    }
    return !has_fixed;
}

/* NULL: the job may have that reservation. */
static const char *check_reservation(const struct command *command,
                                     const struct ctld_reservation *reservation,
                                     const char *user)
{
    return reservation == NULL ? "Requested reservation is invalid"
           : !sim_slurmctld_has_word(reservation->users, user)
               ? "Access denied to requested reservation"
           : reservation->end_ms <= command->slurm->now_ms
               ? "Requested reservation is invalid"
               : NULL;
}

static void add_job(struct command *command, const struct ctld_job *wanted,
                    bool is_possible)
{
    struct ctld_job *job = sim_slurmctld_add_job(command->slurm);
    int64_t id = job->id, now_ms = command->slurm->now_ms;
    *job = *wanted;
    job->id = id;
    job->node = -1;
    job->code = is_possible ? CODE_PD : CODE_F;
    job->reason = is_possible ? "Resources" : "BadConstraints";
    if (is_possible) {
        const char *before =
            option(command, "--parsable") != NULL ? "" : "Submitted batch job ";
        print(command, arena_printf(command->arena, "%s%lld\n", before, (long long)id));
    } else {
        job->wait_status = 1;
        job->start_ms = job->end_ms = now_ms;
        refuse(command, "Requested node configuration is not available");
    }
}

static const char batch_options[] =
    "--parsable,--no-requeue,--requeue,--hold,--export,--chdir,--job-name,--time,"
    "--nodes,--ntasks,--cpus-per-task,--nodelist,-w,--reservation,--uid,--gid,--output,"
    "--error,--comment,--partition,--account,--mem,--wrap";

static void submit(struct command *command)
{
    if (!read_options(command, batch_options)) {
        return;
    }
    const char *first = command->slurm->partitions;
    const char *name = option(command, "--reservation");
    const char *nodes = option_or(command, "--nodelist", option_or(command, "-w", ""));
    struct ctld_job job = {
        .user = keep(command, option_or(command, "--uid", "root")),
        .reservation = keep(command, name != NULL ? name : ""),
        .comment = keep(command, option_or(command, "--comment", "")),
        .text =
            keep(command, option_or(command, "--wrap",
                                    command->rest[0] != NULL ? command->rest[0] : "")),
        .partition = keep(
            command, option_or(command, "--partition",
                               arena_strn(command->arena, first, strcspn(first, ",")))),
        .n_cpus = (int)(strtol(option_or(command, "--ntasks", "1"), NULL, 10) *
                        strtol(option_or(command, "--cpus-per-task", "1"), NULL, 10)),
        .is_held = option(command, "--hold") != NULL,
        .may_requeue = option(command, "--no-requeue") == NULL};
    const struct ctld_reservation *reservation =
        name != NULL ? sim_slurmctld_find_reservation(command->slurm, name) : NULL;
    const char *why =
        name != NULL ? check_reservation(command, reservation, job.user) : NULL;
    job.asked = ~(node_set)0;
    if (!sim_slurmctld_has_word(command->slurm->partitions, job.partition)) {
        why = "Invalid partition name specified";
    } else if (nodes[0] != '\0' && !read_nodes(command, nodes, &job.asked)) {
        why = "Invalid node name specified";
    } else {
        command->slurm->books.next_job += why != NULL; /* it has taken a number */
    }
    if (why != NULL) {
        refuse(command, why);
        return;
    }
    node_set usable = reservation != NULL ? reservation->nodes : ~(node_set)0;
    add_job(command, &job,
            can_run(command->slurm, &job, job.asked & usable,
                    nodes[0] != '\0' || reservation != NULL));
}

/* ---------------------------------------------------------------- scancel */

/* False: the job cannot be signalled. */
static bool cancel_job(struct command *command, struct ctld_job *job)
{
    const char *signal = option(command, "--signal");
    if (signal == NULL) {
        sim_slurmctld_end_job(command->slurm, job, CODE_CA, job->reason);
        return true;
    }
    if (strcmp(signal, "STOP") == 0 || strcmp(signal, "CONT") == 0) {
        if (job->code == CODE_R || job->code == CODE_ST) {
            (void)sim_slurmctld_signal(command->slurm, job,
                                       strcmp(signal, "STOP") == 0);
            return true;
        }
        return false;
    }
    sim_slurmctld_end_job(command->slurm, job, CODE_CA, job->reason);
    return true;
}

static void cancel(struct command *command)
{
    if (!read_options(command, "--full,--batch,--signal,--user,--quiet")) {
        return;
    }
    const char *user = option(command, "--user");
    for (int i = 0; i < command->slurm->books.n_jobs && user != NULL; i++) {
        struct ctld_job *job = &command->slurm->books.jobs[i];
        if (strcmp(job->user, user) == 0) {
            (void)cancel_job(command, job);
        }
    }
    for (const char *const *at = command->rest; *at != NULL; at++) {
        struct ctld_job *job =
            sim_slurmctld_find_job(command->slurm, strtoll(*at, NULL, 10));
        if (job != NULL && !cancel_job(command, job)) {
            fail(command, 1,
                 "scancel: error: Kill job error on job id %s: Invalid job id "
                 "specified\n",
                 *at);
        }
    }
}

/* ---------------------------------------------------------------- all of them */

void sim_slurm_command_run(struct sim_slurm *slurm, const char *const *words,
                           struct arena *arena, struct sim_slurm_answer *answer)
{
    static const struct {
        const char *name;
        void (*run)(struct command *command);
    } programs[] = {
        {"sinfo", list_nodes}, {"squeue", list_jobs}, {"scontrol", control},
        {"sbatch", submit},    {"scancel", cancel},
    };
    struct command command = {
        .slurm = slurm, .arena = arena, .words = words, .answer = answer};
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        if (strcmp(programs[i].name, words[0]) == 0) {
            programs[i].run(&command);
            return;
        }
    }
    fail(&command, 127, "%s: command not found\n", words[0]);
}
