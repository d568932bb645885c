/* SPDX-License-Identifier: Apache-2.0 */
/* lsf_line.c: a command line by the table of LSF's options. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/lsf/lsf.h"

/* A row in the shape of a command of sublet, and the row. */
struct made {
    struct command commands[2]; /* first: the call points to it; the end of the list */
    const struct lsf_command *row;
};

const struct lsf_command *lsf_line_find(const struct lsf_command *commands,
                                        const char *name)
{
    for (const struct lsf_command *at = commands; at->name != NULL; at++) {
        if (strcmp(at->name, name) == 0) {
            return at;
        }
    }
    return NULL;
}

static int count_options(const struct lsf_option *options)
{
    int count = 0;
    while (options != NULL && options[count].kind != LSF_END) {
        count++;
    }
    return count;
}

/* The rows in the shape that the reader of sublet's command lines takes. */
static const struct made *make(struct arena *arena, const struct lsf_command *command)
{
    int count = count_options(command->options);
    struct call_option *options =
        arena_alloc(arena, (size_t)count + 2, sizeof(*options));
    struct made *made = arena_alloc(arena, 1, sizeof(*made));
    for (int i = 0; i < count; i++) {
        options[i].name = command->options[i].name;
        options[i].value = command->options[i].value;
        options[i].what = command->options[i].what;
    }
    options[count] = (struct call_option){"-V", NULL, "the version", false};
    made->commands[0] = (struct command){.name = command->name,
                                         .operands = command->operands,
                                         .summary = command->what,
                                         .options = options,
                                         .words = command->words,
                                         .run = command->run};
    made->row = command;
    return made;
}

/* The option "-x" of this command, if it takes no value; NULL: there is none. */
static const char *find_letter(const struct lsf_command *command, char letter)
{
    for (const struct lsf_option *at = command->options;
         at != NULL && at->kind != LSF_END; at++) {
        if (at->name[1] == letter && at->name[2] == '\0' && at->value == NULL) {
            return at->name;
        }
    }
    return NULL;
}

/* "-pl" as "-p" and "-l". Returns the number of options; 0: the word is something
 * else. */
static int split_letters(const struct lsf_command *command, const char *word,
                         char **into)
{
    int count = 0;
    if (word[0] != '-' || word[1] == '\0' || word[2] == '\0') {
        return 0;
    }
    for (const char *at = word + 1; *at != '\0'; at++) {
        const char *name = find_letter(command, *at);
        if (name == NULL) {
            return 0;
        }
        into[count++] = (char *)(uintptr_t)name;
    }
    return count;
}

static const struct lsf_option *find_option(const struct lsf_command *command,
                                            const char *name)
{
    for (int i = 0; i < count_options(command->options); i++) {
        if (strcmp(command->options[i].name, name) == 0) {
            return &command->options[i];
        }
    }
    return NULL;
}

/* The words behind the command's name. What follows the name of bsub's command belongs
 * to that. Returns their number. */
static int read_words(const struct lsf_command *command, int argc, char **argv,
                      char **words)
{
    int count = 0;
    for (int i = 1; i < argc; i++) {
        const struct lsf_option *option = find_option(command, argv[i]);
        int n_letters = option == NULL && command->words != CALL_WORDS_FOREIGN
                            ? split_letters(command, argv[i], words + count)
                            : 0;
        if (n_letters > 0) {
            count += n_letters;
            continue;
        }
        words[count++] = argv[i];
        if (option != NULL && option->value != NULL && i + 1 < argc) {
            words[count++] = argv[++i];
        }
    }
    return count;
}

int lsf_line_read(struct call *call, const struct lsf_command *command, int argc,
                  char **argv)
{
    static struct arena arena; /* lives until the process ends */
    size_t n_bytes = 0;
    arena_init(&arena);
    for (int i = 1; i < argc; i++) {
        n_bytes += strlen(argv[i]) + 1;
    }
    char **words = arena_alloc(&arena, n_bytes + 2, sizeof(*words));
    words[0] = words[1] = arena_str(&arena, command->name);
    int count = read_words(command, argc, argv, words + 2);
    const struct made *made = make(&arena, command);
    return call_read(call, made->commands, count + 2, words) == CALL_OK ? CALL_OK
                                                                        : LSF_FAILED;
}

static void note(const struct lsf_command *command, const struct lsf_option *option)
{
    if (getenv("BSUB_QUIET") == NULL) {
        call_say("%s: %s: %s", command->name, option->name, option->what);
    }
}

int lsf_line_refuse(const struct call *call)
{
    const struct lsf_command *command = ((const struct made *)call->command)->row;
    for (int i = 0; i < call->n_given; i++) {
        const struct lsf_option *found =
            find_option(command, call->given[i].option->name);
        if (found != NULL && found->kind == LSF_REFUSED) {
            call_fail("%s: %s: %s", command->name, found->name, found->what);
            return LSF_FAILED;
        }
    }
    return CALL_OK;
}

int lsf_line_judge(struct call *call)
{
    const struct lsf_command *command = ((const struct made *)call->command)->row;
    int n_kept = 0;
    if (lsf_line_refuse(call) != CALL_OK) {
        return LSF_FAILED;
    }
    for (int i = 0; i < call->n_given; i++) {
        struct call_given *given = &call->given[i];
        const struct lsf_option *found = find_option(command, given->option->name);
        if (found != NULL && found->kind == LSF_NOTED) {
            note(command, found);
        }
        if (found != NULL && found->kind != LSF_TAKEN) {
            continue;
        }
        if (found != NULL && found->to != NULL) {
            struct call_option *renamed =
                arena_alloc(&call->arena, 1, sizeof(*renamed));
            *renamed = *given->option;
            renamed->name = found->to;
            given->option = renamed;
        }
        call->given[n_kept++] = *given;
    }
    call->n_given = n_kept;
    return CALL_OK;
}

void lsf_line_add(struct call *call, const char *option, const char *value)
{
    struct call_option *made = arena_alloc(&call->arena, 1, sizeof(*made));
    struct call_given *all =
        arena_alloc(&call->arena, (size_t)call->n_given + 2, sizeof(*all));
    *made = (struct call_option){option, "VALUE", NULL, false};
    all[0] = (struct call_given){made, value};
    memcpy(all + 1, call->given, (size_t)call->n_given * sizeof(*all));
    call->given = all;
    call->n_given++;
}
