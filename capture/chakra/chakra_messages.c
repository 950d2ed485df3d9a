// The protobuf form: messages behind their lengths (execution_trace.proto).
#include "chakra_impl.h"

#include "chakra.h"
#include "execution_trace.pb-c.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// A node with the tensors of a large model has some 100 KB.
#define MESSAGE_MAX (UINT32_C(1) << 28)
#define PIECE	    ((size_t)1 << 20)

struct message_reading {
	struct chakra_graph *graph;
	FILE *stream;
	uint64_t offset; // of the message
	uint64_t n_read;
	uint8_t *bytes;
	size_t n, room;
};

static int message_broken(const struct message_reading *reading, const char *sentence)
{
	return tb_fail_at(reading->graph->error, TB_EFORMAT, reading->graph->file,
		TB_PLACE_OFFSET, reading->offset, "%s", sentence);
}

static int message_cut(const struct message_reading *reading, const char *sentence)
{
	reading->graph->is_cut = true;
	return message_broken(reading, sentence);
}

// read_length reads a varint; 0 at the end of the file.
static int read_length(struct message_reading *reading, uint64_t *length)
{
	*length = 0;
	for (unsigned shift = 0; shift < 64; shift += 7) {
		int byte = getc(reading->stream);
		if (byte == EOF && shift == 0)
			return 0;
		if (byte == EOF)
			return message_cut(
				reading, "ends within the length of a message");
		reading->n_read++;
		*length |= ((uint64_t)byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return 1;
	}
	return message_broken(reading, "expected the length of a message, a varint");
}

// read_bytes takes memory as they come, whatever the length promises.
static int read_bytes(struct message_reading *reading, size_t length)
{
	for (reading->n = 0; reading->n < length;) {
		size_t piece = length - reading->n < PIECE ? length - reading->n : PIECE;
		if (reading->n + piece > reading->room) {
			size_t room = reading->n + piece > 2 * reading->room
					      ? reading->n + piece
					      : 2 * reading->room;
			uint8_t *grown = realloc(reading->bytes, room);
			if (!grown)
				return tb_fail_memory_in(reading->graph->error,
					reading->graph->file, "a node of %zu bytes",
					length);
			reading->bytes = grown;
			reading->room = room;
		}
		size_t got =
			fread(reading->bytes + reading->n, 1, piece, reading->stream);
		reading->n += got;
		reading->n_read += got;
		if (got < piece)
			return message_cut(reading, "ends within a message");
	}
	return TB_OK;
}

// next_message returns 1 with a message, 0 at the end.
static int next_message(struct message_reading *reading)
{
	uint64_t length;
	reading->offset = reading->n_read;
	int status = read_length(reading, &length);
	if (status != 1)
		return status;
	if (length > MESSAGE_MAX)
		return message_broken(reading, "a message of more than 256 MiB");
	status = read_bytes(reading, (size_t)length);
	return status == TB_OK ? 1 : status;
}

static void message_set(struct chakra_raw *raw, const char *name, int64_t value)
{
	enum chakra_attribute attribute;
	if (!tb_chakra_attribute(&attribute, name))
		return;
	raw->has[attribute] = true;
	raw->values[attribute] = value;
}

static int64_t whole_number(double value)
{
	return value >= -9e18 && value <= 9e18 ? (int64_t)value : -1;
}

static void set_flags(struct chakra_raw *raw, const char *name,
	const protobuf_c_boolean *flags, size_t n)
{
	if (!tb_chakra_is_named_as(name, "involveddim"))
		return;
	for (size_t i = 0; i < n; i++)
		raw->some_dimensions |= !flags[i];
}

static void set_text(struct chakra_raw *raw, const char *name, const char *text)
{
	if (tb_chakra_is_named_as(name, "pgname"))
		raw->group = text;
}

static void take_attribute(struct chakra_raw *raw, const TbEt__Attribute *attribute)
{
	const char *name = attribute->name;
	switch (attribute->value_case) {
	case TB_ET__ATTRIBUTE__VALUE_AS_DOUBLE:
		message_set(raw, name, whole_number(attribute->as_double));
		break;
	case TB_ET__ATTRIBUTE__VALUE_AS_FLOAT:
		message_set(raw, name, whole_number((double)attribute->as_float));
		break;
	case TB_ET__ATTRIBUTE__VALUE_AS_INT32:
		message_set(raw, name, attribute->as_int32);
		break;
	case TB_ET__ATTRIBUTE__VALUE_AS_INT64:
		message_set(raw, name, attribute->as_int64);
		break;
	case TB_ET__ATTRIBUTE__VALUE_AS_UINT32:
		message_set(raw, name, attribute->as_uint32);
		break;
	case TB_ET__ATTRIBUTE__VALUE_AS_UINT64:
		message_set(raw, name, (int64_t)attribute->as_uint64);
		break;
	case TB_ET__ATTRIBUTE__VALUE_AS_SINT32:
		message_set(raw, name, attribute->as_sint32);
		break;
	case TB_ET__ATTRIBUTE__VALUE_AS_SINT64:
		message_set(raw, name, attribute->as_sint64);
		break;
	case TB_ET__ATTRIBUTE__VALUE_AS_FIXED32:
		message_set(raw, name, attribute->as_fixed32);
		break;
	case TB_ET__ATTRIBUTE__VALUE_AS_FIXED64:
		message_set(raw, name, (int64_t)attribute->as_fixed64);
		break;
	case TB_ET__ATTRIBUTE__VALUE_AS_SFIXED32:
		message_set(raw, name, attribute->as_sfixed32);
		break;
	case TB_ET__ATTRIBUTE__VALUE_AS_SFIXED64:
		message_set(raw, name, attribute->as_sfixed64);
		break;
	case TB_ET__ATTRIBUTE__VALUE_AS_BOOL:
		message_set(raw, name, attribute->as_bool);
		break;
	case TB_ET__ATTRIBUTE__VALUE_AS_FLAGS:
		set_flags(raw, name, attribute->as_flags->values,
			attribute->as_flags->n_values);
		break;
	case TB_ET__ATTRIBUTE__VALUE_AS_STRING:
		set_text(raw, name, attribute->as_string);
		break;
	case TB_ET__ATTRIBUTE__VALUE__NOT_SET:
	case _TB_ET__ATTRIBUTE__VALUE__CASE_IS_INT_SIZE:
	default:
		break;
	}
}

static int message_add_node(struct message_reading *reading)
{
	TbEt__Node *node = tb_et__node__unpack(NULL, reading->n, reading->bytes);
	if (!node)
		return message_broken(reading, "expected a node of a Chakra trace");
	struct chakra_raw raw = {.id = node->id,
		.name = node->name,
		.type = node->type,
		.start_us = node->start_micros,
		.duration_us = node->duration_micros,
		.inputs = node->inputs ? node->inputs->values : NULL,
		.data_deps = node->data_deps,
		.n_data = node->n_data_deps,
		.ctrl_deps = node->ctrl_deps,
		.n_ctrl = node->n_ctrl_deps};
	for (size_t i = 0; i < node->n_attributes; i++)
		take_attribute(&raw, node->attributes[i]);
	int status = tb_chakra_graph_add(reading->graph, &raw);
	tb_et__node__free_unpacked(node, NULL);
	return status;
}

static int add_old_node(struct message_reading *reading)
{
	TbEt__OldNode *node = tb_et__old_node__unpack(NULL, reading->n, reading->bytes);
	if (!node)
		return message_broken(
			reading, "expected a node of a Chakra trace of 2023");
	struct chakra_raw raw = {.id = node->id,
		.old = true,
		.name = node->name,
		.type = node->type,
		.data_deps = node->parents,
		.n_data = node->n_parents};
	for (size_t i = 0; i < node->n_attributes; i++) {
		// The value of an old attribute stands in one of several fields, and the
		// others are zero.
		const TbEt__OldAttribute *attribute = node->attributes[i];
		int64_t value = attribute->as_int;
		if (attribute->as_uint)
			value = (int64_t)attribute->as_uint;
		else if (attribute->as_bool)
			value = 1;
		message_set(&raw, attribute->name, value);
		set_flags(&raw, attribute->name, attribute->as_flags,
			attribute->n_as_flags);
		set_text(&raw, attribute->name, attribute->as_string);
	}
	int status = tb_chakra_graph_add(reading->graph, &raw);
	tb_et__old_node__free_unpacked(node, NULL);
	return status;
}

// The first message tells the schemas apart: a version or an attribute, or, where nodes
// begin at once, an id or a name.
enum schema { PRESENT, OF_2023, OLDER };

static enum schema schema_of(struct tb_bytes metadata)
{
	uint8_t field, inner;
	if (!tb_bytes_u8(metadata, 0, &field))
		return PRESENT;
	bool nested = tb_bytes_u8(metadata, 2, &inner) && inner == 0x0a;
	if (field == 0x0a)
		return nested ? OF_2023 : PRESENT;
	// An attribute longer than 127 bytes has a longer length before its name.
	for (size_t at = 1; field == 0x12 && tb_bytes_u8(metadata, at, &inner); at++)
		if (!(inner & 0x80))
			return tb_bytes_u8(metadata, at + 1, &inner) && inner == 0x0a
				       ? PRESENT
				       : OLDER;
	return OLDER;
}

int tb_chakra_read_messages(struct chakra_graph *graph, FILE *stream)
{
	struct message_reading reading = {.graph = graph, .stream = stream};
	int status = next_message(&reading);
	if (status == 0)
		status = message_cut(&reading, "is empty: expected a Chakra trace");
	enum schema schema = PRESENT;
	if (status == 1)
		schema = schema_of((struct tb_bytes){reading.bytes, reading.n});
	if (status == 1 && schema == OLDER)
		status = message_broken(&reading,
			"has no metadata at its beginning: a Chakra trace older than "
			"August 2023, or none");
	while (status == 1) {
		status = next_message(&reading);
		if (status != 1)
			break;
		status = schema == OF_2023 ? add_old_node(&reading)
					   : message_add_node(&reading);
		if (status == TB_OK)
			status = 1;
	}
	free(reading.bytes);
	return status;
}

// bytes_are_text returns whether a short printable text begins at `at`, behind its
// length.
static bool bytes_are_text(struct tb_bytes bytes, size_t at)
{
	uint64_t length;
	if (!tb_bytes_varint(bytes, &at, &length) || length == 0 || length > 200)
		return false;
	for (size_t i = 0; i < length && at + i < bytes.n; i++)
		if (bytes.data[at + i] < ' ' || bytes.data[at + i] > '~')
			return false;
	return at < bytes.n;
}

bool tb_chakra_begins(struct tb_bytes first)
{
	size_t at = 0;
	uint64_t length, inner;
	uint8_t field, name;
	if (!tb_bytes_varint(first, &at, &length) || length < 3 || length > MESSAGE_MAX ||
		!tb_bytes_u8(first, at, &field))
		return false;
	size_t text = at + 1; // of a string that lies within the message
	if (field == 0x0a && bytes_are_text(first, text) &&
		tb_bytes_varint(first, &text, &inner) && inner < length - 1)
		return true;
	at++;
	if ((field != 0x12 && field != 0x0a) || !tb_bytes_varint(first, &at, &inner) ||
		inner >= length)
		return false;
	return tb_bytes_u8(first, at, &name) && name == 0x0a &&
	       bytes_are_text(first, at + 1);
}
