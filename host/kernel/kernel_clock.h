/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_clock.h: the guard's two clocks, and the pause between two looks at what tells
 * nobody when it changes. Layer: host (guard). */
#ifndef SUBLET_HOST_KERNEL_KERNEL_CLOCK_H
#define SUBLET_HOST_KERNEL_KERNEL_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t kernel_clock_read_ms(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* For what is waited for and counted. */
static inline int64_t kernel_clock_now_ms(void)
{
    return kernel_clock_read_ms(CLOCK_MONOTONIC);
}

/* For what is written down. */
static inline uint64_t kernel_clock_wall_ms(void)
{
    return (uint64_t)kernel_clock_read_ms(CLOCK_REALTIME);
}

static inline void kernel_clock_sleep(int64_t ms)
{
    struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
    nanosleep(&pause, NULL);
}

#endif
