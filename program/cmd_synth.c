// tailback synth: makes a synthetic job and writes it as GOAL.
#include "cli.h"
#include "collective.h"
#include "commands.h"
#include "io.h"
#include "nearest.h"
#include "options.h"
#include "synth.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define IO_NODES 8 // of 64, as in paper 000 (figure 7)

enum synth_kind { NOTHING_YET, PATTERN, COLLECTIVE, IO };

struct synth_arguments {
	enum synth_kind kind;
	const char *name;		 // the operand
	struct tb_synth_options pattern; // of other kinds it has the nodes
	enum tb_collective_op op;
	const char *algorithm;
	struct tb_collective_options collective;
	struct tb_io_options io;
	struct tb_plan_job how;
	const char *output;
	bool binary;
	struct tb_given given;
};

static bool synth_has(const struct synth_arguments *args, const char *option)
{
	return tb_is_given(&args->given, option);
}

#define AT(member) TB_AT(struct synth_arguments, member)

static const char *const places[] = {"clustered", "distributed", NULL};
static const char *const transports[] = {"elan", "tcp", NULL};
static const char *const rendezvous[] = {"adaptive", "write", "read", NULL};
static const char *const completions[] = {"control", "event", NULL};

static const struct tb_option pattern_rows[] = {
	{.help = "Of patterns:"},
	{"message", 0, "BYTES", "Mean size of a message: 320, 256K, 1M, 2G", TB_SIZE,
		AT(pattern.message_bytes)},
	{"messages", 0, "COUNT", "Messages that each node sends, or rounds", TB_COUNT,
		AT(pattern.n_messages), .min = 1, .max = INT32_MAX},
	{"hot", 0, "NODE", "Destination of hot-spot (0)", TB_COUNT, AT(pattern.hot),
		.max = TB_RANKS_MAX - 1},
	{"io-nodes", 0, "N", "Number of I/O nodes in io-random and io-fixed (8)",
		TB_COUNT, AT(pattern.n_io), .min = 2, .max = TB_RANKS_MAX},
	{"io-place", 0, "PLACE",
		"I/O nodes are clustered, the last ones, or distributed (clustered)",
		TB_WORD, AT(pattern.io_distributed), .list = places, .seldom = true},
	{"dedicated", 0, NULL, "I/O nodes send nothing themselves", TB_FLAG,
		AT(pattern.dedicated), .seldom = true},
	{"load", 0, "F",
		"Offer F times --rate at each node (default: all that it can send)",
		TB_REAL, AT(pattern.load), .least = 1e-9, .most = 1e3},
	{"rate", 0, "RATE",
		"Payload rate of load 1 (338.6MB/s: 320 of 378 bytes at 400 MB/s)",
		TB_RATE, AT(pattern.rate_bytes_per_s), .seldom = true},
	{"time-dist", 0, "D",
		"Time between messages, with --load: fixed, uniform (0 to twice the "
		"mean) or exponential (fixed)",
		TB_WORD, AT(pattern.time_dist), .list = tb_synth_dists, .seldom = true},
	{"size-dist", 0, "D", "Size of messages: fixed, uniform or exponential (fixed)",
		TB_WORD, AT(pattern.size_dist), .list = tb_synth_dists, .seldom = true},
	{"seed", 0, "S", "Seed of the random choices (1)", TB_COUNT, AT(pattern.seed),
		.max = UINT64_MAX},
	{0},
};

