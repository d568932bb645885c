/* SPDX-License-Identifier: Apache-2.0 */
/* schema.h: describes structs: a schema is the table of the fields of one struct.
 *
 * One table serves all that treats the fields alike: deep copies and comparison
 * (model/record.h), the wire with its bounds (proto/codec.h), the stores
 * (sys/db/db.h), the simulator's disk, and proto/sublet.proto, which `make proto`
 * writes. A schema has every field of its struct.
 *
 * Units: min and max of a text are bytes without the NUL, of a list its members.
 * Source: docs/design/architecture.md "Fields". Layer: model. */
#ifndef SUBLET_MODEL_SCHEMA_H
#define SUBLET_MODEL_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum field_kind {
    FIELD_INT, /* an int or an enum */
    FIELD_INT64,
    FIELD_UINT64,
    FIELD_BOOL,
    FIELD_REAL,
    FIELD_TEXT,
    FIELD_TEXTS,   /* a list of texts, with its count */
    FIELD_BYTES,   /* bytes, with their count */
    FIELD_PART,    /* a struct inside the struct */
    FIELD_PARTS,   /* a list of structs, with its count */
    FIELD_OPTION,  /* a pointer to a struct; NULL: there is none. Never on the wire */
    FIELD_JOB_KEY, /* a job's id and its index, in one column (model/job_id.h) */
};

/* The characters of a text. All but ENV are UTF-8, none has a NUL. */
enum field_charset {
    CHARSET_NAME,  /* [A-Za-z0-9._-] */
    CHARSET_HOST,  /* and @ */
    CHARSET_LEASE, /* and / : */
    CHARSET_JOB,   /* "12", "12[3]", "12[1-5,9]" */
    CHARSET_LINE,  /* no control characters: safe on a terminal */
    CHARSET_TALK,  /* a LINE for people only: cut to fit when sent, so that a long
                      sentence does not block its message */
    CHARSET_FREE,  /* a command, a path, JSON */
    CHARSET_ENV,   /* NAME=value; the value's encoding is the user's */
};

struct schema;

/* All tables are walked for each job that starts, so a line is kept small. */
struct field {
    const char *name; /* on the wire, and of its column; of a PART in a store: the
                         prefix of its columns */
    enum field_kind kind : 8;
    enum field_charset charset : 8;
    bool empty_is_null : 1; /* a text that is NULL if it is empty */
    bool is_zigzag : 1;     /* sint32 or sint64 on the wire */
    /* Of columns only: */
    bool is_key : 1;   /* of the row's key; keys are the first fields */
    bool is_whole : 1; /* a PART whose columns are NULL if its first field is 0 */
    bool is_flag : 1;
    int tag; /* on the wire; 0: it does not travel */
    uint32_t offset, count_offset;
    const struct schema *part;
    int64_t min, max;
    int text_min, text_max; /* of each text of a list */
    int64_t total_max;      /* bytes of all texts of a list */
    /* Of columns only: */
    const char *const *words; /* an enum is stored as its word */
    int n_words;
    uint32_t given_offset; /* of a bool + 1: the column is NULL unless it is true */
    int flag;              /* with is_flag: the column is 1 if the field is `flag` */
};

struct schema {
    const char *name; /* of the wire's message, or the table's name in a store */
    size_t size;
    const struct field *fields; /* those with a tag first, by tag */
    int n_fields;
    bool begins_with_host; /* as a list: no host occurs twice */
};

/* schema_lease.c */
extern const struct schema schema_lease_hello, schema_lease_welcome, schema_lease_usage,
    schema_lease_pong, schema_lease_error, schema_lease_split, schema_lease_resource,
    schema_lease_state, schema_lease_id, schema_lease_open, schema_lease_freeze,
    schema_lease_propose, schema_lease_drain, schema_lease_recall, schema_lease_evict,
    schema_lease_contract, schema_lease_contract_ack, schema_lease_ledger_ask,
    schema_lease_ledger;
/* schema_run.c; schema_run_order is of struct run_control. */
extern const struct schema schema_run_id, schema_run_mark, schema_run_slots,
    schema_run_job_spec, schema_run_exit, schema_run_use, schema_run_order,
    schema_run_leased_start, schema_run_attempt, schema_run_attempt_state,
    schema_run_attempt_control, schema_run_output_ask, schema_run_output,
    schema_run_stream_down, schema_run_stream_up, schema_run_host_hello,
    schema_run_alive, schema_run_host_load, schema_run_lease_load, schema_run_start,
    schema_run_go, schema_run_control, schema_run_resize, schema_run_relayed,
    schema_run_forget, schema_run_state, schema_run_nothing;
/* schema_client.c */
extern const struct schema schema_client_job_terms, schema_client_submit,
    schema_client_job_control, schema_client_job_modify, schema_client_job_move,
    schema_client_job_resize, schema_client_queue_control, schema_client_orphan,
    schema_client_wait, schema_client_peek, schema_client_query,
    schema_client_set_reclaim, schema_client_rebalance, schema_client_host_control,
    schema_client_job_group, schema_client_clock, schema_client_reconfig,
    schema_client_set_drain, schema_client_snapshot, schema_client_reply;
/* schema_row.c */
extern const struct schema *const schema_row_kinds[]; /* by enum row_kind */
/* By their enums. */
extern const char *const schema_row_event_words[];
extern const char *const schema_row_job_event_words[];
extern const char *const schema_row_job_state_words[];
extern const char *const schema_row_lease_state_words[];

#endif
