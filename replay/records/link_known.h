// How well the figures of a link are known. A replay knows them all. Counters of a live
// fabric may lack one, or bound it: one that stands at its end counted at least so much,
// and pause frames hold a port for at most so long. Unknown is not zero: what is not
// measured has a figure of 0 that stands for nothing, which is written as NULL, null, "-"
// or an empty field.
#ifndef TB_LINK_KNOWN_H
#define TB_LINK_KNOWN_H

#include "link_figures.h"

#include <stdbool.h>

enum tb_known { TB_EXACT, TB_AT_LEAST, TB_AT_MOST, TB_NOT_MEASURED };

// A zeroed struct knows all exactly.
struct tb_link_known {
	enum tb_known wait;    // of waits and stalls
	enum tb_known bytes;   // also of busy time, which follows from them
	enum tb_known packets; // also of their rate
	enum tb_known rest;    // of headers, queues and what came by: NOT_MEASURED by any
			       // counter
};

// tb_known_of returns how well a figure is known.
static inline enum tb_known tb_known_of(struct tb_link_known known, enum tb_metric metric)
{
	if (metric == TB_BYTES || metric == TB_BUSY)
		return known.bytes;
	if (metric == TB_PACKETS || metric == TB_PACKET_RATE)
		return known.packets;
	// By packets that are bounded it is not known.
	if (metric == TB_PACKET_WAIT && known.packets != TB_EXACT)
		return TB_NOT_MEASURED;
	if (metric == TB_CAME_BY || metric == TB_BLOCKED || metric == TB_LONGEST ||
		metric == TB_QUEUE)
		return known.rest;
	return known.wait;
}

// tb_known_add returns how well the sum of two figures is known, the first of which may
// be that of no figure yet (EXACT): the sum of what was measured. One that is bounded
// from below and from above is at least what the first bound says, so bounds from above
// do not count then.
static inline enum tb_known tb_known_add(enum tb_known sum, enum tb_known more)
{
	if (sum == TB_AT_LEAST || more == TB_AT_LEAST)
		return TB_AT_LEAST;
	return sum == TB_AT_MOST || more == TB_AT_MOST ? TB_AT_MOST : TB_EXACT;
}

// tb_known_word returns "at least", "at most", "not measured", as the store has them;
// NULL of what is exact. tb_known_sign returns "\u2265 ", "\u2264 " or "".
static inline const char *tb_known_word(enum tb_known known)
{
	static const char *const words[] = {NULL, "at least", "at most", "not measured"};
	return words[known];
}

static inline const char *tb_known_sign(enum tb_known known)
{
	return known == TB_AT_LEAST ? "\u2265 " : known == TB_AT_MOST ? "\u2264 " : "";
}

// tb_known_name returns the word with "exact", NULL beyond the last.
static inline const char *tb_known_name(size_t known)
{
	return known == 0		  ? "exact"
	       : known <= TB_NOT_MEASURED ? tb_known_word((enum tb_known)known)
					  : NULL;
}

#endif
