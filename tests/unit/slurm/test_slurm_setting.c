/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of a cluster: slurm.conf(5) and what was measured (docs/adr). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "slurm/slurm_setting.h"

static void test_verdicts(void **state)
{
    static const struct {
        const char *why, *name, *line;
        enum slurm_verdict verdict;
    } rows[] = {
        {"the tested version", "SLURM_VERSION", "SLURM_VERSION           = 22.05.8",
         SLURM_VERDICT_OK},
        {"another version", "SLURM_VERSION", "SLURM_VERSION           = 23.11.4",
         SLURM_VERDICT_WARN},
        {"jobs end with the reservation", "ResvOverRun",
         "ResvOverRun             = 0 min", SLURM_VERDICT_OK},
        {"they end later", "ResvOverRun", "ResvOverRun             = 10 min",
         SLURM_VERDICT_WARN},
        {"they do not end", "ResvOverRun", "ResvOverRun             = UNLIMITED",
         SLURM_VERDICT_FAIL},
        {"a name that only begins so", "ResvOverRun", "ResvOverRunX            = 0 min",
         SLURM_VERDICT_WARN},
        {"consumable CPUs", "SelectType", "SelectType  = select/cons_tres  ",
         SLURM_VERDICT_OK},
        {"whole nodes", "SelectType", "SelectType              = select/linear",
         SLURM_VERDICT_WARN},
        {"no slurmdbd", "AccountingStorageEnforce", "AccountingStorageEnforce = none",
         SLURM_VERDICT_OK},
        {"associations", "AccountingStorageEnforce",
         "AccountingStorageEnforce = associations,limits", SLURM_VERDICT_WARN},
        {"all may look", "PrivateData", "PrivateData             = none",
         SLURM_VERDICT_OK},
        {"they may not", "PrivateData", "PrivateData             = jobs,nodes",
         SLURM_VERDICT_WARN},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct slurm_setting settings[SLURM_SETTINGS];
        struct err err;
        struct arena arena;
        bool is_seen = false;
        arena_init(&arena);
        const char *text = arena_printf(
            &arena, "Configuration data as of 2026-11-23\n%s\n%s", rows[i].line,
            strncmp(rows[i].line, "SLURM_VERSION", 13) == 0
                ? ""
                : "SLURM_VERSION = 22.05.8");
        assert_int_equal(slurm_setting_read(&arena, text, settings, &err), 0);
        for (int k = 0; k < SLURM_SETTINGS; k++) {
            const struct slurm_setting *setting = &settings[k];
            if (strcmp(setting->name, rows[i].name) == 0) {
                is_seen = true;
                if (setting->verdict != rows[i].verdict) {
                    fail_msg("%s: %d, expected %d", rows[i].why, setting->verdict,
                             rows[i].verdict);
                }
            }
            assert_int_equal(setting->advice[0] == '\0',
                             setting->verdict == SLURM_VERDICT_OK);
        }
        assert_true(is_seen);
        arena_release(&arena);
    }
}

/* Output of another program, or an empty one, is no cluster without faults. */
static void test_no_answer(void **state)
{
    static const char *const texts[] = {"", "\n", "SLURM_VERSION",
                                        "ResvOverRun = 0 min"};
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct slurm_setting settings[SLURM_SETTINGS];
        struct err err;
        struct arena arena;
        arena_init(&arena);
        assert_int_equal(slurm_setting_read(&arena, texts[i], settings, &err),
                         ERR_PARSE);
        arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_no_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
