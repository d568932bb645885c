/* SPDX-License-Identifier: Apache-2.0 */
/* maker.c: first the sites, so that statements can name what there is; then their
 * files; then what happens, instant by instant. */
#include "tests/sim/maker.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"

enum {
    SITES_MAX = 8,
    HOSTS_OF_SITE_MAX = 4,
    SLOTS_OF_HOST_MAX = 6,
    POLICIES_MAX = 3,
    DISTURBED_S = 300, /* how long users and faults are at work */
    CALM_S = 60,       /* then */
    DRAINED_S = 1200,  /* a site's own slots could do all of its work in this time */
};

struct policy {
    int first_host, n_hosts;
    int n_slots;   /* 0: whole hosts, by RES_SELECT */
    bool is_named; /* "p1"; else its number */
    bool is_shared, is_demand;
    int consumers[2], shares[2];
    int n_consumers;
    int min_hold_s, lease_term_s; /* 0: not said */
};

struct site {
    int n_hosts;
    int slots[HOSTS_OF_SITE_MAX];
    bool is_changed[HOSTS_OF_SITE_MAX]; /* to be set right in the end */
    int n_private;                      /* slots that no policy can lend */
    bool can_borrow;
    bool has_urgent, has_far;
    int reclaim_s, freeze_s; /* 0: not said */
    struct policy policies[POLICIES_MAX];
    int n_policies;
    int n_jobs;
    int sizes[DISTURBED_S]; /* elements of each job; 0: no array */
    int work_left_s;        /* slot seconds that its users may still ask for */
};

struct faults {
    const char *loss, *repeat; /* probabilities; NULL: none */
    int delay_s, reorder_s;
    const char *crashes; /* probability and longest time down; NULL: none */
    int sudden;          /* chance in 100 that a statement is a fault */
    int batch;           /* events that a daemon takes at a time; 0: all there are */
};

struct maker {
    struct rng rng;
    struct site sites[SITES_MAX];
    int n_sites;
    struct faults faults;
    bool has_backup;
    char *body;
    size_t length;
    FILE *out;
};

/* In [low, high]. */
static int between(struct maker *maker, int low, int high)
{
    return low + (int)rng_below(&maker->rng, high - low + 1);
}

static bool chance(struct maker *maker, int percent)
{
    return rng_percent(&maker->rng, percent);
}

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

__attribute__((format(printf, 2, 3))) static void say(struct maker *maker,
                                                      const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vfprintf(maker->out, format, args);
    va_end(args);
}

/* ---- sites ---------------------------------------------------------------------- */

static int other_site(struct maker *maker, int than)
{
    int site = between(maker, 0, maker->n_sites - 2);

    return site + (site >= than);
}

static void choose_consumers(struct maker *maker, int self, struct policy *policy)
{
    policy->n_consumers = 1;
    policy->consumers[0] = other_site(maker, self);
    policy->shares[0] = between(maker, 1, 3);
    /* what is shared host by host has one consumer */
    if (maker->n_sites > 2 && (!policy->is_shared || !policy->n_slots) &&
        chance(maker, 30)) {
        policy->consumers[1] = other_site(maker, self);
        policy->shares[1] = between(maker, 1, 3);
        policy->n_consumers += policy->consumers[1] != policy->consumers[0];
    }
}

/* Lends `n_hosts` hosts from `first`; of the site's first one a slot stays behind. */
static void choose_policy(struct maker *maker, int self, int first, int n_hosts)
{
    struct site *site = &maker->sites[self];
    struct policy *policy = &site->policies[site->n_policies];
    int least = SLOTS_OF_HOST_MAX;

    *policy = (struct policy){.first_host = first, .n_hosts = n_hosts};
    for (int i = first; i < first + n_hosts; i++) {
        int spare = site->slots[i] - (i == 0);
        least = spare < least ? spare : least;
    }
    if (least < 1) {
        return;
    }
    policy->is_named = chance(maker, 70);
    policy->is_shared = chance(maker, 70);
    policy->is_demand = policy->is_shared && chance(maker, 40);
    policy->n_slots = first > 0 && chance(maker, 15) ? 0 : between(maker, 1, least);
    policy->min_hold_s = chance(maker, 20) ? between(maker, 5, 30) : 0;
    policy->lease_term_s = chance(maker, 50) ? between(maker, 5, 90) : 0;
    choose_consumers(maker, self, policy);
    site->n_policies++;
    for (int i = first; i < first + n_hosts; i++) {
        site->n_private -= policy->n_slots ? policy->n_slots : site->slots[i];
    }
    for (int i = 0; policy->n_slots && i < policy->n_consumers; i++) {
        maker->sites[policy->consumers[i]].can_borrow |= policy->n_consumers == 1;
    }
}

