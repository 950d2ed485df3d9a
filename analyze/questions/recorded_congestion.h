// What the captures of a run recorded of congestion, as it was before any replay: of each
// input its table (congestion.h), with the run's nodes.
#ifndef TB_QUESTION_RECORDED_CONGESTION_H
#define TB_QUESTION_RECORDED_CONGESTION_H

#include "congestion.h"
#include "run.h"

struct tb_recorded_capture {
	uint32_t job; // the first of the captures
	struct tb_congestion *congestion;
};

// Zeroed, it is empty: a run of no captures.
struct tb_recorded_captures {
	struct tb_recorded_capture *rows;
	size_t n, room;
};

// tb_recorded_captures_init reads them. TB_EFORMAT when the file is damaged, TB_ENOMEM.
int tb_recorded_captures_init(struct tb_recorded_captures *captures, struct tb_run *run,
	struct tb_error *error) TB_MUST_USE;
void tb_recorded_captures_fini(struct tb_recorded_captures *captures);

// What a time strip shows of it: a lane each.
enum tb_recorded_lane {
	TB_LANE_LOST,	 // segments sent again
	TB_LANE_WINDOWS, // time that windows were closed or held a sender up
	TB_LANE_MARKS,	 // marked packets and CNPs
	TB_LANE_PAUSES,
	TB_RECORDED_LANES
};

extern const char *const tb_recorded_lane_names[TB_RECORDED_LANES];

// tb_recorded_lane_of returns what counts have for a lane.
uint64_t tb_recorded_lane_of(
	const struct tb_congestion_counts *counts, enum tb_recorded_lane lane);

// tb_recorded_lanes counts the lanes of a run that have anything, without reading its
// bins. Errors as of tb_recorded_captures_init.
int tb_recorded_lanes(
	struct tb_run *run, uint32_t *n_lanes, struct tb_error *error) TB_MUST_USE;

#endif
