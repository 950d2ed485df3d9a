// The messages of a flow on a time axis: from post to delivery, faint while they stood in
// their sender's own queue.
#include "detail.h"
#include "run_text.h"

#include <inttypes.h>
#include <math.h>

#define MOST_MESSAGES 500 // in the list

static const struct tb_flow_messages *detail_messages_of(
	struct tb_viewer *viewer, uint32_t flow_index)
{
	const struct tb_flow_table *table = tb_viewer_flows(viewer);
	if (!table || table->group > 1 || flow_index >= table->n)
		return NULL;
	return tb_viewer_messages(viewer, &table->rows[flow_index]);
}

void tb_detail_messages(const struct tb_detail *detail, const struct tb_flow_sample *flow)
{
	const struct tb_flow_messages *messages = detail_messages_of(
		detail->pane->viewer, detail->pane->selection->selected.index);
	char from[32], to[32], text[96];
	if (!messages || messages->n == 0)
		return;
	tb_sheet_gap(detail->sheet);
	snprintf(text, sizeof text,
		messages->n == flow->n_messages
			? "messages: payload, latency; a row shows its time"
			: "%" PRIu32 " messages that lost most; a row shows its time",
		messages->n);
	tb_sheet_caption(detail->sheet, text);
	tb_sheet_row(detail->sheet, tb_format_time(flow->first_ps, from, sizeof from),
		tb_format_time(flow->last_ps, to, sizeof to));
	uint32_t shown = messages->n < MOST_MESSAGES ? messages->n : MOST_MESSAGES;
	for (uint32_t i = 0; i < shown; i++) {
		const struct tb_message_sample *message = &messages->list[i];
		const struct tb_viewer_data *data = detail->pane->data;
		double life = fmax((double)(flow->last_ps - flow->first_ps), 1);
		char size[32], time[32];
		tb_format_size(message->bytes, size, sizeof size);
		tb_format_time(
			message->delivered_ps - message->posted_ps, time, sizeof time);
		struct tb_sheet_line *line = tb_sheet_item(
			detail->sheet, (struct tb_pick){TB_PICK_MESSAGE, i}, size, time);
		line->from = (double)(message->posted_ps - flow->first_ps) / life;
		line->faint_to = (double)(message->started_ps - flow->first_ps) / life;
		line->to = (double)(message->delivered_ps - flow->first_ps) / life;
		bool in_window =
			message->posted_ps < tb_window_end_ps(data->info, data->window) &&
			message->delivered_ps >
				tb_window_begin_ps(data->info, data->window);
		line->has_chip = !tb_window_whole(data->info, data->window) && in_window;
		line->chip = tb_palette_of(detail->pane->style->theme)->accent;
	}
	if (messages->n > shown) {
		snprintf(text, sizeof text, "and %" PRIu32 " later ones",
			messages->n - shown);
		tb_sheet_caption(detail->sheet, text);
	}
}

void tb_detail_show_message(struct tb_pane *pane, uint32_t message)
{
	struct tb_window window;
	const struct tb_flow_messages *messages =
		detail_messages_of(pane->viewer, pane->selection->selected.index);
	if (pane->selection->selected.kind != TB_PICK_FLOW || !messages ||
		message >= messages->n)
		return;
	const struct tb_message_sample *shown = &messages->list[message];
	if (tb_window_between(pane->data->info, shown->posted_ps, shown->delivered_ps,
		    &window, NULL) == TB_OK)
		tb_viewer_show(pane->viewer, window, pane->data->metric);
}
