// What breaks the symmetry of a fabric.
//
// A switch with fewer cables up than its peers is odd; which of them it lacks is judged
// among what hangs together through one level of switches above, where trees have every
// lower switch joined to every upper one alike. Only switches that lack cables are looked
// at so: in fabrics whose parallel cables are dealt out in turn, pairs of switches differ
// though nothing is missing.
#include "array.h"
#include "fabric_impl.h"
#include "names.h"
#include "order.h"

#include <stdlib.h>
#include <string.h>

#define UNKNOWN	   TB_FABRIC_MIXED
#define PAIRS_MOST (UINT32_C(1) << 26) // of switches in one group, 2 bytes each
#define FEW_OF	   3 // of so many switches one may be gone unseen, or of two

// A node, and what it is called: its name on its host, with its host's without digits.
struct odd_node {
	uint64_t name; // a hash; 0: it has none
	uint64_t bytes_per_s;
	uint64_t usual_bytes_per_s; // that those of its name have; 0: not known
	uint32_t node, sw, link;
	bool is_led; // its name is that of most nodes of some switch
};

struct member {
	uint32_t set, sw;
};

struct odd_search {
	struct tb_fabric *fabric;
	const struct tb_network *net;
	const struct tb_fabric_ports *ports;
	uint32_t n_switches, n_links, n_nodes;
	uint32_t *n_up, *n_below; // cables by switch: up; to switches below
	uint32_t *n_above;	  // by switch: those above that it is cabled to
	uint32_t *parent;	  // sets of switches that hang together
	uint32_t *place;	  // by switch: among the uppers of a group
	uint32_t *leader_of; // by switch: a node of the name that most of its nodes have
	bool *named;	     // by switch: it lacks cables from below, which are named
	bool *is_crossed;    // by switch
	uint64_t *values; // those of which one is usual: of all switches, nodes or ports
	struct odd_node *nodes, *sorted; // by node, and the same otherwise
	struct member *members;		 // the switches of a level
	uint32_t *lowers, *uppers;	 // of groups, see there
	uint64_t *usual;		 // by upper
};

static struct tb_link_info link_at(const struct odd_search *search, uint32_t link)
{
	return tb_network_link(search->net, (struct tb_link){link});
}

// at_port returns the link at a port of a switch; what leads to nothing is down.
static struct tb_link_info at_port(const struct odd_search *search, uint32_t port)
{
	uint32_t link = search->ports->links[port];
	return link == TB_ID_NONE ? (struct tb_link_info){.kind = TB_LINK_EJECTION}
				  : link_at(search, link);
}

static uint32_t level_of(const struct odd_search *search, uint32_t sw)
{
	return tb_network_switch(search->net, (struct tb_switch){sw}).level;
}

static const char *odd_switch_name(const struct odd_search *search, uint32_t sw)
{
	return tb_network_switch_identity(search->net, (struct tb_switch){sw}).name;
}

bool tb_fabric_name_numbers(const char *a, const char *b, struct tb_name_numbers *numbers)
{
	size_t same = 0;
	char *a_end, *b_end;
	while (a[same] && a[same] == b[same])
		same++;
	while (same > 0 && a[same - 1] >= '0' && a[same - 1] <= '9')
		same--;
	struct tb_name_numbers made = {.begins = same,
		.one = strtoul(a + same, &a_end, 10),
		.other = strtoul(b + same, &b_end, 10)};
	made.n = (size_t)(a_end - a) - same;
	bool are_numbers = made.n > 0 && b_end > b + same && strcmp(a_end, b_end) == 0;
	*numbers = made;
	return are_numbers && made.one != made.other &&
	       (made.one > made.other ? made.one - made.other : made.other - made.one) <=
		       UINT16_MAX;
}

void tb_fabric_add_oddity(struct tb_fabric *fabric, struct tb_oddity oddity)
{
	if (TB_ARRAY_MORE(fabric, oddities) != TB_OK) {
		fabric->lacks_memory = true;
		return;
	}
	fabric->oddities[fabric->n_oddities++] = oddity;
	fabric->n_of_kind[oddity.kind]++;
}

static void add_switch(struct odd_search *search, enum tb_oddity_kind kind, uint32_t sw,
	uint64_t n, uint64_t usual)
{
	tb_fabric_add_oddity(search->fabric,
		(struct tb_oddity){.kind = kind, .sw = {sw}, .n = n, .usual = usual});
}

static void add_link(struct odd_search *search, enum tb_oddity_kind kind, uint32_t link,
	uint64_t n, uint64_t usual)
{
	tb_fabric_add_oddity(search->fabric,
		(struct tb_oddity){.kind = kind, .link = {link}, .n = n, .usual = usual});
}

uint64_t tb_fabric_usual(uint64_t *values, uint32_t n, uint32_t *n_alike)
{
	uint64_t best = UNKNOWN;
	*n_alike = 0;
	qsort(values, n, sizeof *values, tb_order_u64);
	for (uint32_t i = 0, end; i < n; i = end) {
		for (end = i; end < n && values[end] == values[i]; end++)
			continue;
		if (end - i >= *n_alike && 2 * (uint64_t)(end - i) >= n) {
			*n_alike = end - i;
			best = values[i];
		}
	}
	return best;
}

