/* SPDX-License-Identifier: Apache-2.0 */
/* slurmd_request.c: see slurmd_request.h. */
#include "host/slurmd/slurmd_request.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char digits[] = "0123456789";
static const char name_letters[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";

enum { NUMBER_DIGITS = 18, CPUS_DIGITS = 6, NAME_LETTERS = 63, ID_DIGITS = 10 };

/* ---------------------------------------------------------------- requests */

static bool take_text(const char **at, const char *text)
{
    size_t length = strlen(text);
    bool is_there = strncmp(*at, text, length) == 0;
    *at += is_there ? length : 0;
    return is_there;
}

static bool take_letters(const char **at, const char *letters, size_t most)
{
    size_t length = strspn(*at, letters);
    *at += length;
    return length > 0 && length <= most;
}

int slurmd_request_read(const char *line, struct slurmd_request *request,
                        struct err *err)
{
    const char *at = line;
    bool is_node = take_text(&at, "sublet") && take_letters(&at, digits, NUMBER_DIGITS);
    const char *end_of_node = at;
    bool is_conf = is_node && take_text(&at, " CPUs=") &&
                   take_letters(&at, digits, CPUS_DIGITS) &&
                   take_text(&at, " Feature=sublet,") &&
                   take_letters(&at, name_letters, NAME_LETTERS);
    const char *end = at;
    if (!is_conf || !take_text(&at, "\n") || *at != '\0') {
        return err_set(err, ERR_PARSE,
                       "not a request of a guest of Sublet, expected "
                       "\"subletNUMBER CPUs=NUMBER Feature=sublet,NAME\"");
    }
    snprintf(request->node, sizeof(request->node), "%.*s", (int)(end_of_node - line),
             line);
    snprintf(request->conf, sizeof(request->conf), "%.*s", (int)(end - end_of_node - 1),
             end_of_node + 1);
    return 0;
}

/* ---------------------------------------------------------------- accounts */

static bool take_number(const char **at, int64_t *number)
{
    const char *first = *at;
    *number = 0;
    if (!take_letters(at, digits, ID_DIGITS)) {
        return false;
    }
    for (; first < *at; first++) {
        *number = *number * 10 + (*first - '0');
    }
    return true;
}

static bool overlap(int64_t a, int64_t n_a, int64_t b, int64_t n_b)
{
    return a < b + n_b && b < a + n_a;
}

static int check_range(const struct slurmd_accounts *accounts,
                       const struct slurmd_range *range, struct err *err)
{
    if (range->count < 1 || range->inside + range->count - 1 > SLURMD_ID_MAX ||
        range->outside + range->count - 1 > SLURMD_ID_MAX) {
        return err_set(err, ERR_BOUNDS, "expected 1 account or more, up to %d",
                       SLURMD_ID_MAX);
    }
    if (range->outside == 0) {
        return err_set(err, ERR_BOUNDS,
                       "root of this host is in a range, expected accounts from 1 on, "
                       "or \"root\" for all of them");
    }
    for (int i = 0; i < accounts->n_ranges; i++) {
        const struct slurmd_range *other = &accounts->ranges[i];
        if (overlap(range->inside, range->count, other->inside, other->count) ||
            overlap(range->outside, range->count, other->outside, other->count)) {
            return err_set(err, ERR_BOUNDS, "an account is in two ranges");
        }
    }
    return 0;
}

static bool has_root(const struct slurmd_accounts *accounts)
{
    for (int i = 0; i < accounts->n_ranges; i++) {
        if (accounts->ranges[i].inside == 0) {
            return true;
        }
    }
    return false;
}

int slurmd_request_accounts(const char *text, struct slurmd_accounts *accounts,
                            struct err *err)
{
    const char *at = text;
    accounts->n_ranges = 0;
    if (strcmp(text, "root") == 0) {
        return 0;
    }
    do {
        struct slurmd_range range;
        if (!take_number(&at, &range.inside) || !take_text(&at, ":") ||
            !take_number(&at, &range.outside) || !take_text(&at, ":") ||
            !take_number(&at, &range.count) || (*at != '\0' && *at != ',')) {
            return err_set(err, ERR_PARSE,
                           "\"%s\" is no list of accounts, expected "
                           "INSIDE:OUTSIDE:COUNT, several of them separated by commas, "
                           "or root",
                           text);
        }
        if (accounts->n_ranges == SLURMD_RANGES_MAX) {
            return err_set(err, ERR_BOUNDS, "\"%s\": at most %d ranges", text,
                           SLURMD_RANGES_MAX);
        }
        int rc = check_range(accounts, &range, err);
        if (rc < 0) {
            return err_prefix(err, "\"%s\"", text);
        }
        accounts->ranges[accounts->n_ranges++] = range;
    } while (take_text(&at, ","));
    return has_root(accounts)
               ? 0
               : err_set(err, ERR_BOUNDS,
                         "\"%s\": slurmd needs an account 0 inside, expected a range "
                         "0:OUTSIDE:COUNT",
                         text);
}