static const struct tb_option collective_rows[] = {
	{.help = "Of collectives:"},
	{"algorithm", 0, "NAME", "Algorithm (default: the first one listed)", TB_TEXT,
		AT(algorithm)},
	{"size", 0, "BYTES",
		"Size of a rank's block (allgather, scatter, gather, alltoall), or of "
		"all its data",
		TB_SIZE, AT(collective.bytes)},
	{"ports", 0, "K", "Messages that a rank sends, and receives, at once (1)",
		TB_COUNT, AT(collective.n_ports), .min = 1, .max = TB_PORTS_MAX,
		.seldom = true},
	{"per-node", 0, "N",
		"Ranks that share a host, for nccl-*: channels enter it at each of them "
		"(1)",
		TB_COUNT, AT(collective.per_node), .min = 1, .max = 64, .seldom = true},
	{"pin", 0, NULL,
		"Send each message by the network interface with the number of its port",
		TB_FLAG, AT(how.pin), .seldom = true},
	{"root", 0, "RANK", "Root of scatter, gather, broadcast, reduce (0)", TB_COUNT,
		AT(collective.root), .max = TB_RANKS_MAX - 1, .seldom = true},
	{"branch", 0, "COUNT", "Children of a rank in a tree (4)", TB_COUNT,
		AT(collective.branch), .min = 1, .max = TB_RANKS_MAX - 1, .seldom = true},
	{"combine", 0, "RATE",
		"Rate at which a rank adds up what it receives (default: it takes no "
		"time)",
		TB_RATE, AT(how.combine_bytes_per_s), .seldom = true},
	{0},
};

static const struct tb_option io_rows[] = {
	{.help = "Of parallel I/O:"},
	{"clients", 0, "N", "Clients, the first ranks (4)", TB_COUNT, AT(io.n_clients),
		.min = 1, .max = TB_RANKS_MAX / 2},
	{"servers", 0, "N", "Servers, the ranks after them (4)", TB_COUNT,
		AT(io.n_servers), .min = 1, .max = TB_RANKS_MAX / 2},
	{"block", 0, "BYTES", "Size of a client's block, for write and read (4M)",
		TB_SIZE, AT(io.block_bytes)},
	{"strip", 0, "BYTES", "Size of a strip of the file on a server (64K)", TB_SIZE,
		AT(io.strip_bytes), .seldom = true},
	{"list", 0, "COUNT", "Most pieces of the file in one request (64)", TB_COUNT,
		AT(io.list_pieces), .min = 1, .max = UINT32_MAX, .seldom = true},
	{"aggregate", 0, "BYTES",
		"Let clients first exchange data, in buffers of BYTES, so that each "
		"accesses the file contiguously (no exchange)",
		TB_SIZE, AT(io.buffer_bytes), .min = 1, .seldom = true},
	{"transport", 0, "T", "elan: eager messages and RDMA; tcp: sockets (elan)",
		TB_WORD, AT(io.transport), .list = transports, .seldom = true},
	{"pack", 0, "RATE",
		"Rate of packing and unpacking lists, for tcp (default: it takes no "
		"time)",
		TB_RATE, AT(io.pack_bytes_per_s), .seldom = true},
	{"eager", 0, "BYTES", "Largest message sent without a rendezvous (2K)", TB_SIZE,
		AT(io.eager_bytes), .seldom = true},
	{"rendezvous", 0, "R",
		"RDMA by the sender (write), by the receiver (read) or, default, by load "
		"(adaptive)",
		TB_WORD, AT(io.rendezvous), .list = rendezvous, .seldom = true},
	{"heavy", 0, "COUNT",
		"How many open transfers are a heavy load for a server, for adaptive (4)",
		TB_COUNT, AT(io.n_heavy), .min = 1, .max = UINT32_MAX, .seldom = true},
	{"completion", 0, "C",
		"How the end of data is signalled: by a remote event or a control "
		"message (event)",
		TB_WORD, AT(io.events), .list = completions, .seldom = true},
	{"outstanding", 0, "COUNT",
		"Most transfers that a server has open at a time (any number)", TB_COUNT,
		AT(io.n_outstanding), .min = 1, .max = 65536, .seldom = true},
	{"service", 0, "TIME", "Processor time a request takes a server (0)", TB_NS,
		AT(io.service_ns), .seldom = true},
	{"storage", 0, "RATE", "Rate of a server's file system (no limit)", TB_RATE,
		AT(io.storage_bytes_per_s), .seldom = true},
	{0},
};

