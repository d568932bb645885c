/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_resreq.c: requirement strings. The first byte says how they are read, lines are
 * several -R, a zero ends one early. What is refused has a sentence and a column inside
 * a string; what is taken selects among hosts, each on its own as among the others, and
 * strings joined into one select what they select one by one. */
#include <stdlib.h>
#include <string.h>

#include "sched/resreq/resreq_text.h"
#include "tests/fuzz/input.h"

enum { STRINGS_MAX = 8, HOSTS = RESOURCE_BLOCK + 3, SIZE_MAX_READ = 3 * RES_REQ_MAX };

enum { ALONE = 6 }; /* the row that has a table of its own, too */

struct world {
    struct resources *resources;
    struct resource_table *table, *alone;
};

static int define(struct resources *resources, const char *name,
                  enum resource_type type)
{
    struct resource resource = {.name = name, .type = type, .is_consumable = true};
    struct err err;
    int id;
    if (resources_add(resources, &resource, &id, &err) != 0) {
        input_fail("%s", err.text);
    }
    return id;
}

/* Hosts with every mixture of values, and with none. */
static const struct world *world(void)
{
    static struct world made;
    if (made.table != NULL) {
        return &made;
    }
    made.resources = resources_new();
    int fs = define(made.resources, "fs", RESOURCE_BOOLEAN);
    int mg = define(made.resources, "mg", RESOURCE_BOOLEAN);
    int os = define(made.resources, "os", RESOURCE_STRING);
    int lic = define(made.resources, "lic", RESOURCE_NUMERIC);
    made.table = resource_table_new(made.resources);
    resource_table_resize(made.table, HOSTS);
    for (int row = 0; row < HOSTS - 1; row++) {
        resource_table_set_text(made.table, row, RESOURCE_TYPE,
                                row % 3 ? "LINUX" : "X");
        resource_table_set_text(made.table, row, os, row % 5 ? "4.2" : "a b");
        resource_table_set_number(made.table, row, RESOURCE_SWP, row - 9);
        resource_table_set_number(made.table, row, RESOURCE_MEM, row * 1e300);
        resource_table_set_number(made.table, row, RESOURCE_R15S, row % 7);
        resource_table_set_number(made.table, row, RESOURCE_CPUF, row % 4);
        resource_table_set_flag(made.table, row, fs, row % 2 == 0);
        if (row % 6 == 0) {
            resource_table_set_exclusive(made.table, row, mg, true);
            resource_table_set_number(made.table, row, lic, row);
        }
    }
    made.alone = resource_table_new(made.resources);
    resource_table_resize(made.alone, 1);
    resource_table_copy_row(made.alone, 0, made.table, ALONE);
    return &made;
}

/* ---------------------------------------------------------------- what must hold */

static void check_fault(struct arena *arena, const struct resreq_strings *from,
                        const struct resreq_error *fault)
{
    bool is_ours = from->queue == fault->source;
    for (int i = 0; i < from->n_strings; i++) {
        is_ours = is_ours || from->strings[i] == fault->source;
    }
    if (!is_ours || fault->at < 0 || fault->at > (int)strlen(fault->source)) {
        input_fail("column %d is in no string", fault->at);
    }
    if (strncmp(fault->text, "Error ", 6) != 0 || fault->hint[0] == '\0' ||
        fault->text[strlen(fault->text) - 1] != '.') {
        input_fail("no sentence: \"%s\" \"%s\"", fault->text, fault->hint);
    }
    for (const char *at = fault->text; *at != '\0'; at++) {
        if (*at < ' ' || *at > '~') {
            input_fail("a sentence with a byte %d", *at);
        }
    }
    resreq_error_pointer(arena, fault->source, fault->at, fault->hint);
}

static int pick(const struct resreq *resreq, int *rows)
{
    struct resreq_local local = {.type = "LINUX", .model = ""};
    bool seen[HOSTS] = {false};
    int n_rows = resreq_list_hosts(resreq, world()->table, &local, rows);
    for (int i = 0; i < n_rows; i++) {
        if (rows[i] < 0 || rows[i] >= HOSTS || seen[rows[i]]) {
            input_fail("row %d is picked twice, or is none", rows[i]);
        }
        seen[rows[i]] = true;
    }
    return n_rows;
}

