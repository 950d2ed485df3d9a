#include "compare_impl.h"

#include "compare_parts.h"
#include "flow_table.h"
#include "markup.h"
#include "order.h"
#include "page.h"
#include "pressed.h"
#include "select.h"
#include "text_lines.h"
#include "visible.h"
#include "wrap.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_BYTES 1024 // of a file name, unprintable bytes escaped

void tb_compare_free(struct tb_compare *compare)
{
	if (!compare)
		return;
	tb_link_pairs_fini(&compare->pairs);
	free(compare->links);
	free(compare->link_figures);
	free(compare->roots);
	free(compare->root_waits);
	free(compare->job_pairs);
	free(compare->flows);
	free(compare->calls);
	free(compare->load_movers);
	for (int i = 0; i < 2; i++)
		tb_rank_loads_fini(&compare->loads[i]);
	tb_call_spans_fini(&compare->call_spans[0]);
	tb_call_spans_fini(&compare->call_spans[1]);
	free(compare->jobs);
	free(compare->recorded);
	free(compare->ranks);
	tb_recorded_fini(&compare->of_traces[0]);
	tb_recorded_fini(&compare->of_traces[1]);
	tb_chance_fini(&compare->chance);
	free(compare);
}

const char *tb_compare_link_name(
	const struct tb_compare *compare, const struct tb_link_pair *pair)
{
	if (pair->a.id != TB_ID_NONE)
		return tb_run_links(compare->runs[0].run)[pair->a.id].name;
	return tb_run_links(compare->runs[1].run)[pair->b.id].name;
}

bool tb_compare_alike(const struct tb_compare *compare)
{
	return compare->n_differences == 0 && compare->n_links_moved == 0 &&
	       compare->n_flows_moved == 0;
}

static bool digests_known(const struct tb_compare *compare)
{
	return compare->info[0]->input_digest[0] && compare->info[1]->input_digest[0];
}

bool tb_compare_same_bytes(const struct tb_compare *compare)
{
	return digests_known(compare) && strcmp(compare->info[0]->input_digest,
						 compare->info[1]->input_digest) == 0;
}

bool tb_compare_other_bytes(const struct tb_compare *compare)
{
	return digests_known(compare) && !tb_compare_same_bytes(compare);
}

uint32_t tb_compare_group_of(const struct tb_run *run, uint32_t link)
{
	const struct tb_link_info *at = &tb_run_links(run)[link].at;
	if (at->kind == TB_LINK_INJECTION || at->kind == TB_LINK_EJECTION)
		return at->kind == TB_LINK_EJECTION;
	bool down = at->kind == TB_LINK_DOWN;
	uint32_t level = tb_run_switches(run)[down ? at->to : at->from].at.level;
	return TB_GROUP_UP + 2 * level + down;
}

static void sum_up_compared_links(struct tb_compare_sums *outcome,
	const struct tb_run *run, const struct tb_link_sample *samples)
{
	const struct tb_run_info *info = tb_run_info(run);
	uint64_t hottest_ps = 0;
	outcome->hottest = TB_ID_NONE;
	for (uint32_t i = 0; i < info->n_links; i++) {
		const struct tb_link_sample *sample = &samples[i];
		uint32_t group = tb_compare_group_of(run, i);
		if (group < TB_COMPARE_GROUPS && sample->n_packets) {
			outcome->groups[group].n_used++;
			outcome->groups[group].n_full +=
				100 * (double)sample->busy_ps >=
				TB_GROUP_FULL * (double)info->simulated_ps;
		}
		outcome->wait_ps += (double)sample->wait_ps;
		outcome->n_waiting += sample->wait_ps > 0;
		outcome->n_blocked += sample->n_blocked;
		if (outcome->longest_wait_ps < sample->longest_wait_ps)
			outcome->longest_wait_ps = sample->longest_wait_ps;
		if (sample->wait_ps <= hottest_ps)
			continue;
		hottest_ps = sample->wait_ps;
		outcome->hottest = i;
	}
}

bool tb_compare_is_of_counters(const struct tb_compare *compare)
{
	return tb_run_is_measured(compare->info[0]) &&
	       tb_run_is_measured(compare->info[1]);
}

int tb_compare_flow_order(const struct tb_flow_sample *a, const struct tb_flow_sample *b)
{
	int order = TB_ORDER(a->source.id, b->source.id);
	order = order ? order : TB_ORDER(a->destination.id, b->destination.id);
	return order ? order : TB_ORDER(a->job, b->job);
}

