/* SPDX-License-Identifier: Apache-2.0 */
/* conf_value.h: the value of a key: as written in the row, or what applies instead.
 *
 * A key that the row does not have is looked up outside sections, if it is known there
 * too (keys of ego.conf). After that the default of the key table applies
 * (conf_keys.h), then `otherwise`. A malformed value has been reported by conf_check,
 * and `otherwise` applies instead of it.
 *
 * Units: as conf_keys.h. Ownership: texts are borrowed. Layer: base. */
#ifndef SUBLET_BASE_CONF_VALUE_H
#define SUBLET_BASE_CONF_VALUE_H

#include "base/conf/conf.h"

/* The last row that has the key, in all sections of that name (lsb.params may be split
 * into several files). Without one, an empty place, so that defaults apply. "": outside
 * sections. */
struct conf_place conf_value_last(const struct conf *conf, const char *name,
                                  const char *key);

/* The key must be in the table of keys. NULL: neither set nor a default. */
const char *conf_value_text(const struct conf *conf, const struct conf_place *at,
                            const char *key);
int64_t conf_value_int(const struct conf *conf, const struct conf_place *at,
                       const char *key, int64_t otherwise);
int64_t conf_value_duration(const struct conf *conf, const struct conf_place *at,
                            const char *key, int64_t otherwise_ms);
bool conf_value_bool(const struct conf *conf, const struct conf_place *at,
                     const char *key, bool otherwise);
/* The index of the word in the key's words, from 0; 0 for any other word. */
int conf_value_word(const struct conf *conf, const struct conf_place *at,
                    const char *key);

#endif