static bool nearly_all(uint32_t n, uint32_t of)
{
	return n * UINT64_C(8) >= of * UINT64_C(7);
}

TB_ORDER_BY(order_members, struct member, TB_UP(set) TB_UP(sw))

// A group: switches of one level that hang together through those above them.
struct odd_group {
	struct member *members;	    // its switches
	uint32_t most;		    // cables up, that is usual of its level
	uint32_t *lowers, n_lowers; // their numbers
	uint32_t *uppers, n_uppers; // in the order in which they are met
	uint16_t *cables;	    // by lower and upper; NULL: the pairs are too many
	uint64_t *usual;	    // number of these, by upper; UNKNOWN: mixed
};

static uint32_t pair_cables(const struct odd_group *group, uint32_t lower, uint32_t upper)
{
	return group->cables[(size_t)lower * group->n_uppers + upper];
}

// count_pairs lists the switches above the group, and counts the cables of each pair.
static void count_pairs(struct odd_search *search, struct odd_group *group)
{
	const uint32_t *first = search->ports->first;
	for (uint32_t i = 0; i < group->n_lowers; i++) {
		uint32_t sw = group->lowers[i];
		for (uint32_t port = first[sw]; port < first[sw + 1]; port++) {
			struct tb_link_info at = at_port(search, port);
			if (at.kind != TB_LINK_UP || search->place[at.to] != TB_ID_NONE)
				continue;
			search->place[at.to] = group->n_uppers;
			group->uppers[group->n_uppers++] = at.to;
		}
	}
	size_t n_pairs = (size_t)group->n_lowers * group->n_uppers;
	if (n_pairs == 0 || n_pairs > PAIRS_MOST)
		return;
	group->cables = calloc(n_pairs, sizeof *group->cables);
	search->fabric->lacks_memory |= !group->cables;
	for (uint32_t i = 0; i < group->n_lowers && group->cables; i++) {
		uint16_t *cables = group->cables + (size_t)i * group->n_uppers;
		uint32_t sw = group->lowers[i];
		for (uint32_t port = first[sw]; port < first[sw + 1]; port++) {
			struct tb_link_info at = at_port(search, port);
			if (at.kind == TB_LINK_UP)
				cables[search->place[at.to]]++;
		}
	}
	for (uint32_t k = 0; k < group->n_uppers && group->cables; k++) {
		uint32_t n_alike;
		for (uint32_t i = 0; i < group->n_lowers; i++)
			search->values[i] = pair_cables(group, i, k);
		group->usual[k] =
			tb_fabric_usual(search->values, group->n_lowers, &n_alike);
	}
}

// name_uneven names the switches of a group that have all their cables up, but lead to
// fewer switches than half of the group or more do. Of two switches neither is usual.
static void name_uneven(struct odd_search *search, const struct odd_group *group)
{
	uint32_t n_alike;
	for (uint32_t i = 0; i < group->n_lowers; i++)
		search->values[i] = search->n_above[group->lowers[i]];
	uint64_t usual = tb_fabric_usual(search->values, group->n_lowers, &n_alike);
	if (group->n_lowers <= 2 || usual == UNKNOWN)
		return;
	for (uint32_t i = 0; i < group->n_lowers; i++) {
		uint32_t sw = group->lowers[i];
		if (search->n_up[sw] >= group->most && !search->is_crossed[sw] &&
			search->n_above[sw] < usual)
			add_switch(
				search, TB_ODDITY_UNEVEN, sw, search->n_above[sw], usual);
	}
}

// In a group whose pairs of switches have their usual number of cables, but for one pair
// in so many, a switch that lacks some and has others too many has them crossed.
#define PAIRS_PER_CROSSED 8
#define CROSSED_MOST	  2 // pairs of a switch that lack cables

static void name_crossed(struct odd_search *search, const struct odd_group *group)
{
	size_t n_crossed = 0;
	for (uint32_t k = 0; k < group->n_uppers; k++)
		if (group->usual[k] == UNKNOWN || group->n_lowers < 3)
			return;
	for (uint32_t i = 0; i < group->n_lowers; i++) {
		uint32_t n_lacking = 0, sw = group->lowers[i];
		for (uint32_t k = 0; k < group->n_uppers; k++)
			n_lacking += pair_cables(group, i, k) < group->usual[k];
		search->is_crossed[sw] = n_lacking > 0 && n_lacking <= CROSSED_MOST &&
					 search->n_up[sw] >= group->most;
		n_crossed += search->is_crossed[sw] ? n_lacking : 0;
	}
	bool are_few = n_crossed * PAIRS_PER_CROSSED <=
		       (size_t)group->n_lowers * group->n_uppers;
	for (uint32_t i = 0; i < group->n_lowers; i++) {
		uint32_t lacks = 0, more = 0, sw = group->lowers[i];
		if (!search->is_crossed[sw])
			continue;
		while (pair_cables(group, i, lacks) >= group->usual[lacks])
			lacks++;
		while (more < group->n_uppers &&
			pair_cables(group, i, more) <= group->usual[more])
			more++;
		search->is_crossed[sw] = are_few && more < group->n_uppers;
		if (!search->is_crossed[sw])
			continue;
		search->named[group->uppers[lacks]] = true;
		search->named[group->uppers[more]] = true;
		tb_fabric_add_oddity(
			search->fabric, (struct tb_oddity){.kind = TB_ODDITY_CROSSED,
						.sw = {sw},
						.other = {group->uppers[lacks]},
						.group = group->uppers[more],
						.n = pair_cables(group, i, lacks),
						.usual = group->usual[lacks]});
	}
}

