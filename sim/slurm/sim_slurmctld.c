/* SPDX-License-Identifier: Apache-2.0 */
/* sim_slurmctld.c: see sim_slurmctld.h. */
#include "sim/slurm/sim_slurmctld.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- finding */

int sim_slurmctld_find_node(const struct sim_slurm *slurm, const char *name)
{
    for (int i = 0; i < slurm->n_nodes; i++) {
        if (strcmp(slurm->nodes[i].name, name) == 0 && !slurm->books.nodes[i].is_gone) {
            return i;
        }
    }
    return -1;
}

struct ctld_reservation *sim_slurmctld_find_reservation(struct sim_slurm *slurm,
                                                        const char *name)
{
    for (int i = 0; i < slurm->books.n_reservations; i++) {
        if (strcmp(slurm->books.reservations[i].name, name) == 0) {
            return &slurm->books.reservations[i];
        }
    }
    return NULL;
}

struct ctld_job *sim_slurmctld_find_job(struct sim_slurm *slurm, int64_t id)
{
    for (int i = 0; i < slurm->books.n_jobs; i++) {
        if (slurm->books.jobs[i].id == id) {
            return &slurm->books.jobs[i];
        }
    }
    return NULL;
}

bool sim_slurmctld_has_word(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = words; *at != '\0';) {
        size_t next = strcspn(at, ",");
        if (next == length && strncmp(at, word, length) == 0) {
            return true;
        }
        at += next + (at[next] == ',');
    }
    return false;
}

bool sim_slurmctld_has_cpus(const struct ctld_job *job)
{
    return job->code == CODE_R || job->code == CODE_ST || job->code == CODE_CG;
}

bool sim_slurmctld_is_ended(const struct ctld_job *job)
{
    return job->code == CODE_CA || job->code == CODE_CD || job->code == CODE_F ||
           job->code == CODE_NF || job->code == CODE_TO;
}

int sim_slurmctld_count_used(const struct sim_slurm *slurm, int node)
{
    int count = 0;
    for (int i = 0; i < slurm->books.n_jobs; i++) {
        const struct ctld_job *job = &slurm->books.jobs[i];
        count += sim_slurmctld_has_cpus(job) && job->node == node ? job->n_cpus : 0;
    }
    return count;
}

bool sim_slurmctld_is_active(const struct sim_slurm *slurm,
                             const struct ctld_reservation *reservation)
{
    return reservation->start_ms <= slurm->now_ms &&
           slurm->now_ms < reservation->end_ms;
}

bool sim_slurmctld_is_in_use(const struct sim_slurm *slurm, const char *reservation)
{
    for (int i = 0; i < slurm->books.n_jobs; i++) {
        const struct ctld_job *job = &slurm->books.jobs[i];
        if (strcmp(job->reservation, reservation) == 0 &&
            !sim_slurmctld_is_ended(job)) {
            return true;
        }
    }
    return false;
}

const char *sim_slurmctld_refuse(const struct sim_slurm *slurm,
                                 const struct ctld_reservation *reservation)
{
    for (int i = 0; i < slurm->books.n_reservations; i++) {
        const struct ctld_reservation *other = &slurm->books.reservations[i];
        if (strcmp(other->name, reservation->name) != 0 &&
            (other->nodes & reservation->nodes) != 0 &&
            other->start_ms < reservation->end_ms &&
            reservation->start_ms < other->end_ms) {
            return "Requested reservation overlaps with another reservation";
        }
    }
    for (int i = 0; i < slurm->books.n_jobs && !reservation->ignores_jobs; i++) {
        const struct ctld_job *job = &slurm->books.jobs[i];
        if (sim_slurmctld_has_cpus(job) && (reservation->nodes >> job->node & 1) != 0 &&
            strcmp(job->reservation, reservation->name) != 0) {
            return "Requested nodes are busy";
        }
    }
    return NULL;
}

/* ---------------------------------------------------------------- changes */

static void be_due(struct sim_slurm *slurm, int64_t *at_ms, int64_t within_ms)
{
    if (*at_ms == SIM_SLURM_NEVER) {
        *at_ms = slurm->now_ms + rng_below(&slurm->rng, within_ms + 1);
    }
}

void sim_slurmctld_changed(struct sim_slurm *slurm)
{
    if (slurm->is_up) {
        be_due(slurm, &slurm->schedule_ms, SCHEDULE_MAX_MS);
        be_due(slurm, &slurm->save_ms, SAVE_MAX_MS);
    }
}

