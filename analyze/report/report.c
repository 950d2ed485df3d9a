// The report as plain text and Markdown.
#include "order.h"
#include "report_impl.h"
#include "underload.h"
#include "wrap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FACT_WIDTH 10 // of the longest name of a fact

#define BRIEF_WIDTH 80
#define BRIEF_ROWS  5
#define BRIEF_NOTES 1

// table_of returns the list of a type.
static const struct tb_table *table_of(
	const struct tb_report *report, const struct tb_table_type *type)
{
	size_t i = 0;
	while (report->tables[i].type != type)
		i++;
	return &report->tables[i];
}

// shorten leaves the first rows of a list, and says of how many they are the first.
static void shorten(struct tb_table *table, size_t most, size_t n_all)
{
	char all[32];
	if (table->n_shown > most)
		table->n_shown = most;
	table->remark[0] = '\0';
	if (table->n_shown < n_all)
		snprintf(table->remark, sizeof table->remark, "The first %zu of %s.",
			table->n_shown, tb_format_count(n_all, all, sizeof all));
}

// write_brief_table writes the first rows of a list, in some of its columns.
static int write_brief_table(const struct tb_table *table, size_t n_all,
	const char *const *keys, const struct tb_report_form *form, FILE *stream)
{
	struct tb_table part = *table;
	unsigned width = form->width ? form->width : BRIEF_WIDTH;
	shorten(&part, form->whole ? SIZE_MAX : BRIEF_ROWS, n_all);
	return part.n_shown ? tb_table_text_of(&part, keys, width, stream) : TB_OK;
}

// report_recorded_on writes what stands behind the network's name: on what the input
// was recorded (underload.h).
static const char *report_recorded_on(
	const struct tb_report *report, char *buffer, size_t size)
{
	const struct tb_recorded_list *jobs = &report->recorded.jobs;
	return tb_recorded_on_text(tb_run_recorded_on(report->run),
		jobs->n ? jobs->rows[0].bytes_per_s : 0, buffer, size);
}

#define TITLE_SIZE 640

// brief_title writes what was replayed, on what, and how long that took.
static const char *brief_title(const struct tb_report *report, char *buffer, size_t size)
{
	char title[160], nodes[48], time[32], sampled[96], recorded[80];
	bool samples = report->has_capture && report->capture.sampled_most;
	snprintf(buffer, size, "%s on %s%s%s%s, %s: %s%s%s",
		tb_report_title(report, title, sizeof title), report->info->network_name,
		tb_run_caution(report->info),
		report->info->is_chosen ? "" : ", the default",
		report_recorded_on(report, recorded, sizeof recorded),
		tb_format_counted(report->info->n_nodes, "node", nodes, sizeof nodes),
		tb_format_time(report->info->simulated_ps, time, sizeof time),
		samples ? "; " : "",
		samples ? tb_run_sampled(&report->capture, sampled, sizeof sampled) : "");
	return buffer;
}

static void write_title(const struct tb_report *report, FILE *stream)
{
	char title[TITLE_SIZE];
	fprintf(stream, "Run %" PRId64 ": %s\n", report->info->id,
		brief_title(report, title, sizeof title));
}

