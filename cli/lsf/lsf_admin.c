/* SPDX-License-Identifier: Apache-2.0 */
/* lsf_admin.c: badmin and its subcommands. Source: LSF's badmin. */
#include <string.h>

#include "cli/commands.h"
#include "cli/lsf/lsf.h"

/* clang-format off */
#define TAKE(name, value, what) {name, value, LSF_TAKEN, NULL, what}
#define FLAG(name, what) {name, NULL, LSF_TAKEN, NULL, what}
#define NOT(name, value, what) {name, value, LSF_REFUSED, NULL, what}
#define END {NULL, NULL, LSF_END, NULL, NULL}
#define NO_DEBUG "levels of logs are set by the daemon's configuration; look into its log (journalctl -u sublet-site)"
#define NO_DAEMON "daemons are controlled by systemctl, as systemctl restart sublet-host"
#define NO_EVENTS "use sublet events, or journalctl -u sublet-site"

const struct lsf_option lsf_admin_subcommands[] = {
    TAKE("hopen", "HOST...|all", "lets hosts take jobs again"),
    TAKE("hclose", "HOST...|all", "hosts take no more jobs; what runs goes on"),
    TAKE("qopen", "QUEUE...|all", "queues take submissions again"),
    TAKE("qclose", "QUEUE...|all", "queues take no submissions"),
    TAKE("qact", "QUEUE...|all", "jobs of queues are started again"),
    TAKE("qinact", "QUEUE...|all", "jobs of queues are not started"),
    FLAG("reconfig", "the site reads its files again"),
    FLAG("showconf", "the parameters of the site, as bparams -a"),
    NOT("ckconfig", NULL, "the files are those of the daemon; use sublet check PATH..., or sublet check --lsf DIR"),
    NOT("mbdrestart", NULL, "use badmin reconfig, or systemctl restart sublet-site; jobs go on"),
    NOT("hrestart", NULL, NO_DAEMON),
    NOT("hshutdown", NULL, NO_DAEMON),
    NOT("hstartup", NULL, NO_DAEMON),
    NOT("hist", NULL, NO_EVENTS),
    NOT("hhist", NULL, NO_EVENTS),
    NOT("qhist", NULL, NO_EVENTS),
    NOT("mbdhist", NULL, NO_EVENTS),
    NOT("sysadminhist", NULL, NO_EVENTS),
    NOT("hghostadd", NULL, "host groups are configured; use section HostGroup and badmin reconfig"),
    NOT("hghostdel", NULL, "host groups are configured; use section HostGroup and badmin reconfig"),
    NOT("hpower", NULL, "hosts are not switched off"),
    NOT("mbddebug", NULL, NO_DEBUG),
    NOT("mbdtime", NULL, NO_DEBUG),
    NOT("sbddebug", NULL, NO_DEBUG),
    NOT("sbdtime", NULL, NO_DEBUG),
    NOT("schddebug", NULL, NO_DEBUG),
    NOT("schdtime", NULL, NO_DEBUG),
    NOT("diagnose", NULL, "use sublet doctor, or bjobs -l JOB for the reasons of a pending job"),
    NOT("perfmon", NULL, "use /metrics of the site (docs/http.md)"),
    NOT("perflog", NULL, "use /metrics of the site (docs/http.md)"),
    NOT("rc", NULL, "resource connectors are not built; lease hosts instead (HostExport)"),
    NOT("lsfproxyd", NULL, "there is no proxy; sublet-site bounds requests by itself"),
    NOT("security", NULL, "use sublet keygen, and the permissions of SPOOL"),
    NOT("gpdrestart", NULL, "global policies are not built; use shares of a plan"),
    NOT("gpdckconfig", NULL, "global policies are not built; use shares of a plan"),
    NOT("gpddebug", NULL, "global policies are not built; use shares of a plan"),
    NOT("gpdtime", NULL, "global policies are not built; use shares of a plan"),
    NOT("help", NULL, "use badmin -h"),
    NOT("quit", NULL, "subcommands are words of the line"),
    END,
};
/* clang-format on */

/* The names of all hosts or queues in place of "all". */
static int name_all(struct call *call, bool is_queue)
{
    struct listing listing = {0};
    struct msg_query query = listing_query(is_queue ? QUERY_QUEUES : QUERY_HOSTS);
    const json_t *row;
    size_t i;
    if (call->n_operands != 2 || strcmp(call->operands[1], "all") != 0) {
        return CALL_OK;
    }
    int status = listing_get(call, &query, &listing);
    char **names =
        arena_alloc(&call->arena, json_array_size(listing.rows) + 2, sizeof(*names));
    int count = 0;
    names[count++] = call->operands[0];
    json_array_foreach(listing.rows, i, row)
    {
        names[count++] =
            arena_str(&call->arena, lsf_format_get(row, is_queue ? "queue" : "host"));
    }
    call->operands = names;
    call->n_operands = count;
    listing_free(&listing);
    return status;
}

static int each(struct call *call, const char *word, int (*run)(struct call *call))
{
    int status = name_all(call, word[0] != '\0');
    char **all = call->operands;
    int count = call->n_operands;
    for (int i = 1; status == CALL_OK && i < count; i++) {
        char *words[] = {arena_str(&call->arena, word), all[i], NULL};
        call->operands = words[0][0] != '\0' ? words : words + 1;
        call->n_operands = words[0][0] != '\0' ? 2 : 1;
        status = run(call);
    }
    if (status == CALL_OK && count < 2) {
        call_fail("badmin %s: expected a name", all[0]);
        status = LSF_FAILED;
    }
    return status;
}

static int refuse_subcommand(const char *word)
{
    for (const struct lsf_option *at = lsf_admin_subcommands; at->kind != LSF_END;
         at++) {
        if (at->kind == LSF_REFUSED && strcmp(at->name, word) == 0) {
            call_fail("badmin %s: not supported; %s", word, at->what);
            return LSF_FAILED;
        }
    }
    call_fail("badmin: unknown subcommand '%s'; badmin -h prints all", word);
    return LSF_FAILED;
}

int lsf_admin_run(struct call *call)
{
    static const struct {
        const char *word, *sublet;
        int (*run)(struct call *call);
    } orders[] = {{"hopen", "", cmd_host_control_open},
                  {"hclose", "", cmd_host_control_close},
                  {"qopen", "open", cmd_job_move_queue},
                  {"qclose", "close", cmd_job_move_queue},
                  {"qact", "activate", cmd_job_move_queue},
                  {"qinact", "inactivate", cmd_job_move_queue}};
    const char *word = call->n_operands > 0 ? call->operands[0] : "";
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
        if (strcmp(orders[i].word, word) == 0) {
            return each(call, orders[i].sublet, orders[i].run);
        }
    }
    if (strcmp(word, "reconfig") == 0) {
        call->n_operands = 0;
        return cmd_reconfig_run(call);
    }
    if (strcmp(word, "showconf") == 0) {
        lsf_line_add(call, "-a", "");
        return lsf_listing_params(call);
    }
    return refuse_subcommand(word);
}