// flow_mover_change: a flow without messages has no latency that could change.
static double flow_mover_change(const struct tb_flow_mover *flow)
{
	double change_ps = tb_flow_figure_of(&flow->of[1], TB_FLOW_LATENCY) -
			   tb_flow_figure_of(&flow->of[0], TB_FLOW_LATENCY);
	return isnan(change_ps) ? 0 : fabs(change_ps);
}

static int order_flow_movers(const void *left, const void *right)
{
	const struct tb_flow_mover *a = left, *b = right;
	double more = flow_mover_change(a) - flow_mover_change(b);
	if (more > 0 || more < 0)
		return more > 0 ? -1 : 1;
	return tb_compare_flow_order(&a->of[0], &b->of[0]);
}

static int gather_flows(struct tb_compare *compare, uint32_t top, struct tb_error *error)
{
	struct tb_flow_table tables[2] = {{0}, {0}};
	int status = TB_OK;
	for (int i = 0; !status && i < 2; i++) {
		status = tb_flow_table_init(&tables[i], compare->runs[i].run, error);
		if (!status) {
			struct tb_compare_sums *outcome = &compare->outcome[i];
			const struct tb_flow_table *table = &tables[i];
			double latency_ps = 0, network_ps = 0, ideal_ps = 0;
			uint64_t n_messages = 0;
			for (uint32_t k = 0; k < table->n; k++) {
				const struct tb_flow_sample *flow = &table->rows[k];
				n_messages += flow->n_messages;
				latency_ps += (double)flow->latency_ps;
				network_ps +=
					flow->ideal_ps ? (double)flow->network_ps : 0;
				ideal_ps += (double)flow->ideal_ps;
			}
			outcome->latency_ps =
				n_messages ? latency_ps / (double)n_messages : 0;
			outcome->slowdown = ideal_ps > 0 ? network_ps / ideal_ps : 0;
		}
	}
	// Groups of different sizes cannot be compared.
	bool alike = tables[0].group == tables[1].group;
	uint32_t room = tables[0].n < tables[1].n ? tables[0].n : tables[1].n;
	if (!status) {
		compare->flows = calloc((size_t)room + 1, sizeof *compare->flows);
		if (!compare->flows)
			status = tb_fail_memory(error, "a comparison");
	}
	if (!status && alike) {
		// Walk both tables, which are sorted by ends, and keeps the flows of both
		// runs that changed: a flow that one run lacks has no latency to compare,
		// and is only counted.
		const struct tb_flow_table *a = &tables[0];
		const struct tb_flow_table *b = &tables[1];
		uint32_t n_both = 0, i = 0, j = 0;
		while (i < a->n && j < b->n) {
			int order = tb_compare_flow_order(&a->rows[i], &b->rows[j]);
			if (order == 0) {
				struct tb_flow_mover mover = {{a->rows[i], b->rows[j]}};
				n_both++;
				if (flow_mover_change(&mover) > 0)
					compare->flows[compare->n_flows_moved++] = mover;
			}
			i += order <= 0;
			j += order >= 0;
		}
		compare->n_flows_only[0] = a->n - n_both;
		compare->n_flows_only[1] = b->n - n_both;
		uint32_t n = compare->n_flows_moved;
		compare->n_flows = top && top < n ? top : n;
		tb_select_first(compare->flows, n, sizeof *compare->flows,
			compare->n_flows, order_flow_movers);
	}
	tb_flow_table_fini(&tables[0]);
	tb_flow_table_fini(&tables[1]);
	return status;
}

// find_rerouted finds which share of the bytes between switches takes other links, at
// least: what one link carries less in B, others carry more.
static void find_rerouted(
	struct tb_compare *compare, const struct tb_link_sample *const samples[2])
{
	const struct tb_run_link *links[] = {
		tb_run_links(compare->runs[0].run), tb_run_links(compare->runs[1].run)};
	double sums[2] = {0, 0}, changed = 0;
	for (uint32_t i = 0; i < compare->pairs.n; i++) {
		const struct tb_link at[2] = {
			compare->pairs.pairs[i].a, compare->pairs.pairs[i].b};
		double bytes[2] = {0, 0};
		for (int k = 0; k < 2; k++)
			if (at[k].id != TB_ID_NONE &&
				links[k][at[k].id].at.kind == TB_LINK_UP)
				bytes[k] = (double)samples[k][at[k].id].bytes;
		sums[0] += bytes[0];
		sums[1] += bytes[1];
		changed += fabs(bytes[1] - bytes[0]);
	}
	double least = fmin(sums[0], sums[1]);
	if (least > 0)
		compare->rerouted_percent =
			50 * (changed - fabs(sums[1] - sums[0])) / least;
}

