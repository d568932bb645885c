/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_swf.c: bytes as a trace. Accepted jobs are in order, in bounds, and named. */
#include <string.h>

#include "sim/scenario/swf.h"
#include "tests/fuzz/input.h"

static void check_jobs(const struct swf *swf)
{
    for (int i = 0; i < swf->n_jobs; i++) {
        const struct swf_job *job = &swf->jobs[i];
        if (job->at_ms < (i > 0 ? job[-1].at_ms : 0)) {
            input_fail("job %d is before the one before it", i);
        }
        if (job->run_ms < 0 || job->limit_ms < 0 || job->n_slots < 1 || job->line < 1) {
            input_fail("job %d of line %d cannot be", i, job->line);
        }
        if (job->user[0] == '\0' || job->group[0] == '\0' || job->queue[0] == '\0') {
            input_fail("job %d has no name", i);
        }
    }
    if (swf->n_jobs > 0 && swf->jobs[0].at_ms != 0) {
        input_fail("the first job comes late");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct swf_options options[] = {
        {SWF_SCALE_ONE, 0}, {SWF_SCALE_MAX, 1}, {0, 0}, {SWF_SCALE_ONE / 3, 3}};
    struct arena arena;

    arena_init(&arena);
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        struct swf swf = {0};
        struct err err = {0};
        int code = swf_read("fuzz.swf", (const char *)data, size, &options[i], &arena,
                            &swf, &err);
        if (code != 0 && strncmp(err.text, "fuzz.swf:", 9) != 0) {
            input_fail("an error that names no place: %s", err.text);
        }
        check_jobs(&swf);
    }
    arena_release(&arena);
    return 0;
}
