// The JSON form: nodes as objects one after the other, as Chakra's jsonizer writes them,
// or in the array "workload_graph" of one object. Names of fields differ between the two
// in case and underscores; whole numbers may be strings.
#include "array.h"
#include "chakra.h"
#include "chakra_graph.h"
#include "execution_trace.pb-c.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>

#define DEPTH_MAX 32
#define KEY_MAX	  32

struct node_reading {
	struct chakra_graph *graph;
	struct chakra_raw raw;
	// The keys above the present value; "" in arrays. keys[0] is of the outermost
	// one.
	char keys[DEPTH_MAX][KEY_MAX];
	bool in_array[DEPTH_MAX];
	unsigned depth;
	char *name, *group, *inputs;
	uint64_t *deps[2]; // data, control
	size_t n_deps[2], deps_room[2];
	char attribute[KEY_MAX]; // name and value, which come in any order
	int64_t value;
	bool has_value, flag_missing;
	char *text; // value of an attribute
	bool is_node;
	int status;
};

// node_depth is the depth in which fields of a node lie: 1, or 3 in "workload_graph"
// and "nodes".
static unsigned node_depth(const struct node_reading *reading)
{
	return reading->depth >= 2 && reading->in_array[1] &&
			       (tb_chakra_is_named_as(
					reading->keys[0], "workloadgraph") ||
				       tb_chakra_is_named_as(reading->keys[0], "nodes"))
		       ? 3
		       : 1;
}

static const char *key_at(const struct node_reading *reading, unsigned depth)
{
	return reading->depth >= depth ? reading->keys[depth - 1] : "";
}

static bool is_key(const struct node_reading *reading, unsigned depth, const char *plain)
{
	return tb_chakra_is_named_as(key_at(reading, depth), plain);
}

static int text_keep(char **kept, const unsigned char *text, size_t n)
{
	char *copy = strndup((const char *)text, n);
	if (!copy)
		return TB_ENOMEM;
	free(*kept);
	*kept = copy;
	return TB_OK;
}

static void begin_node(struct node_reading *reading)
{
	reading->raw = (struct chakra_raw){0};
	free(reading->name);
	free(reading->group);
	free(reading->inputs);
	reading->name = reading->group = reading->inputs = NULL;
	reading->n_deps[0] = reading->n_deps[1] = 0;
	reading->is_node = false;
}

static int add_dep(struct node_reading *reading, int kind, uint64_t id)
{
	if (TB_ARRAY_RESERVE(&reading->deps[kind], &reading->deps_room[kind],
		    reading->n_deps[kind] + 1) != TB_OK)
		return tb_fail_memory_in(
			reading->graph->error, reading->graph->file, "dependencies");
	reading->deps[kind][reading->n_deps[kind]++] = id;
	return TB_OK;
}

// node_take_number takes a number, or a text that is one, at the present place.
static int node_take_number(struct node_reading *reading, uint64_t number)
{
	unsigned depth = node_depth(reading);
	struct chakra_raw *raw = &reading->raw;
	if (reading->depth == depth + 1 && reading->in_array[depth]) {
		if (is_key(reading, depth, "datadeps"))
			return add_dep(reading, 0, number);
		if (is_key(reading, depth, "ctrldeps"))
			return add_dep(reading, 1, number);
	}
	if (reading->depth == depth + 2 && is_key(reading, depth, "attr")) {
		reading->has_value = !is_key(reading, depth + 2, "name");
		reading->value = (int64_t)number;
	}
	if (reading->depth != depth)
		return TB_OK;
	if (is_key(reading, depth, "id")) {
		raw->id = number;
	} else if (is_key(reading, depth, "type") || is_key(reading, depth, "nodetype")) {
		raw->type = number < CHAKRA_N_TYPES ? (int)number : CHAKRA_N_TYPES;
		reading->is_node = true;
	} else if (is_key(reading, depth, "durationmicros")) {
		raw->duration_us = number;
	} else if (is_key(reading, depth, "starttimemicros")) {
		raw->start_us = number;
	} else {
		tb_chakra_set(raw, key_at(reading, depth), (int64_t)number);
	}
	return TB_OK;
}

