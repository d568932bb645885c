/* SPDX-License-Identifier: Apache-2.0 */
/* maker.c: chooses the sites, so that statements can name what they have; then writes
 * their files; then the statements, instant by instant. */
#include "tests/sim/maker.h"

#include <stdlib.h>
#include <string.h>

#include "tests/sim/maker_parts.h"

enum {
    CALM_S = 180,        /* after the last statement */
    RECONNECTED_S = 120, /* after the last partition has ended, and no sooner */
    DRAINED_S = 1200,    /* a site's own slots can do all of its work in this time */
};

static void open_text(struct maker *maker)
{
    maker->out = open_memstream(&maker->body, &maker->length);
    if (!maker->out) {
        abort();
    }
}

static void close_text(struct maker *maker, struct texts *texts, const char *name)
{
    fclose(maker->out);
    texts_set(texts, name, maker->body, maker->length);
    free(maker->body);
}

/* ---- statements */

static void choose_faults(struct maker *maker)
{
    static const struct maker_faults kinds[] = {
        {.sudden = 0},                        /* only users and policies */
        {.crashes = "0.01 20s", .sudden = 5}, /* a good network, crashes */
        {.loss = "0.2", .repeat = "0.2", .reorder_s = 3, .sudden = 2},
        {.loss = "0.1",
         .repeat = "0.1",
         .reorder_s = 1,
         .crashes = "0.005 5s",
         .sudden = 4},
        {.delay_s = 1,
         .reorder_s = 1,
         .crashes = "0.002 60s",
         .sudden = 4},  /* only delays */
        {.sudden = 25}, /* like a scenario written by hand */
    };

    maker->faults = kinds[maker_between(maker, 0, 5)];
    maker->faults.batch = maker_chance(maker, 40) ? maker_between(maker, 1, 3) : 0;
    maker->has_host_faults = maker_chance(maker, 50);
    maker->has_site_copies = maker_chance(maker, 30);
    if (maker->has_host_faults && maker_chance(maker, 60)) {
        static const char *const failures[] = {"0.001 60s", "0.01 20s", "0.03 5s"};

        maker->faults.failures = failures[maker_between(maker, 0, 2)];
    }
}

/* The user, and sometimes a group of the user that has a share. */
static void write_user(struct maker *maker, const struct maker_site *site,
                       const char *queue)
{
    static const char *const users[] = {"ana", "bo", "cy", "dan", "eve", "flo"};
    static const char *const groups[] = {"", "lab", "lab", "chem", "chem", ""};
    int user = maker_between(maker, 0, 5);
    bool is_of_both = user == 1 || user == 3 || user == 5;
    const char *group = is_of_both && maker_chance(maker, 60) ? "both" : groups[user];
    bool has_share =
        strcmp(queue, "normal") != 0 || strstr(site->shares, group) != NULL;

    maker_say(maker, " user=%s", users[user]);
    if (group[0] != '\0' && has_share && maker_chance(maker, 40)) {
        maker_say(maker, " group=%s", group);
    }
}

/* The job grows up to so many slots, with or without a notification command. */
static int write_resizable(struct maker *maker, int n_slots)
{
    int n_most = n_slots + maker_between(maker, 0, 4);

    maker_say(maker, " max=%d resizable=yes", n_most);
    if (maker_chance(maker, 60)) {
        maker_say(maker, " notify=%ds", maker_between(maker, 0, 8));
        if (maker_chance(maker, 25)) {
            maker_say(maker, " refuses=1");
        }
    }
    return n_most;
}