struct ctld_job *sim_slurmctld_add_job(struct sim_slurm *slurm)
{
    struct ctld_books *books = &slurm->books;
    books->jobs =
        mem_room(books->jobs, books->n_jobs, &books->room_jobs, sizeof(*books->jobs));
    struct ctld_job *job = &books->jobs[books->n_jobs++];
    *job = (struct ctld_job){.id = books->next_job++, .code = CODE_PD, .node = -1};
    sim_slurmctld_changed(slurm);
    return job;
}

struct ctld_reservation *sim_slurmctld_add_reservation(struct sim_slurm *slurm)
{
    struct ctld_books *books = &slurm->books;
    books->reservations =
        mem_room(books->reservations, books->n_reservations, &books->room_reservations,
                 sizeof(*books->reservations));
    sim_slurmctld_changed(slurm);
    return &books->reservations[books->n_reservations++];
}

void sim_slurmctld_remove_reservation(struct sim_slurm *slurm, const char *name)
{
    struct ctld_books *books = &slurm->books;
    struct ctld_reservation *found = sim_slurmctld_find_reservation(slurm, name);
    int index = (int)(found - books->reservations);
    for (int i = 0; i < books->n_jobs; i++) { /* also those that have ended */
        if (strcmp(books->jobs[i].reservation, name) == 0) {
            books->jobs[i].reservation = "";
        }
    }
    memmove(found, found + 1,
            (size_t)(--books->n_reservations - index) * sizeof(*found));
    sim_slurmctld_changed(slurm);
}

/* ---------------------------------------------------------------- processes */

static struct process *find_process(struct sim_slurm *slurm, int64_t job, int node)
{
    for (int i = 0; i < slurm->n_processes; i++) {
        struct process *process = &slurm->processes[i];
        if (process->script.job == job && process->node == node && !process->is_dead) {
            return process;
        }
    }
    return NULL;
}

static void forget_process(struct sim_slurm *slurm, struct process *process)
{
    *process = slurm->processes[--slurm->n_processes];
}

/* slurmctld hears that the script has ended. */
static void complete(struct sim_slurm *slurm, struct ctld_job *job, int wait_status)
{
    if (job->code == CODE_CG) {
        job->code = job->end_code;
    } else {
        job->code = wait_status == 0 ? CODE_CD : CODE_F;
        job->end_ms = slurm->now_ms;
    }
    job->wait_status = wait_status;
    sim_slurmctld_changed(slurm);
}

static bool can_hear(const struct sim_slurm *slurm)
{
    return slurm->is_up && slurm->register_ms == SIM_SLURM_NEVER;
}

/* The process is not to be used after this. */
static void report(struct sim_slurm *slurm, struct process *process)
{
    struct ctld_job *job = sim_slurmctld_find_job(slurm, process->script.job);
    if (job != NULL && sim_slurmctld_has_cpus(job) && job->node == process->node) {
        complete(slurm, job, process->wait_status);
    }
    forget_process(slurm, process);
}

/* Likewise. */
static void die(struct sim_slurm *slurm, struct process *process, int wait_status)
{
    process->is_dead = true;
    process->wait_status = wait_status;
    if (slurm->watch.ended != NULL) {
        slurm->watch.ended(slurm->watch.arg, &process->script, wait_status);
    }
    if (can_hear(slurm)) {
        report(slurm, process);
    }
}

static void start_process(struct sim_slurm *slurm, const struct ctld_job *job)
{
    struct sim_slurm_work work = {.ms = 0};
    struct process made = {
        .script = {.job = job->id,
                   .user = job->user,
                   .reservation = job->reservation,
                   .comment = job->comment,
                   .node = slurm->nodes[job->node].name,
                   .text = job->text,
                   .n_cpus = job->n_cpus,
                   .n_starts = job->n_starts},
        .node = job->node,
        .kill_ms = SIM_SLURM_NEVER,
    };
    const char *sleeps = strstr(job->text, "sleep "),
               *exits = strstr(job->text, "exit ");
    work.ms = sleeps != NULL ? strtol(sleeps + 6, NULL, 10) * 1000 : 0;
    work.wait_status = exits != NULL ? (int)strtol(exits + 5, NULL, 10) << 8 : 0;
    if (slurm->watch.begun != NULL) {
        slurm->watch.begun(slurm->watch.arg, &made.script, &work);
    }
    made.end_ms = slurm->now_ms + work.ms;
    made.wait_status = work.wait_status;
    made.ignores_term = work.ignores_term;
    slurm->processes = mem_room(slurm->processes, slurm->n_processes,
                                &slurm->room_processes, sizeof(*slurm->processes));
    slurm->processes[slurm->n_processes++] = made;
}

