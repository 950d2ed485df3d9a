// The inside of a fabric's description: the cables of each switch. Private to
// analyze/fabric.
#ifndef TB_FABRIC_IMPL_H
#define TB_FABRIC_IMPL_H

#include "fabric.h"
#include "hash.h"

// What lies at the ports of all switches.
struct tb_fabric_ports {
	uint32_t *first; // n_switches + 1
	uint32_t *links; // by port from first[switch]; TB_ID_NONE: no cable
};

// These fill in their parts: tb_fabric_look_at_order hosts out of order. TB_ENOMEM; those
// that return nothing set lacks_memory instead, and their caller looks at the end.
int tb_fabric_find_oddities(
	struct tb_fabric *fabric, const struct tb_fabric_ports *ports) TB_MUST_USE;
void tb_fabric_look_at_order(struct tb_fabric *fabric);
int tb_fabric_bisect(struct tb_fabric *fabric) TB_MUST_USE;
void tb_fabric_add_oddity(struct tb_fabric *fabric, struct tb_oddity oddity);

// tb_fabric_usual sorts the values and returns the one that half of them or more have, of
// two the greater, and how many do; TB_FABRIC_MIXED and 0 when there is none.
#define TB_FABRIC_MIXED UINT64_MAX
uint64_t tb_fabric_usual(uint64_t *values, uint32_t n, uint32_t *n_alike);

// tb_fabric_cables_of returns the kind of cable of a link upwards or of a node's.
struct tb_fabric_cables tb_fabric_cables_of(
	const struct tb_network *net, const struct tb_link_info *at);

// tb_fabric_next_host returns the node behind those of a host, which are side by side.
uint32_t tb_fabric_next_host(const struct tb_network *net, uint32_t node);

// The numbers that alone tell two names apart, as of "spine2" and "spine4"; that of the
// first has `n` digits from byte `begins`.
struct tb_name_numbers {
	uint64_t one, other;
	size_t begins, n;
};
bool tb_fabric_name_numbers(
	const char *one, const char *other, struct tb_name_numbers *numbers);

// tb_fabric_missing_name writes the name, as the numbers of others have it, that a
// NO_SWITCH or TAPER misses first; "" where these do not tell.
char *tb_fabric_missing_name(const struct tb_network *net, const struct tb_oddity *odd,
	char *buffer, size_t size);

// tb_fabric_family is a hash of what a node is called: its name on its host, with its
// host's without digits; tb_fabric_host_family is that of the latter alone.
uint64_t tb_fabric_family(const struct tb_identity *own);
uint64_t tb_fabric_host_family(const struct tb_identity *own);

// Sets that grow together: the root of each member, found with halving of paths.
static inline uint32_t tb_fabric_root(uint32_t *parent, uint32_t member)
{
	while (parent[member] != member) {
		parent[member] = parent[parent[member]];
		member = parent[member];
	}
	return member;
}

// tb_fabric_join makes one set of two; its root is the lesser of both.
static inline void tb_fabric_join(uint32_t *parent, uint32_t one, uint32_t other)
{
	one = tb_fabric_root(parent, one);
	other = tb_fabric_root(parent, other);
	if (one < other)
		parent[other] = one;
	else
		parent[one] = other;
}

#endif