// free_ports counts the ports of a switch without a cable, by the fabric's numbers,
// between its cables of a kind, or between these and the port used before them; names of
// ports may go in steps.
static uint64_t free_ports(
	const struct odd_search *search, uint32_t of, enum tb_link_kind kind, bool before)
{
	const struct tb_switch sw = {of};
	uint32_t n_ports = search->ports->first[of + 1] - search->ports->first[of], n = 0;
	const uint32_t *links = search->ports->links + search->ports->first[of];
	uint64_t *numbers = search->values, step = UNKNOWN, last = UNKNOWN, n_free = 0;
	for (uint32_t port = 0; port < n_ports; port++)
		if (links[port] != TB_ID_NONE &&
			link_at(search, links[port]).kind == kind)
			numbers[n++] = tb_network_port_number(search->net, sw, port);
	qsort(numbers, n, sizeof *numbers, tb_order_u64);
	for (uint32_t i = 1; i < n; i++)
		step = tb_min_u64(step, numbers[i] - numbers[i - 1]);
	if (n < 2 || step == 0)
		return 0;
	for (uint32_t i = 1; i < n && !before; i++)
		for (uint64_t at = numbers[i - 1] + step; at < numbers[i]; at += step) {
			uint32_t port;
			n_free += !tb_network_find_port(
					  search->net, sw, (uint32_t)at, &port) ||
				  links[port] == TB_ID_NONE;
		}
	for (uint32_t port = 0; port < n_ports && before; port++) {
		uint32_t at = tb_network_port_number(search->net, sw, port);
		if (links[port] != TB_ID_NONE && at < numbers[0] &&
			(last == UNKNOWN || at > last))
			last = at;
	}
	return last == UNKNOWN ? n_free : (numbers[0] - last) / step - 1;
}

// Switches of a group side by side, as those on the other side of their cables see them.
struct odd_side {
	const uint32_t *of, *from;
	uint32_t n, n_from;
	enum tb_link_kind kind; // of the links of `from` to them
	uint32_t n_cables;	// of each to each
};

// name_gap reports switches that the names of the others leave out, while those on the
// other side of their cables have their ports free: between two, or before the first,
// where the numbers of those on the other side begin with `first`.
static void name_gap(
	struct odd_search *search, const struct odd_side *side, uint32_t first)
{
	uint32_t n_missing = 0, n_first = 0, after = 0, n_alike = 0;
	struct tb_name_numbers at = {0};
	for (uint32_t k = 0; k + 1 < side->n; k++) {
		if (!tb_fabric_name_numbers(odd_switch_name(search, side->of[k]),
			    odd_switch_name(search, side->of[k + 1]), &at))
			return;
		if (k == 0 && first < at.one)
			n_first = (uint32_t)at.one - first;
		if (n_missing == 0)
			after = k;
		n_missing += (uint32_t)(at.other - at.one) - 1;
	}
	bool is_before = n_missing == 0;
	uint32_t n = is_before ? n_first : n_missing, n_ports = n * side->n_cables;
	if (n == 0 || n > UINT16_MAX)
		return;
	for (uint32_t i = 0; i < side->n_from; i++)
		n_alike += free_ports(search, side->from[i], side->kind, is_before) ==
			   n_ports;
	if (nearly_all(n_alike, side->n_from))
		tb_fabric_add_oddity(search->fabric,
			(struct tb_oddity){.kind = TB_ODDITY_NO_SWITCH,
				.sw = {side->of[is_before ? 0 : after]},
				.other = {is_before ? TB_ID_NONE : side->of[after + 1]},
				.n = n,
				.usual = n_ports,
				.group = side->kind == TB_LINK_DOWN});
}

// lacks_up returns how many switches more, each with the usual cables, would give one
// below as much capacity up as down; 0: none or no whole number.
static uint64_t lacks_up(
	const struct odd_search *search, uint32_t sw, const struct odd_side *side)
{
	uint64_t down = 0, up = 0, of_one = 0;
	for (uint32_t port = search->ports->first[sw];
		port < search->ports->first[sw + 1]; port++) {
		struct tb_link_info at = at_port(search, port);
		*(at.kind == TB_LINK_UP ? &up : &down) += at.bytes_per_s;
		if (at.kind == TB_LINK_UP)
			of_one = at.bytes_per_s * side->n_cables;
	}
	return of_one && down > up && (down - up) % of_one == 0 ? (down - up) / of_one
								: 0;
}

