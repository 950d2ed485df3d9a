// The evidence behind findings: what the rules look at, as plain figures. It is gathered
// from a run once; the rules read nothing else.
#ifndef TB_EVIDENCE_H
#define TB_EVIDENCE_H

#include "backlog.h"
#include "bounds.h"
#include "call_spans.h"
#include "critical_path.h"
#include "during.h"
#include "hot_links.h"
#include "job_seat.h"
#include "job_times.h"
#include "jobs.h"
#include "link_counts.h"
#include "queue_times.h"
#include "rank_loads.h"
#include "recorded_congestion.h"
#include "regions.h"
#include "run_capture.h"
#include "run_tried.h"
#include "wait_windows.h"

// A sentence names no more links, incasts and pairs.
#define TB_EVIDENCE_NAMED 3

// Percent of the wait that "the links that carry it" hold; as of the windows.
#define TB_EVIDENCE_CARRIED TB_WAIT_WINDOWS_SHARE

// A link as a root. What queues before a link between switches for one node alone, whose
// own link is not faster, waits for that one: only the routes make it wait earlier.
struct tb_evidence_root {
	struct tb_link link;
	struct tb_link before; // of such links that of most wait, TB_ID_NONE: none
	uint64_t wait_ps;      // for which it is the root, in the whole network
};

// Links of one kind: of nodes, or between switches, up or down from a level.
struct tb_evidence_kind {
	bool are_of_nodes, go_up;
	uint32_t level;		  // of the lower switches
	uint32_t n, n_down;	  // the latter up into the switches that these leave
	double wait_ps;		  // for which they are the roots
	double rates, rates_down; // sums
};

// A node whose link is a root of much wait (the first TB_EVIDENCE_NAMED of them, and all
// that are of TB_EVIDENCE_PART percent), and the time in which it is. With several rails
// it has several links; the one of most wait stands for them.
struct tb_evidence_end {
	struct tb_node node;
	struct tb_link link;
	uint32_t n_links;      // of the node that are roots
	struct tb_link before; // as of a root
	double percent;	       // of the run's wait, all these links
	double window_percent; // of the wait in the slices of the times below
	// When its queue stood (queue_times.h), in the slices of time in which much waits
	// for this root (TB_EVIDENCE_QUIET), as wait_windows.h joins them.
	struct tb_queue_times queue;
	double busy_percent, stall_percent; // of the link, in these times
	// Than most that send or receive, in the run: as a server, and no node of an
	// all-to-all.
	bool receives_more;
};

// A slice of time is quiet when it holds less of a root's wait than so many percent of
// its worst slice: other traffic, now and then, is not yet the jam.
#define TB_EVIDENCE_QUIET 5.0

// Less of the wait is nobody's business; so the ends are at most TB_EVIDENCE_ENDS.
#define TB_EVIDENCE_PART 5.0
#define TB_EVIDENCE_ENDS 20

// Messages that have nothing to do with the ends of much wait, but were slowed down by
// the traffic to one: half of what packets to their destination waited was for it.
struct tb_evidence_victim {
	struct tb_node source, destination; // of the flow that lost most
	struct tb_node end;
	double slowdown, lost_ps; // of the flow, against an idle network
	double percent;	  // of what packets to the destination waited, for the end
	uint32_t n_flows; // that were; 0: none
};

// Who waits for whom.
struct tb_evidence_pair {
	uint32_t victim, culprit; // jobs
	uint64_t wait_ps;
};

// Which traffic waits for which, in the finest grouping of which the first
// TB_EVIDENCE_NAMED pairs hold half of the wait.
enum tb_evidence_grain {
	TB_EVIDENCE_NO_GRAIN, // in none they do
	TB_EVIDENCE_FLOWS,
	TB_EVIDENCE_DESTINATIONS,
	TB_EVIDENCE_DESTINATION_LEAVES,
	TB_EVIDENCE_SOURCE_LEAVES
};

struct tb_evidence_traffic {
	struct tb_node victim[2], culprit[2]; // of flows: source and destination; of
					      // destinations: the first, twice
	uint32_t victim_leaf, culprit_leaf;   // switches; of leaves
	double percent;			      // of the run's wait, at least
};

