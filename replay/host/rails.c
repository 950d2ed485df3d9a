// Over which rails messages go: rule H6 of docs/model.md. Of it, `static`:
//
// Of the C sets of floor(R / 2) rails, in lexicographic order, a node sends on number
// (node mod C), and receives on the others. A message from node s to node d takes, of
// the n rails on which s sends and d receives, in their order, number
// (floor(s / C) + d) mod n; if both send on the same, of those on which s sends (with
// one rail, that one).
//
// And `reserve`:
//
// The sender sends a request, over the rails in turn. The receiving node keeps requests
// in the order of arrival. It sets each free NIC, from rail 0, aside for its first
// request for which none is set aside and whose sender's NIC of this rail is not known
// to be taken, and offers it over that rail. The sender accepts if its NIC of that rail
// is free, or is only set aside for a request that was made later: the data follow at
// once on this rail. Otherwise it refuses, and sends a release over that rail, before
// it offers anything, when its NIC becomes free. A NIC is taken until its piece is
// acknowledged (at the sender) or delivered. If a request or an offer is given up (rule
// 27), so is the piece; a refusal or release that is given up counts as arrived. A
// message to the node itself takes its rails in turn.
#include "host_impl.h"

#include <stdlib.h>

// rail_choose returns n over k, at most SETS_MOST, which exceeds the number of nodes.
#define SETS_MOST (UINT64_C(1) << 32)

static uint64_t rail_choose(uint32_t n, uint32_t k)
{
	uint64_t ways = 1;
	for (uint32_t i = 1; i <= k && ways < SETS_MOST; i++) // whole after each step
		ways = ways * (n - k + i) / i;
	return ways < SETS_MOST ? ways : SETS_MOST;
}

// subset returns the `rank`th subset of k of n rails in lexicographic order, as bits.
static uint64_t subset(uint32_t n, uint32_t k, uint64_t rank)
{
	uint64_t set = 0;
	for (uint32_t rail = 0; k > 0; rail++) {
		uint64_t with = rail_choose(n - rail - 1, k - 1);
		if (rank < with) {
			set |= UINT64_C(1) << rail;
			k--;
		} else {
			rank -= with;
		}
	}
	return set;
}

// give_directions gives every node the rails on which it sends: half of all, and another
// half than its neighbours, as no half then contains another one and each node has for
// each other one a rail on which it sends and that one receives.
static bool give_directions(struct tb_host *host)
{
	uint32_t half = host->n_rails / 2;
	uint64_t n_sets = rail_choose(host->n_rails, half);
	host->sends_on = calloc(host->n_hosts, sizeof *host->sends_on);
	for (uint32_t i = 0; host->sends_on && i < host->n_hosts; i++)
		host->sends_on[i] = subset(host->n_rails, half, i % n_sets);
	return host->sends_on;
}

int tb_rails_init(struct tb_host *host)
{
	enum tb_rails_policy policy = host->params.rails_policy;
	size_t n_nics = (size_t)host->n_rails * host->n_hosts;
	host->refusals.size = sizeof(struct refusal);
	host->free_refusal = NOTHING;
	if (policy == TB_RAILS_STATIC)
		return give_directions(host) ? TB_OK : TB_ENOMEM;
	if (policy != TB_RAILS_LOCAL && policy != TB_RAILS_RESERVE)
		return TB_OK;
	host->nics = calloc(n_nics, sizeof *host->nics);
	host->requests = calloc(host->n_hosts, sizeof *host->requests);
	if (!host->nics || !host->requests)
		return TB_ENOMEM;
	for (size_t i = 0; i < n_nics; i++)
		host->nics[i].offered = host->nics[i].refused = NOTHING;
	for (uint32_t i = 0; i < host->n_hosts; i++)
		host->requests[i] = (struct host_requests){NOTHING, NOTHING};
	return TB_OK;
}

void tb_rails_fini(struct tb_host *host)
{
	free(host->nics);
	free(host->requests);
	free(host->sends_on);
	free(host->refusals.records);
	tb_map_fini(&host->known);
}

static uint32_t rail_in_turn(struct tb_host *host, struct host_process *process)
{
	uint32_t rail = process->next_rail;
	process->next_rail = (rail + 1) % host->n_rails;
	return rail;
}