// write_brief writes what fits a screen.
static int write_brief(
	const struct tb_report *report, const struct tb_report_form *form, FILE *stream)
{
	static const char *const of_jobs[] = {
		"job", "nodes", "wait_ps", "wait_for_others_ps", NULL};
	static const char *const of_times[] = {"job", "first_ps", "last_ps", "run_ps",
		"alone_ps", "ideal_ps", "others_cost_ps", NULL};
	static const char *const of_links[] = {"rank", "name", "wait_ps",
		"percent_of_wait", "cost_ps", "busy_percent", NULL};
	unsigned width = form->width ? form->width : BRIEF_WIDTH;
	write_title(report, stream);
	fputc('\n', stream);
	// What stands below leaves so much room.
	size_t most = TB_PARAGRAPH_MOST, n_tried = 0;
	for (size_t i = 0; i < report->findings.n; i++)
		n_tried += report->findings.list[i].command != NULL;
	most -= (report->info->n_jobs > 1 ? 4 : n_tried > 1 ? 3 : 1) * most / 12;
	tb_report_paragraph(&report->findings, most, false, width, stream);
	tb_report_remedies(&report->findings, false, width, stream);
	int status = TB_OK;
	if (report->info->n_jobs > 1 && tb_report_any_alone(report))
		status = write_brief_table(table_of(report, &tb_list_job_times),
			report->jobs.n, of_times, form, stream);
	else if (report->info->n_jobs > 1)
		status = write_brief_table(table_of(report, &tb_list_jobs),
			report->jobs.n, of_jobs, form, stream);
	if (!status)
		status = write_brief_table(table_of(report, &tb_list_hot_links),
			report->n_waiting, of_links, form, stream);
	bool recorded = report->recorded.jobs.n == 1;
	if (recorded || report->info->n_notes)
		fputs("\nNotes\n", stream);
	if (recorded) {
		// What a replay leaves out of a trace shows in its time.
		char text[512] = "recorded ";
		size_t used = strlen(text);
		tb_recorded_sentence(
			&report->recorded.jobs.rows[0], text + used, sizeof text - used);
		fputs("  - ", stream);
		tb_wrap(stream, 4, 4, width, text);
	}
	for (uint32_t i = 0; i < report->info->n_notes && i < BRIEF_NOTES; i++) {
		fputs("  - ", stream);
		tb_wrap(stream, 4, 4, width, report->info->notes[i].text);
	}
	if (report->info->n_notes > BRIEF_NOTES)
		fprintf(stream, "  - %zu more\n",
			(size_t)report->info->n_notes - BRIEF_NOTES);
	fputc('\n', stream);
	tb_wrap(stream, 0, 0, form->width,
		tb_run_is_measured(report->info)
			? "All lists: --full; a page with the matrix: -o report.html"
			: "All lists: --full; a page with the matrix: -o report.html; "
			  "what helps: advise");
	return status;
}

int tb_report_write_github(const struct tb_report *report, FILE *stream)
{
	char title[TITLE_SIZE];
	fputs("### ", stream);
	tb_markdown_put(stream, brief_title(report, title, sizeof title));
	fputs("\n\n", stream);
	tb_report_paragraph(&report->findings, TB_PARAGRAPH_MOST, true, 0, stream);
	tb_report_remedies(&report->findings, true, 0, stream);
	struct tb_table links = *table_of(report, &tb_list_hot_links);
	shorten(&links, BRIEF_ROWS, report->n_waiting);
	if (links.n_shown)
		tb_table_markdown(&links, stream);
	fputs("\n<details><summary>All lists</summary>\n\n", stream);
	tb_report_write_markdown(report, stream);
	fputs("\n</details>\n", stream);
	return TB_OK;
}

int tb_report_write_text(
	const struct tb_report *report, const struct tb_report_form *form, FILE *stream)
{
	int status = TB_OK;
	unsigned width = form->width;
	if (!form->full)
		return write_brief(report, form, stream);
	write_title(report, stream);
	tb_report_findings_text(&report->findings, width, stream);
	fputs("\nConfiguration and totals\n", stream);
	for (int i = 0; i < report->n_facts; i++) {
		fprintf(stream, "  %-*s ", FACT_WIDTH, report->facts[i].name);
		tb_wrap(stream, FACT_WIDTH + 3, FACT_WIDTH + 3, width,
			report->facts[i].text);
	}
	for (int i = 0; i < TB_REPORT_LISTS && !status; i++)
		if (report->tables[i].n_shown)
			status = tb_table_text(&report->tables[i], width, stream);
	return status ? status : tb_report_notes_text(report, width, stream);
}

void tb_report_write_markdown(const struct tb_report *report, FILE *stream)
{
	fputs("# Congestion of ", stream);
	tb_markdown_put(stream, report->info->input_name);
	fputc('\n', stream);
	tb_report_findings_markdown(&report->findings, stream);
	fputs("\n## Configuration and totals\n\n", stream);
	for (int i = 0; i < report->n_facts; i++) {
		fprintf(stream, "- **%s**: ", report->facts[i].name);
		tb_markdown_put(stream, report->facts[i].text);
		fputc('\n', stream);
	}
	for (int i = 0; i < TB_REPORT_LISTS; i++)
		if (report->tables[i].n_shown)
			tb_table_markdown(&report->tables[i], stream);
	tb_report_notes_markdown(report, stream);
}

