// The options of collectives, and a collective as a job.
#include "cmd_synth.h"

#include "units.h"

enum {
	KEY_ALGORITHM = 512,
	KEY_SIZE,
	KEY_PORTS,
	KEY_ROOT,
	KEY_BRANCH,
	KEY_REPEAT,
	KEY_COMPUTE
};

static const struct argp_option options[] = {
	{NULL, 0, NULL, 0, "Of collectives:", 0},
	{"algorithm", KEY_ALGORITHM, "NAME", 0, "How it is done (the first one listed)",
		0},
	{"size", KEY_SIZE, "BYTES", 0,
		"A rank's block (of allgather, scatter, gather, alltoall), or all that "
		"each has",
		0},
	{"ports", KEY_PORTS, "K", 0,
		"Messages that a rank sends and receives at once (1), each by a network "
		"interface of its own",
		0},
	{"root", KEY_ROOT, "RANK", 0, "Root of scatter, gather, broadcast, reduce (0)",
		0},
	{"branch", KEY_BRANCH, "COUNT", 0, "Children of a rank in a tree (4)", 0},
	{"repeat", KEY_REPEAT, "COUNT", 0, "Do it as many times, one after the other (1)",
		0},
	{"compute", KEY_COMPUTE, "TIME", 0,
		"Let each rank compute as long before each time (0)", 0},
	{0},
};

static void parse_compute(
	struct argp_state *state, struct tb_synth_collective *it, const char *text)
{
	tb_time_ps time = 0;
	if (tb_parse_time(text, &time) != TB_OK || time % TB_PS_PER_NS != 0)
		argp_error(state,
			"--compute takes a time in whole nanoseconds as 10us, not '%s'",
			text);
	it->how.compute_ns = (uint64_t)(time / TB_PS_PER_NS);
}

static error_t parse_value(int key, char *text, struct argp_state *state)
{
	struct tb_synth_collective *it = state->input;
	switch (key) {
	case KEY_ALGORITHM:
		it->algorithm = text;
		return 0;
	case KEY_SIZE:
		it->size = true;
		if (tb_parse_size(text, &it->options.bytes) != TB_OK)
			argp_error(state, "--size takes a size as 320 or 32K, not '%s'",
				text);
		return 0;
	case KEY_PORTS:
		it->options.n_ports = (uint32_t)tb_synth_number(
			state, "--ports", text, 1, TB_PORTS_MAX);
		return 0;
	case KEY_ROOT:
		it->root = true;
		it->options.root = (uint32_t)tb_synth_number(
			state, "--root", text, 0, TB_RANKS_MAX - 1);
		return 0;
	case KEY_BRANCH:
		it->branch = true;
		it->options.branch = (uint32_t)tb_synth_number(
			state, "--branch", text, 1, TB_RANKS_MAX - 1);
		return 0;
	case KEY_REPEAT:
		it->how.n_repeats =
			(uint32_t)tb_synth_number(state, "--repeat", text, 1, INT32_MAX);
		return 0;
	case KEY_COMPUTE:
		parse_compute(state, it, text);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct tb_synth_collective *it = state->input;
	if (key == ARGP_KEY_INIT) {
		it->options.n_ports = 1;
		it->options.branch = 4;
		it->how.n_repeats = 1;
		return 0;
	}
	for (const struct argp_option *option = options + 1; option->name; option++)
		if (option->key == key)
			it->used = option->name;
	return parse_value(key, text, state);
}

const struct argp tb_synth_collective_argp = {.options = options, .parser = parse};

// rooted_names lists the collectives that have a root, for a message.
static const char *rooted_names(char *buffer, size_t size)
{
	size_t used = 0;
	buffer[0] = '\0';
	for (const struct tb_collective *c = tb_collectives; c->name; c++)
		if (c->rooted && used < size)
			used += (size_t)snprintf(buffer + used, size - used, "%s%s",
				used ? ", " : "", c->name);
	return buffer;
}

void tb_synth_collective_check(struct argp_state *state, struct tb_synth_collective *it)
{
	const struct tb_collective *collective = it->collective;
	struct tb_error error;
	char names[128];
	it->options.collective = collective;
	it->options.algorithm = collective->algorithms;
	if (it->algorithm && tb_collective_algorithm_find(&it->options.algorithm,
				     collective, it->algorithm, &error) != TB_OK)
		argp_error(state, "%s", error.text);
	if (collective->size == TB_SIZE_NONE && it->size)
		argp_error(state, "--size does not go with %s, which moves no data",
			collective->name);
	if (collective->size != TB_SIZE_NONE && !it->size)
		argp_error(state, "--size is missing");
	if (it->root && !collective->rooted)
		argp_error(state, "--root goes with %s, not with %s",
			rooted_names(names, sizeof names), collective->name);
	if (it->branch && !it->options.algorithm->branches)
		argp_error(state, "--branch goes with trees, not with %s %s",
			collective->name, it->options.algorithm->name);
}

void tb_synth_collective_help(FILE *stream)
{
	fputs("Collectives, and how they are done (--algorithm):\n", stream);
	for (const struct tb_collective *c = tb_collectives; c->name; c++) {
		fprintf(stream, "  %-16s%s\n", c->name, c->summary);
		for (const struct tb_collective_algorithm *a = c->algorithms; a->name;
			a++)
			fprintf(stream, "    %-19s%s\n", a->name, a->summary);
	}
}

int tb_synth_collective_job(struct tb_job **job, const struct tb_synth_collective *it,
	uint32_t n_ranks, struct tb_error *error)
{
	struct tb_collective_options ranks = it->options;
	struct tb_plan plan;
	ranks.n_ranks = n_ranks;
	int status = tb_collective_plan(&plan, &ranks, error);
	if (status != TB_OK)
		return status;
	status = tb_plan_to_job(job, &plan, &it->how, error);
	tb_plan_fini(&plan);
	return status;
}
