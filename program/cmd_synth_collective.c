// The options of collectives.
#include "cmd_synth.h"

#include "units.h"

enum {
	KEY_ALGORITHM = 512,
	KEY_SIZE,
	KEY_PORTS,
	KEY_ROOT,
	KEY_BRANCH,
	KEY_PIN,
	KEY_COMBINE
};

static const struct argp_option options[] = {
	{NULL, 0, NULL, 0, "Of collectives:", 0},
	{"algorithm", KEY_ALGORITHM, "NAME", 0,
		"Algorithm (default: the first one listed)", 0},
	{"size", KEY_SIZE, "BYTES", 0,
		"Size of a rank's block (allgather, scatter, gather, alltoall), or of "
		"all its data",
		0},
	{"ports", KEY_PORTS, "K", 0,
		"Messages that a rank sends, and receives, at once (1)", 0},
	{"pin", KEY_PIN, NULL, 0,
		"Send each message by the network interface with the number of its port",
		0},
	{"root", KEY_ROOT, "RANK", 0, "Root of scatter, gather, broadcast, reduce (0)",
		0},
	{"branch", KEY_BRANCH, "COUNT", 0, "Children of a rank in a tree (4)", 0},
	{"combine", KEY_COMBINE, "RATE", 0,
		"Rate at which a rank adds up what it receives (takes no time)", 0},
	{0},
};

static error_t parse_value(int key, char *text, struct argp_state *state)
{
	struct tb_synth_collective_args *args = state->input;
	switch (key) {
	case KEY_ALGORITHM:
		args->algorithm = text;
		return 0;
	case KEY_SIZE:
		args->size = true;
		if (tb_parse_size(text, &args->options.bytes) != TB_OK)
			argp_error(state,
				"--size takes a size such as 320 or 32K, not '%s'", text);
		return 0;
	case KEY_PORTS:
		args->options.n_ports = (uint32_t)tb_synth_number(
			state, "--ports", text, 1, TB_PORTS_MAX);
		return 0;
	case KEY_PIN:
		args->pin = true;
		return 0;
	case KEY_ROOT:
		args->root = true;
		args->options.root = (uint32_t)tb_synth_number(
			state, "--root", text, 0, TB_RANKS_MAX - 1);
		return 0;
	case KEY_COMBINE:
		if (tb_parse_rate(text, &args->combine_bytes_per_s) != TB_OK)
			argp_error(state,
				"--combine takes a rate, not '%s': " TB_RATE_HINT, text);
		return 0;
	case KEY_BRANCH:
		args->branch = true;
		args->options.branch = (uint32_t)tb_synth_number(
			state, "--branch", text, 1, TB_RANKS_MAX - 1);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct tb_synth_collective_args *args = state->input;
	if (key == ARGP_KEY_INIT) {
		args->options.n_ports = 1;
		args->options.branch = 4;
		return 0;
	}
	for (const struct argp_option *option = options + 1; option->name; option++)
		if (option->key == key)
			args->used = option->name;
	return parse_value(key, text, state);
}

const struct argp tb_synth_collective_argp = {.options = options, .parser = parse};

// names_of lists the collectives that have a root, or those that add up, for messages.
static const char *names_of(bool rooted, char *buffer, size_t size)
{
	size_t used = 0;
	buffer[0] = '\0';
	for (const struct tb_collective *c = tb_collectives;
		c < tb_collectives + TB_COLL_N; c++)
		if ((rooted ? c->rooted : c->combines) && used < size)
			used += (size_t)snprintf(buffer + used, size - used, "%s%s",
				used ? ", " : "", c->name);
	return buffer;
}

void tb_synth_collective_check(
	struct argp_state *state, struct tb_synth_collective_args *args)
{
	const struct tb_collective *collective = &tb_collectives[args->op];
	const struct tb_algorithm *algorithm;
	struct tb_error error;
	char names[128];
	if (tb_algorithm_find(&algorithm, args->op, args->algorithm, &error) != TB_OK)
		argp_error(state, "%s", error.text);
	args->options.algorithm = algorithm;
	if (collective->size == TB_SIZE_NONE && args->size)
		argp_error(state, "--size does not go with %s, which moves no data",
			collective->name);
	if (collective->size != TB_SIZE_NONE && !args->size)
		argp_error(state, "--size is missing");
	if (args->root && !collective->rooted)
		argp_error(state, "--root goes with %s, not with %s",
			names_of(true, names, sizeof names), collective->name);
	if (args->combine_bytes_per_s && !collective->combines)
		argp_error(state, "--combine goes with %s, not with %s",
			names_of(false, names, sizeof names), collective->name);
	if (args->branch && !(algorithm->traits & TB_TAKES_BRANCH))
		argp_error(state, "--branch goes with trees, not with %s %s",
			collective->name, algorithm->name);
}

void tb_synth_collective_help(FILE *stream)
{
	fputs("Collectives and their algorithms (--algorithm):\n", stream);
	for (int op = 0; op < TB_COLL_EXCHANGE; op++) {
		const struct tb_collective *c = &tb_collectives[op];
		fprintf(stream, "  %-16s%s\n", c->name, c->summary);
		for (const struct tb_algorithm *a = tb_algorithms; a->name; a++)
			if ((int)a->op == op)
				fprintf(stream, "    %-19s%s\n", a->name, a->summary);
	}
}
