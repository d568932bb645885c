/* SPDX-License-Identifier: Apache-2.0 */
/* facts_model.c: see facts_model.h. */
#include "site/facts_model.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

bool facts_model_is_detected(const char *text)
{
    return text[0] == '\0' || strcmp(text, "!") == 0;
}

/* How far apart two descriptions' speeds are; LONG_MAX: they are of other machines. */
static long distance(const char *one, const char *other)
{
    size_t family = strcspn(one, "_");
    char *one_end, *other_end;
    if (strcmp(one, other) == 0) {
        return 0;
    }
    if (one[family] == '\0' || strncmp(one, other, family + 1) != 0) {
        return LONG_MAX;
    }
    long one_speed = strtol(one + family + 1, &one_end, 10);
    long other_speed = strtol(other + family + 1, &other_end, 10);
    if (*one_end != '_' || strcmp(one_end, other_end) != 0 || one_speed < 0 ||
        other_speed < 0) {
        return LONG_MAX;
    }
    long apart = labs(one_speed - other_speed);
    return apart < LONG_MAX - 1 ? apart + 1 : LONG_MAX; /* the very word is nearer */
}

const char *facts_model_find(const struct facts_config *config, const char *text,
                             double *cpuf)
{
    const struct facts_model *nearest = NULL;
    long least = LONG_MAX;
    for (int i = 0; i < config->n_models; i++) {
        const struct facts_model *model = &config->models[i];
        if (strcmp(model->name, text) == 0) {
            *cpuf = model->cpuf;
            return model->name;
        }
        for (int k = 0; k < model->n_architectures; k++) {
            long apart = distance(model->architectures[k], text);
            if (apart < least) {
                least = apart;
                nearest = model;
            }
        }
    }
    *cpuf = nearest != NULL ? nearest->cpuf : 1.0;
    return nearest != NULL ? nearest->name : text;
}
