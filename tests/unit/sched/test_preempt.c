/* SPDX-License-Identifier: Apache-2.0 */
/* test_preempt.c: reads tests/data/preempt.rows and holds the plan to them; then how
 * PREEMPTION and the parameters around it are read, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sched/limit/limit.h"
#include "sched/preempt/preempt.h"
#include "sched/preempt/preempt_resources.h"

enum { LINE_SIZE = 512, CONF_SIZE = 8192, HOSTS = 8, JOBS = 16, NOW_MIN = 100 };

#define MINUTE_MS INT64_C(60000)

static const char rows_path[] = "tests/data/preempt.rows";
static const char *const own_hosts[] = {"n1", "n2"};

/* ---------------------------------------------------------------- configuration */

struct world {
    struct arena arena;
    struct conf conf;
    struct groups groups;
    struct queue_config *queues;
    int n_queues;
    struct preempt_policy rules;
    const struct limit *limits;
    int n_limits;
};

static void world_read(struct world *world, const char *text)
{
    arena_init(&world->arena);
    conf_init(&world->conf, &world->arena);
    conf_read(&world->conf, "lsb.queues", text, strlen(text));
    conf_check(&world->conf);
    groups_read(&world->conf, own_hosts, 2, &world->groups);
    queue_read(&world->conf, &world->groups, &world->queues, &world->n_queues);
    preempt_policy_read(&world->conf, world->queues, world->n_queues, &world->rules);
    limit_config_read(&world->conf, &world->groups, &world->limits, &world->n_limits);
}

static int find_queue(const struct world *world, const char *name)
{
    for (int i = 0; i < world->n_queues; i++) {
        if (strcmp(world->queues[i].name, name) == 0) {
            return i;
        }
    }
    fail_msg("no queue %s", name);
    return -1;
}

/* ---------------------------------------------------------------- a row */

struct trial {
    struct world *world;
    struct limits *limits;
    struct place_host hosts[HOSTS];
    int n_hosts;
    struct preempt_job jobs[JOBS];
    struct rusage_piece *pieces[JOBS]; /* none more than there are */
    struct host_slots slots[JOBS][HOSTS];
    struct limit_owner *classes[2 * JOBS];
    const char *names[JOBS];
    int n_jobs, n_classes;
    struct place_class lines[JOBS];
    struct job_class_entry turns[JOBS];
    const struct job_class_entry *turn_of[JOBS];
    int n_lines;
    /* Licences: all hosts share them; what running jobs hold is not in `left`. */
    int64_t left;
    bool is_fixed; /* not in PREEMPTABLE_RESOURCES */
    int pool_of[HOSTS];
    struct rusage_resource kind;
    struct rusage_supply reserve;
    struct rusage_amount parts[JOBS];
    struct rusage_item ask_of[JOBS];
    struct rusage_request asks[JOBS];
};

static int number_of(const char *text)
{
    return (int)strtol(text, NULL, 10);
}

static struct limit_owner *join(struct trial *trial, const char *user, int queue)
{
    struct limit_owner *class =
        limits_join(trial->limits, user, trial->world->queues[queue].name, "default");
    trial->classes[trial->n_classes++] = class;
    return class;
}

static void add_host(struct trial *trial, char *word)
{
    char *equals = strchr(word, '=');
    *equals = '\0';
    const char *at = strchr(word, '@');
    trial->hosts[trial->n_hosts++] = (struct place_host){
        .name = word,
        .site = at != NULL ? at + 1 : "",
        .lease = at != NULL ? "north/1/south" : "",
        .max = number_of(equals + 1),
        .is_open = true,
    };
}

static int find_host(const struct trial *trial, const char *name)
{
    for (int i = 0; i < trial->n_hosts; i++) {
        if (strcmp(trial->hosts[i].name, name) == 0) {
            return i;
        }
    }
    fail_msg("no host %s", name);
    return -1;
}

