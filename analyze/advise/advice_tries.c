// What replays came to, from their stores.
#include "advice_impl.h"
#include "beside.h"
#include "child.h"
#include "flow_table.h"
#include "job_times.h"
#include "network_open.h"
#include "progress.h"
#include "seed_moves.h"
#include "switchings.h"
#include "temporary.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// A replay of a change: with the seeds that outcomes[first] and the next n - 1 have.
struct tb_try {
	size_t change;
	uint32_t first, n;
	bool fluid; // by the fluid model, whose gain is `foreseen`
};

struct tb_tries {
	struct tb_advice *advice;
	const struct tb_advice_options *options;
	struct tb_temporary folder;
	double began_s;
	double share; // of all the work that is done, for who watches
};

// note_moves keeps what the seed usually moves, of the run as it was or of the change,
// whichever is more.
static void note_moves(struct tb_change *change, const struct tb_run_info *own,
	const struct tb_run_info *info)
{
	static const enum tb_seed_figure figures[] = {TB_SEED_RUN_TIME, TB_SEED_LATENCY};
	for (int i = 0; i < 2; i++) {
		double of_own = tb_seed_moves(own, figures[i]);
		double of_change = tb_seed_moves(info, figures[i]);
		change->moves[i] = of_own > of_change ? of_own : of_change;
	}
}

static int read_outcome(struct tb_advice *advice, struct tb_change *change,
	struct tb_tried_run *outcome, const char *store, int64_t id,
	struct tb_error *error)
{
	struct tb_run *run = NULL;
	const struct tb_link_sample *samples = NULL;
	int status = tb_run_open(&run, store, id, error);
	if (status == TB_OK)
		status = tb_run_look(run, (struct tb_window){0, 0}, &samples, error);
	if (status == TB_OK) {
		struct tb_flow_table flows = {0};
		double latency_ps = 0, n_messages = 0;
		status = tb_flow_table_init(&flows, run, error);
		for (uint32_t i = 0; status == TB_OK && i < flows.n; i++) {
			latency_ps += (double)flows.rows[i].latency_ps;
			n_messages += (double)flows.rows[i].n_messages;
		}
		outcome->latency_ps = n_messages > 0 ? latency_ps / n_messages : 0;
		tb_flow_table_fini(&flows);
	}
	if (status == TB_OK) {
		struct tb_jobs jobs = {0};
		struct tb_job_times *times = NULL;
		status = tb_jobs_init(&jobs, run, error);
		if (status == TB_OK)
			status = tb_job_times_init(&times, &jobs, run, error);
		if (status == TB_OK) {
			outcome->job_ps = calloc(jobs.n + 1u, sizeof *outcome->job_ps);
			if (!outcome->job_ps)
				status = tb_fail_memory(error, "the jobs");
		}
		outcome->n_nodes = 0;
		for (uint32_t i = 0; i < jobs.n && status == TB_OK; i++) {
			outcome->job_ps[i] =
				times[i].run.known ? (double)times[i].run.run_ps : 0;
			outcome->n_nodes += jobs.jobs[i].n_nodes;
		}
		free(times);
		tb_jobs_fini(&jobs);
	}
	if (status == TB_OK && tb_run_info(run)->n_jobs != advice->info->n_jobs)
		status = tb_fail(error, TB_EUSAGE, "it has other jobs");
	if (status == TB_OK) {
		outcome->run_ps = (double)tb_run_info(run)->simulated_ps;
		outcome->n_undelivered = tb_run_info(run)->n_undelivered;
		outcome->n_messages = tb_run_info(run)->n_messages;
		outcome->wait_ps = 0;
		for (uint32_t i = 0; i < tb_run_info(run)->n_links; i++)
			outcome->wait_ps += (double)samples[i].wait_ps;
		outcome->known = true;
		note_moves(change, advice->info, tb_run_info(run));
	}
	tb_run_free(run);
	return status;
}

