/* SPDX-License-Identifier: Apache-2.0 */
/* manual.c: see help.h. */
#include "cli/help/help.h"

#include <stdio.h>
#include <string.h>

#include "cli/help/keys_help.h"
#include "cli/listing/listing.h"

/* Escapes text for roff: backslashes, requests and minus signs. */
static void put(const char *text)
{
    bool is_begin = true;
    for (; *text != '\0'; text++) {
        if (is_begin && (*text == '.' || *text == '\'')) {
            fputs("\\&", stdout);
        }
        if (*text == '\\') {
            fputs("\\e", stdout);
        } else if (*text == '-') {
            fputs("\\-", stdout);
        } else {
            fputc(*text, stdout);
        }
        is_begin = *text == '\n';
    }
}

static void put_line(const char *text)
{
    put(text);
    fputc('\n', stdout);
}

static void put_bold(const char *text)
{
    fputs("\\fB", stdout);
    put(text);
    fputs("\\fR", stdout);
}

static void put_heading(const char *macro, const char *text)
{
    printf("%s \"", macro);
    put(text);
    puts("\"");
}

static void begin_page(const char *title, const char *section, const char *what)
{
    printf(".TH \"%s\" \"%s\" \"\" \"Sublet\" \"Sublet\"\n", title, section);
    puts(".SH NAME");
    put(what);
    puts("\n.nh\n.ad l");
}

/* ---- sublet(1) */

static void put_options(const struct call_option *options)
{
    for (; options != NULL && options->name != NULL; options++) {
        if (options->what == NULL || options->is_unbuilt) {
            continue;
        }
        puts(".TP");
        put_bold(options->name);
        if (options->value != NULL) {
            fputs(" \\fI", stdout);
            put(options->value);
            fputs("\\fR", stdout);
        }
        puts("");
        put_line(options->what);
    }
}

static void put_command(const struct command *command)
{
    char heading[256];
    snprintf(heading, sizeof(heading), "sublet %s%s%s%s", command->name,
             command->options != NULL || command->more != NULL ? " [options]" : "",
             command->operands[0] != '\0' ? " " : "", command->operands);
    put_heading(".SS", heading);
    put_line(command->summary);
    put_options(command->options);
}

static void put_listings(const struct command *commands)
{
    const char *comma = "";
    put_heading(".SS", "Options of listings");
    for (const struct command *command = commands; command->name != NULL; command++) {
        if (command->more == listing_options) {
            fputs(comma, stdout);
            put_bold(command->name);
            comma = ", ";
        }
    }
    puts(" take:");
    put_options(listing_options);
}

static int print_commands(const struct command *commands)
{
    begin_page("SUBLET", "1",
               "sublet - lease broker for federated compute clusters: the commands");
    puts(".SH SYNOPSIS\n\\fBsublet\\fR \\fICOMMAND\\fR [options] [operands]");
    puts(".SH DESCRIPTION");
    put_line("Users submit and manage jobs, site administrators hosts and exports, "
             "federation administrators leases. Data is on standard output, talk on "
             "standard error.");
    puts(".SH COMMANDS");
    for (const struct command *command = commands; command->name != NULL; command++) {
        if (command->run != NULL) {
            put_command(command);
        }
    }
    put_listings(commands);
    put_heading(".SS", "Options of all commands");
    put_options(call_globals);
    puts(".SH EXIT STATUS");
    put_line("0: done. 1: refused or failed, with one line on standard error that says "
             "what, why and what to do. 2: wrong usage.");
    puts(".SH ENVIRONMENT");
    put_line("SUBLET_SOCKET, SUBLET_BROKER, SUBLET_KEY and SUBLET_BROKER_KEY are "
             "defaults for the options of all commands.");
    puts(".SH SEE ALSO\n\\fBsublet.conf\\fR(5)");
    return call_finish_output();
}

/* ---- sublet.conf(5) */

static void put_key(const struct conf_key *key)
{
    char kind[256];
    puts(".TP");
    put_bold(key->key);
    fputs(" (", stdout);
    put(keys_help_kind(key, kind, sizeof(kind)));
    if (key->initial != NULL) {
        fputs("; default ", stdout);
        put(key->initial);
    }
    puts(")");
    put_line(key->what);
}

static void put_section(const char *section)
{
    char heading[64] = "Outside of sections";
    if (section[0] != '\0') {
        snprintf(heading, sizeof(heading), "Section %s", section);
    }
    put_heading(".SS", heading);
    for (const struct conf_key *key = keys_help_next(section, NULL); key != NULL;
         key = keys_help_next(section, key)) {
        put_key(key);
    }
}

static int print_keys(void)
{
    begin_page("SUBLET.CONF", "5",
               "sublet.conf - configuration of sublet-broker and sublet-site");
    puts(".SH DESCRIPTION");
    put_line(
        "LSF's own syntax and sections. A daemon is given files, or directories of "
        "which it reads every *.conf, lsb.* and lsf.* file in the order of their "
        "names.");
    puts(".PP");
    put_line("A section is KEY = value lines, or a table with a heading row, between "
             "Begin NAME and End NAME. A # begins a comment, a \\ at its end continues "
             "a line, () and - stand for no value; keys are not case-sensitive. Times "
             "may have a suffix s, m, h or d.");
    puts(".PP");
    put_line("sublet check PATH... judges files: an unknown key is a warning; a "
             "malformed value, a duplicate or a broken reference is an error, and a "
             "daemon does not start on it.");
    puts(".SH SECTIONS");
    const char *section = NULL;
    for (const struct conf_key *key = conf_keys; key->section != NULL; key++) {
        if (section == NULL || strcmp(section, key->section) != 0) {
            section = key->section;
            put_section(section);
        }
    }
    puts(".SH LSF");
    put_line("sublet help --lsf lists the parameters of LSF that work differently or "
             "have no effect; sublet check --lsf DIR judges the configuration of an "
             "LSF cluster by this list.");
    puts(".SH SEE ALSO\n\\fBsublet\\fR(1)");
    return call_finish_output();
}

int manual_print(const char *page, const struct command *commands)
{
    if (strcmp(page, "sublet") == 0) {
        return print_commands(commands);
    }
    if (strcmp(page, "sublet.conf") == 0) {
        return print_keys();
    }
    return call_misuse(NULL, "no manual page '%s': sublet or sublet.conf", page);
}
