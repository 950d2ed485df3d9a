#include "rank_calls.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

struct tb_colour tb_rank_calls_colour(const struct tb_style *style, uint32_t sort)
{
	// The hues that neither spans nor steps have.
	static const uint32_t hues[] = {1, 5, 6, 7};
	return tb_job_colour(style->theme, hues[sort % 4]);
}

static double call_x(
	const struct tb_timeline *timeline, struct tb_box row, tb_time_ps at_ps)
{
	double share = (double)(at_ps - timeline->from_ps) /
		       (double)(timeline->to_ps - timeline->from_ps);
	return row.x + row.w * fmin(fmax(share, 0), 1);
}

void tb_rank_calls_draw(struct tb_picture *picture, const struct tb_style *style,
	const struct tb_timeline *timeline, const struct tb_timeline_rank *rank,
	struct tb_box row)
{
	double drawn = row.x - 1;
	for (size_t i = rank->first_call; i < rank->first_call + rank->n_calls; i++) {
		const struct tb_called *call = &timeline->calls.calls[i];
		double from = call_x(timeline, row, call->from_ps);
		double to = fmax(call_x(timeline, row, call->to_ps), from + 1);
		// Of several within a pixel the first stands for all.
		if (to - drawn < 1)
			continue;
		tb_picture_rect(picture,
			(struct tb_box){from, row.y, to - from, TB_RANK_CALLS_H_PX},
			tb_rank_calls_colour(style, call->sort));
		tb_picture_pick(picture, (struct tb_pick){TB_PICK_CELL,
						 (uint32_t)(timeline->times.n + i)});
		drawn = to;
	}
}

bool tb_rank_calls_choose(
	const struct tb_timeline *timeline, uint32_t cell, struct tb_rank_choice *choice)
{
	const struct tb_call_spans *calls = &timeline->calls;
	char name[150];
	if (cell < timeline->times.n || cell - timeline->times.n >= calls->n)
		return false;
	const struct tb_called *call = &calls->calls[cell - timeline->times.n];
	*choice = (struct tb_rank_choice){.is_call = true,
		.span = {.job = call->job,
			.rank = call->rank,
			.peer = TB_ID_NONE,
			.from_ps = call->from_ps,
			.to_ps = call->to_ps,
			.n = 1}};
	snprintf(choice->name, sizeof choice->name, "rank %" PRIu32 " calls %s",
		call->rank,
		tb_call_sort_name(&calls->sorts[call->sort], name, sizeof name));
	return true;
}

void tb_rank_calls_tip(const struct tb_timeline *timeline, struct tb_tip *tip)
{
	struct tb_rank_choice choice;
	char from[24], to[24], took[24];
	if (tip->pick.kind != TB_PICK_CELL ||
		!tb_rank_calls_choose(timeline, tip->pick.index, &choice))
		return;
	snprintf(tip->lines[0], sizeof tip->lines[0], "%s", choice.name);
	snprintf(tip->lines[1], sizeof tip->lines[1], "%s to %s: %s",
		tb_format_time(choice.span.from_ps, from, sizeof from),
		tb_format_time(choice.span.to_ps, to, sizeof to),
		tb_format_time(
			choice.span.to_ps - choice.span.from_ps, took, sizeof took));
	tip->n_lines = 2;
}
