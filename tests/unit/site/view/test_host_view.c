/* SPDX-License-Identifier: Apache-2.0 */
/* Hosts by name and by group, and the condensed groups that stand for them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/value.h"
#include "tests/unit/site/site_stage.h"

static const char site_text[] =
    "Begin Site\nNAME = south\nSPOOL = /tmp/x\nEnd Site\n"
    "Begin Host\nHOST_NAME MXJ\ns1 4\ns2 4\ns3 4\ns4 4\nEnd Host\n"
    "Begin HostGroup\nGROUP_NAME GROUP_MEMBER CONDENSE\n"
    "blades (s1 s2) Y\nlater (s2 s3) Y\nplain (s2 s4) N\nEnd HostGroup\n"
    "Begin Queue\nQUEUE_NAME = normal\nEnd Queue\n";

/* "s1:blades s4", or "none". */
static const char *hosts_text(struct site_stage *stage, const char *name)
{
    const struct msg_query query = {.kind = QUERY_HOSTS, .name = name};
    const struct msg_reply *reply = site_stage_query(stage, &query);
    const char *text = "";
    if (reply->value == NULL) {
        return "none";
    }
    for (const struct value *row = value_find(reply->value, "hosts")->first;
         row != NULL; row = row->next) {
        const struct value *group = value_find(row, "condensed_in");
        bool has_group = group->kind == VALUE_TEXT;
        text = arena_printf(&stage->arena, "%s%s%s%s%s", text,
                            text[0] != '\0' ? " " : "", value_find(row, "host")->text,
                            has_group ? ":" : "", has_group ? group->text : "");
    }
    return text;
}

static void test_names(void **state)
{
    static const struct {
        const char *name, *hosts;
    } rows[] = {
        {"", "s1:blades s2:blades s3:later s4"}, /* s2 is in two: the first counts */
        {"s2", "s2:blades"},
        {"later", "s2:later s3:later"}, /* the one that is named counts */
        {"plain", "s2:blades s4"},      /* it is not condensed */
        {"nowhere", "none"},
    };
    struct site_stage stage;
    (void)state;
    site_stage_init_text(&stage, site_text);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_string_equal(hosts_text(&stage, rows[i].name), rows[i].hosts);
    }
    site_stage_release(&stage);
}

/* The slots of a job on hosts of one group are one number. */
static void test_jobs(void **state)
{
    struct site_stage stage;
    (void)state;
    site_stage_init_text(&stage, site_text);
    for (int i = 1; i <= 4; i++) {
        site_stage_host_up(&stage, arena_printf(&stage.arena, "s%d", i));
    }
    struct job_spec wide = site_stage_spec("normal", "x");
    wide.n_slots = 12;
    static const char *const hosts[] = {"s1", "s2", "s4"};
    wide.hosts_asked = hosts;
    wide.n_hosts_asked = 3;
    uint64_t id = site_stage_submit_spec(&stage, "ana", &wide);
    assert_int_equal(site_stage_job_int(&stage, id, "condensed_hosts.blades"), 8);
    assert_int_equal(site_stage_job_int(&stage, id, "condensed_hosts.s4"), 4);
    assert_int_equal(site_stage_job_int(&stage, id, "hosts.s1"), 4);
    site_stage_control(&stage, "root", "1", CONTROL_KILL, 0);
    site_stage_pass(&stage, 1000);
    struct job_spec apart = site_stage_spec("normal", "x");
    apart.hosts_asked = &hosts[2];
    apart.n_hosts_asked = 1;
    id = site_stage_submit_spec(&stage, "ana", &apart);
    site_stage_pass(&stage, 1000);
    const struct msg_query query = {.kind = QUERY_JOBS, .name = "2"};
    const struct value *row =
        value_find(site_stage_query(&stage, &query)->value, "jobs")->first;
    assert_int_equal(value_find(row, "condensed_hosts")->kind, VALUE_NULL);
    site_stage_release(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_jobs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
