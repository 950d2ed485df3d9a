#include "plan.h"

#include "array.h"

#include <inttypes.h>
#include <stdlib.h>

void tb_plan_fini(struct tb_plan *plan)
{
	free(plan->transfers);
	free(plan->block_ends);
	plan->transfers = NULL;
	plan->block_ends = NULL;
	plan->n_transfers = plan->room = 0;
}

void tb_plan_next_round(struct tb_plan *plan)
{
	plan->n_rounds++;
}

void tb_plan_put(struct tb_plan *plan, struct tb_transfer transfer)
{
	size_t most = plan->most ? plan->most : TB_PLAN_TRANSFERS_MAX;
	if (plan->status == TB_OK && plan->n_transfers >= most)
		plan->status = TB_ECAPACITY;
	if (plan->status == TB_OK)
		plan->status = TB_ARRAY_RESERVE(
			&plan->transfers, &plan->room, plan->n_transfers + 1);
	if (plan->status != TB_OK)
		return;
	transfer.round = plan->n_rounds - 1;
	plan->transfers[plan->n_transfers++] = transfer;
}

void tb_plan_close_rounds(struct tb_plan *plan)
{
	uint32_t n = 0, last = 0;
	for (size_t i = 0; i < plan->n_transfers; i++) {
		struct tb_transfer *t = &plan->transfers[i];
		n += i == 0 || t->round != last;
		last = t->round;
		t->round = n - 1;
	}
	plan->n_rounds = n;
}

// bytes_before returns the size of blocks 0 to n - 1.
static uint64_t bytes_before(const struct tb_plan *plan, uint64_t n)
{
	if (plan->block_ends)
		return n ? plan->block_ends[n - 1] : 0;
	uint64_t parts = plan->blocks_per_unit, rest = n % parts;
	// unit_bytes * rest / parts, without a product that may overflow.
	uint64_t each = plan->unit_bytes / parts, over = plan->unit_bytes % parts;
	return n / parts * plan->unit_bytes + each * rest + over * rest / parts;
}

static uint64_t range_bytes(const struct tb_plan *plan, uint64_t first, uint64_t count)
{
	uint64_t end = first + count;
	if (end <= plan->n_blocks)
		return bytes_before(plan, end) - bytes_before(plan, first);
	return bytes_before(plan, plan->n_blocks) - bytes_before(plan, first) +
	       bytes_before(plan, end - plan->n_blocks);
}

// heap_visit visits the blocks of relative rank `top` and all below it, level by level,
// and returns their number. `visit` may be NULL.
static uint64_t heap_visit(const struct tb_plan *plan, uint32_t top,
	void (*visit)(void *context, uint64_t block), void *context)
{
	uint64_t n = 0, width = 1;
	for (uint64_t left = top; left < plan->n_ranks; left = left * plan->radix + 1) {
		uint64_t end =
			left + width < plan->n_ranks ? left + width : plan->n_ranks;
		n += end - left;
		for (uint64_t v = left; visit && v < end; v++)
			visit(context, (v + plan->root) % plan->n_ranks);
		width *= plan->radix;
	}
	return n;
}

// digit_count returns how many of the distances 0 to n_ranks - 1 have the transfer's
// digit.
static uint64_t digit_count(const struct tb_plan *plan, const struct tb_transfer *t)
{
	uint64_t cycle = (uint64_t)t->first * plan->radix;
	uint64_t rest = plan->n_ranks % cycle, begins = (uint64_t)t->first * t->count;
	uint64_t over = rest > begins ? rest - begins : 0;
	return plan->n_ranks / cycle * t->first + (over < t->first ? over : t->first);
}

struct counting {
	const struct tb_plan *plan;
	uint64_t bytes;
};

static void count_block(void *context, uint64_t block)
{
	struct counting *counting = context;
	counting->bytes += bytes_before(counting->plan, block + 1) -
			   bytes_before(counting->plan, block);
}

uint64_t tb_plan_bytes(const struct tb_plan *plan, const struct tb_transfer *transfer)
{
	if (plan->block_ends && transfer->blocks != TB_BLOCKS_RANGE) {
		// Add up the blocks of a transfer that moves no range.
		struct counting counting = {.plan = plan};
		tb_plan_visit(plan, transfer, count_block, &counting);
		return counting.bytes;
	}
	switch ((enum tb_blocks)transfer->blocks) {
	case TB_BLOCKS_NONE:
		return 0;
	case TB_BLOCKS_RANGE:
		return range_bytes(plan, transfer->first, transfer->count);
	case TB_BLOCKS_HEAP:
		return plan->unit_bytes * heap_visit(plan, transfer->first, NULL, NULL);
	case TB_BLOCKS_PAIR:
		return plan->unit_bytes;
	case TB_BLOCKS_DIGIT:
		return plan->unit_bytes * digit_count(plan, transfer);
	}
	return 0;
}

