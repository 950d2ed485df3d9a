// The best that static routes could do for a run's traffic: one path for each pair of
// nodes, whatever else is sent. Least time in which its links could carry it.
//
// Forwarding tables, with one path for each switch and destination, are a kind of these:
// they take at least as long, and may take longer than the best.
//
// No polynomial method is known (unsplittable flow is NP-hard: Kleinberg, FOCS 1996), so
// there are two times again. Proved: that of routes which split, and what follows from
// whole pairs. Of the k m + 1 largest pairs that cross a cut of m links, k + 1 share one;
// where all links are alike, one carries a whole number of pairs. Found: the better of
//
// - in a regular tree, a colouring of the edges of the bipartite multigraph of leaves, an
//   edge a pair, which needs no more colours than the largest degree (Koenig, 1916); a
//   colour is a port up, so that of n pairs at a leaf no more than n / m, rounded up,
//   share one of its m links. So for each level. For pairs of equal size in a tree of two
//   levels that is the best there is, and of permutations in a full tree of any.
// - in any network, a search as route_traffic.h has it, but by pair: largest first, each
//   takes the path, up and then down, on which the sum of the eighth powers of links'
//   times grows least; then pairs on the links that take longest take theirs anew, at
//   prices that rise there.
#ifndef TB_STATIC_ROUTES_H
#define TB_STATIC_ROUTES_H

#include <stdbool.h>

#include "units.h"

struct tb_static_routes {
	bool known;
	tb_time_ps least_ps, found_ps;
	// Of a pair, bytes on the wire over those of its messages, the most; INFINITY:
	// its messages have none.
	double overhead;
};

// tb_static_gap_percent returns how much longer those that were found take.
double tb_static_gap_percent(const struct tb_static_routes *routes);

#endif
