/* SPDX-License-Identifier: Apache-2.0 */
/* test_export.c: the rows of tests/data/export.rows, and what does not fit into rows:
 * defaults, content, tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "provider/export/export.h"
#include "sched/resreq/resreq.h"

enum { TEXT_SIZE = 8192, HOSTS = 16, RESOURCES = 8 };

struct world {
    struct arena arena;
    struct conf conf;
    struct export_host hosts[HOSTS];
    int n_hosts;
    struct resources *resources; /* of the hosts: type and Booleans */
    struct resource_table *table;
    struct export_resource shared[RESOURCES];
    int n_shared;
    struct export_plan plan;
};

static const struct export_terms defaults = {.lease_term_ms = 300000};

/* ------------------------------------------------------------ input */

static void set_boolean(struct world *world, int row, const char *name)
{
    struct resource boolean = {
        .name = name, .type = RESOURCE_BOOLEAN, .description = ""};
    int id = resources_find(world->resources, name, strlen(name));
    if (id < 0) {
        assert_int_equal(resources_add(world->resources, &boolean, &id, NULL), 0);
    }
    resource_table_set_flag(world->table, row, id, true);
}

/* NAME:MXJ:TYPE:BOOL,BOOL */
static void add_host(struct world *world, struct arena *arena, const char *word)
{
    int row = world->n_hosts++;
    char *text = arena_str(arena, word);
    char *parts[4];
    for (int i = 0; i < 4; i++) {
        parts[i] = i == 3 ? text : strsep(&text, ":");
        assert_non_null(parts[i]);
    }
    world->hosts[row] =
        (struct export_host){parts[0], (int)strtol(parts[1], NULL, 10), parts[2], row};
    resource_table_resize(world->table, world->n_hosts);
    resource_table_set_text(world->table, row, RESOURCE_TYPE, parts[2]);
    for (char *name; (name = strsep(&parts[3], ",")) != NULL;) {
        if (name[0] != '\0') {
            set_boolean(world, row, name);
        }
    }
}

static void free_hosts(struct world *world)
{
    resource_table_free(world->table);
    resources_free(world->resources);
}

static void set_hosts(struct world *world, struct arena *arena, const char *line)
{
    struct conf_words words = conf_words(arena, line);
    if (world->table != NULL) {
        free_hosts(world);
    }
    world->n_hosts = 0;
    world->resources = resources_new();
    world->table = resource_table_new(world->resources);
    for (int i = 0; i < words.count; i++) {
        add_host(world, arena, words.words[i]);
    }
}

/* "12@hostA,hostB" or "@hostA": measured. */
static void add_place(struct world *world, struct arena *arena, char *text,
                      struct export_place *place)
{
    char *number = strsep(&text, "@");
    int *hosts = arena_alloc(arena, HOSTS, sizeof(*hosts));
    *place = (struct export_place){number[0] != '\0' ? strtol(number, NULL, 10) : -1,
                                   hosts, 0};
    for (char *name; (name = strsep(&text, ",")) != NULL;) {
        int host = 0;
        while (strcmp(world->hosts[host].name, name) != 0) {
            host++;
        }
        hosts[place->n_hosts++] = host;
    }
}

/* NAME:PLACE+PLACE ...; NAME alone: each host's own; NAME!: not numeric. */
static void set_resources(struct world *world, struct arena *arena, const char *line)
{
    struct conf_words words = conf_words(arena, line);
    world->n_shared = 0;
    for (int i = 0; i < words.count; i++) {
        struct export_resource *resource = &world->shared[world->n_shared++];
        struct export_place *places = arena_alloc(arena, HOSTS, sizeof(*places));
        char *text = arena_str(arena, words.words[i]);
        char *name = strsep(&text, ":");
        char *mark = strchr(name, '!');
        *resource = (struct export_resource){
            .name = name, .is_numeric = mark == NULL, .places = places};
        for (char *place; (place = strsep(&text, "+")) != NULL;) {
            add_place(world, arena, place, &places[resource->n_places++]);
        }
        if (mark != NULL) {
            *mark = '\0';
        }
    }
}

