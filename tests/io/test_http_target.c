/* SPDX-License-Identifier: Apache-2.0 */
/* test_http_target.c: what a request's target asks for, and what is wrong with others.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "broker/view/broker_view.h"

static const struct {
    const char *uri; /* asked by GET, but for "PUT /..." and the like */
    int code;        /* 0, or what is wrong */
    enum http_target_page page;
    const char *name, *provider, *after;
    int limit, states;
    const char *why;
} rows[] = {
    {"/healthz", 0, HTTP_TARGET_HEALTH, "", "", "", 0, 0, "a page"},
    {"/metrics?", 0, HTTP_TARGET_METRICS, "", "", "", 0, 0, "no parameter at all"},
    {"/api/v1/leases?provider=n&limit=7&&after=n/1/s", 0, HTTP_TARGET_LEASES, "", "n",
     "n/1/s", 7, 0, "each parameter"},
    {"/api/v1/leases?state=active", 0, HTTP_TARGET_LEASES, "", "", "", 0,
     1 << LEASE_ACTIVE, "a state"},
    {"/api/v1/leases?provider=&state", 0, HTTP_TARGET_LEASES, "", "", "", 0, 0,
     "empty is none"},
    {"/api/v1/leases/n/%31/s", 0, HTTP_TARGET_LEASE, "n/1/s", "", "", 0, 0, "decoded"},
    {"/api/v1/leases/n%2F1/s/x", 0, HTTP_TARGET_LEASE, "n/1/s/x", "", "", 0, 0,
     "a slash in a part makes no part: no lease has that id"},
    {"/api/v1/leases/n/1/s/history?after=12", 0, HTTP_TARGET_HISTORY, "n/1/s", "", "12",
     0, 0, "history"},
    {"/api/v1/leases/n/1/s:/eng/sim", 0, HTTP_TARGET_LEASE, "n/1/s:/eng/sim", "", "", 0,
     0, "a leaf's, as it is"},
    {"/api/v1/leases/n/1/s:%2Feng%2Fsim", 0, HTTP_TARGET_LEASE, "n/1/s:/eng/sim", "",
     "", 0, 0, "a leaf's, encoded"},
    {"/api/v1/leases/n/1/s:/eng/history?last=2", 0, HTTP_TARGET_HISTORY, "n/1/s:/eng",
     "", "", 0, 0, "its history"},
    {"/api/v1/leases/n/1/s:%2Fhistory", 0, HTTP_TARGET_LEASE, "n/1/s:/history", "", "",
     0, 0, "a node of that name"},
    {"/api/v1/series/leases/n/1/s:/eng", 0, HTTP_TARGET_LEASE_SERIES, "n/1/s:/eng", "",
     "", 0, 0, "its series"},
    {"/api/v1/leases/n/1/s:", 0, HTTP_TARGET_LEASE, "n/1/s:", "", "", 0, 0, "no node"},
    {"/api/v1/leases/n/1/s/eng", ERR_NOT_FOUND, 0, "", "", "", 0, 0, "no leaf's"},
    {"", ERR_PARSE, 0, "", "", "", 0, 0, "nothing"},
    {"*", ERR_PARSE, 0, "", "", "", 0, 0, "no path"},
    {"/healthz/", ERR_NOT_FOUND, 0, "", "", "", 0, 0, "a part too many"},
    {"/api/v1/leases/n//s", ERR_NOT_FOUND, 0, "", "", "", 0, 0, "an empty part"},
    {"/1/2/3/4/5/6/7/8/9", ERR_NOT_FOUND, 0, "", "", "", 0, 0, "many parts"},
    {"/api/v1/usage?lease=n%2F1%2Fs&site=n&after=n:7&limit=3", 0, HTTP_TARGET_USAGE,
     "n/1/s", "n", "n:7", 3, 0, "of a lease and a site"},
    {"/api/v1/usage?by=site,day&from=2026-11-23&to=2026-11-24T01:00", 0,
     HTTP_TARGET_USAGE, "", "", "", 0, 0, "a period"},
    {"/api/v1/usage?by=sites", ERR_PARSE, 0, "", "", "", 0, 0, "no such word"},
    {"/api/v1/usage?from=23.11.2026", ERR_PARSE, 0, "", "", "", 0, 0, "no date"},
    {"/api/v1/usage?from=2026-11-23&to=2026-11-23", ERR_PARSE, 0, "", "", "", 0, 0,
     "a period without an hour"},
    {"/api/v1/usage?provider=n", ERR_PARSE, 0, "", "", "", 0, 0,
     "a parameter of leases"},
    {"/health%7", ERR_PARSE, 0, "", "", "", 0, 0, "half an escape"},
    {"/health%7g", ERR_PARSE, 0, "", "", "", 0, 0, "no escape"},
    {"/healthz%00", ERR_PARSE, 0, "", "", "", 0, 0, "NUL would end the text"},
    {"/healthz?a=1", ERR_PARSE, 0, "", "", "", 0, 0, "an unknown parameter"},
    {"/api/v1/sites?provider=n", ERR_PARSE, 0, "", "", "", 0, 0, "another page's"},
    {"/api/v1/sites?limit=1&limit=2", ERR_PARSE, 0, "", "", "", 0, 0, "twice"},
    {"/api/v1/sites?limit=0", ERR_BOUNDS, 0, "", "", "", 0, 0, "below its bound"},
    {"/api/v1/sites?limit=-1", ERR_PARSE, 0, "", "", "", 0, 0, "no number"},
    {"/api/v1/events?last=501", ERR_BOUNDS, 0, "", "", "", 0, 0, "above its bound"},
    {"/api/v1/sites/n/overview", 0, HTTP_TARGET_OVERVIEW, "n", "", "", 0, 0,
     "what a site tells"},
    {"/api/v1/sites/n/overview?limit=1", ERR_PARSE, 0, "", "", "", 0, 0,
     "it has no pages"},
    {"/api/v1/hosts?site=n&after=n/h1", 0, HTTP_TARGET_HOSTS, "", "n", "n/h1", 0, 0,
     "hosts of a site"},
    {"/api/v1/series/leases/n/1/s?span_s=60", 0, HTTP_TARGET_LEASE_SERIES, "n/1/s", "",
     "", 0, 0, "a series"},
    {"/api/v1/series/sites/n", 0, HTTP_TARGET_SITE_SERIES, "n", "", "", 0, 0,
     "of a site"},
    {"/api/v1/series/pools/p?span_s=60", 0, HTTP_TARGET_POOL_SERIES, "p", "", "", 0, 0,
     "of a pool"},
    {"/api/v1/series/plans/p?node=/eng/sim", 0, HTTP_TARGET_NODE_SERIES, "p/eng/sim",
     "", "", 0, 0, "of a node"},
    {"/api/v1/series/plans/p", ERR_PARSE, 0, "", "", "", 0, 0, "of no node"},
    {"/api/v1/series/plans/p?node=eng", ERR_PARSE, 0, "", "", "", 0, 0, "of no path"},
    {"/api/v1/series/pools/p?node=/eng", ERR_PARSE, 0, "", "", "", 0, 0,
     "a pool has no node"},
    {"/api/v1/series?span_s=0", ERR_BOUNDS, 0, "", "", "", 0, 0, "no time at all"},
    {"/?q=anything&q=%zz", 0, HTTP_TARGET_FILE, "", "", "", 0, 0,
     "the page's parameters are its own"},
    {"PUT /api/v1/reclaim-delay", 0, HTTP_TARGET_RECLAIM, "", "", "", 0, 0, "a change"},
    {"POST /api/v1/leases/n/1/s/drain", 0, HTTP_TARGET_DRAIN, "n/1/s", "", "", 0, 0,
     "another"},
    {"POST /api/v1/leases/n/1/s/resume", 0, HTTP_TARGET_RESUME, "n/1/s", "", "", 0, 0,
     "its end"},
    {"POST /api/v1/leases/n/1/s:/eng/sim/resume", 0, HTTP_TARGET_RESUME,
     "n/1/s:/eng/sim", "", "", 0, 0, "of a leaf"},
    {"/api/v1/leases/n/1/s/drain", ERR_STATE, 0, "", "", "", 0, 0, "only by POST"},
    {"PU /api/v1/reclaim-delay", ERR_STATE, 0, "", "", "", 0, 0, "half a method"},
    {"ET /healthz", ERR_STATE, 0, "", "", "", 0, 0, "the other half"},
    {"PUT /api/v1/leases", ERR_STATE, 0, "", "", "", 0, 0, "not to be changed"},
    {"POST /nothing", ERR_NOT_FOUND, 0, "", "", "", 0, 0, "no page, by any method"},
    {"/api/v1/events?after=1x", ERR_PARSE, 0, "", "", "", 0, 0, "no number"},
};

static void test_targets(void **state)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct arena arena;
        struct http_target target;
        struct err err = {0};
        arena_init(&arena);
        const char *slash = strchr(rows[i].uri, '/'), *allow;
        size_t n_method = slash > rows[i].uri ? (size_t)(slash - rows[i].uri) : 0;
        const char *method =
            n_method > 0 ? arena_strn(&arena, rows[i].uri, n_method - 1) : "GET";
        int code = http_target_parse(method, rows[i].uri + n_method, &arena, &target,
                                     &allow, &err);
        if (code != rows[i].code) {
            fail_msg("%s (%s): %d, expected %d: %s", rows[i].uri, rows[i].why, code,
                     rows[i].code, err.text);
        }
        if (code == 0) {
            assert_int_equal(target.page, rows[i].page);
            assert_string_equal(target.query.name, rows[i].name);
            assert_string_equal(target.query.provider, rows[i].provider);
            assert_string_equal(target.query.after, rows[i].after);
            assert_int_equal(target.query.limit, rows[i].limit);
            assert_int_equal(target.query.states, rows[i].states);
        }
        arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_targets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
