// What the routes of a network do with traffic patterns, without simulation: how many
// pairs cross each link when all send to all, and what share of its link a pair gets in
// shifts and in random bisections.
//
// Model: every pair of a pattern sends as much as it can, and a link shares its rate
// evenly among the pairs that cross it, so a pair gets the least over its links of rate
// over pairs. Its share is that in terms of the slower of its two nodes' own links: 1
// when nothing is in its way. That is the effective bisection bandwidth of T. Hoefler, T.
// Schneider, A. Lumsdaine, "Multistage switches are not crossbars: effects of static
// routing in high-performance networks", Cluster 2008, when averaged over random
// bisections (a random half of the hosts sends, each to one of the other half); there all
// links have the same rate. Where headers choose by load, traffic is spread by rate, at
// each switch, over the links that they may take: the best that a choice within such a
// group can reach, which fixed routes chosen for the whole fabric may beat.
//
// Pairs are of hosts; on a network of several rails each pair sends on every rail.
// The same network, options and seed give the same figures for any number of threads.
#ifndef TB_ROUTE_STUDY_H
#define TB_ROUTE_STUDY_H

#include "fabric_hosts.h"
#include "network.h"
#include "statistics.h"

#include <signal.h>

// Links of one direction between two levels.
struct tb_link_class {
	enum tb_link_kind kind;
	uint32_t level; // the lower end's switch; of a node's link, its switch's
	uint32_t n_links, n_unused;
	double mean, most;	// pairs of all to all that cross one
	double bytes_per_s;	// the mean of their rates
	double most_times;	// tb_route_study_times of the hottest
	struct tb_link hottest; // by times, of several the first
};

// Shares of the pairs of patterns of one kind.
struct tb_pattern_shares {
	uint64_t n, n_of;	  // patterns that were looked at, and that there are; 0:
				  // more than can be counted
	struct tb_estimate share; // mean over patterns of the mean over their pairs
	double least;		  // mean of the worst pattern
	double least_of_pair;	  // of any pair in any pattern
	uint64_t n_clean;	  // patterns in which every pair has all of its link
	uint64_t worst;		  // number of the worst pattern: of a shift, its length
	double bytes_per_s;	  // mean rate of a pair
	struct tb_link hottest;	  // in the worst pattern; TB_ID_NONE: none
	double n_hottest;	  // pairs that cross it there
};

struct tb_route_study {
	const struct tb_network *network; // borrowed
	struct tb_fabric_hosts hosts;	  // that send and receive; borrowed
	double *pairs;			  // by link: of all to all
	struct tb_link_class *classes; // nodes' links, up, down, ejection; lowest first
	uint32_t *class_of;	       // by link
	uint32_t n_classes;
	uint64_t n_pairs, n_unrouted; // ordered pairs; those that no route joins
	bool known; // every flow has one path; else headers choose, see above
	double *end_bytes_per_s;   // by node: the rate of its links
	uint64_t node_bytes_per_s; // of most nodes' links
	// All to all: what share of this rate the links allow, 1 at most, and the link
	// that allows least (TB_ID_NONE: none does), a slow node's own for one.
	double all_share;
	struct tb_link all_hottest;
	double hottest_times; // the largest most_times of links between switches
	struct tb_link hottest;
	// What carries nothing when all hosts send: switches above the leaves, and cables
	// between switches that do.
	struct tb_switch *idle;
	uint32_t n_idle, n_idle_cables;
	struct tb_link idle_cable; // the first of them, upwards
	struct tb_pattern_shares shifts, bisections;
};

struct tb_route_study_options {
	const struct tb_fabric_hosts *hosts; // that send and receive; NULL: all
	uint64_t seed;	       // of what is drawn, and of paths that a hash gives (ecmp)
	uint32_t n_shifts;     // at most; 0: TB_STUDY_SHIFTS
	uint32_t n_bisections; // 0: tb_route_study_bisections
	unsigned n_workers;    // threads; 0: one per core
	const volatile sig_atomic_t *stop;		  // NULL: never
	void (*progress)(void *context, double fraction); // may be NULL
	void *context;
};

// tb_route_study_init looks at the routes of a network, which must outlive it. All shifts
// i to i + s are looked at where there are no more than n_shifts; else one is drawn from
// each of n_shifts equal parts of them. TB_ENOMEM, TB_ESTOPPED. Cost: all to all as
// tb_route_loads_add_all; a pattern the links of the paths of its pairs.
int tb_route_study_init(struct tb_route_study *study, const struct tb_network *network,
	const struct tb_route_study_options *options, struct tb_error *error) TB_MUST_USE;
void tb_route_study_fini(struct tb_route_study *study); // a zeroed struct is fine

// tb_route_study_times is a link's pairs over its rate, in terms of those of all links of
// its class together: of how much longer than these it is busy.
double tb_route_study_times(const struct tb_route_study *study, struct tb_link link);

// tb_route_study_hottest writes the links between switches that carry most times the mean
// of their class, ties by id, and returns how many: `n` or all there are.
uint32_t tb_route_study_hottest(
	const struct tb_route_study *study, struct tb_link *links, uint32_t n);

#endif
