/* SPDX-License-Identifier: Apache-2.0 */
/* make-proto.c: writes proto/sublet.proto from the tables of fields (model/schema.h):
 * each message once, before those that contain it, and the envelope last. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/msg.h"
#include "model/schema.h"

enum { MESSAGES_MAX = 200 };

static const char *written[MESSAGES_MAX];
static int n_written;

static const char *type_of(const struct field *field)
{
    switch (field->kind) {
    case FIELD_INT:
        return field->is_zigzag ? "sint32" : "int32";
    case FIELD_INT64:
        return field->is_zigzag ? "sint64" : "int64";
    case FIELD_UINT64:
        return "uint64";
    case FIELD_BOOL:
        return "bool";
    case FIELD_PART:
    case FIELD_PARTS:
        return field->part->name;
    case FIELD_TEXT:
    case FIELD_TEXTS:
    case FIELD_BYTES:
    case FIELD_REAL: /* on no wire, as those below */
    case FIELD_OPTION:
    case FIELD_JOB_KEY:
        break;
    }
    return "bytes";
}

static void write_field(const struct field *field)
{
    bool is_list = field->kind == FIELD_TEXTS || field->kind == FIELD_PARTS;
    printf("  %s%s %s = %d;", is_list ? "repeated " : "", type_of(field), field->name,
           field->tag);
    if (field->kind == FIELD_INT || is_list || field->kind == FIELD_BYTES) {
        printf(" // %" PRId64 " to %" PRId64, field->min, field->max);
    }
    for (int i = 0; i < field->n_words; i++) {
        printf("%s%s", i == 0 ? ": " : ", ", field->words[i]);
    }
    printf("\n");
}

static void write_message(const struct schema *schema)
{
    for (int i = 0; i < n_written; i++) {
        if (strcmp(written[i], schema->name) == 0) {
            return;
        }
    }
    written[n_written++] = schema->name;
    for (int i = 0; i < schema->n_fields; i++) {
        if (schema->fields[i].tag != 0 && schema->fields[i].part != NULL) {
            write_message(schema->fields[i].part);
        }
    }
    printf("\nmessage %s {\n", schema->name);
    for (int i = 0; i < schema->n_fields && schema->fields[i].tag != 0; i++) {
        write_field(&schema->fields[i]);
    }
    printf("}\n");
}

static void write_body(const struct msg_kind_info *kind)
{
    char name[64] = "";
    for (size_t i = 0; kind->name[i] != '\0' && i + 1 < sizeof(name); i++) {
        name[i] = (char)tolower((unsigned char)kind->name[i]);
    }
    printf("    %s %s = %d;\n", kind->schema->name, name, kind->tag);
}

int main(void)
{
    printf(
        "// SPDX-License-Identifier: Apache-2.0\n"
        "// Every message on every wire of Sublet, written by `make proto` from\n"
        "// model/schema_*.c. model/msg.h says what messages and fields mean, and has\n"
        "// the values of the enums, which are int32 here.\n"
        "//\n"
        "// A tag is never used again. A field that is added gets one from 256 on, which\n"
        "// older programs ignore; any other change is a new version. Names and texts are\n"
        "// bytes, so that their length is the wire's and a NUL cannot hide.\n"
        "syntax = \"proto3\";\npackage sublet;\n\n"
        "// The version is checked first; other versions are refused.\n"
        "message Version {\n  uint32 version = 1;\n}\n");
    for (int kind = MSG_NONE + 1; kind < MSG_KINDS; kind++) {
        write_message(msg_kinds[kind].schema);
    }
    printf("\nmessage Envelope {\n  uint32 version = 1;\n  uint64 session = 2;\n"
           "  bytes site = 3;\n  oneof body {\n");
    for (int kind = MSG_NONE + 1; kind < MSG_KINDS; kind++) {
        write_body(&msg_kinds[kind]);
    }
    printf("  }\n}\n");
    return 0;
}
