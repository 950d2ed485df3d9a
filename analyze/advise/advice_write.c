// Advice as text, CSV, JSON and Markdown.
#include "advice_impl.h"
#include "json.h"
#include "table.h"
#include "wrap.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const tb_verdict_words[TB_VERDICTS] = {
	[TB_VERDICT_HELPS] = "helps",
	[TB_VERDICT_SAME] = "no difference",
	[TB_VERDICT_UNCLEAR] = "unclear",
	[TB_VERDICT_HARMS] = "harms",
	[TB_VERDICT_FAILED] = "failed",
	[TB_VERDICT_CANNOT] = "cannot help",
	[TB_VERDICT_CAPPED] = "not replayed",
	[TB_VERDICT_SCREENED] = "no gain foreseen",
	[TB_VERDICT_CUT] = "not tried",
};

static const char *verdict_word(size_t i)
{
	return i < TB_VERDICTS ? tb_verdict_words[i] : NULL;
}

static void put_change_verdict(struct tb_datum *at)
{
	const struct tb_change *change = at->item;
	at->word = tb_verdict_words[change->verdict];
}

// put_gain writes how much less it takes, people read it as a change: "-7.7 %".
static void put_gain(struct tb_datum *at)
{
	const struct tb_change *change = at->item;
	const struct tb_estimate *estimate = &change->gains[at->column->which];
	at->unknown = change->verdict >= TB_VERDICT_FAILED;
	at->real = estimate->mean;
	if (!at->unknown)
		tb_put_text(at, fabs(estimate->mean) < 0.005 ? "=" : "%+.2f %%",
			-estimate->mean);
}

static void put_half_interval(struct tb_datum *at)
{
	const struct tb_change *change = at->item;
	const struct tb_estimate *estimate = &change->gains[at->column->which];
	at->unknown =
		change->verdict >= TB_VERDICT_FAILED || !isfinite(estimate->half_ci);
	at->real = estimate->half_ci;
	if (!at->unknown)
		tb_put_text(at, "%.2f", estimate->half_ci);
}

static void put_title(struct tb_datum *at)
{
	at->word = ((const struct tb_change *)at->item)->title;
}

static void put_why(struct tb_datum *at)
{
	const struct tb_change *change = at->item;
	at->unknown = !change->why[0];
	at->word = change->why;
}

static void put_foreseen(struct tb_datum *at)
{
	const struct tb_change *change = at->item;
	at->unknown = isnan(change->foreseen);
	at->real = change->foreseen;
	if (!at->unknown)
		tb_put_text(at, fabs(change->foreseen) < 0.005 ? "=" : "%+.2f %%",
			-change->foreseen);
}

static void put_seeds(struct tb_datum *at)
{
	const struct tb_change *change = at->item;
	at->unknown = change->verdict >= TB_VERDICT_FAILED;
	at->whole = change->n_seeds;
	if (!at->unknown)
		tb_put_text(at, "%u%s", change->n_seeds, change->unsteady ? " ?" : "");
}

// Of several jobs alone, or of the one that decides.
static void adapt_jobs(struct tb_column *column, const void *of)
{
	const struct tb_advice *advice = of;
	if (advice->by != TB_ADVICE_BY_JOBS)
		column->title = NULL;
	else if (advice->job != TB_ID_NONE && column->put == put_gain)
		column->title = tb_run_job_name(advice->run, advice->job);
}

static void put_by_job(struct tb_datum *at)
{
	const struct tb_change *change = at->item;
	const struct tb_advice *advice = at->of;
	at->unknown = change->verdict >= TB_VERDICT_FAILED || advice->info->n_jobs < 2;
	if (!at->unknown)
		tb_advice_by_job(advice, change, at->text, sizeof at->text);
}

static void adapt_by_job(struct tb_column *column, const void *of)
{
	const struct tb_advice *advice = of;
	if (advice->by != TB_ADVICE_BY_JOBS || advice->info->n_jobs < 2)
		column->title = NULL;
}

