// The time strip: the wait of all links per bin as bars, below it that of each level as
// shades, of each of several jobs, and what captures recorded of congestion.
#ifndef TB_TIME_STRIP_H
#define TB_TIME_STRIP_H

#include "job_series.h"
#include "recorded_congestion.h"
#include "view.h"

#define TB_STRIP_MOST_JOBS 8 // that have a lane

// A zeroed struct has read nothing yet.
struct tb_time_strip {
	struct tb_question question;
	uint64_t *by_bin;   // wait of all links, in ps; NULL until read
	uint64_t *by_level; // by bin and level; NULL when there is nothing to shade
	struct tb_job_series jobs; // of a run of several jobs
	uint32_t n_jobs;	   // that have a lane
	// By bin what was recorded, of lanes that have anything; NULL: nothing.
	uint64_t *recorded[TB_RECORDED_LANES];
	uint32_t n_recorded; // that are not NULL
	tb_time_ps bin_ps;
	uint64_t n_bins;
	uint32_t n_levels;
};

// tb_time_strip_read has the whole run read, once. Errors as of tb_run_wait_by_bin.
// Levels are optional: without memory for them, or with too many bins, there are only
// bars.
int tb_time_strip_read(struct tb_time_strip *strip, struct tb_viewer *viewer,
	struct tb_error *error) TB_MUST_USE;
void tb_time_strip_fini(struct tb_time_strip *strip);

// tb_time_strip_draw fills a box that stands for the whole run, once it is read, and
// names its lanes left of it.
void tb_time_strip_draw(const struct tb_time_strip *strip, const struct tb_pane *pane,
	struct tb_picture *picture, struct tb_box box);

// tb_time_strip_scale writes what its largest bars and brightest shades stand for, when
// it is that wide, or that nothing waits; "" before it is read. 160 bytes suffice.
char *tb_time_strip_scale(
	const struct tb_time_strip *strip, double width, char *buffer, size_t size);

// tb_time_axis_draw draws the times from 0 to span_ps below a box.
void tb_time_axis_draw(const struct tb_style *style, struct tb_picture *picture,
	struct tb_box above, double span_ps);

// tb_time_strip_tip explains the bin at a share of the run, 0 to below 1.
void tb_time_strip_tip(const struct tb_time_strip *strip, const struct tb_run_info *info,
	double share, struct tb_tip *tip);

#endif
