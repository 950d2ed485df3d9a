// The rules: what a run is found to have, what is worth trying about it, and what advise
// tries besides. Findings and advice are made from one table.
#ifndef TB_RULES_H
#define TB_RULES_H

#include <stdbool.h>
#include <stdint.h>

// ROW(ID, name): what is found; docs/findings.md says when.
#define TB_RULES_FOUND(ROW)                                                              \
	ROW(RUN_TIME, "run-time")                                                        \
	ROW(RECORDED, "recorded")                                                        \
	ROW(PLACED, "placement")                                                         \
	ROW(TIME_PARTS, "time-parts")                                                    \
	ROW(SLOW_CABLE, "slow-cable")                                                    \
	ROW(STRAGGLER, "straggler")                                                      \
	ROW(CALLS, "calls")                                                              \
	ROW(INCOMPLETE, "incomplete")                                                    \
	ROW(TIME_SCALE, "time-scale")                                                    \
	ROW(NO_WAIT, "no-wait")                                                          \
	ROW(LITTLE_WAIT, "little-wait")                                                  \
	ROW(INCAST, "incast")                                                            \
	ROW(VICTIM, "victim")                                                            \
	ROW(SLOW_RECEIVER, "slow-receiver")                                              \
	ROW(HOT_SPOT, "hot-spot")                                                        \
	ROW(FEW_RECEIVERS, "few-receivers")                                              \
	ROW(TAPER, "taper")                                                              \
	ROW(IDLE_LINKS, "idle-links")                                                    \
	ROW(NETWORK_FULL, "network-full")                                                \
	ROW(NODE_FULL, "node-full")                                                      \
	ROW(PACED, "paced")                                                              \
	ROW(CREDIT_LIMITED, "credit-limited")                                            \
	ROW(WHERE, "where")                                                              \
	ROW(WHEN, "when")                                                                \
	ROW(REGION, "region")                                                            \
	ROW(WHOSE, "whose")                                                              \
	ROW(TRAFFIC, "traffic")                                                          \
	ROW(COST, "cost")                                                                \
	ROW(OTHERS_COST, "others-cost")                                                  \
	ROW(NETWORK_COST, "network-cost")                                                \
	ROW(BACKLOG, "backlog")                                                          \
	ROW(DEAD_LINKS, "dead-links")                                                    \
	ROW(MEASURED, "measured")                                                        \
	ROW(HELD_PORTS, "held-ports")                                                    \
	ROW(WAIT_BEGINS, "wait-begins")                                                  \
	ROW(ERRORS, "errors")                                                            \
	ROW(SIGNS, "signs")                                                              \
	ROW(NOT_MEASURED, "not-measured")

// ROW(ID, name, by, answers, of, limit, hardware): what is worth trying.
//   by        SHOWS: a finding proposes it, to see something; FINDING: a finding proposes
//             the change, and advise tries it; SEARCH: advise tries it unasked
//   answers   the findings after which it is worth trying (TB_AFTER); 0: whatever is
//   found of        what it changes (enum tb_change_of) limit     what bounds its gain
//   (enum tb_gain_limit) hardware  1: it takes new hardware
// clang-format off
#define TB_RULES_TRIED(ROW)                                                              \
	ROW(SLOWER_SCALE, "slower-scale", SHOWS, 0, ALONE, NONE, 0)                      \
	ROW(WITHOUT_FAULTS, "without-faults", SHOWS, 0, ALONE, NONE, 0)                  \
	ROW(ALONE, "alone", SHOWS, 0, ALONE, NONE, 0)                                    \
	ROW(BEST_TRIED, "best-tried", SHOWS, 0, ALONE, NONE, 0)                          \
	ROW(MENDED_CABLE, "mended-cable", FINDING, TB_AFTER(SLOW_CABLE), LINKS, COMPUTE, \
		0)                                                                       \
	ROW(ROUTES_APART, "routes-apart", SHOWS, TB_AFTER(VICTIM), WAYS, NONE, 0)        \
	ROW(CONTROL, "congestion-control", FINDING, TB_AFTER(PACED), LINKS, COMPUTE,  \
		0)                                                                       \
	ROW(LARGER_BUFFER, "larger-buffer", FINDING, TB_AFTER(CREDIT_LIMITED), LINKS,    \
		COMPUTE, 1)                                                              \
	ROW(QUICKER_NODE, "quicker-node", FINDING, TB_AFTER(SLOW_RECEIVER), LINKS,       \
		COMPUTE, 1)                                                              \
	ROW(ANOTHER_ASCENT, "another-ascent", FINDING, 0, WAYS, ROUTES, 0)               \
	ROW(SPREAD_SERVERS, "spread-servers", FINDING,                                   \
		TB_AFTER(INCAST) | TB_AFTER(FEW_RECEIVERS), PLACES, PLACES, 0)           \
	ROW(SEPARATE_JOBS, "separate-jobs", FINDING, 0, PLACES, PLACES, 0)               \
	ROW(LESS_TAPER, "less-taper", FINDING, 0, LINKS, NODE_LINKS, 1)                  \
	ROW(SECOND_RAIL, "second-rail", FINDING,                                         \
		TB_AFTER(NETWORK_FULL) | TB_AFTER(NODE_FULL) | TB_AFTER(INCAST) |        \
			TB_AFTER(FEW_RECEIVERS) | TB_AFTER(BACKLOG),                     \
		LINKS, COMPUTE, 1)                                                       \
	ROW(SMALLER_WINDOW, "smaller-window", FINDING, 0, LINKS, COMPUTE, 0)             \
	ROW(SHORTER_TIMER, "shorter-timer", FINDING, 0, LINKS, COMPUTE, 0)               \
	ROW(DEEPER_QUEUE, "deeper-queue", FINDING, 0, LINKS, COMPUTE, 1)                 \
	ROW(AS_IT_WAS, "none", SEARCH, 0, ALONE, NONE, 0)                                \
	ROW(PLACEMENT, "placement", SEARCH, 0, PLACES, PLACES, 0)                        \
	ROW(RANKS_BY_TRAFFIC, "ranks-by-traffic", SEARCH, 0, PLACES, PLACES, 0)          \
	ROW(NODES_BY_TRAFFIC, "nodes-by-traffic", SEARCH, 0, PLACES, PLACES, 0)          \
	ROW(SERVERS_APART, "servers-apart", SEARCH,                                      \
		TB_AFTER(INCAST) | TB_AFTER(FEW_RECEIVERS), PLACES, PLACES, 0)           \
	ROW(SERVERS_TOGETHER, "servers-together", SEARCH,                                \
		TB_AFTER(INCAST) | TB_AFTER(FEW_RECEIVERS), PLACES, PLACES, 0)           \
	ROW(ASCENT, "ascent", SEARCH, 0, WAYS, ROUTES, 0)                                \
	ROW(ROUTES_BY_TRAFFIC, "routes-by-traffic", SEARCH, 0, ALONE, STATIC_ROUTES, 0)  \
	ROW(FASTER_LINKS, "faster-links", SEARCH, 0, LINKS, COMPUTE, 1)                  \
	ROW(FASTER_LEVEL, "faster-level", SEARCH, 0, LINKS, NODE_LINKS, 1)               \
	ROW(MORE_CABLES, "more-cables", SEARCH, 0, LINKS, NODE_LINKS, 1)                 \
	ROW(FEWER_CABLES, "fewer-cables", SEARCH, 0, ALONE, NONE, 0)                     \
	ROW(STAGGER, "stagger", SEARCH, 0, STARTS, IDEAL, 0)                             \
	ROW(LANE, "lane", SEARCH, 0, LANES, IDEAL, 0)                                    \
	ROW(FASTER_NODE, "faster-node", SEARCH, 0, LINKS, COMPUTE, 1)                    \
	ROW(WITHOUT_CABLE, "without-cable", SEARCH, 0, WAYS, ROUTES, 0)                  \
	ROW(ALGORITHM, "algorithm", SEARCH, 0, CALLS, COMPUTE, 0)                        \
	ROW(PAIR, "pair", SEARCH, 0, ALONE, NONE, 0)
