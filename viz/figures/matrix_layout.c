#include "matrix_draw.h"

#include <math.h>
#include <stdlib.h>

const struct tb_matrix_metrics tb_matrix_on_screen = {
	.cell_w = 24, .cell_h = 17, .sum_h = 21, .gap_x = 8, .gap_y = 8, .band_gap = 18};

static uint32_t divide_up(uint32_t a, uint32_t b)
{
	return a / b + (a % b != 0);
}

// band_measure sets what depends on the level's switches alone.
static void band_measure(struct tb_matrix_band *band, const struct tb_matrix_row *row,
	const struct tb_matrix_metrics *metrics)
{
	uint32_t cells = 1;
	uint32_t group = metrics->group ? metrics->group : 1;
	bool above = false, nodes = false;
	for (uint32_t i = 0; i < row->n_boxes; i++) {
		const struct tb_matrix_box *box = &row->boxes[i];
		if (box->n_above > cells)
			cells = box->n_above;
		if (box->n_below > cells)
			cells = box->n_below;
		above |= box->n_above > 0;
		nodes |= box->n_nodes > 0;
	}
	band->level = row->level;
	band->n_boxes = divide_up(row->n_boxes, group);
	band->box_w = metrics->box_w > 0 ? metrics->box_w : cells * metrics->cell_w;
	band->above_h = above ? metrics->cell_h : 0;
	band->nodes_h = nodes ? metrics->cell_h : 0;
	band->box_h = band->above_h + metrics->sum_h + metrics->cell_h + band->nodes_h;
}

int tb_matrix_layout_init(struct tb_matrix_layout *layout, const struct tb_matrix *matrix,
	const struct tb_matrix_metrics *metrics, double width)
{
	struct tb_matrix_layout made = {.metrics = *metrics, .n_bands = matrix->n_rows};
	made.bands = calloc(made.n_bands ? made.n_bands : 1, sizeof *made.bands);
	if (!made.bands)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < made.n_bands; i++)
		band_measure(&made.bands[i], &matrix->rows[i], metrics);
	tb_matrix_layout_wrap(&made, width);
	*layout = made;
	return TB_OK;
}

bool tb_matrix_layout_measure(
	struct tb_matrix_layout *layout, const struct tb_matrix *matrix)
{
	double width = layout->width, height = layout->height;
	for (uint32_t i = 0; i < layout->n_bands; i++)
		band_measure(&layout->bands[i], &matrix->rows[i], &layout->metrics);
	tb_matrix_layout_wrap(layout, width);
	return layout->height != height;
}

void tb_matrix_layout_fini(struct tb_matrix_layout *layout)
{
	free(layout->bands);
	*layout = (struct tb_matrix_layout){0};
}

void tb_matrix_layout_wrap(struct tb_matrix_layout *layout, double width)
{
	const struct tb_matrix_metrics *metrics = &layout->metrics;
	double y = 0;
	layout->width = 0;
	for (uint32_t i = 0; i < layout->n_bands; i++) {
		struct tb_matrix_band *band = &layout->bands[i];
		double step = band->box_w + metrics->gap_x;
		// The tolerance keeps a width that was computed from whole boxes from
		// losing one.
		double room = floor((width + metrics->gap_x) / step + 1e-6);
		uint32_t most = room < 1	       ? 1
				: room < band->n_boxes ? (uint32_t)room
						       : band->n_boxes;
		if (most == 0)
			most = 1;
		band->n_lines = divide_up(band->n_boxes, most);
		// Prefer lines of equal length to a short last line.
		band->per_line =
			band->n_lines ? divide_up(band->n_boxes, band->n_lines) : 1;
		band->y = y;
		band->h = band->n_lines * (band->box_h + metrics->gap_y);
		if (band->n_lines)
			band->h -= metrics->gap_y;
		y += band->h + metrics->gap_y + metrics->band_gap;
		layout->width =
			fmax(layout->width, band->per_line * step - metrics->gap_x);
	}
	if (layout->n_bands)
		y -= metrics->gap_y + metrics->band_gap;
	layout->height = y;
}

static double zoom_of(const struct tb_matrix_layout *layout, double w, double h)
{
	if (layout->width <= 0 || layout->height <= 0)
		return 1;
	return fmin(w / layout->width, h / layout->height);
}

double tb_matrix_layout_fit(struct tb_matrix_layout *layout, double w, double h)
{
	const struct tb_matrix_band *longest = NULL;
	for (uint32_t i = 0; i < layout->n_bands; i++) {
		const struct tb_matrix_band *band = &layout->bands[i];
		if (!longest ||
			band->n_boxes * band->box_w > longest->n_boxes * longest->box_w)
			longest = band;
	}
	if (!longest)
		return 1;
	// With more lines the zoom rises to a peak and then falls, so the search ends
	// soon after its peak.
	uint32_t n_boxes = longest->n_boxes;
	double step = longest->box_w + layout->metrics.gap_x;
	double best = 0;
	double best_width = step;
	for (uint32_t lines = 1; lines <= n_boxes; lines++) {
		double width = divide_up(n_boxes, lines) * step;
		tb_matrix_layout_wrap(layout, width);
		double zoom = zoom_of(layout, w, h);
		// Full lines are worth a smaller zoom: they keep neighbours in columns.
		double worth = n_boxes % longest->per_line == 0 ? zoom : zoom * 0.88;
		if (worth > best * 1.001) {
			best = worth;
			best_width = width;
		} else if (zoom < best * 0.7) {
			break;
		}
	}
	tb_matrix_layout_wrap(layout, best_width);
	return zoom_of(layout, w, h);
}

struct tb_box tb_matrix_layout_box(
	const struct tb_matrix_layout *layout, uint32_t band, uint32_t index)
{
	const struct tb_matrix_band *at = &layout->bands[band];
	return (struct tb_box){index % at->per_line * (at->box_w + layout->metrics.gap_x),
		at->y + index / at->per_line * (at->box_h + layout->metrics.gap_y),
		at->box_w, at->box_h};
}