static void write_submit(struct maker *maker, int self)
{
    struct maker_site *site = &maker->sites[self];
    int most = site->n_private < 3 ? site->n_private : 3;
    int n_slots =
        maker_chance(maker, 70) || most < 2 ? 1 : maker_between(maker, 1, most);
    int run_s = maker_between(maker, 1, 40);
    int count = maker_chance(maker, 40) ? maker_between(maker, 1, 8) : 0;
    int n_most = 0;
    const char *queue = "normal";

    if (site->has_far && maker_chance(maker, 25)) {
        queue = "far";
        n_slots = 1;
    } else if (site->has_urgent && maker_chance(maker, 25)) {
        queue = "urgent";
    }
    maker_say(maker, "submit s%d queue=%s slots=%d run=%ds name=j%d", self + 1, queue,
              n_slots, run_s, site->n_jobs + 1);
    if (site->shares) {
        write_user(maker, site, queue);
    }
    if (count) {
        maker_say(maker, " count=%d", count);
    }
    if (site->resizes && maker_chance(maker, 40)) {
        n_most = write_resizable(maker, n_slots);
    } else if (n_slots > 1 && maker_chance(maker, 30)) {
        maker_say(maker, " max=%d", n_slots + maker_between(maker, 0, 2));
    }
    if (maker_chance(maker, 8)) {
        maker_say(maker, " exclusive=yes");
        n_slots = most;
    }
    if (n_slots > 1 && maker_chance(maker, 40)) {
        maker_write_span(maker, self, n_slots);
    } else if (n_slots == 1 && strcmp(queue, "far") != 0 && maker_chance(maker, 10)) {
        maker_write_wish(maker, self);
    } else if (strcmp(queue, "far") != 0 && maker_chance(maker, 25)) {
        maker_write_usage(maker, self);
    }
    if (maker_chance(maker, 30)) {
        maker_say(maker, " rerun=yes");
    } else if (!count && strcmp(queue, "far") != 0 && maker_chance(maker, 20)) {
        maker_say(maker, " interactive=yes");
    }
    if (maker_chance(maker, site->reserves_slots ? 70 : 10)) {
        maker_say(maker, " limit=%ds", maker_between(maker, 1, 40));
    }
    if (maker_chance(maker, 10)) {
        int code = maker_between(maker, 1, 3);

        maker_say(maker, " exit=%d", code);
        site->is_again[site->n_jobs] = code == site->requeue_code;
    }
    maker_say(maker, "\n");
    site->sizes[site->n_jobs++] = count;
    n_most = n_slots > n_most ? n_slots : n_most;
    site->work_left_s -= n_most * run_s * (count ? count : 1);
}

static bool may_submit(const struct maker_site *site)
{
    return site->n_jobs < DISTURBED_S && site->work_left_s > 0;
}

static void write_control(struct maker *maker, int self)
{
    static const char *const verbs[] = {"kill", "stop", "resume"};
    const struct maker_site *site = &maker->sites[self];
    int job = maker_between(maker, 0, site->n_jobs - 1);

    maker_say(maker, "%s s%d j%d", verbs[maker_between(maker, 0, 2)], self + 1,
              job + 1);
    if (site->sizes[job] && maker_chance(maker, 80)) {
        maker_say(maker, "[%d]", maker_between(maker, 1, site->sizes[job]));
    }
    maker_say(maker, "\n");
}

static void write_resize(struct maker *maker, int self)
{
    const struct maker_site *site = &maker->sites[self];
    int job = maker_between(maker, 0, site->n_jobs - 1);
    int what = maker_between(maker, 0, 9);

    maker_say(maker, "resize s%d j%d", self + 1, job + 1);
    if (site->sizes[job] && maker_chance(maker, 80)) {
        maker_say(maker, "[%d]", maker_between(maker, 1, site->sizes[job]));
    }
    if (what < 6) {
        maker_say(maker, " slots=%d\n", maker_between(maker, 1, 6));
    } else if (what < 9) {
        maker_say(maker, " release=%s%s%d%d\n", what == 8 ? "1@" : "", "h", self + 1,
                  maker_between(maker, 1, site->n_hosts));
    } else {
        maker_say(maker, " cancel=yes\n");
    }
}