// least_busy takes the NIC with the fewest bytes to be sent, of equals the first in turn.
static uint32_t least_busy(struct tb_host *host, struct host_process *process,
	const struct tb_message *message)
{
	uint32_t best = process->next_rail;
	for (uint32_t i = 1; i < host->n_rails; i++) {
		uint32_t rail = (process->next_rail + i) % host->n_rails;
		if (nic_at(host, message->source, rail)->bytes <
			nic_at(host, message->source, best)->bytes)
			best = rail;
	}
	process->next_rail = (best + 1) % host->n_rails;
	return best;
}

// rail_is_bound returns whether a message goes by the rails to which its ranks are bound.
static bool rail_is_bound(const struct tb_host *host, const struct tb_message *message)
{
	return host->params.rails_policy == TB_RAILS_BY_RANK && !message->via &&
	       !message->captured;
}

uint32_t tb_rails_each(const struct tb_host *host)
{
	uint32_t n_gpus = host->params.n_gpus;
	return n_gpus && host->n_rails > n_gpus ? host->n_rails / n_gpus : 1;
}

// rail_of_place returns the first rail of the rank at a place of its node.
static uint32_t rail_of_place(const struct tb_host *host, uint32_t place)
{
	return place * tb_rails_each(host) % host->n_rails;
}

uint32_t tb_rails_bound(const struct tb_host *host, const struct tb_message *message)
{
	if (!rail_is_bound(host, message))
		return 0;
	bool from_own = host->params.between_rails == TB_BETWEEN_SPINE;
	return rail_of_place(
		host, from_own ? message->source_place : message->destination_place);
}

void tb_rails_nics(const struct tb_host *host, struct tb_message *message, uint32_t rail)
{
	bool crosses = rail_is_bound(host, message) &&
		       host->params.between_rails == TB_BETWEEN_SPINE;
	uint32_t end = crosses ? (rail_of_place(host, message->destination_place) +
					 rail % tb_rails_each(host)) %
					 host->n_rails
			       : rail;
	message->source.id += rail * host->n_hosts;
	message->destination.id += end * host->n_hosts;
}

uint32_t tb_rails_choose(
	struct tb_host *host, uint32_t process, const struct tb_message *message)
{
	if (message->via)
		return (message->via - 1) % host->n_rails;
	switch (host->params.rails_policy) {
	case TB_RAILS_STATIC: {
		// Take a rail on which the source sends and the destination receives; of
		// nodes with the same directions, one on which the source sends.
		uint32_t source = message->source.id,
			 destination = message->destination.id;
		uint64_t both = host->sends_on[source] & ~host->sends_on[destination];
		uint64_t rails = both ? both : host->sends_on[source];
		if (rails == 0) // there is one rail
			return 0;
		uint64_t n_sets = rail_choose(host->n_rails, host->n_rails / 2);
		uint64_t number = (source / n_sets + destination) %
				  (uint64_t)__builtin_popcountll(rails);
		while (number--)
			rails &= rails - 1;
		return (uint32_t)__builtin_ctzll(rails);
	}
	case TB_RAILS_LOCAL:
		return least_busy(host, process_at(host, process), message);
	case TB_RAILS_BY_RANK:
		if (rail_is_bound(host, message)) {
			// A rank's pieces take its rails in turn.
			struct host_process *sender = process_at(host, process);
			uint32_t turn = sender->next_rail % tb_rails_each(host);
			sender->next_rail = turn + 1;
			return (tb_rails_bound(host, message) + turn) % host->n_rails;
		}
		break;
	case TB_RAILS_STRIPING:
	case TB_RAILS_ROUND_ROBIN:
	case TB_RAILS_RESERVE: // messages without payload
		break;
	}
	return rail_in_turn(host, process_at(host, process));
}

uint32_t tb_host_n_parts(
	const struct tb_host *host, const struct tb_message *message, uint64_t bytes)
{
	return message->via == 0 && host->params.rails_policy == TB_RAILS_STRIPING &&
			       bytes > host->params.stripe_above_bytes
		       ? host->n_rails
		       : 1;
}

void tb_rails_post(struct tb_host *host, uint32_t id, uint32_t rail)
{
	struct piece *piece = piece_at(host, id);
	struct tb_message message = transfer_at(host, piece->transfer)->what;
	message.bytes = piece->bytes;
	piece->rail = rail;
	piece->n_unsent = piece->n_undelivered = 1;
	if (host->nics)
		nic_at(host, message.source, rail)->bytes += piece->bytes;
	tb_host_post(host, TB_PART_DATA, id, &message, rail);
}

