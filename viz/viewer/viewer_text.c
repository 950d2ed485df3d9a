// Text to copy or export: the details of the selection, and the links of the window.
#include "markup.h"
#include "run_text.h"
#include "viewer_impl.h"

#include <inttypes.h>
#include <stdlib.h>

char *tb_viewer_copy(struct tb_viewer *viewer)
{
	char *text = NULL;
	size_t length;
	if (!tb_viewer_picture(viewer))
		return NULL;
	FILE *stream = open_memstream(&text, &length);
	if (!stream)
		return NULL;
	// Write the texts of the detail, with a tab between those on one line.
	const struct tb_picture *picture = &viewer->picture;
	struct tb_box place = viewer->panes.slots[TB_SLOT_DETAIL];
	double line_y = -1;
	for (size_t i = 0; i < picture->n_items; i++) {
		const struct tb_item *item = &picture->items[i];
		if (item->kind != TB_ITEM_TEXT ||
			!tb_box_holds(place, item->box.x, item->box.y))
			continue;
		if (line_y >= 0)
			fputs(item->box.y == line_y ? "\t" : "\n", stream);
		line_y = item->box.y;
		fputs(tb_picture_string(picture, item->text), stream);
	}
	if (line_y >= 0)
		fputc('\n', stream);
	if (fclose(stream) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

void tb_viewer_export(struct tb_viewer *viewer, FILE *stream)
{
	struct tb_pane *main = viewer->panes.main;
	if (viewer->data.run && main->view->put_csv)
		main->view->put_csv(main, stream);
	else if (viewer->data.run) {
		tb_rows_rank(&viewer->rows, viewer->rows.n);
		fputs("rank,link,kind", stream);
		for (int metric = 0; metric < TB_N_ALL_METRICS; metric++)
			fprintf(stream, ",%s", tb_link_figures[metric].column);
		fputs(",window_begin_ps,window_end_ps\n", stream);
		for (uint32_t i = 0; i < viewer->rows.n; i++) {
			uint32_t id = viewer->rows.list[i].link.id;
			const struct tb_run_link *link =
				&tb_run_links(viewer->data.run)[id];
			const struct tb_link_sample *sample = &viewer->data.samples[id];
			fprintf(stream, "%" PRIu32 ",", i + 1);
			tb_csv_put(stream, link->name);
			fputc(',', stream);
			tb_csv_put(stream, tb_rows_kind(link->at.kind));
			for (int metric = 0; metric < TB_N_ALL_METRICS; metric++)
				if (tb_run_unmeasured(
					    link->known, (enum tb_metric)metric))
					fputc(',', stream);
				else
					fprintf(stream, ",%" PRIu64,
						tb_metric_of(
							sample, (enum tb_metric)metric));
			fprintf(stream, ",%" PRId64 ",%" PRId64 "\n",
				tb_window_begin_ps(
					viewer->data.info, viewer->data.window),
				tb_window_end_ps(viewer->data.info, viewer->data.window));
		}
	}
}
