// The timeline in a terminal.
#include "run_timeline.h"

#include "wrap.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MOST    40 // characters of a name
#define NARROW	     60 // names are short
#define AXIS_LEAST   16 // columns
#define LINKS_LISTED 5
#define SORTS_LISTED 10 // of calls
#define NAME_BYTES   200

// What stands in a column: what the rank did most of its time, or of the path.
static const char span_marks[TB_SPAN_KINDS] = {[TB_SPAN_COMPUTE] = 'c',
	[TB_SPAN_SEND] = 's',
	[TB_SPAN_RECEIVE] = 'r',
	[TB_SPAN_WAIT] = '.'};
static const char heat_marks[] = " .:-=+*#%@";

struct sheet {
	const struct tb_timeline *timeline;
	FILE *stream;
	uint32_t width;
	uint32_t name_columns, n_columns;
	size_t *shown; // numbers of ranks, each for those that are like it
	size_t n_shown;
	uint32_t *like; // by rank: its place in `shown`; TB_ID_NONE: it is not shown
	char *marks;	// a line
	double *weights;
	// Of the calls' sorts: those that take longest in all, and the mark of each.
	size_t listed[SORTS_LISTED], n_listed;
	char *sort_marks;
};

static char path_mark(uint32_t cause)
{
	if (cause == TB_PATH_COMPUTE)
		return 'C';
	if (cause == TB_PATH_TIMEOUT)
		return 'T';
	return cause == TB_PATH_HELD_UP ? 'H' : 'M';
}

// rank_name names a shown rank and those that are like it: "rank 3", "ranks 0-31, 40,
// +2".
static void rank_name(const struct sheet *sheet, size_t shown, char *text)
{
	const size_t most = sheet->width < NARROW ? 1 : 2;
	const struct tb_timeline *timeline = sheet->timeline;
	const struct tb_timeline_rank *ranks = timeline->ranks;
	bool several = tb_run_info(timeline->run)->n_jobs > 1;
	size_t n = 0, n_ranges = 0, n_named = 0, used;
	for (size_t i = 0; i < timeline->n_ranks; i++)
		n += sheet->like[i] == shown;
	used = (size_t)snprintf(text, NAME_BYTES, "%.80s%srank%s",
		several ? tb_run_job_name(timeline->run, ranks[sheet->shown[shown]].job)
			: "",
		several ? " " : "", n > 1 ? "s" : "");
	for (size_t i = 0; i < timeline->n_ranks && n_ranges < most; i++) {
		size_t last = i;
		if (sheet->like[i] != shown)
			continue;
		while (last + 1 < timeline->n_ranks && sheet->like[last + 1] == shown &&
			ranks[last + 1].rank == ranks[last].rank + 1)
			last++;
		used += (size_t)snprintf(text + used, NAME_BYTES - used, "%s%" PRIu32,
			n_ranges++ ? ", " : " ", ranks[i].rank);
		if (last > i)
			used += (size_t)snprintf(text + used, NAME_BYTES - used,
				"-%" PRIu32, ranks[last].rank);
		n_named += last + 1 - i;
		i = last;
	}
	if (n_named < n)
		snprintf(text + used, NAME_BYTES - used, ", +%zu", n - n_named);
}

static void sheet_link_name(const struct tb_timeline *timeline, uint32_t i, char *text)
{
	const struct tb_run_link *links = tb_run_links(timeline->run);
	snprintf(text, NAME_BYTES, "%s", links[timeline->links[i].sample.link.id].label);
}

// sheet_column_of returns the column in which a time lies, as a real number.
static double sheet_column_of(const struct sheet *sheet, tb_time_ps at_ps)
{
	const struct tb_timeline *timeline = sheet->timeline;
	double column = (double)(at_ps - timeline->from_ps) /
			(double)(timeline->to_ps - timeline->from_ps) * sheet->n_columns;
	return column < 0 ? 0 : column > sheet->n_columns ? sheet->n_columns : column;
}

