/* SPDX-License-Identifier: Apache-2.0 */
/* test_http_access.c: who an HTTP request is from, and whether it may make changes: a
 * header counts with a proxy's token only, and roles decide about the proxy's users. */
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

#include "broker/io/http_access.h"

#define ANN "0123456789abcdef-of-ann"
#define NGINX "0123456789abcdef-of-nginx"

static char tokens_path[] = "/tmp/sublet-tokens-XXXXXX";
static char roles_path[] = "/tmp/sublet-roles-XXXXXX";

static int make_files(void **state)
{
    int tokens = mkstemp(tokens_path);
    int roles = mkstemp(roles_path);
    return tokens < 0 || roles < 0 || close(tokens) != 0 || close(roles) != 0 ? -1 : 0;
}

static int remove_files(void **state)
{
    return unlink(tokens_path) | unlink(roles_path);
}

static void fill(const char *path, const char *text, unsigned mode)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, mode), 0);
}

/* NULL: the key is not there. */
static int load(const char *tokens, const char *roles, struct http_access **access,
                struct err *err)
{
    if (tokens != NULL) {
        fill(tokens_path, tokens, 0600);
    }
    if (roles != NULL) {
        fill(roles_path, roles, 0644);
    }
    const struct broker_setup setup = {.tokens = tokens != NULL ? tokens_path : NULL,
                                       .http_roles = roles != NULL ? roles_path : NULL};
    return http_access_load(&setup, access, err);
}

static const char both[] = "ann " ANN "\nnginx " NGINX " proxy\n";

struct request_row {
    const char *token, *user, *groups; /* of the request */
    const char *is;                    /* the user who is found; NULL: nobody */
    int refusal;
    const char *words; /* in its reason */
    const char *why;
};

static void check_rows(const struct http_access *access, const struct request_row *rows,
                       int n_rows)
{
    struct arena arena;
    arena_init(&arena);
    for (const struct request_row *row = rows; row < rows + n_rows; row++) {
        const struct http_request request = {.token = row->token,
                                             .remote_user = row->user,
                                             .remote_groups = row->groups};
        struct http_caller caller = http_access_judge(access, &request, &arena);
        bool is_same = (caller.user == NULL) == (row->is == NULL) &&
                       (row->is == NULL || strcmp(caller.user, row->is) == 0);
        if (!is_same || caller.refusal != row->refusal ||
            (row->words != NULL && strstr(caller.reason, row->words) == NULL)) {
            fail_msg("%s: user %s, refusal %d, %s", row->why, caller.user,
                     caller.refusal, caller.reason);
        }
    }
    arena_release(&arena);
}

#define COUNT(rows) (int)(sizeof(rows) / sizeof((rows)[0]))

static void test_who_may_change(void **state)
{
    static const char roles[] = "# who\nbob change\n\neve read\r\n@ops change\n"
                                "@guests read\n@a change\n";
    static const char name63[] =
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    static const char name64[] =
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    static const struct request_row rows[] = {
        {NULL, NULL, NULL, NULL, 401, "no token", "a browser"},
        {"0123456789abcdef", NULL, NULL, NULL, 401, "not one of", "a wrong token"},
        {ANN, NULL, NULL, "ann", 0, NULL, "a person's token"},
        {NULL, "bob", NULL, NULL, 401, "no token", "a header is no proof"},
        {ANN, "bob", "ops", "ann", 0, NULL, "nor with a person's token"},
        {NGINX, "bob", NULL, "bob", 0, NULL, "a user of the proxy"},
        {NGINX, "eve", NULL, "eve", 403, "\"eve\" may read only", "by role"},
        {NGINX, "zoe", NULL, "zoe", 403, "may read only", "without a role"},
        {NGINX, "ann", NULL, "ann", 403, "may read only", "not as the token's ann"},
        {NGINX, "zoe", "guests, ops", "zoe", 0, NULL, "by a group"},
        {NGINX, "zoe", "ops,guests", "zoe", 0, NULL, "the stronger group counts"},
        {NGINX, "zoe", "guests", "zoe", 403, "may read only", "a group that reads"},
        {NGINX, "zoe", "op,opsx,@ops", "zoe", 403, "read only", "whole names only"},
        {NGINX, "eve", "ops", "eve", 403, "may read only", "the user's line counts"},
        {NGINX, "@ops", NULL, "@ops", 403, "may read only", "a user is no group"},
        {NGINX, "zoe", name64, "zoe", 403, "may read only", "a long group"},
        {NGINX, NULL, "ops", NULL, 403, "X-Remote-User", "no user"},
        {NGINX, "", "ops", NULL, 403, "X-Remote-User", "an empty user"},
        {NGINX, "a b", "ops", NULL, 403, "X-Remote-User", "a blank"},
        {NGINX, "bob\x7f", "ops", NULL, 403, "X-Remote-User", "a control character"},
        {NGINX, name63, "ops", name63, 0, NULL, "the longest user"},
        {NGINX, name64, "ops", NULL, 403, "X-Remote-User", "too long"},
    };
    struct http_access *access = NULL;
    struct err err = {0};
    assert_int_equal(load(both, roles, &access, &err), 0);
    assert_true(http_access_has_tokens(access));
    check_rows(access, rows, COUNT(rows));
    http_access_free(access);
}