// is_numbered_apart returns whether the name of one switch has a number, and other
// letters than that of another: those of its kind are numbered for themselves.
static bool is_numbered_apart(const char *one, const char *other)
{
	static const char digits[] = "0123456789";
	bool has_number = one[strcspn(one, digits)] != '\0';
	while (*(one += strspn(one, digits)) == *(other += strspn(other, digits)) &&
		*one) {
		one++;
		other++;
	}
	return has_number && *one != *other;
}

// name_taper reports a taper that a few switches more would make up for: by what the
// fabric holds it is as likely that they are gone.
static void name_taper(struct odd_search *search, const struct odd_side *side,
	uint32_t first, uint32_t most)
{
	struct tb_name_numbers at = {0};
	uint32_t n_alike, last = side->n - 1;
	const char *name = odd_switch_name(search, side->of[0]);
	for (uint32_t i = 0; i < side->n_from; i++)
		search->values[i] = lacks_up(search, side->from[i], side);
	uint64_t n = tb_fabric_usual(search->values, side->n_from, &n_alike);
	if (n == 0 || n == UNKNOWN || !nearly_all(n_alike, side->n_from) ||
		!is_numbered_apart(name, odd_switch_name(search, side->from[0])) ||
		(n > 1 && n * FEW_OF > side->n))
		return;
	bool numbered = last > 0 && tb_fabric_name_numbers(name,
					    odd_switch_name(search, side->of[last]), &at);
	bool is_before = numbered && at.one == first + n;
	tb_fabric_add_oddity(search->fabric,
		(struct tb_oddity){.kind = TB_ODDITY_TAPER,
			.sw = {side->of[is_before ? 0 : last]},
			.other = {numbered ? side->of[is_before ? last : 0] : TB_ID_NONE},
			.n = n,
			.usual = side->n_cables,
			.group = search->n_up[side->from[0]] < most});
}

// name_missing_switches reports switches that are gone, or may be.
static void name_missing_switches(struct odd_search *search, struct odd_group *group)
{
	uint32_t n_before = search->fabric->n_of_kind[TB_ODDITY_NO_SWITCH];
	struct tb_name_numbers at = {0};
	if (group->usual[0] == 0 || group->usual[0] == UNKNOWN || group->n_lowers < 2)
		return;
	for (uint32_t k = 0; k < group->n_uppers; k++)
		if (group->usual[k] != group->usual[0])
			return;
	qsort(group->uppers, group->n_uppers, sizeof *group->uppers, tb_order_u32);
	struct odd_side above = {group->uppers, group->lowers, group->n_uppers,
		group->n_lowers, TB_LINK_UP, (uint32_t)group->usual[0]};
	struct odd_side below = {group->lowers, group->uppers, group->n_lowers,
		group->n_uppers, TB_LINK_DOWN, (uint32_t)group->usual[0]};
	bool numbered = tb_fabric_name_numbers(odd_switch_name(search, group->lowers[0]),
		odd_switch_name(search, group->lowers[1]), &at);
	uint32_t first = numbered && at.one < TB_ID_NONE ? (uint32_t)at.one : TB_ID_NONE;
	if (group->n_lowers > 2 && group->n_uppers > 1) {
		name_gap(search, &above, first);
		name_gap(search, &below, TB_ID_NONE);
	}
	if (search->fabric->n_of_kind[TB_ODDITY_NO_SWITCH] == n_before)
		name_taper(search, &above, first, group->most);
}

// look_at_group reports the switches of a group that have fewer cables up than others,
// and to which switches above, lead to fewer switches, or to others.
static void look_at_group(struct odd_search *search, struct odd_group *group)
{
	if (group->cables)
		name_crossed(search, group);
	name_uneven(search, group);
	for (uint32_t i = 0; i < group->n_lowers; i++) {
		uint32_t sw = group->lowers[i], n = search->n_up[sw];
		if (n >= group->most)
			continue;
		search->fabric->n_missing += group->most - n;
		add_switch(search, TB_ODDITY_FEWER_UP, sw, n, group->most);
		for (uint32_t k = 0; k < group->n_uppers && group->cables; k++) {
			n = pair_cables(group, i, k);
			if (group->usual[k] == UNKNOWN || n >= group->usual[k])
				continue;
			search->named[group->uppers[k]] = true;
			tb_fabric_add_oddity(search->fabric,
				(struct tb_oddity){.kind = TB_ODDITY_MISSING,
					.sw = {sw},
					.other = {group->uppers[k]},
					.n = n,
					.usual = group->usual[k]});
		}
	}
	if (group->cables)
		name_missing_switches(search, group);
}

#define LOOKS_MOST (UINT64_C(1) << 28) // at pairs of switches and what is above both

