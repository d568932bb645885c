/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_agent_io.c: the agent begins a command, or has something written to the log.
 */
#include "slurm/slurm_agent_parts.h"

#include <stdarg.h>
#include <stdio.h>

void slurm_agent_io_log(struct slurm_agent *agent, enum log_level level,
                        const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    agent->io.log(agent->io.arg, level, text);
}

void slurm_agent_io_begin(struct slurm_agent *agent, enum agent_doing doing,
                          const char *const *words)
{
    agent->doing = doing;
    agent->n_commands++;
    agent->io.command(agent->io.arg, words);
}
