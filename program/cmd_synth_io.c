// The options of parallel I/O.
#include "cmd_synth.h"

#include "units.h"

#include <string.h>

enum {
	KEY_CLIENTS = 768,
	KEY_SERVERS,
	KEY_BLOCK,
	KEY_STRIP,
	KEY_PACK,
	KEY_EAGER,
	KEY_LIST,
	KEY_AGGREGATE,
	KEY_OUTSTANDING,
	KEY_HEAVY,
	KEY_STORAGE,
	KEY_SERVICE
};

static const struct argp_option options[] = {
	{NULL, 0, NULL, 0, "Of parallel I/O:", 0},
	{"clients", KEY_CLIENTS, "N", 0, "Clients, the first ranks (4)", 0},
	{"servers", KEY_SERVERS, "N", 0, "Servers, the ranks after them (4)", 0},
	{"block", KEY_BLOCK, "BYTES", 0,
		"Size of a client's block, for write and read (4M)", 0},
	{"strip", KEY_STRIP, "BYTES", 0, "Size of a strip of the file on a server (64K)",
		0},
	{"list", KEY_LIST, "COUNT", 0, "Most pieces of the file in a request (64)", 0},
	{"aggregate", KEY_AGGREGATE, "BYTES", 0,
		"Let clients first exchange data, in buffers of BYTES, so that each "
		"accesses the file contiguously (no exchange)",
		0},
	{"transport", TB_SYNTH_KEY_TRANSPORT, "T", 0,
		"elan: eager messages and RDMA; tcp: sockets (elan)", 0},
	{"pack", KEY_PACK, "RATE", 0,
		"Rate of packing and unpacking lists, for tcp (takes no time)", 0},
	{"eager", KEY_EAGER, "BYTES", 0, "Most data sent without a rendezvous (2K)", 0},
	{"rendezvous", TB_SYNTH_KEY_RENDEZVOUS, "R", 0,
		"RDMA by the sender (write), by the receiver (read) or, default, by load "
		"(adaptive)",
		0},
	{"heavy", KEY_HEAVY, "COUNT", 0,
		"Open transfers that are a heavy load for a server, for adaptive (4)", 0},
	{"completion", TB_SYNTH_KEY_COMPLETION, "C", 0,
		"How the end of data is signalled: by a remote event or a control "
		"message (event)",
		0},
	{"outstanding", KEY_OUTSTANDING, "COUNT", 0,
		"Transfers that a server has open at a time (any number)", 0},
	{"service", KEY_SERVICE, "TIME", 0, "Processor time a request takes a server (0)",
		0},
	{"storage", KEY_STORAGE, "RATE", 0, "Rate of a server's file system (no limit)",
		0},
	{0},
};

static uint64_t size(struct argp_state *state, const char *name, const char *text)
{
	uint64_t bytes = 0;
	if (tb_parse_size(text, &bytes) != TB_OK)
		argp_error(state, "%s takes a size such as 320 or 64K, not '%s'", name,
			text);
	return bytes;
}

static uint64_t rate(struct argp_state *state, const char *name, const char *text)
{
	uint64_t bytes_per_s = 0;
	if (tb_parse_rate(text, &bytes_per_s) != TB_OK)
		argp_error(state, "%s takes a rate, not '%s': " TB_RATE_HINT, name, text);
	return bytes_per_s;
}

static uint32_t count(
	struct argp_state *state, const char *name, const char *text, uint64_t max)
{
	return (uint32_t)tb_synth_number(state, name, text, 1, max);
}

