/* SPDX-License-Identifier: Apache-2.0 */
/* user_env.c: see exec.h. */
#include "host/exec/exec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Variables of an account, of a session, and of a machine; "XDG_*": all that begin so.
 * Search paths lead into the consumer's file systems. */
static const char *const foreign[] = {
    "USER",
    "LOGNAME",
    "HOME",
    "SHELL",
    "PATH",
    "MAIL",
    "PWD",
    "OLDPWD",
    "SHLVL",
    "_",
    "TMPDIR",
    "TMP",
    "TEMP",
    "TEMPDIR",
    "HOST",
    "HOSTNAME",
    "HOSTTYPE",
    "DISPLAY",
    "XAUTHORITY",
    "WAYLAND_DISPLAY",
    "WINDOWID",
    "KRB5CCNAME",
    "KRB5_*",
    "ENV",
    "BASH_ENV",
    "PROMPT_COMMAND",
    "MANPATH",
    "INFOPATH",
    "PYTHONPATH",
    "PYTHONHOME",
    "PERL5LIB",
    "CLASSPATH",
    "MODULEPATH",
    "LOADEDMODULES",
    "_LMFILES_",
    "LD_*",
    "SSH_*",
    "XDG_*",
    "DBUS_*",
    "SUDO_*",
    "GPG_*",
    "SYSTEMD_*",
    "JOURNAL_STREAM",
    "INVOCATION_ID",
    "NOTIFY_SOCKET",
    "LSF_*",
    "EGO_*",
    "SLURM_*",
    "SUBLET_SOCKET",
    "SUBLET_BROKER",
    "SUBLET_KEY",
    "SUBLET_BROKER_KEY",
};

static const char path[] = "PATH=/usr/local/bin:/usr/bin:/bin";

static bool is_foreign(const char *variable)
{
    size_t length = strcspn(variable, "=");
    for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
        size_t n = strcspn(foreign[i], "*");
        bool is_prefix = foreign[i][n] == '*';
        if ((is_prefix ? length >= n : length == n) &&
            strncmp(variable, foreign[i], n) == 0) {
            return true;
        }
    }
    return false;
}

static char *assign(const char *name, const char *value)
{
    size_t size = strlen(name) + strlen(value) + 2;
    char *text = mem_alloc(size, 1);
    snprintf(text, size, "%s=%s", name, value);
    return text;
}

void user_env_apply(struct user_env *env, struct run_spec *spec, const char *user,
                    const char *home, const char *shell)
{
    int n_left = 0;
    for (int i = 0; i < spec->n_env; i++) {
        if (!is_foreign(spec->env[i])) {
            spec->env[n_left++] = spec->env[i];
        }
    }
    snprintf(env->user, sizeof(env->user), "USER=%s", user);
    snprintf(env->logname, sizeof(env->logname), "LOGNAME=%s", user);
    env->home = assign("HOME", home);
    env->shell = assign("SHELL", shell);
    const char *const own[] = {env->user, env->logname, env->home, env->shell, path};
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        spec->env[n_left++] = own[i];
    }
    for (int i = n_left; i < spec->n_env; i++) {
        spec->env[i] = NULL; /* the list ends with the first of them */
    }
    spec->n_env = n_left;
}

void user_env_release(struct user_env *env)
{
    free(env->home);
    free(env->shell);
    env->home = env->shell = NULL;
}
