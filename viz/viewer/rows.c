// The links of the window as rows, filtered and in order: what the list beside and the
// table of links show.
#include "select.h"
#include "viewer_impl.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int by_key(const void *one, const void *other)
{
	const struct tb_list_row *a = one;
	const struct tb_list_row *b = other;
	if (a->key != b->key)
		return a->key < b->key ? 1 : -1;
	return a->link.id < b->link.id ? -1 : a->link.id > b->link.id;
}

enum tb_metric tb_rows_metric(const struct tb_viewer *viewer)
{
	return viewer->column < TB_COLUMN_METRIC
		       ? viewer->metric
		       : (enum tb_metric)(viewer->column - TB_COLUMN_METRIC);
}

struct tb_scale tb_rows_scale(const struct tb_viewer *viewer)
{
	enum tb_metric metric = tb_rows_metric(viewer);
	uint64_t largest = 0;
	for (uint32_t i = 0; i < viewer->info->n_links; i++) {
		uint64_t value = tb_metric_of(&viewer->samples[i], metric);
		largest = value > largest ? value : largest;
	}
	return tb_scale_of(tb_quantity_of(metric), (double)largest, viewer->absolute,
		viewer->logarithmic);
}

static uint64_t key_of(const struct tb_viewer *viewer, uint32_t link)
{
	uint64_t key =
		viewer->column == TB_COLUMN_NAME
			? ~(uint64_t)link
			: tb_metric_of(&viewer->samples[link], tb_rows_metric(viewer));
	return viewer->rising ? ~key : key;
}

const char *tb_rows_kind(enum tb_link_kind kind)
{
	static const char *const names[] = {[TB_LINK_INJECTION] = "injection",
		[TB_LINK_UP] = "up",
		[TB_LINK_DOWN] = "down",
		[TB_LINK_EJECTION] = "ejection"};
	return names[kind];
}

// passes looks for every word of the filter in the link's name or kind.
static bool passes(const struct tb_viewer *viewer, uint32_t link)
{
	const struct tb_run_link *at = &tb_run_links(viewer->run)[link];
	const char *word = viewer->filter;
	while (*(word += strspn(word, " "))) {
		char wanted[sizeof viewer->filter];
		size_t length = strcspn(word, " ");
		memcpy(wanted, word, length);
		wanted[length] = '\0';
		if (!strcasestr(at->name, wanted) &&
			strcasecmp(tb_rows_kind(at->at.kind), wanted) != 0)
			return false;
		word += length;
	}
	return true;
}

void tb_rows_read(struct tb_viewer *viewer)
{
	enum tb_metric metric = tb_rows_metric(viewer);
	viewer->n_rows = 0;
	for (uint32_t i = 0; i < viewer->info->n_links; i++) {
		if (tb_metric_of(&viewer->samples[i], metric) == 0)
			continue;
		if (viewer->filter[0] && !passes(viewer, i))
			continue;
		viewer->rows[viewer->n_rows++] =
			(struct tb_list_row){{i}, key_of(viewer, i)};
	}
	viewer->n_ranked = 0;
	tb_rows_rank(viewer, 1);
	viewer->stale = true;
}

// Of a hundred thousand links a page is read: only that much is sorted.
void tb_rows_rank(struct tb_viewer *viewer, double n)
{
	uint32_t wanted = n < viewer->n_rows ? (uint32_t)n : viewer->n_rows;
	uint32_t done = viewer->n_ranked;
	if (wanted <= done)
		return;
	wanted = wanted < done * 2 ? done * 2 : wanted; // few steps to the end
	tb_select_first(viewer->rows + done, viewer->n_rows - done, sizeof *viewer->rows,
		wanted - done, by_key);
	viewer->n_ranked = wanted < viewer->n_rows ? wanted : viewer->n_rows;
}

void tb_rows_order(struct tb_viewer *viewer, enum tb_list_column column)
{
	viewer->rising = column == viewer->column && !viewer->rising;
	viewer->column = column;
	viewer->scroll = 0;
	tb_rows_read(viewer);
}

// As many rows as come before it, sorted or not.
uint32_t tb_rows_of(const struct tb_viewer *viewer)
{
	uint32_t link = viewer->selected.index, n = 0;
	bool found = false;
	if (viewer->selected.kind != TB_PICK_LINK || link >= viewer->info->n_links)
		return viewer->n_rows;
	const struct tb_list_row row = {{link}, key_of(viewer, link)};
	for (uint32_t i = 0; i < viewer->n_rows; i++) {
		n += by_key(&viewer->rows[i], &row) < 0;
		found |= viewer->rows[i].link.id == link;
	}
	return found ? n : viewer->n_rows;
}

void tb_rows_step(struct tb_viewer *viewer, int by)
{
	uint32_t row = tb_rows_of(viewer);
	if (viewer->n_rows == 0)
		return;
	if (row == viewer->n_rows)
		row = 0;
	else if (by < 0)
		row -= row > 0;
	else
		row += row + 1 < viewer->n_rows;
	tb_rows_rank(viewer, row + 1.0);
	tb_viewer_select(
		viewer, (struct tb_pick){TB_PICK_LINK, viewer->rows[row].link.id});
}
