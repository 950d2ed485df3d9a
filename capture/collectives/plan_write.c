// The operations of one rank of a plan, round after round.
#include "plan_impl.h"

#include <stdlib.h>

// What of a transfer an operation is. Each has a tag of its own where transfers are asked
// for, because two ranks may do all of this in both directions at once.
enum message_part { DATA, ASK, ANSWER, N_PARTS };

static uint32_t transfer_end(const struct tb_transfer *transfer, bool out)
{
	return out ? transfer->from : transfer->to;
}

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

int tb_plan_writing_init(struct tb_plan_writing *w, struct tb_error *error)
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
		       (!plan->pace.slots || tb_plan_slots_init(w) == TB_OK);
	}
	return made ? TB_OK : tb_fail_memory(error, "so many transfers");
}

void tb_plan_writing_fini(struct tb_plan_writing *w)
{
	free(w->out.first);
	free(w->out.transfers);
	free(w->in.first);
	free(w->in.transfers);
	free(w->held);
	free(w->late);
	free(w->answers);
	tb_plan_slots_fini(w);
}

static uint32_t job_rank(const struct tb_plan_writing *w, uint32_t rank)
{
	return w->ranks ? w->ranks[rank] : rank;
}

int tb_plan_write_wait(const struct tb_plan_writing *w, uint32_t op, uint32_t on,
	bool start, struct tb_error *error)
{
	return tb_job_depend(w->builder, job_rank(w, w->rank), op, on, start, error);
}

int tb_plan_write_op(struct tb_plan_writing *w, const struct tb_op *what, uint32_t *op,
	struct tb_error *error)
{
	return tb_job_add(w->builder, job_rank(w, w->rank), what, op, error);
}

static int plan_depend(
	const struct tb_plan_writing *w, uint32_t op, uint32_t on, struct tb_error *error)
{
	return tb_plan_write_wait(w, op, on, false, error);
}

static int plan_wait_for_all(const struct tb_plan_writing *w, uint32_t op,
	const uint32_t *on, uint32_t n, struct tb_error *error)
{
	int status = TB_OK;
	for (uint32_t i = 0; i < n && status == TB_OK; i++)
		status = plan_depend(w, op, on[i], error);
	return status;
}

// transfer_is_asked tells whether the receiver is asked before the data go.
static bool transfer_is_asked(
	const struct tb_plan_writing *w, const struct tb_transfer *t)
{
	return w->eager_bytes != UINT64_MAX &&
	       tb_plan_bytes(w->plan, t) > w->eager_bytes &&
	       !(w->hosts && w->hosts[t->from] == w->hosts[t->to]);
}

static uint32_t transfer_n_parts(uint64_t eager_bytes)
{
	return eager_bytes == UINT64_MAX ? 1 : N_PARTS;
}