// mark_sheet_line puts a mark in the columns of which a span takes more than any before.
static void mark_sheet_line(
	struct sheet *sheet, tb_time_ps from_ps, tb_time_ps to_ps, char mark)
{
	double from = sheet_column_of(sheet, from_ps), to = sheet_column_of(sheet, to_ps);
	for (uint32_t i = (uint32_t)from; i < sheet->n_columns && i < to; i++) {
		double part = (to < i + 1 ? to : i + 1) - (from > i ? from : i);
		if (part <= sheet->weights[i])
			continue;
		sheet->weights[i] = part;
		sheet->marks[i] = mark;
	}
}

static void clear_line(struct sheet *sheet)
{
	memset(sheet->marks, ' ', sheet->n_columns);
	for (uint32_t i = 0; i < sheet->n_columns; i++)
		sheet->weights[i] = 0;
}

// write_line writes the marks behind a name.
static void write_line(struct sheet *sheet, const char *name)
{
	uint32_t columns = (uint32_t)tb_text_columns(name), n = sheet->n_columns;
	while (n > 0 && sheet->marks[n - 1] == ' ')
		n--;
	fprintf(sheet->stream, "%s%*s |%.*s%*s|\n", name,
		columns < sheet->name_columns ? (int)(sheet->name_columns - columns) : 0,
		"", (int)n, sheet->marks, (int)(sheet->n_columns - n), "");
}

// mark_rank marks what a rank did, and the critical path where it leads over it.
static void mark_rank(struct sheet *sheet, const struct tb_timeline_rank *rank)
{
	const struct tb_timeline *timeline = sheet->timeline;
	clear_line(sheet);
	for (size_t k = 0; k < rank->n_spans; k++) {
		const struct tb_rank_span *span =
			&timeline->times.spans[rank->first_span + k];
		mark_sheet_line(
			sheet, span->from_ps, span->to_ps, span_marks[span->what]);
	}
	for (uint32_t k = 0; k < sheet->n_columns; k++)
		sheet->weights[k] = 0;
	for (size_t k = 0; rank->on_path_ps > 0 && k < timeline->path.n_steps; k++) {
		const struct tb_rank_span *step = &timeline->path.steps[k].span;
		if (step->job == rank->job && step->rank == rank->rank)
			mark_sheet_line(
				sheet, step->from_ps, step->to_ps, path_mark(step->what));
	}
}

static void mark_calls(struct sheet *sheet, const struct tb_timeline_rank *rank)
{
	const struct tb_call_spans *calls = &sheet->timeline->calls;
	clear_line(sheet);
	for (size_t k = 0; k < rank->n_calls; k++) {
		const struct tb_called *call = &calls->calls[rank->first_call + k];
		mark_sheet_line(
			sheet, call->from_ps, call->to_ps, sheet->sort_marks[call->sort]);
	}
}

static void write_sheet_rank(struct sheet *sheet, size_t shown)
{
	const struct tb_timeline_rank *rank =
		&sheet->timeline->ranks[sheet->shown[shown]];
	char name[NAME_BYTES];
	rank_name(sheet, shown, name);
	mark_rank(sheet, rank);
	write_line(sheet, name);
	if (rank->n_calls) {
		mark_calls(sheet, rank);
		write_line(sheet, "");
	}
}

static uint64_t hash_line(const char *line, size_t n)
{
	uint64_t hash = UINT64_C(14695981039346656037); // FNV-1a
	for (size_t i = 0; i < n; i++)
		hash = (hash ^ (unsigned char)line[i]) * UINT64_C(1099511628211);
	return hash;
}

