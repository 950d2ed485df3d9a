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

#endif
