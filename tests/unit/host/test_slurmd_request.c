/* SPDX-License-Identifier: Apache-2.0 */
/* test_slurmd_request.c: what a leased job may ask of sublet-slurmd, and the accounts
 * of a slurmd: rows with a reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "host/slurmd/slurmd_request.h"

#define DIGITS18 "123456789012345678"
#define LETTERS63 "a23456789b23456789c23456789d23456789e23456789f23456789g23456789"

static const struct {
    const char *line;
    const char *node, *conf; /* NULL: refused */
    const char *why;
} requests[] = {
    {"sublet57 CPUs=3 Feature=sublet,north\n", "sublet57",
     "CPUs=3 Feature=sublet,north", "as a guest asks"},
    {"sublet" DIGITS18 " CPUs=999999 Feature=sublet," LETTERS63 "\n", "sublet" DIGITS18,
     "CPUs=999999 Feature=sublet," LETTERS63, "the longest"},
    {"sublet1 CPUs=1 Feature=sublet,a.b_c-D9\n", "sublet1",
     "CPUs=1 Feature=sublet,a.b_c-D9", "all letters of a site's name"},
    {"", NULL, NULL, "nothing"},
    {"\n", NULL, NULL, "an empty line"},
    {"sublet57 CPUs=3 Feature=sublet,north", NULL, NULL, "it was cut"},
    {"sublet57 CPUs=3 Feature=sublet,north\n\n", NULL, NULL, "more than a line"},
    {"sublet57 CPUs=3 Feature=sublet,north \n", NULL, NULL, "a blank at its end"},
    {" sublet57 CPUs=3 Feature=sublet,north\n", NULL, NULL, "a blank before it"},
    {"sublet57  CPUs=3 Feature=sublet,north\n", NULL, NULL, "two blanks"},
    {"sublet CPUs=3 Feature=sublet,north\n", NULL, NULL, "no number of a job"},
    {"sublet5x CPUs=3 Feature=sublet,north\n", NULL, NULL, "no number"},
    {"n1 CPUs=3 Feature=sublet,north\n", NULL, NULL, "a node of the cluster's own"},
    {"Sublet57 CPUs=3 Feature=sublet,north\n", NULL, NULL, "another case"},
    {"sublet1" DIGITS18 " CPUs=3 Feature=sublet,north\n", NULL, NULL,
     "more digits than a number has"},
    {"sublet57 CPUs=0000001 Feature=sublet,north\n", NULL, NULL, "too many digits"},
    {"sublet57 CPUs=-1 Feature=sublet,north\n", NULL, NULL, "a negative number"},
    {"sublet57 CPUs=3 Feature=north\n", NULL, NULL, "without the feature"},
    {"sublet57 CPUs=3 Feature=sublet,\n", NULL, NULL, "without a provider"},
    {"sublet57 CPUs=3 Feature=sublet,a" LETTERS63 "\n", NULL, NULL,
     "a name that is too long"},
    {"sublet57 CPUs=3 Feature=sublet,north Gres=gpu:8\n", NULL, NULL, "another word"},
    {"sublet57 CPUs=3 Feature=sublet,north,big\n", NULL, NULL, "another feature"},
    {"sublet57 CPUs=3 Feature=sublet,../etc\n", NULL, NULL, "a path"},
    {"-f /tmp/slurm.conf\n", NULL, NULL, "an option of slurmd"},
    {"sublet57 CPUs=3 Feature=sublet,n\xc3\xb6rd\n", NULL, NULL, "not ASCII"},
};

static void test_requests(void **state)
{
    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
        struct slurmd_request request = {.node = "before", .conf = "before"};
        struct err err = {.text = ""};
        int rc = slurmd_request_read(requests[i].line, &request, &err);
        if (requests[i].node == NULL) {
            if (rc != ERR_PARSE || strstr(err.text, "expected") == NULL) {
                fail_msg("%s: %d %s", requests[i].why, rc, err.text);
            }
            assert_string_equal(request.node, "before");
        } else if (rc != 0 || strcmp(request.node, requests[i].node) != 0 ||
                   strcmp(request.conf, requests[i].conf) != 0) {
            fail_msg("%s: %d \"%s\" \"%s\"", requests[i].why, rc, request.node,
                     request.conf);
        }
    }
}

static const struct {
    const char *text;
    int n_ranges; /* -1: refused */
    const char *says, *why;
} lists[] = {
    {"root", 0, "", "those of the host"},
    {"0:200000:65536", 1, "", "a range of its own"},
    {"0:200000:1000,1000:1000:59000", 2, "", "users keep their numbers"},
    {"1000:1000:1,0:200000:1000", 2, "", "in any order"},
    {"0:1:1", 1, "", "the first account that is allowed"},
    {"0:1:2147483647", 1, "", "all but root"},
    {"", -1, "INSIDE:OUTSIDE:COUNT", "empty"},
    {"Root", -1, "INSIDE:OUTSIDE:COUNT", "another case"},
    {"0:200000", -1, "INSIDE:OUTSIDE:COUNT", "no number of accounts"},
    {"0:200000:65536,", -1, "INSIDE:OUTSIDE:COUNT", "nothing behind the comma"},
    {"0:200000:65536 ", -1, "INSIDE:OUTSIDE:COUNT", "a blank"},
    {"0:-1:5", -1, "INSIDE:OUTSIDE:COUNT", "a negative number"},
    {"0:99999999999:5", -1, "INSIDE:OUTSIDE:COUNT", "more digits than a number has"},
    {"0:0:1", -1, "root of this host", "root"},
    {"0:200000:1000,1000:0:5", -1, "root of this host", "root, for another account"},
    {"0:200000:0", -1, "1 account or more", "no accounts"},
    {"0:1:2147483648", -1, "up to 2147483647", "more than there are"},
    {"0:2147483647:2", -1, "up to 2147483647", "beyond the last one"},
    {"0:200000:1000,999:300000:5", -1, "in two ranges", "an account inside twice"},
    {"0:200000:1000,1000:200999:5", -1, "in two ranges", "an account outside twice"},
    {"1:200000:1000", -1, "account 0", "no root for slurmd"},
    {"0:1:1,1:2:1,2:3:1,3:4:1,4:5:1,5:6:1,6:7:1,7:8:1", 8, "", "as many as fit"},
    {"0:1:1,1:2:1,2:3:1,3:4:1,4:5:1,5:6:1,6:7:1,7:8:1,8:9:1", -1, "at most 8",
     "one more"},
};

static void test_accounts(void **state)
{
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        struct slurmd_accounts accounts;
        struct err err = {.text = ""};
        int rc = slurmd_request_accounts(lists[i].text, &accounts, &err);
        bool is_refused = lists[i].n_ranges < 0;
        if ((rc < 0) != is_refused || strstr(err.text, lists[i].says) == NULL ||
            (!is_refused && accounts.n_ranges != lists[i].n_ranges)) {
            fail_msg("%s: %d %s", lists[i].why, rc, err.text);
        }
    }
    struct slurmd_accounts accounts;
    struct err err;
    assert_int_equal(
        slurmd_request_accounts("0:200000:1000,1000:1000:59000", &accounts, &err), 0);
    assert_int_equal(accounts.ranges[1].inside, 1000);
    assert_int_equal(accounts.ranges[1].outside, 1000);
    assert_int_equal(accounts.ranges[1].count, 59000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_requests),
                                       cmocka_unit_test(test_accounts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
