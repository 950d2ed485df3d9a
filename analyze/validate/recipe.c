// The jobs of recipes: one call of a benchmark each, as its loop repeats it.
#include "recipe.h"
#include "child.h"
#include "experiment.h"
#include "network_open.h"
#include "run.h"
#include "status.h"
#include "temporary.h"
#include "units.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The jobs that recipes write. Private to analyze/validate.

enum { TB_RECIPE_NUMBERS = 3 };

struct tb_recipe_words {
	char word[64]; // an operation, a pattern, or a file
	uint64_t numbers[TB_RECIPE_NUMBERS];
	double lead_s; // of a file: how long before the timed part it begins
};

struct tb_recipe_kind {
	const char *name;
	bool has_word;
	int n_numbers;
	const char *suffix;					 // of the job's file
	void (*write)(FILE *to, const struct tb_recipe_words *); // NULL: it is a file
	double (*figure)(double seconds, const struct tb_recipe_words *words);
};

// The last one has a NULL name.
extern const struct tb_recipe_kind tb_recipe_kinds[];

// tb_recipe_pattern stores the share of its link that a sender of a pattern gets at full
// load, on a network as tb_network_open reads it.
int tb_recipe_pattern(double *share, const char *pattern, const char *network,
	struct tb_error *error) TB_MUST_USE;

#define WINDOW 64 // messages under way in osu_bw and osu_mbw_mr by default

// pingpong BYTES PAIRS: rank i and rank i + PAIRS, all pairs at once.
static void write_pingpong(FILE *to, const struct tb_recipe_words *words)
{
	uint64_t bytes = words->numbers[0], n = words->numbers[1];
	fprintf(to, "num_ranks %" PRIu64 "\n", 2 * n);
	for (uint64_t i = 0; i < n; i++) {
		fprintf(to,
			"rank %" PRIu64 " {\nl1: send %" PRIu64 "b to %" PRIu64
			" tag 0\nl2: recv %" PRIu64 "b from %" PRIu64 " tag 1\n}\n",
			i, bytes, i + n, bytes, i + n);
		fprintf(to,
			"rank %" PRIu64 " {\nl1: recv %" PRIu64 "b from %" PRIu64
			" tag 0\nl2: send %" PRIu64 "b to %" PRIu64
			" tag 1\nl2 requires l1\n}\n",
			i + n, bytes, i, bytes, i);
	}
}

static double half_us(double seconds, const struct tb_recipe_words *words)
{
	(void)words;
	return seconds / 2 * 1e6;
}

// stream BYTES PAIRS: a window of messages of each pair.
static void write_stream(FILE *to, const struct tb_recipe_words *words)
{
	uint64_t bytes = words->numbers[0], n = words->numbers[1];
	fprintf(to, "num_ranks %" PRIu64 "\n", 2 * n);
	for (uint64_t rank = 0; rank < 2 * n; rank++) {
		bool sends = rank < n;
		fprintf(to, "rank %" PRIu64 " {\n", rank);
		for (int i = 1; i <= WINDOW; i++)
			fprintf(to, "l%d: %s %" PRIu64 "b %s %" PRIu64 " tag %d\n", i,
				sends ? "send" : "recv", bytes, sends ? "to" : "from",
				sends ? rank + n : rank - n, i);
		fputs("}\n", to);
	}
}

static double stream_gb_per_s(double seconds, const struct tb_recipe_words *words)
{
	return WINDOW * (double)words->numbers[1] * (double)words->numbers[0] / seconds /
	       1e9;
}

// sendrecv BYTES RANKS: each to the next, around.
static void write_sendrecv(FILE *to, const struct tb_recipe_words *words)
{
	uint64_t bytes = words->numbers[0], n = words->numbers[1];
	fprintf(to, "num_ranks %" PRIu64 "\n", n);
	for (uint64_t i = 0; i < n; i++)
		fprintf(to,
			"rank %" PRIu64 " {\nl1: send %" PRIu64 "b to %" PRIu64
			" tag 0 cpu 0\nl2: recv %" PRIu64 "b from %" PRIu64
			" tag 0 cpu 1\n}\n",
			i, bytes, (i + 1) % n, bytes, (i + n - 1) % n);
}