uint64_t tb_plan_whole_bytes(const struct tb_plan *plan)
{
	bool by_pair = plan->n_transfers > 0 &&
		       (plan->transfers[0].blocks == TB_BLOCKS_PAIR ||
			       plan->transfers[0].blocks == TB_BLOCKS_DIGIT);
	uint64_t all = bytes_before(plan, plan->n_blocks);
	if (!by_pair)
		return all;
	return plan->block_ends ? all / plan->n_ranks : plan->unit_bytes * plan->n_ranks;
}

uint64_t tb_plan_own_bytes(const struct tb_plan *plan, uint32_t rank)
{
	const struct tb_plan_own *own = &plan->own;
	if (own->every == 0 || (own->only_root && rank != plan->root))
		return 0;
	return range_bytes(plan, (uint64_t)rank * own->every, 1);
}

void tb_plan_visit(const struct tb_plan *plan, const struct tb_transfer *transfer,
	void (*visit)(void *context, uint64_t block), void *context)
{
	switch ((enum tb_blocks)transfer->blocks) {
	case TB_BLOCKS_NONE:
		return;
	case TB_BLOCKS_RANGE:
		for (uint64_t i = 0; i < transfer->count; i++)
			visit(context, (transfer->first + i) % plan->n_blocks);
		return;
	case TB_BLOCKS_HEAP:
		heap_visit(plan, transfer->first, visit, context);
		return;
	case TB_BLOCKS_PAIR:
		visit(context, (uint64_t)transfer->from * plan->n_ranks + transfer->to);
		return;
	case TB_BLOCKS_DIGIT: {
		uint64_t n = plan->n_ranks;
		for (uint64_t distance = 0; distance < n; distance++) {
			if (distance / transfer->first % plan->radix != transfer->count)
				continue;
			uint64_t source =
				(transfer->from + n - distance % transfer->first) % n;
			visit(context, source * n + (source + distance) % n);
		}
		return;
	}
	}
}

// Writes the transfers of a plan as operations of a job, rank after rank.

// The transfers that each rank sends, or those that it receives, in the order of rounds.
struct tb_plan_ends {
	uint32_t *first; // n_ranks + 1, into `transfers`
	uint32_t *transfers;
};

struct tb_plan_writing {
	const struct tb_plan *plan;
	struct tb_job_builder *builder;
	// Where it goes; `ranks` NULL: the same as the plan's, `eager_bytes` never 0.
	struct tb_plan_place place;
	uint32_t entry;	  // receives wait for this operation of the rank; UINT32_MAX: for
			  // nothing
	uint64_t whole;	  // tb_plan_whole_bytes
	uint8_t cpu;	  // that combines
	uint8_t lane_cpu; // that sends
	bool pin;

	struct tb_plan_ends out, in;
	// For the current rank: `held` are the operations for which its next sends wait,
	// `late` the receives for which only its leaving waits.
	uint32_t *held, *late;
	uint32_t *answers; // to the receives of the current round
	uint32_t n_held, n_late;
	uint32_t rank; // of the plan
	size_t room;   // of `held`
	// With slots. By port: how many sends and receives there were, and the last
	// sends, at their number modulo slots; and the ports by which what is held has
	// come.
	uint32_t *n_sent, *n_arrived, *sent;
	uint32_t *taken; // by port: what takes in the last of its data; UINT32_MAX: none
	uint16_t *held_ports;
};

static uint32_t job_rank(const struct tb_plan_writing *w, uint32_t rank)
{
	return w->place.ranks ? w->place.ranks[rank] : rank;
}

// plan_add adds an operation of the current rank; plan_depend has it wait for another.
static uint32_t plan_add(const struct tb_plan_writing *w, struct tb_op what)
{
	return tb_job_add(w->builder, job_rank(w, w->rank), &what);
}

static void plan_depend(const struct tb_plan_writing *w, uint32_t op, uint32_t on)
{
	tb_job_depend(w->builder, job_rank(w, w->rank), op, on, false);
}