/* The language in short: what the site makes of it is its own test's. */
static enum export_answer match(void *arg, const struct conf_section *section,
                                const struct conf_row *row,
                                const struct conf_cell *cell, uint8_t *matches)
{
    struct world *world = arg;
    struct resreq_rules rules = {.language = {.resources = world->resources},
                                 .defaults_any = true};
    struct resreq_strings strings = {.queue = cell->value};
    struct resreq_notes notes = {.arena = &world->arena};
    struct resreq_local local = {.type = "", .model = ""};
    struct resreq_error fault;
    struct resreq resreq;
    if (resreq_compile(&world->arena, &rules, &strings, &resreq, &notes, &fault) != 0) {
        conf_complain(&world->conf, CONF_ERROR, section, row, cell, "%s", fault.text);
        return EXPORT_REFUSED;
    }
    if (strstr(cell->value, "mem") != NULL) {
        return EXPORT_DEFERRED;
    }
    resreq_program_run(&resreq.program, world->table, NULL, &local, matches);
    return EXPORT_MATCHED;
}

/* "A;B || C" becomes two sections. */
static char *as_sections(struct arena *arena, const char *input)
{
    char *text = "";
    while (input != NULL) {
        const char *end = strstr(input, "||");
        size_t length = end != NULL ? (size_t)(end - input) : strlen(input);
        char *lines = arena_strn(arena, input, length);
        for (char *at = lines; *at != '\0'; at++) {
            *at = *at == ';' ? '\n' : *at;
        }
        const char *name =
            strstr(lines, "NINSTANCES") != NULL ? "SharedResourceExport" : "HostExport";
        text = arena_printf(arena, "%sBegin %s\n%s\nEnd %s\n", text, name, lines, name);
        input = end != NULL ? end + 2 : NULL;
    }
    return text;
}

static void read_text(struct world *world, const char *text)
{
    conf_init(&world->conf, &world->arena);
    conf_read(&world->conf, "lsb.resources", text, strlen(text));
    conf_check(&world->conf);
    struct export_site site = {"north", world->hosts, world->n_hosts, match, world};
    export_read(&world->conf, &site, &defaults, &world->plan);
    export_shared_read(&world->conf, &site, world->shared, world->n_shared,
                       &world->plan);
}

/* ------------------------------------------------------------ output */

/* "/25/30": memory, swap space; "-" where it is not exported. */
static const char *spaces_text(struct arena *arena, const struct space spaces[SPACES])
{
    const char *text = "";
    if (!spaces[SPACE_MEM].is_given && !spaces[SPACE_SWP].is_given) {
        return "";
    }
    for (int i = 0; i < SPACES; i++) {
        text = spaces[i].is_given ? arena_printf(arena, "%s/%d", text, spaces[i].mib)
                                  : arena_printf(arena, "%s/-", text);
    }
    return text;
}

static const char *plan_text(struct arena *arena, const struct export_plan *plan)
{
    const char *text = "";
    for (int i = 0; i < plan->n_leases; i++) {
        const struct export_lease *lease = &plan->leases[i];
        char place[16];
        snprintf(place, sizeof(place), "%d", lease->place);
        text = arena_printf(arena, "%s%s%s/%s", text, i > 0 ? " ; " : "",
                            lease->policy[0] != '\0' ? lease->policy : place,
                            lease->consumer);
        for (int j = 0; j < lease->n_hosts; j++) {
            text = arena_printf(arena, "%s %s=%d%s", text, lease->hosts[j].host,
                                lease->hosts[j].n_slots,
                                spaces_text(arena, lease->hosts[j].spaces));
        }
        for (int j = 0; j < lease->n_resources; j++) {
            const struct lease_resource *resource = &lease->resources[j];
            bool is_all = resource->hosts[0] == '\0';
            text = arena_printf(arena, "%s %s.%d=%d%s%s", text, resource->name,
                                resource->pool, resource->n_instances,
                                is_all ? "" : "@", resource->hosts);
        }
    }
    return text;
}

static const char *diag_text(struct arena *arena, const struct conf_diag *diag)
{
    return arena_printf(arena, "%s %s: %s",
                        diag->severity == CONF_ERROR ? "error" : "warning",
                        diag->key != NULL ? diag->key : "", diag->text);
}