static void write_lease(struct maker *maker, int self, int policy, int consumer)
{
    const struct maker_policy *of = &maker->sites[self].policies[policy];

    maker_say(maker, "s%d/%s%d/", self + 1, of->is_named ? "p" : "", policy + 1);
    if (of->is_pool) {
        maker_say(maker, "pool:p\n");
    } else {
        maker_say(maker, "s%d\n", of->consumers[consumer] + 1);
    }
}

static void write_reclaim(struct maker *maker, int self)
{
    const struct maker_site *site = &maker->sites[self];
    int policy = site->n_policies ? maker_between(maker, 0, site->n_policies - 1) : -1;

    if (maker_chance(maker, 20)) {
        maker_say(maker, "set reclaim_delay default");
    } else {
        maker_say(maker, "set reclaim_delay %ds", maker_between(maker, 1, 30));
    }
    if (policy >= 0 && !site->policies[policy].is_pool && maker_chance(maker, 40)) {
        maker_say(maker, " lease=");
        write_lease(maker, self, policy, 0);
    } else if (maker_chance(maker, 70)) {
        maker_say(maker, " provider=s%d\n", self + 1);
    } else {
        maker_say(maker, "\n");
    }
}

/* Hosts shrink, grow and are removed. */
static void write_slots(struct maker *maker, int self)
{
    struct maker_site *site = &maker->sites[self];
    int host = maker_between(maker, 0, site->n_hosts - 1);

    site->is_changed[host] = true;
    maker_say(maker, "slots s%d h%d%d %d\n", self + 1, self + 1, host + 1,
              maker_between(maker, 0, site->slots[host] + 2));
}

static void write_close(struct maker *maker, int self)
{
    struct maker_site *site = &maker->sites[self];
    int host = maker_between(maker, 0, site->n_hosts - 1);

    site->is_closed[host] = !site->is_closed[host];
    site->was_closed[host] = true;
    maker_say(maker, "%s s%d h%d%d\n", site->is_closed[host] ? "close" : "open",
              self + 1, self + 1, host + 1);
}

static void write_drain(struct maker *maker, int self)
{
    struct maker_site *site = &maker->sites[self];
    int policy = maker_between(maker, 0, site->n_policies - 1);
    struct maker_policy *of = &site->policies[policy];
    int consumer = maker_between(maker, 0, of->n_consumers - 1);

    of->is_drained[consumer] = !of->is_drained[consumer];
    of->was_drained[consumer] = true;
    maker_say(maker, of->is_drained[consumer] ? "drain " : "undrain ");
    write_lease(maker, self, policy, consumer);
}

static void write_rebalance(struct maker *maker, int self)
{
    struct maker_site *site = &maker->sites[self];
    int policy = maker_between(maker, 0, site->n_policies - 1);
    struct maker_policy *of = &site->policies[policy];

    maker_say(maker, "rebalance ");
    write_lease(maker, self, policy, maker_between(maker, 0, of->n_consumers - 1));
}

static void write_site_drain(struct maker *maker, int self)
{
    struct maker_site *site = &maker->sites[self];

    site->is_drained = !site->is_drained;
    site->was_drained = true;
    maker_say(maker, "%s s%d\n", site->is_drained ? "drain" : "undrain", self + 1);
}

/* Changes a host's memory or load. */
static void write_load(struct maker *maker, int self)
{
    struct maker_site *site = &maker->sites[self];
    int host = maker_between(maker, 0, site->n_hosts - 1);

    if (site->counts_cpus && maker_chance(maker, 50)) {
        site->cpus[host] = maker_between(maker, 1, site->slots[host] + 2);
        site->is_changed[host] = true;
    }
    if (!maker->has_loads || maker_chance(maker, 20)) {
        site->memory[host] = maker_between(maker, 1, 900);
    } else {
        maker_choose_load(maker, site, host, false);
    }
    maker_write_load(maker, self, host);
}