static void choose_site(struct maker *maker, int self)
{
    struct site *site = &maker->sites[self];
    int first = 0;

    site->n_hosts = between(maker, 1, HOSTS_OF_SITE_MAX);
    for (int i = 0; i < site->n_hosts; i++) {
        site->slots[i] = between(maker, 1, SLOTS_OF_HOST_MAX);
        site->n_private += site->slots[i];
    }
    site->reclaim_s = chance(maker, 90) ? between(maker, 1, 30) : 0;
    site->freeze_s = chance(maker, 60) ? between(maker, 1, 10) : 0;
    site->has_urgent = chance(maker, 40);
    if (chance(maker, 75)) {
        for (int i = 0; i < POLICIES_MAX && first < site->n_hosts; i++) {
            int n_hosts = between(maker, 1, site->n_hosts - first);
            choose_policy(maker, self, first, n_hosts);
            first += n_hosts;
        }
    }
}

/* ---- their files ---------------------------------------------------------------- */

static void write_policy(struct maker *maker, int self, int place)
{
    const struct policy *policy = &maker->sites[self].policies[place];

    say(maker, "Begin HostExport\n");
    if (policy->is_named) {
        say(maker, "NAME = p%d\n", place + 1);
    }
    if (policy->n_slots) {
        say(maker, "PER_HOST =");
        for (int i = 0; i < policy->n_hosts; i++) {
            say(maker, " h%d%d", self + 1, policy->first_host + i + 1);
        }
        say(maker, "\nSLOTS = %d\n", policy->n_slots);
    } else {
        say(maker, "RES_SELECT = lend%d\nNHOSTS = %d\n", place + 1, policy->n_hosts);
    }
    if (policy->is_shared) {
        say(maker, "TYPE = shared\n");
    }
    if (policy->is_demand) {
        say(maker, "RECLAIM_POLICY = demand\n");
    }
    if (policy->min_hold_s) {
        say(maker, "MIN_HOLD = %ds\n", policy->min_hold_s);
    }
    if (policy->lease_term_s) {
        say(maker, "LEASE_TERM = %ds\n", policy->lease_term_s);
    }
    say(maker, "DISTRIBUTION = (");
    for (int i = 0; i < policy->n_consumers; i++) {
        say(maker, "%s[s%d, %d]", i ? " " : "", policy->consumers[i] + 1,
            policy->shares[i]);
    }
    say(maker, ")\nEnd HostExport\n");
}

static int policy_of_host(const struct site *site, int host)
{
    for (int i = 0; i < site->n_policies; i++) {
        const struct policy *policy = &site->policies[i];
        if (host >= policy->first_host && host < policy->first_host + policy->n_hosts) {
            return i + 1;
        }
    }
    return 0;
}

static void write_queues(struct maker *maker, const struct site *site)
{
    static const char *const normal[] = {"all allremote", "all allremote+1",
                                         "others+1 allremote", "all"};

    say(maker,
        "Begin Queue\nQUEUE_NAME = normal\nPRIORITY = 30\nHOSTS = %s\nEnd Queue\n",
        normal[between(maker, 0, 3)]);
    if (site->has_urgent) {
        say(maker, "Begin Queue\nQUEUE_NAME = urgent\nPRIORITY = 60\nHOSTS = all\n"
                   "End Queue\n");
    }
    if (site->has_far) {
        say(maker, "Begin Queue\nQUEUE_NAME = far\nPRIORITY = 20\nHOSTS = allremote\n"
                   "End Queue\n");
    }
}