/* Leases must be equal; a complaint must begin as expected. */
static const char *mismatch(struct arena *arena, const struct world *world,
                            const char *expected)
{
    const char *leases = plan_text(arena, &world->plan);
    const char *got = leases;
    size_t length = strlen(leases);
    bool is_good = strncmp(expected, leases, length) == 0;
    const char *rest = is_good ? expected + length : expected;
    for (const struct conf_diag *diag = world->conf.diags; diag; diag = diag->next) {
        const char *text = diag_text(arena, diag);
        got = arena_printf(arena, "%s%s%s", got, got[0] != '\0' ? " ; " : "", text);
        rest += strncmp(rest, " ; ", 3) == 0 ? 3 : 0;
        const char *end = strstr(rest, " ; ");
        size_t n = end != NULL ? (size_t)(end - rest) : strlen(rest);
        is_good = is_good && n > 0 && strncmp(rest, text, n) == 0;
        rest += n;
    }
    return is_good && *rest == '\0' ? NULL : got;
}

/* ------------------------------------------------------------ tests */

static FILE *open_rows(void)
{
    FILE *file = fopen("tests/data/export.rows", "r");
    if (file == NULL) {
        fail_msg("run from the top of the tree");
    }
    return file;
}

static void test_rows(void **state)
{
    (void)state;
    FILE *file = open_rows();
    struct world world = {0};
    struct arena hosts;
    arena_init(&hosts);
    char line[TEXT_SIZE], why[TEXT_SIZE] = "";
    int n_rows = 0, n_failed = 0;
    for (int number = 1; fgets(line, sizeof(line), file) != NULL; number++) {
        line[strcspn(line, "\n")] = '\0';
        char *tab = strchr(line, '\t');
        if (line[0] == '#') {
            snprintf(why, sizeof(why), "%s", line);
        }
        if (line[0] == '#' || tab == NULL) {
            continue;
        }
        *tab = '\0';
        if (strcmp(line, "@hosts") == 0) {
            set_hosts(&world, &hosts, tab + 1);
            continue;
        }
        if (strcmp(line, "@resources") == 0) {
            set_resources(&world, &hosts, tab + 1);
            continue;
        }
        arena_init(&world.arena);
        read_text(&world, as_sections(&world.arena, tab + 1));
        const char *got = mismatch(&world.arena, &world, line);
        if (got != NULL) {
            print_error("export.rows:%d: %s\n  expected %s\n  got      %s\n", number,
                        why, line, got);
            n_failed++;
        }
        n_rows++;
        arena_release(&world.arena);
    }
    fclose(file);
    arena_release(&hosts);
    free_hosts(&world);
    assert_true(n_rows > 50);
    assert_int_equal(n_failed, 0);
}

static void begin(struct world *world)
{
    memset(world, 0, sizeof(*world));
    arena_init(&world->arena);
    set_hosts(world, &world->arena, "n1:4:X:big n2:4:X:");
}

static void end(struct world *world)
{
    free_hosts(world);
    arena_release(&world->arena);
}

static void test_defaults_and_own_values(void **state)
{
    (void)state;
    struct world world;
    begin(&world);
    read_text(&world,
              as_sections(&world.arena, "PER_HOST=n1;SLOTS=1;DISTRIBUTION=([a,1])||"
                                        "PER_HOST=n2;SLOTS=1;DISTRIBUTION=([a,1]);"
                                        "TYPE=SHARED;RECLAIM_POLICY=Demand;MIN_HOLD=2m;"
                                        "LEASE_TERM=7;INTERACTIVE=n;PRICE=5;HOURS=70"));
    assert_int_equal(world.conf.n_errors, 0);
    assert_int_equal(world.plan.n_leases, 2);
    const struct export_lease *first = &world.plan.leases[0];
    assert_int_equal(first->type, LEASE_EXCLUSIVE);
    assert_int_equal(first->terms.reclaim_policy, RECLAIM_LSF);
    assert_int_equal(first->terms.min_hold_ms, 0);
    assert_int_equal(first->terms.lease_term_ms, 300000);
    const struct export_lease *second = &world.plan.leases[1];
    assert_int_equal(second->type, LEASE_SHARED);
    assert_int_equal(second->terms.reclaim_policy, RECLAIM_DEMAND);
    assert_int_equal(second->terms.min_hold_ms, 120000);
    assert_int_equal(second->terms.lease_term_ms, 7000);
    assert_int_equal(first->terms.price, 0);
    assert_int_equal(first->terms.n_hours, 0);
    assert_int_equal(second->terms.price, 5);
    assert_int_equal(second->terms.n_hours, 70);
    assert_true(first->terms.takes_interactive);
    assert_false(second->terms.takes_interactive);
    end(&world);
}

