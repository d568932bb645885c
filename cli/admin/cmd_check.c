/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_check.c: `sublet check`: checks configuration files as the daemons do. */
#include <stdio.h>

#include "base/conf/conf.h"
#include "broker/broker_config.h"
#include "broker/plan/plan.h"
#include "cli/admin/lsf_report.h"
#include "cli/commands.h"
#include "site/config/site_config.h"
#include "slurm/io/slurm_config.h"
#include "sys/accounts.h"
#include "sys/daemon.h"

const struct call_option cmd_check_options[] = {
    {"--lsf", NULL,
     "the configuration of an LSF cluster: what becomes of each parameter", false},
    {NULL, NULL, NULL, false},
};

static const char *plural(int count)
{
    return count == 1 ? "" : "s";
}

/* The files of an LSF cluster have no section Site; an empty one has them all read. */
static int check_lsf(struct call *call)
{
    static const char section[] = "Begin Site\nNAME = site\nEnd Site\n";
    struct conf conf;
    struct site_setup site;
    conf_init(&conf, &call->arena);
    daemon_conf_read(&conf, call->operands, call->n_operands);
    int n_refused = lsf_report_print(&conf, call->operands[0]);
    if (conf_next(&conf, "Site", NULL) == NULL) {
        conf_read(&conf, "", section, sizeof(section) - 1);
    }
    conf_check_values(&conf);
    site_config_read_simulated(&conf, &site);
    if (conf.n_errors + conf.n_warnings > 0) {
        puts("\nWrong, or different from what is expected:");
        daemon_conf_print_diags(&conf, stdout);
    }
    int status = call_finish_output();
    if (status == CALL_OK && conf.n_errors + n_refused > 0) {
        status =
            call_fail("check: %d parameter%s refused, %d error%s, %d warning%s",
                      n_refused, plural(n_refused), conf.n_errors,
                      plural(conf.n_errors), conf.n_warnings, plural(conf.n_warnings));
    }
    return status;
}

int cmd_check_run(struct call *call)
{
    struct conf conf;
    struct broker_setup broker = {0};
    struct site_setup site = {0};
    struct plan_pools pools;
    bool is_broker, is_site, is_plan;
    int status;
    if (call->n_operands == 0) {
        return call_misuse(call, "no file or directory");
    }
    if (call_has(call, "--lsf")) {
        return check_lsf(call);
    }
    conf_init(&conf, &call->arena);
    daemon_conf_read(&conf, call->operands, call->n_operands);
    slurm_config_complete(&conf, SLURM_CONFIG_CHECK);
    conf_check(&conf);
    is_broker = broker_config_read(&conf, &broker);
    is_site = site_config_read(&conf, &site);
    if (is_site) {
        struct site_machine machine = {
            .uid = accounts_own_uid(),
            .user = accounts_own_name(&call->arena),
            .lease_user_uid = accounts_find(site.config.lease_account),
            .uids_taken = accounts_meet(site.config.lease_uids.first,
                                        site.config.lease_uids.last, &call->arena),
        };
        lease_user_judge(&conf, &machine, &site.config);
    }
    is_plan = is_broker ? false : plan_config_read(&conf, &pools);
    daemon_conf_print_diags(&conf, stdout);
    status = call_finish_output();
    if (status != CALL_OK) {
        return status;
    }
    if (!is_broker && !is_site && !is_plan && conf.n_errors == 0) {
        return call_fail(
            "check: neither a Broker nor a Site section is in %s%s; is that "
            "the right place?",
            call->operands[0], call->n_operands > 1 ? " and the others" : "");
    }
    if (conf.n_errors > 0) {
        return call_fail("check: %d error%s, %d warning%s", conf.n_errors,
                         plural(conf.n_errors), conf.n_warnings,
                         plural(conf.n_warnings));
    }
    return CALL_OK;
}
