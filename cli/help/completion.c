/* SPDX-License-Identifier: Apache-2.0 */
/* completion.c: see help.h. */
#include "cli/help/help.h"

#include <stdio.h>

static const char begin[] =
    "# bash completion of sublet; to have it: eval \"$(sublet completion)\"\n"
    "_sublet() {\n"
    "    local word=${COMP_WORDS[COMP_CWORD]} command= i options=\n"
    "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
    "        case ${COMP_WORDS[i]} in\n";

/* Skips the value of a global option, which is not the command. */
static const char middle[] = "        -*) ;;\n"
                             "        *) command=${COMP_WORDS[i]}; break ;;\n"
                             "        esac\n"
                             "    done\n"
                             "    case $command in\n";

static const char end[] =
    "    esac\n"
    "    COMPREPLY=()\n"
    "    if [[ -z $command || $word == -* ]]; then\n"
    "        mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")\n"
    "    fi\n"
    "}\n"
    "complete -o default -F _sublet sublet\n";

static void put_options(const struct call_option *options)
{
    for (; options != NULL && options->name != NULL; options++) {
        if (!options->is_unbuilt) {
            printf(" %s", options->name);
        }
    }
}

static void put_valued(void)
{
    for (const struct call_option *option = call_globals; option->name != NULL;
         option++) {
        if (option->value != NULL) {
            printf("        %s) ((i++)) ;;\n", option->name);
        }
    }
}

int completion_print(const struct command *commands)
{
    fputs(begin, stdout);
    put_valued();
    fputs(middle, stdout);
    fputs("    '') options='", stdout);
    for (const struct command *command = commands; command->name != NULL; command++) {
        if (command->run != NULL) {
            printf("%s ", command->name);
        }
    }
    put_options(call_globals);
    puts("' ;;");
    for (const struct command *command = commands; command->name != NULL; command++) {
        if (command->run != NULL) {
            printf("    %s) options='", command->name);
            put_options(command->options);
            put_options(command->more);
            put_options(call_globals);
            puts("' ;;");
        }
    }
    fputs(end, stdout);
    return call_finish_output();
}
