/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_file.c: see kernel_file.h. */
#include "host/kernel/kernel_file.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool kernel_file_write(int dir, const char *name, const char *text)
{
    int file = openat(dir, name, O_WRONLY | O_CLOEXEC);
    if (file < 0) {
        return false;
    }
    bool is_written = write(file, text, strlen(text)) > 0;
    close(file);
    return is_written;
}

bool kernel_file_write_number(int dir, const char *name, int64_t number)
{
    char text[32];
    snprintf(text, sizeof(text), "%" PRId64, number);
    return kernel_file_write(dir, name, text);
}

bool kernel_file_read_open(int file, char text[KERNEL_FILE_MAX])
{
    ssize_t length = pread(file, text, KERNEL_FILE_MAX - 1, 0);
    text[length > 0 ? length : 0] = '\0';
    return length > 0;
}

bool kernel_file_read(int dir, const char *name, char text[KERNEL_FILE_MAX])
{
    int file = openat(dir, name, O_RDONLY | O_CLOEXEC);
    text[0] = '\0';
    if (file < 0) {
        return false;
    }
    bool is_read = kernel_file_read_open(file, text);
    close(file);
    return is_read;
}

int64_t kernel_file_find_number(const char *text, const char *key)
{
    size_t length = strlen(key);
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, length) == 0 && line[length] == ' ') {
            return strtoll(line + length + 1, NULL, 10);
        }
    }
    return -1;
}

int64_t kernel_file_read_number(int dir, const char *name, const char *key)
{
    char text[KERNEL_FILE_MAX];
    if (!kernel_file_read(dir, name, text)) {
        return -1;
    }
    return key[0] == '\0' ? strtoll(text, NULL, 10)
                          : kernel_file_find_number(text, key);
}
