/* SPDX-License-Identifier: Apache-2.0 */
/* runs_order.c: orders to a host about one run, known or not. */
#include "site/run/runs_parts.h"

void runs_order_control(const struct runs *runs, int host, const struct run_id *id,
                        const struct run_control *control, struct effects *effects)
{
    struct msg msg = {.kind = MSG_RUN_CONTROL};
    msg.run_control.run = *id;
    msg.run_control.control = *control;
    host_table_send(runs->hosts, host, &msg, effects);
}

void runs_order_forget(const struct runs *runs, int host, const struct run_id *id,
                       struct effects *effects)
{
    struct msg msg = {.kind = MSG_RUN_FORGET};
    msg.run.run = *id;
    host_table_send(runs->hosts, host, &msg, effects);
}