/* "n1*2,n2" */
static void read_places(struct trial *trial, char *text, struct preempt_job *job)
{
    int index = (int)(job - trial->jobs);
    size_t n_pieces = 0;
    char *word;
    for (const char *at = text; at != NULL; at = strchr(at + 1, ',')) {
        n_pieces++;
    }
    job->pieces = trial->pieces[index] = mem_alloc(n_pieces, sizeof(*job->pieces));
    job->hosts = trial->slots[index];
    while ((word = strsep(&text, ",")) != NULL) {
        char *star = strchr(word, '*');
        int n_slots = star != NULL ? number_of(star + 1) : 1;
        if (star != NULL) {
            *star = '\0';
        }
        int host = find_host(trial, word);
        trial->pieces[index][job->n_pieces] = (struct rusage_piece){host, n_slots};
        trial->slots[index][job->n_pieces++] = (struct host_slots){word, n_slots};
        trial->hosts[host].used += n_slots;
        job->n_slots += n_slots;
    }
}

static void hold(struct trial *trial, struct preempt_job *job, int n_licences)
{
    struct rusage_amount *part = &trial->parts[job - trial->jobs];
    *part = (struct rusage_amount){0, n_licences * INT64_C(1000)};
    job->releases = part;
    job->n_releases = 1;
    trial->left -= part->milli;
}

/* Its hosts are its own. */
static void set_exclusive(struct trial *trial, struct preempt_job *job)
{
    job->is_exclusive = true;
    for (int i = 0; i < job->n_pieces; i++) {
        trial->hosts[job->pieces[i].host].is_used_exclusively = true;
    }
}

static const char *read_fact(struct trial *trial, char *word, struct preempt_job *job)
{
    char *equals = strchr(word, '=');
    int64_t number = number_of(equals + 1);
    *equals = '\0';
    if (strcmp(word, "user") == 0) {
        return equals + 1;
    }
    if (strcmp(word, "start") == 0) {
        job->start_ms = job->running_since_ms = number * MINUTE_MS;
    } else if (strcmp(word, "since") == 0) {
        job->running_since_ms = number * MINUTE_MS;
    } else if (strcmp(word, "ran") == 0) {
        job->ran_ms = number * MINUTE_MS;
    } else if (strcmp(word, "still") == 0) {
        job->suspended_ms = number * MINUTE_MS;
    } else if (strcmp(word, "limit") == 0) {
        job->run_limit_ms = number * MINUTE_MS;
    } else if (strcmp(word, "lic") == 0) {
        hold(trial, job, (int)number);
    } else if (strcmp(word, "times") == 0) {
        job->n_preempted = (int)number;
    } else if (strcmp(word, "x") == 0) {
        set_exclusive(trial, job);
    } else {
        fail_msg("no such fact: %s", word);
    }
    return NULL;
}

/* NAME=QUEUE:PLACES[:KEY=VALUE...] */
static void add_job(struct trial *trial, char *word)
{
    struct preempt_job *job = &trial->jobs[trial->n_jobs];
    const char *user = "eve";
    trial->names[trial->n_jobs] = strsep(&word, "=");
    job->key = (uint64_t)++trial->n_jobs;
    job->queue = find_queue(trial->world, strsep(&word, ":"));
    read_places(trial, strsep(&word, ":"), job);
    for (char *fact; (fact = strsep(&word, ":")) != NULL;) {
        const char *named = read_fact(trial, fact, job);
        user = named != NULL ? named : user;
    }
    struct limit_owner *class = join(trial, user, job->queue);
    job->limit_class = class;
    limits_count(trial->limits, class, job->hosts, job->n_pieces, false, 1);
}

/* +QUEUE*SLOTS[:user=..][:age=SECONDS][:lic=N][:x][:home] */
static void add_wanted(struct trial *trial, char *word)
{
    int index = trial->n_lines++;
    struct place_class *line = &trial->lines[index];
    char *end = strchr(word, '*');
    const char *user = "eve";
    *end = '\0';
    line->queue = find_queue(trial->world, word + 1);
    line->n_slots = number_of(end + 1);
    strsep(&end, ":"); /* behind the '*', whose place has the NUL */
    line->is_exclusive = strstr(word + strlen(word) + 1, ":x") != NULL;
    line->scope = strstr(word + strlen(word) + 1, ":home") != NULL ? HOST_SCOPE_OWN
                                                                   : HOST_SCOPE_ANY;
    for (char *rest = strchr(word + strlen(word) + 1, ':'); rest != NULL;
         rest = strchr(rest + 1, ':')) {
        static char users[JOBS][16];
        int age, n_licences;
        if (sscanf(rest, ":user=%15[a-z]", users[index]) == 1) {
            user = users[index];
        } else if (sscanf(rest, ":age=%d", &age) == 1) {
            trial->turns[index].submit_ms = NOW_MIN * MINUTE_MS - age * INT64_C(1000);
        } else if (sscanf(rest, ":lic=%d", &n_licences) == 1) {
            trial->ask_of[index] = (struct rusage_item){
                .scope = RESREQ_SCOPE_JOB, .milli = n_licences * INT64_C(1000)};
            trial->asks[index] =
                (struct rusage_request){.items = &trial->ask_of[index], .n_items = 1};
            line->rusages = &trial->asks[index];
            line->n_rusages = 1;
        }
    }
    trial->turns[index].key = (uint64_t)(1000 + index);
    trial->turn_of[index] = &trial->turns[index];
    line->entries = &trial->turn_of[index];
    line->n_entries = 1;
    line->max_starts = INT32_MAX;
    line->limit_class = join(trial, user, line->queue);
}