static void stop_process(struct sim_slurm *slurm, struct process *process, bool is_stop)
{
    if (process->is_stopped == is_stop) {
        return;
    }
    process->is_stopped = is_stop;
    if (is_stop) {
        process->left_ms = process->end_ms - slurm->now_ms;
        process->end_ms = SIM_SLURM_NEVER;
    } else {
        process->end_ms = slurm->now_ms + process->left_ms;
    }
    if (slurm->watch.stopped != NULL) {
        slurm->watch.stopped(slurm->watch.arg, &process->script, is_stop);
    }
}

bool sim_slurmctld_signal(struct sim_slurm *slurm, struct ctld_job *job, bool is_stop)
{
    struct process *process = find_process(slurm, job->id, job->node);
    if (process != NULL) {
        stop_process(slurm, process, is_stop);
        job->code = is_stop ? CODE_ST : CODE_R;
        sim_slurmctld_changed(slurm);
    }
    return process != NULL;
}

/* Told to end: it continues, gets SIGTERM, and SIGKILL later. The process may be gone
 * after this. */
static void terminate(struct sim_slurm *slurm, struct process *process)
{
    stop_process(slurm, process, false);
    if (!process->ignores_term) {
        die(slurm, process, SIGTERM);
    } else if (process->kill_ms == SIM_SLURM_NEVER) {
        process->kill_ms = slurm->now_ms + KILL_WAIT_MS;
    }
}

void sim_slurmctld_end_job(struct sim_slurm *slurm, struct ctld_job *job,
                           enum job_code code, const char *reason)
{
    bool has_cpus = sim_slurmctld_has_cpus(job);
    if (sim_slurmctld_is_ended(job) || job->code == CODE_CG) {
        return;
    }
    job->reason = reason;
    job->end_ms = slurm->now_ms;
    job->start_ms = has_cpus ? job->start_ms : slurm->now_ms;
    struct process *process = has_cpus ? find_process(slurm, job->id, job->node) : NULL;
    job->code = process != NULL ? CODE_CG : code;
    job->end_code = code;
    if (process != NULL) {
        terminate(slurm, process);
    }
    sim_slurmctld_changed(slurm);
}

void sim_slurmctld_requeue(struct sim_slurm *slurm, struct ctld_job *job)
{
    struct process *process = find_process(slurm, job->id, job->node);
    job->code = CODE_PD;
    job->node = -1;
    job->start_ms = job->missing_ms = 0;
    if (process != NULL) {
        process->ignores_term = false;
        terminate(slurm, process);
    }
    sim_slurmctld_changed(slurm);
}

static void lose_job(struct sim_slurm *slurm, struct ctld_job *job)
{
    job->missing_ms = 0;
    if (job->may_requeue && job->code != CODE_CG) {
        sim_slurmctld_requeue(slurm, job);
    } else {
        sim_slurmctld_end_job(slurm, job, CODE_NF, "NodeDown");
    }
}

void sim_slurmctld_lose_node(struct sim_slurm *slurm, int node)
{
    for (int i = 0; i < slurm->books.n_jobs; i++) {
        struct ctld_job *job = &slurm->books.jobs[i];
        if (sim_slurmctld_has_cpus(job) && job->node == node) {
            lose_job(slurm, job);
        }
    }
}

void sim_slurmctld_clear_node(struct sim_slurm *slurm, int node)
{
    for (int i = slurm->n_processes - 1; i >= 0; i--) {
        struct process *process = &slurm->processes[i];
        if (process->node != node) {
            continue;
        }
        if (!process->is_dead && slurm->watch.ended != NULL) {
            slurm->watch.ended(slurm->watch.arg, &process->script, SIGKILL);
        }
        forget_process(slurm, process);
    }
}

/* ---------------------------------------------------------------- scheduling */

