/* SPDX-License-Identifier: Apache-2.0 */
/* tty.c: see tty.h. */
#include "cli/terminal/tty.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "base/bounds.h"

void tty_init(struct tty *tty)
{
    *tty = (struct tty){.is_one = isatty(STDIN_FILENO) != 0};
    tty->is_one = tty->is_one && tcgetattr(STDIN_FILENO, &tty->before) == 0;
}

void tty_enter(struct tty *tty, bool keeps_signals)
{
    struct termios raw = tty->before;
    if (!tty->is_one || tty->is_raw) {
        return;
    }
    cfmakeraw(&raw);
    if (keeps_signals) {
        raw.c_lflag |= ISIG;
    }
    tty->is_raw = tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) == 0;
}

void tty_leave(struct tty *tty)
{
    if (tty->is_raw) {
        tcsetattr(STDIN_FILENO, TCSADRAIN, &tty->before);
        tty->is_raw = false;
    }
}

void tty_size(int *n_rows, int *n_columns)
{
    *n_rows = *n_columns = 0;
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        struct winsize size;
        if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_row <= TERMINAL_SIZE_MAX &&
            size.ws_col <= TERMINAL_SIZE_MAX) {
            *n_rows = size.ws_row;
            *n_columns = size.ws_col;
            return;
        }
    }
}
