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

#define UNKNOWN	   UINT32_MAX
#define PAIRS_MOST (UINT32_C(1) << 26) // of switches in one group, 2 bytes each
#define FEW_OF	   3 // of so many switches one may be gone unseen, or of two

struct odd_search {
	struct tb_fabric *fabric;
	const struct tb_network *net;
	const struct tb_fabric_ports *ports;
	uint32_t *n_up, *n_below; // cables by switch: up; to switches below
	uint32_t *n_above;	  // by switch: those above that it is cabled to
	uint32_t *parent;	  // sets of switches that hang together
	uint32_t *scratch;	  // by switch
	uint32_t *place;	  // by switch: among the uppers of a group
	bool *named;		// by switch: it lacks cables from below, which are named
	struct odd_node *nodes; // by what they are called
	uint64_t *usual_of; // by node: the rate that those of its name have; 0: not known
	struct tb_link *injection; // by node
	uint32_t *leader_of; // by switch: a node of the name that most of its nodes have
};

// A node, and what it is called: its name on its host, with its host's without digits.
struct odd_node {
	uint64_t name; // a hash; 0: it has none
	uint64_t bytes_per_s;
	uint32_t node, sw;
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

static struct tb_switch_info switch_at(const struct odd_search *search, uint32_t sw)
{
	return tb_network_switch(search->net, (struct tb_switch){sw});
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

int tb_fabric_add_oddity(struct tb_fabric *fabric, struct tb_oddity oddity)
{
	if (TB_ARRAY_RESERVE(&fabric->oddities, &fabric->oddities_room,
		    (size_t)fabric->n_oddities + 1) != TB_OK)
		return TB_ENOMEM;
	fabric->oddities[fabric->n_oddities++] = oddity;
	fabric->n_of_kind[oddity.kind]++;
	return TB_OK;
}

static int add_oddity(struct odd_search *search, struct tb_oddity oddity)
{
	return tb_fabric_add_oddity(search->fabric, oddity);
}

// usual sorts the values and returns the one that half of them or more have, of two the
// greater; UNKNOWN when there is none.
static uint32_t usual(uint32_t *values, uint32_t n)
{
	uint32_t best = UNKNOWN, n_best = 0;
	qsort(values, n, sizeof *values, tb_order_u32);
	for (uint32_t i = 0, end; i < n; i = end) {
		for (end = i; end < n && values[end] == values[i]; end++)
			continue;
		if (end - i >= n_best && 2 * (uint64_t)(end - i) >= n) {
			n_best = end - i;
			best = values[i];
		}
	}
	return best;
}

struct member {
	uint32_t set, sw;
};

TB_ORDER_BY(order_members, struct member, TB_UP(set) TB_UP(sw))

// A group: switches of one level that hang together through those above them.
struct odd_group {
	uint32_t *lowers, n_lowers;
	uint32_t *uppers, n_uppers;
	uint16_t *cables; // by lower and upper
	uint32_t *usual;  // by upper
	bool *is_crossed; // by lower
};

static uint32_t pair_cables(const struct odd_group *group, uint32_t lower, uint32_t upper)
{
	return group->cables[(size_t)lower * group->n_uppers + upper];
}

// find_uppers lists the switches above the group, in the order in which they are met.
static int find_uppers(struct odd_search *search, struct odd_group *group)
{
	size_t room = 0;
	for (uint32_t i = 0; i < group->n_lowers; i++) {
		uint32_t sw = group->lowers[i];
		for (uint32_t port = search->ports->first[sw];
			port < search->ports->first[sw + 1]; port++) {
			struct tb_link_info at = at_port(search, port);
			if (at.kind != TB_LINK_UP || search->place[at.to] != UNKNOWN)
				continue;
			if (TB_ARRAY_RESERVE(&group->uppers, &room,
				    (size_t)group->n_uppers + 1) != TB_OK)
				return TB_ENOMEM;
			search->place[at.to] = group->n_uppers;
			group->uppers[group->n_uppers++] = at.to;
		}
	}
	return TB_OK;
}

static void count_pairs(const struct odd_search *search, struct odd_group *group)
{
	for (uint32_t i = 0; i < group->n_lowers; i++) {
		uint32_t sw = group->lowers[i];
		for (uint32_t port = search->ports->first[sw];
			port < search->ports->first[sw + 1]; port++) {
			struct tb_link_info at = at_port(search, port);
			if (at.kind == TB_LINK_UP)
				group->cables[(size_t)i * group->n_uppers +
					      search->place[at.to]]++;
		}
	}
	for (uint32_t k = 0; k < group->n_uppers; k++) {
		for (uint32_t i = 0; i < group->n_lowers; i++)
			search->scratch[i] = pair_cables(group, i, k);
		group->usual[k] = usual(search->scratch, group->n_lowers);
	}
}

// name_missing names the switches above to which lower switch number i lacks cables.
static int name_missing(
	struct odd_search *search, const struct odd_group *group, uint32_t i)
{
	for (uint32_t k = 0; k < group->n_uppers; k++) {
		uint32_t n = pair_cables(group, i, k);
		if (group->usual[k] == UNKNOWN || n >= group->usual[k])
			continue;
		search->named[group->uppers[k]] = true;
		if (add_oddity(search, (struct tb_oddity){.kind = TB_ODDITY_MISSING,
					       .sw = {group->lowers[i]},
					       .other = {group->uppers[k]},
					       .n = n,
					       .usual = group->usual[k]}) != TB_OK)
			return TB_ENOMEM;
	}
	return TB_OK;
}

// name_uneven names the switches of a group that have `most` cables up, but lead to fewer
// switches than half of the group or more do. Of two switches neither is usual.
static int name_uneven(
	struct odd_search *search, const struct odd_group *group, uint32_t most)
{
	for (uint32_t i = 0; i < group->n_lowers; i++)
		search->scratch[i] = search->n_above[group->lowers[i]];
	uint32_t n_usual = usual(search->scratch, group->n_lowers);
	for (uint32_t i = 0; i < group->n_lowers && group->n_lowers > 2; i++) {
		uint32_t sw = group->lowers[i];
		if (n_usual != UNKNOWN && search->n_up[sw] >= most &&
			!(group->is_crossed && group->is_crossed[i]) &&
			search->n_above[sw] < n_usual &&
			add_oddity(search, (struct tb_oddity){.kind = TB_ODDITY_UNEVEN,
						   .sw = {sw},
						   .n = search->n_above[sw],
						   .usual = n_usual}) != TB_OK)
			return TB_ENOMEM;
	}
	return TB_OK;
}

// In a group whose pairs of switches have their usual number of cables, but for one pair
// in so many, a switch that lacks some and has others too many has them crossed.
#define PAIRS_PER_CROSSED 8
#define CROSSED_MOST	  2 // pairs of a switch that lack cables

static int name_crossed(
	struct odd_search *search, const struct odd_group *group, uint32_t most)
{
	size_t n_crossed = 0;
	for (uint32_t k = 0; k < group->n_uppers; k++)
		if (group->usual[k] == UNKNOWN || group->n_lowers < 3)
			return TB_OK;
	for (uint32_t i = 0; i < group->n_lowers; i++) {
		uint32_t n_lacking = 0;
		for (uint32_t k = 0; k < group->n_uppers; k++)
			n_lacking += pair_cables(group, i, k) < group->usual[k];
		group->is_crossed[i] = n_lacking > 0 && n_lacking <= CROSSED_MOST &&
				       search->n_up[group->lowers[i]] >= most;
		n_crossed += group->is_crossed[i] ? n_lacking : 0;
	}
	bool are_few = n_crossed * PAIRS_PER_CROSSED <=
		       (size_t)group->n_lowers * group->n_uppers;
	for (uint32_t i = 0; i < group->n_lowers; i++) {
		uint32_t lacks = 0, more = 0;
		group->is_crossed[i] &= are_few;
		if (!group->is_crossed[i])
			continue;
		while (pair_cables(group, i, lacks) >= group->usual[lacks])
			lacks++;
		while (more < group->n_uppers &&
			pair_cables(group, i, more) <= group->usual[more])
			more++;
		group->is_crossed[i] = more < group->n_uppers;
		if (!group->is_crossed[i])
			continue;
		search->named[group->uppers[lacks]] = true;
		search->named[group->uppers[more]] = true;
		if (add_oddity(search, (struct tb_oddity){.kind = TB_ODDITY_CROSSED,
					       .sw = {group->lowers[i]},
					       .other = {group->uppers[lacks]},
					       .group = group->uppers[more],
					       .n = pair_cables(group, i, lacks),
					       .usual = group->usual[lacks]}) != TB_OK)
			return TB_ENOMEM;
	}
	return TB_OK;
}

// free_ports counts the ports of a switch without a cable, by the fabric's numbers,
// between its cables of a kind and between these and the port used before them; names of
// ports may go in steps.
static int free_ports(const struct odd_search *search, uint32_t sw,
	enum tb_link_kind kind, uint32_t *between, uint32_t *before)
{
	uint32_t n = 0, step = UNKNOWN, last = UNKNOWN;
	uint32_t n_ports = search->ports->first[sw + 1] - search->ports->first[sw];
	const uint32_t *links = search->ports->links + search->ports->first[sw];
	uint32_t *numbers = malloc((n_ports + (size_t)1) * sizeof *numbers);
	*between = *before = 0;
	if (!numbers)
		return TB_ENOMEM;
	for (uint32_t port = 0; port < n_ports; port++)
		if (links[port] != TB_ID_NONE &&
			tb_network_link(search->net, (struct tb_link){links[port]})
					.kind == kind)
			numbers[n++] = tb_network_port_number(
				search->net, (struct tb_switch){sw}, port);
	qsort(numbers, n, sizeof *numbers, tb_order_u32);
	for (uint32_t i = 1; i < n; i++)
		if (numbers[i] - numbers[i - 1] < step)
			step = numbers[i] - numbers[i - 1];
	for (uint32_t i = 1; i < n && step > 0; i++)
		for (uint32_t at = numbers[i - 1] + step; at < numbers[i]; at += step) {
			uint32_t port;
			*between += !tb_network_find_port(search->net,
					    (struct tb_switch){sw}, at, &port) ||
				    links[port] == TB_ID_NONE;
		}
	for (uint32_t port = 0; port < n_ports; port++) {
		uint32_t at =
			tb_network_port_number(search->net, (struct tb_switch){sw}, port);
		if (links[port] != TB_ID_NONE && n > 0 && at < numbers[0] &&
			(last == UNKNOWN || at > last))
			last = at;
	}
	if (last != UNKNOWN && step != UNKNOWN && step > 0)
		*before = (numbers[0] - last) / step - 1;
	free(numbers);
	return TB_OK;
}

// Switches of a group side by side, as those on the other side of their cables see them.
struct odd_side {
	const uint32_t *of, *from;
	uint32_t n, n_from;
	enum tb_link_kind kind; // of the links of `from` to them
	uint32_t n_cables;	// of each to each
};

// count_free returns how many of the switches on the other side have so many ports free.
static int count_free(const struct odd_search *search, const struct odd_side *side,
	uint32_t n_ports, bool before, uint32_t *n)
{
	*n = 0;
	for (uint32_t i = 0; i < side->n_from; i++) {
		uint32_t n_between, n_before;
		if (free_ports(search, side->from[i], side->kind, &n_between,
			    &n_before) != TB_OK)
			return TB_ENOMEM;
		*n += (before ? n_before : n_between) == n_ports;
	}
	return TB_OK;
}

static bool nearly_all(uint32_t n, uint32_t of)
{
	return n * UINT64_C(8) >= of * UINT64_C(7);
}

// name_gap reports switches that the names of the others leave out, while those on the
// other side of their cables have their ports free: between two, or before the first,
// where the numbers of those on the other side begin with `first`.
static int name_gap(
	struct odd_search *search, const struct odd_side *side, uint32_t first)
{
	uint32_t n_missing = 0, n_first = 0, after = 0, n_alike = 0;
	struct tb_name_numbers at = {0};
	for (uint32_t k = 0; k + 1 < side->n; k++) {
		if (!tb_fabric_name_numbers(odd_switch_name(search, side->of[k]),
			    odd_switch_name(search, side->of[k + 1]), &at))
			return TB_OK;
		if (k == 0 && first < at.one)
			n_first = (uint32_t)at.one - first;
		if (n_missing == 0)
			after = k;
		n_missing += (uint32_t)(at.other - at.one) - 1;
	}
	bool is_before = n_missing == 0;
	uint32_t n = is_before ? n_first : n_missing, n_ports = n * side->n_cables;
	if (n == 0 || n > UINT16_MAX)
		return TB_OK;
	if (count_free(search, side, n_ports, is_before, &n_alike) != TB_OK)
		return TB_ENOMEM;
	if (!nearly_all(n_alike, side->n_from))
		return TB_OK;
	return add_oddity(
		search, (struct tb_oddity){.kind = TB_ODDITY_NO_SWITCH,
				.sw = {side->of[is_before ? 0 : after]},
				.other = {is_before ? TB_ID_NONE : side->of[after + 1]},
				.n = n,
				.usual = n_ports,
				.group = side->kind == TB_LINK_DOWN});
}

// lacks_up returns how many switches more, each with the usual cables, would give one
// below as much capacity up as down; 0: none or no whole number.
static uint32_t lacks_up(
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
	return of_one && down > up && (down - up) % of_one == 0
		       ? (uint32_t)((down - up) / of_one)
		       : 0;
}

// is_numbered_apart returns whether the name of one switch has a number, and other
// letters than that of another: those of its kind are numbered for themselves.
static bool is_numbered_apart(const struct tb_network *net, uint32_t one, uint32_t other)
{
	static const char digits[] = "0123456789";
	const char *a = tb_network_switch_identity(net, (struct tb_switch){one}).name;
	const char *b = tb_network_switch_identity(net, (struct tb_switch){other}).name;
	bool has_number = a[strcspn(a, digits)] != '\0';
	while (*(a += strspn(a, digits)) == *(b += strspn(b, digits)) && *a) {
		a++;
		b++;
	}
	return has_number && *a != *b;
}

// name_taper reports a taper that a few switches more would make up for: by what the
// fabric holds it is as likely that they are gone.
static int name_taper(struct odd_search *search, const struct odd_side *side,
	uint32_t first, uint32_t most)
{
	struct tb_name_numbers at = {0};
	uint32_t n_alike = 0, last = side->n - 1;
	for (uint32_t i = 0; i < side->n_from; i++)
		search->scratch[i] = lacks_up(search, side->from[i], side);
	uint32_t n = usual(search->scratch, side->n_from);
	for (uint32_t i = 0; i < side->n_from; i++)
		n_alike += search->scratch[i] == n;
	if (n == 0 || n == UNKNOWN || !nearly_all(n_alike, side->n_from) ||
		!is_numbered_apart(search->net, side->of[0], side->from[0]) ||
		(n > 1 && n * FEW_OF > side->n))
		return TB_OK;
	bool numbered =
		last > 0 && tb_fabric_name_numbers(odd_switch_name(search, side->of[0]),
				    odd_switch_name(search, side->of[last]), &at);
	bool is_before = numbered && at.one == (uint64_t)first + n;
	return add_oddity(search,
		(struct tb_oddity){.kind = TB_ODDITY_TAPER,
			.sw = {side->of[is_before ? 0 : last]},
			.other = {numbered ? side->of[is_before ? last : 0] : TB_ID_NONE},
			.n = n,
			.usual = side->n_cables,
			.group = search->n_up[side->from[0]] < most});
}

// name_missing_switches reports switches that are gone, or may be.
static int name_missing_switches(
	struct odd_search *search, const struct odd_group *group, uint32_t most)
{
	uint32_t n_before = search->fabric->n_of_kind[TB_ODDITY_NO_SWITCH];
	struct tb_name_numbers at = {0};
	if (group->usual[0] == 0 || group->usual[0] == UNKNOWN)
		return TB_OK;
	for (uint32_t k = 0; k < group->n_uppers; k++)
		if (group->usual[k] != group->usual[0])
			return TB_OK;
	qsort(group->uppers, group->n_uppers, sizeof *group->uppers, tb_order_u32);
	struct odd_side above = {group->uppers, group->lowers, group->n_uppers,
		group->n_lowers, TB_LINK_UP, group->usual[0]};
	struct odd_side below = {group->lowers, group->uppers, group->n_lowers,
		group->n_uppers, TB_LINK_DOWN, group->usual[0]};
	bool numbered = group->n_lowers > 1 &&
			tb_fabric_name_numbers(odd_switch_name(search, group->lowers[0]),
				odd_switch_name(search, group->lowers[1]), &at);
	uint32_t first = numbered && at.one < UNKNOWN ? (uint32_t)at.one : UNKNOWN;
	int status = TB_OK;
	if (group->n_lowers > 2 && group->n_uppers > 1)
		status = name_gap(search, &above, first);
	if (status == TB_OK && group->n_lowers > 2 && group->n_uppers > 1)
		status = name_gap(search, &below, UNKNOWN);
	if (status == TB_OK && group->n_lowers > 1 &&
		search->fabric->n_of_kind[TB_ODDITY_NO_SWITCH] == n_before)
		status = name_taper(search, &above, first, most);
	return status;
}

// count_group counts the cables of each pair of switches of a group, where these are not
// too many: then `pairs` is true.
static int count_group(struct odd_search *search, struct odd_group *group, bool *pairs)
{
	int status = find_uppers(search, group);
	size_t n_pairs = (size_t)group->n_lowers * group->n_uppers;
	*pairs = status == TB_OK && n_pairs <= PAIRS_MOST;
	if (!*pairs)
		return status;
	group->cables = calloc(n_pairs + 1, sizeof *group->cables);
	group->usual = calloc((size_t)group->n_uppers + 1, sizeof *group->usual);
	group->is_crossed = calloc(group->n_lowers, sizeof *group->is_crossed);
	if (!group->cables || !group->usual || !group->is_crossed)
		return TB_ENOMEM;
	count_pairs(search, group);
	return TB_OK;
}

// look_at_group reports the switches of a group that have fewer cables up than `most`,
// lead to fewer switches, or to others.
static int look_at_group(struct odd_search *search, struct odd_group *group,
	struct member *members, uint32_t most)
{
	(void)members;
	bool pairs = false;
	int status = count_group(search, group, &pairs);
	if (status == TB_OK && pairs)
		status = name_crossed(search, group, most);
	if (status == TB_OK)
		status = name_uneven(search, group, most);
	for (uint32_t i = 0; i < group->n_lowers && status == TB_OK; i++) {
		uint32_t sw = group->lowers[i], n = search->n_up[sw];
		if (n >= most)
			continue;
		search->fabric->n_missing += most - n;
		status = add_oddity(search, (struct tb_oddity){.kind = TB_ODDITY_FEWER_UP,
						    .sw = {sw},
						    .n = n,
						    .usual = most});
		if (status == TB_OK && pairs)
			status = name_missing(search, group, i);
	}
	if (status == TB_OK && pairs)
		status = name_missing_switches(search, group, most);
	return status;
}

#define LOOKS_MOST (UINT64_C(1) << 28) // at pairs of switches and what is above both

// split_group leaves together the switches of a group, the `n` from `members` on, that
// lead mostly to the same ones above: a cable that strays joins no two groups.
static int split_group(struct odd_search *search, struct odd_group *group,
	struct member *members, uint32_t most)
{
	(void)most;
	bool pairs = false;
	int status = count_group(search, group, &pairs);
	uint32_t n = group->n_lowers;
	if (status != TB_OK || !pairs || (uint64_t)n * n * group->n_uppers > LOOKS_MOST)
		return status;
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
		members[i].set = tb_fabric_root(search->parent, group->lowers[i]);
	return TB_OK;
}

// each_group hands the groups of a level to a look at them.
static int each_group(struct odd_search *search, struct member *members, uint32_t n,
	uint32_t *lowers, uint32_t most,
	int (*look)(struct odd_search *, struct odd_group *, struct member *, uint32_t))
{
	int status = TB_OK;
	qsort(members, n, sizeof *members, order_members);
	for (uint32_t i = 0; i < n; i++)
		lowers[i] = members[i].sw;
	for (uint32_t i = 0, end; i < n && status == TB_OK; i = end) {
		for (end = i; end < n && members[end].set == members[i].set; end++)
			continue;
		struct odd_group group = {.lowers = lowers + i, .n_lowers = end - i};
		status = look(search, &group, members + i, most);
		for (uint32_t k = 0; k < group.n_uppers; k++)
			search->place[group.uppers[k]] = UNKNOWN;
		free(group.uppers);
		free(group.cables);
		free(group.usual);
		free(group.is_crossed);
	}
	return status;
}

static int look_at_level(struct odd_search *search, uint32_t level,
	struct member *members, uint32_t *lowers)
{
	uint32_t n = 0;
	// Put the switches of a level and those they lead up to into sets.
	for (uint32_t sw = 0; sw < tb_network_n_switches(search->net); sw++)
		search->parent[sw] = sw;
	for (uint32_t link = 0; link < tb_network_n_links(search->net); link++) {
		struct tb_link_info at = link_at(search, link);
		if (at.kind == TB_LINK_UP && switch_at(search, at.from).level == level)
			tb_fabric_join(search->parent, at.from, at.to);
	}
	for (uint32_t sw = 0; sw < tb_network_n_switches(search->net); sw++)
		if (switch_at(search, sw).level == level) {
			search->scratch[n] = search->n_up[sw];
			members[n++] =
				(struct member){tb_fabric_root(search->parent, sw), sw};
		}
	uint32_t most = usual(search->scratch, n);
	if (most == UNKNOWN || most == 0)
		return TB_OK;
	int status = each_group(search, members, n, lowers, most, split_group);
	return status == TB_OK
		       ? each_group(search, members, n, lowers, most, look_at_group)
		       : status;
}

// fewer_down reports the switches of a level with fewer switches below, unless the cables
// they lack have been named from below.
static int fewer_down(struct odd_search *search, uint32_t level)
{
	uint32_t n = 0, n_switches = tb_network_n_switches(search->net);
	for (uint32_t sw = 0; sw < n_switches; sw++)
		if (switch_at(search, sw).level == level)
			search->scratch[n++] = search->n_below[sw];
	uint32_t most = usual(search->scratch, n);
	for (uint32_t sw = 0; sw < n_switches && most != UNKNOWN; sw++)
		if (switch_at(search, sw).level == level && !search->named[sw] &&
			search->n_below[sw] < most &&
			add_oddity(
				search, (struct tb_oddity){.kind = TB_ODDITY_FEWER_DOWN,
						.sw = {sw},
						.n = search->n_below[sw],
						.usual = most}) != TB_OK)
			return TB_ENOMEM;
	return TB_OK;
}

// odd_node_of returns a node with its name.
static struct odd_node odd_node_of(const struct odd_search *search, uint32_t link)
{
	struct tb_link_info at = link_at(search, link);
	struct tb_identity own =
		tb_network_node_identity(search->net, (struct tb_node){at.from});
	struct odd_node made = {
		.bytes_per_s = at.bytes_per_s, .node = at.from, .sw = at.to};
	if (*tb_names_adapter(&own))
		made.name = tb_fabric_family(&own);
	return made;
}

TB_ORDER_BY(by_name_and_rate, struct odd_node, TB_UP(name) TB_UP(bytes_per_s) TB_UP(node))

TB_ORDER_BY(by_switch_and_name, struct odd_node,
	TB_UP(sw) TB_UP(name) TB_UP(bytes_per_s) TB_UP(node))

// find_usual_rates finds the rate that half or more of the nodes of a name have, where
// there are several.
static void find_usual_rates(struct odd_search *search, uint32_t n)
{
	qsort(search->nodes, n, sizeof *search->nodes, by_name_and_rate);
	for (uint32_t i = 0, end; i < n; i = end) {
		uint64_t best = 0;
		uint32_t n_best = 0, n_of_name = 0;
		while (i + n_of_name < n &&
			search->nodes[i + n_of_name].name == search->nodes[i].name)
			n_of_name++;
		end = i + n_of_name;
		for (uint32_t k = i, next; k < end; k = next) {
			for (next = k;
				next < end && search->nodes[next].bytes_per_s ==
						      search->nodes[k].bytes_per_s;)
				next++;
			if (next - k >= n_best && 2 * (uint64_t)(next - k) >= n_of_name) {
				n_best = next - k;
				best = search->nodes[k].bytes_per_s;
			}
		}
		bool is_name = search->nodes[i].name != 0 && n_of_name > 1;
		for (uint32_t k = i; k < end; k++)
			search->usual_of[search->nodes[k].node] = is_name ? best : 0;
	}
}

TB_ORDER_BY(by_node, struct odd_node, TB_UP(node))

// find_leaders finds of each switch a node of the name that most of its nodes have, of
// several the first.
static void find_leaders(struct odd_search *search, uint32_t n)
{
	uint32_t most = 0, last = UNKNOWN;
	qsort(search->nodes, n, sizeof *search->nodes, by_switch_and_name);
	for (uint32_t i = 0, end; i < n; i = end) {
		const struct odd_node *at = &search->nodes[i];
		for (end = i; end < n && search->nodes[end].sw == at->sw &&
			      search->nodes[end].name == at->name;)
			end++;
		if (at->sw != last)
			most = 0;
		last = at->sw;
		if (end - i > most) {
			most = end - i;
			search->leader_of[at->sw] = at->node;
		}
	}
	qsort(search->nodes, n, sizeof *search->nodes, by_node);
}

static int by_hash(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;
	return *a < *b ? -1 : *a > *b;
}

// look_at_rails reports nodes on switches of other rails, in a fabric whose rails have
// leaf switches of their own: nine in ten of the nodes whose name leads a switch are on
// one that it leads, and there are two such names or more.
static int look_at_rails(struct odd_search *search, uint32_t n)
{
	uint32_t n_switches = tb_network_n_switches(search->net), n_leading = 0;
	uint64_t *leading = malloc((n_switches + 1u) * sizeof *leading);
	uint64_t n_led = 0, n_at_home = 0;
	if (!leading)
		return TB_ENOMEM;
	find_leaders(search, n);
	for (uint32_t sw = 0; sw < n_switches; sw++)
		if (search->leader_of[sw] != UNKNOWN &&
			search->nodes[search->leader_of[sw]].name != 0)
			leading[n_leading++] = search->nodes[search->leader_of[sw]].name;
	qsort(leading, n_leading, sizeof *leading, by_hash);
	bool are_several = n_leading > 0 && leading[0] != leading[n_leading - 1];
	int status = TB_OK;
	// First they are counted, then reported.
	for (int reports = 0; reports < 2 && status == TB_OK && are_several; reports++) {
		search->fabric->is_rail_optimized = n_at_home * 10 >= n_led * 9;
		if (reports && !search->fabric->is_rail_optimized)
			break;
		for (uint32_t i = 0; i < n && status == TB_OK; i++) {
			const struct odd_node *at = &search->nodes[i];
			const struct odd_node *leader =
				&search->nodes[search->leader_of[at->sw]];
			if (!bsearch(&at->name, leading, n_leading, sizeof *leading,
				    by_hash))
				continue;
			n_led++;
			n_at_home += leader->name == at->name;
			if (reports && leader->name != at->name)
				status = add_oddity(search,
					(struct tb_oddity){.kind = TB_ODDITY_OFF_RAIL,
						.link = search->injection[at->node],
						.n = leader->node});
		}
	}
	free(leading);
	return status;
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

static int look_at_link(struct odd_search *search, uint32_t link,
	const struct tb_link_info *at, bool slower)
{
	bool enters = at->kind == TB_LINK_INJECTION;
	uint32_t upper = switch_at(search, at->to).level;
	uint32_t lower = enters ? 0 : switch_at(search, at->from).level;
	if (!slower && (enters || upper == lower + 1))
		return TB_OK;
	if (!slower)
		return add_oddity(search,
			(struct tb_oddity){.kind = upper == lower ? TB_ODDITY_ASIDE
								  : TB_ODDITY_SKIPS,
				.link = {link}});
	uint64_t speed = enters ? search->usual_of[at->from] : 0;
	if (speed == 0)
		speed = usual_speed(search->fabric,
			(struct tb_fabric_cables){
				.to_nodes = enters, .lower = lower, .upper = upper});
	if (at->bytes_per_s >= speed)
		return TB_OK;
	return add_oddity(search, (struct tb_oddity){.kind = TB_ODDITY_SLOWER,
					  .link = {link},
					  .n = at->bytes_per_s,
					  .usual = speed});
}

// look_at_links reports slower cables, or those that do not lead one level up.
static int look_at_links(struct odd_search *search, bool slower)
{
	for (uint32_t link = 0; link < tb_network_n_links(search->net); link++) {
		struct tb_link_info at = link_at(search, link);
		if ((at.kind == TB_LINK_UP || at.kind == TB_LINK_INJECTION) &&
			look_at_link(search, link, &at, slower) != TB_OK)
			return TB_ENOMEM;
	}
	return TB_OK;
}

// slow_kind returns what kind of cable a slower one is.
static struct tb_slow_cables slow_kind(
	const struct odd_search *search, const struct tb_oddity *odd)
{
	struct tb_link_info at = tb_network_link(search->net, odd->link);
	bool enters = at.kind == TB_LINK_INJECTION;
	return (struct tb_slow_cables){.to_nodes = enters,
		.lower = enters ? 0 : switch_at(search, at.from).level,
		.upper = switch_at(search, at.to).level,
		.bytes_per_s = odd->n,
		.usual_bytes_per_s = odd->usual,
		.first = odd->link};
}

// order_slow puts what lacks most first.
static int order_slow(const void *left, const void *right)
{
	const struct tb_slow_cables *a = left, *b = right;
	uint64_t lack_a = a->usual_bytes_per_s - a->bytes_per_s;
	uint64_t lack_b = b->usual_bytes_per_s - b->bytes_per_s;
	if (lack_a != lack_b)
		return lack_a > lack_b ? -1 : 1;
	if (a->bytes_per_s != b->bytes_per_s)
		return a->bytes_per_s < b->bytes_per_s ? -1 : 1;
	if (a->to_nodes != b->to_nodes)
		return a->to_nodes ? -1 : 1;
	if (a->lower != b->lower)
		return a->lower < b->lower ? -1 : 1;
	return a->upper < b->upper ? -1 : a->upper > b->upper;
}

// group_slow puts slower cables among their like, of which there are few kinds.
static int group_slow(struct odd_search *search)
{
	struct tb_fabric *fabric = search->fabric;
	size_t room = 0;
	uint32_t n = 0;
	for (uint32_t i = 0; i < fabric->n_oddities; i++) {
		if (fabric->oddities[i].kind != TB_ODDITY_SLOWER)
			continue;
		struct tb_slow_cables kind = slow_kind(search, &fabric->oddities[i]);
		uint32_t at = 0;
		while (at < fabric->n_slow && order_slow(&fabric->slow[at], &kind) != 0)
			at++;
		if (at < fabric->n_slow)
			continue;
		if (TB_ARRAY_RESERVE(&fabric->slow, &room, (size_t)fabric->n_slow + 1) !=
			TB_OK)
			return TB_ENOMEM;
		fabric->slow[fabric->n_slow++] = kind;
	}
	if (fabric->n_slow == 0)
		return TB_OK;
	qsort(fabric->slow, fabric->n_slow, sizeof *fabric->slow, order_slow);
	struct member *ends =
		malloc(2 * (size_t)fabric->n_of_kind[TB_ODDITY_SLOWER] * sizeof *ends);
	if (!ends)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < fabric->n_oddities; i++) {
		struct tb_oddity *odd = &fabric->oddities[i];
		if (odd->kind != TB_ODDITY_SLOWER)
			continue;
		struct tb_slow_cables kind = slow_kind(search, odd);
		struct tb_link_info at = tb_network_link(search->net, odd->link);
		while (order_slow(&fabric->slow[odd->group], &kind) != 0)
			odd->group++;
		fabric->slow[odd->group].n++;
		ends[n++] = (struct member){odd->group, at.to};
		if (!kind.to_nodes)
			ends[n++] = (struct member){odd->group, at.from};
	}
	qsort(ends, n, sizeof *ends, order_members);
	for (uint32_t i = 0, end; i < n; i = end) {
		struct tb_slow_cables *slow = &fabric->slow[ends[i].set];
		for (end = i; end < n && order_members(&ends[i], &ends[end]) == 0;)
			end++;
		if (end - i > slow->n_on) {
			slow->n_on = end - i;
			slow->on.id = ends[i].sw;
		}
	}
	free(ends);
	return TB_OK;
}

// odd_nodes reports switches above the leaves that have nodes, or leaves that have none.
static int odd_nodes(struct odd_search *search, bool above)
{
	uint32_t n_switches = tb_network_n_switches(search->net);
	memset(search->scratch, 0, n_switches * sizeof *search->scratch);
	for (uint32_t link = 0; link < tb_network_n_links(search->net); link++) {
		struct tb_link_info at = link_at(search, link);
		if (at.kind == TB_LINK_INJECTION)
			search->scratch[at.to]++;
	}
	for (uint32_t sw = 0; sw < n_switches; sw++)
		if ((search->scratch[sw] > 0) == (switch_at(search, sw).level > 0) &&
			(search->scratch[sw] > 0) == above &&
			add_oddity(search,
				(struct tb_oddity){.kind = above ? TB_ODDITY_HIGH_NODE
								 : TB_ODDITY_EMPTY,
					.sw = {sw},
					.n = search->scratch[sw]}) != TB_OK)
			return TB_ENOMEM;
	return TB_OK;
}

// A host, by its name without digits and its cables.
struct odd_host {
	uint64_t family;
	uint32_t n, node; // its nodes, and the first
};

TB_ORDER_BY(by_family_and_number, struct odd_host, TB_UP(family) TB_UP(n) TB_UP(node))

// list_hosts lists the hosts, whose nodes are side by side, and returns how many.
static uint32_t list_hosts(const struct tb_network *net, struct odd_host *hosts)
{
	uint32_t n = 0;
	struct tb_identity last = {.name = ""};
	for (uint32_t node = 0; node < tb_network_n_hosts(net); node++) {
		struct tb_identity own =
			tb_network_node_identity(net, (struct tb_node){node});
		bool is_new = n == 0 || own.n_host_bytes == 0 ||
			      own.n_host_bytes != last.n_host_bytes ||
			      memcmp(own.name, last.name, own.n_host_bytes) != 0;
		if (is_new)
			hosts[n++] = (struct odd_host){
				.family = tb_fabric_host_family(&own), .node = node};
		hosts[n - 1].n++;
		last = own;
	}
	return n;
}

// look_at_hosts reports hosts with more cables or fewer than nearly all of their name.
static int look_at_hosts(struct odd_search *search)
{
	struct odd_host *hosts =
		malloc((tb_network_n_hosts(search->net) + 1u) * sizeof *hosts);
	uint32_t n = hosts ? list_hosts(search->net, hosts) : 0;
	int status = hosts ? TB_OK : TB_ENOMEM;
	qsort(hosts, n, sizeof *hosts, by_family_and_number);
	for (uint32_t i = 0, end; i < n && status == TB_OK; i = end) {
		uint32_t most = i, n_most = 0, next;
		for (end = i; end < n && hosts[end].family == hosts[i].family;
			end = next) {
			for (next = end; next < n &&
					 hosts[next].family == hosts[i].family &&
					 hosts[next].n == hosts[end].n;)
				next++;
			if (next - end > n_most) {
				n_most = next - end;
				most = end;
			}
		}
		bool means = nearly_all(n_most, end - i);
		for (uint32_t k = i; k < end && means && status == TB_OK; k++)
			if (hosts[k].n != hosts[most].n)
				status = add_oddity(search,
					(struct tb_oddity){.kind = TB_ODDITY_HOST_CABLES,
						.link = search->injection[hosts[k].node],
						.n = hosts[k].n,
						.usual = hosts[most].n});
	}
	free(hosts);
	return status;
}

static int doubtful_levels(struct odd_search *search)
{
	for (uint32_t sw = 0; sw < tb_network_n_switches(search->net); sw++)
		if (tb_network_switch_identity(search->net, (struct tb_switch){sw})
				.is_doubtful &&
			add_oddity(search, (struct tb_oddity){.kind = TB_ODDITY_DOUBTFUL,
						   .sw = {sw},
						   .n = switch_at(search, sw).level}) !=
				TB_OK)
			return TB_ENOMEM;
	return TB_OK;
}

// drop_same drops what names a switch as missing a second time, as seen from the level
// above or as a taper. There are few.
static void drop_same(struct tb_fabric *fabric)
{
	char name[TB_NAME_SIZE + 16], other[TB_NAME_SIZE + 16];
	uint32_t kept = 0;
	for (uint32_t i = 0; i < fabric->n_oddities; i++) {
		const struct tb_oddity at = fabric->oddities[i];
		bool is_same = false;
		bool may_be =
			at.kind == TB_ODDITY_NO_SWITCH || at.kind == TB_ODDITY_TAPER;
		if (may_be)
			tb_fabric_missing_name(fabric->network, &at, name, sizeof name);
		for (uint32_t k = 0; may_be && *name && k < fabric->n_oddities; k++)
			is_same |= fabric->oddities[k].kind == TB_ODDITY_NO_SWITCH &&
				   (k < kept || (k > i && at.kind == TB_ODDITY_TAPER)) &&
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

static int find_oddities(
	struct odd_search *search, struct member *members, uint32_t *lowers)
{
	int status = TB_OK;
	uint32_t n_levels = search->fabric->n_levels, n_nodes = 0;
	for (uint32_t link = 0; link < tb_network_n_links(search->net); link++) {
		struct tb_link_info at = link_at(search, link);
		if (at.kind == TB_LINK_INJECTION) {
			search->injection[at.from] = (struct tb_link){link};
			search->nodes[n_nodes++] = odd_node_of(search, link);
		}
		if (at.kind == TB_LINK_UP) {
			search->n_up[at.from]++;
			search->n_below[at.to]++;
		}
	}
	// The set of a switch above is the last below that was seen to lead there.
	memset(search->parent, 0xff,
		tb_network_n_switches(search->net) * sizeof *search->parent);
	for (uint32_t sw = 0; sw < tb_network_n_switches(search->net); sw++)
		for (uint32_t port = search->ports->first[sw];
			port < search->ports->first[sw + 1]; port++) {
			struct tb_link_info at = at_port(search, port);
			if (at.kind != TB_LINK_UP || search->parent[at.to] == sw)
				continue;
			search->parent[at.to] = sw;
			search->n_above[sw]++;
		}
	for (uint32_t level = 0; level + 1 < n_levels && status == TB_OK; level++)
		status = look_at_level(search, level, members, lowers);
	for (uint32_t level = 1; level < n_levels && status == TB_OK; level++)
		status = fewer_down(search, level);
	drop_same(search->fabric);
	find_usual_rates(search, n_nodes);
	if (status == TB_OK)
		status = look_at_links(search, true);
	if (status == TB_OK)
		status = group_slow(search);
	if (status == TB_OK)
		status = odd_nodes(search, false);
	if (status == TB_OK)
		status = odd_nodes(search, true);
	if (status == TB_OK)
		status = look_at_links(search, false);
	if (status == TB_OK)
		status = look_at_rails(search, n_nodes);
	if (status == TB_OK)
		status = tb_fabric_look_at_order(search->fabric);
	if (status == TB_OK)
		status = look_at_hosts(search);
	return status == TB_OK ? doubtful_levels(search) : status;
}

int tb_fabric_find_oddities(struct tb_fabric *fabric, const struct tb_fabric_ports *ports)
{
	uint32_t n = tb_network_n_switches(fabric->network);
	uint32_t n_nodes = tb_network_n_nodes(fabric->network);
	uint32_t *words = calloc(8 * (size_t)n + 1, sizeof *words);
	struct odd_search search = {.fabric = fabric,
		.net = fabric->network,
		.ports = ports,
		.n_up = words,
		.n_below = words + n,
		.n_above = words + 2 * (size_t)n,
		.parent = words + 3 * (size_t)n,
		.scratch = words + 4 * (size_t)n,
		.place = words + 5 * (size_t)n,
		.leader_of = words + 6 * (size_t)n,
		.named = calloc(n, sizeof *search.named),
		.nodes = malloc(n_nodes * sizeof *search.nodes),
		.usual_of = calloc(n_nodes, sizeof *search.usual_of),
		.injection = malloc(n_nodes * sizeof *search.injection)};
	struct member *members = malloc(n * sizeof *members);
	int status = TB_ENOMEM;
	if (words && search.named && search.nodes && search.usual_of &&
		search.injection && members) {
		memset(search.leader_of, 0xff, n * sizeof *search.leader_of);
		memset(search.place, 0xff, n * sizeof *search.place);
		status = find_oddities(&search, members, words + 7 * (size_t)n);
	}
	free(words);
	free(search.named);
	free(search.nodes);
	free(search.usual_of);
	free(search.injection);
	free(members);
	return status;
}