// try_read reads what the runs of a store came to, with the seeds of a try.
static int try_read(struct tb_advice *advice, const struct tb_try *of, const char *store,
	struct tb_error *error)
{
	struct tb_change *change = &advice->changes[of->change];
	struct tb_runs *runs = NULL;
	uint32_t n = 0;
	int status = tb_runs_open(&runs, store, error);
	if (status == TB_OK && of->change == 0 && tb_runs_n(runs) &&
		strcmp(tb_runs_at(runs, 0)->input_digest, advice->info->input_digest) !=
			0)
		status = tb_fail(error, TB_EUSAGE,
			"%s is not the file that run %" PRId64 " replayed",
			advice->info->input_name, advice->info->id);
	if (status == TB_OK && of->fluid) {
		// Keep the run time of a replay by the fluid model.
		if (tb_runs_n(runs))
			change->foreseen = (double)tb_runs_at(runs, 0)->simulated_ps;
	}
	for (size_t k = 0; status == TB_OK && !of->fluid && k < tb_runs_n(runs); k++) {
		const struct tb_run_info *info = tb_runs_at(runs, k);
		// Where the outcome of a run goes; NULL: it is none of the try's.
		uint64_t at = info->seed - advice->info->seed;
		bool is_ours = at >= of->first && at < (uint64_t)of->first + of->n;
		struct tb_tried_run *outcome = is_ours && !change->outcomes[at].known
						       ? &change->outcomes[at]
						       : NULL;
		if (!outcome)
			continue;
		status = read_outcome(advice, change, outcome, store, info->id, error);
		n++;
	}
	tb_runs_free(runs);
	if (status == TB_OK && !of->fluid && n < of->n)
		status = tb_fail(error, TB_ESTOPPED, "it did not come to its end");
	return status;
}

// Replays changes, several at once, each try into a store of its own.

// One call of tries_run.
struct try_batch {
	struct tb_tries *tries;
	const struct tb_try *list;
	struct tb_child *children; // by try
	double *begun_s;	   // by try
	size_t n_begun, n_ended, n;
};

static void try_path(const struct tb_tries *tries, size_t i, const char *what,
	char path[TB_TEMPORARY_FILE_BYTES])
{
	snprintf(path, TB_TEMPORARY_FILE_BYTES, "%s/%zu.%s", tries->folder.path, i, what);
}

// word_try makes the words of a try's replay.
static int word_try(struct tb_replay_command *words, const struct tb_tries *tries,
	const struct tb_try *of, struct tb_error *error)
{
	const struct tb_change *change = &tries->advice->changes[of->change];
	uint64_t first = tries->advice->info->seed + of->first;
	char seeds[64];
	if (tb_replay_command_read(words, change->command) != TB_OK)
		return tb_fail_memory(error, "a replay");
	tb_advice_name_files(words, change->files, change->n_files, tries->folder.path);
	tb_replay_command_lighten(words);
	if (of->fluid)
		tb_replay_command_network(words, "switching", "fluid");
	if (of->n == 1)
		snprintf(seeds, sizeof seeds, "%" PRIu64, first);
	else
		snprintf(seeds, sizeof seeds, "%" PRIu64 "..%" PRIu64, first,
			first + of->n - 1);
	tb_replay_command_set(words, "--seed", seeds);
	return words->failed ? tb_fail_memory(error, "a replay") : TB_OK;
}

// network_draws returns whether replays on the network of a command may differ by the
// seed. A fabric that a change writes is the run's own, with other cables.
static bool network_draws(
	const struct tb_advice *advice, const struct tb_change *change, const char *name)
{
	struct tb_network_params params = advice->info->network;
	bool is_written = false;
	for (size_t i = 0; i < change->n_files; i++)
		is_written |= change->files[i].kind == TB_ADVICE_FILE_FABRIC;
	if (is_written ? strstr(name, "ascent=") || strstr(name, "congestion_control=")
		       : tb_network_open_params(&params, NULL, name, NULL) != TB_OK)
		return true;
	return tb_switching_draws(&params);
}

// varies_by_seed returns whether replays of a change may differ by the seed.
static bool varies_by_seed(const struct tb_advice *advice, struct tb_change *change)
{
	struct tb_replay_command words = {0};
	if (change->varies)
		return change->varies > 0;
	change->varies = 1;
	if (tb_replay_command_read(&words, change->command) == TB_OK)
		for (size_t i = 0; i + 1 < words.n; i++)
			if (strcmp(words.words[i], "--network") == 0 &&
				!network_draws(advice, change, words.words[i + 1]))
				change->varies = -1;
	// What is inferred of a capture may depend on replays.
	for (size_t i = 0; i < words.n; i++)
		if (strstr(words.words[i], "placement=random") ||
			strstr(words.words[i], "closed-loop"))
			change->varies = 1;
	tb_replay_command_fini(&words);
	return change->varies > 0;
}

