// Routes of messages, and over how many ways they are split.
//
// Where each packet chooses its links, those of a message spread over all ways that there
// are. As a flow it is split into equal parts, one per way, as many as it has packets, up
// to TB_SHARE_WHOLE. Adaptive ways are chosen one after another, each by the load that is
// left by those before it; random ones by what its first packet draws, and from there on
// in turn, which is the mean of many packets. Whatever has one packet goes as that does.
#include "fluid.h"

// A message whose ways are chosen.
struct way_search {
	struct fluid *fluid;
	struct tb_heading heading; // of the first packet
	uint32_t end, ascending;
	uint32_t n_ways, way;
	uint64_t n_distinct; // ways that there are, where the first one goes
	uint32_t turn;	     // of the way, at the switches to come
	uint32_t n;	     // steps
};

uint32_t tb_fluid_ways_most(const struct tb_network *net)
{
	enum tb_ascent ascent = net->params.ascent;
	bool splits = ascent == TB_ASCENT_RANDOM || ascent == TB_ASCENT_ADAPTIVE ||
		      ascent == TB_ASCENT_ADAPTIVE_LOWEST ||
		      ascent == TB_ASCENT_ADAPTIVE_ROUND_ROBIN;
	bool fits = net->longest_path < UINT16_MAX / TB_SHARE_WHOLE - 1;
	return splits && fits ? TB_SHARE_WHOLE : 1;
}

// way_least_loaded takes the link with the least load; equals as the packets of other
// switchings.
static uint32_t way_least_loaded(
	struct fluid *fluid, struct tb_route_group group, uint32_t sw, uint64_t order)
{
	const struct tb_network *net = fluid->replay.net;
	struct tb_route_choice *choice = &fluid->replay.choice;
	const uint32_t *links = &net->group_links[group.first];
	uint32_t least = UINT32_MAX, n = 0, in_turn = NOTHING;
	for (uint32_t i = 0; i < group.n; i++) {
		uint32_t load = fluid->links[links[i]].load;
		if (load > least)
			continue;
		if (load < least) {
			least = load;
			n = 0;
			in_turn = NOTHING;
		}
		if (choice->turns && in_turn == NOTHING &&
			net->links[links[i]].from_port >= choice->turns[sw])
			in_turn = n;
		n++;
	}
	uint32_t skip = 0;
	if (choice->turns)
		skip = in_turn == NOTHING ? 0 : in_turn;
	else if (!choice->lowest)
		skip = (uint32_t)(tb_route_choice_draw(choice, order, sw) % n);
	uint32_t i = 0;
	while (fluid->links[links[i]].load != least || skip-- > 0)
		i++;
	if (choice->turns)
		choice->turns[sw] = net->links[links[i]].from_port + 1;
	return links[i];
}

static uint32_t random_link(
	struct way_search *split, struct tb_route_group group, uint32_t sw)
{
	const struct tb_replay *replay = &split->fluid->replay;
	uint64_t drawn =
		tb_route_choice_draw(&replay->choice, split->heading.order, sw) % group.n;
	uint32_t at = (uint32_t)((drawn + split->turn) % group.n);
	split->turn /= group.n;
	return replay->net->group_links[group.first + at];
}

static uint32_t way_search_choose(struct way_search *split, uint32_t route, uint32_t sw)
{
	struct fluid *fluid = split->fluid;
	const struct tb_network *net = fluid->replay.net;
	struct tb_route_group group = net->groups[route & ~TB_ROUTE_GROUP];
	if (split->n_distinct < TB_SHARE_WHOLE)
		split->n_distinct *= group.n;
	if (net->params.ascent == TB_ASCENT_RANDOM)
		return random_link(split, group, sw);
	if (fluid->replay.choice.fixed)
		return tb_route_choice_fix(
			&fluid->replay.choice, route, sw, &split->heading);
	return way_least_loaded(fluid, group, sw, split->heading.order + split->way);
}

// way_search_take adds the way to the step over a link, which the first way makes anew.
static void way_search_take(struct way_search *split, uint32_t link)
{
	struct tb_share_step *steps = split->fluid->steps;
	uint32_t i = split->way ? 0 : split->n;
	while (i < split->n && steps[i].link != link)
		i++;
	if (i == split->n)
		steps[split->n++] = (struct tb_share_step){.link = link};
	steps[i].ways |= (uint16_t)(1u << split->way);
	if (split->way == 0)
		return;
	uint16_t weight = (uint16_t)(TB_SHARE_WHOLE / split->n_ways);
	steps[i].weight = (uint16_t)(steps[i].weight + weight);
	split->fluid->links[link].load += weight;
}

static void add_way(struct way_search *split)
{
	const struct tb_network *net = split->fluid->replay.net;
	uint32_t link = net->injection[split->heading.source], hop = 0;
	split->turn = split->way;
	way_search_take(split, link);
	while (net->links[link].kind != TB_LINK_EJECTION) {
		uint32_t sw = net->links[link].to;
		link = tb_network_route(net, sw, split->end, hop++, split->ascending);
		if (link & TB_ROUTE_GROUP)
			link = way_search_choose(split, link, sw);
		way_search_take(split, link);
	}
}

// share_first has as many ways as a message of so many packets needs, and gives the first
// one its weight.
static void share_first(struct way_search *split, uint32_t n_packets)
{
	struct fluid *fluid = split->fluid;
	split->n_ways = 1;
	while (2 * split->n_ways <= fluid->ways_most && 2 * split->n_ways <= n_packets &&
		split->n_ways != split->n_distinct)
		split->n_ways *= 2;
	uint16_t weight = (uint16_t)(TB_SHARE_WHOLE / split->n_ways);
	for (uint32_t i = 0; i < split->n; i++) {
		fluid->steps[i].weight = weight;
		fluid->links[fluid->steps[i].link].load += weight;
	}
}

// way_search_take_ends takes the links of the two nodes, on the ideal network.
static void way_search_take_ends(struct way_search *split)
{
	const struct tb_network *net = split->fluid->replay.net;
	way_search_take(split, net->injection[split->heading.source]);
	way_search_take(split, net->ejection[split->heading.destination]);
}

uint32_t tb_fluid_route(struct fluid *fluid, uint32_t id, uint32_t *n_hops)
{
	const struct tb_posted *message = &fluid->replay.messages[id];
	struct way_search split = {.fluid = fluid,
		.heading = {.order = message->serial << 24,
			.source = message->what.source.id,
			.destination = message->end},
		.end = message->end,
		.ascending = message->ascending,
		.n_distinct = 1};
	if (fluid->is_ideal)
		way_search_take_ends(&split);
	else
		add_way(&split);
	share_first(&split, message->n_unfetched);
	*n_hops = split.n;
	for (split.way = 1; split.way < split.n_ways; split.way++)
		add_way(&split);
	if (fluid->first_bus == 0)
		return split.n;
	const uint32_t ends[] = {split.heading.source, split.heading.destination};
	for (int i = 0; i < 2; i++)
		fluid->steps[split.n++] =
			(struct tb_share_step){.link = fluid->first_bus + ends[i],
				.weight = TB_SHARE_WHOLE,
				.ways = (uint16_t)((1u << split.n_ways) - 1)};
	return split.n;
}

void tb_fluid_unload(struct fluid *fluid, uint32_t flow)
{
	const struct tb_share_step *steps = tb_shares_steps(&fluid->shares, flow);
	for (uint32_t s = 0; s < fluid->shares.flows[flow].n_steps; s++)
		if (steps[s].link < fluid->replay.net->n_links)
			fluid->links[steps[s].link].load -= steps[s].weight;
}
