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
    puts(
        "# Configuration\n\n"
        "This page lists every section and key, as `sublet help SECTION` does. It is "
        "generated from the table by which the daemons read their files (`make docs`). "
        "LSF's keys have their meaning in LSF. [lsf-parameters.md](lsf-parameters.md) "
        "lists the parameters of LSF that work differently or have no effect, and "
        "[the guides](guide/two-sites.md) have whole files.\n\n"
        "Keys are not case-sensitive. `()` and `-` stand for no value. Times may have "
        "a suffix `s`, `m`, `h` or `d`.");
    for (const struct conf_key *key = conf_keys; key->section != NULL; key++) {
        if (section == NULL || strcmp(section, key->section) != 0) {
            section = key->section;
            put_section(section);
        }
    }
}
