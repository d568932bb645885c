/* SPDX-License-Identifier: Apache-2.0 */
/* main.c: the sublet command: its table of commands.
 *
 * Layer: cli (sys, proto, base; for check, plan and resreq the pure rooms). */
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "base/conf/conf_keys.h"
#include "cli/call.h"
#include "cli/commands.h"
#include "cli/help/help.h"
#include "cli/listing/listing.h"

#ifndef SUBLET_VERSION
#define SUBLET_VERSION "unknown"
#endif

static int version_run(struct call *call);
static int help_run(struct call *call);
static int completion_run(struct call *call);

const struct call_option main_version_options[] = {
    {"--json", NULL, "as JSON", false},
    {NULL, NULL, NULL, false},
};

static const struct call_option help_options[] = {
    {"--man", NULL, "as a manual page: sublet, or sublet.conf", false},
    {"--markdown", NULL, "all keys, as docs/configuration.md has them", false},
    {"--lsf", NULL,
     "parameters of LSF that differ or have no effect, as docs/lsf-parameters.md has "
     "them",
     false},
    {NULL, NULL, NULL, false},
};

/* clang-format off */
#define LATER(name, operands, what) \
    {name, operands, what, NULL, NULL, CALL_WORDS_MIXED, NULL}

static const struct command commands[] = {
    /* users */
    {"sub", "COMMAND...", "Submits a job; without COMMAND its script is standard input.",
     cmd_submit_options, NULL, CALL_WORDS_FOREIGN, cmd_submit_run},
    {"jobs", "[JOB...]", "Your unfinished jobs.",
     cmd_jobs_options, listing_options, CALL_WORDS_MIXED, cmd_jobs_run},
    {"kill", "JOB...|0", "Ends jobs; 0: all of yours.",
     cmd_job_control_options, NULL, CALL_WORDS_MIXED, cmd_job_control_kill},
    {"stop", "JOB...|0", "Suspends jobs.", NULL, NULL, CALL_WORDS_MIXED, cmd_job_control_stop},
    {"resume", "JOB...|0", "Resumes suspended jobs.",
     NULL, NULL, CALL_WORDS_MIXED, cmd_job_control_resume},
    {"peek", "JOB", "What a job has written so far.",
     cmd_peek_options, NULL, CALL_WORDS_MIXED, cmd_peek_run},
    {"wait", "JOB...", "Waits for jobs to end: exit 0 when all are DONE, else 1.",
     NULL, NULL, CALL_WORDS_MIXED, cmd_wait_run},
    {"requeue", "JOB...", "Ends jobs, and puts them back into their queue.",
     cmd_job_move_options, NULL, CALL_WORDS_MIXED, cmd_job_move_requeue},
    {"switch", "QUEUE JOB...", "Moves pending jobs to another queue.",
     NULL, NULL, CALL_WORDS_MIXED, cmd_job_move_switch},
    {"modify", "JOB",
     "Changes a pending job, or an array; of one that has started its limits.",
     cmd_modify_options, NULL, CALL_WORDS_MIXED, cmd_modify_run},
    {"btop", "JOB...", "Moves pending jobs before all others of their queue and priority.",
     NULL, NULL, CALL_WORDS_MIXED, cmd_job_move_top},
    {"bbot", "JOB...", "Moves pending jobs behind all others of their queue and priority.",
     NULL, NULL, CALL_WORDS_MIXED, cmd_job_move_bottom},
    {"resize", "JOB slots=N|release [all-but] [N@]HOST...|cancel",
     "Other slots for a running job: so many; without those; no more than it has.",
     cmd_resize_options, NULL, CALL_WORDS_MIXED, cmd_resize_run},
    {"hist", "[JOB...]", "What happened to jobs, also after their end: 12, 12[3], 12@SITE.",
     cmd_hist_options, listing_options, CALL_WORDS_MIXED, cmd_hist_run},
    {"jgroups", "[GROUP...]", "Job groups and their jobs; GROUP/: without those below it.",
     NULL, listing_options, CALL_WORDS_MIXED, cmd_job_group_list},
    {"jgroup", "add|del|mod GROUP", "Adds, deletes or changes a job group.",
     cmd_job_group_options, NULL, CALL_WORDS_MIXED, cmd_job_group_order},
    /* site administrators */
    {"hosts", "[HOST...]", "The site's hosts, borrowed ones too; a HOST may be a host group.",
     cmd_resources_hosts_options, listing_options, CALL_WORDS_MIXED, cmd_resources_hosts},
    {"load", "[HOST...]", "Load of the site's hosts.",
     cmd_load_options, listing_options, CALL_WORDS_MIXED, cmd_load_run},
    {"queues", "[QUEUE...]", "The site's queues.",
     cmd_resources_queues_options, listing_options, CALL_WORDS_MIXED, cmd_resources_queues},
    {"queue", "open|close|activate|inactivate QUEUE",
     "Opens, closes, activates or inactivates a queue.",
     NULL, NULL, CALL_WORDS_MIXED, cmd_job_move_queue},
    {"exports", "", "Exported slots: what the site lends, and to which sites.",
     NULL, listing_options, CALL_WORDS_MIXED, cmd_resources_exports},
    {"check", "PATH...", "Checks configuration files and directories.",
     cmd_check_options, NULL, CALL_WORDS_MIXED, cmd_check_run},
    {"doctor", "[PATH...]",
     "Checks this machine: files, modes, keys, connections, disk, clock, cgroups.",
     NULL, NULL, CALL_WORDS_MIXED, cmd_doctor_run},
    {"slurm", "nodes|check",
     "A Slurm cluster: its nodes, and which of them are wholly idle; whether its settings "
     "suit leases.",
     cmd_slurm_options, listing_options, CALL_WORDS_MIXED, cmd_slurm_run},
    {"users", "[USER...]", "Users and groups: their shares and their use.",
     NULL, listing_options, CALL_WORDS_MIXED, cmd_resources_users},
    {"limits", "[NAME...]", "Limits of slots and jobs: for which users, and how much is used.",
     cmd_resources_limits_options, listing_options, CALL_WORDS_MIXED, cmd_resources_limits},
    {"runs", "--orphans|--adopt RUN...|--end RUN...|--accept-loss",
     "Runs that the journal of the site has lost: lists, adopts or ends them.",
     cmd_runs_options, listing_options, CALL_WORDS_MIXED, cmd_runs_run},
    LATER("rsv", "add|mod|del|list", "Advance reservations."),
    LATER("launch", "", "A reserved name."),
    LATER("study", "", "A reserved name."),
    LATER("what-if", "", "A reserved name."),
    {"close", "HOST...", "Closes hosts, also borrowed ones for this site: nothing new starts.",
     NULL, NULL, CALL_WORDS_MIXED, cmd_host_control_close},
    {"open", "HOST...", "Opens hosts again.", NULL, NULL, CALL_WORDS_MIXED, cmd_host_control_open},
    {"reconfig", "", "Makes a site, or with --broker the broker, reload its configuration.",
     NULL, NULL, CALL_WORDS_MIXED, cmd_reconfig_run},
    /* federation administrators */
    {"leases", "[LEASE...]", "Leases: how many slots each side holds and uses.",
     cmd_leases_options, listing_options, CALL_WORDS_MIXED, cmd_leases_run},
    {"lease", "show|history|drain|resume|recover LEASE",
     "One lease: in full, its past; emptied for maintenance, and back; its provider has "
     "lost its journal.",
     cmd_leases_one_options, listing_options, CALL_WORDS_MIXED, cmd_leases_one},
    {"rebalance", "LEASE", "Applies the rebalance rule to a lease at once.",
     NULL, NULL, CALL_WORDS_MIXED, cmd_rebalance_run},
    {"sites", "[SITE...]", "The federation's sites.",
     NULL, listing_options, CALL_WORDS_MIXED, cmd_leases_sites},
    {"brokers", "[step-down]",
     "The brokers of the federation's store: which one leads; makes it a standby.",
     NULL, listing_options, CALL_WORDS_MIXED, cmd_brokers_run},
    {"reclaim-delay", "[VALUE|default]",
     "The time between two rebalances: shows it, or sets it (minutes, or s m h d).",
     cmd_reclaim_delay_options, listing_options, CALL_WORDS_MIXED, cmd_reclaim_delay_run},
    {"events", "", "Events of leases and sites, one JSON object on each line.",
     cmd_events_options, NULL, CALL_WORDS_MIXED, cmd_events_run},
    {"top", "", "Sites and leases on the terminal, live.",
     cmd_top_options, NULL, CALL_WORDS_MIXED, cmd_top_run},
    {"snapshot", "FILE", "Writes a copy of the broker's store, which sqlite3 can read.",
     NULL, NULL, CALL_WORDS_MIXED, cmd_snapshot_run},
    {"keygen", "NAME", "Makes a pair of keys: NAME.key and NAME.key_secret.",
     NULL, NULL, CALL_WORDS_MIXED, cmd_keygen_run},
    {"pools", "[POOL...]", "Pools and their slots.",
     NULL, listing_options, CALL_WORDS_MIXED, cmd_plan_live_pools},
    {"plan", "show [POOL]|quota FILE|explain [FILE] [NODE...]",
     "Sharing plans: how many slots of a pool each node gets, and why; also for a plan in a file.",
     cmd_plan_options, listing_options, CALL_WORDS_MIXED, cmd_plan_run},
    {"usage", "[LEASE...]",
     "The slot time of leases that this site held, used and left idle.",
     cmd_usage_options, listing_options, CALL_WORDS_MIXED, cmd_usage_run},
    /* anyone */
    {"version", "", "The program's version.",
     main_version_options, NULL, CALL_WORDS_MIXED, version_run},
    {"help", "[COMMAND|SECTION]",
     "This text, or that of a command, or of a section of the configuration.",
     help_options, NULL, CALL_WORDS_MIXED, help_run},
    {"completion", "", "Completion for bash: eval \"$(sublet completion)\".",
     NULL, NULL, CALL_WORDS_MIXED, completion_run},
    {"resreq", "check|match STRING...", "Checks requirement strings; prints the hosts that they select.",
     cmd_resreq_options, NULL, CALL_WORDS_DASHED, cmd_resreq_run},
    {"simulate", "SCENARIO...", "A federation in virtual time, from a scenario.",
     cmd_simulate_options, NULL, CALL_WORDS_MIXED, cmd_simulate_run},
    {NULL, NULL, NULL, NULL, NULL, CALL_WORDS_MIXED, NULL},
};
/* clang-format on */

