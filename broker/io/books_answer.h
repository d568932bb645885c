/* SPDX-License-Identifier: Apache-2.0 */
/* books_answer.h: a page of the broker's books of one lease. Layer: broker/io. */
#ifndef SUBLET_BROKER_IO_BOOKS_ANSWER_H
#define SUBLET_BROKER_IO_BOOKS_ANSWER_H

#include "broker/io/store/books.h"

/* `value`: as in model/ledger_page.h, in the arena. */
int books_answer_read(struct books *books, const struct msg_query *query,
                      int64_t now_ms, struct arena *arena, struct value **value,
                      struct err *err) MUST_CHECK;

#endif
