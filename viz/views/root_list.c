#include "root_list.h"

#include "order.h"
#include "scale.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

struct tb_slices tb_slices_of(
	const struct tb_viewer_data *data, const struct tb_trees *trees)
{
	struct tb_slices all = {0, trees->n_bins};
	if (tb_window_whole(data->info, data->window) || trees->bin_ps <= 0)
		return all;
	tb_time_ps begin_ps = tb_window_begin_ps(data->info, data->window);
	tb_time_ps end_ps = tb_window_end_ps(data->info, data->window);
	return (struct tb_slices){(uint32_t)(begin_ps / trees->bin_ps),
		(uint32_t)((end_ps - 1) / trees->bin_ps + 1)};
}

void tb_root_waits_fill(
	struct tb_root_waits *waits, const struct tb_trees *trees, struct tb_link root)
{
	*waits = (struct tb_root_waits){.wait_ps = {0}};
	for (uint32_t i = trees->root_first[root.id]; i < trees->root_first[root.id + 1];
		i++)
		waits->wait_ps[trees->roots[i].bin] += trees->roots[i].wait_ps;
	for (uint32_t i = trees->first[root.id]; i < trees->first[root.id + 1]; i++)
		waits->n_links[trees->rows[i].bin]++;
}

struct tb_box tb_root_slice(const struct tb_viewer_data *data,
	const struct tb_trees *trees, struct tb_box box, uint32_t slice)
{
	double end_ps =
		fmax((double)tb_window_end_ps(data->info, (struct tb_window){0}), 1);
	double w = box.w * (double)trees->bin_ps / end_ps;
	double left = box.x + fmin(w * slice, box.w);
	return (struct tb_box){
		left, box.y, fmin(box.x + w * (slice + 1), box.x + box.w) - left, box.h};
}

void tb_root_waits_draw(const struct tb_root_waits *waits, const struct tb_trees *trees,
	const struct tb_pane *pane, struct tb_picture *picture, struct tb_box box)
{
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	const struct tb_slices shown = tb_slices_of(pane->data, trees);
	const uint64_t *values = waits->wait_ps;
	const uint32_t n = trees->n_bins;
	uint64_t largest = 0;
	for (uint32_t i = 0; i < n; i++)
		largest = values[i] > largest ? values[i] : largest;
	for (uint32_t i = 0; i < n; i++) {
		if (!values[i])
			continue;
		double h = fmax(box.h * (double)values[i] / (double)largest, 1);
		struct tb_box slice = tb_root_slice(pane->data, trees, box, i);
		bool in = i >= shown.from && i < shown.end;
		tb_picture_rect(picture,
			(struct tb_box){slice.x, box.y + box.h - h,
				fmax(slice.w - (slice.w > 4), 1), h},
			in ? palette->muted : palette->line);
	}
}

#define PAD	 16
#define HEADER_H 46

int tb_root_list_read(struct tb_root_list *list, const struct tb_trees *trees,
	struct tb_slices slices, const uint8_t *outside)
{
	if (list->listed)
		return TB_OK;
	int status =
		tb_tree_roots(trees, slices.from, slices.end, &list->roots, &list->n);
	list->listed = status == TB_OK;
	if (list->listed && outside) {
		// Drop the roots that are outside.
		uint32_t n = 0;
		for (uint32_t i = 0; i < list->n; i++)
			if (!outside[list->roots[i].root.id])
				list->roots[n++] = list->roots[i];
		list->n = n;
	}
	return status;
}

void tb_root_list_forget(struct tb_root_list *list)
{
	free(list->roots);
	list->roots = NULL;
	list->n = 0;
	list->listed = false;
}

static bool is_root(const struct tb_root_list *list, struct tb_link link)
{
	for (uint32_t i = 0; i < list->n; i++)
		if (list->roots[i].root.id == link.id)
			return true;
	return false;
}

struct tb_link tb_root_list_find(const struct tb_root_list *list,
	const struct tb_trees *trees, struct tb_link link)
{
	if (is_root(list, link))
		return link;
	for (uint32_t r = 0; r < list->n; r++) {
		struct tb_link root = list->roots[r].root;
		for (uint32_t i = trees->first[root.id]; i < trees->first[root.id + 1];
			i++)
			if (trees->rows[i].link.id == link.id)
				return root;
	}
	return (struct tb_link){TB_ID_NONE};
}

