/* SPDX-License-Identifier: Apache-2.0 */
/* scenario.c: finds sites and jobs of a scenario by name. */
#include "sim/scenario/scenario.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int scenario_find_site(const struct scenario *scenario, const char *name)
{
    for (int i = 0; i < scenario->n_sites; i++) {
        if (strcmp(scenario->sites[i].name, name) == 0) {
            return i;
        }
    }
    return SCENARIO_BROKER;
}

/* 3 for "a[3]", 0 for "a", with "a" in `base`; -1 for anything else. */
static int parse_index(const char *name, char *base, size_t size)
{
    size_t length = strcspn(name, "[");
    int index = 0, n = 0;

    if (length >= size) {
        return -1;
    }
    memcpy(base, name, length);
    base[length] = '\0';
    if (!name[length]) {
        return 0;
    }
    bool is_read = sscanf(name + length, "[%6d]%n", &index, &n) == 1 && n > 0 &&
                   !name[length + (size_t)n];
    return is_read && index > 0 ? index : -1;
}

const struct statement *scenario_find_job(const struct scenario *scenario, int site,
                                          const char *name, int *index)
{
    char base[NAME_SIZE];

    *index = parse_index(name, base, sizeof base);
    for (int i = 0; *index >= 0 && i < scenario->n_statements; i++) {
        const struct statement *at = &scenario->statements[i];

        if (at->kind == STATEMENT_SUBMIT && at->site == site &&
            !strcmp(at->submit.name, base)) {
            return *index <= at->submit.count ? at : NULL;
        }
    }
    return NULL;
}

void scenario_free(struct scenario *scenario)
{
    if (!scenario) {
        return;
    }
    arena_release(&scenario->arena);
    free(scenario);
}
