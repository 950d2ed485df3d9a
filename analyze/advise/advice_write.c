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
	[TB_VERDICT_CUT] = "not tried",
};

static const char *verdict_word(size_t i)
{
	return i < TB_VERDICTS ? tb_verdict_words[i] : NULL;
}

static void put_verdict(struct tb_datum *at)
{
	const struct tb_change *change = at->item;
	at->word = tb_verdict_words[change->verdict];
}

enum { RUN, LATENCY, WAIT, HALF = 4 };

static const struct tb_estimate *estimate_of(
	const struct tb_change *change, uint32_t which)
{
	const struct tb_estimate *all[] = {
		&change->run_gain, &change->latency_gain, &change->wait_gain};
	return all[which % HALF];
}

// put_gain writes how much less it takes, people read it as a change: "-7.7 %".
static void put_gain(struct tb_datum *at)
{
	const struct tb_change *change = at->item;
	const struct tb_estimate *estimate = estimate_of(change, at->column->which);
	at->unknown = change->verdict >= TB_VERDICT_FAILED;
	at->real = estimate->mean;
	if (!at->unknown)
		tb_put_text(at, fabs(estimate->mean) < 0.005 ? "=" : "%+.2f %%",
			-estimate->mean);
}

static void put_half(struct tb_datum *at)
{
	const struct tb_change *change = at->item;
	const struct tb_estimate *estimate = estimate_of(change, at->column->which);
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
	at->unknown = change->verdict != TB_VERDICT_FAILED;
	at->word = change->why;
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
			.put = put_gain, .which = of,                                    \
			.flags = TB_COLUMN_NULL | TB_COLUMN_SIGNED                       \
	}
#define INTERVAL(key, title, of)                                                         \
	{                                                                                \
		key, title,                                                              \
			"Half of the 95 % interval of the figure before it, over seeds", \
			TB_DATUM_PERCENT, .put = put_half, .which = HALF + (of),         \
					  .flags = TB_COLUMN_NULL                        \
	}

static const struct tb_column change_columns[] = {
	{"rule", NULL, "That proposed it: of the findings, or of the search",
		TB_DATUM_TEXT, TB_MEMBER(struct tb_change, rule)},
	{"change", "Change", "What is changed", TB_DATUM_TEXT, .put = put_title},
	{"verdict", "Verdict", "Whether the gain is beyond chance, and worth anything",
		TB_DATUM_TEXT, .put = put_verdict, .word = verdict_word},
	GAIN("run_gain_percent", "Run time", "How much less the run takes", RUN),
	INTERVAL("run_gain_half_percent", "+-", RUN),
	GAIN("latency_gain_percent", "Latency", "How much less a message takes", LATENCY),
	INTERVAL("latency_gain_half_percent", NULL, LATENCY),
	GAIN("wait_gain_percent", "Wait", "How much less all headers wait", WAIT),
	INTERVAL("wait_gain_half_percent", NULL, WAIT),
	{"failure", NULL, "Why it could not be replayed", TB_DATUM_TEXT, .put = put_why,
		.flags = TB_COLUMN_NULL},
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
	"Each change that was replayed, best first.", TB_COLUMNS(change_columns),
	.item = change_at};

static struct tb_table table_of(const struct tb_advice *advice)
{
	struct tb_table table = {.type = &changes,
		.of = advice,
		.words = advice->info->words,
		.n_rows = advice->n - 1,
		.n_shown = advice->n - 1};
	snprintf(table.remark, sizeof table.remark,
		advice->n_seeds == 1
			? "Against the run as it was, with %" PRIu32
			  " seed, so that chance is not told apart. %s decides."
			: "Against the run as it was, mean over %" PRIu32
			  " seeds; +- is the 95 %% interval. %s decides.",
		advice->n_seeds,
		advice->by_latency ? "The latency of a message" : "The run time");
	return table;
}

static size_t n_of(const struct tb_advice *advice, enum tb_verdict verdict)
{
	size_t n = 0;
	for (size_t i = 1; i < advice->n; i++)
		n += advice->changes[i].verdict == verdict;
	return n;
}

