/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_set.c: see cpu.h. */
#include "model/cpu.h"

#include <stdio.h>
#include <string.h>

bool cpu_set_has(const struct cpu_set *set, int cpu)
{
    return cpu >= 0 && cpu < CPU_SET_MAX &&
           (set->bits[cpu / 64] >> (cpu % 64) & 1) != 0;
}

void cpu_set_add(struct cpu_set *set, int cpu)
{
    set->bits[cpu / 64] |= UINT64_C(1) << (cpu % 64);
}

void cpu_set_join(struct cpu_set *set, const struct cpu_set *more)
{
    for (int i = 0; i < CPU_SET_MAX / 64; i++) {
        set->bits[i] |= more->bits[i];
    }
}

bool cpu_set_meets(const struct cpu_set *a, const struct cpu_set *b)
{
    uint64_t common = 0;
    for (int i = 0; i < CPU_SET_MAX / 64; i++) {
        common |= a->bits[i] & b->bits[i];
    }
    return common != 0;
}

int cpu_set_count(const struct cpu_set *set)
{
    int count = 0;
    for (int i = 0; i < CPU_SET_MAX / 64; i++) {
        for (uint64_t bits = set->bits[i]; bits != 0; bits &= bits - 1) {
            count++;
        }
    }
    return count;
}

void cpu_set_format(const struct cpu_set *set, char text[CPU_LIST_SIZE])
{
    size_t length = 0;
    text[0] = '\0';
    for (int cpu = 0; cpu < CPU_SET_MAX; cpu++) {
        int last = cpu;
        if (!cpu_set_has(set, cpu)) {
            continue;
        }
        while (cpu_set_has(set, last + 1)) {
            last++;
        }
        int n =
            snprintf(text + length, CPU_LIST_SIZE - length,
                     last > cpu ? "%s%d-%d" : "%s%d", length > 0 ? "," : "", cpu, last);
        if (n < 0 || (size_t)n >= CPU_LIST_SIZE - length) {
            text[length] = '\0';
            return;
        }
        length += (size_t)n;
        cpu = last;
    }
}

/* Digits; -1: none, or too large a number. */
static int take_cpu(const char **at, const char *end)
{
    int cpu = 0;
    const char *first = *at;
    for (; *at < end && **at >= '0' && **at <= '9' && cpu < CPU_SET_MAX; (*at)++) {
        cpu = cpu * 10 + (**at - '0');
    }
    return *at > first && cpu < CPU_SET_MAX ? cpu : -1;
}

int cpu_set_parse(const char *text, size_t length, struct cpu_set *set, struct err *err)
{
    const char *at = text, *end = text + length;
    memset(set, 0, sizeof(*set));
    while (at < end) {
        int first = take_cpu(&at, end), last = first;
        if (first >= 0 && at < end && *at == '-') {
            at++;
            last = take_cpu(&at, end);
        }
        bool is_good =
            first >= 0 && last >= first && (at == end || (*at == ',' && at + 1 < end));
        if (!is_good) {
            return err_set(err, ERR_PARSE,
                           "bad list of processors \"%.*s\", expected numbers below %d "
                           "and ranges, as in 0-3,8",
                           (int)(length < 80 ? length : 80), text, CPU_SET_MAX);
        }
        for (int cpu = first; cpu <= last; cpu++) {
            cpu_set_add(set, cpu);
        }
        at += at < end;
    }
    return 0;
}