static double us(double seconds, const struct tb_recipe_words *words)
{
	(void)words;
	return seconds * 1e6;
}

// The collectives of profiles, and whether what goes in or comes out is but a rank's
// block.
static const struct {
	const char *name, *recorded, *kernel;
	bool block_in, block_out;
} collectives[] = {
	{"allreduce", "allreduce", "AllReduce_Sum_f32_RING_SIMPLE", false, false},
	{"broadcast", "broadcast", "Broadcast_RING_SIMPLE", false, false},
	{"reduce", "reduce", "Reduce_Sum_f32_RING_SIMPLE", false, false},
	{"allgather", "_allgather_base", "AllGather_RING_SIMPLE", true, false},
	{"reduce-scatter", "_reduce_scatter_base", "ReduceScatter_Sum_f32_RING_SIMPLE",
		false, true},
	{"alltoall", "all_to_all", "SendRecv", false, false},
};

// collective OPERATION BYTES RANKS: one call, as a profile of PyTorch has it; BYTES are
// those of the whole vector.
static void write_collective(FILE *to, const struct tb_recipe_words *words)
{
	uint64_t bytes = words->numbers[0], n = words->numbers[1];
	size_t at = 0, last = sizeof collectives / sizeof *collectives - 1;
	while (at < last && strcmp(collectives[at].name, words->word) != 0)
		at++;
	uint64_t block = bytes / n ? bytes / n : 1;
	uint64_t whole = collectives[at].block_in || collectives[at].block_out ||
					 at == last // all ranks' blocks are alike
				 ? block * n
				 : bytes;
	uint64_t in = collectives[at].block_in ? block : whole;
	uint64_t out = collectives[at].block_out ? block : whole;
	fprintf(to,
		"{\"schemaVersion\": 1, \"distributedInfo\": {\"backend\": \"nccl\", "
		"\"rank\": 0, \"world_size\": %" PRIu64
		"}, \"traceEvents\": [{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": "
		"\"ncclDevKernel_%s\", \"pid\": 0, \"tid\": 7, \"ts\": 1000, \"dur\": "
		"100, \"args\": {\"External id\": 10, \"correlation\": 10, \"stream\": "
		"7, \"device\": 0, \"Collective name\": \"%s\", \"In msg nelems\": "
		"%" PRIu64 ", \"Out msg nelems\": %" PRIu64 ", \"Group size\": %" PRIu64
		", \"dtype\": \"Byte\", \"In split size\": \"[]\", \"Out split size\": "
		"\"[]\", \"Process Group Name\": \"0\", \"Process Group Description\": "
		"\"default_pg\", \"Process Group Ranks\": \"[0",
		n, collectives[at].kernel, collectives[at].recorded, in, out, n);
	for (uint64_t i = 1; i < n; i++)
		fprintf(to, ", %" PRIu64, i);
	fputs("]\"}}]}\n", to);
}

static double after_lead(double seconds, const struct tb_recipe_words *words)
{
	return seconds - words->lead_s;
}

const struct tb_recipe_kind tb_recipe_kinds[] = {
	{"pingpong", false, 2, ".goal", write_pingpong, half_us},
	{"stream", false, 2, ".goal", write_stream, stream_gb_per_s},
	{"sendrecv", false, 2, ".goal", write_sendrecv, us},
	{"collective", true, 2, ".json", write_collective, us},
	{"file", true, 0, "", NULL, after_lead},
	{"pattern", true, 0, "", NULL, NULL},
	{0},
};

// Saturated patterns on a 4-ary 3-tree, as BookSim2 was asked: docs/validation.md.

enum { N_NODES = 64, PACKET_BYTES = 65 * 64 };