// split_group leaves together the switches of a group that lead mostly to the same ones
// above: a cable that strays joins no two groups.
static void split_group(struct odd_search *search, struct odd_group *group)
{
	uint32_t n = group->n_lowers;
	if (!group->cables || (uint64_t)n * n * group->n_uppers > LOOKS_MOST)
		return;
	for (uint32_t i = 0; i < n; i++)
		search->parent[group->lowers[i]] = group->lowers[i];
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = i + 1; k < n; k++) {
			uint32_t n_shared = 0, n_of_i = search->n_above[group->lowers[i]];
			uint32_t n_of_k = search->n_above[group->lowers[k]];
			for (uint32_t up = 0; up < group->n_uppers; up++)
				n_shared += pair_cables(group, i, up) > 0 &&
					    pair_cables(group, k, up) > 0;
			if (2 * n_shared > (n_of_i < n_of_k ? n_of_i : n_of_k))
				tb_fabric_join(search->parent, group->lowers[i],
					group->lowers[k]);
		}
	for (uint32_t i = 0; i < n; i++)
		group->members[i].set = tb_fabric_root(search->parent, group->lowers[i]);
}

// each_group hands the groups of a level, of `n` switches, to a look at them.
static void each_group(struct odd_search *search, uint32_t n, uint32_t most,
	void (*look)(struct odd_search *, struct odd_group *))
{
	struct member *members = search->members;
	qsort(members, n, sizeof *members, order_members);
	for (uint32_t i = 0; i < n; i++)
		search->lowers[i] = members[i].sw;
	for (uint32_t i = 0, end; i < n; i = end) {
		for (end = i; end < n && members[end].set == members[i].set; end++)
			continue;
		struct odd_group group = {.members = members + i,
			.most = most,
			.lowers = search->lowers + i,
			.n_lowers = end - i,
			.uppers = search->uppers,
			.usual = search->usual};
		count_pairs(search, &group);
		look(search, &group);
		for (uint32_t k = 0; k < group.n_uppers; k++)
			search->place[group.uppers[k]] = TB_ID_NONE;
		free(group.cables);
	}
}

static void look_at_level(struct odd_search *search, uint32_t level)
{
	uint32_t n = 0, n_alike;
	// Put the switches of a level and those they lead up to into sets.
	for (uint32_t sw = 0; sw < search->n_switches; sw++)
		search->parent[sw] = sw;
	for (uint32_t link = 0; link < search->n_links; link++) {
		struct tb_link_info at = link_at(search, link);
		if (at.kind == TB_LINK_UP && level_of(search, at.from) == level)
			tb_fabric_join(search->parent, at.from, at.to);
	}
	for (uint32_t sw = 0; sw < search->n_switches; sw++)
		if (level_of(search, sw) == level) {
			search->values[n] = search->n_up[sw];
			search->members[n++] =
				(struct member){tb_fabric_root(search->parent, sw), sw};
		}
	uint64_t most = tb_fabric_usual(search->values, n, &n_alike);
	if (most == UNKNOWN || most == 0)
		return;
	each_group(search, n, (uint32_t)most, split_group);
	each_group(search, n, (uint32_t)most, look_at_group);
}

// fewer_down reports the switches of a level with fewer switches below, unless the cables
// they lack have been named from below.
static void fewer_down(struct odd_search *search, uint32_t level)
{
	uint32_t n = 0, n_alike;
	for (uint32_t sw = 0; sw < search->n_switches; sw++)
		if (level_of(search, sw) == level)
			search->values[n++] = search->n_below[sw];
	uint64_t most = tb_fabric_usual(search->values, n, &n_alike);
	for (uint32_t sw = 0; sw < search->n_switches && most != UNKNOWN; sw++)
		if (level_of(search, sw) == level && !search->named[sw] &&
			search->n_below[sw] < most)
			add_switch(search, TB_ODDITY_FEWER_DOWN, sw, search->n_below[sw],
				most);
}

// drop_same drops what names a switch as missing a second time, as seen from the level
// above or as a taper. There are few.
static void drop_same(struct tb_fabric *fabric)
{
	char name[TB_NAME_SIZE + 16], other[TB_NAME_SIZE + 16];
	uint32_t kept = 0;
	for (uint32_t i = 0; i < fabric->n_oddities; i++) {
		const struct tb_oddity at = fabric->oddities[i];
		bool is_taper = at.kind == TB_ODDITY_TAPER, is_same = false;
		*name = '\0';
		if (is_taper || at.kind == TB_ODDITY_NO_SWITCH)
			tb_fabric_missing_name(fabric->network, &at, name, sizeof name);
		for (uint32_t k = 0; *name && k < fabric->n_oddities; k++)
			is_same |= fabric->oddities[k].kind == TB_ODDITY_NO_SWITCH &&
				   (k < i || is_taper) &&
				   strcmp(name, tb_fabric_missing_name(fabric->network,
							&fabric->oddities[k], other,
							sizeof other)) == 0;
		if (is_same)
			fabric->n_of_kind[at.kind]--;
		else
			fabric->oddities[kept++] = at;
	}
	fabric->n_oddities = kept;
}

