/* SPDX-License-Identifier: Apache-2.0 */
/* tty.h: mode and size of the user's terminal during an interactive job.
 * Layer: cli. */
#ifndef SUBLET_CLI_TERMINAL_TTY_H
#define SUBLET_CLI_TERMINAL_TTY_H

#include <stdbool.h>
#include <termios.h>

struct tty {
    bool is_one; /* standard input is a terminal */
    bool is_raw;
    struct termios before;
};

void tty_init(struct tty *tty);
/* Sets raw mode; with `keeps_signals`, keys still send signals to this process. No
 * effect if standard input is not a terminal. */
void tty_enter(struct tty *tty, bool keeps_signals);
void tty_leave(struct tty *tty);
/* The size of the first standard descriptor that is a terminal; 0 if none is. */
void tty_size(int *n_rows, int *n_columns);

#endif
