#include "pair.h"

#include "compare.h"
#include "scale.h"
#include "ticks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void tb_run_pair_free(struct tb_run_pair *pair)
{
	if (!pair)
		return;
	tb_link_pairs_fini(&pair->pairs);
	tb_matrix_fini(&pair->matrix);
	tb_matrix_fini(&pair->change);
	tb_run_free(pair->run);
	free(pair->less_links);
	free(pair->unmeasured);
	free(pair->unmeasured_switches);
	free(pair->less_switches);
	free(pair->movers);
	free(pair->nothing);
	free(pair->path);
	free(pair);
}

// of_one_shape is true when both have the same links and switches by the same ids.
static bool of_one_shape(const struct tb_run_pair *pair, const struct tb_run *a)
{
	if (pair->pairs.n_only_a || pair->pairs.n_only_b ||
		tb_run_info(a)->n_switches != pair->info->n_switches)
		return false;
	for (uint32_t i = 0; i < pair->pairs.n; i++)
		if (pair->pairs.pairs[i].a.id != pair->pairs.pairs[i].b.id)
			return false;
	for (uint32_t i = 0; i < pair->info->n_switches; i++) {
		const struct tb_switch_info *of_a = &tb_run_switches(a)[i].at;
		const struct tb_switch_info *of_b = &tb_run_switches(pair->run)[i].at;
		if (of_a->level != of_b->level || of_a->index != of_b->index ||
			of_a->n_down_ports != of_b->n_down_ports ||
			of_a->n_up_ports != of_b->n_up_ports)
			return false;
	}
	return true;
}

static int pair_prepare(
	struct tb_run_pair *pair, const struct tb_run *a, struct tb_error *error)
{
	const struct tb_run_info *info = pair->info;
	int status = tb_link_pairs_init(&pair->pairs, a, pair->run, error);
	if (!status)
		status = tb_matrix_lay_out(&pair->matrix, pair->run, error);
	if (!status)
		status = tb_matrix_lay_out(&pair->change, pair->run, error);
	pair->less_links = calloc((size_t)info->n_links + 1, 1);
	pair->unmeasured = calloc((size_t)info->n_links + 1, 1);
	pair->unmeasured_switches = calloc((size_t)info->n_switches + 1, 1);
	pair->less_switches = calloc((size_t)info->n_switches + 1, 1);
	if (!status && (!pair->less_links || !pair->less_switches || !pair->unmeasured ||
			       !pair->unmeasured_switches))
		status = tb_fail_memory(error, "the comparison of two runs");
	if (status)
		return status;
	pair->same_shape = of_one_shape(pair, a);
	pair->n_differences = tb_run_differences(
		tb_run_info(a), tb_run_info(pair->run), pair->differences);
	return TB_OK;
}

int tb_run_pair_new(struct tb_run_pair **pair, const struct tb_run *a, const char *path,
	int64_t id, struct tb_error *error)
{
	struct tb_run_pair *made = calloc(1, sizeof *made);
	if (!made || !(made->path = strdup(path))) {
		free(made);
		return tb_fail_memory_in(error, path, "it");
	}
	int status = tb_run_open(&made->run, path, id, error);
	if (!status) {
		made->info = tb_run_info(made->run);
		status = pair_prepare(made, a, error);
	}
	if (status) {
		tb_run_pair_free(made);
		return status;
	}
	*pair = made;
	return TB_OK;
}

// pair_look reads B's samples in A's window: zeros after its end.
static int pair_look(struct tb_run_pair *pair, const struct tb_run *a,
	struct tb_window window, struct tb_error *error)
{
	const struct tb_run_info *info = tb_run_info(a);
	struct tb_window of_b = {0, 0};
	if (pair->apart)
		of_b = pair->window;
	else
		pair->over = false;
	if (!pair->apart && !tb_window_whole(info, window))
		pair->over =
			tb_window_between(pair->info, tb_window_begin_ps(info, window),
				tb_window_end_ps(info, window), &of_b, NULL) != TB_OK;
	if (!pair->over) {
		int status = tb_run_look(pair->run, of_b, &pair->samples, error);
		pair->window = of_b;
		return status;
	}
	if (!pair->nothing)
		pair->nothing =
			calloc((size_t)pair->info->n_links + 1, sizeof *pair->nothing);
	if (!pair->nothing)
		return tb_fail_memory(error, "the comparison of two runs");
	pair->samples = pair->nothing;
	return TB_OK;
}