/* One host in a table of its own is judged as it is among others. */
static void check_alone(const struct resreq *resreq, const int *rows, int n_rows)
{
    struct resreq_local local = {.type = "LINUX", .model = ""};
    int found;
    bool is_picked = false;
    for (int i = 0; i < n_rows; i++) {
        is_picked = is_picked || rows[i] == ALONE;
    }
    if (resreq_list_hosts(resreq, world()->alone, &local, &found) != is_picked) {
        input_fail("a host alone is judged otherwise");
    }
}

static void check_joined(struct arena *arena, struct resreq_rules rules,
                         const struct resreq_strings *from, const int *rows, int n_rows)
{
    const char *joined = resreq_text_join(arena, from->strings, from->n_strings);
    struct resreq_strings one = {.strings = &joined, .n_strings = 1};
    struct resreq_notes notes = {.arena = arena};
    struct resreq_error fault;
    struct resreq resreq;
    int again[HOSTS];
    rules.reading = RESREQ_READ_SELECT;
    if (strlen(joined) > RES_REQ_MAX) {
        return;
    }
    if (resreq_compile(arena, &rules, &one, &resreq, &notes, &fault) != 0) {
        if (strstr(fault.hint, "nested") == NULL) {
            input_fail("joined \"%s\": %s", joined, fault.text);
        }
        return;
    }
    int n_again = pick(&resreq, again), n_sum = 0;
    for (int i = 0; i < n_rows; i++) {
        n_sum += rows[i] - (i < n_again ? again[i] : 0);
    }
    if (n_again != n_rows || (n_sum != 0 && from->n_strings == 1)) {
        input_fail("joined \"%s\" picks %d, not %d", joined, n_again, n_rows);
    }
}

static void judge(const struct resreq_rules *rules, const struct resreq_strings *from)
{
    struct arena arena;
    arena_init(&arena);
    struct resreq_notes notes = {.arena = &arena};
    struct resreq_error fault;
    struct resreq resreq;
    int rows[HOSTS];
    int code = resreq_compile(&arena, rules, from, &resreq, &notes, &fault);
    for (struct resreq_note *note = notes.first; note != NULL; note = note->next) {
        resreq_error_pointer(&arena, note->source, note->at, note->text);
    }
    if (code != 0) {
        check_fault(&arena, from, &fault);
    } else if (!rules->language.is_open) {
        int n_rows = pick(&resreq, rows);
        check_alone(&resreq, rows, n_rows);
        if (from->queue == NULL && !rules->language.is_lenient &&
            rules->reading == RESREQ_READ_SELECT) {
            check_joined(&arena, *rules, from, rows, n_rows);
        }
    }
    arena_release(&arena);
}

/* ---------------------------------------------------------------- input */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > SIZE_MAX_READ) {
        return 0;
    }
    unsigned how = data[0];
    char *text = mem_alloc(size, 1);
    memcpy(text, data + 1, size - 1);
    const char *strings[STRINGS_MAX];
    int n_strings = 0;
    for (char *rest = text; rest != NULL && n_strings < STRINGS_MAX;) {
        strings[n_strings++] = strsep(&rest, "\n");
    }
    struct resreq_rules rules = {
        .language = {.resources = world()->resources,
                     .is_lenient = (how & 1) != 0,
                     .is_open = (how & 2) != 0,
                     .has_local = (how & 4) != 0,
                     .counts_slots = (how & 8) != 0},
        .reading = (enum resreq_reading)((how >> 4) % 3),
        .defaults_any = (how & 64) != 0,
    };
    struct resreq_strings from = {.strings = strings, .n_strings = n_strings};
    if ((how & 128) != 0) {
        from.queue = strings[0];
        from.strings++;
        from.n_strings--;
    }
    if (rules.language.has_local || rules.defaults_any) {
        judge(&rules, &from);
    }
    free(text);
    return 0;
}