static int version_run(struct call *call)
{
    if (call->n_operands > 0) {
        return call_misuse(call, "takes no operands");
    }
    if (call_has(call, "--json")) {
        printf("{\"schema_version\":1,\"version\":\"%s\"}\n", SUBLET_VERSION);
    } else {
        printf("sublet %s\n", SUBLET_VERSION);
    }
    return call_finish_output();
}

static void print_commands(bool is_built)
{
    for (const struct command *command = commands; command->name != NULL; command++) {
        if ((command->run != NULL) == is_built) {
            printf("  %-14s %s\n", command->name, command->summary);
        }
    }
}

static int print_overview(void)
{
    puts("sublet COMMAND [options]: a lease broker for federated compute clusters\n");
    print_commands(true);
    puts("\nNot built yet:");
    print_commands(false);
    puts("\n'sublet help COMMAND' prints its options. For all commands:");
    for (const struct call_option *option = call_globals; option->name != NULL;
         option++) {
        if (option->value != NULL) {
            printf("  %-12s %-5s %s\n", option->name, option->value, option->what);
        }
    }
    puts("\nExit status: 0 ok, 1 refused or failed, 2 usage, 255 a wrong requirement\n"
         "string (-R). sub -K and sub -I end with the exit code of the job.");
    return call_finish_output();
}