static int gather_compared_links(
	struct tb_compare *compare, uint32_t top, struct tb_error *error)
{
	const struct tb_window whole = {0, 0};
	const struct tb_link_sample *samples[2];
	int status = tb_link_pairs_init(
		&compare->pairs, compare->runs[0].run, compare->runs[1].run, error);
	for (int i = 0; !status && i < 2; i++) {
		status = tb_run_look(compare->runs[i].run, whole, &samples[i], error);
		if (!status)
			sum_up_compared_links(
				&compare->outcome[i], compare->runs[i].run, samples[i]);
	}
	if (!status && !tb_compare_is_of_counters(compare))
		find_rerouted(compare, samples);
	if (!status && tb_compare_is_of_counters(compare)) {
		// Add up what both of two runs of counters know exactly.
		const struct tb_link_sample *a = samples[0];
		const struct tb_link_sample *b = samples[1];
		for (uint32_t i = 0; i < compare->pairs.n; i++) {
			const struct tb_link_pair *pair = &compare->pairs.pairs[i];
			enum tb_known known[2];
			tb_link_pair_known(&compare->pairs, pair, TB_WAIT, known);
			if (pair->a.id == TB_ID_NONE || pair->b.id == TB_ID_NONE ||
				known[0] != TB_EXACT || known[1] != TB_EXACT)
				continue;
			compare->n_common++;
			compare->common_wait_ps[0] += (double)a[pair->a.id].wait_ps;
			compare->common_wait_ps[1] += (double)b[pair->b.id].wait_ps;
		}
	}
	if (!status)
		status = tb_movers(&compare->pairs, samples[0], samples[1], TB_WAIT, top,
			&compare->links, &compare->n_links, &compare->n_links_moved,
			error);
	if (status)
		return status;
	size_t size = sizeof *compare->link_figures;
	compare->link_figures = calloc((size_t)compare->n_links + 1, size);
	if (!compare->link_figures)
		return tb_fail_memory(error, "a comparison");
	for (uint32_t i = 0; i < compare->n_links; i++) {
		struct tb_link_pair pair = compare->links[i].pair;
		if (pair.a.id != TB_ID_NONE)
			compare->link_figures[i][0] = samples[0][pair.a.id];
		if (pair.b.id != TB_ID_NONE)
			compare->link_figures[i][1] = samples[1][pair.b.id];
	}
	return TB_OK;
}

// gather_parts takes the run times apart along the critical paths.
static int gather_parts(struct tb_compare *compare, struct tb_error *error)
{
	int status = TB_OK;
	for (int i = 0; !status && i < 2; i++) {
		struct tb_critical_path path = {.steps = NULL};
		tb_time_ps *parts = compare->outcome[i].parts;
		status = tb_critical_path_init(&path, compare->runs[i].run, error);
		if (!status)
			status = tb_pressed_find(&parts[TB_PART_PRESSED],
				compare->runs[i].run, &path, error);
		for (unsigned cause = 0; cause < TB_PATH_CAUSES; cause++)
			parts[cause] = path.causes[cause];
		parts[TB_PATH_QUEUE] -= parts[TB_PART_PRESSED];
		tb_critical_path_fini(&path);
	}
	return status;
}

int tb_compare_new(struct tb_compare **compare, struct tb_compared a,
	struct tb_compared b, uint32_t top, struct tb_error *error)
{
	struct tb_compare *made = calloc(1, sizeof *made);
	if (!made)
		return tb_fail_memory(error, "a comparison");
	made->runs[0] = a;
	made->runs[1] = b;
	made->top = top;
	made->info[0] = tb_run_info(a.run);
	made->info[1] = tb_run_info(b.run);
	made->n_differences =
		tb_run_differences(made->info[0], made->info[1], made->differences);
	int status = gather_compared_links(made, top, error);
	if (!status)
		status = gather_parts(made, error);
	if (!status)
		tb_compare_add_cables(made);
	if (!status)
		status = tb_compare_gather_blame(made, top, error);
	if (!status)
		status = gather_flows(made, top, error);
	if (!status)
		status = tb_compare_gather_calls(made, top, error);
	if (!status)
		status = tb_compare_gather_loads(made, top, error);
	if (!status)
		status = tb_compare_gather_jobs(made, top, error);
	if (!status)
		status = tb_compare_gather_recorded(made, error);
	if (status) {
		tb_compare_free(made);
		return status;
	}
	tb_compare_tabulate(made);
	*compare = made;
	return TB_OK;
}

