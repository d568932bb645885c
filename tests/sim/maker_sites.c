/* SPDX-License-Identifier: Apache-2.0 */
/* maker_sites.c: sites with hosts, queues and export policies of all kinds. */
#include "tests/sim/maker_parts.h"

#include <stdarg.h>

int maker_between(struct maker *maker, int low, int high)
{
    return low + (int)rng_below(&maker->rng, high - low + 1);
}

bool maker_chance(struct maker *maker, int percent)
{
    return rng_percent(&maker->rng, percent);
}

void maker_say(struct maker *maker, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vfprintf(maker->out, format, args);
    va_end(args);
}

/* ---- sites */

static int other_site(struct maker *maker, int than)
{
    int site = maker_between(maker, 0, maker->n_sites - 2);

    return site + (site >= than);
}

static void choose_consumers(struct maker *maker, int self, struct maker_policy *policy)
{
    policy->n_consumers = 1;
    policy->consumers[0] = other_site(maker, self);
    policy->shares[0] = maker_between(maker, 1, 3);
    /* a policy per host has one consumer */
    if (maker->n_sites > 2 && (!policy->is_shared || !policy->n_slots) &&
        maker_chance(maker, 30)) {
        policy->consumers[1] = other_site(maker, self);
        policy->shares[1] = maker_between(maker, 1, 3);
        policy->n_consumers += policy->consumers[1] != policy->consumers[0];
    }
}

/* Lends `n_hosts` hosts from `first`. One slot of the site's first host is not lent. */
static void choose_policy(struct maker *maker, int self, int first, int n_hosts)
{
    struct maker_site *site = &maker->sites[self];
    struct maker_policy *policy = &site->policies[site->n_policies];
    int least = SLOTS_OF_HOST_MAX;

    *policy = (struct maker_policy){.first_host = first, .n_hosts = n_hosts};
    for (int i = first; i < first + n_hosts; i++) {
        int spare = site->slots[i] - (i == 0);
        least = spare < least ? spare : least;
    }
    if (least < 1) {
        return;
    }
    policy->is_named = maker_chance(maker, 70);
    policy->is_shared = maker_chance(maker, 70);
    policy->is_demand = policy->is_shared && maker_chance(maker, 40);
    policy->n_slots =
        first > 0 && maker_chance(maker, 25) ? 0 : maker_between(maker, 1, least);
    policy->min_hold_s = maker_chance(maker, 20) ? maker_between(maker, 5, 30) : 0;
    policy->lease_term_s = maker_chance(maker, 50) ? maker_between(maker, 5, 90) : 0;
    policy->ends_lost = policy->lease_term_s && maker_chance(maker, 40);
    policy->is_batch = maker_chance(maker, 25);
    choose_consumers(maker, self, policy);
    if (maker->has_pool && maker_chance(maker, 60)) {
        policy->is_pool = true;
        policy->is_shared = policy->is_demand = false;
        policy->n_consumers = 1;
    }
    site->n_policies++;
    for (int i = 0; policy->n_slots && !policy->is_pool && i < policy->n_consumers;
         i++) {
        maker->sites[policy->consumers[i]].can_borrow |= policy->n_consumers == 1;
    }
}

/* Shares of any kind do not change which jobs run in the end. */
static void choose_around(struct maker *maker, struct maker_site *site)
{
    site->has_commands = maker_chance(maker, 35);
    site->requeue_code = maker_chance(maker, 30) ? maker_between(maker, 1, 3) : 0;
}

static void choose_shares(struct maker *maker, struct maker_site *site)
{
    static const char *const shares[] = {
        "[default, 1]", "[ana, 3] [lab, 2] [others, 1]",
        "[lab, 5] [chem@, 1] [others, 1]", "[lab, 2] [bo, 1] [both, 3] [default, 1]"};

    site->has_pool = maker_chance(maker, 35);
    site->shares = maker_chance(maker, 35) ? shares[maker_between(maker, 0, 3)] : NULL;
}