// copy_outcome gives the seeds before `end` the outcome of the first one, if it is known.
static int copy_outcome(const struct tb_advice *advice, struct tb_change *change,
	uint32_t end, struct tb_error *error)
{
	const struct tb_tried_run *first = &change->outcomes[0];
	size_t n = advice->info->n_jobs + (size_t)1;
	for (uint32_t i = 1; i < end && first->known; i++) {
		struct tb_tried_run *outcome = &change->outcomes[i];
		if (outcome->known)
			continue;
		double *job_ps = malloc(n * sizeof *job_ps);
		if (!job_ps)
			return tb_fail_memory(error, "the replays");
		memcpy(job_ps, first->job_ps, n * sizeof *job_ps);
		*outcome = *first;
		outcome->job_ps = job_ps;
	}
	return TB_OK;
}

// make_arguments lists those of a replay into a store; free(), NULL without memory.
static const char **make_arguments(
	const struct tb_replay_command *words, const char *store)
{
	const char **arguments = calloc(words->n + 8, sizeof *arguments);
	size_t n = 0;
	if (!arguments)
		return NULL;
	arguments[n++] = "replay";
	for (size_t k = 0; k < words->n; k++)
		arguments[n++] = words->words[k];
	arguments[n++] = "-q";
	arguments[n++] = "--jobs=1";
	arguments[n++] = "-o";
	arguments[n++] = store;
	return arguments;
}

static int start(struct try_batch *b, size_t i, const struct tb_replay_command *words,
	struct tb_error *error)
{
	char store[TB_TEMPORARY_FILE_BYTES], said[TB_TEMPORARY_FILE_BYTES];
	try_path(b->tries, i, "db", store);
	try_path(b->tries, i, "said", said);
	const char **arguments = make_arguments(words, store);
	if (!arguments)
		return tb_fail_memory(error, "a replay");
	const struct tb_advice_options *options = b->tries->options;
	const struct tb_child_options child = {.arguments = arguments,
		.input = -1,
		.apart = true,
		.log = said,
		.run = options->run_replay,
		.context = options->replay_context};
	int status = tb_child_start(&b->children[i], &child, error);
	b->begun_s[i] = tb_clock_s();
	free(arguments);
	return status;
}

static void remove_store(const struct tb_tries *tries, size_t i)
{
	static const char *const endings[] = {"db", "db-journal", "said"};
	for (size_t k = 0; k < sizeof endings / sizeof *endings; k++) {
		char path[TB_TEMPORARY_FILE_BYTES];
		try_path(tries, i, endings[k], path);
		unlink(path);
	}
}

// end takes what a try came to. By the fluid model one may fail: it cannot do all that
// packets can.
static int end(struct try_batch *b, size_t i, int code, struct tb_error *error)
{
	const struct tb_try *of = &b->list[i];
	struct tb_change *change = &b->tries->advice->changes[of->change];
	struct tb_error of_store = {0};
	char path[TB_TEMPORARY_FILE_BYTES], why[256];
	int status = code == 0 ? TB_OK : TB_EIO;
	try_path(b->tries, i, "said", path);
	if (code != 0)
		tb_beside_sentence(path, why, sizeof why);
	try_path(b->tries, i, "db", path);
	if (code == 0)
		status = try_read(b->tries->advice, of, path, &of_store);
	remove_store(b->tries, i);
	b->n_ended++;
	if (status == TB_OK && !of->fluid && !varies_by_seed(b->tries->advice, change))
		return copy_outcome(
			b->tries->advice, change, b->tries->advice->n_seeds, error);
	if (status == TB_OK || of->fluid)
		return TB_OK;
	if (of->change == 0 && status == TB_EUSAGE) {
		*error = of_store;
		return status;
	}
	snprintf(change->why, sizeof change->why, "%.250s",
		code == 0 ? of_store.text : why);
	change->verdict = TB_VERDICT_FAILED;
	return of->change == 0
		       ? tb_fail(error, TB_EIO,
				 "the run as it was cannot be replayed: %s", change->why)
		       : TB_OK;
}

static bool tries_time_is_up(const struct tb_tries *tries)
{
	return tb_stop_asked(tries->options->stop) ||
	       (tries->options->seconds > 0 &&
		       tb_clock_s() - tries->began_s > tries->options->seconds);
}

