/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_check.c: `sublet check`: checks configuration files as the daemons do. */
#include <stdio.h>

#include "base/conf.h"
#include "broker/broker_config.h"
#include "broker/plan/plan_config.h"
#include "cli/commands.h"
#include "site/config/site_config.h"
#include "sys/daemon.h"

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
    conf_init(&conf, &call->arena);
    daemon_conf_read(&conf, call->operands, call->n_operands);
    conf_check(&conf);
    is_broker = broker_config_read(&conf, &broker);
    is_site = site_config_read(&conf, &site);
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
                         conf.n_errors == 1 ? "" : "s", conf.n_warnings,
                         conf.n_warnings == 1 ? "" : "s");
    }
    return CALL_OK;
}