// fold_ranks has one rank stand for all of its job whose lines are the same. First come
// those to be shown, then the others, which join them or take the places that are left.
static int fold_ranks(struct sheet *sheet)
{
	const struct tb_timeline *timeline = sheet->timeline;
	size_t n = sheet->n_columns, n_lines = 0, n_most = sheet->n_shown;
	char *lines = malloc((n_most + 1) * 2 * n), *marks = sheet->marks;
	uint64_t *hashes = malloc((n_most + 1) * sizeof *hashes);
	sheet->like = malloc((timeline->n_ranks + 1) * sizeof *sheet->like);
	if (!lines || !hashes || !sheet->like) {
		free(lines);
		free(hashes);
		return TB_ENOMEM;
	}
	memset(sheet->like, 0xff, (timeline->n_ranks + 1) * sizeof *sheet->like);
	for (size_t i = 0; i < n_most + timeline->n_ranks; i++) {
		size_t at = i < n_most ? sheet->shown[i] : i - n_most, like = 0;
		const struct tb_timeline_rank *rank = &timeline->ranks[at];
		char *line = lines + n_lines * 2 * n;
		if (sheet->like[at] != TB_ID_NONE)
			continue;
		sheet->marks = line;
		mark_rank(sheet, rank);
		sheet->marks = line + n;
		mark_calls(sheet, rank);
		hashes[n_lines] = hash_line(line, 2 * n);
		while (like < n_lines &&
			(hashes[like] != hashes[n_lines] ||
				timeline->ranks[sheet->shown[like]].job != rank->job ||
				memcmp(lines + like * 2 * n, line, 2 * n) != 0))
			like++;
		if (like == n_most)
			continue;
		sheet->like[at] = (uint32_t)like;
		if (like == n_lines)
			sheet->shown[n_lines++] = at;
	}
	sheet->marks = marks;
	sheet->n_shown = n_lines;
	free(lines);
	free(hashes);
	return TB_OK;
}

static void widen_sheet_names(struct sheet *sheet, const char *name)
{
	uint32_t columns = (uint32_t)tb_text_columns(name);
	if (columns > NAME_MOST)
		columns = NAME_MOST;
	if (columns > sheet->name_columns)
		sheet->name_columns = columns;
}

// list_sorts chooses the sorts of calls that take longest in all.
static int list_sorts(struct sheet *sheet)
{
	const struct tb_call_spans *calls = &sheet->timeline->calls;
	size_t n = 0;
	for (size_t i = 0; i < calls->n_sorts; i++) {
		size_t at = n < SORTS_LISTED ? n++ : SORTS_LISTED;
		for (; at > 0 && calls->sorts[sheet->listed[at - 1]].figures.sum_ps <
					 calls->sorts[i].figures.sum_ps;
			at--)
			if (at < SORTS_LISTED)
				sheet->listed[at] = sheet->listed[at - 1];
		if (at < SORTS_LISTED)
			sheet->listed[at] = i;
	}
	sheet->n_listed = n;
	sheet->sort_marks = malloc(calls->n_sorts + 1);
	if (!sheet->sort_marks)
		return TB_ENOMEM;
	memset(sheet->sort_marks, '+', calls->n_sorts + 1);
	for (size_t i = 0; i < n; i++)
		sheet->sort_marks[sheet->listed[i]] = (char)('A' + i);
	return TB_OK;
}

static int lay_out_sheet(struct sheet *sheet, uint32_t n_ranks)
{
	const struct tb_timeline *timeline = sheet->timeline;
	char name[NAME_BYTES];
	sheet->shown = malloc((timeline->n_ranks + 1) * sizeof *sheet->shown);
	if (!sheet->shown)
		return TB_ENOMEM;
	sheet->n_shown =
		tb_timeline_choose(timeline, TB_RANKS_BY_JOB, sheet->shown, n_ranks);
	for (uint32_t i = 0; i < timeline->n_links; i++) {
		sheet_link_name(timeline, i, name);
		widen_sheet_names(sheet, name);
	}
	// Names of ranks depend on which are alike, at most columns that there may be.
	sheet->n_columns = sheet->width > sheet->name_columns + 3 + AXIS_LEAST
				   ? sheet->width - sheet->name_columns - 3
				   : AXIS_LEAST;
	sheet->marks = malloc(sheet->n_columns);
	sheet->weights = malloc(sheet->n_columns * sizeof *sheet->weights);
	if (!sheet->marks || !sheet->weights || list_sorts(sheet) != TB_OK ||
		fold_ranks(sheet) != TB_OK)
		return TB_ENOMEM;
	for (size_t i = 0; i < sheet->n_shown; i++) {
		rank_name(sheet, i, name);
		widen_sheet_names(sheet, name);
	}
	uint32_t beside = sheet->name_columns + 3;
	sheet->n_columns =
		sheet->width > beside + AXIS_LEAST ? sheet->width - beside : AXIS_LEAST;
	return TB_OK;
}