static const struct tb_option option_rows[] = {
	{"output", 'o', "FILE", "Write the job to FILE (default: -, standard output)",
		TB_TEXT, AT(output), .files = "."},
	{"binary", 0, NULL, "Write GOAL's binary form instead of its text", TB_FLAG,
		AT(binary), .seldom = true},
	{.help = "Of patterns and collectives:"},
	{"nodes", 'n', "N", "Nodes of the job, one rank each", TB_COUNT,
		AT(pattern.n_nodes), .min = 2, .max = TB_RANKS_MAX},
	{.help = "Of collectives and parallel I/O:"},
	{"repeat", 0, "COUNT", "Repetitions, one after the other (1; bt: 40)", TB_COUNT,
		AT(how.n_repeats), .min = 1, .max = INT32_MAX},
	{"compute", 0, "TIME",
		"Time that each rank, or client, computes before each repetition (0)",
		TB_NS, AT(how.compute_ns)},
	{.table = pattern_rows, .kind = TB_TABLE},
	{.table = collective_rows, .kind = TB_TABLE},
	{.table = io_rows, .kind = TB_TABLE},
	{0},
};

// take_job_name takes the operand: a pattern, a collective, or io and then a benchmark of
// it.
static void take_job_name(
	const struct tb_option *row, void *target, char *name, struct argp_state *state)
{
	struct synth_arguments *args = target;
	struct tb_error error;
	(void)row;
	if (args->kind == IO && !args->io.benchmark) {
		if (tb_io_benchmark_find(&args->io.benchmark, name, &error) != TB_OK)
			argp_error(state, "%s", error.text);
		return;
	}
	if (args->kind != NOTHING_YET)
		argp_error(state, "one job at a time: '%s' is too many", name);
	args->name = name;
	if (strcmp(name, "io") == 0)
		args->kind = IO;
	else if (tb_collective_op_find(&args->op, name) && args->op != TB_COLL_EXCHANGE)
		args->kind = COLLECTIVE;
	else if (tb_synth_pattern_find(&args->pattern.pattern, name, NULL) == TB_OK)
		args->kind = PATTERN;
	else {
		// Report an unknown operand and a known one that is near.
		const char *names[64] = {"io"};
		size_t n = 1;
		for (const struct tb_synth_pattern *p = tb_synth_patterns; p->name; p++)
			names[n++] = p->name;
		for (int op = 0; op < TB_COLL_EXCHANGE; op++)
			names[n++] = tb_collectives[op].name;
		struct tb_hint hint;
		argp_error(state, "no pattern or collective is called '%s'%s", name,
			tb_hint_near(&hint, name, names, n, sizeof *names));
	}
}

// collective_names lists the collectives that have a root, or those that add up, for
// messages.
static const char *collective_names(bool rooted, char *buffer, size_t size)
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

static void check_collective(const struct argp_state *state, struct synth_arguments *args)
{
	const struct tb_collective *collective = &tb_collectives[args->op];
	const struct tb_algorithm *algorithm;
	struct tb_error error;
	char names[128];
	if (tb_algorithm_find(&algorithm, args->op, args->algorithm, &error) != TB_OK)
		argp_error(state, "%s", error.text);
	args->collective.algorithm = algorithm;
	if (collective->size == TB_SIZE_NONE && synth_has(args, "size"))
		argp_error(state, "--size does not go with %s, which moves no data",
			collective->name);
	if (synth_has(args, "root") && !collective->rooted)
		argp_error(state, "--root goes with %s, not with %s",
			collective_names(true, names, sizeof names), collective->name);
	if (args->how.combine_bytes_per_s && !collective->combines)
		argp_error(state, "--combine goes with %s, not with %s",
			collective_names(false, names, sizeof names), collective->name);
	if (synth_has(args, "branch") && !(algorithm->traits & TB_TAKES_BRANCH))
		argp_error(state, "--branch goes with trees, not with %s %s",
			collective->name, algorithm->name);
}