int tb_recipe_pattern(
	double *share, const char *pattern, const char *network, struct tb_error *error)
{
	const struct tb_experiment experiment = {.name = pattern,
		.kind = TB_EXPERIMENT_PATTERN,
		.n_nodes = N_NODES,
		.n_active = N_NODES,
		.pattern = pattern,
		.message_bytes = PACKET_BYTES,
		.sizes = TB_SIZES_FIXED,
		.warm_us = 200,
		.window_us = 800};
	const struct tb_experiment_options options = {.seed = 1};
	struct tb_network_params params;
	struct tb_network *net = NULL;
	struct tb_outcome *outcome = NULL;
	int status = tb_network_open_params(&params, NULL, network, error);
	if (status == TB_OK)
		status =
			tb_experiment_network(&net, &experiment, &params, network, error);
	if (status == TB_OK)
		status = tb_experiment_run(&outcome, &experiment, net, &options, error);
	double sum = 0;
	uint32_t n = 0;
	for (uint32_t i = 0; status == TB_OK && i < outcome->n_nodes; i++)
		if (outcome->nodes[i].role == TB_ROLE_SENDER) {
			sum += outcome->nodes[i].sent_bps;
			n++;
		}
	if (status == TB_OK)
		*share = n ? sum / n / (double)params.link_bytes_per_s : NAN;
	tb_outcome_free(outcome);
	tb_network_free(net);
	return status;
}

enum { ARGUMENTS_MOST = 40 };

// A recipe, taken apart.
struct recipe_run {
	const char *recipe, *folder;
	char *text, *rest; // a copy that words point into; behind the colon
	const struct tb_recipe_kind *kind;
	struct tb_recipe_words words;
	struct tb_temporary scratch;
	char job[PATH_MAX], store[TB_TEMPORARY_FILE_BYTES], log[TB_TEMPORARY_FILE_BYTES];
};

static const char long_mark[] = "long ";

bool tb_recipe_is_long(const char *recipe)
{
	return strncmp(recipe, long_mark, sizeof long_mark - 1) == 0;
}

static int no_recipe(const struct recipe_run *run, struct tb_error *error)
{
	return tb_fail(error, TB_EFORMAT,
		"'%s' is no recipe: expected JOB NUMBERS: OPTIONS", run->recipe);
}

static bool read_recipe_numbers(struct recipe_run *run, char **words)
{
	for (int i = 0; i < run->kind->n_numbers; i++) {
		const char *word = strsep(words, " ");
		if (!word || tb_parse_count(word, 1, UINT64_MAX,
				     &run->words.numbers[i]) != TB_OK)
			return false;
	}
	const char *lead = *words ? strsep(words, " ") : NULL;
	return !*words &&
	       (!lead || tb_parse_real(lead, 0, 1e6, &run->words.lead_s) == TB_OK);
}

// take_apart finds the kind, its word and numbers.
static int take_apart(struct recipe_run *run, struct tb_error *error)
{
	const char *begin = run->recipe;
	if (tb_recipe_is_long(begin))
		begin += sizeof long_mark - 1;
	run->text = strdup(begin);
	if (!run->text)
		return tb_fail_memory(error, "a row");
	run->rest = strstr(run->text, ": ");
	if (!run->rest)
		return no_recipe(run, error);
	*run->rest = '\0';
	run->rest += 2;
	char *words = run->text;
	const char *name = strsep(&words, " ");
	const struct tb_recipe_kind *kind = tb_recipe_kinds;
	while (kind->name && strcmp(kind->name, name) != 0)
		kind++;
	run->kind = kind;
	if (!kind->name)
		return no_recipe(run, error);
	const char *word = kind->has_word ? strsep(&words, " ") : "";
	if (!word || strlen(word) >= sizeof run->words.word)
		return no_recipe(run, error);
	strcpy(run->words.word, word);
	return read_recipe_numbers(run, &words) ? TB_OK : no_recipe(run, error);
}

static bool is_capture_file(const struct recipe_run *run)
{
	return !run->kind->write && run->kind->figure;
}

int tb_recipe_check(const char *recipe, const char *folder, char *lacks, size_t size,
	struct tb_error *error)
{
	struct recipe_run run = {.recipe = recipe};
	char path[PATH_MAX];
	int status = take_apart(&run, error);
	bool is_lacking = false;
	if (status == TB_OK && is_capture_file(&run)) {
		snprintf(path, sizeof path, "%s/%s", folder, run.words.word);
		is_lacking = access(path, R_OK) != 0;
	}
	if (status == TB_OK)
		snprintf(lacks, size, "%s", is_lacking ? run.words.word : "");
	free(run.text);
	return status;
}