int maker_private_on(const struct maker_site *site, int host)
{
    int n_slots = site->slots[host];
    for (int i = 0; i < site->n_policies; i++) {
        const struct maker_policy *policy = &site->policies[i];
        if (host >= policy->first_host && host < policy->first_host + policy->n_hosts) {
            n_slots = policy->n_slots ? n_slots - policy->n_slots : 0;
        }
    }
    int limit = site->limits[host];
    return limit > 0 && limit < n_slots ? limit : n_slots;
}

/* Limits of hosts bound slot pools too. */
static void choose_limits(struct maker *maker, struct maker_site *site)
{
    bool has_limits = maker_chance(maker, site->has_pool ? 40 : 10);
    site->limits_together = maker_chance(maker, 40);
    site->n_private = 0;
    for (int i = 0; i < site->n_hosts; i++) {
        if (has_limits && maker_chance(maker, 60)) {
            site->limits[i] = maker_between(maker, 1, site->slots[i]);
        }
        site->n_private += maker_private_on(site, i);
    }
}

void maker_choose_site(struct maker *maker, int self)
{
    struct maker_site *site = &maker->sites[self];
    int first = 0;

    site->n_hosts = maker_between(maker, 1, HOSTS_OF_SITE_MAX);
    for (int i = 0; i < site->n_hosts; i++) {
        site->slots[i] = maker_between(maker, 1, SLOTS_OF_HOST_MAX);
    }
    site->reclaim_s = maker_chance(maker, 90) ? maker_between(maker, 1, 30) : 0;
    site->freeze_s = maker_chance(maker, 60) ? maker_between(maker, 1, 10) : 0;
    site->has_urgent = maker_chance(maker, 40);
    site->reserves_slots = maker_chance(maker, 40);
    site->preempts = maker_chance(maker, 50);
    site->resizes = maker_chance(maker, 50);
    choose_shares(maker, site);
    choose_around(maker, site);
    if (maker_chance(maker, 75)) {
        for (int i = 0; i < POLICIES_MAX && first < site->n_hosts; i++) {
            int n_hosts = maker_between(maker, 1, site->n_hosts - first);
            choose_policy(maker, self, first, n_hosts);
            first += n_hosts;
        }
    }
    choose_limits(maker, site);
    maker_choose_grants(maker, site);
    site->counts_cpus = maker_chance(maker, 20);
    /* The invariant does not divide run queues by CPUs. */
    site->has_thresholds =
        maker->has_loads && !site->counts_cpus && maker_chance(maker, 70);
    for (int i = 0; i < site->n_hosts; i++) {
        site->cpus[i] = site->slots[i];
    }
}

/* ---- their files */

static void write_policy(struct maker *maker, int self, int place)
{
    const struct maker_policy *policy = &maker->sites[self].policies[place];

    maker_say(maker, "Begin HostExport\n");
    if (policy->is_named) {
        maker_say(maker, "NAME = p%d\n", place + 1);
    }
    if (policy->n_slots) {
        maker_say(maker, "PER_HOST =");
        for (int i = 0; i < policy->n_hosts; i++) {
            maker_say(maker, " h%d%d", self + 1, policy->first_host + i + 1);
        }
        maker_say(maker, "\nSLOTS = %d\n", policy->n_slots);
    } else {
        static const char *const also[] = {"", " && type == any", " && !defined(lic)",
                                           " && maxmem > 0", " && maxmem > 200"};
        maker_say(maker, "RES_SELECT = lend%d%s\nNHOSTS = %d\n", place + 1,
                  also[maker_between(maker, 0, 4)], policy->n_hosts);
    }
    if (policy->is_shared) {
        maker_say(maker, "TYPE = shared\n");
    }
    if (policy->is_demand) {
        maker_say(maker, "RECLAIM_POLICY = demand\n");
    }
    if (policy->min_hold_s) {
        maker_say(maker, "MIN_HOLD = %ds\n", policy->min_hold_s);
    }
    if (policy->lease_term_s) {
        maker_say(maker, "LEASE_TERM = %ds\n", policy->lease_term_s);
    }
    if (policy->ends_lost) {
        maker_say(maker, "ON_LOST = kill\n");
    }
    if (policy->is_batch) {
        maker_say(maker, "INTERACTIVE = N\n");
    }
    if (policy->mem) {
        maker_say(maker, "MEM = %d\n", policy->mem);
    }
    if (policy->swap) {
        maker_say(maker, "%s = %d\n", place % 2 ? "SWP" : "SWAP", policy->swap);
    }
    if (policy->is_pool) {
        maker_say(maker, "DISTRIBUTION = ([pool:p])\nEnd HostExport\n");
        return;
    }
    if (place % 2 == 0) {
        maker_say(maker, "PRICE = %d\nHOURS = %d\n", place + 1,
                  maker->has_hours && maker_chance(maker, 50)
                      ? maker_between(maker, 1, 8)
                      : 1000);
    }
    maker_say(maker, "DISTRIBUTION = (");
    for (int i = 0; i < policy->n_consumers; i++) {
        maker_say(maker, "%s[s%d, %d]", i ? " " : "", policy->consumers[i] + 1,
                  policy->shares[i]);
    }
    maker_say(maker, ")\nEnd HostExport\n");
}