static bool text_is_number(const char *text, uint64_t *number)
{
	char *end;
	errno = 0;
	bool negative = *text == '-';
	if (*text == '\0' || strspn(text, "-0123456789.eE+") != strlen(text))
		return false;
	if (strpbrk(text, ".eE")) {
		double real = strtod(text, &end);
		if (!(real > -9e18 && real < 9e18))
			return false;
		*number = (uint64_t)(int64_t)real;
	} else {
		*number = negative ? (uint64_t)strtoll(text, &end, 10)
				   : strtoull(text, &end, 10);
	}
	return *end == '\0' && errno == 0;
}

static int node_take_text(struct node_reading *reading, char *text)
{
	unsigned depth = node_depth(reading);
	uint64_t number;
	size_t n = strlen(text);
	const unsigned char *bytes = (const unsigned char *)text;
	if (reading->depth == depth) {
		if (is_key(reading, depth, "name"))
			return text_keep(&reading->name, bytes, n);
		if (is_key(reading, depth, "pgname"))
			return text_keep(&reading->group, bytes, n);
		if (is_key(reading, depth, "type") && !text_is_number(text, &number)) {
			static const char *const types[CHAKRA_N_TYPES] = {"INVALID_NODE",
				"METADATA_NODE", "MEM_LOAD_NODE", "MEM_STORE_NODE",
				"COMP_NODE", "COMM_SEND_NODE", "COMM_RECV_NODE",
				"COMM_COLL_NODE"};
			reading->is_node = true;
			reading->raw.type = CHAKRA_N_TYPES;
			for (int i = 0; i < CHAKRA_N_TYPES; i++)
				if (strcmp(text, types[i]) == 0)
					reading->raw.type = i;
			return TB_OK;
		}
	}
	if (reading->depth == depth + 1 && is_key(reading, depth, "inputs") &&
		is_key(reading, depth + 1, "values"))
		return text_keep(&reading->inputs, bytes, n);
	if (reading->depth == depth + 2 && is_key(reading, depth, "attr")) {
		if (is_key(reading, depth + 2, "name")) {
			snprintf(reading->attribute, KEY_MAX, "%s", text);
			return TB_OK;
		}
		if (is_key(reading, depth + 2, "stringval"))
			return text_keep(&reading->text, bytes, n);
	}
	return text_is_number(text, &number) ? node_take_number(reading, number) : TB_OK;
}

static void begin_attribute(struct node_reading *reading)
{
	reading->attribute[0] = '\0';
	reading->has_value = reading->flag_missing = false;
	free(reading->text);
	reading->text = NULL;
}

// The callbacks return 0 to stop, with the status in `reading`.
static int status_goes_on(struct node_reading *reading, int status)
{
	reading->status = status;
	return status == TB_OK;
}

static int on_scalar(struct node_reading *reading, const unsigned char *text, size_t n)
{
	char *copy = strndup((const char *)text, n);
	int status = copy ? node_take_text(reading, copy) : TB_ENOMEM;
	free(copy);
	if (status == TB_ENOMEM)
		status = tb_fail_memory_in(reading->graph->error, reading->graph->file,
			"a text of %zu bytes", n);
	return status_goes_on(reading, status);
}

static int on_number(void *context, const char *text, size_t n)
{
	return on_scalar(context, (const unsigned char *)text, n);
}

static int node_on_string(void *context, const unsigned char *text, size_t n)
{
	return on_scalar(context, text, n);
}

static int on_boolean(void *context, int value)
{
	struct node_reading *reading = context;
	unsigned depth = node_depth(reading);
	reading->flag_missing |= !value;
	if (reading->depth == depth + 1 && is_key(reading, depth, "involveddim"))
		reading->raw.some_dimensions |= !value;
	return status_goes_on(reading, node_take_number(reading, value != 0));
}

