/* SPDX-License-Identifier: Apache-2.0 */
/* lsf_page.c: docs/lsf-parameters.md, from the table of base/conf/lsf_keys.h. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/conf/lsf_keys.h"
#include "cli/help/help.h"

static const struct {
    enum lsf_class class;
    const char *heading, *text;
} groups[] = {
    {LSF_DIFFERS, "Works differently", "These parameters work, with a difference."},
    {LSF_REFUSED, "Refused",
     "Without these, jobs would run differently to their harm. `sublet check` reports "
     "an error, and the site does not start, until the parameter is removed."},
    {LSF_UNSUPPORTED, "Not supported",
     "The feature is missing. `sublet check` warns, and jobs run as if the line were "
     "not "
     "there."},
    {LSF_IGNORED, "Ignored", "These have no effect that a user would notice."},
};

static int count_class(enum lsf_class class)
{
    int count = 0;
    for (const struct lsf_key *entry = lsf_keys; entry->section != NULL; entry++) {
        count += entry->class == class;
    }
    return count;
}

static void put_rows(enum lsf_class class)
{
    for (const struct lsf_key *entry = lsf_keys; entry->section != NULL; entry++) {
        if (entry->class == class) {
            printf("| %s | %s%s%s | %s |\n",
                   entry->section[0] != '\0' ? entry->section : "lsf.conf",
                   entry->key != NULL ? "`" : "",
                   entry->key != NULL ? entry->key : "the whole section",
                   entry->key != NULL ? "`" : "", entry->what);
        }
    }
}

void lsf_page_print(void)
{
    puts("# Parameters of LSF\n\n"
         "`sublet check --lsf DIR` reads the configuration of an LSF cluster and sorts "
         "each parameter by this list. The page is generated from the table that the "
         "check uses (`make docs`).\n\n"
         "Parameters that work as in LSF are in "
         "[configuration.md](configuration.md).\n\n"
         "| class | parameters and sections |\n|---|---|");
    for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
        printf("| %s | %d |\n", groups[i].heading, count_class(groups[i].class));
    }
    for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
        printf("\n## %s (%d)\n\n%s\n\n| section | parameter | here |\n|---|---|---|\n",
               groups[i].heading, count_class(groups[i].class), groups[i].text);
        put_rows(groups[i].class);
    }
}
