/* SPDX-License-Identifier: Apache-2.0 */
/* resource_config.h: what the configuration says about resources: sections Resource,
 * ResourceMap, HostType, HostModel, the RESOURCES column of section Host, and
 * EGO_DEFINE_NCPUS.
 *
 *     Begin Resource
 *     RESOURCENAME TYPE    INTERVAL INCREASING DESCRIPTION
 *     bigmem       Boolean ()       ()         (for large jobs)
 *     licences     Numeric 30       N          (measured by an elim)
 *     End Resource
 *     Begin ResourceMap
 *     RESOURCENAME LOCATION
 *     licences     ([all])             # one number for all hosts
 *     scratch      (500@[n1 n2] 200@[default])
 *     End ResourceMap
 *
 * LOCATION: `VALUE@[hosts]` or, for what is measured, `[hosts]`; hosts are names, `all`
 * with `~host` for exceptions, `others` (in no other place of this resource), or
 * `default` (each host by itself). The hosts of one place share one value.
 *
 * NAME=VALUE in RESOURCES is the value of that host alone, of a resource without a row
 * in section ResourceMap.
 *
 * A word of RESOURCES that section Resource does not define is a static Boolean; where
 * there is such a section, with a warning.
 *
 * Errors: diagnostics of `conf`: a name twice or that cannot be one, an unknown
 * resource, host, type (where HostType stands) or model (where HostModel stands), a
 * value that is not of its type, a host in two places of one resource.
 * Ownership: in conf's arena.
 * Source: LSF's lsf.shared and lsf.cluster. Layer: site. */
#ifndef SUBLET_SITE_CONFIG_RESOURCE_CONFIG_H
#define SUBLET_SITE_CONFIG_RESOURCE_CONFIG_H

#include "base/conf/conf.h"
#include "sched/resource/resource.h"

enum { RESOURCE_CONFIG_INTERVAL_MAX = 86400 }; /* seconds */

struct host_model {
    const char *name;
    double cpuf;
    const char *const *architectures; /* as hosts detect them */
    int n_architectures;
};

/* A Boolean that column RESOURCES gives to a host. */
struct host_boolean {
    int host; /* index */
    const char *name;
    bool is_exclusive;
};

/* Hosts that share one value of a resource. */
struct resource_location {
    const char *name;
    const char *value; /* NULL: it is measured */
    const int *hosts;  /* indexes, growing */
    int n_hosts;
    bool is_own; /* of `default`: it is the one host's own, and nobody shares it */
};

enum ncpus_unit { NCPUS_PROCS, NCPUS_CORES, NCPUS_THREADS, NCPUS_UNITS };

struct resource_config {
    const struct resource
        *resources; /* defined ones; is_orderable is the catalogue's */
    int n_resources;
    const struct host_model *models;
    int n_models;
    const struct host_boolean *given;
    int n_given;
    const struct resource_location *places;
    int n_places;
    enum ncpus_unit cpus; /* what ncpus counts */
};

/* A host as section Host has it. */
struct resource_config_host {
    const char *name;
    const char *type, *model;     /* "": unset, "!": detected */
    const char *const *resources; /* words of RESOURCES */
    int n_resources;
    struct conf_place at; /* where it stands, for complaints */
};

void resource_config_read(struct conf *conf, const struct resource_config_host *hosts,
                          int n_hosts, struct resource_config *config);

/* A catalogue of what is defined; the caller frees it. */
struct resources *resource_config_catalogue(const struct resource_config *config);

/* As contracts tell how a resource is defined: enum resource_trait. */
int resource_config_traits(const struct resource *resource);

/* ---- values */

/* Puts a value, as hosts and the configuration write it, into the table by its
 * resource's type. False if it is no value of that type; nothing is set then. */
bool resource_value_set(struct resource_table *table, int row, int id,
                        const char *text);
/* What a host has reported of a resource; NULL: nothing. */
struct msg_host_load;
const char *resource_value_find_reported(const struct msg_host_load *msg,
                                         const char *name);
/* A number as requirement strings and elims write it: all of the text, finite. */
bool resource_value_parse_number(const char *text, double *number);
/* 1, Y, yes, true and their opposites. */
bool resource_value_parse_flag(const char *text, bool *flag);

/* ---- types and models */

/* A type or model of "" or "!": the host detects it. */
bool resource_config_is_detected(const char *text);

/* The model of a host that describes its processor as FAMILY_SPEED_NAME
 * ("x6_4000_IntelXeon"): the one that has this word under ARCHITECTURE, else the one
 * whose word differs only in the speed and is nearest in it, because two measurements
 * of the speed always differ. `text` may also be the name of a model
 * (LSF_LOCAL_RESOURCES). Returns the model's name and sets its factor; if no model
 * fits, returns `text` and sets 1. Order: of equally near models the first in the file.
 */
const char *resource_config_find_model(const struct resource_config *config,
                                       const char *text, double *cpuf);

#endif