/* Loads one of the two configurations. */
static void write_reload(struct maker *maker, int self)
{
    struct maker_site *site = &maker->sites[self];

    site->is_reloaded = !site->is_reloaded;
    site->was_more = site->was_more || (site->is_reloaded && site->has_more);
    maker_say(maker, "reload s%d s%d%s.conf\n", self + 1, self + 1,
              site->is_reloaded ? "-1" : "");
}

static void write_members(struct maker *maker)
{
    maker->is_reloaded = !maker->is_reloaded;
    maker_say(maker, "reload broker broker%s.conf\n", maker->is_reloaded ? "-1" : "");
}

static bool has_commands(const struct maker *maker)
{
    bool has = false;

    for (int i = 0; i < maker->n_sites; i++) {
        has = has || maker->sites[i].has_commands;
    }
    return has;
}

static const char *const programs[] = {"/in", "/out", "/save", "/wake", "/leave"};
enum { PROGRAMS = sizeof programs / sizeof programs[0] };

/* Sets how one of the commands behaves from now on. */
static void write_command(struct maker *maker, int program)
{
    maker_say(maker, "command %s %ds", programs[program], maker_between(maker, 0, 8));
    if (maker_chance(maker, 25)) {
        maker_say(maker, " exit=%d", maker_between(maker, 1, 3));
    }
    maker_say(maker, "\n");
}

/* Statements of administrators. */
static void write_admin(struct maker *maker, int self)
{
    const struct maker_site *site = &maker->sites[self];
    int what = maker_between(maker, 0, has_commands(maker) ? 8 : 6);

    if (what == 3 && site->has_other) {
        write_reload(maker, self);
    } else if (what == 4 && maker->left_out > 0) {
        write_members(maker);
    } else if (what == 5) {
        write_site_drain(maker, self);
    } else if (what == 6) {
        write_load(maker, self);
    } else if (what > 6) {
        write_command(maker, maker_between(maker, 0, PROGRAMS - 1));
    } else if (what == 0) {
        write_slots(maker, self);
    } else if (what != 2 || site->n_policies == 0) {
        write_close(maker, self);
    } else if (maker_chance(maker, 40)) {
        write_rebalance(maker, self);
    } else {
        write_drain(maker, self);
    }
}

/* A host fails, or its messages are late from now on. */
static void write_host_fault(struct maker *maker, int self)
{
    static const char *const parts[] = {"machine", "agent", "guards", "disk"};
    struct maker_site *site = &maker->sites[self];
    int host = maker_between(maker, 0, site->n_hosts - 1);
    int what = maker_between(maker, 0, 9);

    if (what < 3) {
        site->is_slow[host] = true;
        maker_say(maker, "slow s%d h%d%d %ds\n", self + 1, self + 1, host + 1,
                  maker_between(maker, 0, 6));
    } else {
        maker_say(maker, "fail s%d h%d%d %s %ds\n", self + 1, self + 1, host + 1,
                  parts[what < 5   ? 0
                        : what < 7 ? 1
                        : what < 9 ? 2
                                   : 3],
                  maker_between(maker, 0, 40));
    }
}

/* A job that is requeued again and again is killed at the end (write_ends). Once its
 * run is adopted, it could not be named. */
static bool may_adopt(const struct maker_site *site)
{
    for (int i = 0; i < site->n_jobs; i++) {
        if (site->is_again[i]) {
            return false;
        }
    }
    return true;
}

/* A site goes on with a copy of its journal, and an administrator decides about what it
 * has lost. */
static void write_site_copy(struct maker *maker, int self)
{
    struct maker_site *site = &maker->sites[self];

    if (site->was_restored && maker_chance(maker, 50)) {
        maker_say(maker, "recover s%d %s\n", self + 1,
                  maker_chance(maker, 50) && may_adopt(site) ? "adopt" : "end");
    } else if (site->has_backup && maker_chance(maker, 50)) {
        maker_say(maker, "restore s%d %ds\n", self + 1, maker_between(maker, 1, 5));
        site->was_restored = true;
    } else {
        maker_say(maker, "backup s%d\n", self + 1);
        site->has_backup = true;
    }
}

