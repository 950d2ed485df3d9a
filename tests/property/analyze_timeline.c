// Random jobs on every preset: the steps of the critical path follow each other from the
// beginning of the run to its end, its sums are those of its steps, what held it up is
// shared out to links without a rest, and the spans of each rank follow each other; a
// rank's computing is as long as its calcs.
#include "../support/timeline_made.h"

#include "preset.h"
#include "random.h"

#include <string.h>

#define STORE "analyze_timeline.db"
#define JOB   "analyze_timeline.goal"

enum { RANKS_MOST = 10, MESSAGES_MOST = 60, SEEDS = 20, START_NS = 7000 };

struct ops { // of one rank, as GOAL
	char text[16384];
	size_t length;
	uint32_t n;
	uint64_t calc_ns;
};

static struct ops ranks[RANKS_MOST];

static uint32_t below(struct tb_random *random, uint32_t bound)
{
	return (uint32_t)tb_random_below(random, bound);
}

// add adds an operation, which mostly waits for the end, or the start, of one before it.
static void add(struct tb_random *random, struct ops *ops, const char *what)
{
	size_t room = sizeof ops->text;
	ops->length += (size_t)snprintf(
		ops->text + ops->length, room - ops->length, "l%u: %s\n", ++ops->n, what);
	if (ops->n == 1 || below(random, 5) == 0)
		return;
	uint32_t on = below(random, 3) ? ops->n - 1 : 1 + below(random, ops->n - 1);
	ops->length += (size_t)snprintf(ops->text + ops->length, room - ops->length,
		"l%u %s l%u\n", ops->n, below(random, 6) ? "requires" : "irequires", on);
}

// draw_job writes a job of messages between random ranks, each of which computes now and
// then; returns how many ranks it has.
static uint32_t draw_job(struct tb_random *random)
{
	static const uint32_t sizes[] = {1, 3000, 60000, 300000};
	uint32_t n = 2 + below(random, RANKS_MOST - 1), most = sizes[below(random, 4)];
	char what[80];
	memset(ranks, 0, sizeof ranks);
	for (uint32_t tag = 1 + below(random, MESSAGES_MOST); tag > 0; tag--) {
		uint32_t from = below(random, n), to = below(random, n);
		uint32_t bytes = below(random, most);
		if (below(random, 2)) {
			uint32_t ns = below(random, 20000);
			snprintf(what, sizeof what, "calc %u", ns);
			add(random, &ranks[from], what);
			ranks[from].calc_ns += ns;
		}
		snprintf(what, sizeof what, "send %ub to %u tag %u", bytes, to, tag);
		add(random, &ranks[from], what);
		snprintf(what, sizeof what, "recv %ub from %u tag %u", bytes, from, tag);
		add(random, &ranks[to], what);
	}
	FILE *file = fopen(JOB, "w");
	assert_non_null(file);
	fprintf(file, "num_ranks %u\n", n);
	for (uint32_t i = 0; i < n; i++)
		fprintf(file, "rank %u {\n%s}\n", i, ranks[i].text);
	assert_int_equal(fclose(file), 0);
	return n;
}

static bool try_job(struct tb_random *random, const char *preset, uint64_t seed)
{
	static const char *const traces[] = {JOB};
	static const char *const jobs[] = {JOB ",start=7us"};
	uint32_t n_ranks = draw_job(random);
	bool later = below(random, 3) == 0;
	struct tb_recording_options options = {.workload = {.traces = traces,
						       .n_traces = !later,
						       .jobs = jobs,
						       .n_jobs = later,
						       .per_node = 1 + below(random, 3)},
		.network = preset,
		.output = STORE,
		.seed = seed};
	struct made made;
	if (!made_record(&made, &options))
		return false;
	tb_time_ps start = later ? (tb_time_ps)START_NS * TB_PS_PER_NS : 0;
	made_path_adds_up(&made);
	made_ranks_follow(&made, start);
	assert_int_equal(made.path.causes[TB_PATH_START], start);
	assert_int_equal(made.path.causes[TB_PATH_LOST], 0);
	for (uint32_t i = 0; i < n_ranks; i++)
		assert_int_equal(made_time(&made, i, TB_SPAN_COMPUTE),
			(tb_time_ps)ranks[i].calc_ns * TB_PS_PER_NS);
	made_drop(&made);
	return true;
}

static void the_path_adds_up_to_the_run_time(void **state)
{
	(void)state;
	uint32_t n = 0, n_all = 0;
	for (size_t preset = 0; tb_network_preset_name(preset); preset++)
		for (uint64_t seed = 1; seed <= SEEDS; seed++, n_all++) {
			struct tb_random random;
			tb_random_init(&random, seed, preset);
			print_message("%s, seed %" PRIu64 "\n",
				tb_network_preset_name(preset), seed);
			n += try_job(&random, tb_network_preset_name(preset), seed);
		}
	print_message("%u of %u jobs ran\n", n, n_all);
	assert_true(n > n_all / 2);
	unlink(STORE);
	unlink(JOB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_path_adds_up_to_the_run_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
