/* SPDX-License-Identifier: Apache-2.0 */
/* keys_page.c: see help.h. */
#include "cli/help/help.h"

#include <stdio.h>
#include <string.h>

#include "cli/help/keys_help.h"

/* Escapes bars, which end a cell. */
static void put(const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '|' || *text == '<') {
            fputc('\\', stdout);
        }
        fputc(*text, stdout);
    }
}

static void put_key(const struct conf_key *key)
{
    char kind[256];
    printf("| `%s` | ", key->key);
    put(keys_help_kind(key, kind, sizeof(kind)));
    fputs(" | ", stdout);
    put(key->initial != NULL ? key->initial : "");
    fputs(" | ", stdout);
    put(key->what);
    puts(" |");
}

static void put_section(const char *section)
{
    const struct conf_key *key = keys_help_next(section, NULL);
    printf("\n## %s\n", section[0] != '\0' ? section : "Outside of sections");
    puts("| key | value | default | meaning |\n|---|---|---|---|");
    for (; key != NULL; key = keys_help_next(section, key)) {
        put_key(key);
    }
}

void keys_page_print(void)
{
    const char *section = NULL;
    puts("# Configuration\n\n"
         "Every section and key, as `sublet help SECTION` tells them: this page is "
         "generated from the table that the daemons read by (`make docs`). What a key "
         "means in LSF it means here; [running.md](running.md) shows whole files, and "
         "[lsf-parameters.md](lsf-parameters.md) lists the parameters of LSF that work "
         "differently or have no effect.\n\n"
         "Keys are not case-sensitive; `()` and `-` stand for no value; times may have "
         "a suffix `s`, `m`, `h` or `d`.");
    for (const struct conf_key *key = conf_keys; key->section != NULL; key++) {
        if (section == NULL || strcmp(section, key->section) != 0) {
            section = key->section;
            put_section(section);
        }
    }
}
