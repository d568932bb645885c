/* SPDX-License-Identifier: Apache-2.0 */
/* job_id.h: job ids as users write them, and the index lists of job arrays.
 *
 *     12              a job, or a whole array
 *     12[3]           an element of an array
 *     12[1-5,9,20-30:2]  some of its elements: ranges, with a step behind a colon
 *     lisa[1-10]      a name at submission that makes an array
 *     lisa[1-10]%3    and at most three of its elements run at a time
 *
 * A key combines a number and an index, and sorts by number, then index. A job that is
 * not an element has index 0.
 *
 * Ownership: results live in the arena. Source: LSF's bsub -J.
 * Errors: ERR_PARSE, ERR_BOUNDS with what was expected. Memory use is bounded by the
 * text's length, except in job_id_expand. Layer: model. */
#ifndef SUBLET_MODEL_JOB_ID_H
#define SUBLET_MODEL_JOB_ID_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bounds.h"
#include "base/err.h"
#include "base/value.h"

struct job_range {
    int first, last, step; /* 1 <= first <= last, step >= 1 */
};

struct job_id {
    uint64_t number;
    struct job_range *ranges; /* none: all elements */
    int n_ranges;
};

/* "12", "12[3]", "12[1-5]". */
int job_id_read(struct arena *arena, const char *text, struct job_id *id,
                struct err *err) MUST_CHECK;
/* Reads the "[...]" at the end of a name, before a "%limit". Indices are at most `max`.
 * The number is 0. */
int job_id_read_name(struct arena *arena, const char *name, int max, struct job_id *id,
                     struct err *err) MUST_CHECK;
/* The "%limit" of such a name, or 0. */
int job_id_name_limit(const char *name);
/* True if the name has a "[", and so asks for an array. */
bool job_id_is_array_name(const char *name);
/* "lisa[1-10]" and 3: "lisa[3]". Index 0: the name as it is. */
const char *job_id_element_name(struct arena *arena, const char *name, int index);

bool job_id_has(const struct job_id *id, int index);
/* The indices, ascending and without repetition; at most JOB_INDEX_MAX. */
int job_id_expand(struct arena *arena, const struct job_id *id, const int **indices);

/* "12", or "12[3]": also the id of a job in JSON, which is always a string. */
const char *job_id_text(struct arena *arena, uint64_t number, int index);

uint64_t job_id_key(uint64_t number, int index);
uint64_t job_id_key_number(uint64_t key);
int job_id_key_index(uint64_t key);

#endif