static void write_site(struct maker *maker, int self)
{
    const struct site *site = &maker->sites[self];

    say(maker, "Begin Site\nNAME = s%d\n", self + 1);
    if (site->freeze_s) {
        say(maker, "FREEZE_TIMEOUT = %ds\n", site->freeze_s);
    }
    say(maker, "End Site\n");
    if (site->reclaim_s) {
        say(maker, "Begin Parameters\nMC_RECLAIM_DELAY = %ds\nEnd Parameters\n",
            site->reclaim_s);
    }
    say(maker, "Begin Host\nHOST_NAME MXJ RESOURCES\n");
    for (int i = 0; i < site->n_hosts; i++) {
        int policy = policy_of_host(site, i);
        say(maker, "h%d%d %d ", self + 1, i + 1, site->slots[i]);
        if (policy && !site->policies[policy - 1].n_slots) {
            say(maker, "(lend%d)\n", policy);
        } else {
            say(maker, "-\n");
        }
    }
    say(maker, "End Host\n");
    write_queues(maker, site);
    for (int i = 0; i < site->n_policies; i++) {
        write_policy(maker, self, i);
    }
}

/* ---- what happens --------------------------------------------------------------- */

static void choose_faults(struct maker *maker)
{
    static const struct faults kinds[] = {
        {.sudden = 0},                        /* users and policies alone */
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
         .sudden = 4},  /* late only */
        {.sudden = 25}, /* what a person would write down */
    };

    maker->faults = kinds[between(maker, 0, 5)];
    maker->faults.batch = chance(maker, 40) ? between(maker, 1, 3) : 0;
}

static void write_submit(struct maker *maker, int self)
{
    struct site *site = &maker->sites[self];
    int most = site->n_private < 3 ? site->n_private : 3;
    int n_slots = chance(maker, 70) || most < 2 ? 1 : between(maker, 1, most);
    int run_s = between(maker, 1, 40);
    int count = chance(maker, 40) ? between(maker, 1, 8) : 0;
    const char *queue = "normal";

    if (site->has_far && chance(maker, 25)) {
        queue = "far";
        n_slots = 1;
    } else if (site->has_urgent && chance(maker, 25)) {
        queue = "urgent";
    }
    say(maker, "submit s%d queue=%s slots=%d run=%ds name=j%d", self + 1, queue,
        n_slots, run_s, site->n_jobs + 1);
    if (count) {
        say(maker, " count=%d", count);
    }
    if (chance(maker, 30)) {
        say(maker, " rerun=yes");
    }
    if (chance(maker, 10)) {
        say(maker, " limit=%ds", between(maker, 1, 40));
    }
    if (chance(maker, 10)) {
        say(maker, " exit=%d", between(maker, 1, 3));
    }
    say(maker, "\n");
    site->sizes[site->n_jobs++] = count;
    site->work_left_s -= n_slots * run_s * (count ? count : 1);
}

static bool may_submit(const struct site *site)
{
    return site->n_jobs < DISTURBED_S && site->work_left_s > 0;
}

static void write_control(struct maker *maker, int self)
{
    static const char *const verbs[] = {"kill", "stop", "resume"};
    const struct site *site = &maker->sites[self];
    int job = between(maker, 0, site->n_jobs - 1);

    say(maker, "%s s%d j%d", verbs[between(maker, 0, 2)], self + 1, job + 1);
    if (site->sizes[job] && chance(maker, 80)) {
        say(maker, "[%d]", between(maker, 1, site->sizes[job]));
    }
    say(maker, "\n");
}

static void write_reclaim(struct maker *maker, int self)
{
    const struct site *site = &maker->sites[self];
    int policy = site->n_policies ? between(maker, 0, site->n_policies - 1) : -1;

    if (chance(maker, 20)) {
        say(maker, "set reclaim_delay default");
    } else {
        say(maker, "set reclaim_delay %ds", between(maker, 1, 30));
    }
    if (policy >= 0 && chance(maker, 40)) {
        say(maker, " lease=s%d/%s%d/s%d\n", self + 1,
            site->policies[policy].is_named ? "p" : "", policy + 1,
            site->policies[policy].consumers[0] + 1);
    } else if (chance(maker, 70)) {
        say(maker, " provider=s%d\n", self + 1);
    } else {
        say(maker, "\n");
    }
}

/* Hosts shrink, grow and go. */
static void write_slots(struct maker *maker, int self)
{
    struct site *site = &maker->sites[self];
    int host = between(maker, 0, site->n_hosts - 1);

    site->is_changed[host] = true;
    say(maker, "slots s%d h%d%d %d\n", self + 1, self + 1, host + 1,
        between(maker, 0, site->slots[host] + 2));
}

