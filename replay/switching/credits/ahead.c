// Looking ahead: what the events to come will read is fetched into the cache before their
// turn, since a network of thousands of nodes does not fit into it.
//
// As with circuits, an event is looked at three times, each time nearer to its turn, and
// each look reads only what the one before it fetched. Nothing here changes any state,
// and what a look finds may be out of date by then: it costs time, no more.
#include "credits_impl.h"

#include "queues.h"

// The empty asm keeps gcc 12 from taking a function that does nothing but fetch for one
// without effect, whose calls it drops.
static inline void fetch(const void *at)
{
	__builtin_prefetch(at, 0, 3);
	__asm__ volatile("");
}

static inline void fetch_lines(const void *from, size_t bytes)
{
	for (const char *at = from; at < (const char *)from + bytes; at += 64)
		fetch(at);
}

static inline void fetch_sender(const struct credits *credits, uint32_t slot)
{
	fetch(sender_at(credits, slot));
	fetch(lane_at(credits, slot, 0));
}

// candidate_of is the slot by which the candidate of a link came that would go now.
static inline uint32_t candidate_of(const struct credits *credits, uint32_t slot)
{
	const struct lane *lane = lane_at(credits, slot, 0);
	if (!credits->plain || lane->heads == 0)
		return NOTHING;
	return slot - sender_at(credits, slot)->port + in_turn(lane);
}

static inline void first_look(const struct credits *credits, struct tb_event event)
{
	const struct tb_replay *replay = &credits->replay;
	uint32_t id = event.subject;
	if (event.kind == EV_DONE || event.kind == EV_LOOK) {
		fetch_sender(credits, id);
	} else if (event.kind == TB_EVENT_NODE) {
		fetch(&replay->nics[id]);
		fetch_sender(credits, credits->first_node + id);
	} else if (event.kind < TB_EVENT_ERROR) {
		fetch_lines(&replay->messages[id], sizeof *replay->messages);
	} else if (event.kind == EV_READY || event.kind == EV_COME ||
		   event.kind == EV_IN) {
		fetch(packet_at(credits, id));
	}
}

void tb_credits_look_first(
	const struct credits *credits, const struct tb_event *events, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		first_look(credits, events[i]);
}

// told_of is the slot by which the packet came whose leaving a link tells of next.
static inline uint32_t told_of(const struct credits *credits, uint32_t slot)
{
	return credits->tells_ahead ? candidate_of(credits, slot)
				    : sender_at(credits, slot)->from;
}

static inline void second_look_at_link(const struct credits *credits, uint32_t slot)
{
	const struct sender *sender = sender_at(credits, slot);
	uint32_t candidate = candidate_of(credits, slot);
	uint32_t told = told_of(credits, slot);
	if (told != NOTHING)
		fetch(sender_at(credits, told));
	if (told != NOTHING)
		fetch(receiver_at(credits, told));
	fetch(receiver_at(credits, sender->peer));
	fetch(cell_at(credits, sender->peer));
	if (candidate == NOTHING)
		return;
	fetch(receiver_at(credits, candidate));
	fetch(cell_at(credits, candidate));
}

static inline void second_look_at_in(const struct credits *credits, uint32_t id)
{
	const struct tb_replay *replay = &credits->replay;
	const struct packet *packet = packet_at(credits, id);
	fetch_lines(&replay->messages[packet->of.message], sizeof *replay->messages);
	fetch(&replay->nics[packet->of.destination]);
	fetch(sender_at(credits, packet->at));
	fetch(receiver_at(credits, packet->at));
}

// is_here returns whether the packet of an EV_READY still waits. When something dies its
// record may be another's, whose route is none yet, or a slot of another part.
static inline bool is_here(const struct credits *credits, uint32_t id)
{
	return packet_at(credits, id)->queued;
}

void tb_credits_look_second(const struct credits *credits, struct tb_event event)
{
	uint32_t id = event.subject;
	if (event.kind == EV_DONE || event.kind == EV_LOOK) {
		second_look_at_link(credits, id);
	} else if (event.kind == EV_READY && is_here(credits, id)) {
		const struct packet *packet = packet_at(credits, id);
		fetch_sender(credits, packet->route);
		fetch(sender_at(credits, packet->at));
		fetch(receiver_at(credits, packet->at));
	} else if (event.kind == EV_COME) {
		fetch(receiver_at(credits, packet_at(credits, id)->at));
	} else if (event.kind == EV_IN) {
		second_look_at_in(credits, id);
	} else if (event.kind == TB_EVENT_NODE) {
		uint32_t fetched = credits->replay.nics[id].fetched;
		uint32_t slot = credits->first_node + id;
		if (fetched != NOTHING)
			fetch(packet_at(credits, fetched));
		fetch(receiver_at(credits, sender_at(credits, slot)->peer));
		fetch(cell_at(credits, sender_at(credits, slot)->peer));
	}
}

// fetch_back fetches what an update of what comes in by a slot will be written to, unless
// another part does that.
static inline void fetch_back(const struct credits *credits, uint32_t slot)
{
	uint32_t to = sender_at(credits, slot)->peer;
	if (sender_at(credits, slot)->far)
		return;
	fetch(lane_at(credits, to, 0));
	fetch_lines(&credits->updates[(size_t)to * credits->n_vls * FIRST_UPDATES],
		FIRST_UPDATES * sizeof(struct update));
}

static inline void third_look_at_link(const struct credits *credits, uint32_t slot)
{
	const struct sender *sender = sender_at(credits, slot);
	uint32_t candidate = candidate_of(credits, slot);
	uint32_t told = told_of(credits, slot);
	if (told != NOTHING)
		fetch_back(credits, told);
	if (sender->owes)
		fetch_back(credits, slot);
	fetch(lane_at(credits, slot, 0)->updates);
	uint32_t first = NOTHING;
	if (candidate != NOTHING)
		first = queue_at(credits, candidate)->first;
	if (first != NOTHING)
		fetch(packet_at(credits, first));
	first = queue_at(credits, sender->from)->first;
	if (credits->speedup == 1 && first != NOTHING)
		fetch(packet_at(credits, first));
}

void tb_credits_look_third(const struct credits *credits, struct tb_event event)
{
	uint32_t id = event.subject;
	if (event.kind == EV_DONE || event.kind == EV_LOOK) {
		third_look_at_link(credits, id);
	} else if (event.kind == EV_READY && is_here(credits, id)) {
		const struct packet *packet = packet_at(credits, id);
		const struct sender *sender = sender_at(credits, packet->route);
		if (is_busy(credits, sender))
			return;
		fetch_back(credits, packet->at);
		fetch(receiver_at(credits, sender->peer));
		fetch(cell_at(credits, sender->peer));
	} else if (event.kind == EV_IN) {
		const struct packet *packet = packet_at(credits, id);
		fetch_back(credits, packet->at);
		fetch(&credits->replay.books.flows[packet->of.flow].wait_ps);
	}
}
