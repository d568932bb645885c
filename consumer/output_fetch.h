/* SPDX-License-Identifier: Apache-2.0 */
/* output_fetch.h: fetches the output of an attempt that has ended, before the end is
 * reported: stdout, then stderr if it has its own file; one piece at a time, and the
 * next is asked for when the last is written.
 *
 * Output that cannot be fetched (it is gone at the provider, or cannot be written here)
 * is named in the text of the end, and not waited for.
 *
 * Requests have the top bit set, so that they never clash with those of bpeek.
 * Source: ARCHITECTURE 2 [9]. Layer: consumer. */
#ifndef SUBLET_CONSUMER_OUTPUT_FETCH_H
#define SUBLET_CONSUMER_OUTPUT_FETCH_H

#include "consumer/attempt.h"

/* The attempt has ended: asks for the first piece, or there is none to ask for. */
void output_fetch_begin(struct attempts *attempts, struct attempt *attempt,
                        int64_t now_ms, struct effects *effects);
/* Asks again where an answer is due. */
void output_fetch_ask_again(struct attempts *attempts, struct attempt *attempt,
                            int64_t now_ms, struct effects *effects);
/* A piece came. True: it is to be written, output_fetch_written follows. */
bool output_fetch_take(struct attempts *attempts, struct attempt *attempt,
                       const struct msg_output *piece, int64_t now_ms,
                       struct effects *effects);
void output_fetch_written(struct attempts *attempts, struct attempt *attempt,
                          bool is_ok, int64_t now_ms, struct effects *effects);

#endif