static void write_fault(struct maker *maker, int self)
{
    if (maker->has_site_copies && maker_chance(maker, 25)) {
        write_site_copy(maker, self);
        return;
    }
    if (maker->has_host_faults && maker_chance(maker, 40)) {
        write_host_fault(maker, self);
        return;
    }
    switch (maker_between(maker, 0, 4)) {
    case 0:
    case 1:
        maker_say(maker, "partition s%d %ds\n", self + 1, maker_between(maker, 1, 60));
        break;
    case 2:
        maker_say(maker, "crash s%d %ds\n", self + 1, maker_between(maker, 1, 20));
        break;
    case 3:
        maker_say(maker, "%s broker %ds\n",
                  maker_chance(maker, 50) ? "split-brain" : "crash",
                  maker_between(maker, 1, 20));
        break;
    default:
        if (maker->has_backup && maker_chance(maker, 50)) {
            maker_say(maker, "restore broker %ds\n", maker_between(maker, 1, 5));
        } else {
            maker_say(maker, "backup broker\n");
            maker->has_backup = true;
        }
        break;
    }
}

static void write_statement(struct maker *maker, int at_s)
{
    int self = maker_between(maker, 0, maker->n_sites - 1);
    const struct maker_site *site = &maker->sites[self];
    int what = maker_between(maker, 0, 99);

    maker_say(maker, "at %d ", at_s);
    if (what < maker->faults.sudden) {
        write_fault(maker, self);
    } else if (site->n_jobs == 0 || (what < 90 && may_submit(site))) {
        write_submit(maker, self);
    } else if (what < 95 && maker->has_loads && maker_chance(maker, 60)) {
        write_load(maker, self);
    } else if (what < 95 && site->resizes && maker_chance(maker, 40)) {
        write_resize(maker, self);
    } else if (what < 95) {
        write_control(maker, self);
    } else if (what < 97) {
        write_reclaim(maker, self);
    } else {
        write_admin(maker, self);
    }
}

static void write_faults(struct maker *maker, int at_s, bool is_on)
{
    const struct maker_faults *faults = &maker->faults;

    if (faults->batch) {
        maker_say(maker, "at %d batch %d\n", at_s, is_on ? faults->batch : 0);
    }
    if (faults->loss) {
        maker_say(maker, "at %d loss %s\n", at_s, is_on ? faults->loss : "0");
    }
    if (faults->repeat) {
        maker_say(maker, "at %d repeat %s\n", at_s, is_on ? faults->repeat : "0");
    }
    if (faults->delay_s) {
        maker_say(maker, "at %d delay %d\n", at_s, is_on ? faults->delay_s : 0);
    }
    if (faults->reorder_s) {
        maker_say(maker, "at %d reorder %d\n", at_s, is_on ? faults->reorder_s : 0);
    }
    if (faults->failures) {
        maker_say(maker, "at %d failures %s\n", at_s, is_on ? faults->failures : "0");
    }
    if (faults->crashes) {
        maker_say(maker, "at %d crashes %s\n", at_s, is_on ? faults->crashes : "0");
    }
}

static bool was_drained(const struct maker *maker, int self, int policy, int consumer)
{
    const struct maker_policy *of = &maker->sites[self].policies[policy];
    bool was_left_out = maker->has_backup && !of->is_pool &&
                        of->consumers[consumer] + 1 == maker->left_out;

    return of->was_drained[consumer] || maker->sites[self].was_drained ||
           was_left_out ||
           (!of->is_pool && maker->sites[of->consumers[consumer]].was_drained);
}

/* Once all are connected, the end of every drain is ordered again. A restored broker
 * may have forgotten the first order, or that the consumer was no member, and learns
 * from the provider that a lease is drained. */