static int write_job(struct recipe_run *run, struct tb_error *error)
{
	tb_temporary_file(&run->scratch, "run.db", run->store);
	tb_temporary_file(&run->scratch, "log", run->log);
	if (is_capture_file(run)) {
		snprintf(
			run->job, sizeof run->job, "%s/%s", run->folder, run->words.word);
		return TB_OK;
	}
	snprintf(run->job, sizeof run->job, "%s/job%s", run->scratch.path,
		run->kind->suffix);
	FILE *file = fopen(run->job, "w");
	if (file)
		run->kind->write(file, &run->words);
	if (!file || fclose(file) != 0)
		return tb_fail_in(
			error, TB_EIO, run->job, "cannot write it: %s", strerror(errno));
	return TB_OK;
}

// last_line makes the last line of the log the error's sentence.
static int last_line(const struct recipe_run *run, struct tb_error *error)
{
	char line[400] = "", read[400];
	FILE *file = fopen(run->log, "r");
	while (file && fgets(read, sizeof read, file))
		if (read[0] != '\n')
			strcpy(line, read);
	if (file)
		fclose(file);
	line[strcspn(line, "\n")] = '\0';
	return tb_fail(error, TB_EUSAGE, "%s", line);
}

// replay_recipe runs the job, with one thread: other rows are replayed at once.
static int replay_recipe(struct recipe_run *run, struct tb_error *error)
{
	const char *arguments[ARGUMENTS_MOST + 12] = {"replay", run->job, "-q",
		"--no-blame", "--threads", "1", "-o", run->store};
	size_t n = 8;
	char clones[32];
	struct tb_child child = {0};
	if (run->kind->has_word && run->kind->write) {
		snprintf(clones, sizeof clones, "%llu",
			(unsigned long long)run->words.numbers[1]);
		arguments[n++] = "--clone-ranks";
		arguments[n++] = clones;
	}
	char *rest = run->rest;
	for (char *word; n < ARGUMENTS_MOST && (word = strsep(&rest, " ")) != NULL;)
		if (*word)
			arguments[n++] = word;
	const struct tb_child_options options = {
		.arguments = arguments, .input = -1, .log = run->log, .output = run->log};
	int status = tb_child_start(&child, &options, error);
	if (status != TB_OK)
		return status;
	return tb_child_wait(&child) == 0 ? TB_OK : last_line(run, error);
}

static int read_recipe_time(
	const struct recipe_run *run, double *seconds, struct tb_error *error)
{
	struct tb_run *stored = NULL;
	int status = tb_run_open(&stored, run->store, 0, error);
	if (status == TB_OK)
		*seconds =
			(double)tb_run_info(stored)->simulated_ps / (double)TB_PS_PER_S;
	tb_run_free(stored);
	return status;
}

static int measure_recipe(struct recipe_run *run, double *figure, struct tb_error *error)
{
	double seconds = 0;
	int status = tb_temporary_init(&run->scratch, "a row", error);
	if (status == TB_OK)
		status = write_job(run, error);
	if (status == TB_OK)
		status = replay_recipe(run, error);
	if (status == TB_OK)
		status = read_recipe_time(run, &seconds, error);
	if (status == TB_OK)
		*figure = run->kind->figure(seconds, &run->words);
	tb_temporary_fini(&run->scratch);
	return status;
}

int tb_recipe_run(
	double *figure, const char *recipe, const char *folder, struct tb_error *error)
{
	struct recipe_run run = {.recipe = recipe, .folder = folder};
	int status = take_apart(&run, error);
	if (status == TB_OK)
		status = run.kind->figure ? measure_recipe(&run, figure, error)
					  : tb_recipe_pattern(figure, run.words.word,
						    run.rest, error);
	free(run.text);
	return status;
}

void tb_recipe_folder(char *folder, size_t size)
{
	static const char *const places[] = {
		"validation", "../share/tailback/validation"};
	char own[PATH_MAX / 2];
	ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
	for (size_t i = 0; n > 0 && i < sizeof places / sizeof *places; i++) {
		own[n] = '\0';
		*(strrchr(own, '/') + 1) = '\0';
		snprintf(folder, size, "%s%s", own, places[i]);
		if (access(folder, R_OK) == 0)
			return;
	}
	*folder = '\0';
}
