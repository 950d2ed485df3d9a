// The account of a run adds up, in the report as printed, whatever was replayed: random
// jobs and captures, open and in closed loop, several at once, on random variants of
// every preset, with packets and as a fluid; and the traces that come with the sources.
//
// Steps of the critical path fill the run exactly, and what held it up is shared out to
// links without rest. No bound, cost or window lies beyond the run. The sum of links'
// waits is that of flows, jobs, bins, roots and pairs, and the sum of jobs' messages
// that of flows and of the run.
//
// What is answered about random runs (report, timeline, comparison with the run before)
// is pinned, too: a hash for each preset and kind of run in tests/golden/account.txt.
#define RANDOM_RUN "analyze_account"
#include "../random_run.h"
#include "../viz_golden.h"

#include "compare.h"
#include "findings.h"
#include "json.h"
#include "recording_beside.h"
#include "report.h"
#include "run_timeline.h"

#define BEFORE "analyze_account_before.db" // the run before
#define DATA   "analyze_account_data"

enum { RUNS = 300, WIDTH = 80, LINES = 40 };
enum kind { SERVER, OWN_WAYS, TWO_JOBS, CLOSED, OPEN, KINDS };

struct account {
	const char *what; // was replayed
	json_t *report;
	tb_time_ps run_ps;
};

// How often what is checked was there to be checked.
struct seen {
	uint32_t n, n_waits, n_paths, n_held, n_costs, n_link_costs, n_medians, n_ideals,
		n_timeouts;
	double costs_ps, at_links_ps; // of links, where all are told
};

#define wrong(account, ...)                                                              \
	do {                                                                             \
		char text[600];                                                          \
		snprintf(text, sizeof text, __VA_ARGS__);                                \
		fail_msg("%s: %s", (account)->what, text);                               \
	} while (0)

static int64_t number(const json_t *row, const char *key)
{
	return json_integer_value(json_object_get(row, key));
}

static double real(const json_t *row, const char *key)
{
	return json_number_value(json_object_get(row, key));
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);
	return n >= m && strcmp(text + n - m, end) == 0;
}

// sum_of adds up a column of a list.
static int64_t sum_of(const struct account *account, const char *list, const char *key)
{
	int64_t sum = 0;
	size_t i;
	json_t *row;
	json_array_foreach(json_object_get(account->report, list), i, row) sum +=
		number(row, key);
	return sum;
}

static size_t length_of(const struct account *account, const char *list)
{
	return json_array_size(json_object_get(account->report, list));
}

static void check_sum(
	const struct account *account, const char *list, const char *key, int64_t right)
{
	int64_t sum = sum_of(account, list, key);
	if (sum != right)
		wrong(account, "%s.%s add up to %" PRId64 ", not %" PRId64, list, key,
			sum, right);
}

// check_link_costs: what links cost the run is what the path was held up at links,
// nearly all where routes tell for which link packets waited.
static void check_link_costs(const struct account *account, struct seen *seen)
{
	int64_t at_links = 0, costs = sum_of(account, "hot_links", "cost_ps");
	bool told = true;
	size_t i;
	json_t *row;
	json_array_foreach(json_object_get(account->report, "critical_links"), i, row)
	{
		bool known = !json_is_null(json_object_get(row, "link"));
		at_links += known ? number(row, "time_ps") : 0;
	}
	json_array_foreach(json_object_get(account->report, "hot_links"), i, row) told &=
		!json_is_null(json_object_get(row, "cost_ps"));
	if (costs > at_links)
		wrong(account, "links cost %" PRId64 " of %" PRId64, costs, at_links);
	seen->n_link_costs += told && costs > 0;
	seen->costs_ps += told ? (double)costs : 0;
	seen->at_links_ps += told ? (double)at_links : 0;
}

static tb_time_ps path_time(const struct account *account, const char *cause)
{
	size_t i;
	json_t *row;
	json_array_foreach(json_object_get(account->report, "critical_path"), i, row)
	{
		if (strcmp(json_string_value(json_object_get(row, "cause")), cause) == 0)
			return number(row, "time_ps");
	}
	return 0;
}