static uint64_t size_of_change(uint64_t before, uint64_t after, uint8_t *less)
{
	*less = after < before;
	return *less ? before - after : after - before;
}

int tb_run_pair_show(struct tb_run_pair *pair, const struct tb_run *a,
	struct tb_window window, const struct tb_link_sample *samples,
	const struct tb_matrix *matrix, struct tb_error *error)
{
	struct tb_mover *movers;
	uint32_t n, n_moved;
	int status = pair_look(pair, a, window, error);
	if (!status)
		status = tb_movers(&pair->pairs, samples, pair->samples, matrix->metric,
			TB_PAIR_MOVERS, &movers, &n, &n_moved, error);
	if (status)
		return status;
	free(pair->movers);
	pair->movers = movers;
	pair->n_movers = n;
	pair->n_moved = n_moved;
	tb_matrix_fill(&pair->matrix, pair->samples, matrix->metric);
	if (pair->same_shape) {
		struct tb_matrix *change = &pair->change;
		const struct tb_matrix *b = &pair->matrix;
		tb_matrix_show(change, matrix->metric);
		change->largest_link = change->largest_switch = 0;
		for (size_t i = 0; change->cells + i < change->end; i++) {
			uint32_t link = change->cells[i].link.id;
			if (link == TB_ID_NONE)
				continue;
			uint64_t value = size_of_change(matrix->cells[i].value,
				b->cells[i].value, &pair->less_links[link]);
			// A change is known where both runs know the link's figure.
			pair->unmeasured[link] =
				tb_known_of(tb_run_links(a)[link].known,
					matrix->metric) != TB_EXACT ||
				tb_known_of(tb_run_links(pair->run)[link].known,
					matrix->metric) != TB_EXACT;
			value = pair->unmeasured[link] ? 0 : value;
			change->cells[i].value = value;
			if (change->largest_link < value)
				change->largest_link = value;
		}
		for (uint32_t i = 0; i < change->n_boxes; i++) {
			struct tb_matrix_box *box = &change->boxes[i];
			box->sum = size_of_change(matrix->boxes[i].sum, b->boxes[i].sum,
				&pair->less_switches[box->sw.id]);
			uint32_t sw = box->sw.id;
			bool known = tb_known_of(tb_run_switches(a)[sw].known,
					     matrix->metric) == TB_EXACT &&
				     tb_known_of(tb_run_switches(pair->run)[sw].known,
					     matrix->metric) == TB_EXACT;
			pair->unmeasured_switches[sw] = !known;
			box->sum = known ? box->sum : 0;
			if (change->largest_switch < box->sum)
				change->largest_switch = box->sum;
		}
	}
	return TB_OK;
}

#define LINE_H	17
#define AXIS_H	20
#define GAP	4
#define LABEL_W 18
#define COLUMN	2 // pixels of a bar
// So many jobs are compared to find the slowest.
#define MOST_JOBS 64

void tb_pair_overview_fini(struct tb_pair_overview *overview)
{
	free(overview->strips[0].wait_ps);
	free(overview->strips[1].wait_ps);
	*overview = (struct tb_pair_overview){.verdict = ""};
}

static int read_overview_strip(
	struct tb_pair_strip *strip, struct tb_run *run, struct tb_error *error)
{
	const struct tb_run_info *info = tb_run_info(run);
	*strip = (struct tb_pair_strip){.bin_ps = info->bin_ps,
		.simulated_ps = info->simulated_ps,
		.n_bins = info->n_bins,
		.wait_ps = calloc(info->n_bins + 1, sizeof *strip->wait_ps)};
	if (!strip->wait_ps)
		return tb_fail_memory(error, "the comparison of two runs");
	return tb_run_wait_by_bin(run, strip->wait_ps, error);
}