static int node_on_key(void *context, const unsigned char *key, size_t n)
{
	struct node_reading *reading = context;
	snprintf(reading->keys[reading->depth - 1], KEY_MAX, "%.*s",
		n < KEY_MAX ? (int)n : KEY_MAX - 1, (const char *)key);
	return 1;
}

static int go_down(struct node_reading *reading, bool in_array)
{
	if (reading->depth == DEPTH_MAX)
		return status_goes_on(
			reading, tb_fail_in(reading->graph->error, TB_EFORMAT,
					 reading->graph->file,
					 "values within more than %d others", DEPTH_MAX));
	reading->keys[reading->depth][0] = '\0';
	reading->in_array[reading->depth++] = in_array;
	return 1;
}

static int on_map(void *context)
{
	struct node_reading *reading = context;
	if (!go_down(reading, false))
		return 0;
	unsigned depth = node_depth(reading);
	if (reading->depth == depth)
		begin_node(reading);
	else if (reading->depth == depth + 2)
		begin_attribute(reading);
	return 1;
}

static int on_map_end(void *context)
{
	struct node_reading *reading = context;
	unsigned depth = node_depth(reading);
	int status = TB_OK;
	if (reading->depth == depth + 2 && is_key(reading, depth, "attr")) {
		if (reading->has_value)
			tb_chakra_set(&reading->raw, reading->attribute, reading->value);
		if (tb_chakra_is_named_as(reading->attribute, "involveddim"))
			reading->raw.some_dimensions |= reading->flag_missing;
		if (reading->text &&
			tb_chakra_is_named_as(reading->attribute, "pgname")) {
			free(reading->group);
			reading->group = reading->text;
			reading->text = NULL;
		}
	}
	if (reading->depth == depth) {
		struct chakra_raw *raw = &reading->raw;
		if (reading->is_node) { // metadata, or what holds the nodes
			raw->name = reading->name;
			raw->group = reading->group;
			raw->inputs = reading->inputs;
			raw->data_deps = reading->deps[0];
			raw->n_data = reading->n_deps[0];
			raw->ctrl_deps = reading->deps[1];
			raw->n_ctrl = reading->n_deps[1];
			status = tb_chakra_graph_add(reading->graph, raw);
		}
		reading->is_node = false; // what holds the nodes is none
	}
	reading->depth--;
	return status_goes_on(reading, status);
}

static int on_array(void *context)
{
	return go_down(context, true);
}

static int on_array_end(void *context)
{
	((struct node_reading *)context)->depth--;
	return 1;
}

static const yajl_callbacks callbacks = {.yajl_boolean = on_boolean,
	.yajl_number = on_number,
	.yajl_string = node_on_string,
	.yajl_start_map = on_map,
	.yajl_map_key = node_on_key,
	.yajl_end_map = on_map_end,
	.yajl_start_array = on_array,
	.yajl_end_array = on_array_end};

static int node_refuse(struct node_reading *reading, yajl_handle parser, uint64_t offset)
{
	if (reading->status != TB_OK)
		return reading->status;
	unsigned char *text = yajl_get_error(parser, 0, NULL, 0);
	size_t n = text ? strcspn((const char *)text, "\n") : 0;
	int status = tb_fail_at(reading->graph->error, TB_EFORMAT, reading->graph->file,
		TB_PLACE_OFFSET, offset, "expected JSON: %.*s", (int)n,
		text ? (const char *)text : "");
	yajl_free_error(parser, text);
	return status;
}

static int node_parse(struct node_reading *reading, yajl_handle parser, FILE *stream)
{
	unsigned char piece[65536];
	uint64_t offset = 0;
	for (size_t n; (n = fread(piece, 1, sizeof piece, stream)) > 0; offset += n)
		if (yajl_parse(parser, piece, n) != yajl_status_ok)
			return node_refuse(reading, parser,
				offset + yajl_get_bytes_consumed(parser));
	if (yajl_complete_parse(parser) == yajl_status_ok)
		return TB_OK;
	reading->graph->is_cut = true;
	return node_refuse(reading, parser, offset);
}