// check_path returns how long messages were held up on it.
static tb_time_ps check_path(const struct account *account, struct seen *seen)
{
	tb_time_ps held_ps = path_time(account, "held up");
	if (length_of(account, "critical_path") == 0)
		return 0;
	seen->n_paths++;
	check_sum(account, "critical_path", "time_ps", account->run_ps);
	check_sum(account, "critical_links", "time_ps", held_ps);
	check_sum(account, "time_outs", "time_ps", path_time(account, "time-out"));
	seen->n_timeouts += length_of(account, "time_outs") > 0;
	check_link_costs(account, seen);
	seen->n_held += held_ps > 0;
	return held_ps;
}

static void check_bounds(const struct account *account, struct seen *seen)
{
	static const char *const bounds[] = {"host_ps", "cables_ps", "cut_ps",
		"routes_ps", "split_least_ps", "static_least_ps"};
	size_t i;
	json_t *row;
	json_array_foreach(json_object_get(account->report, "bounds"), i, row)
	{
		int64_t span = number(row, "span_ps");
		if (number(row, "begin_ps") + span > account->run_ps)
			wrong(account,
				"phase %zu of %" PRId64 " from %" PRId64
				" ends after %" PRId64,
				i, span, number(row, "begin_ps"), account->run_ps);
		for (size_t k = 0; k < sizeof bounds / sizeof *bounds; k++)
			if (number(row, bounds[k]) > span)
				wrong(account, "%s of %zu is %" PRId64 " of %" PRId64,
					bounds[k], i, number(row, bounds[k]), span);
	}
	json_array_foreach(json_object_get(account->report, "job_times"), i, row)
	{
		seen->n_ideals += !json_is_null(json_object_get(row, "ideal_ps"));
		if (number(row, "run_ps") > account->run_ps ||
			number(row, "ideal_ps") > number(row, "run_ps"))
			wrong(account,
				"job %zu takes %" PRId64 " ps, %" PRId64
				" on an ideal network",
				i, number(row, "run_ps"), number(row, "ideal_ps"));
	}
}

// check_places: where a flow waited for another, packets waited as long at least.
static void check_places(const struct account *account)
{
	size_t i, k;
	json_t *row, *link;
	json_array_foreach(json_object_get(account->report, "blame"), i, row)
	{
		const char *at = json_string_value(json_object_get(row, "at"));
		json_array_foreach(json_object_get(account->report, "hot_links"), k, link)
		{
			const char *name =
				json_string_value(json_object_get(link, "name"));
			if (at && name && strcmp(at, name) == 0 &&
				number(row, "wait_ps") > number(link, "wait_ps"))
				wrong(account, "a flow waited %" PRId64 " ps at %s",
					number(row, "wait_ps"), at);
		}
	}
}

static void check_waits(const struct account *account, struct seen *seen)
{
	const json_t *totals = json_object_get(account->report, "totals");
	int64_t wait = number(totals, "wait_ps"), bins = 0;
	size_t i;
	json_t *bin;
	json_array_foreach(json_object_get(account->report, "wait_ps_by_bin"), i, bin)
		bins += json_integer_value(bin);
	if (bins != wait)
		wrong(account, "%" PRId64 " ps by bins, %" PRId64 " by links", bins,
			wait);
	check_sum(account, "hot_links", "wait_ps", wait);
	check_sum(account, "flows", "wait_ps", wait);
	check_sum(account, "jobs", "wait_ps", wait);
	check_sum(account, "blame_by_job", "wait_ps", wait);
	check_sum(account, "congestion_roots", "wait_ps", wait);
	check_sum(account, "root_by_job", "wait_ps", wait);
	check_places(account);
	seen->n_waits += wait > 0;
}

static void check_messages(const struct account *account)
{
	static const char *const keys[][2] = {{"messages", "messages"},
		{"packets", "packets"}, {"bytes", "delivered_bytes"}};
	const json_t *run = json_object_get(account->report, "run");
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		check_sum(account, "jobs", keys[i][0], number(run, keys[i][1]));
		check_sum(account, "flows", keys[i][0], number(run, keys[i][1]));
	}
}