static void plan_wait_for_held(const struct tb_plan_writing *w, uint32_t op)
{
	for (uint32_t i = 0; i < w->n_held; i++)
		plan_depend(w, op, w->held[i]);
}

static bool is_within_host(const struct tb_plan_writing *w, const struct tb_transfer *t)
{
	return w->place.hosts && w->place.hosts[t->from] == w->place.hosts[t->to];
}

// What of a transfer an operation is. Each has a tag of its own where transfers are asked
// for, because two ranks may do all of this in both directions at once.
enum message_part { DATA, ASK, ANSWER, N_PARTS };

static uint32_t transfer_end(const struct tb_transfer *transfer, bool out)
{
	return out ? transfer->from : transfer->to;
}

// transfer_is_asked returns whether the receiver is asked before the data go.
static bool transfer_is_asked(
	const struct tb_plan_writing *w, const struct tb_transfer *t)
{
	return w->place.eager_bytes != UINT64_MAX &&
	       tb_plan_bytes(w->plan, t) > w->place.eager_bytes && !is_within_host(w, t);
}

static uint32_t transfer_n_parts(uint64_t eager_bytes)
{
	return eager_bytes == UINT64_MAX ? 1 : N_PARTS;
}

static uint64_t transfer_wire_bytes(
	const struct tb_plan *plan, const struct tb_transfer *transfer)
{
	uint64_t bytes = tb_plan_bytes(plan, transfer);
	uint64_t times = plan->pace.wire[0], of = plan->pace.wire[1];
	return of ? bytes / of * times + bytes % of * times / of : bytes;
}

// transfer_add_part adds the send (or receive) of one part of a transfer to the current
// rank.
static uint32_t transfer_add_part(const struct tb_plan_writing *w,
	const struct tb_transfer *transfer, enum message_part part, enum tb_op_kind kind)
{
	uint32_t slot = transfer->round * w->plan->n_ports + transfer->port;
	bool here_is_from = w->rank == transfer->from;
	return plan_add(
		w, (struct tb_op){.kind = (uint8_t)kind,
			   .amount = part == DATA ? transfer_wire_bytes(w->plan, transfer)
						  : 0,
			   .peer = job_rank(w, transfer_end(transfer, !here_is_from)),
			   .tag = w->place.tag +
				  slot * transfer_n_parts(w->place.eager_bytes) +
				  (uint32_t)part,
			   .cpu = w->lane_cpu,
			   .nic = (uint8_t)(w->pin ? transfer->port : 0),
			   .planned = w->plan->pace.slots > 0});
}

// The operations of one rank of a plan whose ports go by themselves (struct
// tb_plan_pace).

// Calcs that stand for what takes time at a port, but no processor: beyond the lanes that
// traces have, so that they hold up no computation. A port takes its data in one after
// another. Steps are under way in as many slots, and do not hold up each other.
#define TAKING_CPU 48
#define N_TAKING   16
#define STEP_CPU   (TAKING_CPU + N_TAKING)
#define N_STEPS	   (UINT8_MAX + 1 - STEP_CPU)

static bool plan_slots_init(struct tb_plan_writing *w)
{
	size_t n = w->plan->n_ports;
	w->n_sent = malloc(n * sizeof *w->n_sent);
	w->n_arrived = malloc(n * sizeof *w->n_arrived);
	w->sent = malloc(n * w->plan->pace.slots * sizeof *w->sent);
	w->taken = malloc(n * sizeof *w->taken);
	w->held_ports = malloc((w->room + 1) * sizeof *w->held_ports);
	return w->n_sent && w->n_arrived && w->sent && w->taken && w->held_ports;
}

static uint32_t *port_sent_at(struct tb_plan_writing *w, uint32_t port, uint32_t number)
{
	uint32_t slots = w->plan->pace.slots;
	return &w->sent[port * slots + number % slots];
}

// take_held has `op` wait for what was received by a port, and no other operation need
// do so: those of the port come after this one has started.
static void take_held(struct tb_plan_writing *w, uint32_t port, uint32_t op)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < w->n_held; i++) {
		if (w->held_ports[i] == port) {
			plan_depend(w, op, w->held[i]);
			continue;
		}
		w->held[n] = w->held[i];
		w->held_ports[n++] = w->held_ports[i];
	}
	w->n_held = n;
}