static int read_both(struct tb_pair_overview *overview, struct tb_compared a,
	struct tb_compared b, struct tb_error *error)
{
	struct tb_compare *compare = NULL;
	int status = tb_compare_new(&compare, a, b, MOST_JOBS, error);
	bool several = tb_run_info(a.run)->n_jobs > 1 || tb_run_info(b.run)->n_jobs > 1;
	if (status == TB_OK)
		// Of one job the run time is what it takes.
		snprintf(overview->verdict, sizeof overview->verdict, "%s%s%s",
			tb_compare_verdict(compare), several ? " " : "",
			several ? tb_compare_slowest_job(compare) : "");
	tb_compare_free(compare);
	if (status == TB_OK)
		status = read_overview_strip(&overview->strips[0], a.run, error);
	if (status == TB_OK)
		status = read_overview_strip(&overview->strips[1], b.run, error);
	return status;
}

int tb_pair_overview_init(struct tb_pair_overview *overview, struct tb_pair_side a,
	struct tb_pair_side b, struct tb_error *error)
{
	struct tb_run *runs[2] = {NULL, NULL};
	*overview = (struct tb_pair_overview){.verdict = ""};
	int status = tb_run_open(&runs[0], a.path, a.id, error);
	if (status == TB_OK)
		status = tb_run_open(&runs[1], b.path, b.id, error);
	if (status == TB_OK)
		status = read_both(overview, (struct tb_compared){runs[0], a.path},
			(struct tb_compared){runs[1], b.path}, error);
	tb_run_free(runs[0]);
	tb_run_free(runs[1]);
	if (status != TB_OK)
		tb_pair_overview_fini(overview);
	return status;
}

// overview_fitting returns the length of the whole words that fit into a width, at least
// one word.
static size_t overview_fitting(struct tb_type type, const char *text, double w)
{
	char line[256];
	size_t length = 0;
	for (size_t end = strcspn(text, " "); end < sizeof line;
		end += 1 + strcspn(text + end + 1, " ")) {
		snprintf(line, sizeof line, "%.*s", (int)end, text);
		if (length > 0 && tb_text_width(type.font, type.size, line) > w)
			return length;
		length = end;
		if (text[end] == '\0')
			return length;
	}
	return length ? length : strlen(text);
}

double tb_pair_overview_words(const struct tb_pair_overview *overview,
	struct tb_picture *picture, struct tb_type type, struct tb_box box)
{
	const char *text = overview->verdict;
	double h = 0;
	for (; *text; h += LINE_H) {
		size_t length = overview_fitting(type, text, box.w);
		if (picture)
			tb_picture_printf(picture,
				(struct tb_box){box.x, box.y + h, box.w, LINE_H}, type,
				"%.*s", (int)length, text);
		text += length;
		text += strspn(text, " ");
	}
	return h;
}

// overview_waiting returns the wait per time over a stretch of time: how many headers
// waited on average.
static double overview_waiting(
	const struct tb_pair_strip *strip, double from_ps, double to_ps)
{
	if (strip->bin_ps <= 0)
		return 0;
	double sum = 0, bin_ps = (double)strip->bin_ps;
	uint64_t first = (uint64_t)(from_ps / bin_ps);
	uint64_t end = (uint64_t)ceil(to_ps / bin_ps);
	end = end > strip->n_bins ? strip->n_bins : end;
	if (first >= end)
		return 0;
	for (uint64_t bin = first; bin < end; bin++)
		sum += (double)strip->wait_ps[bin];
	return sum / ((double)(end - first) * bin_ps);
}

// What the functions that draw the strips share.
struct strips_sheet {
	const struct tb_pair_overview *overview;
	struct tb_picture *picture;
	const struct tb_palette *palette;
	const struct tb_span *shown; // of each
	double span_ps, most;	     // of both strips
};

static double overview_most(
	const struct tb_pair_overview *overview, double span_ps, int columns)
{
	double most = 0;
	for (int i = 0; i < 2 * columns; i++) {
		double column = i / 2;
		most = fmax(most, overview_waiting(&overview->strips[i % 2],
					  span_ps * column / columns,
					  span_ps * (column + 1) / columns));
	}
	return most;
}

