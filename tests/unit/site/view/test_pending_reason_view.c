/* SPDX-License-Identifier: Apache-2.0 */
/* Which part of a requirement how many hosts do not meet: what `jobs -l JOB` says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/value.h"
#include "tests/unit/site/site_stage.h"

static const char site_text[] =
    "Begin Site\nNAME = south\nSPOOL = /tmp/x\nEnd Site\n"
    "Begin Host\nHOST_NAME MXJ type RESOURCES\n"
    "s1 4 X86_64 (big)\ns2 4 X86_64 (big fast)\ns3 4 SUN ()\nEnd Host\n"
    "Begin Resource\nRESOURCENAME TYPE INTERVAL INCREASING DESCRIPTION\n"
    "big Boolean () () (b)\nfast Boolean () () (f)\nslow Boolean () () (s)\n"
    "End Resource\n"
    "Begin Queue\nQUEUE_NAME = normal\nEnd Queue\n"
    "Begin Queue\nQUEUE_NAME = some\nHOSTS = s1 s2\nRES_REQ = slow\nEnd Queue\n";

/* "part 2/3; part 1/3" */
static const char *unmet_of(struct site_stage *stage)
{
    const struct msg_query query = {.kind = QUERY_JOBS, .name = "1"};
    const struct msg_reply *reply = site_stage_query(stage, &query);
    const struct value *row = value_find(reply->value, "jobs")->first;
    const struct value *list = value_find(row, "unmet");
    const char *text = "";
    for (const struct value *item = list != NULL ? list->first : NULL; item != NULL;
         item = item->next) {
        text = arena_printf(&stage->arena, "%s%s%s %d/%d", text,
                            text[0] != '\0' ? "; " : "", value_find(item, "part")->text,
                            (int)value_find(item, "hosts")->number,
                            (int)value_find(item, "of")->number);
    }
    return text;
}

static void test_parts(void **state)
{
    static const struct {
        const char *why, *queue, *res_req, *unmet;
    } rows[] = {
        {"one of two", "normal", "select[big && slow]",
         "big 1/3; slow 3/3; type == local 1/3"},
        {"a part that some meet", "normal", "big && fast && slow && type==any",
         "big 1/3; fast 2/3; slow 3/3"},
        {"an alternative is one part", "normal", "select[slow || fast && slow]",
         "slow || fast && slow 3/3; type == local 1/3"},
        {"in parentheses too", "normal", "select[type==any && (slow || !big && fast)]",
         "(slow || !big && fast) 3/3"},
        {"a type that nobody has", "normal", "select[type==HP]", "type==HP 3/3"},
        {"the queue's part, of the queue's hosts", "some", "select[fast]",
         "fast 1/2; slow 2/2"},
        {"none that is to blame", "normal", "select[big]", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct site_stage stage;
        struct job_spec spec = site_stage_spec(rows[i].queue, "work");
        site_stage_init_text(&stage, site_text);
        for (int k = 1; k <= 3; k++) {
            char host[4];
            snprintf(host, sizeof(host), "s%d", k);
            site_stage_host_up(&stage, host);
        }
        spec.res_reqs = &rows[i].res_req;
        spec.n_res_reqs = 1;
        assert_int_equal(site_stage_submit_spec(&stage, "ana", &spec), 1);
        const char *unmet = unmet_of(&stage);
        if (strcmp(unmet, rows[i].unmet) != 0) {
            fail_msg("%s: got \"%s\"", rows[i].why, unmet);
        }
        site_stage_release(&stage);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_parts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