// check_figures: those of a finding are the account's.
static void check_figures(const struct account *account, json_t *finding,
	tb_time_ps held_ps, struct seen *seen)
{
	json_t *figures = json_object_get(finding, "figures");
	const char *rule = json_string_value(json_object_get(finding, "rule"));
	const json_t *cost = json_object_get(figures, "cost_ps");
	if (number(figures, "begin_ps") > number(figures, "end_ps") ||
		number(figures, "end_ps") > account->run_ps)
		wrong(account, "%s: from %" PRId64 " to %" PRId64, rule,
			number(figures, "begin_ps"), number(figures, "end_ps"));
	// A slow receiver also costs what messages to it take to cross, a slow cable what
	// others stand behind these.
	tb_time_ps most_ps = held_ps;
	bool is_cable = strcmp(rule, "slow-cable") == 0;
	if (is_cable)
		cost = json_object_get(figures, "cost_most_ps");
	if (is_cable || strcmp(rule, "slow-receiver") == 0)
		most_ps += path_time(account, "transfer");
	if (is_cable)
		most_ps += path_time(account, "own queue") +
			   path_time(account, "acknowledge") +
			   path_time(account, "time-out") + path_time(account, "paced");
	if (is_cable && number(figures, "cost_ps") > number(figures, "cost_most_ps"))
		wrong(account, "slow-cable costs at least more than at most");
	if (cost && json_integer_value(cost) > most_ps)
		wrong(account, "%s costs %" PRId64 " of %" PRId64, rule,
			(int64_t)json_integer_value(cost), most_ps);
	if (real(figures, "carrying_ps") > (double)account->run_ps)
		wrong(account, "%s: carried in %g of %" PRId64, rule,
			real(figures, "carrying_ps"), account->run_ps);
	seen->n_costs += cost && json_integer_value(cost) > 0;
	if (strcmp(rule, "time-parts") != 0)
		return;
	int64_t parts = 0, path = 0;
	const char *key;
	json_t *value;
	json_object_foreach(figures, key, value)
	{
		if (!strstr(key, "_ps")) // of the longest time-out
			continue;
		bool on_path = strncmp(key, "path_", 5) == 0;
		path += on_path ? json_integer_value(value) : 0;
		parts += on_path || strcmp(key, "run_ps") == 0
				 ? 0
				 : json_integer_value(value);
	}
	if (number(figures, "run_ps") != account->run_ps || parts != account->run_ps ||
		path != (length_of(account, "critical_path") ? account->run_ps : 0))
		wrong(account, "parts %" PRId64 ", path %" PRId64 " of %" PRId64, parts,
			path, account->run_ps);
}

// Shares; what may wait, or change, by more than all is called otherwise.
static bool is_share(const char *key)
{
	return strcmp(key, "percent") == 0 || strcmp(key, "busy_percent") == 0 ||
	       strcmp(key, "stalled_percent") == 0 ||
	       strncmp(key, "percent_of", 10) == 0 || strcmp(key, "window_percent") == 0;
}

// check_value looks at one number of the report, wherever it stands.
static void check_value(const struct account *account, const char *list, const char *key,
	const json_t *value, struct seen *seen)
{
	double is = json_number_value(value);
	if (is_share(key) && !(is >= 0 && is <= 100.0001))
		wrong(account, "%s.%s is %g %%", list, key, is);
	if (ends_with(key, "_ps") && !strstr(key, "cost") && is < 0)
		wrong(account, "%s.%s is %g", list, key, is);
	if ((ends_with(key, "from_ps") || ends_with(key, "queue_at_ps") ||
		    ends_with(key, "longest_wait_ps") || strcmp(key, "busy_ps") == 0 ||
		    ends_with(key, "queue_stood_ps") || ends_with(key, "latency_ps")) &&
		strcmp(key, "latency_ps") != 0 && strncmp(list, "recorded", 8) != 0 &&
		is > (double)account->run_ps)
		wrong(account, "%s.%s is %g of %" PRId64, list, key, is, account->run_ps);
	if (!strstr(key, "median_ps"))
		return;
	seen->n_medians++;
	if (is == 1000.0)
		wrong(account, "%s.%s is a nanosecond", list, key);
}