static bool is_asked(const struct sim_slurm *slurm, const struct ctld_job *job,
                     int node)
{
    return (job->asked >> node & 1) != 0 && !slurm->books.nodes[node].is_gone &&
           slurm->nodes[node].n_cpus >= job->n_cpus &&
           sim_slurmctld_has_word(slurm->nodes[node].partitions, job->partition);
}

static bool may_use(struct sim_slurm *slurm, const struct ctld_job *job, int node)
{
    node_set bit = (node_set)1 << node;
    for (int i = 0; i < slurm->books.n_reservations; i++) {
        const struct ctld_reservation *reservation = &slurm->books.reservations[i];
        bool is_its = strcmp(reservation->name, job->reservation) == 0;
        if (is_its && (!sim_slurmctld_is_active(slurm, reservation) ||
                       (reservation->nodes & bit) == 0 ||
                       !sim_slurmctld_has_word(reservation->users, job->user))) {
            return false;
        }
        if (!is_its && reservation->end_ms > slurm->now_ms &&
            (reservation->nodes & bit) != 0) {
            return false; /* its jobs have no end, so that the future counts, too */
        }
    }
    return job->reservation[0] == '\0' ||
           sim_slurmctld_find_reservation(slurm, job->reservation) != NULL;
}

static bool is_up(const struct sim_slurm *slurm, int node)
{
    const struct ctld_node *books = &slurm->books.nodes[node];
    return !books->is_down && !books->is_drained &&
           slurm->node_back_ms[node] == SIM_SLURM_NEVER;
}

static void try_start(struct sim_slurm *slurm, struct ctld_job *job)
{
    for (int i = 0; i < slurm->n_nodes && job->code == CODE_PD; i++) {
        if (is_asked(slurm, job, i) && is_up(slurm, i) &&
            slurm->nodes[i].n_cpus - sim_slurmctld_count_used(slurm, i) >=
                job->n_cpus &&
            may_use(slurm, job, i)) {
            job->code = CODE_R;
            job->node = i;
            job->reason = "None";
            job->n_starts++;
            job->start_ms = slurm->now_ms;
            job->wait_status = 0;
            start_process(slurm, job);
        }
    }
}

/* The nodes on which jobs without a reservation are planned to start. */
static void plan(struct sim_slurm *slurm, const struct ctld_job *job)
{
    for (int i = 0; i < slurm->n_nodes && job->reservation[0] == '\0'; i++) {
        if (is_asked(slurm, job, i)) {
            slurm->books.nodes[i].is_planned = true;
            return;
        }
    }
}

static void schedule(struct sim_slurm *slurm)
{
    slurm->schedule_ms = SIM_SLURM_NEVER;
    for (int i = 0; i < slurm->n_nodes; i++) {
        slurm->books.nodes[i].is_down =
            slurm->books.nodes[i].is_down && slurm->node_back_ms[i] != SIM_SLURM_NEVER;
        slurm->books.nodes[i].is_reserved = slurm->books.nodes[i].is_planned = false;
        for (int k = 0; k < slurm->books.n_reservations; k++) {
            const struct ctld_reservation *reservation = &slurm->books.reservations[k];
            slurm->books.nodes[i].is_reserved |=
                sim_slurmctld_is_active(slurm, reservation) &&
                (reservation->nodes >> i & 1) != 0;
        }
    }
    for (int i = 0; i < slurm->books.n_jobs; i++) {
        struct ctld_job *job = &slurm->books.jobs[i];
        if (job->code == CODE_PD && !job->is_held) {
            try_start(slurm, job);
        }
        if (job->code == CODE_PD && !job->is_held) {
            plan(slurm, job);
        }
    }
    be_due(slurm, &slurm->save_ms, SAVE_MAX_MS);
}

/* ---------------------------------------------------------------- ends */

static void end_reservation(struct sim_slurm *slurm, const char *name, bool is_flex)
{
    for (int i = 0; i < slurm->books.n_jobs; i++) {
        struct ctld_job *job = &slurm->books.jobs[i];
        if (strcmp(job->reservation, name) != 0 || sim_slurmctld_is_ended(job)) {
            continue;
        }
        if (job->code == CODE_PD) {
            job->code = CODE_RD;
            job->is_held = true;
            job->reason = "ReservationDeleted";
        } else if (!is_flex) {
            sim_slurmctld_end_job(slurm, job, CODE_TO, "TimeLimit");
        }
    }
    sim_slurmctld_remove_reservation(slurm, name);
}