// Ports that were held up.
struct tb_held_ports {
	struct tb_node named[TB_EVIDENCE_NAMED]; // the first of the hosts
	uint32_t n_hosts, n_inside;		 // the latter of switches
};

// Where time begins in which ports could not send, of what counters measured. What holds
// `last` is the node at its end, or, where nothing that leads on from there is held, a
// link that does.
struct tb_held_end {
	bool is_node, has_errors; // the cable of `last`
	struct tb_link last, out; // out: the busiest that leads on, or TB_ID_NONE
	struct tb_link unknown;	  // the first of those that lead on and may be held
	uint32_t n_unknown;	  // for long, which is not known
	uint32_t n_more;	  // held links that end there too
	uint32_t n_lead; // of bounds by pause frames: other ports, which all lead to it
	struct tb_held_ports held, maybe;  // that lead here alone, or elsewhere too
	double held_percent, busy_percent; // of the time
};
#define TB_HELD_ENDS 6

// The node's own link that most of what was held up in connections of TCP has to cross,
// weighed by how busy it was.
struct tb_evidence_port {
	struct tb_link link;
	tb_time_ps sum_ps;   // held up; 0: none
	double busy_percent; // of the run
};
#define TB_EVIDENCE_FULL 50.0 // a port that is busier than this decides

// The node whose bus, or PCIe, took longest for what its links carried.
struct tb_evidence_bus {
	struct tb_node node;
	double bytes_per_s;  // of payload; 0: there is no limit
	bool both_ways;	     // one bus carries both directions
	double busy_percent; // of the run, at least
};

// The link that lost most of its rate because the buffer behind it is smaller than what
// it carries until it learns that there is room again.
struct tb_evidence_loop {
	struct tb_link link;
	double bytes_per_s;  // that the buffer lets it carry
	double needed_bytes; // of buffer, for its rate
	tb_time_ps round_ps; // there and back, without the packet
	double lost_ps;	     // at most, and no longer than it was stalled
	uint32_t n_links; // that were used, and can carry less than their rate; 0: none
};

// Links up that carried nothing, while packets waited for others of the same switches.
struct tb_evidence_idle {
	uint32_t n, n_links;	 // of them, and of all links up of these switches
	struct tb_link full;	 // the busiest of the others
	double busy_percent;	 // of the run, that one
	double wait_ps;		 // for the others
	uint32_t sw, n_switches; // above, that nothing crossed: the first of so many
};

// What the most loaded links would carry, and how long that would take, if headers had
// ascended by the digits of their destinations instead of by load. Payload alone.
struct tb_evidence_digits {
	double inside_ps, nodes_ps; // between switches, and of nodes; 0: not known
	double up_ps, mean_up_ps;   // of those between switches; of the ones in use
};

// Cables below the speed that more than half of their kind have: the one that took most
// time beyond what it had to, and those like it.
struct tb_evidence_cables {
	uint64_t *usual;    // bytes/s by link, of its peers; 0: it is not slow
	bool *carries_more; // by link: to a node that receives more than most
	struct tb_link worst;
	uint32_t n, n_others; // used ones like the worst; of other speeds; n 0: none
	struct tb_switch on;  // where n_on of the n are
	uint32_t n_on;
	double busy_percent;	     // of the run, the worst
	tb_time_ps cost_ps, most_ps; // what they cost the run, at least and at most
	struct tb_bound mended;	     // of the whole run, at the usual speeds; n 0: none
};

struct tb_evidence {
	struct tb_run *run; // for names
	const struct tb_run_info *info;
	bool has_capture;
	struct tb_run_capture capture;

	struct tb_recorded_captures recorded; // of congestion, before any replay