void tb_report_free(struct tb_report *report)
{
	if (!report)
		return;
	tb_matrix_fini(&report->matrix);
	free(report->hot_links);
	free(report->hot_queues);
	free(report->switches);
	free(report->flows);
	tb_jobs_fini(&report->jobs);
	free(report->times);
	tb_recorded_fini(&report->recorded);
	free(report->ranks);
	tb_report_congestion_fini(&report->congestion);
	tb_roots_fini(&report->roots);
	tb_root_jobs_fini(&report->root_jobs);
	tb_job_pairs_fini(&report->job_pairs);
	tb_job_links_fini(&report->job_links);
	tb_heavy_waits_fini(&report->heaviest);
	free(report->places);
	for (int i = 0; i < TB_GROUPINGS; i++)
		tb_groups_fini(&report->groups[i]);
	tb_grouped_fini(&report->grouped);
	free(report->wait_by_link);
	free(report->waited_for);
	free(report->wait_by_bin);
	tb_evidence_fini(&report->evidence);
	tb_findings_fini(&report->findings);
	free(report);
}

// count_active counts the nodes that sent or received packets.
static int count_active(struct tb_report *report, const struct tb_link_sample *samples,
	struct tb_error *error)
{
	const struct tb_run_link *links = tb_run_links(report->run);
	bool *active = calloc((size_t)report->info->n_nodes + 1, sizeof *active);
	if (!active)
		return tb_fail_memory(error, "a report");
	for (uint32_t i = 0; i < report->info->n_links; i++) {
		if (samples[i].n_packets == 0)
			continue;
		if (links[i].at.kind == TB_LINK_INJECTION)
			active[links[i].at.from] = true;
		if (links[i].at.kind == TB_LINK_EJECTION) {
			active[links[i].at.to] = true;
			report->received_bytes += samples[i].bytes;
		}
	}
	for (uint32_t node = 0; node < report->info->n_nodes; node++)
		report->n_active += active[node];
	free(active);
	return TB_OK;
}

static int gather_report_links(
	struct tb_report *report, uint32_t top, struct tb_error *error)
{
	const struct tb_window whole = {0, 0};
	const struct tb_link_sample *samples;
	report->wait_by_link =
		calloc((size_t)report->info->n_links + 1, sizeof *report->wait_by_link);
	report->waited_for =
		calloc((size_t)report->info->n_links + 1, sizeof *report->waited_for);
	if (!report->wait_by_link || !report->waited_for)
		return tb_fail_memory(error, "a report");
	int status = tb_hot_links(
		report->run, whole, top, &report->hot_links, &report->n_hot_links, error);
	if (!status)
		status = tb_run_look(report->run, whole, &samples, error);
	for (uint32_t i = 0; !status && i < report->info->n_links; i++) {
		report->n_waiting += samples[i].wait_ps > 0;
		report->wait_by_link[i] = samples[i].came_by_ps;
		report->waited_for[i] = samples[i].wait_ps;
		report->wait_ps += (double)samples[i].wait_ps;
	}
	return status ? status : count_active(report, samples, error);
}

static int by_sum(const void *left, const void *right)
{
	const struct tb_matrix_box *a = *(const struct tb_matrix_box *const *)left;
	const struct tb_matrix_box *b = *(const struct tb_matrix_box *const *)right;
	if (a->sum != b->sum)
		return a->sum > b->sum ? -1 : 1;
	return (a->sw.id > b->sw.id) - (a->sw.id < b->sw.id);
}

static int gather_switches(struct tb_report *report, uint32_t top, struct tb_error *error)
{
	int status = tb_matrix_init(
		&report->matrix, report->run, (struct tb_window){0, 0}, TB_WAIT, error);
	if (status)
		return status;
	report->switches = calloc((size_t)report->info->n_switches + 1,
		sizeof(const struct tb_matrix_box *));
	if (!report->switches)
		return tb_fail_memory(error, "a report");
	uint32_t n = 0;
	for (uint32_t r = 0; r < report->matrix.n_rows; r++)
		for (uint32_t b = 0; b < report->matrix.rows[r].n_boxes; b++)
			if (report->matrix.rows[r].boxes[b].sum)
				report->switches[n++] = &report->matrix.rows[r].boxes[b];
	qsort(report->switches, n, sizeof(const struct tb_matrix_box *), by_sum);
	report->n_switches_waiting = n;
	report->n_switches = top && top < n ? top : n;
	return TB_OK;
}

