/* SPDX-License-Identifier: Apache-2.0 */
/* conf_hosts.h: names of hosts written in short form, as LSF has it.
 *
 *     node[001-128]      a range; as many digits as the first number is written with
 *     node[1-4,7,9:12]   several; a colon is a hyphen
 *     rack[1-2]n[01-16]  each with each
 *     node*              hosts of section Host with such names; in groups only
 *
 * A row of section Host with such a name becomes a row for each host, and a list of
 * hosts (CONF_HOSTS of conf_keys.h) is replaced by the names themselves, so that all
 * readers see names alone.
 *
 * Ownership: in conf's arena. Source: LSF's lsb.hosts, "HostGroup section". Layer:
 * base.
 */
#ifndef SUBLET_BASE_CONF_HOSTS_H
#define SUBLET_BASE_CONF_HOSTS_H

#include "base/conf/conf.h"

/* Replaces all short forms. A malformed one, a range whose end is before its begin, and
 * more than HOSTS_MAX names of a word are errors; the word is left out then. */
void conf_hosts_expand(struct conf *conf);

#endif
