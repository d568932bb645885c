/* SPDX-License-Identifier: Apache-2.0 */
/* main.c: sublet-lsf: the name by which it is called is a command of LSF.
 *
 * Layer: cli. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/lsf/lsf.h"

#ifndef SUBLET_VERSION
#define SUBLET_VERSION "unknown"
#endif

/* The site's sentences in LSF's words. */
static const struct {
    const char *ours, *lsf;
} sentences[] = {
    {"no such queue", "No such queue"},
    {"no matching job found", "No matching job found"},
    {"job has already finished", "Job has already finished"},
    {"job has not started yet", "Job has not started yet"},
    {"user permission denied", "User permission denied"},
    {"job is not suspended", "Job is not suspended"},
    {"job is being terminated", "Job is being terminated"},
    {": no such host", ": Bad host name, host group name or cluster name"},
};

static void replace(char *text, size_t size, char *at, size_t n_bytes, const char *with)
{
    size_t length = strlen(with);
    if (strlen(text) - n_bytes + length < size) {
        memmove(at + length, at + n_bytes, strlen(at + n_bytes) + 1);
        memcpy(at, with, length);
    }
}

/* Takes away what names a command of sublet: ", see `sublet queues`". */
static void remove_hints(char *text, size_t size)
{
    static const char *const begins[] = {", see `sublet ", "; see `sublet ",
                                         ", see 'sublet ", "; see 'sublet "};
    for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
        char quote[2] = {begins[i][6], '\0'};
        char *at;
        while ((at = strstr(text, begins[i])) != NULL) {
            size_t length = strlen(begins[i]);
            length += strcspn(at + length, quote);
            replace(text, size, at, length + (at[length] != '\0'), "");
        }
    }
}

/* "Host <n9> is not found" as "n9: Bad host name, ...". */
static void reword_missing(char *text, size_t size)
{
    static const struct {
        const char *thing, *lsf;
    } things[] = {
        {"Host <", ": Bad host name, host group name or cluster name"},
        {"Queue <", ": No such queue"},
        {"User <", ": No such user or user group"},
        {"Application profile <", ": No such application profile"},
    };
    static const char end[] = "> is not found";
    for (size_t i = 0; i < sizeof(things) / sizeof(things[0]); i++) {
        char *from = strstr(text, things[i].thing);
        char *at = from != NULL ? strstr(from, end) : NULL;
        if (at != NULL) {
            replace(text, size, at, sizeof(end) - 1, things[i].lsf);
            replace(text, size, from, strlen(things[i].thing), "");
            return;
        }
    }
}

static void reword(char *text, size_t size)
{
    remove_hints(text, size);
    reword_missing(text, size);
    for (size_t i = 0; i < sizeof(sentences) / sizeof(sentences[0]); i++) {
        char *at = strstr(text, sentences[i].ours);
        if (at != NULL) {
            replace(text, size, at, strlen(sentences[i].ours), sentences[i].lsf);
        }
    }
}

static int run(const struct lsf_command *command, int argc, char **argv)
{
    static struct call call;
    int status = lsf_line_read(&call, command, argc, argv);
    /* After the options of a script, and what an esub has changed. */
    bool is_late =
        command->words == CALL_WORDS_FOREIGN || command->run == lsf_submit_modify;
    if (status == CALL_OK && call_has(&call, "-V")) {
        fprintf(stderr, "Sublet %s, with the commands of LSF 10.1\n", SUBLET_VERSION);
        return 0;
    }
    if (status == CALL_OK && call_has(&call, "-h")) {
        lsf_manual_help(command);
        return 0;
    }
    if (status == CALL_OK) {
        status = is_late ? lsf_line_refuse(&call) : lsf_line_judge(&call);
    }
    if (status == CALL_OK) {
        status = command->run(&call);
    }
    arena_release(&call.arena);
    return status == CALL_OK || call.has_outcome ? status : LSF_FAILED;
}

static int usage(void)
{
    call_say("call it by the name of a command of LSF, or: sublet-lsf bjobs ...; "
             "sublet-lsf --names prints them");
    return LSF_FAILED;
}

int main(int argc, char **argv)
{
    static const struct call_voice voice = {"", reword};
    const char *slash = strrchr(argc > 0 ? argv[0] : "", '/');
    const char *name = slash != NULL ? slash + 1 : argc > 0 ? argv[0] : "";
    call_set_voice(&voice);
    if (strcmp(name, "sublet-lsf") == 0) {
        if (argc < 2) {
            return usage();
        }
        if (strcmp(argv[1], "--names") == 0) {
            return lsf_manual_names();
        }
        if (strcmp(argv[1], "--version") == 0) {
            puts("sublet-lsf " SUBLET_VERSION);
            return CALL_OK;
        }
        if (strcmp(argv[1], "--man") == 0) {
            return lsf_manual_print();
        }
        if (strcmp(argv[1], "--markdown") == 0) {
            return lsf_manual_markdown();
        }
        name = argv[1];
        argc--;
        argv++;
    }
    const struct lsf_command *command = lsf_line_find(lsf_table_commands, name);
    if (command == NULL) {
        return usage();
    }
    if (command->run == NULL) {
        call_fail("%s: %s", name, command->what);
        return LSF_FAILED;
    }
    return run(command, argc, argv);
}
