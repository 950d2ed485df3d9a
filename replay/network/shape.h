// The shape of a regular tree: XGFT (S. Ohring et al., "On generalized fat trees", IPPS
// 1995), or PGFT where cables are doubled (E. Zahavi, "D-Mod-K routing providing
// non-blocking traffic for shift permutations on real life fat trees", 2010).
//
// "pgft(h; m1,...,mh; w1,...,wh; p1,...,ph)": h levels of switches; a switch of level l
// (from 1) joins m_l parts of the level below, a part has w_l switches above it, and
// each is joined to it by p_l cables. "xgft(h; m; w)" has single cables. Level 1 joins
// the nodes: w1 = p1 = 1. So there are m1 m2 ... mh nodes, w1 ... wl m(l+1) ... mh
// switches at level l, and a level is tapered where m_l p_l > w(l+1) p(l+1).
//
// The same text goes with lists by level, the cables of nodes first: "25GB/s 50GB/s".
#ifndef TB_SHAPE_H
#define TB_SHAPE_H

#include "status.h"
#include "units.h"

#include <stdbool.h>
#include <stddef.h>

enum {
	TB_SHAPE_LEVELS_MOST = 12,
	TB_SHAPE_PORTS_MOST = 4096, // of a switch, down or up
	TB_SHAPE_TEXT = 160,	    // room for a shape or a list as text
};

// The text in place of a shape that a network has which was read from a file.
#define TB_SHAPE_FABRIC "fabric"

struct tb_shape {
	uint32_t n_levels;
	// By level, from 0: parts below, switches above each part, cables to each.
	uint32_t m[TB_SHAPE_LEVELS_MOST], w[TB_SHAPE_LEVELS_MOST],
		p[TB_SHAPE_LEVELS_MOST];
};

// tb_shape_parse reads a shape; blanks do not matter. TB_EUSAGE says what was expected,
// TB_ECAPACITY when it has more than 2^24 nodes, switches or cables.
int tb_shape_parse(
	struct tb_shape *shape, const char *text, struct tb_error *error) TB_MUST_USE;

// tb_shape_text writes a shape in the one form that equal shapes share, and returns
// `buffer`.
char *tb_shape_text(const struct tb_shape *shape, char buffer[TB_SHAPE_TEXT]);

// tb_shape_kary is that of the k-ary n-tree.
struct tb_shape tb_shape_kary(uint32_t arity, uint32_t levels);

// tb_shape_is_kary returns whether a shape is that of a k-ary n-tree.
bool tb_shape_is_kary(const struct tb_shape *shape);

// tb_shape_n_nodes and tb_shape_n_switches count; levels are from 0.
uint32_t tb_shape_n_nodes(const struct tb_shape *shape);
uint32_t tb_shape_n_switches(const struct tb_shape *shape, uint32_t level);

// tb_shape_n_down and tb_shape_n_up count the ports of a switch.
uint32_t tb_shape_n_down(const struct tb_shape *shape, uint32_t level);
uint32_t tb_shape_n_up(const struct tb_shape *shape, uint32_t level);

// tb_shape_n_values counts the values of a list by level.
uint32_t tb_shape_n_values(const char *text);

// tb_shape_rates and tb_shape_times read a list by level: one value or more, the last of
// which holds for all levels above. TB_EUSAGE when one is none from 1 MB/s to 1000 GB/s,
// or above 0 and up to 1 s, or when there are more than TB_SHAPE_LEVELS_MOST.
int tb_shape_rates(
	uint64_t bytes_per_s[TB_SHAPE_LEVELS_MOST], const char *text) TB_MUST_USE;
int tb_shape_times(tb_time_ps ps[TB_SHAPE_LEVELS_MOST], const char *text) TB_MUST_USE;

#endif