const char *tb_compare_verdict(const struct tb_compare *compare)
{
	return compare->verdict;
}

int tb_compare_seeds(struct tb_compare *compare, const struct tb_seeds seeds[2],
	struct tb_error *error)
{
	if (seeds[0].n < 2 || !tb_compare_same_work(compare))
		return TB_OK;
	int status =
		tb_chance_gather(&compare->chance, compare, seeds, compare->top, error);
	if (status != TB_OK)
		return status;
	if (!compare->chance.n_pairs) {
		compare->n_equal = seeds[0].n - 1;
		tb_compare_judge_jobs(compare);
	}
	tb_compare_tabulate(compare);
	return TB_OK;
}

// gate_times stores what a gate judges, of A and B.
static void gate_times(
	const struct tb_compare *compare, enum tb_gate gate, double times[2])
{
	enum tb_chance_total total =
		gate == TB_GATE_WAIT ? TB_CHANCE_WAIT : TB_CHANCE_TIME;
	for (int i = 0; i < 2; i++)
		times[i] = gate == TB_GATE_RUN_TIME
				   ? (double)compare->info[i]->simulated_ps
			   : tb_compare_is_of_counters(compare)
				   ? compare->common_wait_ps[i]
				   : compare->outcome[i].wait_ps;
	if (compare->chance.n_pairs) {
		times[0] = compare->chance.rows[total].test.before;
		times[1] = compare->chance.rows[total].test.after;
	}
}

double tb_compare_growth(const struct tb_compare *compare, enum tb_gate gate)
{
	double times[2];
	gate_times(compare, gate, times);
	if (times[0] > 0)
		return 100 * (times[1] - times[0]) / times[0];
	return times[1] > 0 ? (double)INFINITY : 0;
}

bool tb_compare_is_by_chance(const struct tb_compare *compare, enum tb_gate gate)
{
	bool wait = gate == TB_GATE_WAIT;
	double times[2];
	if (compare->chance.n_pairs)
		return !compare->chance.rows[wait ? TB_CHANCE_WAIT : TB_CHANCE_TIME]
				.differs;
	if (compare->random_places)
		return true;
	gate_times(compare, gate, times);
	return (wait && tb_compare_is_small(compare, times[0], times[1])) ||
	       tb_compare_is_chance(times[0], times[1],
		       tb_compare_seed_moves(
			       compare, wait ? TB_SEED_WAIT : TB_SEED_RUN_TIME));
}

const char *tb_compare_why_not(const struct tb_compare *compare, enum tb_gate gate)
{
	bool measured = tb_run_is_measured(compare->info[0]) ||
			tb_run_is_measured(compare->info[1]);
	if (!tb_compare_same_work(compare))
		return "carried different work, whose times do not compare";
	if (gate == TB_GATE_RUN_TIME && measured)
		return "were measured by counters, which know no run time";
	if (gate == TB_GATE_RUN_TIME &&
		!(compare->info[0]->complete && compare->info[1]->complete))
		return "did not both come to the end";
	if (gate == TB_GATE_WAIT && !tb_compare_same_waits(compare))
		return "count waits by packets and, of the fluid, by messages";
	return NULL;
}

static void put_plain(FILE *stream, const char *text)
{
	fputs(text, stream);
}

void tb_compare_put_run(FILE *stream, enum tb_format format, const char *label,
	const struct tb_compared *of, size_t n_more)
{
	const struct tb_run_info *info = tb_run_info(of->run);
	char buffer[SHOWN_BYTES], more[64] = "";
	const char *store = tb_visible(of->store, buffer, sizeof buffer);
	if (n_more)
		snprintf(more, sizeof more,
			n_more == 1 ? " and %zu more, of another seed"
				    : " and %zu more, each of another seed",
			n_more);
	bool html = format == TB_FORMAT_HTML, markdown = format == TB_FORMAT_MARKDOWN;
	void (*put)(FILE *, const char *) = html       ? tb_markup_put
					    : markdown ? tb_markdown_put
						       : put_plain;
	fprintf(stream, "%s%s%s",
		html	   ? "<dt>"
		: markdown ? "- "
			   : "",
		label,
		html	   ? "</dt><dd>"
		: markdown ? ": "
			   : "  ");
	put(stream, store);
	fprintf(stream, ", run %" PRId64 "%s: ", info->id, more);
	put(stream, info->input_name);
	fputs(" on ", stream);
	put(stream, info->network_name);
	fprintf(stream, "%s%s\n", tb_run_caution(info), html ? "</dd>" : "");
}