// Of several jobs there is each job's time instead.
static void adapt_gain(struct tb_column *column, const void *of)
{
	const struct tb_advice *advice = of;
	if (advice->by == TB_ADVICE_BY_JOBS && column->which != TB_ADVICE_BY_RUN)
		column->title = NULL;
}

static void adapt_foreseen(struct tb_column *column, const void *of)
{
	if (!((const struct tb_advice *)of)->screens)
		column->title = NULL;
}

static void adapt_needs_hardware(struct tb_column *column, const void *of)
{
	const struct tb_advice *advice = of;
	for (size_t i = 1; i < advice->n; i++)
		if (advice->changes[i].needs_hardware)
			return;
	column->title = NULL;
}

static void put_node_ranges(struct tb_datum *at)
{
	const struct tb_change *change = at->item;
	at->unknown = !change->outcomes[0].known;
	at->whole = change->outcomes[0].n_nodes;
}

static void put_settings(struct tb_datum *at)
{
	const struct tb_change *change = at->item;
	at->unknown = !change->settings[0];
	at->word = change->settings;
}

#define GAIN(key, title, meaning, of)                                                    \
	{                                                                                \
		key, title, meaning, TB_DATUM_PERCENT,                                   \
			.put = put_gain, .which = of, .adapt = adapt_gain,               \
			.flags = TB_COLUMN_NULL | TB_COLUMN_SIGNED                       \
	}
#define INTERVAL(key, title, of)                                                         \
	{                                                                                \
		key, title,                                                              \
			"Half of the 95 % interval of the figure before it, over seeds", \
			TB_DATUM_PERCENT, .put = put_half_interval, .which = of,         \
					  .flags = TB_COLUMN_NULL                        \
	}

static const struct tb_column change_columns[] = {
	{"rule", NULL, "That proposed it: of the findings, or of the search",
		TB_DATUM_TEXT, TB_MEMBER(struct tb_change, rule)},
	{"change", "Change", "What is changed", TB_DATUM_TEXT, .put = put_title},
	{"needs_hardware", "New hardware", "Whether it takes new hardware", TB_DATUM_FLAG,
		TB_MEMBER(struct tb_change, needs_hardware),
		.adapt = adapt_needs_hardware},
	{"nodes", NULL, "On how many nodes ranks are", TB_DATUM_COUNT,
		.put = put_node_ranges, .flags = TB_COLUMN_NULL},
	{"verdict", "Verdict", "Whether the gain is beyond chance, and worth anything",
		TB_DATUM_TEXT, .put = put_change_verdict, .word = verdict_word},
	GAIN("run_gain_percent", "Run time", "How much less the run takes",
		TB_ADVICE_BY_RUN),
	INTERVAL("run_gain_half_percent", "+-", TB_ADVICE_BY_RUN),
	{"job_gain_percent", "Jobs",
		"How much less the jobs take, each from its own start, mean over them, "
		"or "
		"the one that decides",
		TB_DATUM_PERCENT, .put = put_gain, .which = TB_ADVICE_BY_JOBS,
		.flags = TB_COLUMN_NULL | TB_COLUMN_SIGNED, .adapt = adapt_jobs},
	{"job_gain_half_percent", "+-",
		"Half of the 95 % interval of the figure before it, over seeds",
		TB_DATUM_PERCENT, .put = put_half_interval, .which = TB_ADVICE_BY_JOBS,
		.flags = TB_COLUMN_NULL, .adapt = adapt_jobs},
	{"by_job", "By job",
		"What each job takes, of many the one that gains most and the one that "
		"gains least",
		TB_DATUM_TEXT, .put = put_by_job, .flags = TB_COLUMN_NULL,
		.adapt = adapt_by_job},
	GAIN("latency_gain_percent", "Latency", "How much less a message takes",
		TB_ADVICE_BY_LATENCY),
	INTERVAL("latency_gain_half_percent", NULL, TB_ADVICE_BY_LATENCY),
	GAIN("wait_gain_percent", "Wait", "How much less all packets wait",
		TB_ADVICE_OF_WAIT),
	INTERVAL("wait_gain_half_percent", NULL, TB_ADVICE_OF_WAIT),
	{"foreseen_gain_percent", "Fluid",
		"How much less the run takes by the fluid model, where that chose",
		TB_DATUM_PERCENT, .put = put_foreseen,
		.flags = TB_COLUMN_NULL | TB_COLUMN_SIGNED, .adapt = adapt_foreseen},
	{"seeds", "Seeds", "With so many it was replayed", TB_DATUM_COUNT,
		.put = put_seeds, .flags = TB_COLUMN_NULL},
	{"unsteady", NULL,
		"Whether more seeds went on to move the gain beyond its interval",
		TB_DATUM_FLAG, TB_MEMBER(struct tb_change, unsteady)},
	{"reason", NULL, "Why it could not be replayed, or cannot help", TB_DATUM_TEXT,
		.put = put_why, .flags = TB_COLUMN_NULL},
	{"command", NULL, "That replays it", TB_DATUM_TEXT,
		TB_MEMBER(struct tb_change, command)},
	{"settings", NULL, "What has the library do it, for a shell", TB_DATUM_TEXT,
		.put = put_settings, .flags = TB_COLUMN_NULL},
};

