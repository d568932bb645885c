/* SPDX-License-Identifier: Apache-2.0 */
/* What the environment of a leased job has of its account, and of its user. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/exec/exec.h"

#define ITEM(text) text "\0"

static void test_leased(void **state)
{
    static const char text[] = ITEM(RUN_SPEC_HEAD) ITEM("env=HOME=/home/ana")
        ITEM("env=MINE=1") ITEM("env=USER=ana") ITEM("env=LD_PRELOAD=/opt/x.so")
            ITEM("env=SSH_AUTH_SOCK=/tmp/agent") ITEM("env=PATH=/opt/bin")
                ITEM("env=HOMES=two") ITEM("env=LSB_JOBID=7") ITEM("env=LC_ALL=C")
                    ITEM("env=SUBLET_KEY=/k") ITEM("env=SUBLET_LEASE=n/1/s")
                        ITEM("end=");
    static const char *const expected[] = {"MINE=1",
                                           "HOMES=two",
                                           "LSB_JOBID=7",
                                           "LC_ALL=C",
                                           "SUBLET_LEASE=n/1/s",
                                           "USER=sublet-9",
                                           "LOGNAME=sublet-9",
                                           "HOME=/spool/work",
                                           "SHELL=/bin/sh",
                                           "PATH=/usr/local/bin:/usr/bin:/bin",
                                           NULL};
    struct run_spec spec;
    struct user_env env = {0};
    char *bytes = memcpy(malloc(sizeof(text)), text, sizeof(text));
    (void)state;
    assert_int_equal(run_spec_parse(bytes, sizeof(text) - 1, &spec, NULL), 0);
    user_env_apply(&env, &spec, "sublet-9", "/spool/work", "/bin/sh");
    for (int i = 0; expected[i] != NULL; i++) {
        assert_non_null(spec.env[i]);
        assert_string_equal(spec.env[i], expected[i]);
    }
    assert_int_equal(spec.n_env, 10);
    assert_null(spec.env[spec.n_env]);
    user_env_release(&env);
    run_spec_release(&spec);
}

/* A job that brings nothing has room for what is its account's. */
static void test_without_variables(void **state)
{
    static const char text[] = ITEM(RUN_SPEC_HEAD) ITEM("end=");
    struct run_spec spec;
    struct user_env env = {0};
    char *bytes = memcpy(malloc(sizeof(text)), text, sizeof(text));
    (void)state;
    assert_int_equal(run_spec_parse(bytes, sizeof(text) - 1, &spec, NULL), 0);
    user_env_apply(&env, &spec, "ana", "/home/ana", "/bin/bash");
    assert_int_equal(spec.n_env, 5);
    assert_string_equal(spec.env[2], "HOME=/home/ana");
    assert_null(spec.env[5]);
    user_env_release(&env);
    run_spec_release(&spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_leased),
                                       cmocka_unit_test(test_without_variables)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