static void end_reservations(struct sim_slurm *slurm)
{
    for (int i = slurm->books.n_reservations - 1; i >= 0; i--) {
        struct ctld_reservation *reservation = &slurm->books.reservations[i];
        if (reservation->end_ms > slurm->now_ms) {
            continue;
        }
        if (reservation->purge_ms == SIM_SLURM_NEVER) {
            be_due(slurm, &reservation->purge_ms, RESERVATION_END_MAX_MS);
            sim_slurmctld_changed(slurm);
        } else if (reservation->purge_ms <= slurm->now_ms) {
            end_reservation(slurm, reservation->name, reservation->is_flex);
        }
    }
}

static void purge_jobs(struct sim_slurm *slurm)
{
    struct ctld_books *books = &slurm->books;
    int n_kept = 0;
    for (int i = 0; i < books->n_jobs; i++) {
        if (!sim_slurmctld_is_ended(&books->jobs[i]) ||
            books->jobs[i].end_ms + slurm->min_job_age_ms > slurm->now_ms) {
            books->jobs[n_kept++] = books->jobs[i];
        }
    }
    books->n_jobs = n_kept;
}

/* ---------------------------------------------------------------- slurmctld's lives */

static void copy_books(struct ctld_books *to, const struct ctld_books *from)
{
    struct ctld_reservation *reservations = to->reservations;
    struct ctld_job *jobs = to->jobs;
    size_t n_reservations = (size_t)from->n_reservations;
    size_t n_jobs = (size_t)from->n_jobs;
    reservations = mem_grow(reservations, n_reservations + 1, sizeof(*reservations));
    jobs = mem_grow(jobs, n_jobs + 1, sizeof(*jobs));
    if (n_reservations > 0) {
        memcpy(reservations, from->reservations,
               n_reservations * sizeof(*reservations));
    }
    if (n_jobs > 0) {
        memcpy(jobs, from->jobs, n_jobs * sizeof(*jobs));
    }
    *to = *from;
    to->reservations = reservations;
    to->room_reservations = from->n_reservations + 1;
    to->jobs = jobs;
    to->room_jobs = from->n_jobs + 1;
}

void sim_slurmctld_save(struct sim_slurm *slurm)
{
    slurm->save_ms = SIM_SLURM_NEVER;
    if (slurm->is_up && !slurm->is_unsaved) {
        copy_books(&slurm->saved, &slurm->books);
    }
}

void sim_slurmctld_kill(struct sim_slurm *slurm, int64_t down_ms, bool forgets)
{
    if (!slurm->is_up) {
        return;
    }
    if (!forgets) {
        sim_slurmctld_save(slurm);
    }
    slurm->is_up = false;
    slurm->back_ms = slurm->now_ms + down_ms;
    slurm->register_ms = slurm->schedule_ms = slurm->save_ms = SIM_SLURM_NEVER;
}

static void start(struct sim_slurm *slurm)
{
    slurm->is_up = true;
    slurm->back_ms = SIM_SLURM_NEVER;
    slurm->register_ms = slurm->now_ms + REGISTER_MS;
    copy_books(&slurm->books, &slurm->saved);
}

/* Nodes tell which jobs they run, and which have ended. */
static void register_nodes(struct sim_slurm *slurm)
{
    slurm->register_ms = SIM_SLURM_NEVER;
    for (int i = slurm->n_processes - 1; i >= 0; i--) {
        struct process *process = &slurm->processes[i];
        const struct ctld_job *job = sim_slurmctld_find_job(slurm, process->script.job);
        bool is_known =
            job != NULL && sim_slurmctld_has_cpus(job) && job->node == process->node;
        if (process->is_dead) {
            report(slurm, process);
        } else if (!is_known) {
            process->is_stopped = false;
            die(slurm, process, SIGKILL);
        } else if (job->code == CODE_CG) {
            terminate(slurm, process);
        }
    }
    for (int i = 0; i < slurm->books.n_jobs; i++) {
        struct ctld_job *job = &slurm->books.jobs[i];
        bool is_missing = sim_slurmctld_has_cpus(job) &&
                          find_process(slurm, job->id, job->node) == NULL;
        job->missing_ms = is_missing ? slurm->now_ms + MISSING_MS : 0;
    }
    sim_slurmctld_changed(slurm);
}