static void check_values(
	const struct account *account, const char *list, json_t *value, struct seen *seen)
{
	const char *key;
	size_t i;
	json_t *part;
	json_array_foreach(value, i, part) check_values(account, list, part, seen);
	json_object_foreach(value, key, part) if (json_is_number(part))
		check_value(account, list, key, part, seen);
	else check_values(account, json_is_array(value) ? list : key, part, seen);
}

// check_sentence: no share of more than all, and nothing that no number is.
static void check_sentence(const struct account *account, const char *sentence)
{
	if (strstr(sentence, "nan") || strstr(sentence, " inf") || strstr(sentence, "  "))
		wrong(account, "\"%s\"", sentence);
	for (const char *at = sentence; (at = strstr(at, " %")) != NULL; at++) {
		const char *from = at;
		while (from > sentence && strchr("0123456789.,", from[-1]))
			from--;
		if (strtod(from, NULL) > 100 && strncmp(at, " % longer", 9) != 0)
			wrong(account, "\"%s\"", sentence);
	}
}

static void check_account(const struct account *account, struct seen *seen)
{
	tb_time_ps held_ps = check_path(account, seen);
	size_t i;
	json_t *finding;
	int64_t cost_ps = 0;
	check_bounds(account, seen);
	check_waits(account, seen);
	check_messages(account);
	json_array_foreach(json_object_get(account->report, "findings"), i, finding)
	{
		check_figures(account, finding, held_ps, seen);
		check_sentence(
			account, json_string_value(json_object_get(finding, "sentence")));
		if (strcmp(json_string_value(json_object_get(finding, "rule")),
			    "incast") == 0)
			cost_ps += number(json_object_get(finding, "figures"), "cost_ps");
	}
	if (cost_ps > held_ps)
		wrong(account, "incasts cost %" PRId64 " of %" PRId64, cost_ps, held_ps);
	check_values(account, "", account->report, seen);
	seen->n++;
}

// check_screen: the short report fits one, but for commands.
static void check_screen(const char *what, const struct tb_report *report)
{
	const struct tb_report_form form = {.width = WIDTH};
	struct tb_error error = {0};
	char *text = NULL;
	size_t size = 0, n = 0;
	FILE *stream = open_memstream(&text, &size);
	assert_non_null(stream);
	assert_int_equal(
		tb_report_write(report, TB_FORMAT_TEXT, &form, stream, &error), TB_OK);
	assert_int_equal(fclose(stream), 0);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"), n++)
		if (strlen(line) > WIDTH && strncmp(line, "Run ", 4) != 0 &&
			!strstr(line, " tailback "))
			fail_msg("%s: %zu columns: %s", what, strlen(line), line);
	if (n > LINES)
		fail_msg("%s: %zu lines", what, n);
	free(text);
}

// What is answered about the runs of a preset and a kind.
struct pin {
	uint32_t n, hash;
};

static void pin_text(struct pin *pin, const char *text)
{
	for (; *text; text++)
		pin->hash = (pin->hash ^ (unsigned char)*text) * 16777619U;
}