static void put_axis(struct sheet *sheet)
{
	const struct tb_timeline *timeline = sheet->timeline;
	char from[24], to[24];
	tb_format_time(timeline->from_ps, from, sizeof from);
	tb_format_time(timeline->to_ps, to, sizeof to);
	int rest = (int)sheet->n_columns - (int)strlen(from) - (int)strlen(to);
	fprintf(sheet->stream, "%*s  %s%*s%s\n", (int)sheet->name_columns, "", from,
		rest > 1 ? rest : 1, "", to);
}

#define RANK_MARKS                                                                       \
	"Ranks: c computes, s sends, r receives, . waits until the other sends; C and "  \
	"M the critical path: computes, its message is under way; H the same, held up "  \
	"in the network"

static void write_sheet_ranks(struct sheet *sheet)
{
	const struct tb_timeline *timeline = sheet->timeline;
	FILE *stream = sheet->stream;
	if (timeline->n_ranks == 0) {
		tb_wrap(stream, 0, 0, sheet->width,
			"The run has no ranks: its packets were replayed as they were "
			"captured.");
		return;
	}
	tb_wrap(stream, 0, 0, sheet->width,
		timeline->path.n_timeouts ? RANK_MARKS "; T a time-out" : RANK_MARKS);
	size_t n_more = 0;
	for (size_t i = 0; i < timeline->n_ranks; i++) {
		uint32_t shown = sheet->like[i];
		n_more += shown == TB_ID_NONE;
		if (shown == TB_ID_NONE || sheet->shown[shown] == SIZE_MAX)
			continue;
		write_sheet_rank(sheet, shown);
		sheet->shown[shown] = SIZE_MAX; // it is written
	}
	if (n_more)
		fprintf(stream,
			"and %zu more ranks, on which the critical path spends less\n",
			n_more);
}

static int write_sheet_links(struct sheet *sheet, struct tb_error *error)
{
	const struct tb_timeline *timeline = sheet->timeline;
	uint32_t n = sheet->n_columns;
	size_t n_cells = (size_t)timeline->n_links * n;
	if (timeline->n_links == 0)
		return TB_OK;
	double *heat = malloc(n_cells * sizeof *heat), most = 0;
	char name[NAME_BYTES];
	int status = heat ? tb_timeline_heat(timeline, heat, n, error)
			  : tb_fail_memory(error, "the links");
	for (size_t i = 0; i < n_cells && !status; i++)
		if (heat[i] > most)
			most = heat[i];
	if (!status)
		snprintf(name, sizeof name,
			"Hottest links: packets that wait behind them at once, from '.' "
			"to '@' for %.3g",
			most);
	if (!status) {
		fputs("\n", sheet->stream);
		tb_wrap(sheet->stream, 0, 0, sheet->width, name);
	}
	for (uint32_t k = 0; k < timeline->n_links && !status; k++) {
		sheet_link_name(timeline, k, name);
		for (uint32_t i = 0; i < n; i++) {
			double part = most > 0 ? heat[(size_t)k * n + i] / most : 0;
			int step = part > 0 ? 1 + (int)(part * 8.999) : 0;
			sheet->marks[i] = heat_marks[step > 9 ? 9 : step];
		}
		write_line(sheet, name);
	}
	free(heat);
	return status;
}

static void write_sheet_share(
	struct sheet *sheet, unsigned indent, tb_time_ps part, const char *text)
{
	char time[24], percent[40];
	tb_time_ps whole = sheet->timeline->to_ps - sheet->timeline->from_ps;
	tb_format_time(part, time, sizeof time);
	tb_format_percent(100.0 * (double)part / (double)whole, percent, sizeof percent);
	int used =
		fprintf(sheet->stream, "%*s%8s %11s  ", (int)indent, "", percent, time);
	tb_wrap(sheet->stream, (unsigned)used, (unsigned)used, sheet->width, text);
}