static void trial_read(struct trial *trial, struct world *world, char *input)
{
    char *bar = strchr(input, '|'), *word;
    *trial = (struct trial){.world = world,
                            .limits = limits_new(world->limits, world->n_limits)};
    assert_non_null(bar);
    *bar = '\0';
    while ((word = strsep(&input, " ")) != NULL) {
        if (strncmp(word, "lic=", 4) == 0) {
            trial->left = number_of(word + 4) * INT64_C(1000);
        } else if (strncmp(word, "fixed=", 6) == 0) {
            trial->left = number_of(word + 6) * INT64_C(1000);
            trial->is_fixed = true;
        } else if (strchr(word, '=') != NULL) {
            add_host(trial, word);
        }
    }
    for (input = bar + 1; (word = strsep(&input, " ")) != NULL;) {
        if (word[0] == '+') {
            add_wanted(trial, word);
        } else if (word[0] != '\0') {
            add_job(trial, word);
        }
    }
}

static void trial_free(struct trial *trial)
{
    for (int i = 0; i < trial->n_classes; i++) {
        limits_leave(trial->limits, trial->classes[i]);
    }
    for (int i = 0; i < trial->n_jobs; i++) {
        free(trial->pieces[i]);
    }
    limits_free(trial->limits);
}

static void add(char *text, const char *more)
{
    size_t length = strlen(text);
    snprintf(text + length, LINE_SIZE - length, "%s", more);
}

static void tell(const struct trial *trial, const struct place_plan *placed,
                 const struct preempt_plan *plan, char *text)
{
    text[0] = '\0';
    for (int i = 0; i < trial->n_lines; i++) {
        const struct preempt_claim *claim = NULL;
        for (int k = 0; k < plan->n_claims; k++) {
            claim = plan->claims[k].class_index == i ? &plan->claims[k] : claim;
        }
        add(text, i > 0 ? " | " : "");
        for (int k = 0; claim != NULL && k < claim->n_victims; k++) {
            add(text, k > 0 ? " " : "");
            add(text, trial->names[claim->victims[k]]);
        }
        if (claim != NULL && claim->n_victims == 0) {
            add(text, "~");
        }
        if (claim == NULL) {
            bool starts = placed->verdicts[i].reason == REASON_STARTED;
            add(text, starts ? "=" : "-");
        } else {
            assert_int_equal(placed->verdicts[i].reason, REASON_PREEMPTING);
        }
    }
}

static void run_trial(struct trial *trial, char *text)
{
    struct arena arena;
    struct place_plan placed;
    arena_init(&arena);
    trial->kind = (struct rusage_resource){"lic", RESOURCE_BUILTINS, trial->pool_of,
                                           !trial->is_fixed, NULL};
    trial->reserve = (struct rusage_supply){.resources = &trial->kind,
                                            .n_resources = 1,
                                            .left = &trial->left,
                                            .n_supplies = 1};
    struct place_snapshot place = {
        .hosts = trial->hosts,
        .n_hosts = trial->n_hosts,
        .queues = trial->world->queues,
        .n_queues = trial->world->n_queues,
        .classes = trial->lines,
        .n_classes = trial->n_lines,
        .limits = trial->limits,
        .supply = &trial->reserve,
        .now_ms = NOW_MIN * MINUTE_MS,
        .max_starts = 100,
    };
    const struct preempt_snapshot snapshot = {
        .policy = &trial->world->rules,
        .jobs = trial->jobs,
        .n_jobs = trial->n_jobs,
        .max_jobs = JOBS,
    };
    place.preempt = &snapshot;
    place_plan(&arena, &place, &placed);
    tell(trial, &placed, placed.preempt, text);
    arena_release(&arena);
}