static void check_synth_io_options(
	const struct argp_state *state, const struct synth_arguments *args)
{
	static const char *const elan[] = {
		"eager", "rendezvous", "heavy", "completion", "outstanding"};
	const struct tb_io_options *io = &args->io;
	if (!io->benchmark)
		argp_error(state, "a BENCHMARK of io is missing: --help lists them");
	for (size_t i = 0; i < sizeof elan / sizeof *elan; i++)
		if (synth_has(args, elan[i]) && io->transport == TB_IO_TCP)
			argp_error(
				state, "--%s does not go with --transport tcp", elan[i]);
	if (synth_has(args, "aggregate") && synth_has(args, "list"))
		argp_error(state, "--list does not go with --aggregate, where a request "
				  "is one piece");
	if (synth_has(args, "aggregate") && !io->benchmark->extent)
		argp_error(state, "--aggregate does not go with %s", io->benchmark->name);
	if (synth_has(args, "pack") && io->transport != TB_IO_TCP)
		argp_error(state, "--pack goes with --transport tcp");
	if (synth_has(args, "heavy") && io->rendezvous != TB_IO_ADAPTIVE)
		argp_error(state, "--heavy goes with --rendezvous adaptive");
	if (synth_has(args, "block") && !io->benchmark->blocks)
		argp_error(state, "--block goes with write and read, not with %s",
			io->benchmark->name);
}

static void check_synth_options(void *arguments, const struct argp_state *state)
{
	struct synth_arguments *args = arguments;
	args->collective.n_ranks = args->pattern.n_nodes;
	if (args->kind == NOTHING_YET)
		argp_error(state,
			"a PATTERN, COLLECTIVE or io BENCHMARK is missing: --help lists "
			"them");
	// Refuse options of another kind of job.
	const struct {
		const char *used, *takers;
		bool fits;
	} uses[] = {
		{tb_given_of(&args->given, pattern_rows), "patterns",
			args->kind == PATTERN},
		{tb_given_of(&args->given, collective_rows), "collectives",
			args->kind == COLLECTIVE},
		{tb_given_of(&args->given, io_rows), "parallel I/O", args->kind == IO},
		{synth_has(args, "nodes") ? "nodes" : NULL, "patterns and collectives",
			args->kind != IO},
		{synth_has(args, "repeat")	     ? "repeat"
			: synth_has(args, "compute") ? "compute"
						     : NULL,
			"collectives and parallel I/O", args->kind != PATTERN},
	};
	for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
		if (uses[i].used && !uses[i].fits)
			argp_error(state, "--%s goes with %s, not with %s", uses[i].used,
				uses[i].takers, args->name);
	// Name all that is missing at once.
	const char *const needed[] = {args->kind != IO ? "nodes" : NULL,
		args->kind == PATTERN ? "message" : NULL,
		args->kind == PATTERN ? "messages" : NULL,
		args->kind == COLLECTIVE && tb_collectives[args->op].size != TB_SIZE_NONE
			? "size"
			: NULL};
	char missing[64] = "";
	size_t n_missing = 0;
	for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
		if (needed[i] && !synth_has(args, needed[i])) {
			size_t used = strlen(missing);
			snprintf(missing + used, sizeof missing - used, "%s--%s",
				n_missing++ ? ", " : "", needed[i]);
		}
	if (n_missing)
		argp_error(state, "%s %s missing: %s", missing,
			n_missing > 1 ? "are" : "is",
			args->kind == PATTERN
				? "tailback synth uniform --nodes 64 --message 64K "
				  "--messages 8, for example"
				: "tailback synth allreduce --nodes 64 --size 1M, for "
				  "example");
	if (args->kind == PATTERN) {
		const struct tb_synth_options *synth = &args->pattern;
		if (synth_has(args, "hot") &&
			strcmp(synth->pattern->name, "hot-spot") != 0)
			argp_error(state, "--hot goes with hot-spot, not with %s",
				synth->pattern->name);
		if ((synth_has(args, "io-nodes") || synth_has(args, "io-place") ||
			    synth_has(args, "dedicated")) &&
			!tb_synth_pattern_has_io(synth->pattern))
			argp_error(state,
				"--io-nodes, --io-place and --dedicated go with "
				"io-random and io-fixed, not with %s",
				synth->pattern->name);
		if ((synth_has(args, "rate") || synth_has(args, "time-dist")) &&
			synth->load <= 0)
			argp_error(state, "%s needs --load",
				synth_has(args, "rate") ? "--rate" : "--time-dist");
	}
	if (args->kind == COLLECTIVE)
		check_collective(state, args);
	if (args->kind == IO)
		check_synth_io_options(state, args);
	if (args->binary && strcmp(args->output, "-") == 0 && isatty(STDOUT_FILENO))
		argp_error(state, "--binary is not for a terminal: use -o FILE");
}