static void rail_split(struct tb_host *host, uint32_t id, uint32_t n)
{
	struct piece *piece = piece_at(host, id);
	struct tb_message message = transfer_at(host, piece->transfer)->what;
	piece->n_unsent = piece->n_undelivered = n;
	for (uint32_t rail = 0; rail < n; rail++) {
		message.bytes = piece->bytes / n + (rail < piece->bytes % n);
		tb_host_post(host, TB_PART_DATA, id, &message, rail);
	}
}

// must_relay returns whether a piece leaves through a rail that is not its sender's own
// but reached over a link.
static bool must_relay(const struct tb_host *host, uint32_t id)
{
	const struct piece *piece = piece_at(host, id);
	const struct tb_message *what = &transfer_at(host, piece->transfer)->what;
	return !piece->is_relayed && rail_is_bound(host, what) &&
	       host->params.local == TB_LOCAL_LINKS &&
	       tb_rails_bound(host, what) != rail_of_place(host, what->source_place);
}

void tb_rails_send(struct tb_host *host, uint32_t id)
{
	if (tb_channels_hold(host, id))
		return;
	if (must_relay(host, id)) {
		// Take a piece over the sender's link to the process that the NIC belongs
		// to. The NIC begins with the first slot while the others follow, faster
		// than it sends.
		struct piece *piece = piece_at(host, id);
		struct transfer *transfer = transfer_at(host, piece->transfer);
		struct host_process *sender = process_at(host, transfer->sender);
		uint64_t rate = host->params.local_bytes_per_s;
		tb_time_ps begins = sender->link_free_at;
		uint64_t slot = piece->bytes < TB_LINK_SLOT_BYTES ? piece->bytes
								  : TB_LINK_SLOT_BYTES;
		if (begins < host->now)
			begins = host->now;
		tb_time_ps takes =
			tb_host_copy_time(slot, rate) + host->params.local_latency_ps;
		sender->link_free_at = begins + tb_host_copy_time(piece->bytes, rate);
		piece->is_relayed = true;
		if (piece->is_first) {
			transfer->queue_ps += begins - host->now;
			transfer->software_ps += takes;
		}
		tb_host_set_timer(host, begins + takes, TB_HOST_RELAYED, id);
		return;
	}
	const struct piece *piece = piece_at(host, id);
	const struct transfer *transfer = transfer_at(host, piece->transfer);
	uint32_t n = tb_host_n_parts(host, &transfer->what, piece->bytes);
	if (n > 1)
		rail_split(host, id, n);
	else if (tb_reserve_is_needed(host, &transfer->what))
		tb_reserve_request(host, id);
	else
		tb_rails_post(host, id,
			tb_rails_choose(host, transfer->sender, &transfer->what));
}

void tb_rails_sent(struct tb_host *host, uint32_t id)
{
	if (!host->nics)
		return;
	const struct piece *piece = piece_at(host, id);
	const struct tb_message *what = &transfer_at(host, piece->transfer)->what;
	nic_at(host, what->source, piece->rail)->bytes -= piece->bytes;
	if (tb_reserve_is_needed(host, what))
		tb_reserve_end(host, what->source, piece->rail);
}

void tb_rails_delivered(struct tb_host *host, uint32_t id)
{
	const struct piece *piece = piece_at(host, id);
	const struct tb_message *what = &transfer_at(host, piece->transfer)->what;
	if (tb_reserve_is_needed(host, what))
		tb_reserve_end(host, what->destination, piece->rail);
}

// NICs reserved at both ends before data cross (rule H6, reserve): a request goes to the
// receiver, which sets a free NIC aside and offers it; the sender takes it if its own NIC
// of that rail is free, or refuses, and then reports when that NIC is.
//
// Two nodes may offer each other the same rail, and more nodes may do so in a circle. So
// a NIC that is set aside for a request still accepts an older one: of the requests in a
// circle the oldest gets through. The age of requests decides rather than the number of
// nodes, so that no node is always last.