// is_the_run is whether what a job gains is what the verdict says of the run.
static bool is_the_run(const struct tb_compare *compare, const struct tb_job_mover *job)
{
	bool same = job->same_work && compare->n_jobs_matched == 1;
	for (int i = 0; i < 2; i++) {
		const struct tb_run_info *info = compare->info[i];
		double run_ps = (double)job->times[i].run.run_ps;
		same = same && info->n_jobs == 1 && info->n_calls == 0 &&
		       job->n_undelivered[i] == 0 &&
		       run_ps > 0.99 * (double)info->simulated_ps;
	}
	return same;
}

// write_job_verdicts writes what each job gains or loses, at most so many.
static void write_job_verdicts(
	const struct tb_compare *compare, uint32_t most, unsigned width, FILE *stream)
{
	if (tb_compare_alike(compare))
		return;
	for (uint32_t i = 0; i < compare->n_jobs && i < most; i++)
		if (most == UINT32_MAX || !is_the_run(compare, &compare->jobs[i]))
			tb_wrap(stream, 0, 0, width, compare->jobs[i].verdict);
	if (compare->n_jobs > most)
		fprintf(stream, "Of %u more jobs: --full\n", compare->n_jobs - most);
}

// write_brief_comparison writes what fits a screen: what came of it before what differs.
static int write_brief_comparison(
	const struct tb_compare *compare, unsigned width, FILE *stream)
{
	enum { WIDTH = 80, JOBS = 4, ROWS = 5, SETTINGS = 6, FIGURES = 8 };
	static const char *const of_links[] = {
		"name", "wait_a_ps", "wait_b_ps", "change_ps", NULL};
	static const char *const of_chance[] = {
		"name", "figure", "a_ps", "b_ps", "q", "differs", NULL};
	width = width ? width : WIDTH;
	tb_wrap(stream, 0, 0, width, compare->verdict);
	write_job_verdicts(compare, JOBS, width, stream);
	int status = TB_OK;
	for (size_t i = 0; i < TB_COMPARE_LISTS && !status; i++) {
		struct tb_table part = compare->tables[i];
		const char *const *keys = NULL;
		size_t n = part.n_shown;
		if (part.type == &tb_compare_list_outcome) {
			n = FIGURES + (compare->info[0]->n_calls ? 2 : 0);
		} else if (part.type == &tb_compare_list_differences) {
			size_t main = 0;
			while (main < n && !compare->differences[main].follows)
				main++;
			n = main == 0 ? n : main;
			n = n < SETTINGS ? n : SETTINGS;
		} else if (part.type == &tb_compare_list_links) {
			n = ROWS;
			keys = of_links;
		} else if (part.type == &tb_compare_list_chance) {
			n = 2 * ROWS;
			keys = of_chance;
		} else {
			continue;
		}
		size_t n_all = part.n_shown;
		part.n_shown = n < n_all ? n : n_all;
		part.remark[0] = '\0';
		if (part.type == &tb_compare_list_differences && n < n_all)
			snprintf(part.remark, sizeof part.remark,
				n_all - n == 1
					? "And %zu more."
					: "And %zu more, most of which follow from these "
					  "or belong to one of the networks alone.",
				n_all - n);
		if (part.n_shown)
			status = tb_table_text_of(&part, keys, width, stream);
	}
	fputc('\n', stream);
	tb_wrap(stream, 0, 0, width, "All lists: --full; a page of them: -o change.html");
	return status;
}

const struct tb_table *tb_compare_tables(const struct tb_compare *compare, size_t *n)
{
	*n = TB_COMPARE_LISTS;
	return compare->tables;
}

static size_t n_more_seeds(const struct tb_compare *compare)
{
	return compare->chance.n_pairs ? compare->chance.n_pairs - 1 : compare->n_equal;
}

