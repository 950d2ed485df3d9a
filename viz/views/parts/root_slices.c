#include "root_slices.h"

#include "run_text.h"

#include <math.h>

struct tb_slices tb_slices_of(
	const struct tb_viewer_data *data, const struct tb_trees *trees)
{
	struct tb_slices all = {0, trees->n_bins};
	if (tb_window_whole(data->info, data->window) || trees->bin_ps <= 0)
		return all;
	tb_time_ps begin_ps = tb_window_begin_ps(data->info, data->window);
	tb_time_ps end_ps = tb_window_end_ps(data->info, data->window);
	return (struct tb_slices){(uint32_t)(begin_ps / trees->bin_ps),
		(uint32_t)((end_ps + trees->bin_ps - 1) / trees->bin_ps)};
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

void tb_root_waits_draw(const struct tb_root_waits *waits, uint32_t n,
	struct tb_slices shown, const struct tb_style *style, struct tb_picture *picture,
	struct tb_box box)
{
	const struct tb_palette *palette = tb_palette_of(style->theme);
	const uint64_t *values = waits->wait_ps;
	uint64_t largest = 0;
	for (uint32_t i = 0; i < n; i++)
		largest = values[i] > largest ? values[i] : largest;
	for (uint32_t i = 0; i < n; i++) {
		if (!values[i])
			continue;
		double h = fmax(box.h * (double)values[i] / (double)largest, 1);
		double left = box.x + box.w * i / n;
		double right = box.x + box.w * (i + 1) / n;
		bool in = i >= shown.from && i < shown.end;
		tb_picture_rect(picture,
			(struct tb_box){left, box.y + box.h - h,
				fmax(right - left - (right - left > 4), 1), h},
			in ? palette->muted : palette->line);
	}
}