bool tb_reserve_is_needed(const struct tb_host *host, const struct tb_message *message)
{
	return host->params.rails_policy == TB_RAILS_RESERVE &&
	       message->source.id != message->destination.id;
}

// what_of returns the message without payload between the two nodes of a piece.
static struct tb_message what_of(
	const struct tb_host *host, uint32_t piece, bool from_receiver)
{
	struct tb_message what = transfer_at(host, piece_at(host, piece)->transfer)->what;
	what.bytes = 0;
	if (from_receiver) {
		struct tb_node source = what.source;
		what.source = what.destination;
		what.destination = source;
	}
	return what;
}

// What a node knows of its senders' NICs: by how many the refusals from a sender exceed
// its releases. NONE_MORE stands for 0: a release can overtake the refusal before it, so
// the count can be negative.
#define NONE_MORE (UINT32_C(1) << 31)

static uint64_t known_key(
	const struct tb_host *host, uint32_t node, uint32_t sender, uint32_t rail)
{
	return ((uint64_t)rail * host->n_hosts + node) << 32 | sender;
}

static uint32_t n_refusals(
	const struct tb_host *host, uint32_t node, uint32_t sender, uint32_t rail)
{
	uint32_t n = NONE_MORE;
	(void)tb_map_find(&host->known, known_key(host, node, sender, rail), &n);
	return n;
}

static void reservation_learn(struct tb_host *host, uint32_t node, uint32_t sender,
	uint32_t rail, bool is_refusal)
{
	uint32_t n = n_refusals(host, node, sender, rail);
	if (tb_map_put(&host->known, known_key(host, node, sender, rail),
		    is_refusal ? n + 1 : n - 1) != TB_OK)
		host->no_memory = true;
}

static bool reservation_is_free(const struct nic *nic)
{
	return nic->n_carried == 0 && nic->offered == NOTHING;
}

// next_request returns the first request at a node that may get its NIC of this rail.
static uint32_t next_request(const struct tb_host *host, uint32_t node, uint32_t rail)
{
	uint32_t id = host->requests[node].first;
	for (; id != NOTHING; id = piece_at(host, id)->next) {
		const struct piece *piece = piece_at(host, id);
		const struct tb_message *what = &transfer_at(host, piece->transfer)->what;
		bool may = what->via == 0 || (what->via - 1) % host->n_rails == rail;
		if (may && !piece->is_offered_to &&
			n_refusals(host, node, what->source.id, rail) <= NONE_MORE)
			break;
	}
	return id;
}

// reservation_offer reserves the free NICs of a node for the requests that wait there.
static void reservation_offer(struct tb_host *host, struct tb_node node)
{
	for (uint32_t rail = 0; rail < host->n_rails; rail++) {
		struct nic *nic = nic_at(host, node, rail);
		uint32_t id = reservation_is_free(nic) ? next_request(host, node.id, rail)
						       : NOTHING;
		if (id == NOTHING)
			continue;
		nic->offered = id;
		piece_at(host, id)->is_offered_to = true;
		piece_at(host, id)->rail = rail;
		struct tb_message what = what_of(host, id, true);
		tb_host_post(host, TB_PART_OFFER, id, &what, rail);
	}
}

// reservation_look: something has ended at a NIC. If it is free now, its refusals are
// withdrawn and it is offered.
static void reservation_look(struct tb_host *host, struct tb_node node, uint32_t rail)
{
	struct nic *nic = nic_at(host, node, rail);
	if (!reservation_is_free(nic))
		return;
	for (uint32_t id = nic->refused; id != NOTHING;) {
		const struct refusal *refusal =
			(struct refusal *)(void *)host->refusals.records + id;
		struct tb_message what = refusal->what;
		uint32_t next = refusal->next;
		tb_host_post(host, TB_PART_RELEASE, id, &what, rail);
		id = next;
	}
	nic->refused = NOTHING;
	reservation_offer(host, node);
}

void tb_reserve_request(struct tb_host *host, uint32_t id)
{
	struct tb_message what = what_of(host, id, false);
	uint32_t sender = transfer_at(host, piece_at(host, id)->transfer)->sender;
	piece_at(host, id)->request = host->n_requests++;
	tb_host_post(
		host, TB_PART_REQUEST, id, &what, tb_rails_choose(host, sender, &what));
}