static void judge_row(struct world *world, int number, char *line)
{
    char *tab = strchr(line, '\t'), text[LINE_SIZE], high[NAME_SIZE], low[NAME_SIZE];
    assert_non_null(tab);
    *tab = '\0';
    if (sscanf(tab + 1, "may %63s %63s", high, low) == 2) {
        int level;
        bool may =
            preempt_policy_may(&world->rules, world->queues, find_queue(world, high),
                               find_queue(world, low), &level);
        snprintf(text, sizeof(text), level > 0 ? "yes+%d" : may ? "yes" : "no", level);
    } else {
        struct trial trial;
        trial_read(&trial, world, tab + 1);
        run_trial(&trial, text);
        trial_free(&trial);
    }
    if (strcmp(text, line) != 0) {
        fail_msg("%s:%d: \"%s\", expected \"%s\"", rows_path, number, text, line);
    }
}

/* Lines up to "end". */
static void read_config(FILE *file, int *number, char text[CONF_SIZE])
{
    char line[LINE_SIZE];
    size_t length = 0;
    while (fgets(line, sizeof(line), file) != NULL && strcmp(line, "end\n") != 0) {
        ++*number;
        length += (size_t)snprintf(text + length, CONF_SIZE - length, "%s", line);
    }
    ++*number;
}

/* `more` stands in section Parameters. */
static void set_config(struct world *world, int number, const char *config,
                       const char *more)
{
    char text[CONF_SIZE + LINE_SIZE];
    snprintf(text, sizeof(text), "Begin Parameters\n%s\nEnd Parameters\n%s", more,
             config);
    arena_release(&world->arena);
    world_read(world, text);
    for (const struct conf_diag *diag = world->conf.diags; diag; diag = diag->next) {
        bool is_later = strstr(diag->text, "not supported yet") != NULL;
        if (diag->severity == CONF_ERROR && !is_later) {
            fail_msg("%s:%d: %s", rows_path, number, diag->text);
        }
    }
}

static void test_rows(void **state)
{
    FILE *file = fopen(rows_path, "r");
    struct world world = {0};
    char line[LINE_SIZE], config[CONF_SIZE] = "";
    int number = 0, n_rows = 0;
    (void)state;
    assert_non_null(file);
    arena_init(&world.arena);
    while (fgets(line, sizeof(line), file) != NULL) {
        number++;
        line[strcspn(line, "\n")] = '\0';
        if (strcmp(line, "config") == 0) {
            read_config(file, &number, config);
            set_config(&world, number, config, "");
        } else if (strncmp(line, "with ", 5) == 0) {
            set_config(&world, number, config, line + 5);
        } else if (line[0] != '#' && line[0] != '\0') {
            judge_row(&world, number, line);
            n_rows++;
        }
    }
    assert_true(n_rows > 150);
    arena_release(&world.arena);
    fclose(file);
}

/* A running job helps a job only with a resource that it holds, that the other asks
 * for, and of which too little is left without it. */
static void test_resources_that_help(void **state)
{
    static const struct {
        int64_t held, asked, left; /* with what is held */
        bool has, helps;
    } rows[] = {{1, 1, 1, true, true},
                {1, 1, 2, true, false},   /* one is left as it is */
                {1, 0, 1, false, false},  /* none is asked for */
                {0, 1, 0, false, false}}; /* the duration of its rusage is over */
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct rusage_amount part = {0, rows[i].held};
        const struct preempt_job job = {.releases = &part, .n_releases = 1};
        int64_t left = rows[i].left;
        const struct preempt_resources resources = {.left = &left};
        assert_int_equal(preempt_resources_has(&job, &rows[i].asked), rows[i].has);
        assert_int_equal(preempt_resources_helps(&resources, &rows[i].asked, 1, &job),
                         rows[i].helps);
    }
}

/* ---------------------------------------------------------------- reading */