uint64_t tb_plan_write_tags(const struct tb_plan *plan, uint64_t eager_bytes)
{
	return (uint64_t)plan->n_rounds * plan->n_ports * transfer_n_parts(eager_bytes);
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
static int transfer_add_part(const struct tb_plan_writing *w,
	const struct tb_transfer *transfer, enum message_part part, enum tb_op_kind kind,
	uint32_t *op, struct tb_error *error)
{
	uint32_t slot = transfer->round * w->plan->n_ports + transfer->port;
	bool here_is_from = w->rank == transfer->from;
	struct tb_op what = {.kind = (uint8_t)kind,
		.amount = part == DATA ? transfer_wire_bytes(w->plan, transfer) : 0,
		.peer = job_rank(w, transfer_end(transfer, !here_is_from)),
		.tag = w->tag + slot * transfer_n_parts(w->eager_bytes) + (uint32_t)part,
		.cpu = w->lane_cpu,
		.nic = (uint8_t)(w->pin ? transfer->port : 0),
		.planned = w->plan->pace.slots > 0};
	return tb_job_add(w->builder, job_rank(w, w->rank), &what, op, error);
}

int tb_plan_write_part(struct tb_plan_writing *w, const struct tb_transfer *transfer,
	enum tb_op_kind kind, uint32_t *op, struct tb_error *error)
{
	return transfer_add_part(w, transfer, DATA, kind, op, error);
}

// add_work adds a calc for a transfer's bytes, which are added up or copied.
static int add_work(const struct tb_plan_writing *w, const struct tb_transfer *transfer,
	bool adds, uint32_t *op, struct tb_error *error)
{
	uint64_t bytes = tb_plan_bytes(w->plan, transfer);
	struct tb_op what = {.kind = TB_OP_CALC,
		.amount = tb_call_work_ns(&w->work, adds, bytes, w->whole),
		.cpu = w->cpu};
	return tb_job_add(w->builder, job_rank(w, w->rank), &what, op, error);
}

static bool is_packed(const struct tb_plan_writing *w, const struct tb_transfer *t)
{
	return w->work.pack && t->blocks == TB_BLOCKS_DIGIT;
}

// add_pack adds the calc that packs a transfer, which waits for what is held; `op` is
// left alone where none is needed.
static int add_pack(const struct tb_plan_writing *w, const struct tb_transfer *transfer,
	uint32_t *op, struct tb_error *error)
{
	if (!is_packed(w, transfer))
		return TB_OK;
	int status = add_work(w, transfer, false, op, error);
	return status == TB_OK ? plan_wait_for_all(w, *op, w->held, w->n_held, error)
			       : status;
}

// transfer_add_send adds a send, which waits for what is held; if the receiver is to be
// asked, the question does, and the data wait for the answer.
static int transfer_add_send(struct tb_plan_writing *w,
	const struct tb_transfer *transfer, uint32_t *op, struct tb_error *error)
{
	bool asked = transfer_is_asked(w, transfer);
	uint32_t first = 0, answer = 0, pack = UINT32_MAX;
	int status = add_pack(w, transfer, &pack, error);
	if (status == TB_OK)
		status = transfer_add_part(
			w, transfer, asked ? ASK : DATA, TB_OP_SEND, &first, error);
	if (status == TB_OK && pack != UINT32_MAX)
		status = plan_depend(w, first, pack, error);
	else if (status == TB_OK)
		status = plan_wait_for_all(w, first, w->held, w->n_held, error);
	*op = first;
	if (!asked || status != TB_OK)
		return status;
	status = transfer_add_part(w, transfer, ANSWER, TB_OP_RECV, &answer, error);
	if (status == TB_OK)
		status = plan_depend(w, answer, first, error);
	if (status == TB_OK)
		status = transfer_add_part(w, transfer, DATA, TB_OP_SEND, op, error);
	return status == TB_OK ? plan_depend(w, *op, answer, error) : status;
}

// plan_add_sends adds the rank's sends of a round; the next sends will wait for these.
// Their numbers are collected in the room behind those that are held.
static int plan_add_sends(
	struct tb_plan_writing *w, uint32_t from, uint32_t to, struct tb_error *error)
{
	uint32_t n = 0;
	uint32_t *sends = w->held + w->n_held;
	int status = TB_OK;
	for (uint32_t i = from; i < to && status == TB_OK; i++)
		status = transfer_add_send(
			w, &w->plan->transfers[w->out.transfers[i]], &sends[n++], error);
	for (uint32_t i = 0; i < n; i++)
		w->held[i] = sends[i];
	w->n_held = n ? n : w->n_held;
	return status;
}

// add_answers answers the questions of a round. A rank posts the receives of a round when
// it has done what it holds.
static int add_answers(
	struct tb_plan_writing *w, uint32_t from, uint32_t to, struct tb_error *error)
{
	int status = TB_OK;
	w->n_answers = 0;
	for (uint32_t i = from; i < to && status == TB_OK; i++) {
		const struct tb_transfer *t = &w->plan->transfers[w->in.transfers[i]];
		uint32_t ask = 0, *answer = &w->answers[i - from];
		if (!transfer_is_asked(w, t))
			continue;
		w->n_answers++;
		status = transfer_add_part(w, t, ASK, TB_OP_RECV, &ask, error);
		if (status == TB_OK)
			status = transfer_add_part(
				w, t, ANSWER, TB_OP_SEND, answer, error);
		if (status == TB_OK)
			status = plan_depend(w, *answer, ask, error);
		if (status == TB_OK)
			status = plan_wait_for_all(w, *answer, w->held, w->n_held, error);
	}
	return status;
}

// combined adds the calc that combines, or unpacks, the data of receive `op`, and stores
// it in `op`; nothing if that takes no time.
static int combined(struct tb_plan_writing *w, const struct tb_transfer *transfer,
	uint32_t *op, struct tb_error *error)
{
	bool packs = is_packed(w, transfer);
	if (!packs && !(transfer->combines && w->work.combine))
		return TB_OK;
	uint32_t receive = *op;
	int status = add_work(w, transfer, !packs, op, error);
	return status == TB_OK ? plan_depend(w, *op, receive, error) : status;
}

static int add_receive(struct tb_plan_writing *w, const struct tb_transfer *transfer,
	uint32_t answer, uint32_t *op, struct tb_error *error)
{
	int status = transfer_add_part(w, transfer, DATA, TB_OP_RECV, op, error);
	if (status == TB_OK && transfer_is_asked(w, transfer))
		status = plan_depend(w, *op, answer, error);
	else if (status == TB_OK && w->entry != UINT32_MAX)
		status = plan_depend(w, *op, w->entry, error);
	return status == TB_OK ? combined(w, transfer, op, error) : status;
}

// plan_add_receives adds the rank's receives of a round. Those that were answered wait
// for all that was held before the round; if there were no sends, holding them is enough.
static int plan_add_receives(struct tb_plan_writing *w, uint32_t from, uint32_t to,
	bool has_sends, struct tb_error *error)
{
	int status = TB_OK;
	if (w->n_answers && !has_sends && w->plan->order == TB_ORDER_DATA)
		w->n_held = 0;
	for (uint32_t i = from; i < to && status == TB_OK; i++) {
		const struct tb_transfer *t = &w->plan->transfers[w->in.transfers[i]];
		uint32_t op = 0;
		status = add_receive(w, t, w->answers[i - from], &op, error);
		bool holds =
			w->plan->order == TB_ORDER_DATA || t->blocks == TB_BLOCKS_NONE;
		if (holds)
			w->held[w->n_held++] = op;
		else
			w->late[w->n_late++] = op;
	}
	return status;
}

int tb_plan_write_calc(
	struct tb_plan_writing *w, uint64_t calc_ns, uint8_t cpu, struct tb_error *error)
{
	struct tb_op what = {.kind = TB_OP_CALC, .amount = calc_ns, .cpu = cpu};
	uint32_t op = 0;
	int status = tb_job_add(w->builder, job_rank(w, w->rank), &what, &op, error);
	if (status == TB_OK)
		status = plan_wait_for_all(w, op, w->held, w->n_held, error);
	if (status == TB_OK)
		status = plan_wait_for_all(w, op, w->late, w->n_late, error);
	w->held[0] = op;
	w->n_held = 1;
	w->n_late = 0;
	return status;
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
int tb_plan_write_rank(struct tb_plan_writing *w, struct tb_error *error)
{
	uint32_t out = w->out.first[w->rank], in = w->in.first[w->rank];
	int status = TB_OK;
	while (status == TB_OK) {
		uint32_t sends = round_at(w, &w->out, out);
		uint32_t receives = round_at(w, &w->in, in);
		if (sends == UINT32_MAX && receives == UINT32_MAX)
			break;
		uint32_t out_end = sends <= receives ? round_end(w, &w->out, out) : out;
		uint32_t in_end = receives <= sends ? round_end(w, &w->in, in) : in;
		status = add_answers(w, in, in_end, error);
		if (status == TB_OK)
			status = plan_add_sends(w, out, out_end, error);
		if (status == TB_OK)
			status = plan_add_receives(w, in, in_end, out_end > out, error);
		out = out_end;
		in = in_end;
	}
	return status;
}