	double wait_ps;	     // of all headers
	uint32_t n_waiting;  // links
	uint32_t n_carrying; // the fewest links with TB_EVIDENCE_CARRIED percent of it
	uint32_t n_used;     // links that carried packets
	uint32_t n_senders;  // nodes that sent any
	uint32_t n_inside;   // of the links that carried packets those between switches
	// Packets could have gone other ways: a switch that one went up from, or came
	// down to, has several links up.
	bool has_ways;
	struct tb_hot_link hottest[TB_EVIDENCE_NAMED];
	uint32_t n_hottest;

	struct tb_evidence_root *roots; // longest wait first; none: nothing is known
	uint32_t n_roots;
	struct tb_link *root_of; // by link: the root that it counts for
	struct tb_evidence_end ends[TB_EVIDENCE_ENDS]; // most of the wait first
	uint32_t n_ends;
	struct tb_evidence_victim victim;
	// The fewest links to nodes that are the roots of half of the wait; 0: all of
	// them are not.
	uint32_t n_half_ends;
	double half_ends_percent; // of which they are

	struct tb_run_tries tries;	 // of remedies
	struct tb_bounds bounds;	 // what no routing can beat
	struct tb_critical_path path;	 // what the end of the run waited for
	struct tb_link_cost *link_costs; // tb_critical_path_costs; NULL: no path
	struct tb_evidence_port port;
	struct tb_evidence_cables cables;
	struct tb_rank_loads loads;
	struct tb_stragglers stragglers;
	struct tb_call_spans
		calls; // without the calls: their sorts, longest in all first
	struct tb_evidence_bus bus;
	struct tb_evidence_loop loop;
	struct tb_evidence_digits digits;
	struct tb_evidence_idle idle;
	struct tb_backlog backlog;    // at the senders
	double backlog_stall_percent; // of the run, its links stood still
	tb_time_ps pressed_ps;	      // tb_pressed_find

	struct tb_wait_windows windows;
	// In the windows, mean over the links that carried packets in the run.
	double busy_percent, stall_percent;

	struct tb_jobs jobs;
	struct tb_job_times *times;	// by job
	struct tb_job_seat *seats;	// by job; without leaves: it was not looked at
	struct tb_evidence_pair *pairs; // of jobs, longest wait first
	uint32_t n_pairs;
	// Leaf switches that the two jobs share of which one waits longest for another.
	uint32_t worst_pair_leaves;

	enum tb_evidence_grain grain;
	struct tb_evidence_traffic traffic[TB_EVIDENCE_NAMED];
	uint32_t n_traffic;
	double traffic_percent; // of the wait that these hold
	bool traffic_is_exact;	// else at least: the store left some out

	struct tb_regions regions;

	// Of what counters measured:
	struct tb_held_end held_ends[TB_HELD_ENDS]; // gravest first
	uint32_t n_held_ends, n_more_ends;	    // the latter were left out
	struct tb_link_counts counts;
};

// tb_evidence_worst_pair returns the jobs of which one waits longest for another, NULL
// when none does.
const struct tb_evidence_pair *tb_evidence_worst_pair(const struct tb_evidence *evidence);

// tb_evidence_kinds returns the kinds of links, those of most wait first; malloc'ed, NULL
// without memory.
struct tb_evidence_kind *tb_evidence_kinds(
	const struct tb_evidence *evidence, uint32_t *n) TB_MUST_USE;

// tb_evidence_keeps_hosts returns whether a job's ranks stay together on their nodes:
// they have links of their own within a host, as GPUs do, and share nodes.
bool tb_evidence_keeps_hosts(const struct tb_evidence *evidence, uint32_t job);

// tb_evidence_jobs_meet returns whether one job waits for another, as far as is known: in
// the network, or at a node that they share.
bool tb_evidence_jobs_meet(const struct tb_evidence *evidence);

// tb_evidence_init gathers the evidence of a run, which has to outlive it. Cost: some
// passes over links and bins, and what its questions cost. TB_EFORMAT when the file is
// damaged, TB_ENOMEM. tb_evidence_fini frees it; a zeroed struct is fine to free.
int tb_evidence_init(struct tb_evidence *evidence, struct tb_run *run,
	struct tb_error *error) TB_MUST_USE;
void tb_evidence_fini(struct tb_evidence *evidence);

#endif
