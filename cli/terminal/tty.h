/* SPDX-License-Identifier: Apache-2.0 */
/* tty.h: the user's own terminal while an interactive job has it: its mode, its size.
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
/* Keys go to the job as they are; with `keeps_signals` those that send a signal still
 * do so here. Nothing where it is no terminal. */
void tty_enter(struct tty *tty, bool keeps_signals);
void tty_leave(struct tty *tty);
/* Of the first of our standard descriptors that is a terminal; 0 where none is. */
void tty_size(int *n_rows, int *n_columns);

#endif
