/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_child.c: see slurm_child.h. */
#include "slurm/io/slurm_child.h"

#include <stdlib.h>

/* The variables, then NULL. */
enum { VARIABLES = 2 };

static void make_variables(struct arena *arena, const struct slurm_child_place *place,
                           const char *variables[VARIABLES + 1])
{
    const char *conf = place->conf[0] != '\0' ? place->conf : getenv("SLURM_CONF");
    variables[0] = "SLURM_TIME_FORMAT=%s";
    variables[1] = conf != NULL ? arena_printf(arena, "SLURM_CONF=%s", conf) : NULL;
    variables[VARIABLES] = NULL;
}

/* The words with the path of the command. */
static const char *const *place_words(struct arena *arena,
                                      const struct slurm_child_place *place,
                                      const char *const *words)
{
    int count = 0;
    while (words[count] != NULL) {
        count++;
    }
    const char **placed = arena_alloc(arena, (size_t)count + 1, sizeof(*placed));
    for (int i = 0; i < count; i++) {
        placed[i] = words[i];
    }
    if (place->bin[0] != '\0') {
        placed[0] = arena_printf(arena, "%s/%s", place->bin, words[0]);
    }
    return placed;
}

int slurm_child_new(const struct slurm_child_place *place, const char *const *words,
                    int64_t now_ms, struct child **child, struct err *err)
{
    const char *variables[VARIABLES + 1];
    struct arena arena;
    arena_init_small(&arena);
    make_variables(&arena, place, variables);
    const struct child_setting setting = {variables, place->within_ms};
    int rc = child_new(&setting, place_words(&arena, place, words), now_ms, child, err);
    if (rc < 0) {
        err_set(err, rc, "%s; install Slurm's commands, or say where they are",
                arena_str(&arena, err->text));
    }
    arena_release(&arena);
    return rc;
}

int slurm_child_run(const struct slurm_child_place *place, const char *const *words,
                    struct arena *arena, const char **text, struct err *err)
{
    const char *variables[VARIABLES + 1];
    make_variables(arena, place, variables);
    const struct child_setting setting = {variables, place->within_ms};
    return child_run(&setting, place_words(arena, place, words), arena, text, err);
}
