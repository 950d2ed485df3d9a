// The records of a replay in parts. Private to replay/.
//
// Each part has records of its own (replay_records.h): the figures of its links, and its
// waits. The records of the whole gather them: between windows the threads of a team add
// up the cells and close bins; one thread enters waits into the blame while the others
// simulate the next window. Only the records of the whole have flows, messages, blame and
// an observer.
//
// A link from part to part has two cells, which are added up: the part of its far end
// counts in the one that every link has, the part of its near end in another
// (tb_records_near_cell). Where parts own cables, any part may count waits at a link,
// each in a cell of its own (tb_joint_records_own_cell).
#ifndef TB_RECORDS_PARTS_H
#define TB_RECORDS_PARTS_H

#include "network_parts.h"
#include "replay_records.h"

struct tb_part_records {
	struct tb_records *records; // NULL: not joined
	struct tb_cell *own_cells;  // where parts own cables: of links of other parts, by
				    // number of the crossing link
	// Waits to be entered into the blame of the whole, taken from the log of
	// `records`; the first n_entered are entered.
	struct tb_wait_log turned;
	size_t n_entered;
};

struct tb_joint_records {
	const struct tb_parts *parts;
	struct tb_records *whole;
	struct tb_cell *near_cells;  // by crossing link; NULL: parts own cables
	struct tb_cell **from_cells; // by link
	struct tb_part_records *of;  // by part
	struct tb_team *team;	     // NULL: the caller alone
	// The share of the swapped waits that is being entered: those that end at an
	// instant or before, part by part.
	tb_time_ps share_end;
	uint32_t share_part;	 // as many as there are parts: the share is entered
	size_t n_logged, n_more; // waits in the logs at the last call of turn, and of
				 // these since the call before
};

// tb_joint_records_new prepares the records of the whole, which it borrows like the
// parts, to be joined: TB_OK, or TB_ENOMEM, after which it is to be freed too.
int tb_joint_records_new(struct tb_joint_records **joint, struct tb_records *whole,
	const struct tb_network *net, const struct tb_parts *parts) TB_MUST_USE;
void tb_joint_records_free(struct tb_joint_records *joint); // NULL is fine

// tb_joint_records_join makes the records of a part. TB_ENOMEM.
int tb_joint_records_join(struct tb_joint_records *joint, uint32_t part,
	struct tb_records *records) TB_MUST_USE;

// tb_joint_records_set_team has the threads of a team close bins; NULL: the caller.
void tb_joint_records_set_team(struct tb_joint_records *joint, struct tb_team *team);

// tb_joint_records_own_cell is the cell in which a part counts waits at a crossing link
// of another part.
static inline struct tb_cell *tb_joint_records_own_cell(
	const struct tb_joint_records *joint, uint32_t part, uint32_t link)
{
	struct tb_cell *cell =
		&joint->of[part].own_cells[joint->parts->crossing_of[link]];
	cell->link = link & INT32_MAX;
	return cell;
}

// tb_joint_records_close, _idle, _jump and _finish do what those of replay_records.h do,
// for all parts.
int tb_joint_records_close(
	struct tb_joint_records *joint, struct tb_error *error) TB_MUST_USE;
bool tb_joint_records_idle(const struct tb_joint_records *joint);
void tb_joint_records_jump(struct tb_joint_records *joint, tb_time_ps now);
int tb_joint_records_finish(
	struct tb_joint_records *joint, struct tb_error *error) TB_MUST_USE;

// tb_joint_records_turn swaps the logs of all parts, if they hold at least `n_least`
// waits: these can then be entered while new waits are logged. Call it when all parts
// have reached the same instant. Returns false when they hold as many but waits of the
// last swap are left to be entered.
bool tb_joint_records_turn(struct tb_joint_records *joint, size_t n_least);

// tb_joint_records_step enters some of the swapped waits into the blame, in some
// microseconds; with a team, NULL: without one, the end of a batch is one step. Returns
// whether there were any. Meanwhile parts may log waits and count in flows, but no flow
// may be added. tb_joint_records_enter does all steps that there are,
// tb_joint_records_catch_up some more of them than enter what has been logged between the
// last two calls of turn.
bool tb_joint_records_step(struct tb_joint_records *joint, struct tb_team *team);
void tb_joint_records_enter(struct tb_joint_records *joint, struct tb_team *team);
void tb_joint_records_catch_up(struct tb_joint_records *joint);

// tb_joint_records_waits is the sum of all waits, of all parts.
uint64_t tb_joint_records_waits(const struct tb_joint_records *joint);

// Collecting the records of several processes in one.
//
// tb_records_count_waited returns the waits of flows in this process as `n` rows, which
// the caller frees; tb_records_add_waited adds such rows of another process to the flows,
// which have the same numbers there. TB_ENOMEM, TB_EFORMAT.
//
// tb_records_add_waits keeps `n` waits of a part that another process simulates.
//
// tb_records_join_bins merges the bins of other processes into the kept ones, and stores
// the bins kept before in `own`, which the caller frees. TB_ENOMEM, TB_EFORMAT.
struct tb_flow_waited {
	uint64_t wait_ps;
	uint32_t flow;
};
int tb_records_count_waited(const struct tb_records *records,
	struct tb_flow_waited **rows, uint32_t *n) TB_MUST_USE;
int tb_records_add_waited(
	struct tb_records *records, const void *rows, uint32_t n) TB_MUST_USE;
int tb_records_add_waits(
	struct tb_records *records, const void *waits, size_t n) TB_MUST_USE;
int tb_records_join_bins(struct tb_records *records, const struct tb_kept_bins *others,
	uint32_t n, struct tb_kept_bins *own) TB_MUST_USE;

#endif