static void draw_strip(
	const struct strips_sheet *sheet, struct tb_box box, const char *name, int which)
{
	const struct tb_pair_strip *strip = &sheet->overview->strips[which];
	int columns = (int)fmax(box.w / COLUMN, 1);
	tb_picture_text(sheet->picture,
		(struct tb_box){box.x - LABEL_W, box.y, LABEL_W, box.h},
		(struct tb_type){TB_FONT_BOLD, 12, TB_ALIGN_LEFT, sheet->palette->text},
		name);
	tb_picture_rect(sheet->picture, box, sheet->palette->empty);
	for (int i = 0; i < columns && sheet->most > 0; i++) {
		double from = sheet->span_ps * i / columns;
		double to = sheet->span_ps * (i + 1) / columns;
		double h = box.h * overview_waiting(strip, from, to) / sheet->most;
		bool shown = (from + to) / 2 >= (double)sheet->shown[which].from_ps &&
			     (from + to) / 2 < (double)sheet->shown[which].to_ps;
		if (h <= 0)
			continue;
		tb_picture_rect(sheet->picture,
			(struct tb_box){box.x + box.w * i / columns,
				box.y + box.h - fmax(h, 1), box.w / columns, fmax(h, 1)},
			shown ? sheet->palette->muted : sheet->palette->line);
	}
}

static void draw_overview_axis(const struct strips_sheet *sheet, struct tb_box box)
{
	struct tb_type type = {TB_FONT_TEXT, 11, TB_ALIGN_CENTRE, sheet->palette->muted};
	const struct tb_ticks ticks = tb_ticks_times(0, sheet->span_ps, 9);
	for (size_t i = 0; i < ticks.n; i++) {
		char text[24];
		double x = box.x + box.w * ticks.at[i] / sheet->span_ps;
		if (ticks.at[i] > sheet->span_ps)
			break;
		double left = fmin(fmax(x - 40, box.x), box.x + box.w - 80);
		type.align = left > x - 40   ? TB_ALIGN_LEFT
			     : left < x - 40 ? TB_ALIGN_RIGHT
					     : TB_ALIGN_CENTRE;
		tb_picture_line(sheet->picture, (struct tb_box){x, box.y, 0, 3}, 1,
			sheet->palette->line);
		tb_picture_text(sheet->picture, (struct tb_box){left, box.y + 3, 80, 14},
			type,
			tb_tick_time(ticks.at[i], ticks.at[1] - ticks.at[0], text,
				sizeof text));
	}
}

void tb_pair_overview_strips(const struct tb_pair_overview *overview,
	struct tb_picture *picture, const struct tb_palette *palette,
	const struct tb_span shown[2], struct tb_box box)
{
	struct strips_sheet sheet = {overview, picture, palette, shown,
		.span_ps = fmax((double)overview->strips[0].simulated_ps,
			(double)overview->strips[1].simulated_ps)};
	if (sheet.span_ps <= 0)
		return;
	box.x += LABEL_W;
	box.w = fmax(box.w - LABEL_W, 1);
	double h = fmax((box.h - AXIS_H - GAP) / 2, 1);
	sheet.most = overview_most(overview, sheet.span_ps, (int)fmax(box.w / COLUMN, 1));
	draw_strip(&sheet, (struct tb_box){box.x, box.y, box.w, h}, "A", 0);
	draw_strip(&sheet, (struct tb_box){box.x, box.y + h + GAP, box.w, h}, "B", 1);
	// Above the strips, between the legends: a mean over a column's time, in whole
	// packets.
	char packets[48];
	tb_format_counted((uint64_t)fmax(round(sheet.most), 1),
		"packet waits|packets wait", packets, sizeof packets);
	tb_picture_printf(picture,
		(struct tb_box){box.x + box.w / 3, box.y - 17, box.w / 3, 14},
		(struct tb_type){TB_FONT_TEXT, 11, TB_ALIGN_CENTRE, palette->muted},
		"at most %s at once", packets);
	draw_overview_axis(
		&sheet, (struct tb_box){box.x, box.y + box.h - AXIS_H, box.w, AXIS_H});
}
