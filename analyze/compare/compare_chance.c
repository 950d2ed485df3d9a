// What differs beyond chance, as a list and in sentences.
#include "compare_impl.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const struct tb_chance_row *chance_row_of(const struct tb_datum *at)
{
	return at->item;
}

static const char *kind_word(size_t i)
{
	static const char *const words[TB_CHANCE_KINDS] = {
		"run", "job", "link", "root", "flow"};
	return i < TB_CHANCE_KINDS ? words[i] : NULL;
}

static void put_kind(struct tb_datum *at)
{
	at->word = kind_word(chance_row_of(at)->kind);
}

static void put_row_name(struct tb_datum *at)
{
	at->word = chance_row_of(at)->name;
}

static void put_row_change(struct tb_datum *at)
{
	const struct tb_paired *test = &chance_row_of(at)->test;
	tb_compare_put_change(at, test->before, test->after);
}

// append_interval writes the interval of a change, in percent of what was before, or as
// times where that is nothing. It ends at -100 %: no time can fall by more, though
// Student's interval, which does not know that, may reach beyond.
static void append_interval(struct tb_words *words, const struct tb_paired *test)
{
	double low = test->change.mean - test->change.half_ci;
	double high = test->change.mean + test->change.half_ci;
	char from[32], to[32];
	if (test->before > 0)
		tb_words_append(words, "%+.1f to %+.1f %%",
			fmax(100 * low / test->before, -100), 100 * high / test->before);
	else
		tb_words_append(words, "%s%s to %s%s", low < 0 ? "-" : "+",
			tb_format_long_time(fabs(low), from, sizeof from),
			high < 0 ? "-" : "+",
			tb_format_long_time(fabs(high), to, sizeof to));
}

static void put_interval(struct tb_datum *at)
{
	char text[96];
	struct tb_words words = {text, sizeof text};
	append_interval(&words, &chance_row_of(at)->test);
	tb_put_text(at, "%s", text);
}

static void put_chance_half(struct tb_datum *at)
{
	at->real = chance_row_of(at)->test.change.half_ci;
}

static void put_chance_moved(struct tb_datum *at)
{
	at->real = chance_row_of(at)->test.change.mean;
}

static void put_q(struct tb_datum *at)
{
	at->real = chance_row_of(at)->test.q;
	tb_put_text(at, at->real < 0.0005 ? "< 0.001" : "%.3f", at->real);
}

static void put_chance_difference(struct tb_datum *at)
{
	at->whole = chance_row_of(at)->differs;
	tb_put_text(at, at->whole ? "yes" : "no");
}

#define ROW(name) TB_MEMBER(struct tb_chance_row, name)

static const struct tb_column columns[] = {
	{"kind", "Of", "The run, a job, a link, a root of congestion or a flow",
		TB_DATUM_TEXT, .put = put_kind, .word = kind_word},
	{"name", "Name", "Of the job, link or flow", TB_DATUM_TEXT, .put = put_row_name},
	{"figure", "Figure",
		"Wait on a link, wait for a root, run time or mean latency of messages",
		TB_DATUM_TEXT, ROW(figure)},
	{"a_ps", "A", "Mean over the seeds", TB_DATUM_MEAN, ROW(test.before)},
	{"b_ps", "B", "Mean over the seeds", TB_DATUM_MEAN, ROW(test.after)},
	{"change_ps", NULL, "B less A", TB_DATUM_MEAN, .put = put_chance_moved,
		.flags = TB_COLUMN_SIGNED},
	{"half_interval_ps", NULL,
		"The change's 95 % interval is this to either side of it", TB_DATUM_MEAN,
		.put = put_chance_half},
	{NULL, "Change", "Against A", TB_DATUM_RATIO, .put = put_row_change},
	{NULL, "95 % interval", "Of the change, against A", TB_DATUM_RATIO,
		.put = put_interval},
	{"q", "q", "Share of false findings among those with no larger q", TB_DATUM_RATIO,
		.put = put_q},
	{"differs", "Beyond chance", "q is below 0.05", TB_DATUM_FLAG,
		.put = put_chance_difference},
};