// pin_answers adds what is answered, but for what depends on machine and version.
static void pin_answers(struct pin *pin, struct tb_run *run,
	const struct tb_report *report, json_t *of_report)
{
	const struct tb_report_form full = {.full = true};
	struct tb_timeline timeline;
	struct tb_compare *compare = NULL;
	struct tb_run *before = NULL;
	struct tb_error error = {0};
	char *text = NULL, *json;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	assert_non_null(stream);
	json_object_del(of_report, "environment");
	json_object_del(json_object_get(of_report, "run"), "program_version");
	json = json_dumps(of_report, JSON_SORT_KEYS | JSON_REAL_PRECISION(12));
	assert_non_null(json);
	fputs(json, stream);
	free(json);
	assert_int_equal(
		tb_report_write(report, TB_FORMAT_TEXT, &full, stream, &error), TB_OK);
	const tb_time_ps third = tb_run_info(run)->simulated_ps / 3;
	for (int i = 0; i < 2 && third > 0; i++) {
		const struct tb_timeline_options options = {.from_ps = i * third,
			.to_ps = i ? 2 * third : TB_TIME_NEVER,
			.n_links = 3};
		assert_int_equal(
			tb_timeline_init(&timeline, run, &options, &error), TB_OK);
		assert_int_equal(
			tb_timeline_text(&timeline, WIDTH, 4, stream, &error), TB_OK);
		tb_timeline_fini(&timeline);
	}
	if (access(BEFORE, R_OK) == 0) {
		assert_int_equal(tb_run_open(&before, BEFORE, 0, &error), TB_OK);
		assert_int_equal(
			tb_compare_new(&compare, (struct tb_compared){before, "before"},
				(struct tb_compared){run, "run"}, 5, &error),
			TB_OK);
		assert_int_equal(tb_compare_write(compare, TB_FORMAT_TEXT, true, 0,
					 stream, &error),
			TB_OK);
		tb_compare_free(compare);
		tb_run_free(before);
	}
	assert_int_equal(fclose(stream), 0);
	pin_text(pin, text);
	free(text);
	pin->n++;
}

// check_store checks the report of the run in the store; its pin may be NULL.
static void check_store(const char *what, struct seen *seen, struct pin *pin)
{
	struct tb_run *run = NULL;
	struct tb_report *report = NULL;
	struct tb_error error = {0};
	char *text = NULL;
	size_t size = 0;
	if (tb_run_open(&run, STORE, 0, &error) != TB_OK ||
		tb_report_new(&report, run, 0, &error) != TB_OK)
		fail_msg("%s: %s", what, error.text);
	FILE *stream = open_memstream(&text, &size);
	assert_non_null(stream);
	assert_int_equal(
		tb_report_write(report, TB_FORMAT_JSON, NULL, stream, &error), TB_OK);
	assert_int_equal(fclose(stream), 0);
	struct account account = {.what = what,
		.report = json_loadb(text, size, 0, NULL),
		.run_ps = tb_run_info(run)->simulated_ps};
	assert_non_null(account.report);
	assert_int_equal(number(json_object_get(account.report, "run"), "simulated_ps"),
		account.run_ps);
	check_account(&account, seen);
	check_screen(what, report);
	if (pin)
		pin_answers(pin, run, report, account.report);
	json_decref(account.report);
	free(text);
	tb_report_free(report);
	tb_run_free(run);
}

// replay replays and returns whether there is a run.
static bool replay(const struct tb_recording_options *options)
{
	struct tb_recording *recording = NULL;
	struct tb_recording_bound_outcome bound;
	struct tb_recording_alone_outcome alone;
	struct tb_recording_range_outcome range;
	struct tb_error error = {0};
	int status;
	unlink(STORE);
	if (tb_recording_new(&recording, options, &error) != TB_OK)
		return false;
	while ((status = tb_recording_advance(recording, &error)) > 0)
		;
	assert_int_equal(tb_recording_finish(recording, &error), TB_OK);
	const struct tb_recording_alone ask_alone = {
		.recording = recording, .n_workers = 1};
	const struct tb_recording_range ask_range = {
		.recording = recording, .n_workers = 1};
	if (status == TB_OK && options->alone)
		assert_int_equal(tb_recording_alone(&alone, &ask_alone, &error), TB_OK);
	if (status == TB_OK && options->workload.closed_loop)
		assert_int_equal(tb_recording_range(&range, &ask_range, &error), TB_OK);
	if (status == TB_OK)
		assert_int_equal(tb_recording_bound(&bound, recording, &error), TB_OK);
	tb_recording_free(recording);
	return status == TB_OK;
}