static const void *change_at(const void *of, size_t row)
{
	return &((const struct tb_advice *)of)->changes[row + 1];
}

static const struct tb_table_type changes = {"changes", "Changes, best first",
	"Each change that was replayed, best first; what needs hardware behind the "
	"others that help.",
	TB_COLUMNS(change_columns), .item = change_at};

static bool is_unsteady(const struct tb_advice *advice)
{
	for (size_t i = 1; i < advice->n; i++)
		if (advice->changes[i].unsteady)
			return true;
	return false;
}

enum { DECIDES, TAKES };

// say_deciding writes what decides, and what it is that takes less: "The run time", "the
// run takes".
static char *say_deciding(
	const struct tb_advice *advice, int which, char *text, size_t size)
{
	static const char *const words[][2] = {
		[TB_ADVICE_BY_RUN] = {"The run time", "the run takes"},
		[TB_ADVICE_BY_JOBS] = {"What the jobs take, each from its start,",
			"jobs take"},
		[TB_ADVICE_BY_LATENCY] = {"The latency of a message", "a message takes"}};
	const char *names = advice->chosen_names;
	bool one = advice->job != TB_ID_NONE;
	if (!advice->chosen)
		snprintf(text, size, "%s", words[advice->by][which]);
	else if (which == DECIDES)
		snprintf(text, size,
			one ? "The run time of job %s"
			    : "What jobs %s take, each from its start,",
			names);
	else
		snprintf(text, size, one ? "job %s takes" : "jobs %s take", names);
	return text;
}

static struct tb_table advice_table(const struct tb_advice *advice)
{
	char what[200];
	struct tb_table table = {.type = &changes,
		.of = advice,
		.words = advice->info->words,
		.n_rows = advice->n - 1,
		.n_shown = advice->n - 1};
	const char *seeds = strstr(advice->info->options, "placement=random")
				    ? "seeds, each another placement"
				    : "seeds";
	if (advice->n_seeds == 1)
		snprintf(table.remark, sizeof table.remark,
			"Against the run as it was, with 1 seed: what seeds usually move "
			"is unclear. %s decides.",
			say_deciding(advice, DECIDES, what, sizeof what));
	else
		snprintf(table.remark, sizeof table.remark,
			"Against the run as it was, mean over %s; +- is the 95 %% "
			"interval of these alone%s. %s decides.",
			seeds, is_unsteady(advice) ? ", ? that it is not steady" : "",
			say_deciding(advice, DECIDES, what, sizeof what));
	return table;
}

static size_t n_of(const struct tb_advice *advice, enum tb_verdict verdict)
{
	size_t n = 0;
	for (size_t i = 1; i < advice->n; i++)
		n += advice->changes[i].verdict == verdict;
	return n;
}