TB_ORDER_BY(by_name, struct odd_node, TB_UP(name) TB_UP(node))

// find_usual_rates finds the rate that half or more of the nodes of a name have, where
// there are several.
static void find_usual_rates(struct odd_search *search)
{
	const struct odd_node *sorted = search->sorted;
	qsort(search->sorted, search->n_nodes, sizeof *sorted, by_name);
	for (uint32_t i = 0, end; i < search->n_nodes; i = end) {
		uint32_t n_alike;
		for (end = i; end < search->n_nodes && sorted[end].name == sorted[i].name;
			end++)
			search->values[end - i] = sorted[end].bytes_per_s;
		uint64_t rate = tb_fabric_usual(search->values, end - i, &n_alike);
		if (sorted[i].name == 0 || end - i < 2 || rate == UNKNOWN)
			continue;
		for (uint32_t k = i; k < end; k++)
			search->nodes[sorted[k].node].usual_bytes_per_s = rate;
	}
}

TB_ORDER_BY(by_switch_and_name, struct odd_node,
	TB_UP(sw) TB_UP(name) TB_UP(bytes_per_s) TB_UP(node))

// find_leaders finds of each switch a node of the name that most of its nodes have, of
// several the first.
static void find_leaders(struct odd_search *search)
{
	const struct odd_node *sorted = search->sorted;
	uint32_t most = 0;
	qsort(search->sorted, search->n_nodes, sizeof *sorted, by_switch_and_name);
	for (uint32_t i = 0, end; i < search->n_nodes; i = end) {
		const struct odd_node *at = &sorted[i];
		for (end = i; end < search->n_nodes && sorted[end].sw == at->sw &&
			      sorted[end].name == at->name;)
			end++;
		if (search->leader_of[at->sw] == TB_ID_NONE)
			most = 0;
		if (end - i > most) {
			most = end - i;
			search->leader_of[at->sw] = at->node;
		}
	}
}

// look_at_rails reports nodes on switches of other rails, in a fabric whose rails have
// leaf switches of their own: nine in ten of the nodes whose name leads a switch are on
// one that it leads, and there are two such names or more.
static void look_at_rails(struct odd_search *search)
{
	uint64_t *leading = search->values, n_led = 0, n_at_home = 0;
	struct odd_node *nodes = search->nodes;
	uint32_t n = 0;
	find_leaders(search);
	for (uint32_t sw = 0; sw < search->n_switches; sw++)
		if (search->leader_of[sw] != TB_ID_NONE &&
			nodes[search->leader_of[sw]].name != 0)
			leading[n++] = nodes[search->leader_of[sw]].name;
	qsort(leading, n, sizeof *leading, tb_order_u64);
	if (n == 0 || leading[0] == leading[n - 1])
		return;
	for (uint32_t i = 0; i < search->n_nodes; i++) {
		nodes[i].is_led = bsearch(
			&nodes[i].name, leading, n, sizeof *leading, tb_order_u64);
		n_led += nodes[i].is_led;
		n_at_home += nodes[i].is_led &&
			     nodes[search->leader_of[nodes[i].sw]].name == nodes[i].name;
	}
	search->fabric->is_rail_optimized = n_at_home * 10 >= n_led * 9;
	for (uint32_t i = 0; i < search->n_nodes; i++) {
		uint32_t leader = search->leader_of[nodes[i].sw];
		if (search->fabric->is_rail_optimized && nodes[i].is_led &&
			nodes[leader].name != nodes[i].name)
			add_link(search, TB_ODDITY_OFF_RAIL, nodes[i].link, leader, 0);
	}
}

// usual_speed is the speed of half or more of the cables of a kind, 0 when there is none.
static uint64_t usual_speed(const struct tb_fabric *fabric, struct tb_fabric_cables kind)
{
	uint64_t n = 0;
	const struct tb_fabric_cables *most = NULL;
	for (uint32_t i = 0; i < fabric->n_cables; i++) {
		const struct tb_fabric_cables *at = &fabric->cables[i];
		if (at->to_nodes != kind.to_nodes || at->lower != kind.lower ||
			at->upper != kind.upper)
			continue;
		n += at->n;
		if (!most || at->n > most->n)
			most = at;
	}
	return most && 2 * (uint64_t)most->n >= n ? most->bytes_per_s : 0;
}

static void slower_links(struct odd_search *search)
{
	for (uint32_t link = 0; link < search->n_links; link++) {
		struct tb_link_info at = link_at(search, link);
		if (at.kind != TB_LINK_UP && at.kind != TB_LINK_INJECTION)
			continue;
		struct tb_fabric_cables kind = tb_fabric_cables_of(search->net, &at);
		uint64_t speed =
			kind.to_nodes ? search->nodes[at.from].usual_bytes_per_s : 0;
		if (speed == 0)
			speed = usual_speed(search->fabric, kind);
		if (at.bytes_per_s < speed)
			add_link(search, TB_ODDITY_SLOWER, link, at.bytes_per_s, speed);
	}
}

