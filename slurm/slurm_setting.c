/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_setting.c: see slurm_setting.h. A setting is a row of a table with the function
 * that judges its value. */
#include "slurm/slurm_setting.h"

#include <stdbool.h>
#include <string.h>

const char *const slurm_setting_command[] = {"scontrol", "show", "config", NULL};

typedef void (*judge_fn)(struct slurm_setting *setting);

static void set(struct slurm_setting *setting, enum slurm_verdict verdict,
                const char *advice)
{
    setting->verdict = verdict;
    setting->advice = advice;
}

static void judge_version(struct slurm_setting *setting)
{
    if (strncmp(setting->value, "22.05.", 6) != 0) {
        set(setting, SLURM_VERDICT_WARN,
            "Sublet is tested with Slurm 22.05 only; try a lease on a test node first");
    }
}

static void judge_overrun(struct slurm_setting *setting)
{
    if (strcmp(setting->value, "UNLIMITED") == 0) {
        set(setting, SLURM_VERDICT_FAIL,
            "jobs outlive their reservation, so that a lease would not end by itself; "
            "set ResvOverRun=0 in slurm.conf and run: scontrol reconfigure");
    } else if (strcmp(setting->value, "0 min") != 0) {
        set(setting, SLURM_VERDICT_WARN,
            "jobs run for so much longer than their reservation, so that a lease ends "
            "by itself that much later; ResvOverRun=0 ends it in time");
    }
}

static void judge_select(struct slurm_setting *setting)
{
    if (strcmp(setting->value, "select/cons_tres") != 0 &&
        strcmp(setting->value, "select/cons_res") != 0) {
        set(setting, SLURM_VERDICT_WARN,
            "each job takes whole nodes, so that a node that is lent runs one job at a "
            "time; SelectType=select/cons_tres lets several share it");
    }
}

static void judge_enforce(struct slurm_setting *setting)
{
    if (strcmp(setting->value, "none") != 0) {
        set(setting, SLURM_VERDICT_WARN,
            "jobs of leases need an account of slurmdbd and associations for the users "
            "that they run as");
    }
}

static void judge_private(struct slurm_setting *setting)
{
    if (strcmp(setting->value, "none") != 0) {
        set(setting, SLURM_VERDICT_WARN,
            "only root and SlurmUser see all nodes, jobs and reservations; run Sublet "
            "as one of them");
    }
}

static const struct {
    const char *name;
    judge_fn judge;
} rules[SLURM_SETTINGS] = {
    {"SLURM_VERSION", judge_version}, {"ResvOverRun", judge_overrun},
    {"SelectType", judge_select},     {"AccountingStorageEnforce", judge_enforce},
    {"PrivateData", judge_private},
};

/* The value in "Name   = value", or NULL. */
static const char *find_value(struct arena *arena, const char *text, const char *name)
{
    size_t length = strlen(name);
    while (*text != '\0') {
        size_t n_line = strcspn(text, "\n");
        const char *end = text + n_line;
        const char *equals = memchr(text, '=', n_line);
        if (equals != NULL && n_line > length && strncmp(text, name, length) == 0 &&
            strspn(text + length, " ") == (size_t)(equals - text) - length) {
            const char *value = equals + 1 + strspn(equals + 1, " ");
            while (end > value && end[-1] == ' ') {
                end--;
            }
            return arena_strn(arena, value, end > value ? (size_t)(end - value) : 0);
        }
        text += n_line + (text[n_line] == '\n');
    }
    return NULL;
}

int slurm_setting_read(struct arena *arena, const char *text,
                       struct slurm_setting settings[SLURM_SETTINGS], struct err *err)
{
    if (find_value(arena, text, rules[0].name) == NULL) {
        return err_set(
            err, ERR_PARSE,
            "\"scontrol show config\" printed no SLURM_VERSION, expected the "
            "answer of a slurmctld");
    }
    for (int i = 0; i < SLURM_SETTINGS; i++) {
        const char *value = find_value(arena, text, rules[i].name);
        settings[i] = (struct slurm_setting){.name = rules[i].name,
                                             .value = value != NULL ? value : "",
                                             .verdict = SLURM_VERDICT_OK,
                                             .advice = ""};
        rules[i].judge(&settings[i]);
    }
    return 0;
}