// step begins what there is room for and takes what has ended.
static int step(struct try_batch *b, struct tb_error *error)
{
	int status = TB_OK, code;
	while (status == TB_OK && b->n_begun < b->n &&
		b->n_begun - b->n_ended < b->tries->options->n_at_once) {
		size_t i = b->n_begun++;
		const struct tb_tries *tries = b->tries;
		struct tb_replay_command words = {0};
		status = tb_advice_files_write(&tries->advice->changes[b->list[i].change],
			tries->folder.path, error);
		if (status == TB_OK)
			status = word_try(&words, tries, &b->list[i], error);
		if (status == TB_OK)
			status = start(b, i, &words, error);
		tb_replay_command_fini(&words);
	}
	for (size_t i = 0; i < b->n_begun && status == TB_OK; i++)
		if (b->children[i].pid && tb_child_ended(&b->children[i], &code))
			status = end(b, i, code, error);
	return status;
}

// n_done returns how many replays have been done, those under way as far as they are when
// they take as long as the run did.
static double n_done(const struct try_batch *b)
{
	const double run_s = b->tries->advice->info->wall_s, now_s = tb_clock_s();
	double n = (double)b->n_ended;
	for (size_t i = 0; i < b->n_begun && run_s > 0; i++)
		if (b->children[i].pid)
			n += fmin(0.95,
				(now_s - b->begun_s[i]) / (run_s * (double)b->list[i].n));
	return n;
}

// tries_run returns when all replays have ended, or the time is up: what was cut off
// leaves no outcome. The share of the work that is done is `to` then. A change that fails
// gets its verdict; TB_EIO when it is the run as it was.
static int tries_run(struct tb_tries *tries, const struct tb_try *list, size_t n,
	double to, struct tb_error *error)
{
	static const struct timespec pause = {.tv_nsec = 20 * 1000 * 1000};
	const struct tb_advice_options *options = tries->options;
	struct try_batch b = {.tries = tries,
		.list = list,
		.n = n,
		.children = calloc(n + 1, sizeof *b.children),
		.begun_s = calloc(n + 1, sizeof *b.begun_s)};
	int status =
		b.children && b.begun_s ? TB_OK : tb_fail_memory(error, "the replays");
	while (status == TB_OK && b.n_ended < n && !tries_time_is_up(tries)) {
		status = step(&b, error);
		if (options->watch)
			options->watch(options->context,
				tries->share +
					(to - tries->share) * n_done(&b) / (double)n);
		nanosleep(&pause, NULL);
	}
	for (size_t i = 0; i < b.n_begun; i++) {
		// Twice, for after the first signal it would store what it has.
		if (b.children[i].pid) {
			kill(b.children[i].pid, SIGTERM);
			kill(b.children[i].pid, SIGKILL);
			tb_child_wait(&b.children[i]);
		}
		remove_store(b.tries, i); // of one that did not start, too
	}
	free(b.children);
	free(b.begun_s);
	tries->share = to;
	return status;
}

// Which changes are worth packets: the fluid model chooses, where it may.
//
// It may where a replay with packets takes long and the model is known to be near
// (docs/fluid.md): jobs, of messages that are long against packets, of which it takes the
// run time to be what packets make it. It leaves out what it foresees no gain of. Ascents
// it never judges, for what adaptive ones gain is in packets that block one another, nor
// what fewer cables cost, nor what findings propose, nor what it refuses (faults, service
// levels).

// Fewer packets take about a second.
#define PACKETS_LEAST 500000
// A message, mean over bytes, in full packets: of 16, bit-reversal is 5 % off.
#define MESSAGE_LEAST 64
// The run as it was, in percent: what adaptive ascents are off is above.
#define OFF_MOST 5.0
// Fewer changes are replayed before they are chosen.
#define CHANGES_LEAST 4

static bool may_screen(const struct tb_change *change)
{
	return change->verdict < TB_VERDICT_FAILED && !change->proposal &&
	       change->id != TB_RULE_ASCENT && change->id != TB_RULE_FEWER_CABLES;
}