// clang-format on

enum tb_rule {
#define ROW(ID, ...) TB_RULE_##ID,
	TB_RULES_FOUND(ROW) TB_RULES_TRIED(ROW)
#undef ROW
		TB_N_RULES
};

// TB_AFTER is a finding among others.
#define TB_AFTER(ID) (UINT64_C(1) << TB_RULE_##ID)
_Static_assert(TB_RULE_NOT_MEASURED < 64, "findings fit into a mask");

// What tells of waits in the network alone.
#define TB_OF_WAIT                                                                       \
	(TB_AFTER(INCAST) | TB_AFTER(SLOW_RECEIVER) | TB_AFTER(HOT_SPOT) |               \
		TB_AFTER(FEW_RECEIVERS) | TB_AFTER(TAPER) | TB_AFTER(NETWORK_FULL) |     \
		TB_AFTER(WHERE) | TB_AFTER(WHEN) | TB_AFTER(REGION) | TB_AFTER(TRAFFIC))

// What says why it waited, so that the links at which it did add nothing.
#define TB_OF_CAUSE                                                                      \
	(TB_AFTER(INCAST) | TB_AFTER(SLOW_RECEIVER) | TB_AFTER(HOT_SPOT) |               \
		TB_AFTER(FEW_RECEIVERS) | TB_AFTER(TAPER) | TB_AFTER(IDLE_LINKS) |       \
		TB_AFTER(NETWORK_FULL) | TB_AFTER(NODE_FULL) | TB_AFTER(CREDIT_LIMITED))

enum tb_rule_by { TB_BY_FOUND, TB_BY_SHOWS, TB_BY_FINDING, TB_BY_SEARCH };

// What a change changes; two that change different things are combined.
enum tb_change_of {
	TB_CHANGE_ALONE, // goes with nothing else: tables are for the traffic as it was
	TB_CHANGE_WAYS,
	TB_CHANGE_PLACES,
	TB_CHANGE_STARTS,
	TB_CHANGE_LANES,
	TB_CHANGE_CALLS,
	TB_CHANGE_LINKS,
	TB_CHANGES_OF
};

// What a change leaves as it is bounds its gain. A bound of the bytes (bounds.h): routes
// leave the network, and tables are static; faster links or more cables between switches
// leave the links of the nodes. Or a replay of the job: on the ideal network, in which
// packets wait for nothing but the links of nodes, or with messages that take no time.
enum tb_gain_limit {
	TB_LIMIT_NONE,
	TB_LIMIT_ROUTES,
	TB_LIMIT_STATIC_ROUTES,
	TB_LIMIT_NODE_LINKS, // and the ideal network
	TB_LIMIT_IDEAL,
	TB_LIMIT_PLACES,  // the ideal network, paths as short as can be
	TB_LIMIT_COMPUTE, // messages that take no time
};

struct tb_rule_info {
	const char *name;
	enum tb_rule_by by;
	uint64_t answers; // TB_AFTER of findings; 0: any
	enum tb_change_of of;
	enum tb_gain_limit limit;
	bool needs_hardware;
};
extern const struct tb_rule_info tb_rules[TB_N_RULES]; // by enum tb_rule

#endif