// best_bought returns what gains most of what has a price, where that is noticeably more
// than what is first gains; NULL without any.
static const struct tb_change *best_bought(
	const struct tb_advice *advice, enum tb_price price)
{
	double own = tb_advice_deciding(advice, &advice->changes[1])->mean;
	for (size_t i = 2; i < advice->n; i++) {
		const struct tb_change *change = &advice->changes[i];
		if (change->verdict == TB_VERDICT_HELPS &&
			tb_advice_price(advice, change) == price)
			return tb_advice_deciding(advice, change)->mean >=
					       own + TB_ADVICE_MATTERS
				       ? change
				       : NULL;
	}
	return NULL;
}

// best_change returns the first that gains beyond chance, the best one; NULL when none
// helps.
static const struct tb_change *best_change(const struct tb_advice *advice)
{
	for (size_t i = 1; i < advice->n; i++)
		if (advice->changes[i].verdict == TB_VERDICT_HELPS)
			return &advice->changes[i];
	return NULL;
}

// say_by_job writes what each job takes, where all jobs decide: " (a -3.0 %, b =)".
static const char *say_by_job(const struct tb_advice *advice,
	const struct tb_change *change, char *text, size_t size)
{
	char jobs[160];
	text[0] = '\0';
	if (advice->by != TB_ADVICE_BY_JOBS || advice->chosen)
		return text;
	tb_advice_by_job(advice, change, jobs, sizeof jobs);
	snprintf(text, size, " (%s)", jobs);
	return text;
}

// lacks_folder returns whether a change that helps needs files, and nobody said where.
static bool lacks_folder(const struct tb_advice *advice)
{
	for (size_t i = 1; i < advice->n && !advice->folder; i++)
		if (advice->changes[i].n_files &&
			advice->changes[i].verdict == TB_VERDICT_HELPS)
			return true;
	return false;
}

// say_answer writes what it all comes to.
static void say_answer(const struct tb_advice *advice, char *text, size_t size)
{
	FILE *words = fmemopen(text, size, "w");
	size_t n_cut = n_of(advice, TB_VERDICT_CUT);
	text[0] = '\0';
	if (!words)
		return; // without memory: no sentence
			// Write which change gains most, and how many help.
	char takes[200], by_job[200];
	const struct tb_change *best = best_change(advice);
	size_t n = advice->n - 1 - n_of(advice, TB_VERDICT_CUT);
	size_t n_helps = n_of(advice, TB_VERDICT_HELPS);
	size_t n_harms = n_of(advice, TB_VERDICT_HARMS);
	if (best)
		fprintf(words, "Best is %s%s", best->title,
			best->needs_hardware ? ", new hardware" : "");
	if (best)
		fprintf(words, ": %s %.1f %% less%s. ",
			say_deciding(advice, TAKES, takes, sizeof takes),
			tb_advice_deciding(advice, best)->mean,
			say_by_job(advice, best, by_job, sizeof by_job));
	for (int price = TB_PRICE_DELAY; price < TB_PRICES && best; price++) {
		static const char *const begins[TB_PRICES] = {[TB_PRICE_DELAY] = "Where",
			[TB_PRICE_NODES] = "By",
			[TB_PRICE_HARM] = "By",
			[TB_PRICE_HARDWARE] = "With new hardware,"};
		const struct tb_change *other = best_bought(advice, (enum tb_price)price);
		if (other)
			fprintf(words, "%s %s: %.1f %% less%s. ", begins[price],
				other->title, tb_advice_deciding(advice, other)->mean,
				say_by_job(advice, other, by_job, sizeof by_job));
	}
	if (best)
		fprintf(words, "%zu of %zu changes help%s, ", n_helps, n,
			n_helps == 1 ? "s" : "");
	else
		fprintf(words, "None of %zu changes helps; ", n);
	fprintf(words, "%zu harm%s.", n_harms, n_harms == 1 ? "s" : "");
	// Where nothing that is free helps, a rank that computes longer may.
	if (advice->straggler[0] &&
		(!best || tb_advice_price(advice, best) != TB_PRICE_NOTHING))
		fprintf(words, " %s", advice->straggler);
	if (best && best->unsteady)
		fprintf(words,
			" Its gain is not steady: after %u seeds more still move it "
			"beyond its interval.",
			best->n_seeds);
	// Write what fewer cables cost, as far as the seeds know.
	for (size_t i = 1; i < advice->n; i++) {
		const struct tb_change *change = &advice->changes[i];
		if (change->id != TB_RULE_FEWER_CABLES ||
			change->verdict >= TB_VERDICT_FAILED)
			continue;
		const struct tb_estimate *by = tb_advice_deciding(advice, change);
		if (change->verdict == TB_VERDICT_UNCLEAR)
			fprintf(words, " What %s costs is unclear.", change->title);
		else if (change->verdict == TB_VERDICT_SAME)
			fprintf(words, " With %s it takes as long.", change->title);
		else
			fprintf(words, " With %s it takes %.1f %% %s.", change->title,
				fabs(by->mean), by->mean > 0 ? "less" : "more");
	}
	if (n_of(advice, TB_VERDICT_CANNOT))
		fprintf(words,
			" Bounds on the run time rule %zu out, which %s not replayed.",
			n_of(advice, TB_VERDICT_CANNOT),
			n_of(advice, TB_VERDICT_CANNOT) == 1 ? "is" : "are");
	if (n_of(advice, TB_VERDICT_CAPPED))
		fprintf(words,
			" %zu can gain no more than others do, and %s not replayed.",
			n_of(advice, TB_VERDICT_CAPPED),
			n_of(advice, TB_VERDICT_CAPPED) == 1 ? "is" : "are");
	if (advice->screening[0])
		fprintf(words, " %s", advice->screening);
	if (n_cut)
		fprintf(words, " There was no time for %zu more.", n_cut);
	if (lacks_folder(advice))
		fprintf(words,
			" " TB_TRIED_FOLDER
			" in a command stands for that of --write, which writes the "
			"files.");
	fclose(words);
}