// flow_name writes "node 3 > node 5", with the job, unless that is TB_ID_NONE, where
// there are several.
static const char *flow_name(const struct tb_run *run, uint32_t job,
	struct tb_node source, struct tb_node destination, char *buffer, size_t size)
{
	char ends[2][80];
	const struct tb_node nodes[] = {source, destination};
	for (int i = 0; i < 2; i++) {
		const char *name = tb_run_node_label(run, nodes[i]);
		if (*name)
			snprintf(ends[i], sizeof ends[i], "%s", name);
		else
			snprintf(ends[i], sizeof ends[i], "node %" PRIu32, nodes[i].id);
	}
	bool several = job != TB_ID_NONE && tb_run_info(run)->n_jobs > 1;
	snprintf(buffer, size, "%s > %s%s%s", ends[0], ends[1], several ? " of " : "",
		several ? tb_run_job_name(run, job) : "");
	return buffer;
}

// write_sheet_timeouts lists the flows that waited for their timers.
static void write_sheet_timeouts(struct sheet *sheet)
{
	const struct tb_run *run = sheet->timeline->run;
	const struct tb_critical_path *path = &sheet->timeline->path;
	tb_time_ps rest = path->causes[TB_PATH_TIMEOUT];
	for (size_t i = 0; i < path->n_timeouts && i < LINKS_LISTED; i++) {
		const struct tb_path_timeout *at = &path->timeouts[i];
		char text[500], flow[300], times[40];
		bool known = at->lost.id != TB_ID_NONE;
		snprintf(text, sizeof text, "%s in the %s %s%s%s",
			tb_format_counted(at->n, "time-out", times, sizeof times),
			path->connects ? "connection" : "flow",
			flow_name(run, at->job, at->source, at->destination, flow,
				sizeof flow),
			!known		 ? ""
			: path->connects ? ", which lost frames at "
					 : ", which lost packets at ",
			known ? tb_run_links(run)[at->lost.id].name : "");
		write_sheet_share(sheet, 6, at->sum_ps, text);
		rest -= at->sum_ps;
	}
	if (rest > 0)
		write_sheet_share(sheet, 6, rest, "elsewhere");
}

// write_sheet_held lists where, and behind which flows, messages of the path were held
// up.
static void write_sheet_held(struct sheet *sheet)
{
	const struct tb_timeline *timeline = sheet->timeline;
	const struct tb_critical_path *path = &timeline->path;
	tb_time_ps rest = path->causes[TB_PATH_HELD_UP];
	size_t n = path->n_links < LINKS_LISTED ? path->n_links : LINKS_LISTED;
	for (size_t i = 0; i < n; i++) {
		const struct tb_path_link *held = &path->links[i];
		char text[500], flow[300];
		snprintf(text, sizeof text, "at no link: %s",
			tb_path_nowhere(path, tb_run_info(timeline->run)));
		const char *at = tb_wait_place_label(timeline->run, held->place);
		if (!at && held->culprit_source.id != TB_ID_NONE)
			snprintf(text, sizeof text, "in the connection %s",
				flow_name(timeline->run, TB_ID_NONE, held->culprit_source,
					held->culprit_destination, flow, sizeof flow));
		if (at)
			snprintf(text, sizeof text, "at %s, behind %s", at,
				flow_name(timeline->run, held->culprit_job,
					held->culprit_source, held->culprit_destination,
					flow, sizeof flow));
		write_sheet_share(sheet, 6, held->sum_ps, text);
		rest -= held->sum_ps;
	}
	if (rest > 0)
		write_sheet_share(sheet, 6, rest, "elsewhere");
}

// path_words says what a cause is, and by which waits it is shared out: a window has its
// own in a closer look alone.
static const char *path_words(const struct tb_timeline *timeline, uint32_t cause)
{
	if (cause != TB_PATH_HELD_UP || timeline->path.n_links == 0)
		return tb_path_words((enum tb_path_cause)cause);
	if (timeline->bins != timeline->run)
		return "held up in the network; shared out below by flow, as it waited "
		       "in this window";
	return tb_timeline_is_whole(timeline)
		       ? "held up in the network; shared out below by flow"
		       : "held up in the network; shared out below by flow, as it waited "
			 "over the whole run (--closer: in this window)";
}