// help_filter adds the tables of names, which are data, to the text after the options.
static char *help_filter(int key, const char *text, void *input)
{
	(void)input;
	if (key != ARGP_KEY_HELP_EXTRA)
		return (char *)(uintptr_t)text;
	char *list = NULL;
	size_t n;
	FILE *stream = open_memstream(&list, &n);
	if (!stream)
		return NULL;
	fputs("Patterns:\n", stream);
	for (const struct tb_synth_pattern *p = tb_synth_patterns; p->name; p++)
		fprintf(stream, "  %-14s%s\n", p->name, p->summary);
	fputc('\n', stream);
	fputs("Collectives and their algorithms (--algorithm):\n", stream);
	for (int op = 0; op < TB_COLL_EXCHANGE; op++) {
		const struct tb_collective *c = &tb_collectives[op];
		fprintf(stream, "  %-16s%s\n", c->name, c->summary);
		for (const struct tb_algorithm *a = tb_algorithms; a->name; a++)
			if ((int)a->op == op)
				fprintf(stream, "    %-19s%s\n", a->name, a->summary);
	}
	fputs("\nParallel I/O (io BENCHMARK):\n", stream);
	for (const struct tb_io_benchmark *b = tb_io_benchmarks; b->name; b++)
		fprintf(stream, "  %-12s%s\n", b->name, b->summary);
	fputs("\nWithout --load a node sends its messages one after the other, each when "
	      "the one before is done. Receives are posted at the beginning.\n\n"
	      "Examples:\n"
	      "  tailback synth uniform --nodes 64 --message 256K --messages 20\n"
	      "  tailback synth allgather --algorithm bruck -n 16 --ports 2 --size 32K\n"
	      "  tailback synth io read --clients 4 --servers 4 -o job.goal",
		stream);
	fclose(stream);
	return list;
}

static const struct tb_options option_table = {
	.rows = option_rows,
	.args_doc = "PATTERN --nodes N --message BYTES --messages COUNT\n"
		    "COLLECTIVE --nodes N --size BYTES\n"
		    "io BENCHMARK",
	.doc = "Make a job of synthetic traffic, of a collective operation or of "
	       "parallel I/O, as GOAL text that other simulators read too.\v",
	.operand = {.kind = TB_CALL, .take = take_job_name},
	.check = check_synth_options,
	.help_filter = help_filter,
};

static int make_collective(
	struct tb_job **job, const struct synth_arguments *args, struct tb_error *error)
{
	struct tb_plan plan;
	int status = tb_collective_plan(&plan, &args->collective, error);
	if (status != TB_OK)
		return status;
	status = tb_plan_to_job(job, &plan, &args->how, error);
	tb_plan_fini(&plan);
	return status;
}

static int make_io(
	struct tb_job **job, const struct synth_arguments *args, struct tb_error *error)
{
	struct tb_io_options io = args->io;
	io.n_repeats =
		synth_has(args, "repeat") ? args->how.n_repeats : io.benchmark->n_repeats;
	io.compute_ns = args->how.compute_ns;
	return tb_io_job(job, &io, error);
}

int tb_cmd_synth(int argc, char **argv)
{
	struct synth_arguments args = {.output = "-",
		.how.n_repeats = 1,
		.pattern = {.seed = 1, .n_io = IO_NODES},
		.collective = {.n_ports = 1, .branch = 4},
		.io = TB_IO_DEFAULTS};
	tb_options_parse(&option_table, argc, argv, &args, &args.given);
	struct tb_error error;
	struct tb_job *job = NULL;
	int status = args.kind == PATTERN ? tb_synth_job(&job, &args.pattern, &error)
		     : args.kind == IO	  ? make_io(&job, &args, &error)
					  : make_collective(&job, &args, &error);
	if (status == TB_OK)
		status = args.binary ? tb_job_write_binary(job, args.output, &error)
				     : tb_job_write_text(job, args.output, &error);
	tb_job_free(job);
	tb_given_fini(&args.given);
	return status == TB_OK ? TB_EXIT_OK : tb_cli_fail(&error);
}