static int policy_of_host(const struct maker_site *site, int host)
{
    for (int i = 0; i < site->n_policies; i++) {
        const struct maker_policy *policy = &site->policies[i];
        if (host >= policy->first_host && host < policy->first_host + policy->n_hosts) {
            return i + 1;
        }
    }
    return 0;
}

static void write_preemption(struct maker *maker, const struct maker_site *site,
                             const char *queue)
{
    static const char *const higher[] = {"PREEMPTIVE", "PREEMPTIVE[normal]",
                                         "PREEMPTIVE PREEMPTABLE"};

    if (!site->preempts) {
        return;
    }
    if (queue[0] == 'f' || maker_chance(maker, 40)) {
        maker_say(maker, "PREEMPTION = PREEMPTABLE\n");
    } else {
        bool is_urgent = queue[0] == 'u';
        maker_say(maker, "PREEMPTION = %s\n",
                  higher[is_urgent ? maker_between(maker, 0, 2) : 0]);
    }
    if (maker_chance(maker, 25)) {
        maker_say(maker, "MAX_JOB_PREEMPT = %d\n", maker_between(maker, 1, 3));
    }
    if (maker_chance(maker, 15)) {
        maker_say(maker, "NO_PREEMPT_INTERVAL = %ds\n", maker_between(maker, 1, 5));
    }
    if (maker_chance(maker, 10)) {
        maker_say(maker, "PREEMPT_DELAY = %d\n", maker_between(maker, 1, 5));
    }
    if (maker_chance(maker, 15)) {
        maker_say(maker, "UJOB_LIMIT = 3\n");
    }
}

static void write_reserving(struct maker *maker, const struct maker_site *site)
{
    if (site->reserves_slots && maker_chance(maker, 60)) {
        maker_say(maker, "%s = MAX_RESERVE_TIME[%d]\n",
                  maker_chance(maker, 50) ? "SLOT_RESERVE" : "RESOURCE_RESERVE",
                  maker_between(maker, 1, 20));
    }
    if (site->reserves_slots && maker_chance(maker, 60)) {
        maker_say(maker, "BACKFILL = Y\n");
        if (maker_chance(maker, 40)) {
            maker_say(maker, "RUNLIMIT = %d\nINTERRUPTIBLE_BACKFILL = %d\n",
                      maker_between(maker, 1, 3), maker_between(maker, 1, 10));
        }
    }
}

/* Windows close while users and faults are active, and are open at the end. */
static const char *const windows[] = {"0:01-0:03 0:04-24", "0:00-0:02 0:03-24",
                                      "0:00-0:01 0:02-0:03 0:05-24"};

static void write_windows(struct maker *maker)
{
    if (maker_chance(maker, 15)) {
        maker_say(maker, "%s = %s\n",
                  maker_chance(maker, 80) ? "RUN_WINDOW" : "DISPATCH_WINDOW",
                  windows[maker_between(maker, 0, 2)]);
    }
    if (maker_chance(maker, 15)) {
        static const char *const whens[] = {"PREEMPT", "WINDOW", "PREEMPT WINDOW",
                                            "LOAD", "LOAD WINDOW"};
        maker_say(maker, "TERMINATE_WHEN = %s\n", whens[maker_between(maker, 0, 4)]);
    }
}