// mean_message stores how long messages are, mean over bytes.
static int mean_message(
	const struct tb_advice *advice, double *bytes, struct tb_error *error)
{
	struct tb_flow_table flows = {0};
	double sum = 0, squares = 0;
	int status = tb_flow_table_init(&flows, advice->run, error);
	for (uint32_t i = 0; status == TB_OK && i < flows.n; i++) {
		const struct tb_flow_sample *flow = &flows.rows[i];
		sum += (double)flow->bytes;
		if (flow->n_messages)
			squares += (double)flow->bytes * (double)flow->bytes /
				   (double)flow->n_messages;
	}
	*bytes = sum > 0 ? squares / sum : 0;
	tb_flow_table_fini(&flows);
	return status;
}

// asks_fluid returns whether it may choose, and states why not where somebody could
// expect it.
static int asks_fluid(struct tb_advice *advice, const struct tb_advice_options *options,
	bool *asks, struct tb_error *error)
{
	const struct tb_network_params *network = &advice->info->network;
	double bytes = 0;
	size_t n = 0;
	*asks = false;
	for (size_t i = 1; i < advice->n; i++)
		n += may_screen(&advice->changes[i]);
	if (options->exact || advice->by != TB_ADVICE_BY_RUN || n < CHANGES_LEAST ||
		advice->info->n_packets < PACKETS_LEAST ||
		strcmp(network->switching, "fluid") == 0)
		return TB_OK;
	int status = mean_message(advice, &bytes, error);
	*asks = bytes >= (double)MESSAGE_LEAST * network->packet_payload_bytes;
	if (status == TB_OK && !*asks)
		snprintf(advice->screening, sizeof advice->screening,
			"Messages are too short for the fluid model to choose: all "
			"changes are replayed with packets.");
	return status;
}

// off_percent returns how much longer the fluid model takes the run as it was to be.
static double off_percent(const struct tb_advice *advice)
{
	return 100 *
	       (advice->changes[0].foreseen / (double)advice->info->simulated_ps - 1);
}

// leave_out_foreseen gives what the fluid model foresees no gain of its verdict.
static void leave_out_foreseen(struct tb_advice *advice)
{
	double own_ps = advice->changes[0].foreseen;
	double off = off_percent(advice);
	size_t n = 0, n_out = 0;
	for (size_t i = 1; i < advice->n; i++) {
		struct tb_change *change = &advice->changes[i];
		change->foreseen = 100 * (own_ps - change->foreseen) / own_ps;
		if (isnan(change->foreseen) || fabs(off) > OFF_MOST)
			continue;
		n++;
		if (change->foreseen >= TB_ADVICE_MATTERS)
			continue;
		change->verdict = TB_VERDICT_SCREENED;
		n_out++;
	}
	advice->screens = fabs(off) <= OFF_MOST;
	if (isnan(off))
		snprintf(advice->screening, sizeof advice->screening,
			"The fluid model cannot replay the run: all changes are replayed "
			"with packets.");
	else if (!advice->screens)
		snprintf(advice->screening, sizeof advice->screening,
			"The fluid model takes the run to be %.1f %% %s than packets do, "
			"and so chooses nothing: all changes are replayed with packets.",
			fabs(off), off < 0 ? "shorter" : "longer");
	else
		snprintf(advice->screening, sizeof advice->screening,
			"The fluid model, %.1f %% off, looked at %zu changes and "
			"foresees no gain of %zu, which are not replayed with packets.",
			fabs(off), n, n_out);
}

// screen_changes lets the fluid model choose among the changes, where it may.
static int screen_changes(struct tb_tries *tries, double to, struct tb_error *error)
{
	struct tb_advice *advice = tries->advice;
	bool asks;
	int status = asks_fluid(advice, tries->options, &asks, error);
	if (status != TB_OK || !asks)
		return status;
	struct tb_try *list = calloc(advice->n, sizeof *list);
	size_t n = 0;
	if (!list)
		return tb_fail_memory(error, "the replays");
	for (size_t i = 0; i < advice->n; i++)
		if (i == 0 || may_screen(&advice->changes[i]))
			list[n++] = (struct tb_try){.change = i, .n = 1, .fluid = true};
	// Where the model is off, that one replay tells.
	status = tries_run(tries, list, 1, to / (double)n, error);
	if (status == TB_OK && fabs(off_percent(advice)) <= OFF_MOST)
		status = tries_run(tries, list + 1, n - 1, to, error);
	free(list);
	if (status == TB_OK && !tries_time_is_up(tries))
		leave_out_foreseen(advice);
	if (!advice->screens) {
		// Take back what it foresaw, where that is too far off or not whole.
		for (size_t i = 0; i < advice->n; i++)
			advice->changes[i].foreseen = (double)NAN;
	}
	return status;
}