// gather_at_hot_links gathers what is known of the listed links only.
static int gather_at_hot_links(struct tb_report *report, struct tb_error *error)
{
	struct tb_link *links = calloc(report->n_hot_links + 1u, sizeof *links);
	report->hot_queues = calloc(report->n_hot_links + 1u, sizeof *report->hot_queues);
	if (!links || !report->hot_queues) {
		free(links);
		return tb_fail_memory(error, "a report");
	}
	for (uint32_t i = 0; i < report->n_hot_links; i++)
		links[i] = report->hot_links[i].sample.link;
	int status = tb_job_links_init(
		&report->job_links, report->run, links, report->n_hot_links, error);
	if (!status)
		status = tb_link_queues_find(report->hot_queues, report->run,
			report->info->leads, links, report->n_hot_links, error);
	free(links);
	return status;
}

static int gather_report_sums(
	struct tb_report *report, uint32_t top, struct tb_error *error)
{
	const struct tb_span whole = {0, 0};
	struct tb_run *run = report->run;
	int status = tb_roots_init(&report->roots, run, whole, top, error);
	if (!status)
		status = tb_root_jobs_init(&report->root_jobs, run, report->roots.rows,
			report->roots.listed.n, error);
	if (!status)
		status = tb_job_pairs_init(&report->job_pairs, run, whole, 0, error);
	return status ? status : gather_at_hot_links(report, error);
}

static int gather_blame(struct tb_report *report, uint32_t top, struct tb_error *error)
{
	int status = gather_report_sums(report, top, error);
	if (!status)
		status = tb_heavy_waits_init(&report->heaviest, report->run, top, error);
	if (!status)
		status = tb_wait_places_all(report->run, report->heaviest.rows,
			report->heaviest.listed.n, &report->places, error);
	for (int i = 0; !status && i < TB_GROUPINGS; i++)
		status = tb_groups_init(
			&report->groups[i], report->run, (enum tb_grouping)i, top, error);
	return status ? status
		      : tb_grouped_init(&report->grouped, report->run, top, error);
}

static int gather_report_time(struct tb_report *report, struct tb_error *error)
{
	report->wait_by_bin =
		calloc(report->info->n_bins + 1, sizeof *report->wait_by_bin);
	if (!report->wait_by_bin)
		return tb_fail_memory(error, "a report");
	return tb_run_wait_by_bin(report->run, report->wait_by_bin, error);
}

static int by_computing(const void *one, const void *other)
{
	const struct tb_rank_load *const *a = one, *const *b = other;
	int order = TB_ORDER((*b)->computed_ps, (*a)->computed_ps);
	return order ? order : TB_ORDER(*a, *b);
}

static int gather_ranks(struct tb_report *report, struct tb_error *error)
{
	const struct tb_rank_loads *loads = &report->evidence.loads;
	report->ranks = calloc(loads->n + 1, sizeof *report->ranks);
	if (!report->ranks)
		return tb_fail_memory(error, "a report");
	for (size_t i = 0; i < loads->n; i++)
		report->ranks[i] = &loads->loads[i];
	qsort(report->ranks, loads->n, sizeof *report->ranks, by_computing);
	return TB_OK;
}

const struct tb_table_type *const tb_report_lists[] = {&tb_list_findings, &tb_list_notes,
	&tb_list_recorded_pairs, &tb_list_recorded_pauses, &tb_list_recorded_bins,
	&tb_list_recorded, &tb_list_recorded_kinds, &tb_list_recorded_ranks,
	&tb_list_uncompared, &tb_list_calls, &tb_list_bounds, &tb_list_jobs,
	&tb_list_job_times, &tb_list_job_pairs, &tb_list_job_matrix, &tb_list_path,
	&tb_list_path_links, &tb_list_timeouts, &tb_list_hot_links, &tb_list_switches,
	&tb_list_regions, &tb_list_flows, &tb_list_ranks, &tb_list_roots,
	&tb_list_root_jobs, &tb_list_groups, &tb_list_grouped, &tb_list_blame,
	&tb_list_job_links, &tb_list_left_out};

const char *tb_report_list_name(size_t i)
{
	size_t at = 0;
	for (; at < TB_REPORT_LISTS; at++)
		if (tb_report_lists[at]->meaning && i-- == 0)
			return tb_report_lists[at]->name;
	return NULL;
}

size_t tb_report_n_listed(const struct tb_report *report, size_t n)
{
	return report->top && report->top < n ? report->top : n;
}

