/* SPDX-License-Identifier: Apache-2.0 */
/* call.c: see call.h. */
#include "cli/call.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LINE_MAX_BYTES = 65536 }; /* of a message; the texts of a site are shorter */

const struct call_option call_globals[] = {
    {"--socket", "PATH", "the site's socket (SUBLET_SOCKET)", false},
    {"--broker", "URL", "ask the broker itself (SUBLET_BROKER)", false},
    {"--key", "FILE", "with --broker: own secret key (SUBLET_KEY)", false},
    {"--broker-key", "FILE", "with --broker: its public key (SUBLET_BROKER_KEY)",
     false},
    {"--help", NULL, "this text", false},
    {"-h", NULL, NULL, false},
    {NULL, NULL, NULL, false},
};

static const struct call_voice *present_voice;

void call_set_voice(const struct call_voice *voice)
{
    present_voice = voice;
}

static void print_line(const char *format, va_list args)
    __attribute__((format(printf, 1, 0)));

static void print_line(const char *format, va_list args)
{
    static char line[LINE_MAX_BYTES];
    fflush(stdout);
    vsnprintf(line, sizeof(line), format, args);
    if (present_voice != NULL) {
        present_voice->reword(line, sizeof(line));
    }
    fprintf(stderr, "%s%s\n",
            present_voice != NULL ? present_voice->prefix : "sublet: ", line);
}

int call_fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_line(format, args);
    va_end(args);
    return CALL_FAILED;
}

int call_fail_err(const struct err *err)
{
    return call_fail("%s", err->text);
}

void call_say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_line(format, args);
    va_end(args);
}

int call_misuse(const struct call *call, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (call != NULL && call->command != NULL) {
        call_say("%s: %s; see 'sublet help %s'", call->command->name, text,
                 call->command->name);
    } else {
        call_say("%s; see 'sublet help'", text);
    }
    return CALL_MISUSED;
}

int call_finish_output(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) {
        return CALL_OK;
    }
    return call_fail("standard output cannot be written: %s", strerror(errno));
}

/* True if `word` is the option. `*value` is the value in "--name=value", else NULL. */
static bool option_matches(const struct call_option *option, const char *word,
                           const char **value)
{
    size_t length = strlen(option->name);
    *value = NULL;
    if (strncmp(word, option->name, length) != 0) {
        return false;
    }
    if (word[length] == '\0') {
        return true;
    }
    if (word[length] != '=' || strncmp(word, "--", 2) != 0) {
        return false;
    }
    *value = word + length + 1;
    return true;
}

static const struct call_option *option_find(const struct call_option *options,
                                             const char *word, const char **value)
{
    for (; options != NULL && options->name != NULL; options++) {
        if (option_matches(options, word, value)) {
            return options;
        }
    }
    return NULL;
}

static const struct call_option *option_of_call(const struct call *call,
                                                const char *word, const char **value)
{
    const struct call_option *option = NULL;
    if (call->command != NULL) {
        option = option_find(call->command->options, word, value);
        if (option == NULL) {
            option = option_find(call->command->more, word, value);
        }
    }
    return option != NULL ? option : option_find(call_globals, word, value);
}

/* Takes the option at argv[*at] and its value. */
static int read_option(struct call *call, int argc, char **argv, int *at)
{
    const char *word = argv[*at];
    const char *value;
    const struct call_option *option = option_of_call(call, word, &value);
    if (option == NULL) {
        return call_misuse(call, "unknown option '%s'", word);
    }
    if (option->is_unbuilt) {
        return call_fail("%s: option %s is not supported yet; nothing was done",
                         call->command->name, option->name);
    }
    if (option->value == NULL && value != NULL) {
        return call_misuse(call, "option %s takes no value", option->name);
    }
    if (option->value != NULL && value == NULL) {
        if (*at + 1 >= argc) {
            return call_misuse(call, "option %s needs a value: %s", option->name,
                               option->value);
        }
        value = argv[++*at];
    }
    call->given[call->n_given].option = option;
    call->given[call->n_given++].value = value != NULL ? value : "";
    return CALL_OK;
}

static const struct command *command_find(const struct command *commands,
                                          const char *name)
{
    for (; commands->name != NULL; commands++) {
        if (strcmp(commands->name, name) == 0) {
            return commands;
        }
    }
    return NULL;
}

static bool is_operand(const struct call *call, const char *word)
{
    const char *value;
    return word[0] != '-' || word[1] == '\0' ||
           (call->command != NULL && call->command->words == CALL_WORDS_DASHED &&
            option_of_call(call, word, &value) == NULL);
}

int call_read(struct call *call, const struct command *commands, int argc, char **argv)
{
    bool may_be_option = true;
    memset(call, 0, sizeof *call);
    arena_init(&call->arena);
    call->operands = arena_alloc(&call->arena, (size_t)argc + 1, sizeof(char *));
    call->given = arena_alloc(&call->arena, (size_t)argc + 1, sizeof(*call->given));
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (may_be_option && strcmp(word, "--") == 0) {
            may_be_option = false;
        } else if (may_be_option && !is_operand(call, word)) {
            int status = read_option(call, argc, argv, &i);
            if (status != CALL_OK) {
                return status;
            }
        } else if (call->command == NULL) {
            call->command = command_find(commands, word);
            if (call->command == NULL) {
                return call_misuse(NULL, "unknown command '%s'", word);
            }
            if (call->command->run == NULL) {
                return call_fail("%s is not built yet", word);
            }
        } else {
            call->operands[call->n_operands++] = argv[i];
            if (call->command->words == CALL_WORDS_FOREIGN) {
                may_be_option = false;
            }
        }
    }
    return CALL_OK;
}

const char *call_value(const struct call *call, const char *name)
{
    for (int i = call->n_given; i-- > 0;) {
        if (strcmp(call->given[i].option->name, name) == 0) {
            return call->given[i].value;
        }
    }
    return NULL;
}

const char *call_text(const struct call *call, const char *name)
{
    const char *value = call_value(call, name);
    return value != NULL ? value : "";
}

bool call_has(const struct call *call, const char *name)
{
    return call_value(call, name) != NULL;
}

static void print_options(const char *heading, const struct call_option *options)
{
    if (options == NULL || options->name == NULL) {
        return;
    }
    printf("%s\n", heading);
    for (; options->name != NULL; options++) {
        char left[64];
        if (options->what == NULL) {
            continue;
        }
        snprintf(left, sizeof left, "%s %s", options->name,
                 options->value != NULL ? options->value : "");
        printf("  %-22s %s%s\n", left, options->what,
               options->is_unbuilt ? " (not supported yet)" : "");
    }
}

void call_print_help(const struct command *command)
{
    bool has_options = command->options != NULL || command->more != NULL;
    printf("sublet %s%s%s%s\n%s\n", command->name, has_options ? " [options]" : "",
           command->operands[0] != '\0' ? " " : "", command->operands,
           command->summary);
    if (command->run == NULL) {
        printf("Not built yet.\n");
    }
    print_options("Options:", command->options);
    print_options(command->options != NULL ? "and:" : "Options:", command->more);
    print_options("Everywhere:", call_globals);
}