static void write_around(struct maker *maker, const struct maker_site *site)
{
    static const char *const controls[] = {
        "SUSPEND[/save]", "SUSPEND[/save $LSB_JOBPIDS] TERMINATE[/leave]",
        "RESUME[/wake] TERMINATE[/leave]", "SUSPEND[TSTP] TERMINATE[TERM]"};

    if (site->requeue_code) {
        maker_say(maker,
                  maker_chance(maker, 50) ? "REQUEUE_EXIT_VALUES = %d\n"
                                          : "REQUEUE_EXIT_VALUES = EXCLUDE(%d)\n",
                  site->requeue_code);
        maker_say(maker, "MAX_JOB_REQUEUE = %d\n", maker_between(maker, 1, 3));
    }
    if (!site->has_commands) {
        return;
    }
    if (maker_chance(maker, 50)) {
        maker_say(maker, "PRE_EXEC = /in\n");
    }
    if (maker_chance(maker, 50)) {
        maker_say(maker, "POST_EXEC = /out\n");
    }
    if (maker_chance(maker, 50)) {
        maker_say(maker, "JOB_CONTROLS = %s\n", controls[maker_between(maker, 0, 3)]);
    }
}

static void write_host_window(struct maker *maker, int chance)
{
    if (maker_chance(maker, chance)) {
        maker_say(maker, " (%s)", windows[maker_between(maker, 0, 2)]);
    } else {
        maker_say(maker, " -");
    }
}

/* None of these thresholds is reached on an idle host, and at the end all are idle. */
static void write_thresholds(struct maker *maker, const struct maker_site *site)
{
    static const char *const indices[] = {"pg = 10/20", "pg = 20", "r1m = /3",
                                          "it = 1/1"};

    if (site->has_thresholds && maker_chance(maker, 50)) {
        maker_say(maker, "%s\n", indices[maker_between(maker, 0, 3)]);
    }
    if (site->has_thresholds && maker_chance(maker, 20)) {
        maker_say(maker, "STOP_COND = select[pg > 30 && r1m > 2]\n");
    }
    if (site->has_thresholds && maker_chance(maker, 20)) {
        maker_say(maker, "RESUME_COND = pg < 20 || r1m == 0\n");
    }
}

static void write_host_threshold(struct maker *maker, const struct maker_site *site)
{
    static const char *const lengths[] = {"2/4", "3", "/2", "()"};

    if (site->has_thresholds) {
        maker_say(maker, " %s", lengths[maker_between(maker, 0, 3)]);
    }
}

static void write_pace(struct maker *maker)
{
    if (maker_chance(maker, 8)) {
        maker_say(maker, "JOB_ACCEPT_INTERVAL = %ds\n", maker_between(maker, 1, 20));
    }
}

/* A queue of a slot pool neither preempts nor is preempted. */
static void write_sharing(struct maker *maker, const struct maker_site *site,
                          const char *queue)
{
    if (site->has_pool) {
        maker_say(maker, "SLOT_POOL = A\nSLOT_SHARE = %d\nUSE_PRIORITY_IN_POOL = %s\n",
                  maker_between(maker, 10, 90), maker_chance(maker, 50) ? "Y" : "N");
    } else {
        write_preemption(maker, site, queue);
    }
    write_windows(maker);
    write_around(maker, site);
    write_thresholds(maker, site);
    write_pace(maker);
    write_reserving(maker, site);
}

