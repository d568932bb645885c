/* SPDX-License-Identifier: Apache-2.0 */
/* lsf_condense.c: bhosts with condensed host groups and compute units (CONDENSE).
 * Source: LSF's bhosts. */
#include <stdint.h>
#include <string.h>

#include "cli/lsf/lsf.h"

enum count { OK, UNAVAIL, BUSY, CLOSED, COUNTS };

/* Hosts that jobs or their load keep closed are busy; an administrator and the time
 * close hosts. */
static enum count count_of(const char *status)
{
    static const char *const busy[] = {"closed_Full", "closed_Busy", "closed_Excl"};
    for (size_t i = 0; i < sizeof(busy) / sizeof(busy[0]); i++) {
        if (strcmp(status, busy[i]) == 0) {
            return BUSY;
        }
    }
    return strcmp(status, "ok") == 0                          ? OK
           : strncmp(status, "closed", strlen("closed")) == 0 ? CLOSED
                                                              : UNAVAIL;
}

static const char *status_of(struct arena *arena, const json_t *group, bool has_counts)
{
    json_int_t counts[COUNTS] = {0};
    const json_t *status;
    size_t i;
    json_array_foreach(json_object_get(group, "statuses"), i, status)
    {
        counts[count_of(json_string_value(status))]++;
    }
    if (counts[OK] == 0 && counts[BUSY] + counts[CLOSED] > 0) {
        return "closed";
    }
    const char *word = counts[OK] > 0 ? "ok" : "unavail";
    return has_counts
               ? arena_printf(arena, "%s %lld/%lld/0/%lld", word, (long long)counts[OK],
                              (long long)counts[UNAVAIL], (long long)counts[BUSY])
               : word;
}

/* ---- sums */

/* Adds a number at a key; a host without one leaves the sum as it is. */
static void add_number(json_t *to, const json_t *from, const char *key)
{
    const json_t *more = json_object_get(from, key), *sum = json_object_get(to, key);
    if (json_is_integer(more) && (sum == NULL || json_is_integer(sum))) {
        json_object_set_new(
            to, key, json_integer(json_integer_value(sum) + json_integer_value(more)));
    } else if (json_is_number(more)) {
        json_object_set_new(
            to, key, json_real(json_number_value(sum) + json_number_value(more)));
    }
}

static void add_memory(json_t *to, const json_t *from, const char *object)
{
    if (json_object_get(to, object) == NULL) {
        json_object_set_new(to, object, json_object());
    }
    add_number(json_object_get(to, object), json_object_get(from, object), "mem");
}

static void add_host(json_t *group, const json_t *host)
{
    static const char *const numbers[] = {"max",   "njobs", "run",   "ssusp",
                                          "ususp", "rsv",   "maxmem"};
    static const char *const same[] = {"jl_u", "cpuf", "dispatch_window", "lease"};
    json_t *statuses = json_object_get(group, "statuses");
    bool is_first = json_array_size(statuses) == 0;
    json_array_append(statuses, json_object_get(host, "status"));
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        add_number(group, host, numbers[i]);
    }
    add_memory(group, host, "load");
    add_memory(group, host, "reserved");
    for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
        json_t *value = json_object_get(host, same[i]);
        if (is_first) {
            json_object_set(group, same[i], value);
        } else if (!json_equal(json_object_get(group, same[i]), value)) {
            json_object_set_new(group, same[i], json_null());
        }
    }
}

/* ---- rows */

/* A host that several operands name is counted once. */
static bool is_counted(struct arena *arena, json_t *group, const json_t *host)
{
    json_t *hosts = json_object_get(group, "hosts");
    const char *name = arena_printf(arena, "%s %s", lsf_format_get(host, "host"),
                                    lsf_format_get(host, "lease"));
    bool is_known = json_object_get(hosts, name) != NULL;
    json_object_set_new(hosts, name, json_true());
    return is_known;
}

json_t *lsf_condense_hosts(struct arena *arena, const json_t *hosts, bool has_counts)
{
    json_t *rows = json_array(), *groups = json_object(), *group;
    const char *name;
    json_t *host;
    size_t i;
    json_array_foreach(hosts, i, host)
    {
        name = lsf_format_get(host, "condensed_in");
        group = json_object_get(groups, name);
        if (name[0] == '\0') {
            json_array_append(rows, host);
            continue;
        }
        if (group == NULL) {
            group = json_pack("{s:s,s:[],s:{}}", "host", name, "statuses", "hosts");
            json_object_set_new(groups, name, group);
            json_array_append(rows, group);
        }
        if (!is_counted(arena, group, host)) {
            add_host(group, host);
        }
    }
    json_object_foreach(groups, name, group)
    {
        json_object_set_new(group, "status",
                            json_string(status_of(arena, group, has_counts)));
    }
    json_decref(groups);
    return rows;
}

void lsf_condense_name(struct call *call, const json_t *hosts)
{
    char **names =
        arena_alloc(&call->arena, json_array_size(hosts) + 1, sizeof(*names));
    json_t *seen = json_object();
    const json_t *host;
    size_t i;
    call->n_operands = 0;
    json_array_foreach(hosts, i, host)
    {
        const char *name = lsf_format_get(host, "condensed_in");
        if (name[0] != '\0' && json_object_get(seen, name) == NULL) {
            json_object_set_new(seen, name, json_true());
            names[call->n_operands++] =
                (char *)(uintptr_t)arena_str(&call->arena, name);
        }
    }
    call->operands = names;
    json_decref(seen);
}
