/* SPDX-License-Identifier: Apache-2.0 */
/* trial.c: see trial.h. */
#include "tests/sim/trial.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/play/play.h"

enum {
    SETTLE_MS = 6000 * 1000, /* queues (maker.c bounds them), reruns, flapping leases */
    ENDLESS_S = 60,          /* a world takes well below a second */
};

static int read_text(void *arg, const char *path, const char **text, size_t *length,
                     struct err *err)
{
    const struct texts *texts = arg;

    *text = texts_find(texts, path);
    if (!*text) {
        return err_set(err, ERR_NOT_FOUND, "no file \"%s\"", path);
    }
    *length = strlen(*text);
    return 0;
}

/* The first expectation that did not hold. */
static void say_failure(const struct play *play, char *text, int size)
{
    const struct play_remark *remark = play_remarks(play);

    while (remark && remark->is_note) {
        remark = remark->next;
    }
    if (remark) {
        snprintf(text, (size_t)size, "line %d: %s", remark->line, remark->text);
    }
}

static enum trial_end judge(struct play *play, char *text, int size)
{
    switch (play_run(play)) {
    case PLAY_VIOLATED:
        snprintf(text, (size_t)size, "%s", play_violation(play));
        return TRIAL_VIOLATED;
    case PLAY_FAILED:
        say_failure(play, text, size);
        return TRIAL_UNEXPECTED;
    case PLAY_WELL:
        break;
    }
    if (play_settle(play, SETTLE_MS, text, size)) {
        return TRIAL_WELL;
    }
    if (play_violation(play)[0]) {
        snprintf(text, (size_t)size, "%s", play_violation(play));
        return TRIAL_VIOLATED;
    }
    return TRIAL_STUCK;
}

void trial_run(const struct texts *texts, uint64_t seed, world_trace_fn trace,
               struct trial *trial)
{
    struct scenario_files files = {.read = read_text, .arg = (void *)texts};
    struct play_options options = {.seed = seed, .on_line = trace};
    const char *text = texts_find(texts, TEXTS_SCENARIO);
    struct scenario *scenario;

    *trial = (struct trial){.end = TRIAL_UNREADABLE};
    if (!text) {
        snprintf(trial->text, sizeof trial->text, "no file %s", TEXTS_SCENARIO);
        return;
    }
    scenario = scenario_read(TEXTS_SCENARIO, text, strlen(text), &files);
    if (scenario->conf.n_errors) {
        const struct conf_diag *diag = scenario->conf.diags;
        while (diag->severity != CONF_ERROR) {
            diag = diag->next;
        }
        snprintf(trial->text, sizeof trial->text, "%s:%d: %s%s%s", diag->file,
                 diag->line, diag->key ? diag->key : "", diag->key ? ": " : "",
                 diag->text);
    } else {
        struct play *play = play_new(scenario, &options);
        trial->end = judge(play, trial->text, sizeof trial->text);
        trial->counts = play_counts(play);
        play_free(play);
    }
    scenario_free(scenario);
}

void trial_run_apart(const struct texts *texts, uint64_t seed, struct trial *trial)
{
    int ends[2], status = 0;
    size_t n = 0;
    ssize_t got;
    pid_t child;

    *trial = (struct trial){.end = TRIAL_DIED};
    fflush(NULL);
    if (pipe(ends) != 0 || (child = fork()) < 0) {
        perror("trial");
        exit(2);
    }
    if (child == 0) {
        close(ends[0]);
        alarm(ENDLESS_S);
        trial_run(texts, seed, NULL, trial);
        _exit(write(ends[1], trial, sizeof *trial) != (ssize_t)sizeof *trial);
    }
    close(ends[1]);
    while (n < sizeof *trial &&
           (got = read(ends[0], (char *)trial + n, sizeof *trial - n)) > 0) {
        n += (size_t)got;
    }
    close(ends[0]);
    waitpid(child, &status, 0);
    if (n < sizeof *trial) {
        int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
        *trial = (struct trial){.end = signal == SIGALRM ? TRIAL_ENDLESS : TRIAL_DIED};
        snprintf(trial->text, sizeof trial->text, "ended by signal %d (%s)", signal,
                 strsignal(signal));
    }
}

bool trial_is_fault(const struct trial *trial)
{
    return trial->end != TRIAL_WELL && trial->end != TRIAL_UNREADABLE;
}

/* The next word without a digit, since names and numbers have one; false: none. */
static bool next_word(const char **at, const char **word, size_t *length)
{
    for (;;) {
        *at += strspn(*at, " ,:;");
        *word = *at;
        *length = strcspn(*at, " ,:;");
        *at += *length;
        if (*length == 0) {
            return false;
        }
        if (strcspn(*word, "0123456789") >= *length) {
            return true;
        }
    }
}

bool trial_is_same_fault(const struct trial *left, const struct trial *right)
{
    const char *at = left->text, *other = right->text, *word, *other_word;
    size_t length, other_length;

    if (left->end != right->end) {
        return false;
    }
    while (next_word(&at, &word, &length)) {
        if (!next_word(&other, &other_word, &other_length) || length != other_length ||
            strncmp(word, other_word, length) != 0) {
            return false;
        }
    }
    return !next_word(&other, &other_word, &other_length);
}