// straying_links reports cables that do not lead one level up.
static void straying_links(struct odd_search *search)
{
	for (uint32_t link = 0; link < search->n_links; link++) {
		struct tb_link_info at = link_at(search, link);
		if (at.kind != TB_LINK_UP)
			continue;
		uint32_t lower = level_of(search, at.from),
			 upper = level_of(search, at.to);
		if (upper != lower + 1)
			add_link(search,
				upper == lower ? TB_ODDITY_ASIDE : TB_ODDITY_SKIPS, link,
				0, 0);
	}
}

// slow_kind returns what kind of cable a slower one is.
static struct tb_slow_cables slow_kind(
	const struct odd_search *search, const struct tb_oddity *odd)
{
	struct tb_link_info at = tb_network_link(search->net, odd->link);
	struct tb_fabric_cables kind = tb_fabric_cables_of(search->net, &at);
	return (struct tb_slow_cables){.to_nodes = kind.to_nodes,
		.lower = kind.lower,
		.upper = kind.upper,
		.bytes_per_s = odd->n,
		.usual_bytes_per_s = odd->usual,
		.lack_bytes_per_s = odd->usual - odd->n,
		.first = odd->link};
}

TB_ORDER_BY(order_slow, struct tb_slow_cables,
	TB_DOWN(lack_bytes_per_s) TB_UP(bytes_per_s) TB_DOWN(to_nodes) TB_UP(lower)
		TB_UP(upper))

// group_slow puts slower cables among their like, of which there are few kinds.
static void group_slow(struct odd_search *search)
{
	struct tb_fabric *fabric = search->fabric;
	size_t slow_room = 0;
	for (uint32_t i = 0; i < fabric->n_oddities; i++) {
		if (fabric->oddities[i].kind != TB_ODDITY_SLOWER)
			continue;
		struct tb_slow_cables kind = slow_kind(search, &fabric->oddities[i]);
		uint32_t at = 0;
		while (at < fabric->n_slow && order_slow(&fabric->slow[at], &kind) != 0)
			at++;
		if (at < fabric->n_slow)
			continue;
		if (TB_ARRAY_RESERVE(&fabric->slow, &slow_room,
			    (size_t)fabric->n_slow + 1) != TB_OK) {
			fabric->lacks_memory = true;
			return;
		}
		fabric->slow[fabric->n_slow++] = kind;
	}
	if (fabric->n_slow)
		qsort(fabric->slow, fabric->n_slow, sizeof *fabric->slow, order_slow);
	for (uint32_t group = 0; group < fabric->n_slow; group++) {
		struct tb_slow_cables *slow = &fabric->slow[group];
		uint64_t *n_on = search->values;
		memset(n_on, 0, search->n_switches * sizeof *n_on);
		for (uint32_t i = 0; i < fabric->n_oddities; i++) {
			struct tb_oddity *odd = &fabric->oddities[i];
			if (odd->kind != TB_ODDITY_SLOWER)
				continue;
			struct tb_slow_cables kind = slow_kind(search, odd);
			struct tb_link_info at = tb_network_link(search->net, odd->link);
			if (order_slow(slow, &kind) != 0)
				continue;
			odd->group = group;
			slow->n++;
			n_on[at.to]++;
			if (!slow->to_nodes)
				n_on[at.from]++;
		}
		for (uint32_t sw = 0; sw < search->n_switches; sw++)
			if (n_on[sw] > slow->n_on) {
				slow->n_on = (uint32_t)n_on[sw];
				slow->on.id = sw;
			}
	}
}

// odd_nodes reports switches above the leaves that have nodes, or leaves that have none.
static void odd_nodes(struct odd_search *search, bool above)
{
	uint64_t *n_on = search->values;
	memset(n_on, 0, search->n_switches * sizeof *n_on);
	for (uint32_t i = 0; i < search->n_nodes; i++)
		n_on[search->nodes[i].sw]++;
	for (uint32_t sw = 0; sw < search->n_switches; sw++)
		if ((n_on[sw] > 0) == above && (level_of(search, sw) > 0) == above)
			add_switch(search, above ? TB_ODDITY_HIGH_NODE : TB_ODDITY_EMPTY,
				sw, n_on[sw], 0);
}

// A host, by its name without digits and its cables.
struct odd_host {
	uint64_t family;
	uint32_t n, node; // its nodes, and the first
};

TB_ORDER_BY(by_family_and_number, struct odd_host, TB_UP(family) TB_UP(n) TB_UP(node))