// The stages of advice: what cannot help is left out, the rest replayed, the best again.

// Of the best so many are confirmed: more nobody reads first.
#define BEST 3
// Before the list of the best is what it was; each round doubles seeds.
#define ROUNDS_MOST 8

// The shares of the work, for who watches.
#define AFTER_SCREEN 0.15
#define AFTER_ONES   0.65
#define AFTER_ALL    0.75

struct try_list {
	struct tb_try *of;
	size_t n;
};

static bool is_live(const struct tb_change *change)
{
	return change->verdict < TB_VERDICT_FAILED;
}

// add_missing_tries adds a try of those seeds of a change below `end` that are not known:
// of the first one, where all come to the same.
static int add_missing_tries(struct tb_advice *advice, struct try_list *list,
	size_t change, uint32_t end, bool by_seed, struct tb_error *error)
{
	const struct tb_tried_run *outcomes = advice->changes[change].outcomes;
	if (end > 1 && !varies_by_seed(advice, &advice->changes[change])) {
		int status = copy_outcome(advice, &advice->changes[change], end, error);
		if (status != TB_OK)
			return status;
		end = 1;
	}
	for (uint32_t first = 0; first < end; first++) {
		uint32_t n = 0;
		while (first + n < end && !outcomes[first + n].known && (!by_seed || !n))
			n++;
		if (!n)
			continue;
		list->of[list->n++] =
			(struct tb_try){.change = change, .first = first, .n = n};
		first += n - 1;
	}
	return TB_OK;
}

static int make_list(
	const struct tb_advice *advice, struct try_list *list, struct tb_error *error)
{
	list->n = 0;
	list->of = calloc(advice->n * TB_ADVICE_SEEDS_MOST + 1, sizeof *list->of);
	return list->of ? TB_OK : tb_fail_memory(error, "the replays");
}

static size_t n_live(const struct tb_advice *advice)
{
	size_t n = 0;
	for (size_t i = 0; i < advice->n; i++)
		n += is_live(&advice->changes[i]);
	return n;
}

// list_tries lists what is not known of the seeds before `end`, of the run as it was and
// of all that is live and does not wait, what costs nothing first: of that alone unless
// `bought`. Where there are fewer changes than cores, each seed is a replay of its own.
static int list_tries(struct tb_tries *tries, struct try_list *list, uint32_t end,
	bool bought, struct tb_error *error)
{
	struct tb_advice *advice = tries->advice;
	int status = make_list(advice, list, error);
	for (int pass = 0; pass <= bought; pass++)
		for (size_t i = 0; i < advice->n && status == TB_OK; i++) {
			const struct tb_change *change = &advice->changes[i];
			if (is_live(change) && !change->waits &&
				change->needs_hardware == (pass == 1))
				status = add_missing_tries(advice, list, i, end,
					n_live(advice) < tries->options->n_at_once,
					error);
		}
	return status;
}

static int try_first(struct tb_tries *tries, uint32_t end, bool bought, double to,
	struct tb_error *error)
{
	struct try_list list;
	int status = list_tries(tries, &list, end, bought, error);
	if (status == TB_OK)
		status = tries_run(tries, list.of, list.n, to, error);
	free(list.of);
	if (status == TB_OK && tries->advice->changes[0].outcomes[0].known)
		tb_advice_judge(tries->advice);
	return status;
}

// What is asked of a change in a round of confirming.
struct asked {
	size_t change;
	uint32_t first;	       // of the fresh seeds
	struct tb_estimate by; // before
};

// may_help: a change of which it is unclear whether it helps, and more seeds would tell,
// if they scatter as those before.
static bool may_help(const struct tb_advice *advice, const struct tb_change *change)
{
	const struct tb_estimate *by = tb_advice_deciding(advice, change);
	const double n = change->n_seeds, most = TB_ADVICE_SEEDS_MOST;
	return change->verdict == TB_VERDICT_UNCLEAR && by->mean >= TB_ADVICE_MATTERS &&
	       change->n_seeds < TB_ADVICE_SEEDS_MOST &&
	       by->mean > by->half_ci * tb_student_t(TB_ADVICE_SEEDS_MOST) /
				  tb_student_t(change->n_seeds) * sqrt(n / most);
}