static void list_chance(struct tb_table *table)
{
	const struct tb_compare *compare = table->of;
	const struct tb_chance *chance = &compare->chance;
	table->n_rows = table->n_shown = chance->n;
	if (!chance->n_pairs)
		return;
	snprintf(table->heading, sizeof table->heading, "What differs over %zu seeds",
		chance->n_pairs);
	snprintf(table->remark, sizeof table->remark,
		"Paired t tests over the seeds; q is their p, adjusted by Benjamini and "
		"Hochberg among all of their kind%s.",
		chance->is_split
			? ", links of cables that differ and the others apart, with half "
			  "of the error each"
			: "");
}

const struct tb_table_type tb_compare_list_chance = {"beyond-chance",
	"What differs beyond chance",
	"Of several seeds: run and jobs, those links, roots and flows that differ "
	"beyond chance, most changed first, and three other links and roots each.",
	TB_COLUMNS(columns),
	.rows = {offsetof(struct tb_compare, chance.rows), sizeof(struct tb_chance_row),
		true},
	.list = list_chance};

static const char *append_change(struct tb_words *words, const struct tb_paired *test)
{
	const char *than =
		tb_words_append_times(words, test->before, test->after, "less", "longer");
	tb_words_append(words, ", 95 %% interval ");
	append_interval(words, test);
	return than;
}

static void append_total(
	struct tb_words *words, const struct tb_chance_row *row, const char *what)
{
	tb_words_append(words, " %s ", what);
	append_change(words, &row->test);
	tb_words_append(words, row->differs ? "." : ": no more than chance.");
}

static void judge_job(struct tb_job_mover *job, const struct tb_chance_row *row)
{
	struct tb_words words = {job->verdict, sizeof job->verdict};
	bool latency = strcmp(row->figure, "latency") == 0;
	tb_words_append(&words, "Job %s %s: %s ", job->name,
		!row->differs		    ? "does not change beyond chance"
		: row->test.change.mean < 0 ? "gains"
					    : "loses",
		latency ? "its messages take" : "it takes");
	append_change(&words, &row->test);
	tb_words_append(&words, ".");
}

void tb_compare_pass_verdict_of_seeds(struct tb_compare *compare, struct tb_words *words)
{
	const struct tb_chance *chance = &compare->chance;
	bool named[TB_CHANCE_KINDS] = {false};
	append_total(words, &chance->rows[TB_CHANCE_WAIT], "Packets wait");
	append_total(words, &chance->rows[TB_CHANCE_TIME], "The run takes");
	append_total(words, &chance->rows[TB_CHANCE_LATENCY], "A message takes");
	const char *between = " ";
	for (int kind = TB_CHANCE_JOB; kind < TB_CHANCE_KINDS; kind++) {
		if (!chance->n_tested[kind])
			continue;
		tb_words_append(words, "%s%zu of %zu %s%s", between,
			chance->n_differing[kind], chance->n_tested[kind],
			kind_word((size_t)kind), chance->n_tested[kind] == 1 ? "" : "s");
		between = ", ";
	}
	if (*between == ',')
		tb_words_append(words, " differ beyond chance.");
	for (size_t i = 0; i < chance->n; i++) {
		const struct tb_chance_row *row = &chance->rows[i];
		if (row->kind == TB_CHANCE_JOB &&
			!compare->jobs[row->at].n_undelivered[0] &&
			!compare->jobs[row->at].n_undelivered[1])
			judge_job(&compare->jobs[row->at], row);
		if (row->kind != TB_CHANCE_LINK && row->kind != TB_CHANCE_ROOT)
			continue;
		if (named[row->kind])
			continue;
		named[row->kind] = true;
		char change[32];
		double moved_ps = row->test.change.mean;
		tb_words_append(words, " The %s that changed most is %s: %s %s%s.",
			kind_word(row->kind), row->name,
			tb_format_long_time(fabs(moved_ps), change, sizeof change),
			moved_ps < 0 ? "less" : "more",
			row->differs ? "" : ", no more than chance");
	}
}
