/* SPDX-License-Identifier: Apache-2.0 */
/* What requirements of applications mean for jobs that have none of their own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/site/site_stage.h"

static const char site_text[] =
    "Begin Site\nNAME = south\nSPOOL = /s\nEnd Site\n"
    "Begin Host\nHOST_NAME MXJ\ns1 4\ns2 4\nEnd Host\n"
    "Begin Queue\nQUEUE_NAME = local\nEnd Queue\n"
    "Begin Application\nNAME = first\nRES_REQ = select[hname==s1]\n"
    "End Application\n"
    "Begin Application\nNAME = second\nRES_REQ = select[hname==s2]\n"
    "End Application\n";

/* The RES_REQ of its application counts for a job without -R, whatever other jobs of
 * the queue there are. */
static void test_application(void **state)
{
    static const struct {
        const char *app;
        bool starts_on_first;
    } rows[] = {{"", true}, {"first", true}, {"second", false}};
    struct site_stage stage;
    struct job_spec spec = site_stage_spec("local", "work");
    uint64_t jobs[3];
    (void)state;
    site_stage_init_text(&stage, site_text);
    for (int i = 0; i < 3; i++) {
        spec.app = rows[i].app;
        jobs[i] = site_stage_submit_spec(&stage, "ana", &spec);
    }
    site_stage_host_up(&stage, "s1");
    site_stage_pass(&stage, 1000);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(site_stage_attempt_of(&stage, jobs[i]) != 0,
                         rows[i].starts_on_first);
    }
    site_stage_host_up(&stage, "s2");
    site_stage_pass(&stage, 1000);
    assert_int_not_equal(site_stage_attempt_of(&stage, jobs[2]), 0);
    site_stage_release(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_application)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
