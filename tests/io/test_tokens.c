/* SPDX-License-Identifier: Apache-2.0 */
/* test_tokens.c: the file of tokens: whose it may be, what may stand in it, and that
 * no complaint quotes it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "broker/io/tokens.h"

#define TOKEN "0123456789abcdef0123456789abcdef"
/* 64 characters. */
#define LONG_NAME TOKEN TOKEN
#define OTHER "another-token-of-31-characters!"

static char path[] = "/tmp/sublet-tokens-XXXXXX";

static int make_file(void **state)
{
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
    return unlink(path);
}

static int load(const char *text, unsigned mode, struct tokens **tokens,
                struct err *err)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, mode), 0);
    return tokens_load(path, tokens, err);
}

static const char *find(const struct tokens *tokens, const char *token)
{
    bool is_proxy = true;
    const char *name = tokens_find(tokens, token, &is_proxy);
    assert_false(is_proxy);
    return name;
}

static void test_matching(void **state)
{
    struct tokens *tokens = NULL;
    struct err err;
    assert_int_equal(
        load("# of ops\n" TOKEN "\n\r\n" OTHER "\r\n", 0600, &tokens, &err), 0);
    assert_non_null(find(tokens, TOKEN));
    assert_non_null(find(tokens, OTHER));
    assert_null(find(tokens, TOKEN "0"));
    assert_null(find(tokens, "0123456789abcdef0123456789abcde"));
    assert_null(find(tokens, "# of ops"));
    assert_null(find(tokens, ""));
    assert_null(find(tokens, NULL));
    assert_null(find(NULL, TOKEN));
    tokens_free(tokens);
}

/* A line is NAME TOKEN, or TOKEN alone, which goes by the number of its line. */
static void test_names(void **state)
{
    struct tokens *tokens = NULL;
    struct err err;
    assert_int_equal(
        load("alice \t" TOKEN "\n# of ops\n" OTHER "\n", 0600, &tokens, &err), 0);
    assert_string_equal(find(tokens, TOKEN), "alice");
    assert_string_equal(find(tokens, OTHER), "line 3");
    assert_null(find(tokens, "alice \t" TOKEN));
    tokens_free(tokens);
}

/* A third word marks the token of a reverse proxy, and no other word does. */
static void test_proxies(void **state)
{
    struct tokens *tokens = NULL;
    struct err err;
    bool is_proxy = false;
    assert_int_equal(
        load("alice " TOKEN "\nnginx " OTHER " \tproxy\n", 0600, &tokens, &err), 0);
    assert_string_equal(tokens_find(tokens, OTHER, &is_proxy), "nginx");
    assert_true(is_proxy);
    assert_string_equal(find(tokens, TOKEN), "alice");
    assert_true(tokens_have_proxy(tokens));
    tokens_free(tokens);
    assert_int_equal(load("proxy " TOKEN "\n", 0600, &tokens, &err), 0);
    assert_string_equal(find(tokens, TOKEN), "proxy");
    assert_false(tokens_have_proxy(tokens));
    assert_false(tokens_have_proxy(NULL));
    tokens_free(tokens);
    static const char *const refused[] = {
        "nginx " OTHER " Proxy\n", "nginx " OTHER " proxy yes\n", OTHER " proxy\n"};
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        assert_int_equal(load(refused[i], 0600, &tokens, &err), ERR_PARSE);
        assert_non_null(strstr(err.text, "line 1, expected TOKEN, NAME TOKEN"));
    }
}

static void test_refused_files(void **state)
{
    char longest[TOKENS_LENGTH_MAX + 3] = {0};
    memset(longest, 'x', TOKENS_LENGTH_MAX);
    struct tokens *tokens = NULL;
    struct err err = {0};
    assert_int_equal(load(longest, 0600, &tokens, &err), 0);
    assert_non_null(find(tokens, longest));
    tokens_free(tokens);
    longest[TOKENS_LENGTH_MAX] = 'x';
    const struct {
        const char *text;
        unsigned mode;
        int code;
        const char *words, *why;
    } rows[] = {
        {TOKEN, 0640, ERR_DENIED, "chmod 600", "a group may read it"},
        {TOKEN, 0602, ERR_DENIED, "chmod 600", "others may write it"},
        {"", 0600, ERR_BOUNDS, "no token", "empty"},
        {"# none\n\n", 0600, ERR_BOUNDS, "no token", "only a comment"},
        {TOKEN "\nshort-secret\n", 0600, ERR_PARSE, "line 2", "too short"},
        {"a token with blanks in it\n", 0600, ERR_PARSE, "line 1", "blanks"},
        {longest, 0600, ERR_PARSE, "line 1", "too long"},
        {"alice short-secret\n", 0600, ERR_PARSE, "line 1", "a name, and too short"},
        {LONG_NAME " " TOKEN, 0600, ERR_PARSE, "at most 63", "a long name"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int code = load(rows[i].text, rows[i].mode, &tokens, &err);
        if (code != rows[i].code || strstr(err.text, rows[i].words) == NULL ||
            strstr(err.text, path) == NULL) {
            fail_msg("%s: %d, %s", rows[i].why, code, err.text);
        }
        assert_null(strstr(err.text, "secret"));
    }
    assert_int_equal(tokens_load("/nowhere/tokens", &tokens, &err), ERR_IO);
    assert_int_equal(tokens_load("/dev/null", &tokens, &err), ERR_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matching), cmocka_unit_test(test_names),
        cmocka_unit_test(test_proxies), cmocka_unit_test(test_refused_files)};
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
