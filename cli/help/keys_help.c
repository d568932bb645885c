/* SPDX-License-Identifier: Apache-2.0 */
/* keys_help.c: see keys_help.h. */
#include "cli/help/keys_help.h"
#include "cli/help/help.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/conf/conf.h"

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
    case CONF_HOSTS:
        snprintf(text, size, "words; hosts also as node[001-128]");
        break;
    case CONF_INT:
        snprintf(text, size, "number, %" PRId64 " to %" PRId64, key->min, key->max);
        break;
    case CONF_COUNT:
        snprintf(text, size, "number, %" PRId64 " to %" PRId64 ", or !", key->min,
                 key->max);
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
    case CONF_WORDS:
        snprintf(text, size, "some of: %s", key->words);
        break;
    }
    return text;
}

const struct conf_key *keys_help_next(const char *section, const struct conf_key *after)
{
    const struct conf_key *key = after == NULL ? conf_keys : after + 1;
    while (key->section != NULL && strcmp(key->section, section) != 0) {
        key++;
    }
    return key->section != NULL ? key : NULL;
}

void keys_help_print(const char *section)
{
    char kind[256];
    if (section[0] != '\0') {
        printf("Section %s: Begin %s ... End %s\n", section, section, section);
    } else {
        printf("Outside of sections, as in lsf.conf:\n");
    }
    for (const struct conf_key *key = keys_help_next(section, NULL); key != NULL;
         key = keys_help_next(section, key)) {
        printf("  %-18s %s\n  %-18s (%s%s%s)\n", key->key, key->what, "",
               keys_help_kind(key, kind, sizeof(kind)),
               key->initial != NULL ? "; default " : "",
               key->initial != NULL ? key->initial : "");
    }
}