/* Content is what an unnamed policy is known by after a reload. */
static void test_content(void **state)
{
    (void)state;
    static const struct {
        const char *why, *left, *right;
        bool is_equal;
    } rows[] = {
        {"blanks and parentheses say nothing",
         "PER_HOST=n1 n2;SLOTS=2;DISTRIBUTION=([a,1] [b, 2])",
         "PER_HOST=(n1  n2);SLOTS=2;DISTRIBUTION=[a,1] [b,2]", true},
        {"nor does the site's own entry", "PER_HOST=n1;SLOTS=2;DISTRIBUTION=([a,1])",
         "PER_HOST=n1;SLOTS=2;DISTRIBUTION=([a,1] [north,3])", true},
        {"when to rebalance is no part of the policy's identity",
         "PER_HOST=n1;SLOTS=2;TYPE=shared;DISTRIBUTION=([a,1])",
         "PER_HOST=n1;SLOTS=2;TYPE=shared;DISTRIBUTION=([a,1]);MIN_HOLD=1m", true},
        {"slots are", "PER_HOST=n1;SLOTS=2;DISTRIBUTION=([a,1])",
         "PER_HOST=n1;SLOTS=3;DISTRIBUTION=([a,1])", false},
        {"the type is", "PER_HOST=n1;SLOTS=2;DISTRIBUTION=([a,1])",
         "PER_HOST=n1;SLOTS=2;TYPE=shared;DISTRIBUTION=([a,1])", false},
        {"the number of hosts is", "RES_SELECT=type==any;NHOSTS=1;DISTRIBUTION=([a,1])",
         "RES_SELECT=type==any;NHOSTS=2;DISTRIBUTION=([a,1])", false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world left, right;
        begin(&left);
        begin(&right);
        read_text(&left, as_sections(&left.arena, rows[i].left));
        read_text(&right, as_sections(&right.arena, rows[i].right));
        bool is_equal =
            strcmp(left.plan.leases[0].content, right.plan.leases[0].content) == 0;
        if (is_equal != rows[i].is_equal) {
            fail_msg("%s: %s against %s", rows[i].why, left.plan.leases[0].content,
                     right.plan.leases[0].content);
        }
        end(&left);
        end(&right);
    }
}

static void test_table_has_a_policy_a_row(void **state)
{
    (void)state;
    struct world world;
    begin(&world);
    read_text(&world, "Begin HostExport\n"
                      "PER_HOST SLOTS TYPE   DISTRIBUTION\n"
                      "(n1)     2     shared ([a,1])\n"
                      "(n2)     3     -      ([b,1])\n"
                      "End HostExport\n");
    assert_int_equal(world.conf.n_errors, 0);
    assert_string_equal(plan_text(&world.arena, &world.plan), "1/a n1=2 ; 2/b n2=3");
    end(&world);
}

static void test_nothing_exported(void **state)
{
    (void)state;
    struct world world;
    begin(&world);
    world.n_hosts = 0;
    read_text(&world, "");
    assert_int_equal(world.plan.n_leases, 0);
    read_text(&world,
              as_sections(&world.arena, "PER_HOST=n1;SLOTS=1;DISTRIBUTION=([a,1])"));
    assert_int_equal(world.plan.n_leases, 0);
    assert_int_equal(world.conf.n_errors, 1);
    end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_defaults_and_own_values),
        cmocka_unit_test(test_content),
        cmocka_unit_test(test_table_has_a_policy_a_row),
        cmocka_unit_test(test_nothing_exported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
