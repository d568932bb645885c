/* SPDX-License-Identifier: Apache-2.0 */
/* output_fetch.c: fetches the output of an attempt that has ended, before the end is
 * reported: stdout, then stderr if it has its own file. It asks for one piece at a
 * time, and for the next when that is written.
 *
 * Output that is gone at the provider, or cannot be written here, is named in the text
 * of the end, and not waited for. So is output that has not come OUTPUT_FETCH_CUT_MS
 * after the job was killed: neither a job that writes without end nor a provider that
 * sends without end keeps it from ending. Bit 61 of a request distinguishes it from
 * those of bpeek.
 * Source: docs/design/safety.md [9]. */
#include "consumer/attempt.h"

#include <stdio.h>
#include <string.h>

#include "model/dup.h"

/* Below the numbers of site/client/waiters, and within the bounds of the codec. */
#define OWN_REQUEST (UINT64_C(1) << 61)

static const char *stream_name(enum output_stream stream)
{
    return stream == OUTPUT_OUT ? "output" : "error output";
}

/* Adds to the text of the end that the output is missing from here on. */
static void note_missing(struct attempt *attempt, const char *why)
{
    const char *before = attempt->end_text != NULL ? attempt->end_text : "";
    const char *joint = before[0] != '\0' ? "; " : "";
    size_t size = strlen(before) + REASON_SIZE;
    char *text = mem_alloc(size, 1);
    snprintf(text, size, "%s%s%s from byte %lld on %s", before, joint,
             stream_name(attempt->stream), (long long)attempt->offset, why);
    dup_free(attempt->end_text);
    attempt->end_text = text;
}

static void ask(struct attempts *attempts, struct attempt *attempt, int64_t now_ms,
                struct effects *effects)
{
    attempt->fetch = FETCH_ASKED;
    attempt->request = OWN_REQUEST | ++attempts->requests;
    resend_begin(&attempt->resend, now_ms);
    attempts_send_output_ask(attempts, attempt, now_ms, effects);
}

static void begin_stream(struct attempts *attempts, struct attempt *attempt,
                         enum output_stream stream, int64_t now_ms,
                         struct effects *effects)
{
    attempt->stream = stream;
    attempt->offset = 0;
    ask(attempts, attempt, now_ms, effects);
}

static void end_stream(struct attempts *attempts, struct attempt *attempt,
                       int64_t now_ms, struct effects *effects)
{
    if (attempt->stream == OUTPUT_OUT && attempt->has_err_file) {
        begin_stream(attempts, attempt, OUTPUT_ERR, now_ms, effects);
    } else {
        attempt->fetch = FETCH_DONE;
        resend_end(&attempt->resend);
    }
}

void output_fetch_cut(struct attempt *attempt, int64_t now_ms)
{
    if (attempt_is_ended(attempt) && attempt->cut_ms == 0) {
        attempt->cut_ms = now_ms + OUTPUT_FETCH_CUT_MS;
    }
}

/* A piece that is being written is waited for. */
int64_t output_fetch_cut_at(const struct attempt *attempt)
{
    return attempt->fetch == FETCH_ASKED && attempt->cut_ms != 0 ? attempt->cut_ms
                                                                 : INT64_MAX;
}

void output_fetch_give_up(struct attempt *attempt)
{
    static const char why[] = "was not fetched, as the job was killed";
    note_missing(attempt, why);
    if (attempt->stream == OUTPUT_OUT && attempt->has_err_file) {
        attempt->stream = OUTPUT_ERR;
        attempt->offset = 0;
        note_missing(attempt, why);
    }
    attempt->fetch = FETCH_DONE;
    resend_end(&attempt->resend);
}

void output_fetch_begin(struct attempts *attempts, struct attempt *attempt,
                        int64_t now_ms, struct effects *effects)
{
    if (attempt->has_out_file || attempt->has_err_file) {
        begin_stream(attempts, attempt, attempt->has_out_file ? OUTPUT_OUT : OUTPUT_ERR,
                     now_ms, effects);
    } else {
        attempt->fetch = FETCH_DONE;
    }
}

bool output_fetch_take(struct attempts *attempts, struct attempt *attempt,
                       const struct msg_output *piece, int64_t now_ms,
                       struct effects *effects)
{
    if (attempt->fetch != FETCH_ASKED || piece->request != attempt->request ||
        piece->stream != attempt->stream) {
        return false; /* late, repeated, or of another request */
    }
    if (piece->is_gone) {
        note_missing(attempt, "no longer exists");
        end_stream(attempts, attempt, now_ms, effects);
        return false;
    }
    if (piece->offset != attempt->offset || (piece->n_bytes == 0 && !piece->is_end)) {
        return false; /* nothing yet: it is asked for again */
    }
    if (piece->n_bytes == 0 && attempt->offset > 0) {
        end_stream(attempts, attempt, now_ms, effects);
        return false;
    }
    /* A piece without bytes is written too: an empty file is made. */
    attempt->fetch = FETCH_WRITING;
    resend_end(&attempt->resend);
    attempt->n_piece = piece->n_bytes;
    attempt->is_last_piece = piece->is_end;
    return true;
}

void output_fetch_written(struct attempts *attempts, struct attempt *attempt,
                          bool is_ok, int64_t now_ms, struct effects *effects)
{
    if (attempt->fetch != FETCH_WRITING) {
        return;
    }
    if (!is_ok) {
        note_missing(attempt, "could not be written");
        end_stream(attempts, attempt, now_ms, effects);
        return;
    }
    attempt->offset += attempt->n_piece;
    if (attempt->is_last_piece) {
        end_stream(attempts, attempt, now_ms, effects);
    } else {
        ask(attempts, attempt, now_ms, effects);
    }
}
