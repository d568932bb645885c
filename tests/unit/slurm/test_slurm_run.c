/* SPDX-License-Identifier: Apache-2.0 */
/* Orders about runs of leased jobs. Source: Slurm's sbatch(1), scancel(1),
 * docs/adr/0024-leases-of-slurm-nodes.md. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "slurm/slurm_run.h"

static const struct run_id run_12 = {"south", 12, 77};

static void expect_words(struct arena *arena, const char *const *words,
                         const char *wanted)
{
    const char *text = "";
    for (int i = 0; words[i] != NULL; i++) {
        text = arena_printf(arena, "%s%s%s", text, i > 0 ? " " : "", words[i]);
    }
    assert_string_equal(text, wanted);
}

static void test_commands(void **state)
{
    struct arena arena;
    struct slurm_run_order order = {.site = "north",
                                    .run = run_12,
                                    .user = "nobody",
                                    .group = "nogroup",
                                    .reservation = "sublet_north_p_south_e3",
                                    .node = "n2",
                                    .n_slots = 3,
                                    .partition = "",
                                    .account = "",
                                    .output = "/s/o",
                                    .error = "/s/e",
                                    .script = "/s/run"};
    (void)state;
    arena_init(&arena);
#define SUBMIT                                                                         \
    "sbatch --parsable --no-requeue --export=NIL --chdir=/ --job-name=sublet "         \
    "--time=UNLIMITED --nodes=1 --ntasks=1 --cpus-per-task=3 --nodelist=n2 "           \
    "--reservation=sublet_north_p_south_e3 --uid=nobody --gid=nogroup "                \
    "--output=/s/o --error=/s/e --comment=sublet:north:south:12:77 "
    expect_words(&arena, slurm_run_submit_command(&arena, &order), SUBMIT "/s/run");
    order.partition = "main";
    order.account = "lent";
    expect_words(&arena, slurm_run_submit_command(&arena, &order),
                 SUBMIT "--partition=main --account=lent /s/run");
    expect_words(&arena, slurm_run_signal_command(&arena, 4, "STOP"),
                 "scancel --full --signal=STOP 4");
    expect_words(&arena, slurm_run_kill_command(&arena, 4), "scancel 4");
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_commands)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
