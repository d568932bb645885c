/* SPDX-License-Identifier: Apache-2.0 */
/* completion.c: see help.h. The usage text of a command says what its operands are:
 * lower case is a subcommand, JOB, HOST, QUEUE, LEASE, SITE and POOL are names that the
 * daemon is asked for. The value of an option is named in the same words. */
#include "cli/help/help.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Names that the daemon knows. Without an answer in 2 s there are none. */
static const char names[] =
    "# bash completion of sublet; to have it: eval \"$(sublet completion)\"\n"
    "_sublet_names() {\n"
    "    local listing field\n"
    "    case $1 in\n"
    "    JOB) listing=jobs field=id ;;\n"
    "    HOST|HOSTS) listing=hosts field=host ;;\n"
    "    QUEUE) listing=queues field=queue ;;\n"
    "    LEASE) listing=leases field=id ;;\n"
    "    SITE) listing=sites field=site ;;\n"
    "    POOL) listing=pools field=pool ;;\n"
    "    USER) compgen -u; return ;;\n"
    "    [A-Z]*) return ;;\n"
    "    *) echo \"$1\"; return ;;\n"
    "    esac\n"
    "    timeout 2 \"${COMP_WORDS[0]}\" \"${@:2}\" $listing --noheader -o $field "
    "2>/dev/null\n"
    "}\n";

static const char begin[] = "_sublet() {\n"
                            "    local word=${COMP_WORDS[COMP_CWORD]} command= i kind\n"
                            "    local options= valued= first= rest=\n"
                            "    local -a globals=()\n"
                            "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
                            "        case ${COMP_WORDS[i]} in\n";

/* Skips the value of a global option, which is not the command. */
static const char middle[] = "        -*) ;;\n"
                             "        *) command=${COMP_WORDS[i++]}; break ;;\n"
                             "        esac\n"
                             "    done\n"
                             "    case $command in\n";

/* `i` is behind the command: counts the operands up to the cursor. */
static const char end[] =
    "    esac\n"
    "    kind=$first\n"
    "    for ((; i < COMP_CWORD; i++)); do\n"
    "        case \" $valued \" in\n"
    "        *\" ${COMP_WORDS[i]}:\"*)\n"
    "            kind=${valued##*\"${COMP_WORDS[i]}:\"} kind=${kind%% *}\n"
    "            ((++i < COMP_CWORD)) && kind=$first ;;\n"
    "        *) [[ ${COMP_WORDS[i]} == -* ]] || first=$rest; kind=$first ;;\n"
    "        esac\n"
    "    done\n"
    "    COMPREPLY=()\n"
    "    if [[ -z $command || $word == -* ]]; then\n"
    "        mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")\n"
    "    else\n"
    "        for kind in $kind; do\n"
    "            mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(\n"
    "                compgen -W \"$(_sublet_names \"$kind\" \"${globals[@]}\")\" -- "
    "\"$word\")\n"
    "        done\n"
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

/* "-q:QUEUE". */
static void put_valued(const struct call_option *options)
{
    for (; options != NULL && options->name != NULL; options++) {
        if (!options->is_unbuilt && options->value != NULL) {
            printf(" %s:%.*s", options->name,
                   (int)strspn(options->value, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
                   options->value);
        }
    }
}

/* A global option that has a value is passed on when names are asked for. */
static void put_globals(void)
{
    for (const struct call_option *option = call_globals; option->name != NULL;
         option++) {
        if (option->value != NULL) {
            printf("        %s) globals+=(\"${COMP_WORDS[@]:i:2}\"); ((i++)) ;;\n",
                   option->name);
        }
    }
}

static size_t word_length(const char *text)
{
    size_t length = 0;
    while (isalpha((unsigned char)text[length]) || text[length] == '-') {
        length++;
    }
    return length;
}

/* The first operand: the first word of each alternative, "show history drain" of
 * "show|history|drain LEASE". */
static void put_first(const char *operands)
{
    const char *at = operands;
    fputs(" first='", stdout);
    while (at != NULL) {
        at += strspn(at, "[ ");
        printf("%.*s ", (int)word_length(at), at);
        at = islower((unsigned char)operands[0]) ? strchr(at, '|') : NULL;
        at = at != NULL ? at + 1 : NULL;
    }
    fputs("'", stdout);
}

/* Operands behind the first one: the last word in capitals. */
static void put_rest(const char *operands)
{
    const char *last = "";
    size_t last_length = 0;
    for (const char *at = operands; *at != '\0';) {
        size_t length = word_length(at);
        if (length > 1 && isupper((unsigned char)at[1])) {
            last = at;
            last_length = length;
        }
        at += length > 0 ? length : 1;
    }
    printf(" rest='%.*s'", (int)last_length, last);
}

static void put_command(const struct command *command)
{
    printf("    %s) options='", command->name);
    put_options(command->options);
    put_options(command->more);
    put_options(call_globals);
    fputs("' valued='", stdout);
    put_valued(command->options);
    put_valued(command->more);
    fputs("'", stdout);
    put_first(command->operands);
    put_rest(command->operands);
    puts(" ;;");
}

int completion_print(const struct command *commands)
{
    fputs(names, stdout);
    fputs(begin, stdout);
    put_globals();
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
            put_command(command);
        }
    }
    fputs(end, stdout);
    return call_finish_output();
}