// next_says_so is whether the next change of a change's verdict has its reason too.
static bool next_says_so(const struct tb_advice *advice, size_t change)
{
	const struct tb_change *is = &advice->changes[change];
	for (size_t i = change + 1; i < advice->n; i++)
		if (advice->changes[i].verdict == is->verdict)
			return strcmp(advice->changes[i].why, is->why) == 0;
	return false;
}

// write_changes lists those of a verdict, with their commands or reasons: one reason
// below all that have it.
static void write_changes(const struct tb_advice *advice, enum tb_verdict verdict,
	const char *heading, unsigned width, FILE *stream)
{
	if (n_of(advice, verdict))
		fprintf(stream, "\n%s\n", heading);
	for (size_t i = 1; i < advice->n; i++) {
		const struct tb_change *change = &advice->changes[i];
		if (change->verdict != verdict)
			continue;
		fprintf(stream, "  %s\n", change->title);
		if (verdict == TB_VERDICT_HELPS) // whole, to be copied
			fprintf(stream, "    %s\n", change->command);
		else if (!next_says_so(advice, i)) {
			fputs("    ", stream);
			tb_wrap(stream, 4, 4, width, change->why);
		}
		if (verdict == TB_VERDICT_HELPS && change->settings[0])
			fprintf(stream, "    %s\n", change->settings);
	}
}

static int write_advice_text(const struct tb_advice *advice, unsigned width, FILE *stream)
{
	struct tb_table table = advice_table(advice);
	char text[1536];
	say_answer(advice, text, sizeof text);
	tb_wrap(stream, 0, 0, width, text);
	int status = table.n_shown ? tb_table_text(&table, width, stream) : TB_OK;
	// Write what helps, with its command, and of what failed or cannot help
	// the reason.
	write_changes(advice, TB_VERDICT_HELPS, "To try it", width, stream);
	write_changes(advice, TB_VERDICT_CANNOT, "Cannot help", width, stream);
	write_changes(advice, TB_VERDICT_CAPPED, "Not replayed: others gain as much",
		width, stream);
	write_changes(advice, TB_VERDICT_FAILED, "Could not be replayed", width, stream);
	return status;
}

