// Corrects the clocks of the machines of a trace by the order of their messages.
//
// Model: ranks on one machine share its clock. A machine's clock counts from its boot and
// differs from another's by an offset that drifts slowly. No message can arrive before
// it was sent, and the quickest of many takes about as long one way as the other.
//
// Rule. Between two machines a and b, let m(a, b) be the least of (received at b - sent
// at a) over the messages from a to b. Then b is ahead of a by (m(a, b) - m(b, a)) / 2,
// uncertain by (m(a, b) + m(b, a)) / 2; where messages go one way only, by m(a, b),
// uncertain by itself. A blocking barrier, all-reduce or all-gather counts
// as a message each way between each of its machines and those 1, 2, 4, ... places
// further, in a circle; sent when the last of a's ranks entered and received when the
// first of b's left. Offsets add up along the tree of least
// uncertain pairs from the machine of rank 0. A trace that is longer than
// TB_TBT_DRIFT_NS is cut in halves, each gives an offset for its middle, and the
// clock is the line through both, so that drift is corrected. A machine that nothing
// relates to the others keeps its own time of day.
#ifndef TB_TBT_CLOCK_H
#define TB_TBT_CLOCK_H

#include "status.h"
#include "tbt_groups.h"
#include "tbt_records.h"

#include <stdint.h>

#define TB_TBT_DRIFT_NS UINT64_C(10000000000)

struct tb_tbt_clocks; // opaque

// A point of a clock: at time `at_ns` of that clock, add `add_ns` to get the common
// clock.
struct tb_tbt_point {
	uint64_t at_ns;
	int64_t add_ns;
};
enum { TB_TBT_POINTS_MAX = 2 };

// tb_tbt_clocks_new begins with n clocks; `starts[i]` is the point given by the machine's
// time of day. `begin_ns` and `end_ns` are the ends of the trace by the time of day.
int tb_tbt_clocks_new(struct tb_tbt_clocks **clocks, const struct tb_tbt_point *starts,
	uint32_t n, uint64_t begin_ns, uint64_t end_ns,
	struct tb_error *error) TB_MUST_USE;
void tb_tbt_clocks_free(struct tb_tbt_clocks *clocks);

// tb_tbt_clocks_message adds a message from one clock to another; each time is by its own
// clock.
int tb_tbt_clocks_message(struct tb_tbt_clocks *clocks, uint32_t from, uint64_t sent_ns,
	uint32_t to, uint64_t received_ns) TB_MUST_USE;

// tb_tbt_clocks_solve finds the offsets and returns how many clocks no message relates to
// clock 0.
uint32_t tb_tbt_clocks_solve(struct tb_tbt_clocks *clocks);

// tb_tbt_clocks_points stores the points of a clock after solving, and returns how many
// there are.
uint32_t tb_tbt_clocks_points(const struct tb_tbt_clocks *clocks, uint32_t clock,
	struct tb_tbt_point points[TB_TBT_POINTS_MAX]);

// tb_tbt_common_ns converts a time of a clock with these points to the common clock.
uint64_t tb_tbt_common_ns(const struct tb_tbt_point *points, uint32_t n, uint64_t at_ns);

// Finds the messages between machines, by which their clocks are corrected (tbt_clock.h):
// sends and receives paired in their order by source, destination, communicator and tag,
// and collective calls in which everybody waits for everybody.

struct tb_tbt_links; // opaque

// tb_tbt_links_new: `clock_of` gives each rank's clock; it and `groups` are borrowed
// until the links are freed.
int tb_tbt_links_new(struct tb_tbt_links **links, const struct tb_tbt_groups *groups,
	const uint32_t *clock_of, struct tb_error *error) TB_MUST_USE;
void tb_tbt_links_free(struct tb_tbt_links *links);

// tb_tbt_links_rank takes what a rank did; the groups must have its communicators
// already. Memory: 8 bytes for each message with another machine.
int tb_tbt_links_rank(
	struct tb_tbt_links *links, const struct tb_tbt_rank *file) TB_MUST_USE;

// tb_tbt_links_give passes all messages to the clocks, after the last rank was taken.
int tb_tbt_links_give(
	const struct tb_tbt_links *links, struct tb_tbt_clocks *clocks) TB_MUST_USE;

#endif