static void write_sheet_path(struct sheet *sheet)
{
	const struct tb_critical_path *path = &sheet->timeline->path;
	const struct tb_timeline *timeline = sheet->timeline;
	char text[160], from[64] = "";
	if (path->n_totals == 0)
		return;
	if (!tb_timeline_is_whole(timeline))
		snprintf(from, sizeof from, " from %s to %s",
			TB_TIME_TEXT(timeline->from_ps), TB_TIME_TEXT(timeline->to_ps));
	snprintf(text, sizeof text,
		"Critical path%s: what the end of the run, at %s, waited for", from,
		TB_TIME_TEXT(tb_run_info(timeline->run)->simulated_ps));
	fputs("\n", sheet->stream);
	tb_wrap(sheet->stream, 0, 0, sheet->width, text);
	for (size_t i = 0; i < path->n_shares; i++) {
		write_sheet_share(sheet, 2, path->shares[i].sum_ps,
			path_words(timeline, path->shares[i].cause));
		if (path->shares[i].cause == TB_PATH_HELD_UP)
			write_sheet_held(sheet);
		if (path->shares[i].cause == TB_PATH_TIMEOUT)
			write_sheet_timeouts(sheet);
	}
}

int tb_timeline_text(const struct tb_timeline *timeline, uint32_t width, uint32_t n_ranks,
	FILE *stream, struct tb_error *error)
{
	struct sheet sheet = {.timeline = timeline, .stream = stream, .width = width};
	const struct tb_run_info *info = tb_run_info(timeline->run);
	int status = lay_out_sheet(&sheet, n_ranks) == TB_OK
			     ? TB_OK
			     : tb_fail_memory(error, "the timeline");
	if (!status) {
		fprintf(stream, "Run %" PRId64 ": %s on %s%s\n", info->id,
			info->input_name, info->network_name,
			info->complete ? "" : ", stopped early");
		write_sheet_ranks(&sheet);
		put_axis(&sheet);
		// Say what the marks below the ranks are.
		const struct tb_call_spans *calls = &sheet.timeline->calls;
		if (calls->n != 0) {
			fputs("\n", sheet.stream);
			tb_wrap(sheet.stream, 0, 0, sheet.width,
				"Calls, below their ranks: how many, how long on average "
				"and at most");
			for (size_t i = 0; i < sheet.n_listed; i++) {
				const struct tb_call_sort *sort =
					&calls->sorts[sheet.listed[i]];
				char n[32], mean[24], most[24], name[NAME_BYTES];
				tb_format_count(
					(uint64_t)sort->figures.calls, n, sizeof n);
				tb_format_time(sort->figures.sum_ps / sort->figures.calls,
					mean, sizeof mean);
				tb_format_time(
					sort->figures.longest_ps, most, sizeof most);
				int used = fprintf(sheet.stream, "  %c %9s %11s %11s  ",
					(char)('A' + i), n, mean, most);
				tb_call_sort_name(sort, name, sizeof name);
				size_t end = strlen(name);
				if (isfinite(sort->bus_rate))
					end += (size_t)snprintf(name + end,
						sizeof name - end, ", bus bandwidth %s",
						tb_format_rate(sort->bus_rate, mean,
							sizeof mean));
				if (sort->figures.waited_ps > sort->figures.sum_ps / 100)
					snprintf(name + end, sizeof name - end,
						", %.0f %% waiting for others",
						100.0 * (double)sort->figures.waited_ps /
							(double)sort->figures.sum_ps);
				tb_wrap(sheet.stream, (unsigned)used, (unsigned)used,
					sheet.width, name);
			}
			if (calls->n_sorts > sheet.n_listed)
				fprintf(sheet.stream,
					"  +: %zu others, which take less in all\n",
					calls->n_sorts - sheet.n_listed);
			if (calls->n_left)
				tb_wrap(sheet.stream, 0, 0, sheet.width,
					"The store keeps the longest calls of each rank, "
					"not all.");
		}
		status = write_sheet_links(&sheet, error);
	}
	if (!status)
		write_sheet_path(&sheet);
	free(sheet.shown);
	free(sheet.like);
	free(sheet.marks);
	free(sheet.weights);
	free(sheet.sort_marks);
	return status;
}
