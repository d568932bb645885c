/* SPDX-License-Identifier: Apache-2.0 */
/* test_lsf_keys.c: the table of LSF's parameters, by the rules of lsf_keys.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <cmocka.h>

#include "base/conf/conf_keys.h"
#include "base/conf/lsf_keys.h"

static void each_key_has_one_class(void **state)
{
    for (const struct lsf_key *entry = lsf_keys; entry->section != NULL; entry++) {
        const char *what;
        bool is_built = entry->key != NULL
                            ? conf_keys_find(entry->section, entry->key) != NULL
                            : conf_keys_of(entry->section) != NULL;
        assert_int_equal(is_built, entry->class == LSF_DIFFERS);
        assert_int_equal(lsf_keys_class(entry->section, entry->key, &what),
                         entry->class);
        assert_ptr_equal(what, entry->what); /* no key twice */
        assert_in_range(strlen(what), 10, 200);
        assert_int_not_equal(what[strlen(what) - 1], '.');
    }
}

static void check_class(const char *section, const char *key, enum lsf_class class)
{
    const char *what;
    if (lsf_keys_class(section, key, &what) != class) {
        fail_msg("%s.%s: class %d, expected %d", section, key != NULL ? key : "",
                 (int)lsf_keys_class(section, key, &what), (int)class);
    }
    assert_int_equal(what == NULL, class == LSF_WORKS || class == LSF_UNKNOWN);
}

static void parameters_are_classified(void **state)
{
    check_class("Queue", "PRIORITY", LSF_WORKS);
    check_class("queue", "priority", LSF_WORKS);
    check_class("Queue", "RUNLIMIT", LSF_DIFFERS);
    check_class("Queue", "MIG", LSF_UNSUPPORTED);
    check_class("Queue", "CHKPNT", LSF_REFUSED);
    check_class("", "LSF_LOGDIR", LSF_IGNORED);
    check_class("", "MIG", LSF_UNKNOWN); /* of another section */
    check_class("Queue", "PRIORTY", LSF_UNKNOWN);
    check_class("Queue", NULL, LSF_WORKS);
    check_class("Nothing", NULL, LSF_UNKNOWN);
    check_class("Nothing", "KEY", LSF_UNKNOWN);
    /* A section of which nothing is built, as a whole and each of its keys. */
    check_class("ServiceClass", NULL, LSF_UNSUPPORTED);
    check_class("serviceclass", "GOALS", LSF_UNSUPPORTED);
    check_class("PluginModule", "SCH_PLUGIN", LSF_IGNORED);
}

/* Of the manual's index for each file; none of them is called unknown. */
static void manual_is_known(void **state)
{
    static const struct {
        const char *section, *keys;
    } rows[] = {
        {"Parameters", "ABS_RUNLIMIT ACCT_ARCHIVE_AGE DEFAULT_HOST_SPEC DEFAULT_QUEUE "
                       "ENABLE_USER_RESUME JOB_PRIORITY_OVER_TIME MAX_CONCURRENT_QUERY "
                       "MAX_PEND_JOBS MC_RECLAIM_DELAY NEWJOB_REFRESH PREEMPT_FOR "
                       "SECURE_JOB_INFO_LEVEL USE_SUSP_SLOTS"},
        {"Queue",
         "ADMINISTRATORS BACKFILL CHUNK_JOB_SIZE DEFAULT_HOST_SPEC EXCLUSIVE "
         "HOSTS IMPT_JOBBKLG JOB_STARTER MAX_SLOTS_IN_POOL PRE_EXEC RCVJOBS_FROM "
         "RES_REQ RUN_WINDOW SNDJOBS_TO USE_PRIORITY_IN_POOL"},
        {"Application",
         "BIND_JOB CHKPNT_DIR DJOB_ENV_SCRIPT NAME PERSISTENT_HOST_ORDER "
         "RESIZE_NOTIFY_CMD RTASK_GONE_ACTION RUNTIME"},
        {"Host", "HOST_NAME MXJ JL/U DISPATCH_WINDOW CHKPNT MIG EXIT_RATE AFFINITY"},
        {"HostGroup", "GROUP_NAME GROUP_MEMBER CONDENSE GROUP_ADMIN"},
        {"Limit",
         "USERS PER_USER QUEUES HOSTS PROJECTS SLOTS MEM TMP LICENSE RESOURCE"},
        {"User", "USER_NAME MAX_JOBS JL/P MAX_PEND_JOBS"},
        {"", "LSB_MAILTO LSF_ENVDIR LSF_LIM_PORT LSF_MASTER_LIST LSF_ROOT_REX "
             "LSB_RESOURCE_ENFORCE LSF_STRICT_RESREQ LSB_MODE LSF_LINK_PATH "
             "LSF_DEFAULT_INSTALL"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char keys[512], *rest = NULL;
        assert_in_range(snprintf(keys, sizeof(keys), "%s", rows[i].keys), 1, 511);
        for (char *key = strtok_r(keys, " ", &rest); key != NULL;
             key = strtok_r(NULL, " ", &rest)) {
            const char *what;
            if (lsf_keys_class(rows[i].section, key, &what) == LSF_UNKNOWN) {
                fail_msg("%s of section %s is unknown", key, rows[i].section);
            }
        }
    }
}

static void the_nearest_name_is_offered(void **state)
{
    static const struct {
        const char *section, *key, *nearest;
    } rows[] = {
        {"Queue", "RUNLIMT", "RUNLIMIT"},      /* a letter left out */
        {"Queue", "RUNNLIMIT", "RUNLIMIT"},    /* one too many */
        {"Queue", "RUNLIMOT", "RUNLIMIT"},     /* another one */
        {"Queue", "runlimt", "RUNLIMIT"},      /* without case */
        {"Queue", "MIGG", "MIG"},              /* of the table of what has no effect */
        {"Queue", "RNLMT", NULL},              /* three letters */
        {"Host", "RUNLIMT", NULL},             /* of another section */
        {"", "LSF_LOGDRI", "LSF_LOGDIR"},      /* outside sections */
        {"Queue", "PJOB_LIMIX", "PJOB_LIMIT"}, /* nearer than HJOB_LIMIT */
        {"Nothing", "KEY", NULL},
        {"Queue", "", NULL},
        {"Queue",
         "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
         "A",
         NULL},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *nearest = lsf_keys_nearest(rows[i].section, rows[i].key);
        if (nearest == NULL || rows[i].nearest == NULL) {
            assert_ptr_equal(nearest, rows[i].nearest);
        } else {
            assert_string_equal(nearest, rows[i].nearest);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_key_has_one_class),
        cmocka_unit_test(parameters_are_classified),
        cmocka_unit_test(manual_is_known),
        cmocka_unit_test(the_nearest_name_is_offered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