static void write_advice_markdown(const struct tb_advice *advice, FILE *stream)
{
	struct tb_table table = advice_table(advice);
	char text[1536];
	say_answer(advice, text, sizeof text);
	fputs("# Advice\n\n", stream);
	tb_markdown_put(stream, text);
	fputc('\n', stream);
	if (table.n_shown)
		tb_table_markdown(&table, stream);
	for (size_t i = 1; i < advice->n; i++)
		if (advice->changes[i].verdict == TB_VERDICT_HELPS)
			fprintf(stream, "\n    %s\n", advice->changes[i].command);
}

static int write_advice_json(const struct tb_advice *advice, FILE *stream)
{
	struct tb_table table = advice_table(advice);
	struct tb_json_object root = tb_json_object_new();
	char text[1536];
	say_answer(advice, text, sizeof text);
	tb_json_add_text(&root, "answer", text);
	tb_json_add(&root, "run", json_integer(advice->info->id));
	tb_json_add_text(&root, "input", advice->info->input_name);
	tb_json_add_text(&root, "network", advice->info->network_name);
	tb_json_add(&root, "seeds", json_integer(advice->n_seeds));
	tb_json_add_text(&root, "decides", tb_advice_decides(advice));
	tb_json_add(&root, "job",
		advice->chosen ? json_string(advice->chosen_names) : json_null());
	tb_json_add_text(&root, "screening", advice->screening);
	tb_json_add(&root, "changes", tb_table_json(&table));
	return tb_json_write(tb_json_object_take(&root), 17, stream);
}

int tb_advice_write(const struct tb_advice *advice, enum tb_format format, unsigned width,
	FILE *stream, struct tb_error *error)
{
	struct tb_table table = advice_table(advice);
	int status = TB_OK;
	if (format == TB_FORMAT_JSON)
		status = write_advice_json(advice, stream);
	else if (format == TB_FORMAT_MARKDOWN)
		write_advice_markdown(advice, stream);
	else if (format == TB_FORMAT_CSV)
		tb_table_csv(&table, stream);
	else
		status = write_advice_text(advice, width, stream);
	return status ? tb_fail_memory(error, "the advice") : TB_OK;
}

int tb_advice_write_schema(FILE *stream, struct tb_error *error)
{
	struct tb_json_object root = tb_json_object_new();
	static const char *const texts[][2] = {
		{"answer", "What it comes to, in sentences."},
		{"input", "What was replayed."},
		{"network", "The preset, or file."},
		{"screening", "What the fluid model left out, or why nothing; or empty."},
	};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		tb_json_add(&root, texts[i][0],
			json_pack("{s:s, s:s}", "description", texts[i][1], "type",
				"string"));
	tb_json_add(&root, "run",
		json_pack("{s:s, s:s, s:i}", "description", "Its number in the store.",
			"type", "integer", "minimum", 1));
	tb_json_add(&root, "seeds",
		json_pack("{s:s, s:s, s:i, s:i}", "description",
			"With which each change was replayed at first.", "type",
			"integer", "minimum", 1, "maximum", TB_ADVICE_SEEDS_MOST));
	tb_json_add(&root, "decides",
		json_pack("{s:s, s:[s, s, s, s]}", "description",
			"Which gain gives verdict and order.", "enum", "run time",
			"run time of jobs", "run time of a job", "latency"));
	tb_json_add(&root, "job",
		json_pack("{s:s, s:[s, s]}", "description",
			"The jobs whose run times decide, where --for names them.",
			"type", "string", "null"));
	tb_json_add(&root, "changes", tb_table_schema(&changes));
	json_t *schema = tb_schema_root("urn:tailback:advise:1", "Tailback advice",
		"What 'tailback advise -f json' writes. Gains are percent of what the "
		"run as it was takes.",
		tb_json_object_take(&root));
	return tb_json_write(schema, 6, stream) == TB_OK
		       ? TB_OK
		       : tb_fail_memory(error, "the schema");
}
