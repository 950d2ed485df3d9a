// NICs reserved at both ends before data cross (rule H6, reserve): a request goes to the
// receiver, which sets a free NIC aside and offers it; the sender takes it if its own NIC
// of that rail is free, or refuses, and then reports when that NIC is.
//
// Two nodes may offer each other the same rail, and more nodes may do so in a circle. So
// a NIC that is set aside for a request still accepts an older one: of the requests in a
// circle the oldest gets through. The age of requests decides rather than the number of
// nodes, so that no node is always last.
#include "host_impl.h"

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

// What a node knows of the NICs of those that send to it: by how many the refusals from a
// sender exceed its releases. NONE_MORE stands for 0: a release can overtake the refusal
// before it, so the count can be negative.
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

// next_request returns the first request at a node that can have its NIC of this rail.
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

// reservation_offer sets aside what NICs of a node are free, for the requests that wait
// there.
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

// reservation_look: something has ended at a NIC. If the NIC is free now, it takes its
// refusals back, and is offered.
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

static void requested(struct tb_host *host, uint32_t id)
{
	struct tb_node node = what_of(host, id, false).destination;
	struct host_requests *requests = &host->requests[node.id];
	piece_at(host, id)->next = NOTHING;
	if (requests->first == NOTHING)
		requests->first = id;
	else
		piece_at(host, requests->last)->next = id;
	requests->last = id;
	reservation_offer(host, node);
}

// drop_request takes a request off those that wait at a node.
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

static void accept(struct tb_host *host, uint32_t id)
{
	struct tb_message what = what_of(host, id, false);
	uint32_t rail = piece_at(host, id)->rail;
	struct nic *receiver = nic_at(host, what.destination, rail);
	nic_at(host, what.source, rail)->n_carried++;
	receiver->n_carried++;
	receiver->offered = NOTHING;
	drop_request(host, what.destination, id);
	tb_rails_post(host, id, rail);
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

static void reservation_refuse(struct tb_host *host, uint32_t id)
{
	struct tb_message what = what_of(host, id, false);
	uint32_t rail = piece_at(host, id)->rail;
	uint32_t made = new_refusal(host);
	if (made == NOTHING)
		return;
	struct refusal *refusals = (struct refusal *)(void *)host->refusals.records;
	uint32_t *link = &nic_at(host, what.source, rail)->refused;
	while (*link != NOTHING)
		link = &refusals[*link].next;
	*link = made;
	refusals[made] = (struct refusal){.what = what, .rail = rail, .next = NOTHING};
	tb_host_post(host, TB_PART_REFUSAL, id, &what, rail);
}

static void offered(struct tb_host *host, uint32_t id)
{
	const struct piece *piece = piece_at(host, id);
	const struct nic *own =
		nic_at(host, what_of(host, id, false).source, piece->rail);
	if (own->n_carried == 0 &&
		(own->offered == NOTHING ||
			piece_at(host, own->offered)->request > piece->request))
		accept(host, id);
	else
		reservation_refuse(host, id);
}

static void refused(struct tb_host *host, uint32_t id)
{
	struct tb_message what = what_of(host, id, false);
	uint32_t rail = piece_at(host, id)->rail;
	nic_at(host, what.destination, rail)->offered = NOTHING;
	piece_at(host, id)->is_offered_to = false;
	reservation_learn(host, what.destination.id, what.source.id, rail, true);
	reservation_look(host, what.destination, rail);
	reservation_offer(host,
		what.destination); // another NIC, that the refusal was in the way of
}

static void released(struct tb_host *host, uint32_t id)
{
	struct refusal *refusal = (struct refusal *)(void *)host->refusals.records + id;
	struct tb_message what = refusal->what;
	reservation_learn(
		host, what.destination.id, what.source.id, refusal->rail, false);
	refusal->next = host->free_refusal;
	host->free_refusal = id;
	reservation_offer(host, what.destination);
}

void tb_reserve_arrived(struct tb_host *host, enum tb_host_part part, uint32_t id)
{
	if (part == TB_PART_REQUEST)
		requested(host, id);
	else if (part == TB_PART_OFFER)
		offered(host, id);
	else if (part == TB_PART_REFUSAL)
		refused(host, id);
	else
		released(host, id);
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