// best_of returns the change that gains most beyond chance; NULL when none helps.
static const struct tb_change *best_of(const struct tb_advice *advice)
{
	for (size_t i = 1; i < advice->n; i++)
		if (advice->changes[i].verdict == TB_VERDICT_HELPS)
			return &advice->changes[i];
	return NULL;
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

// answer writes what it all comes to.
static void answer(const struct tb_advice *advice, char *text, size_t size)
{
	const struct tb_change *best = best_of(advice);
	size_t n_cut = n_of(advice, TB_VERDICT_CUT), n = advice->n - 1 - n_cut, used;
	size_t n_helps = n_of(advice, TB_VERDICT_HELPS);
	size_t n_harms = n_of(advice, TB_VERDICT_HARMS);
	if (best)
		used = (size_t)snprintf(text, size,
			"Best is %s: %s takes %.1f %% less. %zu of %zu changes help%s, "
			"%zu harm%s.",
			best->title, advice->by_latency ? "a message" : "the run",
			(advice->by_latency ? best->latency_gain : best->run_gain).mean,
			n_helps, n, n_helps == 1 ? "s" : "", n_harms,
			n_harms == 1 ? "s" : "");
	else
		used = (size_t)snprintf(text, size,
			"None of %zu changes helps; %zu harm%s.", n, n_harms,
			n_harms == 1 ? "s" : "");
	if (n_cut && used < size)
		used += (size_t)snprintf(text + used, size - used,
			" There was no time for %zu more.", n_cut);
	if (lacks_folder(advice) && used < size)
		snprintf(text + used, size - used,
			" " TB_ADVICE_NO_FOLDER
			" in a command stands for that of --write, which writes the "
			"files.");
}

// write_details writes what helps, with its command, and what failed, with the reason.
static void write_details(const struct tb_advice *advice, unsigned width, FILE *stream)
{
	for (int failed = 0; failed < 2; failed++) {
		enum tb_verdict wanted = failed ? TB_VERDICT_FAILED : TB_VERDICT_HELPS;
		if (n_of(advice, wanted))
			fputs(failed ? "\nCould not be replayed\n" : "\nTo try it\n",
				stream);
		for (size_t i = 1; i < advice->n; i++) {
			const struct tb_change *change = &advice->changes[i];
			if (change->verdict != wanted)
				continue;
			fprintf(stream, "  %s\n    ", change->title);
			if (failed)
				tb_wrap(stream, 4, 4, width, change->why);
			else // whole, to be copied
				fprintf(stream, "%s\n", change->command);
			if (!failed && change->settings[0])
				fprintf(stream, "    %s\n", change->settings);
		}
	}
}

static int write_text(const struct tb_advice *advice, unsigned width, FILE *stream)
{
	struct tb_table table = table_of(advice);
	char text[512];
	answer(advice, text, sizeof text);
	tb_wrap(stream, 0, 0, width, text);
	int status = table.n_shown ? tb_table_text(&table, width, stream) : TB_OK;
	write_details(advice, width, stream);
	return status;
}

static void write_markdown(const struct tb_advice *advice, FILE *stream)
{
	struct tb_table table = table_of(advice);
	char text[512];
	answer(advice, text, sizeof text);
	fputs("# Advice\n\n", stream);
	tb_markdown_put(stream, text);
	fputc('\n', stream);
	if (table.n_shown)
		tb_table_markdown(&table, stream);
	for (size_t i = 1; i < advice->n; i++)
		if (advice->changes[i].verdict == TB_VERDICT_HELPS)
			fprintf(stream, "\n    %s\n", advice->changes[i].command);
}

static int write_json(const struct tb_advice *advice, FILE *stream)
{
	struct tb_table table = table_of(advice);
	struct tb_json_object root = tb_json_object_new();
	char text[512];
	answer(advice, text, sizeof text);
	tb_json_add_text(&root, "answer", text);
	tb_json_add(&root, "run", json_integer(advice->info->id));
	tb_json_add_text(&root, "input", advice->info->input_name);
	tb_json_add_text(&root, "network", advice->info->network_name);
	tb_json_add(&root, "seeds", json_integer(advice->n_seeds));
	tb_json_add_text(&root, "decides", advice->by_latency ? "latency" : "run time");
	tb_json_add(&root, "changes", tb_table_json(&table));
	return tb_json_write(tb_json_object_take(&root), 17, stream);
}

int tb_advice_write(const struct tb_advice *advice, enum tb_format format, unsigned width,
	FILE *stream, struct tb_error *error)
{
	struct tb_table table = table_of(advice);
	int status = TB_OK;
	if (format == TB_FORMAT_JSON)
		status = write_json(advice, stream);
	else if (format == TB_FORMAT_MARKDOWN)
		write_markdown(advice, stream);
	else if (format == TB_FORMAT_CSV)
		tb_table_csv(&table, stream);
	else
		status = write_text(advice, width, stream);
	return status ? tb_fail_memory(error, "the advice") : TB_OK;
}

int tb_advice_write_schema(FILE *stream, struct tb_error *error)
{
	struct tb_json_object root = tb_json_object_new();
	static const char *const texts[][2] = {
		{"answer", "What it comes to, in sentences."},
		{"input", "What was replayed."},
		{"network", "The preset, or file."},
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
			"With which each change was replayed.", "type", "integer",
			"minimum", 1, "maximum", TB_ADVICE_SEEDS_MOST));
	tb_json_add(&root, "decides",
		json_pack("{s:s, s:[s, s]}", "description",
			"Which gain gives verdict and order.", "enum", "run time",
			"latency"));
	tb_json_add(&root, "changes", tb_table_schema(&changes));
	json_t *schema = tb_schema_root("urn:tailback:advise:1", "Tailback advice",
		"What 'tailback advise -f json' writes. Gains are percent of what the "
		"run "
		"as it was takes.",
		tb_json_object_take(&root));
	return tb_json_write(schema, 6, stream) == TB_OK
		       ? TB_OK
		       : tb_fail_memory(error, "the schema");
}
