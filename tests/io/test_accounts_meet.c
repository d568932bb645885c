/* SPDX-License-Identifier: Apache-2.0 */
/* test_accounts_meet.c: LEASE_UIDS must have no number that belongs to somebody: no
 * account, no group, and no range of subuid(5), whose numbers are users in containers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "sys/accounts.h"

static char path[] = "/tmp/test_accounts_meet.XXXXXX";

static int write_file(void **state)
{
    static const char text[] = "ana:100000:65536\n"
                               "# no range\n"
                               "broken:line\n"
                               "bob:300000:0\n"
                               "1001:400000:1\n";
    int fd = mkstemp(path);
    (void)state;
    return fd >= 0 && write(fd, text, sizeof(text) - 1) == sizeof(text) - 1 ? close(fd)
                                                                            : -1;
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

static void test_ranges(void **state)
{
    static const struct {
        int64_t first, last;
        const char *owner; /* NULL: nobody */
    } rows[] = {
        {2000000000, 2000065535, NULL}, {65536, 99999, NULL},   {65536, 100000, "ana"},
        {120000, 130000, "ana"},        {90000, 200000, "ana"}, {165535, 200000, "ana"},
        {165536, 200000, NULL},         {299999, 300001, NULL}, /* a range of nothing */
        {400000, 400000, "1001"},       {400001, 400002, NULL},
    };
    struct arena arena;
    (void)state;
    arena_init(&arena);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *found =
            accounts_meet_subordinates(path, rows[i].first, rows[i].last, &arena);
        if (rows[i].owner == NULL) {
            assert_null(found);
        } else {
            assert_non_null(found);
            assert_string_equal(found, arena_printf(&arena, "a range of %s in %s",
                                                    rows[i].owner, path));
        }
    }
    assert_null(accounts_meet_subordinates("/no/such/file", 0, INT32_MAX, &arena));
    arena_release(&arena);
}

/* Root is user and group 0 of every machine. */
static void test_accounts(void **state)
{
    struct arena arena;
    (void)state;
    arena_init(&arena);
    assert_non_null(accounts_meet(0, 0, &arena));
    assert_null(accounts_meet(UINT32_MAX - 20, UINT32_MAX - 10, &arena));
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_accounts),
    };
    return cmocka_run_group_tests(tests, write_file, remove_file);
}
