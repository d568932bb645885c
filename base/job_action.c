/* SPDX-License-Identifier: Apache-2.0 */
/* job_action.c: see job_action.h. */
#include "base/job_action.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

static const char *const names[JOB_ACTIONS] = {
    [JOB_ACTION_SUSPEND] = "suspend",
    [JOB_ACTION_RESUME] = "resume",
    [JOB_ACTION_TERMINATE] = "terminate",
};

const char *job_action_name(enum job_action action)
{
    return (unsigned)action < JOB_ACTIONS ? names[action] : "?";
}

const char *job_action_read(const char *text, enum job_action *action)
{
    for (int i = 0; i < JOB_ACTIONS; i++) {
        size_t length = strlen(names[i]);
        if (strncmp(text, names[i], length) == 0 && text[length] == '=') {
            *action = (enum job_action)i;
            return text + length + 1;
        }
    }
    return NULL;
}

int job_action_signal(const char *text)
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