// add_delay adds a calc behind operation `on` and returns it; of no time, it is `on`.
static uint32_t add_delay(
	const struct tb_plan_writing *w, uint64_t ns, uint32_t cpu, uint32_t on)
{
	if (!ns)
		return on;
	uint32_t op = plan_add(w, (struct tb_op){.kind = TB_OP_CALC,
					  .amount = ns,
					  .cpu = (uint8_t)cpu,
					  .planned = 1});
	plan_depend(w, op, on);
	return op;
}

// add_slot adds a send. It begins after the one before it has begun, and after the one as
// many before it as there are slots is over; to another host with a gap, a gap after the
// one before it is over.
static void add_slot(struct tb_plan_writing *w, const struct tb_transfer *transfer)
{
	uint32_t port = transfer->port, n = w->n_sent[port]++;
	uint32_t slots = w->plan->pace.slots, gap_ns = w->plan->pace.gap_ns;
	bool one_by_one = gap_ns && !is_within_host(w, transfer);
	uint32_t op = transfer_add_part(w, transfer, DATA, TB_OP_SEND);
	if (n == 0 && w->entry != UINT32_MAX)
		plan_depend(w, op, w->entry);
	if (n > 0)
		tb_job_depend(w->builder, job_rank(w, w->rank), op,
			*port_sent_at(w, port, n - 1), !one_by_one);
	if (n >= slots)
		plan_depend(w, op, *port_sent_at(w, port, n));
	take_held(w, transfer->after, op);
	*port_sent_at(w, port, n) =
		one_by_one ? add_delay(w, gap_ns, STEP_CPU + port * slots % N_STEPS, op)
			   : op;
}

static uint64_t taking_ns(const struct tb_plan_pace *pace, uint64_t bytes)
{
	return (uint64_t)((double)bytes * 1e9 / (double)pace->channel_bytes_per_s);
}

// add_arrival: the first turn of the channel's threads is passed on while they take the
// rest, for which the channel's next data wait.
static void add_arrival(struct tb_plan_writing *w, const struct tb_transfer *transfer)
{
	const struct tb_plan_pace *pace = &w->plan->pace;
	uint32_t port = transfer->port, taking = TAKING_CPU + port % N_TAKING;
	uint32_t slot =
		(port * pace->slots + w->n_arrived[port]++ % pace->slots) % N_STEPS;
	uint64_t bytes = pace->channel_bytes_per_s ? tb_plan_bytes(w->plan, transfer) : 0;
	uint64_t first = bytes < pace->turn_bytes ? bytes : pace->turn_bytes;
	uint32_t op = transfer_add_part(w, transfer, DATA, TB_OP_RECV), rest = UINT32_MAX;
	if (w->entry != UINT32_MAX)
		plan_depend(w, op, w->entry);
	uint32_t ready =
		first > 0 ? add_delay(w, taking_ns(pace, first), taking, op) : op;
	if (bytes > first)
		rest = add_delay(w, taking_ns(pace, bytes - first), taking, op);
	w->taken[port] = rest;
	w->held_ports[w->n_held] = transfer->port;
	w->held[w->n_held++] = add_delay(
		w, pace->step_ns[!is_within_host(w, transfer)], STEP_CPU + slot, ready);
}

static void plan_write_slots(struct tb_plan_writing *w)
{
	const struct tb_transfer *transfers = w->plan->transfers;
	uint32_t out = w->out.first[w->rank], in = w->in.first[w->rank];
	uint32_t out_end = w->out.first[w->rank + 1], in_end = w->in.first[w->rank + 1];
	w->n_held = 0;
	for (uint32_t port = 0; port < w->plan->n_ports; port++)
		w->n_sent[port] = w->n_arrived[port] = 0;
	while (out < out_end || in < in_end) {
		const struct tb_transfer *send =
			out < out_end ? &transfers[w->out.transfers[out]] : NULL;
		const struct tb_transfer *receive =
			in < in_end ? &transfers[w->in.transfers[in]] : NULL;
		// Of a round the sends come first.
		if (send && (!receive || send->round <= receive->round)) {
			add_slot(w, send);
			out++;
		} else {
			add_arrival(w, receive);
			in++;
		}
	}
	// The rank leaves when its last sends are over, too, and all data are taken in.
	for (uint32_t port = 0; port < w->plan->n_ports; port++) {
		if (w->n_arrived[port] && w->taken[port] != UINT32_MAX)
			w->late[w->n_late++] = w->taken[port];
		uint32_t n = w->n_sent[port], slots = w->plan->pace.slots;
		for (uint32_t i = n > slots ? n - slots : 0; i < n; i++)
			w->held[w->n_held++] = *port_sent_at(w, port, i);
	}
}