int tb_report_new(struct tb_report **report, struct tb_run *run, uint32_t top,
	struct tb_error *error)
{
	struct tb_report *made = calloc(1, sizeof *made);
	if (!made)
		return tb_fail_memory(error, "a report");
	made->run = run;
	made->info = tb_run_info(run);
	made->top = top;
	made->has_capture = tb_run_capture(made->info, &made->capture);
	int status = gather_report_links(made, top, error);
	if (!status)
		status = gather_switches(made, top, error);
	if (!status)
		status = tb_flows_slowest(
			made->run, top, &made->flows, &made->n_flows, error);
	if (!status)
		status = tb_flows_count(made->run, &made->n_flows_all, error);
	if (!status)
		status = tb_jobs_init(&made->jobs, made->run, error);
	if (!status)
		status = tb_job_times_init(&made->times, &made->jobs, made->run, error);
	if (!status)
		status = tb_recorded_init(&made->recorded, made->run, error);
	if (!status)
		status = gather_blame(made, top, error);
	if (!status)
		status = gather_report_time(made, error);
	if (!status)
		status = tb_evidence_init(&made->evidence, made->run, error);
	if (!status && tb_report_gather_congestion(made))
		status = tb_fail_memory(error, "a report");
	if (!status)
		status = gather_ranks(made, error);
	// A short report reads little of a large run.
	if (!status && (top == 0 || made->n_flows_all <= TB_BOUNDS_FLOWS))
		status = tb_bounds_routes(&made->evidence.bounds, made->run, error);
	if (!status && tb_findings_judge(&made->findings, &made->evidence))
		status = tb_fail_memory(error, "a report");
	if (status) {
		tb_report_free(made);
		return status;
	}
	tb_report_state(made);
	for (size_t i = 0; i < TB_REPORT_LISTS; i++) {
		made->tables[i] = (struct tb_table){.type = tb_report_lists[i],
			.of = made,
			.words = made->info->words};
		tb_table_list(&made->tables[i], top);
	}
	*report = made;
	return TB_OK;
}

const struct tb_hot_link *tb_report_hottest(const struct tb_report *report)
{
	const struct tb_run_link *links = tb_run_links(report->run);
	for (uint32_t i = 0; i < report->n_hot_links; i++)
		if (links[report->hot_links[i].sample.link.id].known.wait != TB_AT_MOST)
			return &report->hot_links[i];
	return NULL;
}

const struct tb_recorded *tb_report_recorded(const struct tb_report *report)
{
	return &report->recorded;
}

int tb_report_write(const struct tb_report *report, enum tb_format format,
	const struct tb_report_form *form, FILE *stream, struct tb_error *error)
{
	static const struct tb_report_form any = {.list = NULL};
	form = form ? form : &any;
	int status = TB_OK;
	if (format == TB_FORMAT_CSV) {
		const char *list = form->list ? form->list : "hot-links";
		for (size_t i = 0; i < TB_REPORT_LISTS; i++)
			if (tb_report_lists[i]->meaning &&
				strcmp(tb_report_lists[i]->name, list) == 0)
				tb_table_csv(&report->tables[i], stream);
	} else if (format == TB_FORMAT_PROMETHEUS) {
		char labels[32];
		snprintf(labels, sizeof labels, "run=\"%" PRId64 "\"", report->info->id);
		fprintf(stream,
			"# HELP tailback_run_seconds Simulated time of the run\n"
			"# TYPE tailback_run_seconds gauge\n"
			"tailback_run_seconds{%s} %.10g\n",
			labels, (double)report->info->simulated_ps * 1e-12);
		tb_table_prometheus(table_of(report, &tb_list_path), labels, stream);
		tb_table_prometheus(table_of(report, &tb_list_hot_links), labels, stream);
		tb_table_prometheus(table_of(report, &tb_list_jobs), labels, stream);
	} else if (format == TB_FORMAT_JSON)
		status = tb_report_write_json(report, stream);
	else if (format == TB_FORMAT_MARKDOWN)
		tb_report_write_markdown(report, stream);
	else if (format == TB_FORMAT_HTML)
		status = tb_report_write_html(report, &form->figures, stream);
	else if (format == TB_FORMAT_GITHUB)
		status = tb_report_write_github(report, stream);
	else
		status = tb_report_write_text(report, form, stream);
	return status == TB_OK ? TB_OK : tb_fail_memory(error, "a report");
}