static void write_queues(struct maker *maker, const struct maker_site *site)
{
    static const char *const normal[] = {"all allremote", "all allremote+1",
                                         "others+1 allremote", "all"};
    const char *hosts = normal[maker_between(maker, 0, 3)];

    if (site->shares) {
        maker_say(maker, "Begin UserGroup\nGROUP_NAME GROUP_MEMBER USER_SHARES\n"
                         "lab (bo cy) ([bo, 2] [cy, 1])\nchem (dan eve) ()\n"
                         "both (bo dan flo) ()\n"
                         "End UserGroup\n");
    }
    maker_say(maker,
              "Begin Queue\nQUEUE_NAME = normal\nPRIORITY = 30\nHOSTS = %s\n"
              "EXCLUSIVE = Y\nPLACEMENT = balanced\n",
              hosts);
    if (site->shares) {
        maker_say(maker, "FAIRSHARE = USER_SHARES[%s]\n", site->shares);
    }
    write_sharing(maker, site, "normal");
    maker_say(maker, "End Queue\n");
    if (site->has_urgent) {
        maker_say(maker,
                  "Begin Queue\nQUEUE_NAME = urgent\nPRIORITY = 60\nHOSTS = %s\n"
                  "EXCLUSIVE = Y\n",
                  site->has_pool ? hosts : "all");
        write_sharing(maker, site, "urgent");
        maker_say(maker, "End Queue\n");
    }
    if (site->has_far) {
        maker_say(maker,
                  "Begin Queue\nQUEUE_NAME = far\nPRIORITY = 20\nHOSTS = allremote\n"
                  "EXCLUSIVE = Y\n");
        write_preemption(maker, site, "far");
        write_windows(maker);
        write_around(maker, site);
        write_thresholds(maker, site);
        write_pace(maker);
        maker_say(maker, "End Queue\n");
    }
}

static void write_limit(struct maker *maker, int number, const char *hosts, int n_slots)
{
    maker_say(maker, "Begin Limit\nNAME = m%d\nHOSTS = %s\nSLOTS = %d\nEnd Limit\n",
              number, hosts, n_slots);
}

static void write_limits(struct maker *maker, int self)
{
    const struct maker_site *site = &maker->sites[self];
    int n_slots = 0;

    for (int i = 0; i < site->n_hosts; i++) {
        char host[16];

        snprintf(host, sizeof host, "h%d%d", self + 1, i + 1);
        if (site->limits[i] > 0 && !site->limits_together) {
            write_limit(maker, i + 1, host, site->limits[i]);
        }
        n_slots += site->limits[i];
    }
    if (n_slots == 0 || !site->limits_together) {
        return;
    }
    maker_say(maker, "Begin HostGroup\nGROUP_NAME GROUP_MEMBER\nsome (");
    for (int i = 0; i < site->n_hosts; i++) {
        if (site->limits[i] > 0) {
            maker_say(maker, " h%d%d", self + 1, i + 1);
        }
    }
    maker_say(maker, ")\nEnd HostGroup\n");
    write_limit(maker, 1, "some", n_slots);
}