// The operations of one rank of a plan, round after round.

static bool ends_init(struct tb_plan_ends *ends, const struct tb_plan *plan, bool out)
{
	ends->first = calloc((size_t)plan->n_ranks + 1, sizeof *ends->first);
	ends->transfers = malloc((plan->n_transfers + 1) * sizeof *ends->transfers);
	if (!ends->first || !ends->transfers)
		return false;
	for (size_t i = 0; i < plan->n_transfers; i++)
		ends->first[transfer_end(&plan->transfers[i], out)]++;
	uint32_t sum = 0;
	for (uint32_t rank = 0; rank <= plan->n_ranks; rank++)
		ends->first[rank] = sum += ends->first[rank];
	for (size_t i = plan->n_transfers; i-- > 0;)
		ends->transfers[--ends->first[transfer_end(&plan->transfers[i], out)]] =
			(uint32_t)i;
	return true;
}

// most_ends returns the highest number of transfers of one rank.
static size_t most_ends(const struct tb_plan_ends *ends, uint32_t n_ranks)
{
	uint32_t most = 0;
	for (uint32_t rank = 0; rank < n_ranks; rank++) {
		uint32_t n = ends->first[rank + 1] - ends->first[rank];
		most = n > most ? n : most;
	}
	return most;
}

// plan_writing_init prepares a struct whose first part is filled in. TB_ENOMEM;
// plan_writing_fini follows in any case.
static int plan_writing_init(struct tb_plan_writing *w, struct tb_error *error)
{
	const struct tb_plan *plan = w->plan;
	bool made = ends_init(&w->out, plan, true) && ends_init(&w->in, plan, false);
	if (made) {
		size_t in = most_ends(&w->in, plan->n_ranks);
		size_t out = most_ends(&w->out, plan->n_ranks);
		w->room = in + out;
		w->held = malloc((w->room + 1) * sizeof *w->held);
		w->late = malloc((in + 1) * sizeof *w->late);
		w->answers = malloc((in + 1) * sizeof *w->answers);
		made = w->held && w->late && w->answers &&
		       (!plan->pace.slots || plan_slots_init(w));
	}
	return made ? TB_OK : tb_fail_memory(error, "so many transfers");
}

static void plan_writing_fini(struct tb_plan_writing *w)
{
	free(w->out.first);
	free(w->out.transfers);
	free(w->in.first);
	free(w->in.transfers);
	free(w->held);
	free(w->late);
	free(w->answers);
	free(w->n_sent);
	free(w->n_arrived);
	free(w->sent);
	free(w->taken);
	free(w->held_ports);
}

// takes_fresh returns whether the current rank works in memory that the call takes from
// the system and returns to it. glibc (malloc/malloc.c, M_MMAP_THRESHOLD) keeps pieces
// of up to 32 MiB, but at the end of its heap no more than twice the largest.
#define KEPT_LEAST (UINT64_C(128) << 10)
#define KEPT_MOST  (UINT64_C(32) << 20)
static bool takes_fresh(const struct tb_plan_writing *w)
{
	uint8_t n = w->plan->n_vectors;
	return w->in.first[w->rank] < w->in.first[w->rank + 1] &&
	       ((n > 1 && w->whole > KEPT_LEAST) || (n > 0 && w->whole > KEPT_MOST));
}

// pinning_ns returns how long both ends register the memory of a transfer to a rank that
// works in fresh memory, which its peers do, too.
static uint64_t pinning_ns(
	const struct tb_plan_writing *w, const struct tb_transfer *transfer)
{
	return !is_within_host(w, transfer) && takes_fresh(w) &&
			       tb_plan_bytes(w->plan, transfer) >
				       w->place.work.pin_above_bytes
		       ? 2 * w->place.work.pin_ns
		       : 0;
}

// add_work adds a calc for a transfer's bytes, which are added up or copied.
static uint32_t add_work(
	const struct tb_plan_writing *w, const struct tb_transfer *transfer, bool adds)
{
	uint64_t bytes = tb_plan_bytes(w->plan, transfer);
	return plan_add(w,
		(struct tb_op){.kind = TB_OP_CALC,
			.amount = tb_call_work_ns(&w->place.work, adds, bytes, w->whole) +
				  (adds ? pinning_ns(w, transfer) : 0),
			.of_call = true,
			.cpu = w->cpu});
}

