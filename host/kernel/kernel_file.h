/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_file.h: reads and writes the small files of a cgroup.
 *
 * `dir` is an open directory. What is longer than KERNEL_FILE_MAX is truncated.
 * Layer: host (inside kernel/). */
#ifndef SUBLET_HOST_KERNEL_KERNEL_FILE_H
#define SUBLET_HOST_KERNEL_KERNEL_FILE_H

#include <stdbool.h>
#include <stdint.h>

enum { KERNEL_FILE_MAX = 4096 };

/* Returns false if there is no such file, or the kernel refuses the text. */
bool kernel_file_write(int dir, const char *name, const char *text);
bool kernel_file_write_number(int dir, const char *name, int64_t number);
/* Returns false, and the text "", if the file is missing or empty. */
bool kernel_file_read(int dir, const char *name, char text[KERNEL_FILE_MAX]);
/* The same for an open file, from its beginning. */
bool kernel_file_read_open(int file, char text[KERNEL_FILE_MAX]);
/* The number in the line "KEY NUMBER"; -1: there is no such line. */
int64_t kernel_file_find_number(const char *text, const char *key);
/* The same in a file; with `key` "" the whole file is a number. -1: none. */
int64_t kernel_file_read_number(int dir, const char *name, const char *key);

#endif