static void write_resumes(struct maker *maker, int at_s, int self)
{
    const struct maker_site *site = &maker->sites[self];

    for (int i = 0; i < site->n_policies; i++) {
        for (int j = 0; j < site->policies[i].n_consumers; j++) {
            if (was_drained(maker, self, i, j)) {
                maker_say(maker, "at %d undrain ", at_s);
                write_lease(maker, self, i, j);
            }
        }
    }
}

/* Kills the jobs that would otherwise be requeued for ever. */
static void write_ends(struct maker *maker, int at_s, int self)
{
    const struct maker_site *site = &maker->sites[self];

    for (int i = 0; i < site->n_jobs; i++) {
        if (site->is_again[i]) {
            maker_say(maker, "at %d kill s%d j%d\n", at_s, self + 1, i + 1);
        }
    }
}

static void write_repairs(struct maker *maker, int at_s)
{
    if (maker->is_reloaded) {
        maker_say(maker, "at %d ", at_s);
        write_members(maker);
    }
    for (int i = 0; i < maker->n_sites; i++) {
        if (maker->sites[i].is_reloaded) {
            maker_say(maker, "at %d ", at_s);
            write_reload(maker, i);
        }
        for (int j = 0; j < maker->sites[i].n_hosts; j++) {
            if (maker->sites[i].is_changed[j]) {
                maker_say(maker, "at %d slots s%d h%d%d %d\n", at_s, i + 1, i + 1,
                          j + 1, maker->sites[i].slots[j]);
            }
            if (maker->has_loads) {
                /* The second reaches consumers that the first did not reach. */
                maker_choose_load(maker, &maker->sites[i], j, true);
                maker_say(maker, "at %d ", at_s);
                maker_write_load(maker, i, j);
                maker_say(maker, "at %d ", at_s + RECONNECTED_S);
                maker_write_load(maker, i, j);
            }
            if (maker->sites[i].is_slow[j]) {
                maker_say(maker, "at %d slow s%d h%d%d 0s\n", at_s, i + 1, i + 1,
                          j + 1);
            }
            if (maker->sites[i].was_closed[j]) {
                maker_say(maker, "at %d open s%d h%d%d\n", at_s + RECONNECTED_S, i + 1,
                          i + 1, j + 1);
            }
        }
        if (maker->has_loads && maker->sites[i].was_more) {
            /* A job that is suspended there waits for the load. */
            maker_say(maker, "at %d load s%d h%d%d r1m=0 pg=0 it=30\n", at_s, i + 1,
                      i + 1, maker->sites[i].n_hosts + 1);
        }
        if (maker->sites[i].was_drained) {
            maker_say(maker, "at %d undrain s%d\n", at_s + RECONNECTED_S, i + 1);
        }
    }
    for (int i = 0; i < maker->n_sites; i++) {
        write_resumes(maker, at_s + RECONNECTED_S, i);
        write_ends(maker, at_s + RECONNECTED_S, i);
    }
    for (int i = 0; i < PROGRAMS && has_commands(maker); i++) {
        maker_say(maker, "at %d command %s %ds\n", at_s, programs[i],
                  maker_between(maker, 0, 2));
    }
    if (maker->has_hours) {
        /* Jobs that only borrowed hosts can run have hours left again. */
        maker_say(maker, "at %d hour 1000h\n", at_s);
        for (int i = 0; i < maker->n_sites; i++) {
            maker_say(maker, "at %d crash s%d 1s\n", at_s, i + 1);
        }
        maker_say(maker, "at %d crash broker 1s\n", at_s);
    }
}

static void write_loads(struct maker *maker)
{
    for (int i = 0; i < maker->n_sites; i++) {
        for (int k = 0; k < maker->sites[i].n_hosts; k++) {
            if (maker->sites[i].memory[k] > 0 || maker->has_loads ||
                maker->sites[i].counts_cpus) {
                maker_say(maker, "at 0 ");
                maker_write_load(maker, i, k);
            }
        }
    }
}

