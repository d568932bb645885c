/* SPDX-License-Identifier: Apache-2.0 */
/* job_control.c: see job_control.h. */
#include "model/job_control.h"

#include <signal.h>
#include <string.h>
#include <strings.h>

static const char *const names[JOB_CONTROL_KINDS] = {
    [JOB_CONTROL_SUSPEND] = "suspend",
    [JOB_CONTROL_RESUME] = "resume",
    [JOB_CONTROL_TERMINATE] = "terminate",
    [JOB_CONTROL_WARN] = "warn",
};

const char *job_control_name(enum job_control action)
{
    return (unsigned)action < JOB_CONTROL_KINDS ? names[action] : "?";
}

const char *job_control_parse(const char *text, enum job_control *action)
{
    for (int i = 0; i < JOB_CONTROL_KINDS; i++) {
        size_t length = strlen(names[i]);
        if (strncmp(text, names[i], length) == 0 && text[length] == '=') {
            *action = (enum job_control)i;
            return text + length + 1;
        }
    }
    return NULL;
}

const char *job_control_find(const char *const *texts, int n_texts,
                             enum job_control action)
{
    for (int i = 0; i < n_texts; i++) {
        enum job_control kind;
        const char *what = job_control_parse(texts[i], &kind);
        if (what != NULL && kind == action) {
            return what;
        }
    }
    return NULL;
}

int job_control_signal(const char *text)
{
    static const struct {
        const char *name;
        int signal;
    } signals[] = {
        {"HUP", SIGHUP},   {"INT", SIGINT},     {"QUIT", SIGQUIT}, {"ABRT", SIGABRT},
        {"KILL", SIGKILL}, {"USR1", SIGUSR1},   {"USR2", SIGUSR2}, {"ALRM", SIGALRM},
        {"TERM", SIGTERM}, {"CONT", SIGCONT},   {"STOP", SIGSTOP}, {"TSTP", SIGTSTP},
        {"TTIN", SIGTTIN}, {"TTOU", SIGTTOU},   {"URG", SIGURG},   {"XCPU", SIGXCPU},
        {"XFSZ", SIGXFSZ}, {"WINCH", SIGWINCH}, {"IO", SIGIO},     {"PWR", SIGPWR},
    };
    const char *name = strncasecmp(text, "SIG", 3) == 0 ? text + 3 : text;
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        if (strcasecmp(name, signals[i].name) == 0) {
            return signals[i].signal;
        }
    }
    return 0;
}
