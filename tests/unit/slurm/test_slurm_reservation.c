/* SPDX-License-Identifier: Apache-2.0 */
/* What scontrol and squeue answer about reservations, jobs and lists of nodes. The
 * lines are what Slurm 22.05.8 has printed. Source: Slurm's scontrol(1), squeue(1). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/bounds.h"
#include "slurm/slurm_hostlist.h"
#include "slurm/slurm_reservation.h"

/* ---------------------------------------------------------------- lists */

static void test_hostlists(void **state)
{
    static const struct {
        const char *text, *names;
        int rc;
    } rows[] = {
        {"", "", 0},
        {"n1", "n1 ", 0},
        {"n[1-3,5]", "n1 n2 n3 n5 ", 0},
        {"n[08-11],login-2", "n08 n09 n10 n11 login-2 ", 0},
        {"r[1-2]c[3-4]x", "r1c3x r1c4x r2c3x r2c4x ", 0},
        {"b,a,b", "b a b ", 0}, /* as written */
        {"n[1-9999]", NULL, 0},
        {"n[0-10000]", NULL, ERR_BOUNDS},
        {"a[0-999]b[0-999]c[0-999]", NULL, ERR_BOUNDS},
        {"n[1-3", NULL, ERR_PARSE},
        {"n1-3]", NULL, ERR_PARSE},
        {"n[3-1]", NULL, ERR_PARSE},
        {"n[a-b]", NULL, ERR_PARSE},
        {"n[1;2]", NULL, ERR_PARSE},
        {"n[1,]", NULL, ERR_PARSE},
        {"n[12345678901]", NULL, ERR_PARSE},
        {"n1,", NULL, ERR_PARSE},
        {"n 1", NULL, ERR_BOUNDS},
        {",", NULL, ERR_BOUNDS},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct arena arena;
        const char *const *names;
        const char *text = "";
        int n_names = -1;
        struct err err;
        arena_init(&arena);
        int rc = slurm_hostlist_read(&arena, rows[i].text, &names, &n_names, &err);
        if (rc != rows[i].rc) {
            fail_msg("\"%s\": %d, expected %d", rows[i].text, rc, rows[i].rc);
        }
        for (int k = 0; k < n_names && rows[i].names != NULL; k++) {
            text = arena_printf(&arena, "%s%s ", text, names[k]);
        }
        if (rc == 0 && rows[i].names != NULL) {
            assert_string_equal(text, rows[i].names);
        }
        assert_true((rc == 0) == (n_names >= 0));
        arena_release(&arena);
    }
}

/* ---------------------------------------------------------------- reservations */

static const char flex_line[] =
    "ReservationName=sublet_a@b_p.q-r_c_e1 StartTime=1795451444 EndTime=1795452344 "
    "Duration=00:15:00 Nodes=n[1-2] NodeCnt=2 CoreCnt=6 Features=(null) "
    "PartitionName=main Flags=FLEX,SPEC_NODES TRES=cpu=6 Users=root,daemon "
    "Groups=(null) Accounts=(null) Licenses=(null) State=ACTIVE BurstBuffer=(null) "
    "Watts=n/a MaxStartDelay=(null)\n";
static const char later_line[] =
    "ReservationName=second StartTime=1795451482 EndTime=1795451602 Duration=00:02:00 "
    "Nodes=(null) NodeCnt=0 CoreCnt=0 Features=(null) PartitionName=(null) "
    "Flags=SPEC_NODES TRES=cpu=4 Users=(null) Groups=(null) Accounts=a Licenses=(null) "
    "State=INACTIVE BurstBuffer=(null) Watts=n/a MaxStartDelay=(null)\n";

static void test_reservations(void **state)
{
    struct arena arena;
    struct slurm_reservations found = {.count = -1};
    struct err err;
    (void)state;
    arena_init(&arena);
    const char *text = arena_printf(&arena, "%s%s", flex_line, later_line);
    assert_int_equal(slurm_reservation_read(&arena, text, &found, &err), 0);
    assert_int_equal(found.count, 2);
    const struct slurm_reservation *first = &found.items[0], *second = &found.items[1];
    assert_string_equal(first->name, "sublet_a@b_p.q-r_c_e1");
    assert_int_equal(first->start_s, 1795451444);
    assert_int_equal(first->end_s, 1795452344);
    assert_string_equal(first->users, "root,daemon");
    assert_true(first->is_flex && first->is_active);
    assert_int_equal(first->n_nodes, 2);
    assert_string_equal(first->nodes[1], "n2");
    assert_string_equal(second->users, "");
    assert_false(second->is_flex || second->is_active);
    assert_int_equal(second->n_nodes, 0);
    arena_release(&arena);
}

static void test_no_reservations(void **state)
{
    static const char *const wrong[] = {
        "",
        "\n",
        "slurm_load_reservations error: Unable to contact\n",
        "ReservationName=r StartTime=16:00:00 EndTime=1 Nodes= Users= Flags= State=\n",
        "ReservationName=r StartTime=1 EndTime=2 Nodes=n1 Users=root Flags=FLEX\n",
    };
    struct arena arena;
    struct slurm_reservations found = {.count = -1};
    struct err err;
    (void)state;
    arena_init(&arena);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(slurm_reservation_read(&arena, wrong[i], &found, &err),
                         ERR_PARSE);
        assert_int_equal(found.count, -1);
    }
    assert_int_equal(
        slurm_reservation_read(&arena, "No reservations in the system\n", &found, &err),
        0);
    assert_int_equal(found.count, 0);
    arena_release(&arena);
}

static void test_names(void **state)
{
    static const char *const others[] = {
        "maintenance",          "sublet_north_p_c",     "sublet_north_p_c_e",
        "sublet_north_p_c_e0",  "sublet_north_p_c_e01", "sublet_north_p_c_x1",
        "sublet__p_c_e1",       "sublet_a_b_c_d_e1",    "Sublet_north_p_c_e1",
        "sublet_north_p_c_e1_",
    };
    struct arena arena;
    struct slurm_reservation_name name = {"a_b", "p.q-r", "_c", 12};
    (void)state;
    arena_init(&arena);
    const char *text = slurm_reservation_format_name(&arena, &name);
    assert_string_equal(text, "sublet_a@b_p.q-r_@c_e12");
    name = (struct slurm_reservation_name){.epoch = 0};
    assert_true(slurm_reservation_parse_name(&arena, text, &name));
    assert_string_equal(name.site, "a_b");
    assert_string_equal(name.policy, "p.q-r");
    assert_string_equal(name.consumer, "_c");
    assert_int_equal(name.epoch, 12);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (slurm_reservation_parse_name(&arena, others[i], &name)) {
            fail_msg("\"%s\" is not ours", others[i]);
        }
    }
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hostlists),
        cmocka_unit_test(test_reservations),
        cmocka_unit_test(test_no_reservations),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
