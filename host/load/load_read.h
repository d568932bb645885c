/* SPDX-License-Identifier: Apache-2.0 */
/* load_read.h: reads this machine: its load as of now, and what it is.
 *
 * Users are those of utmp whose session lives; on a machine without utmp the owners of
 * its terminals. Idle is the time since the last of: input or output on one of their
 * terminals, a login, a logout, the boot. Disks are those of /sys/block with hardware
 * behind them: partitions, RAID and loop devices would count twice.
 *
 * What cannot be read is unknown. No call waits for anything but the kernel.
 * Layer: host. */
#ifndef SUBLET_HOST_LOAD_LOAD_READ_H
#define SUBLET_HOST_LOAD_LOAD_READ_H

#include "host/load/load_index.h"

struct load_read;
struct load_read *load_read_new(void);
void load_read_free(struct load_read *reader);

/* Values that change fast. */
void load_read_sample(struct load_read *reader, struct load_sample *sample);
/* Users, idle time and /tmp, for now and then. */
void load_read_slow(struct load_read *reader, struct load_sample *sample);

void load_read_machine(struct load_read *reader, struct load_machine *facts);

#endif
