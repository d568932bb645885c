/* SPDX-License-Identifier: Apache-2.0 */
/* http_header.c: see http_header.h. */
#include "sys/http/http_header.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fnv1a.h"

static const char blanks[] = " \t";

/* "gzip;q=0.5": the weight, 1 by default. */
static double weight_of(const char *word, size_t length)
{
    const char *end = word + length;
    for (const char *at = word; at < end; at++) {
        at = memchr(at, ';', (size_t)(end - at));
        if (at == NULL) {
            break;
        }
        const char *name = at + 1 + strspn(at + 1, blanks);
        if (end - name > 2 && (name[0] == 'q' || name[0] == 'Q') && name[1] == '=') {
            return strtod(name + 2, NULL);
        }
    }
    return 1;
}

bool http_header_takes_gzip(const char *accept)
{
    bool is_taken = false;
    for (const char *at = accept; at != NULL && *at != '\0';) {
        at += strspn(at, ", \t");
        size_t length = strcspn(at, ",");
        size_t n_name = strcspn(at, ",; \t");
        if (n_name == 4 && strncasecmp(at, "gzip", 4) == 0) {
            return weight_of(at, length) > 0;
        }
        if (n_name == 1 && at[0] == '*') {
            is_taken = weight_of(at, length) > 0;
        }
        at += length;
    }
    return is_taken;
}

static const char *strip_weak(const char *tag)
{
    return tag[0] == 'W' && tag[1] == '/' ? tag + 2 : tag;
}

bool http_header_has_etag(const char *if_none_match, const char *etag)
{
    const char *wanted = strip_weak(etag);
    size_t n_wanted = strlen(wanted);
    for (const char *at = if_none_match; at != NULL && *at != '\0';) {
        at = strip_weak(at + strspn(at, ", \t"));
        if (at[0] == '*' || (strncmp(at, wanted, n_wanted) == 0 &&
                             strchr(", \t", at[n_wanted]) != NULL)) {
            return true;
        }
        at += strcspn(at, ",");
    }
    return false;
}

void http_header_make_etag(const char *text, size_t length,
                           char etag[HTTP_HEADER_ETAG_SIZE])
{
    uint64_t hash = fnv1a(FNV1A_START, text, length);
    snprintf(etag, HTTP_HEADER_ETAG_SIZE, "W/\"%016" PRIx64 "\"", hash);
}

const char *http_header_token(const char *authorization)
{
    static const char scheme[] = "Bearer ";
    if (authorization == NULL ||
        strncasecmp(authorization, scheme, sizeof(scheme) - 1) != 0) {
        return NULL;
    }
    const char *token = authorization + sizeof(scheme) - 1;
    return token + strspn(token, blanks);
}

/* Of "name:5571", "10.0.0.1" or "[::1]:5571". */
static size_t name_length(const char *host)
{
    return host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
}

/* Digits, dots, and what else an address has. */
static bool is_address(const char *host, size_t length)
{
    return host[0] == '[' || strspn(host, "0123456789.") >= length;
}

bool http_header_is_host_known(const char *host, const char *const *names, int n_names)
{
    if (host == NULL) {
        return true;
    }
    size_t length = name_length(host);
    if (is_address(host, length) || memchr(host, '.', length) == NULL) {
        return true;
    }
    for (int i = 0; i < n_names; i++) {
        if (strlen(names[i]) == length && strncasecmp(host, names[i], length) == 0) {
            return true;
        }
    }
    return false;
}
