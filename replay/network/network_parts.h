// The parts of a network that one replay simulates side by side. Private to replay/.
//
// Model (docs/credits.md, "Parts, windows, threads"): each switch is in one part, and
// each node in that of its switch, so that only links between switches lead from part to
// part. Where parts own cables (docs/model.md, rule 36), both links of a cable belong to
// the part of its lower end, and a path leads from part to part at a switch instead. The
// switches that join nodes are taken in the order of their nodes and cut into
// stretches of about as many nodes each; a switch above goes where most of its links from
// below come from, among equals where the fewest links are. In a tree this comes to
// subtrees below a level, and the switches above dealt out. Where they are depends on the
// network alone, and no result on how many there are.
//
// Cost: time and memory of a few words a link.
#ifndef TB_NETWORK_PARTS_H
#define TB_NETWORK_PARTS_H

#include "network_impl.h"

enum { TB_PARTS_MOST = 64 };

struct tb_parts {
	uint32_t n;	       // 1 to TB_PARTS_MOST
	uint8_t *of_switch;    // by switch
	uint8_t *of_node;      // by node
	uint8_t *of_link;      // by link, where parts own cables; else NULL
	uint32_t *crossing_of; // by link: its number among those that lead from part to
			       // part, TB_ID_NONE for those that do not. Where parts own
			       // cables: among those to a switch out of which another
			       // part has a link
	uint32_t n_crossing;
	tb_time_ps latency_ps; // the least of a link that crosses; TB_TIME_NEVER: none
	uint64_t most_links;   // into the switches of one part
	// Those that this process simulates: from own_first to before own_end. All of
	// them, until somebody says otherwise.
	uint32_t own_first, own_end;
};

enum { TB_PARTS_NODES = 1000 };

// tb_parts_new cuts a network into `n` parts, or as many as it has switches with nodes if
// that is fewer; 0: into as many, from 8 to 16, as makes parts of about equal size with
// few links between them, or 1 where parts are no use: below TB_PARTS_NODES nodes.
// TB_ENOMEM.
int tb_parts_new(
	struct tb_parts **parts, const struct tb_network *net, uint32_t n) TB_MUST_USE;
void tb_parts_free(struct tb_parts *parts); // NULL is fine

// tb_parts_own_cables gives each cable to the part of its lower end, of equally high ends
// the one with the lower number. TB_ENOMEM.
int tb_parts_own_cables(struct tb_parts *parts, const struct tb_network *net) TB_MUST_USE;

// tb_parts_split_group returns whether the links of one of the network's groups belong to
// several parts, of parts that own cables.
bool tb_parts_split_group(const struct tb_parts *parts, const struct tb_network *net);

// tb_parts_has returns whether this process simulates a part.
static inline bool tb_parts_has(const struct tb_parts *parts, uint32_t part)
{
	return part >= parts->own_first && part < parts->own_end;
}

// tb_parts_to and tb_parts_from are the parts of a link's far and near end.
static inline uint32_t tb_parts_to(
	const struct tb_parts *parts, const struct tb_network *net, uint32_t link)
{
	const struct tb_link_info *info = &net->links[link];
	return info->kind == TB_LINK_EJECTION ? parts->of_node[info->to]
					      : parts->of_switch[info->to];
}

static inline uint32_t tb_parts_from(
	const struct tb_parts *parts, const struct tb_network *net, uint32_t link)
{
	const struct tb_link_info *info = &net->links[link];
	return info->kind == TB_LINK_INJECTION ? parts->of_node[info->from]
					       : parts->of_switch[info->from];
}

#endif
