/* SPDX-License-Identifier: Apache-2.0 */
/* cpu.c: the words for levels and memory policies; see cpu.h. */
#include "model/cpu.h"

const char *cpu_level_name(enum cpu_level level)
{
    static const char *const names[CPU_LEVELS] = {[CPU_LEVEL_HOST] = "-",
                                                  [CPU_LEVEL_NUMA] = "numa",
                                                  [CPU_LEVEL_SOCKET] = "socket",
                                                  [CPU_LEVEL_CORE] = "core",
                                                  [CPU_LEVEL_THREAD] = "thread"};
    return names[level];
}

const char *cpu_memory_name(enum cpu_memory memory)
{
    static const char *const names[] = {[CPU_MEMORY_ANY] = "-",
                                        [CPU_MEMORY_LOCALONLY] = "localonly",
                                        [CPU_MEMORY_LOCALPREFER] = "localprefer"};
    return names[memory];
}
