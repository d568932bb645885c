/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_binding.c: see cpu.h. */
#include "model/cpu.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    enum cpu_scope scope;
} scopes[] = {{"intask", CPU_SCOPE_INTASK},
              {"injob", CPU_SCOPE_INJOB},
              {"alljobs", CPU_SCOPE_ALLJOBS}};
enum { SCOPES = sizeof(scopes) / sizeof(scopes[0]) };

/* ---------------------------------------------------------------- to text */

struct text {
    char *bytes;
    size_t length; /* also of what did not fit */
};

static void put(struct text *to, const char *word)
{
    size_t length = strlen(word);
    if (to->length + length <= CPU_BINDING_TEXT_MAX) {
        memcpy(to->bytes + to->length, word, length);
    }
    to->length += length;
}

static void put_set(struct text *to, const struct cpu_set *set)
{
    char list[CPU_LIST_SIZE];
    cpu_set_format(set, list);
    put(to, " ");
    put(to, list[0] != '\0' ? list : "-");
}

static void put_head(struct text *to, const struct cpu_binding *binding)
{
    const enum cpu_level levels[] = {binding->unit, binding->bind, binding->exclusive};
    const char *joint = "";
    for (int i = 0; i < 3; i++) {
        put(to, cpu_level_name(levels[i]));
        put(to, ":");
    }
    for (int i = 0; i < SCOPES; i++) {
        if ((binding->scopes & scopes[i].scope) != 0) {
            put(to, joint);
            put(to, scopes[i].name);
            joint = "|";
        }
    }
    put(to, joint[0] == '\0' ? "-:" : ":");
    put(to, cpu_memory_name(binding->memory));
}

const char *cpu_binding_format(struct arena *arena, const struct cpu_binding *binding)
{
    struct text to = {.bytes = mem_alloc(CPU_BINDING_TEXT_MAX, 1)};
    put_head(&to, binding);
    for (int i = 0; i < binding->n_hosts; i++) {
        const struct cpu_binding_host *host = &binding->hosts[i];
        put(&to, ";");
        put(&to, host->host);
        put_set(&to, &host->cpus);
        put_set(&to, &host->nodes);
        for (int k = 0; k < host->n_tasks; k++) {
            put_set(&to, &host->tasks[k]);
        }
    }
    const char *copy = to.length <= CPU_BINDING_TEXT_MAX
                           ? arena_strn(arena, to.bytes, to.length)
                           : NULL;
    free(to.bytes);
    return copy;
}

/* ---------------------------------------------------------------- from text */

static bool take_level(const char *word, size_t length, enum cpu_level *level)
{
    for (int i = 0; i < CPU_LEVELS; i++) {
        const char *name = cpu_level_name((enum cpu_level)i);
        if (strlen(name) == length && memcmp(name, word, length) == 0) {
            *level = (enum cpu_level)i;
            return true;
        }
    }
    return false;
}

static bool take_memory(const char *word, size_t length, enum cpu_memory *memory)
{
    for (int i = CPU_MEMORY_ANY; i <= CPU_MEMORY_LOCALPREFER; i++) {
        const char *name = cpu_memory_name((enum cpu_memory)i);
        if (strlen(name) == length && memcmp(name, word, length) == 0) {
            *memory = (enum cpu_memory)i;
            return true;
        }
    }
    return false;
}

static bool take_scopes(const char *word, size_t length, unsigned *all)
{
    const char *end = word + length;
    *all = 0;
    if (length == 1 && word[0] == '-') {
        return true;
    }
    while (word < end) {
        size_t n = strcspn(word, "|:");
        unsigned scope = 0;
        for (int i = 0; i < SCOPES; i++) {
            bool is_it =
                strlen(scopes[i].name) == n && memcmp(scopes[i].name, word, n) == 0;
            scope = is_it ? scopes[i].scope : scope;
        }
        if (scope == 0) {
            return false;
        }
        *all |= scope;
        word += n + (word + n < end);
    }
    return length > 0;
}

/* "UNIT:CPUBIND:EXCLUSIVE:SCOPES:MEMBIND" */
static bool take_head(const char *text, struct cpu_binding *binding)
{
    enum { PARTS = 5 };
    const char *words[PARTS];
    size_t lengths[PARTS];
    for (int i = 0; i < PARTS; i++) {
        words[i] = text;
        lengths[i] = strcspn(text, ":;");
        text += lengths[i];
        if ((i < PARTS - 1) != (*text == ':')) {
            return false;
        }
        text++;
    }
    return take_level(words[0], lengths[0], &binding->unit) &&
           take_level(words[1], lengths[1], &binding->bind) &&
           take_level(words[2], lengths[2], &binding->exclusive) &&
           take_scopes(words[3], lengths[3], &binding->scopes) &&
           take_memory(words[4], lengths[4], &binding->memory);
}

static int count_in(const char *text, size_t length, char sign)
{
    int count = 0;
    for (size_t i = 0; i < length; i++) {
        count += text[i] == sign;
    }
    return count;
}

static bool take_set(const char **at, struct cpu_set *set, struct err *err)
{
    if (**at != ' ') {
        return false;
    }
    const char *word = ++*at;
    size_t length = strcspn(word, " ;");
    *at += length;
    bool is_empty = length == 1 && word[0] == '-';
    return length > 0 && cpu_set_parse(word, is_empty ? 0 : length, set, err) == 0;
}

static bool take_host(struct arena *arena, const char **at,
                      struct cpu_binding_host *host, struct err *err)
{
    size_t length = strcspn(*at, ";"), n_name = strcspn(*at, " ;");
    int n_sets = count_in(*at, length, ' ');
    if (n_name == 0 || n_sets < 2) {
        return false;
    }
    host->host = arena_strn(arena, *at, n_name);
    host->n_tasks = n_sets - 2;
    host->tasks = arena_alloc(arena, (size_t)host->n_tasks + 1, sizeof(*host->tasks));
    *at += n_name;
    bool is_good = take_set(at, &host->cpus, err) && take_set(at, &host->nodes, err);
    for (int i = 0; i < host->n_tasks && is_good; i++) {
        is_good = take_set(at, &host->tasks[i], err);
    }
    return is_good;
}

int cpu_binding_parse(struct arena *arena, const char *text,
                      struct cpu_binding *binding, struct err *err)
{
    size_t length = strlen(text);
    const char *at = text + strcspn(text, ";");
    *binding = (struct cpu_binding){.n_hosts = 0};
    bool is_good = length <= CPU_BINDING_TEXT_MAX && take_head(text, binding);
    if (is_good) {
        size_t n_most = (size_t)count_in(text, length, ';') + 1;
        binding->hosts = arena_alloc(arena, n_most, sizeof(*binding->hosts));
    }
    while (is_good && *at == ';') {
        at++;
        is_good = take_host(arena, &at, &binding->hosts[binding->n_hosts++], err);
    }
    return is_good && *at == '\0'
               ? 0
               : err_set(err, ERR_PARSE, "bad binding of processors at \"%.40s\"", at);
}