struct tb_link tb_root_list_step(
	const struct tb_root_list *list, struct tb_link from, int by)
{
	uint32_t at = 0;
	while (at < list->n && list->roots[at].root.id != from.id)
		at++;
	if (at == list->n)
		return (struct tb_link){TB_ID_NONE};
	at = by < 0 ? at - (at > 0) : at + (at + 1 < list->n);
	return list->roots[at].root;
}

static void draw_root_list_header(const struct tb_trees *trees, uint32_t n,
	const struct tb_pane *pane, struct tb_picture *picture, struct tb_box place)
{
	static const char *const all[] = {"Roots by what they hold up", "Roots", NULL};
	static const char *const brushed[] = {
		"Brushed roots by what they hold up", "Brushed roots", NULL};
	char text[80], brief[64];
	snprintf(brief, sizeof brief, "%s: wait within the window",
		TB_COUNTED_TEXT(n, "root"));
	tb_picture_fitting(picture,
		(struct tb_box){place.x + PAD, place.y + 8, place.w - PAD, 18},
		tb_style_type(pane->style, TB_FONT_BOLD, 13, false),
		pane->selection->brush.on ? brushed : all);
	snprintf(text, sizeof text, "%s%s%s", brief,
		trees->n_bins > 1 ? ", in slices of " : "",
		trees->n_bins > 1 ? TB_TIME_TEXT(trees->bin_ps) : "");
	tb_picture_fitting(picture,
		(struct tb_box){place.x + PAD, place.y + 26, place.w - PAD, 15},
		tb_style_type(pane->style, TB_FONT_TEXT, 11, true),
		(const char *const[]){text, brief, "wait within the window", NULL});
}

// What the functions of the list need.
struct roots_shown {
	const struct tb_root_list *list;
	const struct tb_trees *trees;
};

static struct tb_pick pick_root(const struct tb_list_view *list, uint32_t row)
{
	const struct roots_shown *shown = list->context;
	return (struct tb_pick){TB_PICK_LINK, shown->list->roots[row].root.id};
}

static void draw_listed_root(const struct tb_list_cell *cell)
{
	const struct roots_shown *shown = cell->list->context;
	const struct tb_trees *trees = shown->trees;
	const struct tb_tree_root *root = &shown->list->roots[cell->row];
	struct tb_pane *pane = cell->pane;
	struct tb_picture *picture = cell->picture;
	struct tb_box box = cell->box;
	struct tb_root_waits waits;
	char value[48], text[48] = "links not kept";
	struct tb_type type = tb_style_type(pane->style, TB_FONT_TEXT, 12, false);
	type.align = TB_ALIGN_RIGHT;
	tb_metric_format(TB_WAIT, root->shown_ps, value, sizeof value);
	tb_picture_text(
		picture, (struct tb_box){box.x, box.y + 1, box.w - 6, 16}, type, value);
	double name_w = box.w - PAD - 16 - tb_text_width(type.font, type.size, value);
	tb_picture_name(picture, (struct tb_box){box.x + PAD, box.y + 1, name_w, 16},
		tb_style_type(pane->style, TB_FONT_MONO, 12, false),
		tb_run_links(pane->data->run)[root->root.id].label);
	type = tb_style_type(pane->style, TB_FONT_TEXT, 11, true);
	if (trees->rest_ps == 0 || root->n_links > 0)
		snprintf(text, sizeof text, "%s%" PRIu32 " %s",
			trees->rest_ps > 0 ? "at least " : "", root->n_links,
			root->n_links == 1 ? "link" : "links");
	tb_picture_text(
		picture, (struct tb_box){box.x + PAD, box.y + 15, 110, 13}, type, text);
	// The waits over time stand beside that, not on it.
	double left =
		fmax(box.w * 0.4, PAD + tb_text_width(type.font, type.size, text) + 8);
	if (trees->n_bins < 2)
		return;
	tb_root_waits_fill(&waits, trees, root->root);
	tb_root_waits_draw(&waits, trees, pane, picture,
		(struct tb_box){box.x + left, box.y + 17, fmax(box.w - left - 6, 1), 10});
}

