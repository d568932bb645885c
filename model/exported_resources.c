/* SPDX-License-Identifier: Apache-2.0 */
/* exported_resources.c: see exported_resources.h. */
#include "model/exported_resources.h"

#include <string.h>

bool exported_resources_is_same_memory(const struct space a[SPACES],
                                       const struct space b[SPACES])
{
    for (int i = 0; i < SPACES; i++) {
        if (a[i].is_given != b[i].is_given || a[i].mib != b[i].mib) {
            return false;
        }
    }
    return true;
}

bool exported_resources_is_seen_from(const struct lease_resource *resource,
                                     const char *host)
{
    size_t length = strlen(host);
    const char *at = resource->hosts;
    if (*at == '\0') {
        return true; /* from all of them */
    }
    while (*at != '\0') {
        size_t n = strcspn(at, " ");
        if (n == length && memcmp(at, host, n) == 0) {
            return true;
        }
        at += n + strspn(at + n, " ");
    }
    return false;
}

void exported_resources_show_memory(struct arena *arena, struct value *row,
                                    const struct space spaces[SPACES])
{
    static const char *const names[SPACES] = {[SPACE_MEM] = "mem", [SPACE_SWP] = "swp"};
    for (int i = 0; i < SPACES; i++) {
        value_add_known(arena, row, names[i], spaces[i].is_given, spaces[i].mib);
    }
}

static void show_hosts(struct arena *arena, struct value *row, const char *at,
                       size_t *n_bytes)
{
    enum { QUOTES = 3 }; /* and a comma */
    int n_hosts = 0;
    if (*at == '\0') {
        value_add_null(arena, row, "hosts");
        value_add_null(arena, row, "n_hosts");
        return;
    }
    struct value *hosts = value_add(arena, row, "hosts", value_array(arena));
    while (*at != '\0') {
        size_t length = strcspn(at, " ");
        *n_bytes += length + QUOTES;
        if (*n_bytes <= EXPORTED_RESOURCES_BYTES) {
            value_add_text(arena, hosts, NULL, arena_strn(arena, at, length));
        }
        n_hosts++;
        at += length + strspn(at + length, " ");
    }
    value_add_int(arena, row, "n_hosts", n_hosts);
}

void exported_resources_show(struct arena *arena, struct value *row,
                             const struct lease_resource *resources, int n_resources)
{
    struct value *array = value_add(arena, row, "resources", value_array(arena));
    size_t n_bytes = 0;
    for (int i = 0; i < n_resources; i++) {
        struct value *shown = value_add(arena, array, NULL, value_object(arena));
        value_add_text(arena, shown, "name", resources[i].name);
        value_add_int(arena, shown, "instances", resources[i].n_instances);
        show_hosts(arena, shown, resources[i].hosts, &n_bytes);
    }
}
