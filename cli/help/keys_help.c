/* SPDX-License-Identifier: Apache-2.0 */
/* keys_help.c: see keys_help.h. */
#include "cli/help/keys_help.h"
#include "cli/help/help.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/conf.h"

static const char *unit_name(int64_t unit_ms)
{
    switch (unit_ms) {
    case 86400000:
        return "days";
    case 3600000:
        return "hours";
    case 60000:
        return "minutes";
    default:
        return "seconds";
    }
}

static void describe_time(const struct conf_key *key, char *text, size_t size)
{
    char min[32];
    char max[32];
    conf_format_duration(key->min, min, sizeof(min));
    conf_format_duration(key->max, max, sizeof(max));
    snprintf(text, size, "time, %s to %s, a bare number is %s", min, max,
             unit_name(key->unit_ms));
}

const char *keys_help_kind(const struct conf_key *key, char *text, size_t size)
{
    switch (key->kind) {
    case CONF_TEXT:
        snprintf(text, size, "text");
        break;
    case CONF_NAME:
        snprintf(text, size, "name");
        break;
    case CONF_LIST:
        snprintf(text, size, "words");
        break;
    case CONF_INT:
        snprintf(text, size, "number, %" PRId64 " to %" PRId64, key->min, key->max);
        break;
    case CONF_YESNO:
        snprintf(text, size, "Y or N");
        break;
    case CONF_DURATION:
        describe_time(key, text, size);
        break;
    case CONF_WORD:
        snprintf(text, size, "one of: %s", key->words);
        break;
    }
    return text;
}

const struct conf_key *keys_help_next(const char *section, enum conf_status status,
                                      const struct conf_key *after)
{
    const struct conf_key *key = after == NULL ? conf_keys : after + 1;
    while (key->section != NULL &&
           (strcmp(key->section, section) != 0 || key->status != status)) {
        key++;
    }
    return key->section != NULL ? key : NULL;
}

const struct keys_help_group keys_help_groups[] = {
    {CONF_REMARK, "Accepted, and not used:"},
    {CONF_NOT_YET, "Not supported yet; an error where one has a value:"},
    {CONF_BUILT, NULL},
};

static void print_names(const char *heading, const char *section,
                        enum conf_status status)
{
    enum { WIDTH = 78 };
    size_t column = WIDTH;
    const struct conf_key *key = keys_help_next(section, status, NULL);
    if (key == NULL) {
        return;
    }
    printf("\n%s", heading);
    for (; key != NULL; key = keys_help_next(section, status, key)) {
        size_t length = strlen(key->key) + 1;
        bool is_full = column + length > WIDTH;
        printf("%s%s", is_full ? "\n  " : " ", key->key);
        column = is_full ? 1 + length : column + length;
    }
    printf("\n");
}

void keys_help_print(const char *section)
{
    char kind[256];
    if (section[0] != '\0') {
        printf("Section %s: Begin %s ... End %s\n", section, section, section);
    } else {
        printf("Outside of sections, as in lsf.conf:\n");
    }
    for (const struct conf_key *key = keys_help_next(section, CONF_BUILT, NULL);
         key != NULL; key = keys_help_next(section, CONF_BUILT, key)) {
        printf("  %-18s %s\n  %-18s (%s%s%s)\n", key->key, key->what, "",
               keys_help_kind(key, kind, sizeof(kind)),
               key->initial != NULL ? "; default " : "",
               key->initial != NULL ? key->initial : "");
    }
    for (const struct keys_help_group *group = keys_help_groups; group->heading != NULL;
         group++) {
        print_names(group->heading, section, group->status);
    }
}