// drop_request removes a request from those that wait at a node.
static void drop_request(struct tb_host *host, struct tb_node node, uint32_t id)
{
	struct host_requests *requests = &host->requests[node.id];
	uint32_t before = NOTHING, *link = &requests->first;
	while (*link != id) {
		before = *link;
		link = &piece_at(host, before)->next;
	}
	*link = piece_at(host, id)->next;
	if (requests->last == id)
		requests->last = before;
}

static uint32_t new_refusal(struct tb_host *host)
{
	uint32_t id = host->free_refusal;
	if (id == NOTHING)
		return tb_host_add(host, &host->refusals);
	host->free_refusal =
		((struct refusal *)(void *)host->refusals.records + id)->next;
	return id;
}

void tb_reserve_arrived(struct tb_host *host, enum tb_host_part part, uint32_t id)
{
	if (part == TB_PART_REQUEST) {
		struct tb_node node = what_of(host, id, false).destination;
		struct host_requests *requests = &host->requests[node.id];
		piece_at(host, id)->next = NOTHING;
		if (requests->first == NOTHING)
			requests->first = id;
		else
			piece_at(host, requests->last)->next = id;
		requests->last = id;
		reservation_offer(host, node);
	} else if (part == TB_PART_OFFER) {
		const struct piece *piece = piece_at(host, id);
		const struct nic *own =
			nic_at(host, what_of(host, id, false).source, piece->rail);
		if (own->n_carried == 0 &&
			(own->offered == NOTHING ||
				piece_at(host, own->offered)->request > piece->request)) {
			struct tb_message what = what_of(host, id, false);
			uint32_t rail = piece_at(host, id)->rail;
			struct nic *receiver = nic_at(host, what.destination, rail);
			nic_at(host, what.source, rail)->n_carried++;
			receiver->n_carried++;
			receiver->offered = NOTHING;
			drop_request(host, what.destination, id);
			tb_rails_post(host, id, rail);
		} else {
			struct tb_message what = what_of(host, id, false);
			uint32_t rail = piece_at(host, id)->rail;
			uint32_t made = new_refusal(host);
			if (made != NOTHING) {
				struct refusal *refusals =
					(struct refusal *)(void *)host->refusals.records;
				uint32_t *link =
					&nic_at(host, what.source, rail)->refused;
				while (*link != NOTHING)
					link = &refusals[*link].next;
				*link = made;
				refusals[made] = (struct refusal){
					.what = what, .rail = rail, .next = NOTHING};
				tb_host_post(host, TB_PART_REFUSAL, id, &what, rail);
			}
		}
	} else if (part == TB_PART_REFUSAL) {
		struct tb_message what = what_of(host, id, false);
		uint32_t rail = piece_at(host, id)->rail;
		nic_at(host, what.destination, rail)->offered = NOTHING;
		piece_at(host, id)->is_offered_to = false;
		reservation_learn(host, what.destination.id, what.source.id, rail, true);
		reservation_look(host, what.destination, rail);
		reservation_offer(host,
			what.destination); // another NIC, that the refusal was in the way
					   // of
	} else {
		struct refusal *refusal =
			(struct refusal *)(void *)host->refusals.records + id;
		struct tb_message what = refusal->what;
		reservation_learn(
			host, what.destination.id, what.source.id, refusal->rail, false);
		refusal->next = host->free_refusal;
		host->free_refusal = id;
		reservation_offer(host, what.destination);
	}
}

// tb_reserve_lost: a piece cannot go without its request or its offer. A refusal or a
// release that is lost is taken to have arrived: if the sender's NIC has failed, the next
// offer or the data will show that.
bool tb_reserve_lost(struct tb_host *host, enum tb_host_part part, uint32_t id)
{
	if (part == TB_PART_OFFER) {
		struct tb_node node = what_of(host, id, false).destination;
		uint32_t rail = piece_at(host, id)->rail;
		nic_at(host, node, rail)->offered = NOTHING;
		drop_request(host, node, id);
		reservation_look(host, node, rail);
	} else if (part != TB_PART_REQUEST) {
		tb_reserve_arrived(host, part, id);
	}
	return part == TB_PART_REQUEST || part == TB_PART_OFFER;
}

void tb_reserve_end(struct tb_host *host, struct tb_node node, uint32_t rail)
{
	nic_at(host, node, rail)->n_carried--;
	reservation_look(host, node, rail);
}