// draw_server writes a job in which all ask one rank again and again, most of them at
// once.
static void draw_server(struct tb_random *random)
{
	uint32_t n = 4 + below(random, RANKS_MOST - 3), server = below(random, n);
	uint32_t rounds = 1 + below(random, 4), bytes = UINT32_C(1000)
							<< below(random, 8);
	FILE *file = fopen(JOB, "w");
	assert_non_null(file);
	fprintf(file, "num_ranks %u\n", n);
	for (uint32_t rank = 0; rank < n; rank++) {
		static struct ops ops;
		ops.length = ops.n = 0;
		for (uint32_t i = 0; i < rounds * (rank == server ? n : 1); i++) {
			char rest[64];
			uint32_t peer = rank == server ? i % n : server;
			if (peer == rank)
				continue;
			snprintf(rest, sizeof rest, "b %s %u tag 1",
				rank == server ? "from" : "to", peer);
			if (below(random, 2))
				op(&ops, ops.n, "calc", below(random, 3000), "");
			op(&ops, ops.n, rank == server ? "recv" : "send", bytes, rest);
			snprintf(rest, sizeof rest, "b %s %u tag 2",
				rank == server ? "to" : "from", peer);
			op(&ops, ops.n, rank == server ? "send" : "recv", 100, rest);
		}
		fprintf(file, "rank %u {\n%s}\n", rank, ops.text);
	}
	assert_int_equal(fclose(file), 0);
}

// try_one draws and replays; false when the network refuses it.
static bool try_one(
	struct seen *seen, uint64_t seed, size_t preset, enum kind kind, struct pin *pin)
{
	struct tb_random random;
	char network[TEXT], what[TEXT + 80];
	bool captured = kind == CLOSED || kind == OPEN;
	static const char *const traces[] = {CAPTURE};
	static const char *const placed[] = {JOB ",placement=block",
		JOB ",placement=cyclic", JOB ",placement=random", JOB ",placement=block"};
	tb_random_init(&random, seed, preset * KINDS + kind + 9000);
	if (captured)
		draw_capture(&random);
	else if (kind == SERVER)
		draw_server(&random);
	else
		draw_job(&random, false);
	draw_network(&random, preset, network);
	if (captured && below(&random, 2))
		draw_fabric(&random, preset, network);
	if (below(&random, 4) == 0)
		change(network, "switching", "fluid");
	const struct tb_recording_options options = {
		.workload = {.traces = traces,
			.n_traces = captured,
			.jobs = &placed[below(&random, 3)],
			.n_jobs = captured	     ? 0
				  : kind == TWO_JOBS ? 2
						     : 1,
			.per_node = captured ? 0 : 1 + below(&random, 3),
			.closed_loop = kind == CLOSED,
			.seed = seed},
		.network = network,
		.output = STORE,
		.seed = seed,
		.alone = kind != OPEN && below(&random, 3) == 0};
	snprintf(what, sizeof what, "seed %" PRIu64 ", kind %d, %s", seed, kind, network);
	if (!replay(&options))
		return false;
	check_store(what, seen, pin);
	return rename(STORE, BEFORE) == 0;
}

static void print_seen(const struct seen *seen)
{
	print_message(
		"%u runs: %u waited, %u with a path, held up in %u, %u costs, %u of "
		"links, %u medians, %u ideal times, %u with time-outs\n",
		seen->n, seen->n_waits, seen->n_paths, seen->n_held, seen->n_costs,
		seen->n_link_costs, seen->n_medians, seen->n_ideals, seen->n_timeouts);
}

