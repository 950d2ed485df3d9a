// The comparison's tables and its verdict, shared by text and Markdown.
#include "compare_impl.h"
#include "compare_words.h"
#include "run_capture.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void put_change(struct tb_report_writer *writer, double before, double after)
{
	char text[80];
	if (before == after)
		snprintf(text, sizeof text, "=");
	else if (before == 0)
		snprintf(text, sizeof text, "new");
	else if (after == 0)
		snprintf(text, sizeof text, "gone");
	else if (fabs(after - before) < TB_WORDS_NO_CHANGE * before)
		snprintf(text, sizeof text, "no change");
	else if (after / before >= 10)
		snprintf(text, sizeof text, "x %.4g", after / before);
	else if (after / before < 1 - TB_WORDS_ALL)
		snprintf(text, sizeof text, "below -%.1f %%", 100 * TB_WORDS_ALL);
	else
		snprintf(text, sizeof text, "%+.1f %%", 100 * (after - before) / before);
	tb_report_put_text(writer, text);
}

static int open_table(struct tb_compare *compare, const struct tb_report_table *table,
	struct tb_report_writer *writer)
{
	struct tb_report_table *opened = &compare->tables[compare->n_tables];
	*opened = *table;
	int status = tb_report_table_open(opened, writer);
	compare->n_tables += status == TB_OK;
	return status;
}

static int tabulate_differences(struct tb_compare *compare)
{
	struct tb_report_table table = {
		.id = "differences",
		.title = "What differs",
		.n_rows = (size_t)compare->n_differences,
		.columns =
			{
				{"Setting", "As the command line or the preset has it",
					false},
				{"A", "In the first run", false},
				{"B", "In the second run", false},
			},
	};
	struct tb_report_writer writer;
	if (!table.n_rows)
		return TB_OK;
	if (open_table(compare, &table, &writer))
		return TB_ENOMEM;
	for (int i = 0; i < compare->n_differences; i++) {
		const struct tb_difference *at = &compare->differences[i];
		tb_report_put_text(&writer, at->name);
		tb_report_put_text(&writer, at->a[0] ? at->a : "-");
		tb_report_put_text(&writer, at->b[0] ? at->b : "-");
	}
	return TB_OK;
}

static void time_row(
	struct tb_report_writer *writer, const char *name, double before, double after)
{
	tb_report_put_text(writer, name);
	tb_report_put_time(writer, before);
	tb_report_put_time(writer, after);
	put_change(writer, before, after);
}

static void count_row(struct tb_report_writer *writer, const char *name, uint64_t before,
	uint64_t after)
{
	tb_report_put_text(writer, name);
	tb_report_put_count(writer, before);
	tb_report_put_count(writer, after);
	put_change(writer, (double)before, (double)after);
}

static double a_packet(const struct tb_compare *compare, int which)
{
	uint64_t n = compare->info[which]->n_packets;
	return n ? compare->outcome[which].wait_ps / (double)n : 0;
}

static int tabulate_outcome(struct tb_compare *compare)
{
	const struct tb_run_info *a = compare->info[0], *b = compare->info[1];
	const struct tb_compare_sums *of_a = &compare->outcome[0],
				     *of_b = &compare->outcome[1];
	struct tb_report_table table = {
		.id = "outcome",
		.title = "What came of it",
		.n_rows = 11,
		.columns =
			{
				{"", "What", false},
				{"A", "In the first run", true},
				{"B", "In the second run", true},
				{"Change", "From A to B", true},
			},
	};
	struct tb_report_writer writer;
	if (open_table(compare, &table, &writer))
		return TB_ENOMEM;
	time_row(&writer, "simulated time", (double)a->simulated_ps,
		(double)b->simulated_ps);
	count_row(&writer, "messages", a->n_messages, b->n_messages);
	count_row(&writer, "packets", a->n_packets, b->n_packets);
	const char *carried = tb_run_carried_title(a);
	bool same = strcmp(carried, tb_run_carried_title(b)) == 0;
	tb_report_put_text(&writer, same ? carried : "delivered");
	tb_report_put_size(&writer, a->delivered_bytes);
	tb_report_put_size(&writer, b->delivered_bytes);
	put_change(&writer, (double)a->delivered_bytes, (double)b->delivered_bytes);
	time_row(&writer, "wait of all headers", of_a->wait_ps, of_b->wait_ps);
	time_row(&writer, "wait a packet", a_packet(compare, 0), a_packet(compare, 1));
	time_row(&writer, "longest wait", (double)of_a->longest_wait_ps,
		(double)of_b->longest_wait_ps);
	count_row(&writer, "blocked headers", of_a->n_blocked, of_b->n_blocked);
	count_row(&writer, "links that waited", of_a->n_waiting, of_b->n_waiting);
	time_row(&writer, "latency of a message", of_a->latency_ps, of_b->latency_ps);
	tb_report_put_text(&writer, "slowdown");
	tb_report_put_slowdown(&writer, of_a->slowdown, 0);
	tb_report_put_slowdown(&writer, of_b->slowdown, 0);
	put_change(&writer, of_a->slowdown, of_b->slowdown);
	return TB_OK;
}