static void test_without_tokens(void **state)
{
    static const struct request_row rows[] = {
        {NULL, NULL, NULL, NULL, 403, "names no TOKENS", "nobody"},
        {ANN, "bob", NULL, NULL, 403, "names no TOKENS", "a token of no file"},
    };
    struct http_access *access = NULL;
    struct err err = {0};
    assert_int_equal(load(NULL, NULL, &access, &err), 0);
    assert_false(http_access_has_tokens(access));
    check_rows(access, rows, COUNT(rows));
    http_access_free(access);
}

static void test_refused_files(void **state)
{
    char many[20 * (1001)];
    size_t length = 0;
    for (int i = 0; i < 1001; i++) {
        length +=
            (size_t)snprintf(many + length, sizeof(many) - length, "u%d read\n", i);
    }
    char line[301];
    snprintf(line, sizeof(line), "%0298d\n", 0);
    const struct {
        const char *tokens, *roles;
        int code;
        const char *words;
    } rows[] = {
        {both, NULL, ERR_STATE, "expected HTTP_ROLES"},
        {"ann " ANN "\n", "bob change\n", ERR_STATE, "NAME TOKEN proxy"},
        {both, "bob\n", ERR_PARSE, "line 1, expected USER or @GROUP"},
        {both, "ann read\nbob write\n", ERR_PARSE, "line 2, expected USER"},
        {both, "bob change now\n", ERR_PARSE, "line 1, expected USER"},
        {both, "@ change\n", ERR_PARSE, "line 1, expected USER"},
        {both, "bob read\n#\nbob change\n", ERR_PARSE, "line 3, \"bob\" twice"},
        {both, line, ERR_PARSE, "line 1, expected at most"},
        {both, many, ERR_BOUNDS, "more than 1000"},
        {"short\n", "bob read\n", ERR_PARSE, "tokens"},
    };
    for (int i = 0; i < COUNT(rows); i++) {
        struct http_access *access = NULL;
        struct err err = {0};
        int code = load(rows[i].tokens, rows[i].roles, &access, &err);
        if (code != rows[i].code || strstr(err.text, rows[i].words) == NULL) {
            fail_msg("row %d: %d, %s", i, code, err.text);
        }
        assert_null(access);
    }
}

/* Whoever can write the roles can give a role. Everybody may read them. */
static void test_modes(void **state)
{
    static const unsigned modes[] = {0664, 0646, 0666};
    struct http_access *access = NULL;
    struct err err = {0};
    const struct broker_setup setup = {.tokens = tokens_path, .http_roles = roles_path};
    fill(tokens_path, both, 0600);
    for (int i = 0; i < COUNT(modes); i++) {
        fill(roles_path, "bob change\n", modes[i]);
        assert_int_equal(http_access_load(&setup, &access, &err), ERR_DENIED);
        assert_non_null(strstr(err.text, "chmod 644"));
    }
    fill(roles_path, "bob change\n", 0644);
    assert_int_equal(http_access_load(&setup, &access, &err), 0);
    http_access_free(access);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_may_change), cmocka_unit_test(test_without_tokens),
        cmocka_unit_test(test_refused_files), cmocka_unit_test(test_modes)};
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
