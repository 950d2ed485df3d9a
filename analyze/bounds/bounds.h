// How good a run could be: what no routing can beat, by phase and for the whole run, and
// the parts of the run time that follow.
//
// A stretch of time has three bounds. What a node's links carried takes at least so long
// on any network that it is joined to (host_ps); what crossed a cut, on this one, by
// whatever routes (cut_ps, cuts.h); and what a link carried, by the run's own
// (routes_ps). Each is at least the one before and, as the links did carry it, at most
// the stretch. What crossed a cut had to cross it where packets leave no part of the
// network twice, as with shortest paths in a tree; else routes that do not can beat
// cut_ps.
//
// Phases are the stretches in which any link was busy or held, apart from each other by
// bins in which none was; of more than TB_PHASES_MOST those with the least between them
// are one. Within a phase the bounds take any order of messages to be possible, so a sum
// over phases is closer than the bound of the whole run.
#ifndef TB_BOUNDS_H
#define TB_BOUNDS_H

#include "cuts.h"
#include "split.h"
#include "static_routes.h"

#define TB_PHASES_MOST 16

// Of a stretch of time.
struct tb_bound {
	struct tb_window window; // {0, 0}: the whole run
	tb_time_ps begin_ps, span_ps;
	tb_time_ps host_ps, cut_ps, routes_ps;
	tb_time_ps cables_ps;	 // all bytes between switches, on all links between them
	struct tb_cut_load host; // the node whose links take longest: a cut of level 0
	struct tb_cut_load cut;	 // the cut that does
	struct tb_link link;	 // the link that does; TB_ID_NONE: none carried anything
};

// The parts of a run time, each the difference of two times; they add up to it.
//
// compute, and closed, while receivers kept their windows closed: no network (endless.h);
// of captures, until the last packet was posted. hosts: the ideal network, in which
// packets wait for nothing but the links of nodes, or the sum of the phases' host_ps
// where that is not known (store_added.h). capacity: the sum of their cut_ps, and what of
// that time lies outside of the phases' host_ps, as far as the run was quiet for as long.
// routes: likewise with routes_ps. Where the phases' host_ps are more than the ideal
// network takes, the whole run's count in their place. waiting: the rest, also for
// time-outs; where the ideal network is not known that is unknown, not waiting. Each is
// at least the one before. All but the replay on the ideal network, which is an estimate,
// are proved; what overlaps within a phase makes capacity and routes less than they may
// cost, and waiting more.
struct tb_time_parts {
	bool has_compute; // else it is not known, and hosts has it
	bool is_capture;  // compute is the time of its last packet
	tb_time_ps run_ps;
	tb_time_ps compute_ps, closed_ps, hosts_ps, capacity_ps, routes_ps, waiting_ps;
	tb_time_ps unknown_ps;
};

struct tb_bounds {
	struct tb_cuts cuts;
	struct tb_bound whole;
	struct tb_bound phases[TB_PHASES_MOST];
	uint32_t n_phases;
	uint64_t n_stretches; // of which phases were made
	tb_time_ps quiet_ps;  // the run without its phases
	struct tb_time_parts parts;
	// Of the whole run; tb_bounds_routes finds them.
	struct tb_split split;
	struct tb_static_routes fixed;
};

// tb_bounds_init finds the bounds of a run, which has to outlive them. Cost: links times
// levels; of a run with several phases its bins are read. TB_ENOMEM; TB_EFORMAT when the
// file is damaged. tb_bounds_fini frees them; a zeroed struct is fine to free.
int tb_bounds_init(
	struct tb_bounds *bounds, struct tb_run *run, struct tb_error *error) TB_MUST_USE;
void tb_bounds_fini(struct tb_bounds *bounds);

// tb_bounds_at finds what the bytes of the whole run need if links have other rates
// (cuts.h). Errors as of tb_bounds_init.
int tb_bounds_at(struct tb_bound *bound, struct tb_run *run, const uint64_t *rates,
	struct tb_error *error) TB_MUST_USE;

// tb_bounds_routes finds the best routes, those that split flows and static ones, from
// all flows of the run, which TB_BOUNDS_FLOWS are read quickly. Neither is known with
// several rails, shapers, one level or an incomplete run, nor split ones of millions of
// flows, nor static ones of more than TB_BOUNDS_FLOWS. Where the run's own routes are
// static, they count as found. Errors as of tb_bounds_init. Cost: a second at most, more
// where one round over the links takes more.
#define TB_BOUNDS_FLOWS 16384
int tb_bounds_routes(
	struct tb_bounds *bounds, struct tb_run *run, struct tb_error *error) TB_MUST_USE;

// tb_cut_text writes which links a load is of: "into node 5 (n05)", "out of switch 0.1",
// "into what is below level 2 with switch 1.0". Returns `buffer`.
char *tb_cut_text(const struct tb_cuts *cuts, const struct tb_cut_load *load,
	char *buffer, size_t size);

// tb_time_parts_text writes "Of 6.4 s, 2.0 s are computation, 1.1 s an ideal network
// takes too, 0.9 s are owed to this one's capacity, 0.6 s are owed to its routes, 1.8 s
// were held up or waiting for others.", without what is 0. 400 bytes suffice.
char *tb_time_parts_text(const struct tb_time_parts *parts, char *buffer, size_t size);

#endif