static bool is_packed(const struct tb_plan_writing *w, const struct tb_transfer *t)
{
	return w->place.work.pack && t->blocks == TB_BLOCKS_DIGIT;
}

// In which an answer that is due goes first.
#define SKEW_LEAST_NS 1000

uint64_t tb_skew_ns(uint32_t rank, uint64_t bytes)
{
	bool odd = false;
	for (; rank; rank &= rank - 1)
		odd = !odd;
	return SKEW_LEAST_NS + (odd ? bytes / 4 : 0);
}

// transfer_add_send adds a send, which waits for what is held: for the calc that packs
// it, or by which the current rank asks later, where there is one. If the receiver is to
// be asked, the question waits, and the data wait for the answer.
static uint32_t transfer_add_send(
	const struct tb_plan_writing *w, const struct tb_transfer *transfer)
{
	bool asked = transfer_is_asked(w, transfer), packed = is_packed(w, transfer);
	bool later = asked && w->place.skews && !packed;
	uint32_t before = 0;
	if (packed)
		before = add_work(w, transfer, false);
	if (later) {
		uint64_t bytes = tb_plan_bytes(w->plan, transfer);
		before = plan_add(
			w, (struct tb_op){.kind = TB_OP_CALC,
				   .amount = tb_skew_ns(job_rank(w, w->rank), bytes),
				   .cpu = w->lane_cpu});
	}
	if (packed || later)
		plan_wait_for_held(w, before);
	uint32_t first = transfer_add_part(w, transfer, asked ? ASK : DATA, TB_OP_SEND);
	if (packed || later)
		plan_depend(w, first, before);
	else
		plan_wait_for_held(w, first);
	if (!asked)
		return first;
	uint32_t answer = transfer_add_part(w, transfer, ANSWER, TB_OP_RECV);
	plan_depend(w, answer, first);
	uint32_t data = transfer_add_part(w, transfer, DATA, TB_OP_SEND);
	plan_depend(w, data, answer);
	return data;
}

// plan_add_sends adds the rank's sends of a round; the next sends will wait for these.
// Their numbers are collected in the room behind those that are held.
static void plan_add_sends(struct tb_plan_writing *w, uint32_t from, uint32_t to)
{
	uint32_t n = 0;
	uint32_t *sends = w->held + w->n_held;
	for (uint32_t i = from; i < to; i++)
		sends[n++] =
			transfer_add_send(w, &w->plan->transfers[w->out.transfers[i]]);
	for (uint32_t i = 0; i < n; i++)
		w->held[i] = sends[i];
	w->n_held = n ? n : w->n_held;
}

// add_receive adds a receive, and the calc that combines or unpacks its data, if that
// takes time. It returns the later of the two.
static uint32_t add_receive(
	struct tb_plan_writing *w, const struct tb_transfer *transfer, uint32_t answer)
{
	uint32_t op = transfer_add_part(w, transfer, DATA, TB_OP_RECV);
	if (transfer_is_asked(w, transfer))
		plan_depend(w, op, answer);
	else if (w->entry != UINT32_MAX)
		plan_depend(w, op, w->entry);
	bool packs = is_packed(w, transfer);
	if (!packs && !(transfer->combines && w->place.work.combine))
		return op;
	uint32_t done = add_work(w, transfer, !packs);
	plan_depend(w, done, op);
	return done;
}

// plan_write_calc adds a calc that waits for what is held and late; then it alone is
// held.
static void plan_write_calc(struct tb_plan_writing *w, uint64_t calc_ns, uint8_t cpu)
{
	uint32_t op = plan_add(w, (struct tb_op){.kind = TB_OP_CALC,
					  .amount = calc_ns,
					  .of_call = w->plan->pace.slots == 0,
					  .planned = w->plan->pace.slots > 0,
					  .cpu = cpu});
	plan_wait_for_held(w, op);
	for (uint32_t i = 0; i < w->n_late; i++)
		plan_depend(w, op, w->late[i]);
	w->held[0] = op;
	w->n_held = 1;
	w->n_late = 0;
}

// round_end returns the index after the last transfer of the rank in the same round as
// transfer `i`; round_at that round.
static uint32_t round_end(
	const struct tb_plan_writing *w, const struct tb_plan_ends *ends, uint32_t i)
{
	const struct tb_transfer *transfers = w->plan->transfers;
	uint32_t round = transfers[ends->transfers[i]].round;
	uint32_t end = ends->first[w->rank + 1];
	while (i < end && transfers[ends->transfers[i]].round == round)
		i++;
	return i;
}

