// The columns of what ranks recorded, beside what one run or two made of it: those of the
// report, of comparisons and of the viewer. An item is a struct tb_recorded_beside.
#ifndef TB_RECORDED_RANKS_H
#define TB_RECORDED_RANKS_H

#include "recorded.h"
#include "table.h"

// Figures of a rank: those of a run for either side.
enum tb_rank_figure {
	TB_RANK_JOB,
	TB_RANK_NUMBER,
	TB_RANK_CALLS,
	TB_RANK_RECORDED_END,
	TB_RANK_RECORDED,
	TB_RANK_RECORDED_SHARE,
	TB_RANK_SIMULATED_CALLS,
	TB_RANK_SIMULATED_END,
	TB_RANK_END_CHANGE,
	TB_RANK_SIMULATED,
	TB_RANK_CHANGE,
	TB_RANK_SIMULATED_SHARE,
};

// tb_put_rank puts a figure of a rank, column->which.
void tb_put_rank(struct tb_datum *at);

#define TB_RANK_PUT(figure, side) .put = tb_put_rank, .which = 2 * (figure) + (side)

#define TB_RANK_JOB_COLUMN                                                               \
	{                                                                                \
		"job", NULL, "Its number", TB_DATUM_ID, TB_RANK_PUT(TB_RANK_JOB, 0)      \
	}

// What was recorded.
#define TB_RANK_COLUMNS                                                                  \
	{"rank", "Rank", "Of the job; of a capture the node", TB_DATUM_ID,               \
		TB_RANK_PUT(TB_RANK_NUMBER, 0)},                                         \
		{"calls", "Calls",                                                       \
			"How many were recorded, without those that only "               \
			"start something",                                               \
			TB_DATUM_COUNT, TB_RANK_PUT(TB_RANK_CALLS, 0)},                  \
		{"recorded_end_ps", "Run time",                                          \
			"When its last call was left, as recorded", TB_DATUM_TIME,       \
			TB_RANK_PUT(TB_RANK_RECORDED_END, 0)},                           \
		{"recorded_ps", "In calls", "As recorded", TB_DATUM_TIME,                \
			TB_RANK_PUT(TB_RANK_RECORDED, 0)},                               \
	{                                                                                \
		"recorded_call_percent", "Share",                                        \
			"Of these calls in the recorded run time; above 100 where a "    \
			"rank's threads call at once",                                   \
			TB_DATUM_PERCENT, TB_RANK_PUT(TB_RANK_RECORDED_SHARE, 0),        \
			.flags = TB_COLUMN_NULL                                          \
	}

// What the run of a side made of it: `x` goes into the keys, `in` into the titles.
#define TB_RANK_SIDE_COLUMNS(x, in, side)                                                \
	{"simulated" x "_calls", NULL, "How many of them the replay came to the end of", \
		TB_DATUM_COUNT, TB_RANK_PUT(TB_RANK_SIMULATED_CALLS, side),              \
		.flags = TB_COLUMN_NULL},                                                \
		{"simulated" x "_end_ps", "Simulated run time" in, "In the replay",      \
			TB_DATUM_TIME, TB_RANK_PUT(TB_RANK_SIMULATED_END, side),         \
			.flags = TB_COLUMN_NULL},                                        \
		{"end_change" x "_percent", "Change",                                    \
			"Of the run time, simulated against recorded", TB_DATUM_PERCENT, \
			TB_RANK_PUT(TB_RANK_END_CHANGE, side),                           \
			.flags = TB_COLUMN_NULL | TB_COLUMN_SIGNED},                     \
		{"simulated" x "_ps", "Simulated in calls", "In the replay",             \
			TB_DATUM_TIME, TB_RANK_PUT(TB_RANK_SIMULATED, side),             \
			.flags = TB_COLUMN_NULL},                                        \
		{"change" x "_percent", NULL,                                            \
			"Of the time in calls, simulated against recorded",              \
			TB_DATUM_PERCENT, TB_RANK_PUT(TB_RANK_CHANGE, side),             \
			.flags = TB_COLUMN_NULL | TB_COLUMN_SIGNED},                     \
	{                                                                                \
		"simulated" x "_call_percent", "Simulated share",                        \
			"Of calls in the simulated run time", TB_DATUM_PERCENT,          \
			TB_RANK_PUT(TB_RANK_SIMULATED_SHARE, side),                      \
			.flags = TB_COLUMN_NULL                                          \
	}

// What the remark of such a table says.
#define TB_RANK_REMARK "Without calls that only start something."

#endif
