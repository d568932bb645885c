/* SPDX-License-Identifier: Apache-2.0 */
/* lsf_manual.c: what is made from the table: names for links, the manual page, the page
 * docs/lsf-commands.md, and -h. */
#include <stdio.h>
#include <string.h>

#include "cli/lsf/lsf.h"

int lsf_manual_names(void)
{
    for (const struct lsf_command *at = lsf_table_commands; at->name != NULL; at++) {
        puts(at->name);
    }
    return call_finish_output();
}

static const struct lsf_option *options_of(const struct lsf_command *command)
{
    static const struct lsf_option none = {.kind = LSF_END};
    return command->options != NULL ? command->options : &none;
}

static const struct lsf_option *subcommands_of(const struct lsf_command *command)
{
    static const struct lsf_option none = {.kind = LSF_END};
    return strcmp(command->name, "badmin") == 0 ? lsf_admin_subcommands : &none;
}

static void put_help(const struct lsf_option *options)
{
    for (const struct lsf_option *at = options; at->kind != LSF_END; at++) {
        char left[64];
        snprintf(left, sizeof(left), "%s %s", at->name,
                 at->value != NULL ? at->value : "");
        printf("  %-22s %s%s\n", left, at->kind == LSF_REFUSED ? "not supported: " : "",
               at->what);
    }
}

void lsf_manual_help(const struct lsf_command *command)
{
    printf("%s [options] %s\n%s\n", command->name, command->operands, command->what);
    put_help(options_of(command));
    put_help(subcommands_of(command));
}

/* ---- sublet-lsf(1) */

static void put(const char *text)
{
    for (bool is_begin = true; *text != '\0'; text++, is_begin = false) {
        if (is_begin && strchr(".'", *text) != NULL) {
            fputs("\\&", stdout);
        }
        fputs(*text == '\\'  ? "\\e"
              : *text == '-' ? "\\-"
                             : (char[]){*text, '\0'},
              stdout);
    }
}

static void put_options(const struct lsf_option *options)
{
    for (const struct lsf_option *at = options; at->kind != LSF_END; at++) {
        if (at->kind != LSF_TAKEN) {
            continue;
        }
        fputs(".TP\n\\fB", stdout);
        put(at->name);
        fputs("\\fR", stdout);
        if (at->value != NULL) {
            fputs(" \\fI", stdout);
            put(at->value);
            fputs("\\fR", stdout);
        }
        putchar('\n');
        put(at->what);
        putchar('\n');
    }
}

int lsf_manual_print(void)
{
    puts(".TH \"SUBLET-LSF\" \"1\" \"\" \"Sublet\" \"Sublet\"\n.SH NAME");
    for (const struct lsf_command *at = lsf_table_commands; at->name != NULL; at++) {
        printf("%s%s", at->name, at[1].name != NULL ? ", " : " ");
    }
    puts("\\- commands of LSF at a site of Sublet\n.nh\n.ad l\n.SH DESCRIPTION");
    puts(
        "Each command has the options, columns, messages and exit statuses of LSF "
        "10.1.\nIt acts at the site at whose machine it is called, as "
        "\\fBsublet\\fR(1) "
        "does;\n\\fBSUBLET_SOCKET\\fR names another one.\nAn option of LSF that is not "
        "supported is refused with a sentence, and\n\\fBNAME \\-h\\fR prints all of "
        "them.\n.SH COMMANDS");
    for (const struct lsf_command *at = lsf_table_commands; at->name != NULL; at++) {
        printf(".SS \"%s [options] ", at->name);
        put(at->operands);
        puts("\"");
        put(at->what);
        putchar('\n');
        put_options(options_of(at));
        put_options(subcommands_of(at));
    }
    puts(".SH EXIT STATUS\n0: done. 255: refused, failed, or nothing was found. With\n"
         "\\fBbsub \\-K\\fR and \\fB\\-I\\fR that of the job.\n.SH ENVIRONMENT");
    puts("\\fBLSB_DEFAULTQUEUE\\fR, \\fBLSB_DEFAULTPROJECT\\fR and "
         "\\fBLSB_DEFAULT_USERGROUP\\fR\nstand for \\-q, \\-P and \\-G of bsub, "
         "\\fBLSB_BJOBS_FORMAT\\fR for \\-o of bjobs.\nWith \\fBBSUB_QUIET\\fR bsub "
         "prints nothing; with \\fBBSUB_CHK_RESREQ\\fR it checks \\-R alone.\n"
         "\\fBLSB_NTRIES\\fR is how often bsub asks a site whose pending jobs are at "
         "their bound;\nwithout it, until the job is submitted.\n"
         ".SH SEE ALSO\n\\fBsublet\\fR(1), \\fBsublet.conf\\fR(5)");
    return call_finish_output();
}