static uint32_t round_at(
	const struct tb_plan_writing *w, const struct tb_plan_ends *ends, uint32_t i)
{
	return i < ends->first[w->rank + 1] ? w->plan->transfers[ends->transfers[i]].round
					    : UINT32_MAX;
}

// In each round the sends come first, so that they do not wait for receives of the same
// round.
static void plan_write_rank(struct tb_plan_writing *w)
{
	const struct tb_transfer *transfers = w->plan->transfers;
	uint32_t out = w->out.first[w->rank], in = w->in.first[w->rank];
	for (;;) {
		uint32_t sends = round_at(w, &w->out, out);
		uint32_t receives = round_at(w, &w->in, in);
		if (sends == UINT32_MAX && receives == UINT32_MAX)
			return;
		uint32_t out_end = sends <= receives ? round_end(w, &w->out, out) : out;
		uint32_t in_end = receives <= sends ? round_end(w, &w->in, in) : in;
		// Answer the questions of a round. A rank posts the receives of a round
		// when it has done what it holds.
		uint32_t n_answers = 0;
		for (uint32_t i = in; i < in_end; i++) {
			const struct tb_transfer *t = &transfers[w->in.transfers[i]];
			if (!transfer_is_asked(w, t))
				continue;
			n_answers++;
			uint32_t ask = transfer_add_part(w, t, ASK, TB_OP_RECV);
			uint32_t answer = transfer_add_part(w, t, ANSWER, TB_OP_SEND);
			plan_depend(w, answer, ask);
			plan_wait_for_held(w, answer);
			w->answers[i - in] = answer;
		}
		plan_add_sends(w, out, out_end);
		// Add the rank's receives of a round. Those that were answered wait for
		// all that was held before the round; if there were no sends, holding
		// them is enough.
		if (n_answers && out_end == out && w->plan->order == TB_ORDER_DATA)
			w->n_held = 0;
		for (uint32_t i = in; i < in_end; i++) {
			const struct tb_transfer *t = &transfers[w->in.transfers[i]];
			uint32_t op = add_receive(w, t, w->answers[i - in]);
			if (w->plan->order == TB_ORDER_DATA ||
				t->blocks == TB_BLOCKS_NONE)
				w->held[w->n_held++] = op;
			else
				w->late[w->n_late++] = op;
		}
		out = out_end;
		in = in_end;
	}
}

// Makes a job from a plan, or appends a plan to a job that is being built: rank after
// rank and in each round after round.

#define COMBINE_CPU 1

int tb_plan_to_job(struct tb_job **job, const struct tb_plan *plan,
	const struct tb_plan_job *how, struct tb_error *error)
{
	struct tb_plan_writing w = {.plan = plan,
		.entry = UINT32_MAX,
		.place = {.work.combine = how->combine_bytes_per_s,
			.eager_bytes = UINT64_MAX},
		.cpu = COMBINE_CPU,
		.pin = how->pin};
	// Per transfer a send, a receive and a calc to combine; per rank the calcs of
	// begin and shift.
	uint64_t a_repeat = 3 * (uint64_t)plan->n_transfers + plan->n_ranks;
	a_repeat += how->shift_ns ? plan->n_ranks : 0;
	if (a_repeat > INT32_MAX / how->n_repeats)
		return tb_fail(error, TB_ECAPACITY,
			"%" PRIu64 " operations, %" PRIu32
			" times, are more than a job can hold (%d)",
			a_repeat, how->n_repeats, INT32_MAX);
	int status = tb_job_builder_new(&w.builder, plan->n_ranks, error);
	if (status == TB_OK)
		status = plan_writing_init(&w, error);
	for (; status == TB_OK && w.rank < plan->n_ranks; w.rank++) {
		w.n_held = w.n_late = 0;
		for (uint32_t i = 0; i < how->n_repeats; i++) {
			// A calc of no time begins a repeat that has to wait.
			if (how->compute_ns || w.n_held + w.n_late > 0)
				plan_write_calc(&w, how->compute_ns, 0);
			plan_write_rank(&w);
			if (how->shift_ns)
				plan_write_calc(&w, how->shift_ns, COMBINE_CPU);
		}
		status = tb_job_builder_check(w.builder, error);
	}
	plan_writing_fini(&w);
	if (status == TB_OK)
		status = tb_job_finish(w.builder, "", job, error);
	tb_job_builder_free(w.builder);
	return status;
}