int tb_chakra_read_json(struct chakra_graph *graph, FILE *stream)
{
	struct node_reading reading = {.graph = graph};
	yajl_handle parser = yajl_alloc(&callbacks, NULL, &reading);
	if (!parser)
		return tb_fail_memory_in(graph->error, graph->file, "it");
	yajl_config(parser, yajl_allow_multiple_values, 1);
	yajl_config(parser, yajl_dont_validate_strings, 1);
	int status = node_parse(&reading, parser, stream);
	yajl_free(parser);
	begin_node(&reading);
	begin_attribute(&reading);
	free(reading.deps[0]);
	free(reading.deps[1]);
	return status;
}

static bool bytes_have_word(struct tb_bytes bytes, const char *word)
{
	return memmem(bytes.data, bytes.n, word, strlen(word)) != NULL;
}

bool tb_chakra_json_begins(struct tb_bytes first)
{
	size_t at = 0;
	while (at < first.n && memchr(" \t\r\n", first.data[at], 4))
		at++;
	if (at == first.n || first.data[at] != '{')
		return false;
	bool one_after_the_other = bytes_have_word(first, "\"dataDeps\"") ||
				   bytes_have_word(first, "_NODE\"");
	return bytes_have_word(first, "\"workload_graph\"") ||
	       (one_after_the_other && !bytes_have_word(first, "\"traceEvents\""));
}

// The protobuf form: messages behind their lengths (execution_trace.proto).

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
		if (TB_ARRAY_RESERVE(
			    &reading->bytes, &reading->room, reading->n + piece) != TB_OK)
			return tb_fail_memory_in(reading->graph->error,
				reading->graph->file, "a node of %zu bytes", length);
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
		tb_chakra_set(raw, name, whole_number(attribute->as_double));
		break;
	case TB_ET__ATTRIBUTE__VALUE_AS_FLOAT:
		tb_chakra_set(raw, name, whole_number((double)attribute->as_float));
		break;
	case TB_ET__ATTRIBUTE__VALUE_AS_INT32:
		tb_chakra_set(raw, name, attribute->as_int32);
		break;
	case TB_ET__ATTRIBUTE__VALUE_AS_INT64:
		tb_chakra_set(raw, name, attribute->as_int64);
		break;
	case TB_ET__ATTRIBUTE__VALUE_AS_UINT32:
		tb_chakra_set(raw, name, attribute->as_uint32);
		break;
	case TB_ET__ATTRIBUTE__VALUE_AS_UINT64:
		tb_chakra_set(raw, name, (int64_t)attribute->as_uint64);
		break;
	case TB_ET__ATTRIBUTE__VALUE_AS_SINT32:
		tb_chakra_set(raw, name, attribute->as_sint32);
		break;
	case TB_ET__ATTRIBUTE__VALUE_AS_SINT64:
		tb_chakra_set(raw, name, attribute->as_sint64);
		break;
	case TB_ET__ATTRIBUTE__VALUE_AS_FIXED32:
		tb_chakra_set(raw, name, attribute->as_fixed32);
		break;
	case TB_ET__ATTRIBUTE__VALUE_AS_FIXED64:
		tb_chakra_set(raw, name, (int64_t)attribute->as_fixed64);
		break;
	case TB_ET__ATTRIBUTE__VALUE_AS_SFIXED32:
		tb_chakra_set(raw, name, attribute->as_sfixed32);
		break;
	case TB_ET__ATTRIBUTE__VALUE_AS_SFIXED64:
		tb_chakra_set(raw, name, attribute->as_sfixed64);
		break;
	case TB_ET__ATTRIBUTE__VALUE_AS_BOOL:
		tb_chakra_set(raw, name, attribute->as_bool);
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
		tb_chakra_set(&raw, attribute->name, value);
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