static void a_random_account_adds_up(void **state)
{
	(void)state;
	static const char *const kinds[] = {
		"server", "own ways", "two jobs", "closed", "open"};
	enum { PRESETS = 32 };
	struct pin pins[PRESETS][KINDS] = {{{0}}};
	struct seen seen = {0};
	uint32_t n_tried = 0;
	unlink(BEFORE);
	for (uint64_t seed = 1; seen.n < RUNS; seed++) {
		for (size_t i = 0; tb_network_preset_name(i); i++, n_tried++) {
			enum kind kind = (enum kind)((seed + i) % KINDS);
			assert_true(i < PRESETS);
			(void)try_one(&seen, seed, i, kind,
				seed % 2 == 1 ? &pins[i][kind] : NULL);
		}
		assert_true(2 * seen.n > n_tried);
	}
	unlink(BEFORE);
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	assert_non_null(stream);
	for (size_t i = 0; tb_network_preset_name(i); i++)
		for (int k = 0; k < KINDS; k++)
			fprintf(stream, "%s, %s: %u runs, %08x\n",
				tb_network_preset_name(i), kinds[k], pins[i][k].n,
				pins[i][k].hash);
	fclose(stream);
	assert_golden(text, "../account");
	free(text);
	print_seen(&seen);
	assert_true(2 * seen.n_waits > seen.n && 2 * seen.n_paths > seen.n);
	assert_true(4 * seen.n_held > seen.n && 20 * seen.n_costs > seen.n);
	assert_true(5 * seen.n_link_costs > seen.n);
	assert_true(seen.costs_ps > 0.99 * seen.at_links_ps);
	assert_true(seen.n_medians > 0 && 20 * seen.n_ideals > seen.n);
	unlink(STORE);
	unlink(JOB);
	unlink(CAPTURE);
	unlink(FABRIC);
}

// The traces of tests/data; those of jobs, and captures as jobs and at their own times.
static void so_does_that_of_every_bundled_trace(void **state)
{
	(void)state;
	enum { CAPTURED = 1 };
	static const struct {
		const char *trace;
		int flags;
	} bundled[] = {{"alltoall16.pcap.zst", CAPTURED},
		{"closed_window.pcap.zst", CAPTURED},
		{"recorded/messages.pcap", CAPTURED}, {"types.pcapng", CAPTURED},
		{"binary_tree_32.goal", 0}, {"bit_reversal_64.goal", 0},
		{"recorded/otf2/traces.otf2", 0}, {"recorded/two_tasks.prv", 0},
		{"recorded/job.tbt", 0}, {"recorded/chakra.0.json", 0},
		{"recorded/overlap.0.json", 0}, {"ring8", 0}, {"workloads/allprof", 0},
		{"workloads/dumpi", 0}, {"workloads/ti/list", 0},
		{"nccl/two-hosts.log", 0}, {"nccl/two-hosts-tree.log", 0},
		{"nccl/split-colors.log", 0}};
	static const char *const networks[] = {"qsnet", "ib-hdr", "ethernet,queue=8KiB",
		"roce-100", "ib-hdr,switching=fluid", "qsnet,rails=2"};
	struct seen seen = {0};
	char data[TEXT];
	snprintf(data, sizeof data, "%s/tests/data", getenv("TB_SOURCE"));
	unlink(DATA);
	assert_int_equal(symlink(data, DATA), 0); // so that no line is long by its place
	for (size_t i = 0; i < sizeof bundled / sizeof *bundled; i++)
		for (size_t k = i % 2; k < sizeof networks / sizeof *networks; k += 2) {
			char path[TEXT], network[TEXT], what[2 * TEXT + 80];
			bool captured = bundled[i].flags & CAPTURED;
			const char *const traces[] = {path};
			snprintf(path, sizeof path, DATA "/%s", bundled[i].trace);
			snprintf(network, sizeof network, "%s,arity=4,levels=3",
				networks[k]);
			const struct tb_recording_options options = {
				.workload = {.traces = traces,
					.n_traces = 1,
					.closed_loop = captured && k / 2 % 2},
				.network = network,
				.output = STORE,
				.seed = 1,
				.alone = !captured};
			snprintf(what, sizeof what, "%s on %s%s", bundled[i].trace,
				network,
				options.workload.closed_loop ? ", closed loop" : "");
			assert_true(replay(&options));
			check_store(what, &seen, NULL);
		}
	print_seen(&seen);
	assert_true(5 * seen.n_waits > seen.n && 4 * seen.n_held > seen.n);
	assert_true(seen.n_timeouts > 0);
	unlink(STORE);
	unlink(DATA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_random_account_adds_up),
		cmocka_unit_test(so_does_that_of_every_bundled_trace),
	};
	return cmocka_run_group_tests(tests, own_folder, leave_folder);
}
