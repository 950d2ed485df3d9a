// The JSON form: nodes as objects one after the other, as Chakra's jsonizer writes them,
// or in the array "workload_graph" of one object. Names of fields differ between the two
// in case and underscores; whole numbers may be strings.
#include "chakra_impl.h"

#include "array.h"
#include "chakra.h"

#include <errno.h>
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

// node_depth is the depth in which fields of a node lie: 1, or 3 in "workload_graph".
static unsigned node_depth(const struct node_reading *reading)
{
	return reading->depth >= 2 && reading->in_array[1] &&
			       tb_chakra_is_named_as(reading->keys[0], "workloadgraph")
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

static int end_node(struct node_reading *reading)
{
	struct chakra_raw *raw = &reading->raw;
	if (!reading->is_node)
		return TB_OK; // metadata, or what holds the nodes
	raw->name = reading->name;
	raw->group = reading->group;
	raw->inputs = reading->inputs;
	raw->data_deps = reading->deps[0];
	raw->n_data = reading->n_deps[0];
	raw->ctrl_deps = reading->deps[1];
	raw->n_ctrl = reading->n_deps[1];
	return tb_chakra_graph_add(reading->graph, raw);
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

static void json_set(struct chakra_raw *raw, const char *name, int64_t value)
{
	enum chakra_attribute attribute;
	if (!tb_chakra_attribute(&attribute, name))
		return;
	raw->has[attribute] = true;
	raw->values[attribute] = value;
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
		json_set(raw, key_at(reading, depth), (int64_t)number);
	}
	return TB_OK;
}

static int take_type(struct node_reading *reading, const char *text)
{
	static const char *const types[CHAKRA_N_TYPES] = {"INVALID_NODE", "METADATA_NODE",
		"MEM_LOAD_NODE", "MEM_STORE_NODE", "COMP_NODE", "COMM_SEND_NODE",
		"COMM_RECV_NODE", "COMM_COLL_NODE"};
	reading->is_node = true;
	reading->raw.type = CHAKRA_N_TYPES;
	for (int i = 0; i < CHAKRA_N_TYPES; i++)
		if (strcmp(text, types[i]) == 0)
			reading->raw.type = i;
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
		if (is_key(reading, depth, "type") && !text_is_number(text, &number))
			return take_type(reading, text);
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
			json_set(&reading->raw, reading->attribute, reading->value);
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
		status = end_node(reading);
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