/* ---- docs/lsf-commands.md */

static void put_kind(const struct lsf_option *options, enum lsf_option_kind kind,
                     const char *heading)
{
    bool is_first = true;
    for (const struct lsf_option *at = options; at->kind != LSF_END; at++) {
        if (at->kind == kind) {
            printf("%s`%s`", is_first ? heading : ", ", at->name);
            is_first = false;
        }
    }
    fputs(is_first ? "" : ".\n", stdout);
}

static void put_refused(const struct lsf_option *options, const char *heading)
{
    bool is_first = true;
    for (const struct lsf_option *at = options; at->kind != LSF_END; at++) {
        if (at->kind == LSF_REFUSED || at->kind == LSF_NOTED) {
            if (is_first) {
                printf("\n| %s | | why, or what to use |\n|---|---|---|\n", heading);
            }
            printf("| `%s` | %s | %s |\n", at->name,
                   at->kind == LSF_REFUSED ? "refused" : "left out, and said",
                   at->what);
            is_first = false;
        }
    }
}

static int count_kind(const struct lsf_command *command, enum lsf_option_kind kind)
{
    int count = 0;
    for (const struct lsf_option *at = options_of(command); at->kind != LSF_END; at++) {
        count += at->kind == kind;
    }
    return count;
}

/* How many options each command has in each class. */
static void put_counts(void)
{
    int sums[LSF_REFUSED + 1] = {0};
    puts("\n## Options by class\n\nEach option of LSF 10.1's command reference is in "
         "one of four classes. No option of LSF is \"unknown\".\n\n"
         "| command | taken | without effect | left out, and said | refused |\n"
         "|---|---|---|---|---|");
    for (const struct lsf_command *at = lsf_table_commands; at->name != NULL; at++) {
        if (at->run == NULL || at->options == NULL) {
            continue;
        }
        printf("| `%s` |", at->name);
        for (int kind = LSF_TAKEN; kind <= LSF_REFUSED; kind++) {
            int count = count_kind(at, (enum lsf_option_kind)kind);
            sums[kind] += count;
            printf(" %d |", count);
        }
        putchar('\n');
    }
    printf("| all | %d | %d | %d | %d |\n", sums[LSF_TAKEN], sums[LSF_IGNORED],
           sums[LSF_NOTED], sums[LSF_REFUSED]);
}

int lsf_manual_markdown(void)
{
    puts(
        "# Commands of LSF\n\nThe package `sublet-lsf` has the commands of LSF 10.1 as "
        "names of one program. They print LSF's columns and messages and end with its "
        "exit statuses: 255 if something is refused, fails or is not found. This page "
        "is made from the table that the program runs by (`make docs`).\n\n"
        "| LSF | Sublet | what it does |\n|---|---|---|");
    for (const struct lsf_command *at = lsf_table_commands; at->name != NULL; at++) {
        printf("| `%s` | %s%s%s | %s |\n", at->name,
               at->sublet[0] != '\0' ? "`sublet " : "", at->sublet,
               at->sublet[0] != '\0' ? "`" : "", at->what);
    }
    put_counts();
    for (const struct lsf_command *at = lsf_table_commands; at->name != NULL; at++) {
        if (at->run == NULL || at->options == NULL) {
            continue;
        }
        printf("\n## %s\n\n%s\n", at->name, at->what);
        put_kind(options_of(at), LSF_TAKEN, "\nTaken: ");
        put_kind(options_of(at), LSF_IGNORED, "\nWithout effect here: ");
        put_refused(options_of(at), "option");
        put_kind(subcommands_of(at), LSF_TAKEN, "\nSubcommands: ");
        put_refused(subcommands_of(at), "subcommand");
    }
    return call_finish_output();
}