static error_t parse_protocol(int key, char *text, struct argp_state *state)
{
	struct tb_synth_io_args *args = state->input;
	struct tb_io_options *o = &args->options;
	switch (key) {
	case TB_SYNTH_KEY_TRANSPORT:
		o->transport = (enum tb_io_transport)tb_cmd_word(
			tb_synth_words, key, text, state);
		return 0;
	case TB_SYNTH_KEY_RENDEZVOUS:
		args->rendezvous = true;
		o->rendezvous = (enum tb_io_rendezvous)tb_cmd_word(
			tb_synth_words, key, text, state);
		return 0;
	case TB_SYNTH_KEY_COMPLETION:
		args->completion = true;
		o->events = tb_cmd_word(tb_synth_words, key, text, state) != 0;
		return 0;
	case KEY_EAGER:
		args->eager = true;
		o->eager_bytes = size(state, "--eager", text);
		return 0;
	case KEY_OUTSTANDING:
		args->outstanding = true;
		o->n_outstanding = count(state, "--outstanding", text, 65536);
		return 0;
	case KEY_HEAVY:
		args->heavy = true;
		o->n_heavy = count(state, "--heavy", text, UINT32_MAX);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_value(int key, char *text, struct argp_state *state)
{
	struct tb_synth_io_args *args = state->input;
	struct tb_io_options *o = &args->options;
	switch (key) {
	case KEY_CLIENTS:
		o->n_clients = count(state, "--clients", text, TB_RANKS_MAX / 2);
		return 0;
	case KEY_SERVERS:
		o->n_servers = count(state, "--servers", text, TB_RANKS_MAX / 2);
		return 0;
	case KEY_BLOCK:
		args->block = true;
		o->block_bytes = size(state, "--block", text);
		return 0;
	case KEY_STRIP:
		o->strip_bytes = size(state, "--strip", text);
		return 0;
	case KEY_LIST:
		args->list = true;
		o->list_pieces = count(state, "--list", text, UINT32_MAX);
		return 0;
	case KEY_AGGREGATE:
		args->aggregate = true;
		o->buffer_bytes = size(state, "--aggregate", text);
		if (o->buffer_bytes == 0)
			argp_error(state, "--aggregate takes a size above 0");
		return 0;
	case KEY_SERVICE:
		o->service_ns = tb_synth_ns(state, "--service", text);
		return 0;
	case KEY_STORAGE:
		o->storage_bytes_per_s = rate(state, "--storage", text);
		return 0;
	case KEY_PACK:
		args->pack = true;
		o->pack_bytes_per_s = rate(state, "--pack", text);
		return 0;
	default:
		return parse_protocol(key, text, state);
	}
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct tb_synth_io_args *args = state->input;
	if (key == ARGP_KEY_INIT) {
		args->options = TB_IO_DEFAULTS;
		return 0;
	}
	for (const struct argp_option *option = options + 1; option->name; option++)
		if (option->key == key)
			args->used = option->name;
	return parse_value(key, text, state);
}

const struct argp tb_synth_io_argp = {.options = options, .parser = parse};

void tb_synth_io_check(struct argp_state *state, const struct tb_synth_io_args *args)
{
	const struct tb_io_options *o = &args->options;
	const struct {
		bool used;
		const char *name;
	} elan[] = {{args->eager, "--eager"}, {args->rendezvous, "--rendezvous"},
		{args->heavy, "--heavy"}, {args->completion, "--completion"},
		{args->outstanding, "--outstanding"}};
	for (size_t i = 0; i < sizeof elan / sizeof *elan; i++)
		if (elan[i].used && o->transport == TB_IO_TCP)
			argp_error(state, "%s does not go with --transport tcp",
				elan[i].name);
	if (args->aggregate && args->list)
		argp_error(state, "--list does not go with --aggregate, where a request "
				  "is one piece");
	if (args->aggregate && o->benchmark->resizes)
		argp_error(state, "--aggregate does not go with %s", o->benchmark->name);
	if (args->pack && o->transport != TB_IO_TCP)
		argp_error(state, "--pack goes with --transport tcp");
	if (args->heavy && o->rendezvous != TB_IO_ADAPTIVE)
		argp_error(state, "--heavy goes with --rendezvous adaptive");
	if (args->block && !o->benchmark->blocks)
		argp_error(state, "--block goes with write and read, not with %s",
			o->benchmark->name);
}

void tb_synth_io_help(FILE *stream)
{
	fputs("Parallel I/O (io BENCHMARK):\n", stream);
	for (const struct tb_io_benchmark *b = tb_io_benchmarks; b->name; b++)
		fprintf(stream, "  %-12s%s\n", b->name, b->summary);
}
