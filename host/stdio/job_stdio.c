/* SPDX-License-Identifier: Apache-2.0 */
/* job_stdio.c: see job_stdio.h. */
#include "host/stdio/job_stdio.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/msg.h"

enum { PTY_NAME_SIZE = 64, ROWS = 24, COLUMNS = 80 };

void job_stdio_init(struct job_stdio *ends)
{
    *ends = (struct job_stdio){
        .job_in = -1, .job_out = -1, .job_err = -1, .in = -1, .out = -1, .err = -1};
}

/* Its name is in /dev/pts, where the account may open it as /dev/tty. */
static int open_pty(struct job_stdio *ends, const struct account *account)
{
    char name[PTY_NAME_SIZE];
    const struct winsize size = {.ws_row = ROWS, .ws_col = COLUMNS};
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    ends->in = master;
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0 ||
        ptsname_r(master, name, sizeof(name)) != 0) {
        return -1;
    }
    ends->job_in = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (ends->job_in < 0 || ioctl(master, TIOCSWINSZ, &size) != 0 ||
        (account->is_other && fchown(ends->job_in, account->uid, account->gid) != 0)) {
        return -1;
    }
    return fchmod(ends->job_in, 0620);
}

/* One descriptor more for each stream that goes to it. */
static int use_pty(struct job_stdio *ends, bool has_out, bool has_err)
{
    ends->is_terminal = true;
    ends->job_out = has_out ? fcntl(ends->job_in, F_DUPFD_CLOEXEC, 0) : -1;
    ends->job_err = has_err ? fcntl(ends->job_in, F_DUPFD_CLOEXEC, 0) : -1;
    ends->out = fcntl(ends->in, F_DUPFD_CLOEXEC, 0);
    bool is_whole = (!has_out || ends->job_out >= 0) &&
                    (!has_err || ends->job_err >= 0) && ends->out >= 0;
    return is_whole ? 0 : -1;
}

static int open_pipe(int *read_end, int *write_end)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return -1;
    }
    *read_end = ends[0];
    *write_end = ends[1];
    return 0;
}

static int do_not_wait(int fd)
{
    int flags = fd < 0 ? 0 : fcntl(fd, F_GETFL);
    return fd < 0 ? 0 : flags < 0 ? -1 : fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

int job_stdio_open(struct job_stdio *ends, const struct run_spec *spec,
                   const struct account *account, struct err *err)
{
    bool has_in = spec->in_file[0] == '\0';
    bool has_out = spec->out_file[0] == '\0' && !spec->keeps_out;
    bool has_err = spec->err_file[0] == '\0' && !spec->keeps_err;
    int code = 0;
    job_stdio_init(ends);
    if (spec->interaction != INTERACTION_PIPES) {
        code = open_pty(ends, account);
        code = code == 0 ? use_pty(ends, has_out, has_err) : code;
    } else {
        code = has_in ? open_pipe(&ends->job_in, &ends->in) : 0;
        code = code == 0 && has_out ? open_pipe(&ends->out, &ends->job_out) : code;
        code = code == 0 && has_err ? open_pipe(&ends->err, &ends->job_err) : code;
    }
    if (code != 0 || do_not_wait(ends->in) != 0 || do_not_wait(ends->out) != 0 ||
        do_not_wait(ends->err) != 0) {
        int error = errno;
        job_stdio_close(ends);
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

void job_stdio_close_job_side(struct job_stdio *ends)
{
    close_one(&ends->job_in);
    close_one(&ends->job_out);
    close_one(&ends->job_err);
}

void job_stdio_close(struct job_stdio *ends)
{
    job_stdio_close_job_side(ends);
    close_one(&ends->in);
    close_one(&ends->out);
    close_one(&ends->err);
}