int tb_compare_put_sides(
	const struct tb_compare *compare, tb_compare_put *put, void *context)
{
	for (int i = 0; i < 2; i++) {
		char *text = NULL;
		size_t size;
		FILE *memory = open_memstream(&text, &size);
		if (!memory)
			return TB_ENOMEM;
		tb_compare_put_run(memory, TB_FORMAT_TEXT, i ? "B" : "A",
			&compare->runs[i], n_more_seeds(compare));
		text = tb_text_written(memory, &text);
		if (!text)
			return TB_ENOMEM;
		text[strcspn(text, "\n")] = '\0';
		put(context, text);
		free(text);
	}
	return TB_OK;
}

void tb_compare_put_jobs(
	const struct tb_compare *compare, tb_compare_put *put, void *context)
{
	for (uint32_t i = 0; i < compare->n_jobs && !tb_compare_alike(compare); i++)
		if (!is_the_run(compare, &compare->jobs[i]))
			put(context, compare->jobs[i].verdict);
}

static void put_html_job(void *stream, const char *text)
{
	fputs("<li>", stream);
	tb_markup_put(stream, text);
	fputs("</li>\n", stream);
}

static int write_compare_html(const struct tb_compare *compare, FILE *stream)
{
	int status = TB_OK;
	tb_page_begin("What changed: ", compare->info[1]->input_name, stream);
	fputs("<header>\n<p class=\"eyebrow\">Tailback comparison</p>\n"
	      "<h1>What changed</h1>\n<dl>\n",
		stream);
	for (int i = 0; i < 2; i++)
		tb_compare_put_run(stream, TB_FORMAT_HTML, i ? "B" : "A",
			&compare->runs[i], n_more_seeds(compare));
	fputs("</dl>\n<p class=\"verdict\">", stream);
	tb_markup_put(stream, compare->verdict);
	fputs("</p>\n<ul class=\"findings\">\n", stream);
	tb_compare_put_jobs(compare, put_html_job, stream);
	fputs("</ul>\n<nav>", stream);
	tb_page_links(compare->tables, TB_COMPARE_LISTS, stream);
	fputs("</nav>\n</header>\n<main>\n", stream);
	for (size_t i = 0; i < TB_COMPARE_LISTS && status == TB_OK; i++)
		status = tb_table_html(&compare->tables[i], stream);
	tb_page_end(" A is before, B is after.", stream);
	return status;
}

int tb_compare_write(const struct tb_compare *compare, enum tb_format format, bool full,
	unsigned width, FILE *stream, struct tb_error *error)
{
	int status = TB_OK;
	const char *csv = compare->chance.n_pairs ? "beyond-chance" : "links";
	const size_t n_more = n_more_seeds(compare);
	if (format == TB_FORMAT_CSV) {
		for (size_t i = 0; i < TB_COMPARE_LISTS; i++)
			if (strcmp(tb_compare_lists[i]->name, csv) == 0)
				tb_table_csv(&compare->tables[i], stream);
	} else if (format == TB_FORMAT_JSON) {
		status = tb_compare_write_json(compare, stream);
	} else if (format == TB_FORMAT_HTML) {
		status = write_compare_html(compare, stream);
	} else if (format == TB_FORMAT_MARKDOWN) {
		fputs("# What changed\n\n", stream);
		for (int i = 0; i < 2; i++)
			tb_compare_put_run(stream, format, i ? "**B**" : "**A**",
				&compare->runs[i], n_more);
		fputc('\n', stream);
		tb_markdown_put(stream, compare->verdict);
		fputc('\n', stream);
		for (uint32_t i = 0; i < compare->n_jobs && !tb_compare_alike(compare);
			i++) {
			fputs(i ? "- " : "\n- ", stream);
			tb_markdown_put(stream, compare->jobs[i].verdict);
			fputc('\n', stream);
		}
		for (size_t i = 0; i < TB_COMPARE_LISTS; i++)
			if (compare->tables[i].n_shown)
				tb_table_markdown(&compare->tables[i], stream);
	} else if (format == TB_FORMAT_TEXT) {
		for (int i = 0; i < 2; i++)
			tb_compare_put_run(
				stream, format, i ? "B" : "A", &compare->runs[i], n_more);
		fputc('\n', stream);
		if (!full) {
			status = write_brief_comparison(compare, width, stream);
		} else {
			tb_wrap(stream, 0, 0, width, compare->verdict);
			write_job_verdicts(compare, UINT32_MAX, width, stream);
		}
		for (size_t i = 0; full && i < TB_COMPARE_LISTS && !status; i++)
			if (compare->tables[i].n_shown)
				status =
					tb_table_text(&compare->tables[i], width, stream);
	}
	return status ? tb_fail_memory(error, "a comparison") : TB_OK;
}