static void write_fault(struct maker *maker, int self)
{
    switch (between(maker, 0, 4)) {
    case 0:
    case 1:
        say(maker, "partition s%d %ds\n", self + 1, between(maker, 1, 60));
        break;
    case 2:
        say(maker, "crash s%d %ds\n", self + 1, between(maker, 1, 20));
        break;
    case 3:
        say(maker, "crash broker %ds\n", between(maker, 1, 20));
        break;
    default:
        if (maker->has_backup && chance(maker, 50)) {
            say(maker, "restore broker %ds\n", between(maker, 1, 5));
        } else {
            say(maker, "backup broker\n");
            maker->has_backup = true;
        }
        break;
    }
}

static void write_statement(struct maker *maker, int at_s)
{
    int self = between(maker, 0, maker->n_sites - 1);
    const struct site *site = &maker->sites[self];
    int what = between(maker, 0, 99);

    say(maker, "at %d ", at_s);
    if (what < maker->faults.sudden) {
        write_fault(maker, self);
    } else if (site->n_jobs == 0 || (what < 90 && may_submit(site))) {
        write_submit(maker, self);
    } else if (what < 96) {
        write_control(maker, self);
    } else if (what < 98) {
        write_reclaim(maker, self);
    } else {
        write_slots(maker, self);
    }
}

static void write_faults(struct maker *maker, int at_s, bool is_on)
{
    const struct faults *faults = &maker->faults;

    if (faults->batch) {
        say(maker, "at %d batch %d\n", at_s, is_on ? faults->batch : 0);
    }
    if (faults->loss) {
        say(maker, "at %d loss %s\n", at_s, is_on ? faults->loss : "0");
    }
    if (faults->repeat) {
        say(maker, "at %d repeat %s\n", at_s, is_on ? faults->repeat : "0");
    }
    if (faults->delay_s) {
        say(maker, "at %d delay %d\n", at_s, is_on ? faults->delay_s : 0);
    }
    if (faults->reorder_s) {
        say(maker, "at %d reorder %d\n", at_s, is_on ? faults->reorder_s : 0);
    }
    if (faults->crashes) {
        say(maker, "at %d crashes %s\n", at_s, is_on ? faults->crashes : "0");
    }
}

static void write_repairs(struct maker *maker, int at_s)
{
    for (int i = 0; i < maker->n_sites; i++) {
        for (int j = 0; j < maker->sites[i].n_hosts; j++) {
            if (maker->sites[i].is_changed[j]) {
                say(maker, "at %d slots s%d h%d%d %d\n", at_s, i + 1, i + 1, j + 1,
                    maker->sites[i].slots[j]);
            }
        }
    }
}

static void write_scenario(struct maker *maker)
{
    int at_s = 0;

    for (int i = 0; i < maker->n_sites; i++) {
        say(maker, "site s%d s%d.conf\n", i + 1, i + 1);
    }
    write_faults(maker, 0, true);
    while (at_s < DISTURBED_S) {
        write_statement(maker, at_s);
        /* often more than one at an instant */
        at_s += chance(maker, 30) ? 0 : between(maker, 0, 8 - maker->n_sites / 2);
    }
    write_faults(maker, DISTURBED_S, false);
    write_repairs(maker, DISTURBED_S);
    say(maker, "until %d\n", DISTURBED_S + CALM_S);
}

void maker_make(uint64_t seed, struct texts *texts)
{
    struct maker maker = {.n_sites = 0};

    texts->count = 0;
    rng_init(&maker.rng, seed * 7919 + 1);
    maker.n_sites = chance(&maker, 60) ? between(&maker, 2, 3) : between(&maker, 2, 8);
    choose_faults(&maker);
    for (int i = 0; i < maker.n_sites; i++) {
        choose_site(&maker, i);
    }
    for (int i = 0; i < maker.n_sites; i++) {
        char name[TEXT_NAME_SIZE];
        struct site *site = &maker.sites[i];

        site->work_left_s = DRAINED_S * site->n_private;
        /* a job of this queue runs on leased slots or never */
        site->has_far = site->can_borrow && chance(&maker, 40);
        snprintf(name, sizeof name, "s%d.conf", i + 1);
        open_text(&maker);
        write_site(&maker, i);
        close_text(&maker, texts, name);
    }
    open_text(&maker);
    write_scenario(&maker);
    close_text(&maker, texts, TEXTS_SCENARIO);
}