static uint64_t eager_bytes(const struct tb_plan_place *place)
{
	return place->eager_bytes ? place->eager_bytes : UINT64_MAX;
}

uint64_t tb_plan_append_tags(
	const struct tb_plan *plan, const struct tb_plan_place *place)
{
	return (uint64_t)plan->n_rounds * plan->n_ports *
	       transfer_n_parts(eager_bytes(place));
}

// copying_ns returns how long a rank copies before the first round, or after the last:
// in Bruck's all-to-all all blocks, to put them in order, else its own; 0: it does not.
static uint64_t copying_ns(const struct tb_plan_writing *w, bool last)
{
	const struct tb_plan *plan = w->plan;
	if (plan->n_transfers == 0)
		return 0;
	uint64_t bytes = plan->own.last == last ? tb_plan_own_bytes(plan, w->rank) : 0;
	if (plan->transfers[0].blocks == TB_BLOCKS_DIGIT)
		bytes = w->whole;
	uint64_t ns = tb_call_work_ns(&w->place.work, false, bytes, bytes);
	if (last)
		return ns;
	bool is_cached = w->whole <= w->place.work.cache_bytes / 2;
	if (plan->own.whole)
		ns += tb_call_rate_ns(
			w->whole, is_cached ? w->place.work.cached : w->place.work.copy);
	if (takes_fresh(w))
		ns += tb_call_rate_ns(plan->n_vectors * w->whole, w->place.work.fresh);
	return ns;
}

// append_rank adds the operations of a rank, and stores the one at whose end it leaves
// the call. All wait for its entry, so that need not be among those.
static void append_rank(struct tb_plan_writing *w)
{
	const struct tb_plan_place *place = &w->place;
	w->n_held = w->n_late = 0;
	w->entry = place->at[w->rank];
	w->cpu = w->lane_cpu = place->cpus ? place->cpus[w->rank] : 0;
	if (!(w->out.first[w->rank] < w->out.first[w->rank + 1] ||
		    w->in.first[w->rank] < w->in.first[w->rank + 1]))
		return;
	if (w->entry != UINT32_MAX)
		w->held[w->n_held++] = w->entry;
	uint64_t call_ns = w->plan->pace.call_ns;
	uint64_t begin_ns =
		(call_ns ? call_ns : w->place.work.call_ns) + copying_ns(w, false);
	uint64_t end_ns = copying_ns(w, true);
	if (begin_ns) {
		plan_write_calc(w, begin_ns, w->cpu);
		w->entry = w->held[0];
	}
	if (w->plan->pace.slots)
		plan_write_slots(w);
	else
		plan_write_rank(w);
	if (end_ns)
		plan_write_calc(w, end_ns, w->cpu);
	// What is held first is the entry still if the rank only received.
	if (w->n_held && w->held[0] == w->entry)
		w->held[0] = w->held[--w->n_held];
	if (w->n_held + w->n_late > 1)
		plan_write_calc(w, 0, w->cpu);
	place->at[w->rank] = w->n_held ? w->held[0] : w->late[0];
}

int tb_plan_append(struct tb_job_builder *builder, const struct tb_plan *plan,
	const struct tb_plan_place *place, struct tb_error *error)
{
	struct tb_plan_writing w = {.plan = plan,
		.builder = builder,
		.place = *place,
		.whole = tb_plan_whole_bytes(plan)};
	w.place.eager_bytes = eager_bytes(place);
	int status = plan_writing_init(&w, error);
	for (w.rank = 0; w.rank < plan->n_ranks && status == TB_OK; w.rank++) {
		// Set what of the cache that the members on a host share is the rank's.
		// They mostly are neighbours and have equal shares.
		const uint32_t *hosts = place->hosts;
		if (place->work.shared_cache_bytes && hosts &&
			(w.rank == 0 || hosts[w.rank] != hosts[w.rank - 1])) {
			uint32_t n = 0;
			for (uint32_t i = 0; i < plan->n_ranks; i++)
				n += hosts[i] == hosts[w.rank];
			w.place.work.shared_cache_bytes =
				place->work.shared_cache_bytes / n;
		}
		append_rank(&w);
		status = tb_job_builder_check(builder, error);
	}
	plan_writing_fini(&w);
	return status;
}
