// The calls of ranks as a thin band along the top of each rank's row. Private to
// viz/views/.
#ifndef TB_RANK_CALLS_H
#define TB_RANK_CALLS_H

#include "rank_impl.h"

#define TB_RANK_CALLS_H_PX 4 // of the band

// tb_rank_calls_colour returns the colour of a sort of calls; four are told apart.
struct tb_colour tb_rank_calls_colour(const struct tb_style *style, uint32_t sort);

// tb_rank_calls_draw draws the calls of a rank into `row`, which shows the timeline's
// span of time. A call's pick is the cell behind those of all spans, by its number.
void tb_rank_calls_draw(struct tb_picture *picture, const struct tb_style *style,
	const struct tb_timeline *timeline, const struct tb_timeline_rank *rank,
	struct tb_box row);

// tb_rank_calls_choose fills in the choice of the call of a cell; false when it is none.
bool tb_rank_calls_choose(
	const struct tb_timeline *timeline, uint32_t cell, struct tb_rank_choice *choice);

// tb_rank_calls_tip describes the call of a pick, if it is one.
void tb_rank_calls_tip(const struct tb_timeline *timeline, struct tb_tip *tip);

#endif