static void test_refused(void **state)
{
    static const struct {
        const char *keys, *says;
    } rows[] = {
        {"PREEMPTION = PREEMPT", "expected PREEMPTIVE"},
        {"PREEMPTION = PREEMPTIVE[low", "not closed"},
        {"PREEMPTION = PREEMPTIVE[]", "empty list"},
        {"PREEMPTION = PREEMPTIVE[none]", "unknown queue \"none\""},
        {"PREEMPTION = PREEMPTIVE[low+0]", "bad preference"},
        {"PREEMPTION = PREEMPTIVE[low+x]", "bad preference"},
        {"PREEMPTION = PREEMPTABLE[low+1]", "has no preferences"},
        {"PREEMPTION = PREEMPTIVE PREEMPTIVE", "twice"},
        {"PREEMPTION = PREEMPTIVE\nSLOT_POOL = p", "neither preemptive"},
        {"NO_PREEMPT_RUN_TIME = 100%", "1% to 99%"},
        {"NO_PREEMPT_FINISH_TIME = 0%", "1% to 99%"},
        {"NO_PREEMPT_RUN_TIME = soon", "percentage"},
        {"MAX_JOB_PREEMPT = 0", "MAX_JOB_PREEMPT"},
        {"TERMINATE_WHEN = NEVER", "expected some of LOAD PREEMPT WINDOW"},
        {"End Queue\nBegin Parameters\nPREEMPT_FOR = ALL\nEnd Parameters\n"
         "Begin Queue\nQUEUE_NAME = other",
         "expected some of GROUP_JLP"},
        {"End Queue\nBegin Parameters\nPREEMPT_JOBTYPE = ALL\nEnd Parameters\n"
         "Begin Queue\nQUEUE_NAME = other",
         "expected some of EXCLUSIVE BACKFILL"},
        {"End Queue\nBegin Parameters\nPREEMPTION_WAIT_TIME = 10\nEnd Parameters\n"
         "Begin Queue\nQUEUE_NAME = other",
         "PREEMPTION_WAIT_TIME"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world world;
        char text[LINE_SIZE];
        bool is_said = false;
        snprintf(text, sizeof(text),
                 "Begin Queue\nQUEUE_NAME = low\nEnd Queue\nBegin Queue\n"
                 "QUEUE_NAME = q\nPRIORITY = 9\n%s\nEnd Queue\n",
                 rows[i].keys);
        world_read(&world, text);
        for (const struct conf_diag *diag = world.conf.diags; diag; diag = diag->next) {
            bool names = diag->key != NULL && strcmp(diag->key, rows[i].says) == 0;
            is_said = is_said || (diag->severity == CONF_ERROR &&
                                  (names || strstr(diag->text, rows[i].says) != NULL));
        }
        if (!is_said) {
            fail_msg("%s: nothing about \"%s\"", rows[i].keys, rows[i].says);
        }
        arena_release(&world.arena);
    }
}

/* It is read, and does less than one might think. */
static void test_warned(void **state)
{
    static const char types[] = "Begin Parameters\nPREEMPT_JOBTYPE = BACKFILL\n"
                                "End Parameters\n";
    static const struct {
        const char *before, *preemption, *says; /* NULL: nothing */
    } rows[] = {
        {"", "PREEMPTABLE", "without PREEMPT_JOBTYPE = BACKFILL its jobs are not"},
        {types, "PREEMPTABLE", NULL},
        {types, "PREEMPTABLE[mid]",
         "queue mid (PRIORITY 75) is not of higher priority than all queues with "
         "SLOT_RESERVE "
         "or RESOURCE_RESERVE (PRIORITY 80)"},
        {types, "PREEMPTABLE[top]", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world world;
        char text[LINE_SIZE];
        snprintf(text, sizeof(text),
                 "%sBegin Queue\nQUEUE_NAME = top\nPRIORITY = 85\nEnd Queue\n"
                 "Begin Queue\nQUEUE_NAME = wide\nPRIORITY = 80\n"
                 "SLOT_RESERVE = MAX_RESERVE_TIME[1]\nEnd Queue\n"
                 "Begin Queue\nQUEUE_NAME = mid\nPRIORITY = 75\nEnd Queue\n"
                 "Begin Queue\nQUEUE_NAME = gaps\nPRIORITY = 50\nBACKFILL = Y\n"
                 "PREEMPTION = %s\nEnd Queue\n",
                 rows[i].before, rows[i].preemption);
        world_read(&world, text);
        const struct conf_diag *diag = world.conf.diags;
        assert_int_equal(world.conf.n_errors, 0);
        if (rows[i].says == NULL
                ? diag != NULL
                : diag == NULL || strstr(diag->text, rows[i].says) == NULL) {
            fail_msg("%s: \"%s\"", rows[i].preemption, diag ? diag->text : "");
        }
        arena_release(&world.arena);
    }
}

static void test_taken(void **state)
{
    struct world world;
    (void)state;
    world_read(&world,
               "Begin Parameters\nMAX_JOB_PREEMPT = 3\nPREEMPT_FOR = MINI_JOB "
               "GROUP_MAX\nPREEMPT_DELAY = 5\nEnd Parameters\n"
               "Begin Queue\nQUEUE_NAME = low\nTERMINATE_WHEN = PREEMPT\n"
               "End Queue\n"
               "Begin Queue\nQUEUE_NAME = q\nPRIORITY = 9\nMAX_JOB_PREEMPT = 1\n"
               "PREEMPTION = preemptive [low+2] PREEMPTABLE\n"
               "NO_PREEMPT_RUN_TIME = 20%\nEnd Queue\n");
    assert_int_equal(world.conf.n_errors, 0);
    assert_true(world.rules.is_enabled);
    assert_int_equal(world.rules.preempt_for,
                     PREEMPT_FOR_MINI_JOB | PREEMPT_FOR_GROUP_MAX);
    assert_int_equal(world.rules.wait_ms, 300000);
    assert_int_equal(world.rules.queues[0].protection.max_count, 3);
    assert_int_equal(world.rules.queues[0].protection.delay_ms, 5000);
    assert_true(world.rules.queues[0].terminate_when == SUSPEND_PREEMPT);
    assert_int_equal(world.rules.queues[1].protection.max_count, 1);
    assert_int_equal(world.rules.queues[1].protection.ran.percent, 20);
    assert_true(world.rules.queues[1].is_preemptable);
    arena_release(&world.arena);
}

/* MAX_JOB_PREEMPT and the others: the application's, else the queue's, else the site's.
 */
static void test_application(void **state)
{
    struct world world;
    (void)state;
    world_read(
        &world,
        "Begin Parameters\nMAX_JOB_PREEMPT = 3\nPREEMPT_DELAY = 5\nEnd Parameters\n"
        "Begin Queue\nQUEUE_NAME = q\nPREEMPTION = PREEMPTABLE\n"
        "MAX_JOB_PREEMPT = 2\nNO_PREEMPT_RUN_TIME = 20%\nEnd Queue\n"
        "Begin Application\nNAME = one\nMAX_JOB_PREEMPT = 1\n"
        "NO_PREEMPT_RUN_TIME = 7\nEnd Application\n"
        "Begin Application\nNAME = none\nEnd Application\n"
        "Begin Application\nNAME = now\nPREEMPT_DELAY = 0\nEnd Application\n");
    assert_int_equal(world.conf.n_errors, 0);
    assert_int_equal(world.rules.n_apps, 2);
    assert_int_equal(preempt_policy_read_for(&world.conf), 0); /* not -1 */
    static const struct {
        const char *app;
        int max_count, percent;
        int64_t ran_ms, delay_ms;
    } rows[] = {{"", 2, 20, 0, 5000},
                {"none", 2, 20, 0, 5000},
                {"one", 1, 0, 420000, 5000},
                {"now", 2, 20, 0, 0}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct preempt_protection *guards =
            preempt_policy_protection(&world.rules, &world.arena, 0, rows[i].app);
        assert_int_equal(guards->max_count, rows[i].max_count);
        assert_int_equal(guards->ran.percent, rows[i].percent);
        assert_int_equal(guards->ran.ms, rows[i].ran_ms);
        assert_int_equal(guards->delay_ms, rows[i].delay_ms);
    }
    arena_release(&world.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),    cmocka_unit_test(test_resources_that_help),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_warned),
        cmocka_unit_test(test_taken),   cmocka_unit_test(test_application),
    };
    return cmocka_run_group_tests_name("preempt", tests, NULL, NULL);
}
