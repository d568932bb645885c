/* SPDX-License-Identifier: Apache-2.0 */
/* job_stdio.c: see host_stdio.h. */
#include "host/stdio/host_stdio.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/msg.h"

enum { PTY_NAME_SIZE = 64, ROWS = 24, COLUMNS = 80 };

void job_stdio_init(struct job_stdio *stdio)
{
    *stdio = (struct job_stdio){
        .job_in = -1, .job_out = -1, .job_err = -1, .in = -1, .out = -1, .err = -1};
}

/* The terminal's name is in /dev/pts; the account must be able to open it as /dev/tty.
 */
static int open_pty(struct job_stdio *stdio, const struct account *account)
{
    char name[PTY_NAME_SIZE];
    const struct winsize size = {.ws_row = ROWS, .ws_col = COLUMNS};
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    stdio->in = master;
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0 ||
        ptsname_r(master, name, sizeof(name)) != 0) {
        return -1;
    }
    stdio->job_in = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (stdio->job_in < 0 || ioctl(master, TIOCSWINSZ, &size) != 0 ||
        (account->is_other && fchown(stdio->job_in, account->uid, account->gid) != 0)) {
        return -1;
    }
    return fchmod(stdio->job_in, 0620);
}

/* A descriptor for each stream that uses the terminal. */
static int use_pty(struct job_stdio *stdio, bool has_out, bool has_err)
{
    stdio->is_terminal = true;
    stdio->job_out = has_out ? fcntl(stdio->job_in, F_DUPFD_CLOEXEC, 0) : -1;
    stdio->job_err = has_err ? fcntl(stdio->job_in, F_DUPFD_CLOEXEC, 0) : -1;
    stdio->out = fcntl(stdio->in, F_DUPFD_CLOEXEC, 0);
    bool is_whole = (!has_out || stdio->job_out >= 0) &&
                    (!has_err || stdio->job_err >= 0) && stdio->out >= 0;
    return is_whole ? 0 : -1;
}

static int open_pipe(int *read_end, int *write_end)
{
    int pair[2];
    if (pipe2(pair, O_CLOEXEC) != 0) {
        return -1;
    }
    *read_end = pair[0];
    *write_end = pair[1];
    return 0;
}

static int set_nonblocking(int fd)
{
    int flags = fd < 0 ? 0 : fcntl(fd, F_GETFL);
    return fd < 0 ? 0 : flags < 0 ? -1 : fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

int job_stdio_open(struct job_stdio *stdio, const struct run_spec *spec,
                   const struct account *account, struct err *err)
{
    bool has_in = spec->in_file[0] == '\0';
    bool has_out = spec->out_file[0] == '\0' && !spec->keeps_out;
    bool has_err = spec->err_file[0] == '\0' && !spec->keeps_err;
    int code = 0;
    job_stdio_init(stdio);
    if (spec->interaction != INTERACTION_PIPES) {
        code = open_pty(stdio, account);
        code = code == 0 ? use_pty(stdio, has_out, has_err) : code;
    } else {
        code = has_in ? open_pipe(&stdio->job_in, &stdio->in) : 0;
        code = code == 0 && has_out ? open_pipe(&stdio->out, &stdio->job_out) : code;
        code = code == 0 && has_err ? open_pipe(&stdio->err, &stdio->job_err) : code;
    }
    if (code != 0 || set_nonblocking(stdio->in) != 0 ||
        set_nonblocking(stdio->out) != 0 || set_nonblocking(stdio->err) != 0) {
        int error = errno;
        job_stdio_close(stdio);
        return err_set(err, ERR_FULL, "cannot make the job's terminal: %s",
                       strerror(error));
    }
    return 0;
}

static void close_one(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
    }
    *fd = -1;
}

void job_stdio_close_job_side(struct job_stdio *stdio)
{
    close_one(&stdio->job_in);
    close_one(&stdio->job_out);
    close_one(&stdio->job_err);
}

void job_stdio_close(struct job_stdio *stdio)
{
    job_stdio_close_job_side(stdio);
    close_one(&stdio->in);
    close_one(&stdio->out);
    close_one(&stdio->err);
}