static void find_missing(struct sim_slurm *slurm)
{
    for (int i = 0; i < slurm->books.n_jobs; i++) {
        struct ctld_job *job = &slurm->books.jobs[i];
        if (job->missing_ms != 0 && job->missing_ms <= slurm->now_ms) {
            if (sim_slurmctld_has_cpus(job)) {
                lose_job(slurm, job);
            }
            job->missing_ms = 0;
        }
    }
}

/* A node that was away registers: its jobs are lost. */
static void return_nodes(struct sim_slurm *slurm)
{
    for (int i = 0; i < slurm->n_nodes; i++) {
        if (slurm->node_back_ms[i] <= slurm->now_ms && can_hear(slurm)) {
            slurm->node_back_ms[i] = SIM_SLURM_NEVER;
            sim_slurmctld_lose_node(slurm, i);
            sim_slurmctld_changed(slurm);
        }
    }
}

/* ---------------------------------------------------------------- time */

static void end_processes(struct sim_slurm *slurm)
{
    for (int i = slurm->n_processes - 1; i >= 0; i--) {
        struct process *process = &slurm->processes[i];
        if (process->is_dead) {
            continue;
        }
        if (process->end_ms <= slurm->now_ms) {
            die(slurm, process, process->wait_status);
        } else if (process->kill_ms <= slurm->now_ms) {
            die(slurm, process, SIGKILL);
        }
    }
}

static int64_t least(int64_t left, int64_t right)
{
    return left < right ? left : right;
}

static int64_t next_of_books(const struct sim_slurm *slurm)
{
    int64_t at_ms =
        least(least(slurm->register_ms, slurm->schedule_ms), slurm->save_ms);
    for (int i = 0; i < slurm->books.n_reservations; i++) {
        const struct ctld_reservation *item = &slurm->books.reservations[i];
        at_ms = least(at_ms, item->purge_ms != SIM_SLURM_NEVER ? item->purge_ms
                                                               : item->end_ms);
    }
    for (int i = 0; i < slurm->books.n_jobs; i++) {
        const struct ctld_job *job = &slurm->books.jobs[i];
        at_ms = job->missing_ms != 0 ? least(at_ms, job->missing_ms) : at_ms;
        if (sim_slurmctld_is_ended(job)) {
            at_ms = least(at_ms, job->end_ms + slurm->min_job_age_ms);
        }
    }
    return at_ms;
}

int64_t sim_slurmctld_next_ms(const struct sim_slurm *slurm)
{
    int64_t at_ms = slurm->is_up ? next_of_books(slurm) : slurm->back_ms;
    for (int i = 0; i < slurm->n_processes; i++) {
        if (!slurm->processes[i].is_dead) {
            at_ms = least(
                at_ms, least(slurm->processes[i].end_ms, slurm->processes[i].kill_ms));
        }
    }
    for (int i = 0; i < slurm->n_nodes && can_hear(slurm); i++) {
        at_ms = least(at_ms, slurm->node_back_ms[i]);
    }
    return at_ms;
}

static void step_books(struct sim_slurm *slurm)
{
    if (slurm->register_ms <= slurm->now_ms) {
        register_nodes(slurm);
    }
    return_nodes(slurm);
    end_reservations(slurm);
    find_missing(slurm);
    purge_jobs(slurm);
    if (slurm->schedule_ms <= slurm->now_ms && can_hear(slurm)) {
        schedule(slurm);
    } else if (slurm->schedule_ms <= slurm->now_ms) {
        slurm->schedule_ms = slurm->register_ms; /* no node is known to be up */
    }
    if (slurm->save_ms <= slurm->now_ms) {
        sim_slurmctld_save(slurm);
    }
}

void sim_slurmctld_advance(struct sim_slurm *slurm, int64_t now_ms)
{
    for (int64_t at_ms; (at_ms = sim_slurmctld_next_ms(slurm)) <= now_ms;) {
        slurm->now_ms = at_ms > slurm->now_ms ? at_ms : slurm->now_ms;
        end_processes(slurm);
        if (slurm->back_ms <= slurm->now_ms) {
            start(slurm);
        }
        if (slurm->is_up) {
            step_books(slurm);
        }
    }
    slurm->now_ms = now_ms;
}

void sim_slurmctld_release(struct sim_slurm *slurm)
{
    free(slurm->books.reservations);
    free(slurm->books.jobs);
    free(slurm->saved.reservations);
    free(slurm->saved.jobs);
    free(slurm->processes);
    arena_release(&slurm->arena);
}