struct tb_list_view tb_root_list_view(struct tb_root_list *list, struct tb_box place)
{
	return (struct tb_list_view){.pick = pick_root,
		.body = {place.x, place.y + HEADER_H, place.w,
			fmax(place.h - HEADER_H, 1)},
		.n = list->n,
		.row_h = TB_ROOT_LIST_ROW_H,
		.gap = 1,
		.scroll = &list->scroll,
		.notch = 3};
}

void tb_root_list_draw(struct tb_root_list *list, const struct tb_trees *trees,
	struct tb_link shown, struct tb_pane *pane, struct tb_picture *picture,
	struct tb_box place)
{
	const struct roots_shown context = {list, trees};
	const struct tb_view_column column = {.w = place.w};
	struct tb_list_view view = tb_root_list_view(list, place);
	view.context = &context;
	view.draw = draw_listed_root;
	view.columns = &column;
	view.n_columns = 1;
	view.chosen = (struct tb_pick){TB_PICK_LINK, shown.id};
	draw_root_list_header(trees, list->n, pane, picture, place);
	tb_list_view_draw(&view, pane, picture);
	tb_picture_line(picture,
		(struct tb_box){place.x + place.w + 5.5, place.y + 8, 0, place.h - 16}, 1,
		tb_palette_of(pane->style->theme)->line);
}

// The wait at a link that the trees keep: for this root, and for all.
struct link_share {
	uint64_t own_ps, all_ps;
};

void tb_root_victims_fini(struct tb_root_victims *victims)
{
	free(victims->list);
	*victims = (struct tb_root_victims){.n = 0};
}

// others_ps returns how long headers waited at a link for other roots, at most.
static uint64_t others_ps(
	const struct link_share *share, uint64_t wait_ps, double left_out_ps)
{
	double kept = (double)(share->all_ps - share->own_ps) + left_out_ps;
	double known = wait_ps > share->own_ps ? (double)(wait_ps - share->own_ps) : 0;
	return (uint64_t)fmin(kept, known);
}

static int victim_longest_first(const void *one, const void *other)
{
	const struct tb_root_victim *a = one, *b = other;
	return a->least_ps != b->least_ps ? TB_ORDER(b->least_ps, a->least_ps)
	       : a->most_ps != b->most_ps ? TB_ORDER(b->most_ps, a->most_ps)
					  : TB_ORDER(a->row, b->row);
}

int tb_root_victims_read(struct tb_root_victims *victims, const struct tb_trees *trees,
	const struct tb_heavy_waits *waits, const uint64_t *wait_ps, struct tb_link root)
{
	if (victims->listed && victims->root.id == root.id)
		return TB_OK;
	tb_root_victims_fini(victims);
	uint32_t most = 0;
	for (uint32_t i = 0; i < trees->n; i++)
		most = trees->rows[i].link.id > most ? trees->rows[i].link.id : most;
	for (uint32_t i = 0; i < waits->listed.n; i++)
		most = waits->rows[i].link.id > most ? waits->rows[i].link.id : most;
	struct link_share *shares = calloc(most + 1u, sizeof *shares);
	victims->list = calloc(waits->listed.n + 1u, sizeof *victims->list);
	if (!shares || !victims->list) {
		free(shares);
		return TB_ENOMEM;
	}
	// Fill in the shares of the links.
	for (uint32_t i = 0; i < trees->n; i++) {
		const struct tb_tree_sample *row = &trees->rows[i];
		shares[row->link.id].all_ps += row->wait_ps;
		shares[row->link.id].own_ps += row->root.id == root.id ? row->wait_ps : 0;
	}
	for (uint32_t i = 0; i < waits->listed.n; i++) {
		const struct tb_blame_sample *row = &waits->rows[i];
		const struct link_share *share = &shares[row->link.id];
		if (share->own_ps == 0)
			continue;
		uint64_t others = others_ps(share, wait_ps[row->link.id], trees->rest_ps);
		uint64_t least = row->wait_ps > others ? row->wait_ps - others : 0;
		uint64_t all = row->wait_ps + row->error_ps;
		victims->list[victims->n++] = (struct tb_root_victim){
			i, least, all < share->own_ps ? all : share->own_ps};
	}
	free(shares);
	qsort(victims->list, victims->n, sizeof *victims->list, victim_longest_first);
	victims->root = root;
	victims->listed = true;
	return TB_OK;
}
