/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_file.h: the small files by which the kernel is told and tells of a cgroup.
 *
 * `dir` is an open directory. What is longer than KERNEL_FILE_MAX is cut.
 * Layer: host (guard). */
#ifndef SUBLET_HOST_KERNEL_KERNEL_FILE_H
#define SUBLET_HOST_KERNEL_KERNEL_FILE_H

#include <stdbool.h>
#include <stdint.h>

enum { KERNEL_FILE_MAX = 4096 };

/* False where there is none, or the kernel refuses the text. */
bool kernel_file_write(int dir, const char *name, const char *text);
bool kernel_file_write_number(int dir, const char *name, int64_t number);
/* False where there is none, or it is empty; the text is "" then. */
bool kernel_file_read(int dir, const char *name, char text[KERNEL_FILE_MAX]);
/* The same of a file that is open, from its beginning. */
bool kernel_file_read_open(int file, char text[KERNEL_FILE_MAX]);
/* The number behind `key` and a blank, at the start of a line; -1: none. */
int64_t kernel_file_find_number(const char *text, const char *key);
/* Of a file with such lines; "" for `key`: the file is a number. -1: none. */
int64_t kernel_file_read_number(int dir, const char *name, const char *key);

#endif