// next_best returns the change that helps most, or may, of those that are not among
// `best`, 0 without any.
static size_t next_best(const struct tb_advice *advice, const size_t *best, size_t n)
{
	size_t at = 0;
	double most = 0;
	for (size_t i = 1; i < advice->n; i++) {
		double mean = tb_advice_deciding(advice, &advice->changes[i])->mean;
		bool is_new = advice->changes[i].verdict == TB_VERDICT_HELPS ||
			      may_help(advice, &advice->changes[i]);
		for (size_t k = 0; k < n; k++)
			is_new = is_new && best[k] != i;
		if (is_new && (!at || mean > most)) {
			at = i;
			most = mean;
		}
	}
	return at;
}

// choose_best lists those of the best whose interval is not confirmed, or not clear.
static size_t choose_best(const struct tb_advice *advice, struct asked asked[BEST])
{
	size_t best[BEST], n = 0;
	for (size_t k = 0; k < BEST; k++) {
		best[k] = next_best(advice, best, k);
		if (!best[k])
			break;
		const struct tb_change *change = &advice->changes[best[k]];
		const struct tb_estimate *by = tb_advice_deciding(advice, change);
		if (!change->settled && by->half_ci > 0 &&
			change->n_seeds < TB_ADVICE_SEEDS_MOST)
			asked[n++] = (struct asked){best[k], change->n_seeds, *by};
	}
	return n;
}

static uint32_t end_of_asked(const struct asked *asked)
{
	uint32_t end = 2 * asked->first;
	return end < TB_ADVICE_SEEDS_MOST ? end : TB_ADVICE_SEEDS_MOST;
}

static int replay_fresh(struct tb_tries *tries, const struct asked *asked, size_t n,
	struct tb_error *error)
{
	struct try_list list;
	uint32_t most = 0;
	int status = make_list(tries->advice, &list, error);
	if (status)
		return status;
	for (size_t i = 0; i < n; i++)
		most = end_of_asked(&asked[i]) > most ? end_of_asked(&asked[i]) : most;
	bool by_seed = n + 1 < tries->options->n_at_once;
	status = add_missing_tries(tries->advice, &list, 0, most, by_seed, error);
	for (size_t i = 0; i < n && status == TB_OK; i++)
		status = add_missing_tries(tries->advice, &list, asked[i].change,
			end_of_asked(&asked[i]), by_seed, error);
	if (status == TB_OK)
		status = tries_run(tries, list.of, list.n, (tries->share + 1) / 2, error);
	free(list.of);
	return status;
}

// is_replayed returns whether all that was asked of a change is known: the time may have
// been up before.
static bool is_replayed(const struct tb_advice *advice, const struct asked *asked)
{
	const struct tb_change *change = &advice->changes[asked->change];
	for (uint32_t i = asked->first; i < end_of_asked(asked); i++)
		if (!change->outcomes[i].known || !advice->changes[0].outcomes[i].known)
			return false;
	return true;
}

// settle_asked compares what the fresh seeds gained with what those before had promised.
static void settle_asked(struct tb_advice *advice, const struct asked *asked)
{
	struct tb_change *change = &advice->changes[asked->change];
	if (!is_replayed(advice, asked))
		return;
	struct tb_estimate fresh =
		tb_advice_gain(advice, change, advice->by, asked->first);
	bool confirmed = fabs(fresh.mean - asked->by.mean) <= asked->by.half_ci;
	bool was_clear = asked->by.mean > asked->by.half_ci;
	change->settled = was_clear && confirmed;
	change->unsteady =
		was_clear && !confirmed && end_of_asked(asked) == TB_ADVICE_SEEDS_MOST;
}

static int confirm(struct tb_tries *tries, struct tb_error *error)
{
	struct asked asked[BEST];
	struct tb_advice *advice = tries->advice;
	int status = TB_OK;
	for (int round = 0; round < ROUNDS_MOST && status == TB_OK; round++) {
		tb_advice_judge(advice);
		size_t n = choose_best(advice, asked);
		if (!n || tries_time_is_up(tries))
			break;
		status = replay_fresh(tries, asked, n, error);
		for (size_t i = 0; i < n && status == TB_OK; i++)
			settle_asked(advice, &asked[i]);
	}
	tb_advice_judge(advice);
	return status;
}

