/* SPDX-License-Identifier: Apache-2.0 */
/* field_words.h: what a user calls the field of a request that the codec refuses.
 *
 * The codec names a message and a field ("SUBMIT: spec: n_slots: 0, expected 1 to
 * ..."), the user wrote an option or an operand ("sub: -n: 0, expected 1 to ...").
 * Layer: cli. */
#ifndef SUBLET_CLI_FIELD_WORDS_H
#define SUBLET_CLI_FIELD_WORDS_H

#include "base/err.h"
#include "cli/call.h"
#include "model/msg.h"

/* Rewords an error of encoding `msg`, which `call` asks for. A field that no option
 * sets is left out. Other errors stay as they are. */
void field_words_apply(const struct call *call, const struct msg *msg, struct err *err);

#endif