// look_at_hosts reports hosts with more cables or fewer than nearly all of their name.
static void look_at_hosts(struct odd_search *search)
{
	uint32_t n_hosts = tb_network_n_hosts(search->net), n = 0;
	struct odd_host *hosts = malloc((n_hosts + 1u) * sizeof *hosts);
	search->fabric->lacks_memory |= !hosts;
	for (uint32_t node = 0, next; node < n_hosts && hosts; node = next) {
		struct tb_identity own =
			tb_network_node_identity(search->net, (struct tb_node){node});
		next = tb_fabric_next_host(search->net, node);
		hosts[n++] =
			(struct odd_host){tb_fabric_host_family(&own), next - node, node};
	}
	if (n)
		qsort(hosts, n, sizeof *hosts, by_family_and_number);
	for (uint32_t i = 0, end; i < n; i = end) {
		uint32_t n_alike;
		for (end = i; end < n && hosts[end].family == hosts[i].family; end++)
			search->values[end - i] = hosts[end].n;
		uint64_t usual = tb_fabric_usual(search->values, end - i, &n_alike);
		for (uint32_t k = i; k < end && nearly_all(n_alike, end - i); k++)
			if (hosts[k].n != usual)
				add_link(search, TB_ODDITY_HOST_CABLES,
					search->nodes[hosts[k].node].link, hosts[k].n,
					usual);
	}
	free(hosts);
}

// count_links fills in what is by switch or node.
static void count_links(struct odd_search *search)
{
	for (uint32_t link = 0; link < search->n_links; link++) {
		struct tb_link_info at = link_at(search, link);
		if (at.kind == TB_LINK_INJECTION) {
			struct tb_identity own = tb_network_node_identity(
				search->net, (struct tb_node){at.from});
			search->nodes[at.from] = (struct odd_node){
				.name = *tb_names_adapter(&own) ? tb_fabric_family(&own)
								: 0,
				.bytes_per_s = at.bytes_per_s,
				.node = at.from,
				.sw = at.to,
				.link = link};
		}
		if (at.kind == TB_LINK_UP) {
			search->n_up[at.from]++;
			search->n_below[at.to]++;
		}
	}
	memcpy(search->sorted, search->nodes, search->n_nodes * sizeof *search->nodes);
	// The set of a switch above is the last below that was seen to lead there.
	memset(search->parent, 0xff, search->n_switches * sizeof *search->parent);
	for (uint32_t sw = 0; sw < search->n_switches; sw++)
		for (uint32_t port = search->ports->first[sw];
			port < search->ports->first[sw + 1]; port++) {
			struct tb_link_info at = at_port(search, port);
			if (at.kind != TB_LINK_UP || search->parent[at.to] == sw)
				continue;
			search->parent[at.to] = sw;
			search->n_above[sw]++;
		}
}

static void find_oddities(struct odd_search *search)
{
	uint32_t n_levels = search->fabric->n_levels;
	count_links(search);
	for (uint32_t level = 0; level + 1 < n_levels; level++)
		look_at_level(search, level);
	for (uint32_t level = 1; level < n_levels; level++)
		fewer_down(search, level);
	drop_same(search->fabric);
	find_usual_rates(search);
	slower_links(search);
	group_slow(search);
	odd_nodes(search, false);
	odd_nodes(search, true);
	straying_links(search);
	look_at_rails(search);
	tb_fabric_look_at_order(search->fabric);
	look_at_hosts(search);
	for (uint32_t sw = 0; sw < search->n_switches; sw++)
		if (tb_network_switch_identity(search->net, (struct tb_switch){sw})
				.is_doubtful)
			add_switch(
				search, TB_ODDITY_DOUBTFUL, sw, level_of(search, sw), 0);
}

int tb_fabric_find_oddities(struct tb_fabric *fabric, const struct tb_fabric_ports *ports)
{
	size_t n = tb_network_n_switches(fabric->network);
	size_t n_nodes = tb_network_n_nodes(fabric->network);
	uint32_t *words = calloc(8 * n + 1, sizeof *words);
	bool *flags = calloc(2 * n + 1, sizeof *flags);
	uint64_t *values = calloc(2 * n + n_nodes + ports->first[n] + 1, sizeof *values);
	struct odd_node *nodes = calloc(2 * n_nodes + 1, sizeof *nodes);
	struct member *members = malloc((n + 1) * sizeof *members);
	if (words && flags && values && nodes && members) {
		memset(words, 0xff, 2 * n * sizeof *words);
		find_oddities(&(struct odd_search){.fabric = fabric,
			.net = fabric->network,
			.ports = ports,
			.n_switches = (uint32_t)n,
			.n_links = tb_network_n_links(fabric->network),
			.n_nodes = (uint32_t)n_nodes,
			.leader_of = words,
			.place = words + n,
			.n_up = words + 2 * n,
			.n_below = words + 3 * n,
			.n_above = words + 4 * n,
			.parent = words + 5 * n,
			.lowers = words + 6 * n,
			.uppers = words + 7 * n,
			.named = flags,
			.is_crossed = flags + n,
			.usual = values,
			.values = values + n,
			.nodes = nodes,
			.sorted = nodes + n_nodes,
			.members = members});
	} else {
		fabric->lacks_memory = true;
	}
	free(words);
	free(flags);
	free(values);
	free(nodes);
	free(members);
	return fabric->lacks_memory ? TB_ENOMEM : TB_OK;
}