void maker_write_site(struct maker *maker, int self)
{
    static const char *const kinds[] = {"LEAST_RUN_TIME", "MINI_JOB",
                                        "OPTIMAL_MINI_JOB", "HOST_JLU MINI_JOB"};
    const struct maker_site *site = &maker->sites[self];

    maker_say(maker, "Begin Site\nNAME = s%d\n", self + 1);
    if (site->freeze_s) {
        maker_say(maker, "FREEZE_TIMEOUT = %ds\n", site->freeze_s);
    }
    maker_say(maker, "End Site\n");
    maker_say(maker, "Begin Parameters\n");
    if (site->reclaim_s) {
        maker_say(maker, "MC_RECLAIM_DELAY = %ds\n", site->reclaim_s);
    }
    if (site->preempts && maker_chance(maker, 50)) {
        maker_say(maker, "PREEMPT_FOR = %s\n", kinds[maker_between(maker, 0, 3)]);
    }
    /* A suspended job could wait for ever for what a lease has got since. */
    if (site->preempts && !site->licences.is_otherwise &&
        site->licences.n_instances == 0 && maker_chance(maker, 50)) {
        maker_say(maker, "PREEMPTABLE_RESOURCES = lic\n");
    }
    if (site->preempts && maker_chance(maker, 50)) {
        static const char *const types[] = {"EXCLUSIVE", "BACKFILL",
                                            "EXCLUSIVE BACKFILL"};
        maker_say(maker, "PREEMPT_JOBTYPE = %s\n", types[maker_between(maker, 0, 2)]);
    }
    if (site->reserves_slots) {
        maker_say(maker, "MBD_SLEEP_TIME = %d\n", maker_between(maker, 1, 5));
    }
    if (site->has_thresholds && maker_chance(maker, 70)) {
        maker_say(maker, "SBD_SLEEP_TIME = %d\n", maker_between(maker, 7, 25));
    }
    maker_say(maker, "End Parameters\n");
    maker_say(maker,
              "Begin Host\nHOST_NAME MXJ RESOURCES RUNWINDOW DISPATCH_WINDOW%s\n",
              site->has_thresholds ? " r1m" : "");
    for (int i = 0; i < site->n_hosts; i++) {
        int policy = policy_of_host(site, i);
        if (site->counts_cpus) {
            maker_say(maker, "h%d%d ! ", self + 1, i + 1);
        } else {
            maker_say(maker, "h%d%d %d ", self + 1, i + 1, site->slots[i]);
        }
        if (policy && !site->policies[policy - 1].n_slots) {
            maker_say(maker, "(lend%d)", policy);
        } else {
            maker_say(maker, "-");
        }
        write_host_window(maker, 8);
        write_host_window(maker, 8);
        write_host_threshold(maker, site);
        maker_say(maker, "\n");
    }
    maker_say(maker, "End Host\n");
    write_limits(maker, self);
    maker_write_resources(maker, self);
    write_queues(maker, site);
    for (int i = 0; i < site->n_policies; i++) {
        write_policy(maker, self, i);
    }
    maker_write_shared(maker, self);
}

static void change_policy(struct maker *maker, struct maker_site *site, int place)
{
    struct maker_policy *policy = &site->policies[place];

    if (policy->n_slots) {
        int least = SLOTS_OF_HOST_MAX;

        for (int i = policy->first_host; i < policy->first_host + policy->n_hosts;
             i++) {
            int spare = site->slots[i] - (i == 0);
            least = spare < least ? spare : least;
        }
        policy->n_slots = maker_between(maker, 1, least);
    }
    policy->is_demand = policy->is_shared && maker_chance(maker, 40);
    policy->min_hold_s = maker_chance(maker, 20) ? maker_between(maker, 5, 30) : 0;
    policy->lease_term_s = maker_chance(maker, 50) ? maker_between(maker, 5, 90) : 0;
    policy->ends_lost = policy->lease_term_s && maker_chance(maker, 40);
    policy->is_batch = maker_chance(maker, 25);
}

void maker_write_other_site(struct maker *maker, int self)
{
    struct maker_site *site = &maker->sites[self], before = *site;

    site->reclaim_s = maker_chance(maker, 90) ? maker_between(maker, 1, 30) : 0;
    for (int i = 0; i < site->n_policies; i++) {
        if (maker_chance(maker, 60)) {
            change_policy(maker, site, i);
        }
    }
    maker_choose_grants(maker, site);
    site->n_policies -= site->n_policies > 0 && maker_chance(maker, 30);
    bool has_more = site->n_hosts < HOSTS_OF_SITE_MAX && maker_chance(maker, 40);
    if (has_more) {
        site->slots[site->n_hosts++] = maker_between(maker, 1, SLOTS_OF_HOST_MAX);
    } else if (site->n_hosts > 1 && policy_of_host(site, site->n_hosts - 1) == 0 &&
               maker_chance(maker, 40)) {
        site->n_hosts--;
    }
    maker_write_site(maker, self);
    *site = before;
    site->has_more = has_more;
}

void maker_write_broker(struct maker *maker, int but)
{
    maker_say(maker, "Begin Broker\nEnd Broker\nBegin Member\nNAME ROLES\n");
    for (int i = 1; i <= maker->n_sites; i++) {
        if (i != but) {
            maker_say(maker, "s%d (provider consumer)\n", i);
        }
    }
    maker_say(maker, "End Member\n");
}
