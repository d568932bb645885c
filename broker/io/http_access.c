/* SPDX-License-Identifier: Apache-2.0 */
/* http_access.c: see http_access.h. */
#include "broker/io/http_access.h"

#include <stdlib.h>
#include <string.h>

#include "broker/io/http_roles.h"
#include "broker/io/tokens.h"

struct http_access {
    struct tokens *tokens;
    struct http_roles *roles;
};

static int check(const struct http_access *access, const struct broker_setup *setup,
                 struct err *err)
{
    bool has_proxy = tokens_have_proxy(access->tokens);
    if (has_proxy && access->roles == NULL) {
        return err_set(err, ERR_STATE,
                       "tokens \"%s\": a token of a proxy, expected HTTP_ROLES in the "
                       "Broker section, which says what its users may do",
                       setup->tokens);
    }
    if (!has_proxy && access->roles != NULL) {
        return err_set(err, ERR_STATE,
                       "roles \"%s\": expected a line NAME TOKEN proxy in the file of "
                       "TOKENS, because only a proxy's token can say which user it is",
                       setup->http_roles);
    }
    return 0;
}

int http_access_load(const struct broker_setup *setup, struct http_access **access,
                     struct err *err)
{
    struct http_access *loaded = mem_alloc(1, sizeof(*loaded));
    int rc = 0;
    if (setup->tokens != NULL) {
        rc = tokens_load(setup->tokens, &loaded->tokens, err);
    }
    if (rc == 0 && setup->http_roles != NULL) {
        rc = http_roles_load(setup->http_roles, &loaded->roles, err);
    }
    if (rc == 0) {
        rc = check(loaded, setup, err);
    }
    if (rc < 0) {
        http_access_free(loaded);
        return rc;
    }
    *access = loaded;
    return 0;
}

void http_access_free(struct http_access *access)
{
    if (access != NULL) {
        tokens_free(access->tokens);
        http_roles_free(access->roles);
        free(access);
    }
}

bool http_access_has_tokens(const struct http_access *access)
{
    return access->tokens != NULL;
}

/* ---------------------------------------------------------------- judging */

static bool is_user_name(const char *name)
{
    size_t length = 0;
    while (name[length] > ' ' && name[length] <= '~') {
        length++;
    }
    return length > 0 && length < HTTP_ROLES_NAME_SIZE && name[length] == '\0';
}

static struct http_caller judge_user_of_proxy(const struct http_access *access,
                                              const struct http_request *request,
                                              const char *proxy, struct arena *arena)
{
    const char *user = request->remote_user;
    if (user == NULL || !is_user_name(user)) {
        return (struct http_caller){
            .token = proxy,
            .refusal = 403,
            .reason = arena_printf(arena,
                                   "the proxy \"%s\" does not say who the user is, "
                                   "expected the header X-Remote-User with a name of "
                                   "at most %d visible ASCII characters",
                                   proxy, HTTP_ROLES_NAME_SIZE - 1)};
    }
    if (!http_roles_may_change(access->roles, user, request->remote_groups)) {
        return (struct http_caller){
            .token = proxy,
            .user = user,
            .refusal = 403,
            .reason = arena_printf(arena,
                                   "user \"%s\" may read only; an administrator of the "
                                   "broker gives the role \"change\" in the file of "
                                   "HTTP_ROLES",
                                   user)};
    }
    return (struct http_caller){.token = proxy, .user = user};
}

struct http_caller http_access_judge(const struct http_access *access,
                                     const struct http_request *request,
                                     struct arena *arena)
{
    bool is_proxy;
    const char *name = tokens_find(access->tokens, request->token, &is_proxy);
    if (name != NULL) {
        return is_proxy ? judge_user_of_proxy(access, request, name, arena)
                        : (struct http_caller){.token = name, .user = name};
    }
    if (access->tokens == NULL) {
        return (struct http_caller){.refusal = 403,
                                    .reason = "nothing is changed over HTTP here: the "
                                              "Broker section names no TOKENS"};
    }
    return (struct http_caller){
        .refusal = 401,
        .reason =
            request->token == NULL
                ? "no token, expected \"Authorization: Bearer TOKEN\" with one of "
                  "the Broker's TOKENS"
                : "not one of the Broker's TOKENS"};
}