static void write_scenario(struct maker *maker)
{
    int at_s = 0;

    if (maker->left_out > 0 || maker->has_pool) {
        maker_say(maker, "broker broker.conf\n");
    }
    for (int i = 0; i < maker->n_sites; i++) {
        maker_say(maker, "site s%d s%d.conf\n", i + 1, i + 1);
    }
    if (maker->has_hours) {
        maker_say(maker, "hour %d\n", maker_between(maker, 5, 60));
    }
    write_loads(maker);
    for (int i = 0; i < maker->n_sites; i++) {
        if (maker_chance(maker, 15)) { /* the reserved slot of a policy is there */
            maker->sites[i].is_closed[0] = maker->sites[i].was_closed[0] = true;
            maker_say(maker, "at 0 close s%d h%d1\n", i + 1, i + 1);
        }
    }
    for (int i = 0; i < PROGRAMS && has_commands(maker); i++) {
        maker_say(maker, "at 0 ");
        write_command(maker, i);
    }
    write_faults(maker, 0, true);
    while (at_s < DISTURBED_S) {
        write_statement(maker, at_s);
        /* often several at an instant */
        at_s += maker_chance(maker, 30)
                    ? 0
                    : maker_between(maker, 0, 8 - maker->n_sites / 2);
    }
    write_faults(maker, DISTURBED_S, false);
    write_repairs(maker, DISTURBED_S);
    maker_say(maker, "until %d\n", DISTURBED_S + CALM_S);
}

static void write_file(struct maker *maker, int self, bool is_other,
                       struct texts *texts)
{
    char name[TEXT_NAME_SIZE];

    snprintf(name, sizeof name, "s%d%s.conf", self + 1, is_other ? "-1" : "");
    open_text(maker);
    if (is_other) {
        maker_write_other_site(maker, self);
    } else {
        maker_write_site(maker, self);
    }
    close_text(maker, texts, name);
}

static void write_broker(struct maker *maker, int but, const char *name,
                         struct texts *texts)
{
    open_text(maker);
    maker_write_broker(maker, but);
    if (maker->has_pool) {
        maker_write_pool(maker, but);
    }
    close_text(maker, texts, name);
}

void maker_make(uint64_t seed, struct texts *texts)
{
    struct maker maker = {.n_sites = 0};

    texts->count = 0;
    rng_init(&maker.rng, seed * 7919 + 1);
    maker.n_sites = maker_chance(&maker, 60) ? maker_between(&maker, 2, 3)
                                             : maker_between(&maker, 2, 8);
    choose_faults(&maker);
    maker.has_pool = maker_chance(&maker, 40);
    maker.has_loads = maker_chance(&maker, 40);
    maker.has_hours = maker_chance(&maker, 50);
    for (int i = 0; i < maker.n_sites; i++) {
        maker_choose_site(&maker, i);
    }
    for (int i = 0; i < maker.n_sites; i++) {
        struct maker_site *site = &maker.sites[i];

        site->work_left_s = DRAINED_S * site->n_private;
        /* a job of this queue runs only on leased slots */
        site->has_far = site->can_borrow && maker_chance(&maker, 40);
        site->has_other = maker_chance(&maker, 40);
        write_file(&maker, i, false, texts);
        if (site->has_other) {
            write_file(&maker, i, true, texts);
        }
    }
    if (maker_chance(&maker, 25)) {
        maker.left_out = maker_between(&maker, 1, maker.n_sites);
        write_broker(&maker, maker.left_out, "broker-1.conf", texts);
    }
    if (maker.left_out > 0 || maker.has_pool) {
        write_broker(&maker, 0, "broker.conf", texts);
    }
    open_text(&maker);
    write_scenario(&maker);
    close_text(&maker, texts, TEXTS_SCENARIO);
}