// try_all_kinds replays what is live: what costs nothing before what is bought, and of
// each what waits when the rest is known. With a time to stop at, one seed of all comes
// before the others of any.
static int try_all_kinds(struct tb_tries *tries, struct tb_error *error)
{
	struct tb_advice *advice = tries->advice;
	const uint32_t n_seeds = advice->n_seeds;
	const uint32_t end = tries->options->seconds > 0 ? 1 : n_seeds;
	const double third = (AFTER_ONES - tries->share) / 3;
	int status = try_first(tries, end, false, tries->share + third, error);
	for (int bought = 0;
		bought <= 1 && status == TB_OK && advice->changes[0].outcomes[0].known;
		bought++) {
		tb_advice_cap(advice, bought == 1);
		status = try_first(tries, end, true, tries->share + third, error);
	}
	if (status == TB_OK && end < n_seeds)
		status = try_first(tries, n_seeds, true, AFTER_ONES, error);
	return status;
}

// try_live replays what is live, two changes that help together, and the best again.
static int try_live(struct tb_tries *tries, struct tb_error *error)
{
	struct tb_advice *advice = tries->advice;
	char took[48] = "";
	int status = try_all_kinds(tries, error);
	if (status == TB_OK && !advice->changes[0].outcomes[0].known) {
		bool asked = tb_stop_asked(tries->options->stop);
		if (!asked && advice->info->wall_s > 0)
			snprintf(took, sizeof took, " (it took %.3g s, with its bounds)",
				advice->info->wall_s);
		return tb_fail(error, TB_ESTOPPED,
			"stopped before the run as it was had been replayed%s%s",
			asked ? "" : ", which takes longer than --time", took);
	}
	if (status == TB_OK && tb_advice_add_pairs(advice, tries->options->most))
		status = try_first(tries, advice->n_seeds, true, AFTER_ALL, error);
	if (status == TB_OK && advice->n_seeds > 1)
		return confirm(tries, error);
	return status;
}

// foretell estimates how long the first replays take, from how long the run took.
static int foretell(struct tb_tries *tries, struct tb_error *error)
{
	const struct tb_advice_options *options = tries->options;
	const double run_s = tries->advice->info->wall_s;
	struct try_list list;
	uint64_t n = 0;
	int status = list_tries(tries, &list, tries->advice->n_seeds, true, error);
	for (size_t i = 0; i < list.n && status == TB_OK; i++)
		n += list.of[i].n;
	free(list.of);
	if (status == TB_OK && options->foretell && run_s > 0)
		options->foretell(options->context, n, run_s,
			run_s * (double)n / (double)options->n_at_once);
	return status;
}

// read_inputs has this process read what the replays will, which are forked from it.
static int read_inputs(struct tb_tries *tries, struct tb_error *error)
{
	const struct tb_advice_options *options = tries->options;
	const struct tb_try own = {.n = 1};
	struct tb_replay_command words = {0};
	const char **arguments = NULL;
	int status = word_try(&words, tries, &own, error);
	if (status == TB_OK && !(arguments = make_arguments(&words, "")))
		status = tb_fail_memory(error, "a replay");
	if (status == TB_OK)
		options->read_input(options->replay_context, arguments);
	free(arguments);
	tb_replay_command_fini(&words);
	return status;
}

int tb_advice_try(struct tb_advice *advice, const struct tb_advice_options *options,
	struct tb_error *error)
{
	struct tb_tries tries = {
		.advice = advice, .options = options, .began_s = tb_clock_s()};
	int status = tb_temporary_init(&tries.folder, "the stores of the changes", error);
	if (status == TB_OK)
		status = tb_advice_limit(advice, error);
	if (status == TB_OK && n_live(advice) > 1)
		status = foretell(&tries, error);
	if (status == TB_OK && n_live(advice) > 1)
		status = read_inputs(&tries, error);
	if (status == TB_OK)
		status = screen_changes(&tries, AFTER_SCREEN, error);
	if (status == TB_OK && n_live(advice) > 1)
		status = try_live(&tries, error);
	for (size_t i = 1; i < advice->n; i++)
		if (is_live(&advice->changes[i]) && advice->changes[i].n_seeds == 0)
			advice->changes[i].verdict = TB_VERDICT_CUT;
	tb_temporary_fini(&tries.folder);
	return status;
}
