/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_simulate.c: `sublet simulate`: federations in virtual time. docs/simulate.md is
 * the manual. Source: docs/design/interfaces.md "Scenarios". */
#include "cli/simulate/simulate.h"

#include <errno.h>
#include <string.h>

#include "base/conf/conf.h"
#include "cli/commands.h"

const struct call_option cmd_simulate_options[] = {
    {"--events", "FILE", "events, one JSON object on each line; -: standard output",
     false},
    {"--json", NULL, "the summary as JSON", false},
    {"--seed", "N", "seed of the random numbers (default 1)", false},
    {"--plot", "FILE", "slots used, lent and borrowed over time, as SVG", false},
    {"--usage", "FILE",
     "slot time of leases held, used and idle, as JSON; -: standard output", false},
    {"--compare", NULL, "several scenarios, side by side", false},
    {"--log", NULL, "the daemons' logs go to standard error", false},
    {NULL, NULL, NULL, false},
};

static int take_seed(const struct call *call, uint64_t *seed)
{
    const char *text = call_value(call, "--seed");
    struct err err;
    int64_t number = 1;
    if (text != NULL && conf_parse_int(text, 0, INT64_MAX, &number, &err) != 0) {
        return call_misuse(call, "--seed: %s", err.text);
    }
    *seed = (uint64_t)number;
    return CALL_OK;
}

static int open_file(const struct call *call, const char *option, FILE **file)
{
    const char *path = call_value(call, option);
    *file = path == NULL ? NULL : strcmp(path, "-") == 0 ? stdout : fopen(path, "we");
    if (path != NULL && *file == NULL) {
        call_fail("simulate: %s: %s", path, strerror(errno));
        return CALL_MISUSED;
    }
    return CALL_OK;
}

static int close_file(const struct call *call, const char *option, FILE *file)
{
    bool is_written = file == NULL || !ferror(file);
    if (file != NULL && file != stdout) {
        is_written = fclose(file) == 0 && is_written;
    }
    return is_written ? CALL_OK
                      : call_fail("simulate: %s: %s", call_value(call, option),
                                  strerror(errno));
}

static int worse(int one, int other)
{
    return other > one ? other : one;
}

static void print_json(const json_t *object)
{
    json_dumpf(object, stdout, JSON_COMPACT | JSON_REAL_PRECISION(15));
    putchar('\n');
}

/* ---------------------------------------------------------------- one */

static int finish_one(struct call *call, const struct simulate_run *run)
{
    const char *plot = call_value(call, "--plot");
    struct err err;
    if (call_has(call, "--json")) {
        print_json(run->summary);
    } else if (run->events != stdout && run->usage != stdout) {
        simulate_show(call, run->summary);
    }
    if (plot != NULL && simulate_plot(run, plot, &err) != 0) {
        return call_fail_err(&err);
    }
    return call_finish_output();
}

static int simulate_one(struct call *call)
{
    struct simulate_run run = {.file = call->operands[0],
                               .with_curves = call_has(call, "--plot"),
                               .with_log = call_has(call, "--log")};
    int status = take_seed(call, &run.seed);
    if (status == CALL_OK) {
        status = simulate_run_read(&run);
    }
    if (status == CALL_OK) {
        status = open_file(call, "--events", &run.events);
    }
    if (status == CALL_OK) {
        status = open_file(call, "--usage", &run.usage);
    }
    if (status == CALL_OK) {
        status = simulate_run_play(&run);
        status = worse(status, close_file(call, "--events", run.events));
        status = worse(status, close_file(call, "--usage", run.usage));
        status = worse(status, finish_one(call, &run));
    }
    simulate_run_release(&run);
    return status;
}

/* ---------------------------------------------------------------- several */

static json_t *all_of(const struct simulate_run *runs, int n_runs)
{
    json_t *object = json_object(), *array = json_array();
    json_object_set_new(object, "schema_version", json_integer(1));
    for (int i = 0; i < n_runs; i++) {
        json_t *summary = json_copy(runs[i].summary);
        json_object_set_new(summary, "scenario", json_string(runs[i].file));
        json_array_append_new(array, summary);
    }
    json_object_set_new(object, "scenarios", array);
    return object;
}

/* Reads all scenarios before it plays any, so that errors are reported at once. */
static int play_all(struct simulate_run *runs, int n_runs)
{
    int status = CALL_OK;
    for (int i = 0; i < n_runs; i++) {
        status = worse(status, simulate_run_read(&runs[i]));
    }
    if (status != CALL_OK) {
        return status;
    }
    for (int i = 0; i < n_runs; i++) {
        status = worse(status, simulate_run_play(&runs[i]));
    }
    return status;
}

static int simulate_many(struct call *call)
{
    int n_runs = call->n_operands;
    struct simulate_run *runs =
        arena_alloc(&call->arena, (size_t)n_runs, sizeof(runs[0]));
    uint64_t seed;
    int status = take_seed(call, &seed);
    if (status != CALL_OK) {
        return status;
    }
    for (int i = 0; i < n_runs; i++) {
        runs[i] = (struct simulate_run){.file = call->operands[i],
                                        .seed = seed,
                                        .with_log = call_has(call, "--log")};
    }
    status = play_all(runs, n_runs);
    if (status != CALL_MISUSED && call_has(call, "--json")) {
        json_t *all = all_of(runs, n_runs);
        print_json(all);
        json_decref(all);
    } else if (status != CALL_MISUSED) {
        simulate_show_many(call, runs, n_runs);
    }
    for (int i = 0; i < n_runs; i++) {
        simulate_run_release(&runs[i]);
    }
    return worse(status, call_finish_output());
}

static bool is_output(const struct call *call, const char *option)
{
    return call_has(call, option) && strcmp(call_value(call, option), "-") == 0;
}

int cmd_simulate_run(struct call *call)
{
    bool is_many = call_has(call, "--compare");
    if (is_many && (call_has(call, "--events") || call_has(call, "--plot") ||
                    call_has(call, "--usage"))) {
        return call_misuse(call,
                           "--compare with --events, --plot or --usage, expected them "
                           "with one scenario");
    }
    if (is_output(call, "--events") && is_output(call, "--usage")) {
        return call_misuse(call,
                           "--events - with --usage -, expected a file for one of "
                           "them");
    }
    if (call->n_operands == 0 || (call->n_operands > 1 && !is_many)) {
        return call_misuse(call, "expected one scenario, or several with --compare");
    }
    return is_many ? simulate_many(call) : simulate_one(call);
}
