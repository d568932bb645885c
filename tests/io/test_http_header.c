/* SPDX-License-Identifier: Apache-2.0 */
/* test_http_header.c: what headers of a request ask for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sys/http/http_header.h"

static void test_encodings(void **state)
{
    static const struct {
        const char *accept;
        bool takes;
        const char *why;
    } rows[] = {
        {NULL, false, "no header"},
        {"", false, "an empty one"},
        {"gzip", true, "alone"},
        {"deflate, GZIP;q=0.5", true, "any case, a weight"},
        {"br;q=1.0, gzip ; q=0 , *", false, "a weight of 0 wins over the rest"},
        {"gzip;q=0.000", false, "0 in any words"},
        {"*", true, "anything"},
        {"*;q=0", false, "nothing else"},
        {"identity, *;q=0.1", true, "whatever else"},
        {"xgzip, gzipx", false, "other names"},
        {",,gzip", true, "empty members"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (http_header_takes_gzip(rows[i].accept) != rows[i].takes) {
            fail_msg("%s: %s", rows[i].accept, rows[i].why);
        }
    }
}

static void test_hosts(void **state)
{
    static const char *const names[] = {"sublet.example.org", "alpha.example.org"};
    static const struct {
        const char *host;
        bool is_known;
        const char *why;
    } rows[] = {
        {NULL, true, "no header"},
        {"127.0.0.1:5571", true, "an address"},
        {"10.1.2.3", true, "without a port"},
        {"[::1]:5571", true, "of version 6"},
        {"localhost:5571", true, "a local name"},
        {"alpha", true, "a name of the search domain"},
        {"sublet.example.org", true, "of the list"},
        {"Alpha.Example.ORG:5571", true, "in any case, with a port"},
        {"evil.org", false, "somebody else's"},
        {"evil.org:5571", false, "with a port"},
        {"sublet.example.org.evil.org", false, "that begins like one"},
        {"example.org", false, "that ends one"},
        {"127.0.0.1.evil.org", false, "that begins like an address"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (http_header_is_host_known(rows[i].host, names, 2) != rows[i].is_known) {
            fail_msg("%s: %s", rows[i].host, rows[i].why);
        }
    }
}

static void test_etags(void **state)
{
    static const struct {
        const char *header, *etag;
        bool has;
    } rows[] = {
        {NULL, "\"a\"", false},     {"*", "\"a\"", true},
        {"\"a\"", "\"a\"", true},   {"\"b\", \"a\"", "\"a\"", true},
        {"W/\"a\"", "\"a\"", true}, {"\"b\",W/\"a\" ,\"c\"", "W/\"a\"", true},
        {"\"ab\"", "\"a\"", false}, {"\"a", "\"a\"", false},
        {"", "\"a\"", false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (http_header_has_etag(rows[i].header, rows[i].etag) != rows[i].has) {
            fail_msg("%s of %s", rows[i].header, rows[i].etag);
        }
    }
}

static void test_tokens(void **state)
{
    assert_null(http_header_token(NULL));
    assert_null(http_header_token("Basic abc"));
    assert_null(http_header_token("Bearer"));
    assert_string_equal(http_header_token("Bearer abc"), "abc");
    assert_string_equal(http_header_token("bearer   abc"), "abc");
    assert_string_equal(http_header_token("Bearer "), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_encodings), cmocka_unit_test(test_hosts),
        cmocka_unit_test(test_etags), cmocka_unit_test(test_tokens)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