// put_signed writes a change of time with its sign.
static void put_signed(struct tb_report_writer *writer, double change_ps)
{
	char time[32], text[40];
	snprintf(text, sizeof text, "%c%s", change_ps < 0 ? '-' : '+',
		tb_report_format_time(fabs(change_ps), time, sizeof time));
	tb_report_put_text(writer, text);
}

static int tabulate_jobs(struct tb_compare *compare)
{
	struct tb_report_table table = {
		.id = "jobs",
		.title = "Jobs",
		.n_rows = compare->n_jobs,
		.columns =
			{
				{"Job", "Its name", false},
				{"Run time in A",
					"From its first post to its last delivery", true},
				{"In B", "The same in the second run", true},
				{"Change", "Against A", true},
				{"Others cost in A", "Run time less that alone", true},
				{"In B", "The same in the second run", true},
				{"Network costs in A", "Alone less on an ideal network",
					true},
				{"In B", "The same in the second run", true},
				{"Latency in A", "Mean of its messages", true},
				{"In B", "The same in the second run", true},
			},
	};
	struct tb_report_writer writer;
	if (!table.n_rows)
		return TB_OK;
	tb_report_remark_rest(&table, compare->n_jobs_matched, "jobs of both runs", "");
	if (open_table(compare, &table, &writer))
		return TB_ENOMEM;
	for (uint32_t i = 0; i < compare->n_jobs; i++) {
		const struct tb_job_times *a = &compare->jobs[i].times[0];
		const struct tb_job_times *b = &compare->jobs[i].times[1];
		tb_report_put_text(&writer, compare->jobs[i].name);
		tb_report_put_time(&writer, (double)a->run.run_ps);
		tb_report_put_time(&writer, (double)b->run.run_ps);
		put_change(&writer, (double)a->run.run_ps, (double)b->run.run_ps);
		tb_report_put_part(&writer, a, TB_JOB_OTHERS);
		tb_report_put_part(&writer, b, TB_JOB_OTHERS);
		tb_report_put_part(&writer, a, TB_JOB_NETWORK);
		tb_report_put_part(&writer, b, TB_JOB_NETWORK);
		tb_report_put_time(&writer, a->run.mean_latency_ps);
		tb_report_put_time(&writer, b->run.mean_latency_ps);
	}
	return TB_OK;
}

// put_moved writes a wait before and after, and how it changed.
static void put_moved(struct tb_report_writer *writer, uint64_t before, uint64_t after)
{
	tb_report_put_time(writer, (double)before);
	tb_report_put_time(writer, (double)after);
	put_signed(writer, (double)after - (double)before);
	put_change(writer, (double)before, (double)after);
}

// alone_text writes how many links or flows only one of the runs has, "" for none.
static const char *alone_text(
	const char *what, uint32_t n_a, uint32_t n_b, char *text, size_t size)
{
	text[0] = '\0';
	if (n_a || n_b)
		snprintf(text, size,
			"%" PRIu32 " %s are in A alone, %" PRIu32 " in B alone.", n_a,
			what, n_b);
	return text;
}