static int completion_run(struct call *call)
{
    if (call->n_operands > 0) {
        return call_misuse(call, "takes no operands");
    }
    return completion_print(commands);
}

static int help_run(struct call *call)
{
    if (call_has(call, "--markdown")) {
        keys_page_print();
        return call_finish_output();
    }
    if (call_has(call, "--lsf")) {
        lsf_page_print();
        return call_finish_output();
    }
    if (call_has(call, "--man")) {
        return manual_print(call->n_operands > 0 ? call->operands[0] : "sublet",
                            commands);
    }
    if (call->n_operands == 0) {
        return print_overview();
    }
    for (const struct command *command = commands; command->name != NULL; command++) {
        if (strcmp(command->name, call->operands[0]) == 0) {
            call_print_help(command);
            return call_finish_output();
        }
    }
    const struct conf_key *keys = conf_keys_of(call->operands[0]);
    if (keys == NULL || keys->section[0] == '\0') {
        return call_misuse(NULL, "unknown command '%s', and no section is called so",
                           call->operands[0]);
    }
    keys_help_print(keys->section);
    return call_finish_output();
}

/* Texts are UTF-8. Characters and their widths are those of the user's locale; if it
 * knows ASCII only (LC_ALL=C, or nothing is set), those of UTF-8. */
static void set_locale(void)
{
    const char *set = setlocale(LC_CTYPE, "");
    if (set == NULL || strcmp(nl_langinfo(CODESET), "ANSI_X3.4-1968") == 0) {
        (void)setlocale(LC_CTYPE, "C.UTF-8");
    }
}

int main(int argc, char **argv)
{
    static struct call call;
    set_locale();
    if (argc > 1 && strcmp(argv[1], "--version") == 0) {
        static char version[] = "version";
        argv[1] = version;
    }
    int status = call_read(&call, commands, argc, argv);
    bool wants_help = call_has(&call, "--help") || call_has(&call, "-h");
    if (status == CALL_OK && call.command == NULL) {
        status = wants_help ? print_overview() : call_misuse(NULL, "no command");
    } else if (status == CALL_OK && wants_help) {
        call_print_help(call.command);
        status = call_finish_output();
    } else if (status == CALL_OK) {
        status = call.command->run(&call);
    }
    arena_release(&call.arena);
    return status;
}