static int tabulate_links(struct tb_compare *compare)
{
	struct tb_report_table table = {
		.id = "links",
		.title = "Links whose wait changed most",
		.n_rows = compare->n_links,
		.columns =
			{
				{"#", "Rank by change of wait", true},
				{"Link", "From and to: level.index:port of a switch",
					false},
				{"Wait in A", "Of packets arriving over the link", true},
				{"Wait in B", "Of packets arriving over the link", true},
				{"More in B", "Or less", true},
				{"Change", "Against A", true},
			},
	};
	struct tb_report_writer writer;
	char note[80];
	if (!table.n_rows)
		return TB_OK;
	tb_report_remark_rest(&table, compare->n_links_moved, "links whose wait changed",
		alone_text("links", compare->pairs.n_only_a, compare->pairs.n_only_b,
			note, sizeof note));
	if (open_table(compare, &table, &writer))
		return TB_ENOMEM;
	for (uint32_t i = 0; i < compare->n_links; i++) {
		const struct tb_mover *mover = &compare->links[i];
		tb_report_put_count(&writer, i + 1);
		tb_report_put_text(&writer, tb_compare_link_name(compare, &mover->pair));
		put_moved(&writer, mover->before, mover->after);
	}
	return TB_OK;
}

static int tabulate_roots(struct tb_compare *compare)
{
	struct tb_report_table table = {
		.id = "congestion-roots",
		.title = "Roots whose wait changed most",
		.n_rows = compare->n_roots,
		.columns =
			{
				{"Root", "What headers wait for in the end", false},
				{"Wait in A", "Of all headers that it holds up", true},
				{"Wait in B", "Of all headers that it holds up", true},
				{"More in B", "Or less", true},
				{"Change", "Against A", true},
			},
	};
	struct tb_report_writer writer;
	if (!table.n_rows)
		return TB_OK;
	tb_report_remark_rest(
		&table, compare->n_roots_moved, "roots whose wait changed", "");
	if (open_table(compare, &table, &writer))
		return TB_ENOMEM;
	for (uint32_t i = 0; i < compare->n_roots; i++) {
		const struct tb_mover *root = &compare->roots[i];
		tb_report_put_text(&writer, tb_compare_link_name(compare, &root->pair));
		put_moved(&writer, root->before, root->after);
	}
	return TB_OK;
}

static int tabulate_job_pairs(struct tb_compare *compare)
{
	struct tb_report_table table = {
		.id = "blame-by-job",
		.title = "Which job makes which wait",
		.n_rows = compare->n_job_pairs,
		.columns =
			{
				{"Waits", "The job whose packets waited", false},
				{"For", "The job whose packets held what they waited for",
					false},
				{"Wait in A", "Over all flows and links", true},
				{"Wait in B", "Over all flows and links", true},
				{"More in B", "Or less", true},
				{"Change", "Against A", true},
			},
	};
	struct tb_report_writer writer;
	if (!table.n_rows)
		return TB_OK;
	tb_report_remark_rest(&table, compare->n_job_pairs_moved,
		"pairs of jobs whose wait changed", "");
	if (open_table(compare, &table, &writer))
		return TB_ENOMEM;
	for (uint32_t i = 0; i < compare->n_job_pairs; i++) {
		const struct tb_job_pair_mover *pair = &compare->job_pairs[i];
		tb_report_put_text(&writer, pair->victim);
		tb_report_put_text(&writer, pair->culprit);
		put_moved(&writer, pair->before, pair->after);
	}
	return TB_OK;
}

static int tabulate_flows(struct tb_compare *compare)
{
	struct tb_report_table table = {
		.id = "flows",
		.title = "Flows whose latency changed most",
		.n_rows = compare->n_flows,
		.columns =
			{
				{"Flow", "From and to", false},
				{"Latency in A", "Of a message, from post to delivery",
					true},
				{"Latency in B", "Of a message, from post to delivery",
					true},
				{"Change", "Against A", true},
				{"Slowdown in A", "Against an idle network", true},
				{"Slowdown in B", "Against an idle network", true},
			},
	};
	struct tb_report_writer writer;
	char note[80];
	if (!table.n_rows)
		return TB_OK;
	tb_report_remark_rest(&table, compare->n_flows_moved,
		"flows whose latency changed",
		alone_text("flows", compare->n_flows_only[0], compare->n_flows_only[1],
			note, sizeof note));
	if (open_table(compare, &table, &writer))
		return TB_ENOMEM;
	for (uint32_t i = 0; i < compare->n_flows; i++) {
		const struct tb_flow_mover *flow = &compare->flows[i];
		tb_report_put_flow(&writer, compare->runs[0].run, flow->job, flow->source,
			flow->destination);
		tb_report_put_time(&writer, flow->latency_ps[0]);
		tb_report_put_time(&writer, flow->latency_ps[1]);
		put_change(&writer, flow->latency_ps[0], flow->latency_ps[1]);
		tb_report_put_slowdown(&writer, flow->slowdown[0], 0);
		tb_report_put_slowdown(&writer, flow->slowdown[1], 0);
	}
	return TB_OK;
}

// append_lost says first how many messages each run lost, if one did.
static void append_lost(struct tb_words *words, const struct tb_run_info *const info[2])
{
	char messages[48];
	if (info[0]->n_undelivered == 0 && info[1]->n_undelivered == 0)
		return;
	for (int i = 1; i >= 0; i--) {
		uint64_t n = info[i]->n_undelivered;
		const char *between = i ? "" : "; ";
		if (n)
			tb_words_append(words, "%s%s %c %s %s not delivered (dead links)",
				between, i ? "In" : "in", 'A' + i,
				tb_format_counted(
					n, "message", messages, sizeof messages),
				n == 1 ? "was" : "were");
		else
			tb_words_append(words, "%s%c delivered all", between, 'A' + i);
	}
	tb_words_append(words, ". ");
}

// by_chance is whether the seed has a say in the ways of a run's packets.
static bool by_chance(const struct tb_run_info *info)
{
	enum tb_ascent ascent = info->network.ascent;
	return ascent == TB_ASCENT_ADAPTIVE || ascent == TB_ASCENT_RANDOM ||
	       ascent == TB_ASCENT_ECMP;
}

static void append_most(const struct tb_compare *compare, struct tb_words *words)
{
	if (compare->n_links == 0)
		return;
	const struct tb_mover *most = &compare->links[0];
	char change[32];
	tb_report_format_time(fabs(tb_mover_change(most)), change, sizeof change);
	tb_words_append(words, " The link that changed most is %s: %s %s.",
		tb_compare_link_name(compare, &most->pair), change,
		tb_mover_change(most) < 0 ? "less" : "more");
}

static void pass_verdict(struct tb_compare *compare)
{
	struct tb_words words = {compare->verdict, sizeof compare->verdict};
	const struct tb_compare_sums *a = &compare->outcome[0], *b = &compare->outcome[1];
	if (!compare->info[0]->complete || !compare->info[1]->complete)
		tb_words_append(&words, "%s did not come to the end. ",
			compare->info[0]->complete   ? "B"
			: compare->info[1]->complete ? "A"
						     : "Neither run");
	if (tb_compare_alike(compare)) {
		tb_words_append(&words,
			"Nothing: both runs are alike in every setting, link and "
			"flow.");
		return;
	}
	append_lost(&words, compare->info);
	if (tb_compare_other_bytes(compare))
		tb_words_append(&words, "The runs are of different inputs. ");
	if (compare->n_differences == 0)
		tb_words_append(&words, "Both runs have the same settings. ");
	tb_words_append(&words, "Headers wait ");
	const char *than =
		tb_words_append_times(&words, a->wait_ps, b->wait_ps, "less", "longer");
	tb_words_append(&words, " in B %s in A, and the run takes ", than);
	tb_words_append_times(&words, (double)compare->info[0]->simulated_ps,
		(double)compare->info[1]->simulated_ps, "less", "longer");
	tb_words_append(&words, ".");
	append_most(compare, &words);
	if (compare->maybe_chance &&
		(by_chance(compare->info[0]) || by_chance(compare->info[1])))
		tb_words_append(&words,
			" Changes of less than 10 %% may be chance: replay both with "
			"--seed 1..5 before trusting them.");
}

int tb_compare_tabulate(struct tb_compare *compare)
{
	pass_verdict(compare);
	if (tabulate_differences(compare) || tabulate_outcome(compare) ||
		tabulate_jobs(compare) || tabulate_job_pairs(compare) ||
		tabulate_links(compare) || tabulate_roots(compare) ||
		tabulate_flows(compare))
		return TB_ENOMEM;
	return TB_OK;
}
