// Makes a job from a plan, rank after rank and in each round after round.
#include "plan.h"

#include <inttypes.h>
#include <stdlib.h>

#define COMBINE_CPU 1

// The transfers that each rank sends, or those that it receives, in the order of rounds.
struct ends {
	uint32_t *first; // n_ranks + 1, into `transfers`
	uint32_t *transfers;
};

struct writing {
	const struct tb_plan *plan;
	const struct tb_plan_job *how;
	struct tb_job_builder *builder;
	struct ends out, in;
	// For the current rank: `held` are the operations for which its next sends wait,
	// `late` the receives for which only the next repeat waits.
	uint32_t *held, *late;
	uint32_t n_held, n_late;
	uint32_t rank;
};

static uint32_t end_of(const struct tb_transfer *transfer, bool out)
{
	return out ? transfer->from : transfer->to;
}

static bool ends_init(struct ends *ends, const struct tb_plan *plan, bool out)
{
	ends->first = calloc((size_t)plan->n_ranks + 1, sizeof *ends->first);
	ends->transfers = malloc((plan->n_transfers + 1) * sizeof *ends->transfers);
	if (!ends->first || !ends->transfers)
		return false;
	for (size_t i = 0; i < plan->n_transfers; i++)
		ends->first[end_of(&plan->transfers[i], out)]++;
	uint32_t sum = 0;
	for (uint32_t rank = 0; rank <= plan->n_ranks; rank++)
		ends->first[rank] = sum += ends->first[rank];
	for (size_t i = plan->n_transfers; i-- > 0;)
		ends->transfers[--ends->first[end_of(&plan->transfers[i], out)]] =
			(uint32_t)i;
	return true;
}

static void ends_fini(struct ends *ends)
{
	free(ends->first);
	free(ends->transfers);
}

static int wait_for_all(const struct writing *w, uint32_t op, const uint32_t *on,
	uint32_t n, struct tb_error *error)
{
	int status = TB_OK;
	for (uint32_t i = 0; i < n && status == TB_OK; i++)
		status = tb_job_depend(w->builder, w->rank, op, on[i], false, error);
	return status;
}

static int add_end(const struct writing *w, const struct tb_transfer *transfer, bool out,
	uint32_t *op, struct tb_error *error)
{
	struct tb_op what = {.kind = out ? TB_OP_SEND : TB_OP_RECV,
		.amount = tb_plan_bytes(w->plan, transfer),
		.peer = end_of(transfer, !out),
		.tag = transfer->round * w->plan->n_ports + transfer->port,
		.nic = (uint8_t)(w->how->pin ? transfer->port : 0)};
	return tb_job_add(w->builder, w->rank, &what, op, error);
}

// add_sends adds the rank's sends of a round; the next sends will wait for these.
static int add_sends(
	struct writing *w, uint32_t from, uint32_t to, struct tb_error *error)
{
	uint32_t sends = 0, first = 0;
	int status = TB_OK;
	for (uint32_t i = from; i < to && status == TB_OK; i++) {
		uint32_t op = 0;
		status = add_end(
			w, &w->plan->transfers[w->out.transfers[i]], true, &op, error);
		if (status == TB_OK)
			status = wait_for_all(w, op, w->held, w->n_held, error);
		first = sends++ ? first : op;
	}
	if (!sends)
		return status;
	for (w->n_held = 0; w->n_held < sends; w->n_held++)
		w->held[w->n_held] = first + w->n_held;
	return status;
}

// combined adds the calc that combines the data of receive `op`, and stores it in `op`;
// nothing if combining takes no time.
static int combined(struct writing *w, const struct tb_transfer *transfer, uint32_t *op,
	struct tb_error *error)
{
	uint64_t rate = w->how->combine_bytes_per_s;
	if (!transfer->combines || rate == 0)
		return TB_OK;
	double ns = (double)tb_plan_bytes(w->plan, transfer) * 1e9 / (double)rate;
	struct tb_op what = {
		.kind = TB_OP_CALC, .amount = (uint64_t)(ns + 0.5), .cpu = COMBINE_CPU};
	uint32_t receive = *op;
	int status = tb_job_add(w->builder, w->rank, &what, op, error);
	if (status == TB_OK)
		status = tb_job_depend(w->builder, w->rank, *op, receive, false, error);
	return status;
}

static int add_receives(
	struct writing *w, uint32_t from, uint32_t to, struct tb_error *error)
{
	int status = TB_OK;
	for (uint32_t i = from; i < to && status == TB_OK; i++) {
		const struct tb_transfer *t = &w->plan->transfers[w->in.transfers[i]];
		uint32_t op = 0;
		status = add_end(w, t, false, &op, error);
		if (status == TB_OK)
			status = combined(w, t, &op, error);
		bool holds =
			w->plan->order == TB_ORDER_DATA || t->blocks == TB_BLOCKS_NONE;
		if (holds)
			w->held[w->n_held++] = op;
		else
			w->late[w->n_late++] = op;
	}
	return status;
}

// begin adds the calc with which a repeat begins, unless it takes no time and has nothing
// to wait for.
static int begin(struct writing *w, struct tb_error *error)
{
	struct tb_op what = {.kind = TB_OP_CALC, .amount = w->how->compute_ns};
	uint32_t op = 0;
	if (w->how->compute_ns == 0 && w->n_held + w->n_late == 0)
		return TB_OK;
	int status = tb_job_add(w->builder, w->rank, &what, &op, error);
	if (status == TB_OK)
		status = wait_for_all(w, op, w->held, w->n_held, error);
	if (status == TB_OK)
		status = wait_for_all(w, op, w->late, w->n_late, error);
	w->held[0] = op;
	w->n_held = 1;
	w->n_late = 0;
	return status;
}

// round_end returns the index after the last transfer in the same round as transfer `i`.
static uint32_t round_end(const struct writing *w, const struct ends *ends, uint32_t i)
{
	const struct tb_transfer *transfers = w->plan->transfers;
	uint32_t round = transfers[ends->transfers[i]].round;
	uint32_t end = ends->first[w->rank + 1];
	while (i < end && transfers[ends->transfers[i]].round == round)
		i++;
	return i;
}

static uint32_t round_at(const struct writing *w, const struct ends *ends, uint32_t i)
{
	return i < ends->first[w->rank + 1] ? w->plan->transfers[ends->transfers[i]].round
					    : UINT32_MAX;
}

// once adds a rank's operations of one repeat. In each round the sends come first, so
// that they do not wait for receives of the same round.
static int once(struct writing *w, struct tb_error *error)
{
	uint32_t out = w->out.first[w->rank], in = w->in.first[w->rank];
	int status = begin(w, error);
	while (status == TB_OK) {
		uint32_t sends = round_at(w, &w->out, out);
		uint32_t receives = round_at(w, &w->in, in);
		if (sends == UINT32_MAX && receives == UINT32_MAX)
			break;
		if (sends <= receives) {
			uint32_t end = round_end(w, &w->out, out);
			status = add_sends(w, out, end, error);
			out = end;
		}
		if (status == TB_OK && receives <= sends) {
			uint32_t end = round_end(w, &w->in, in);
			status = add_receives(w, in, end, error);
			in = end;
		}
	}
	return status;
}

static int write_ranks(struct writing *w, struct tb_error *error)
{
	int status = TB_OK;
	for (w->rank = 0; w->rank < w->plan->n_ranks && status == TB_OK; w->rank++) {
		w->n_held = w->n_late = 0;
		for (uint32_t i = 0; i < w->how->n_repeats && status == TB_OK; i++)
			status = once(w, error);
	}
	return status;
}

// most_ends returns the highest number of transfers of one rank.
static size_t most_ends(const struct ends *ends, uint32_t n_ranks)
{
	uint32_t most = 0;
	for (uint32_t rank = 0; rank < n_ranks; rank++) {
		uint32_t n = ends->first[rank + 1] - ends->first[rank];
		most = n > most ? n : most;
	}
	return most;
}

static bool writing_init(struct writing *w)
{
	const struct tb_plan *plan = w->plan;
	if (!ends_init(&w->out, plan, true) || !ends_init(&w->in, plan, false))
		return false;
	size_t most = most_ends(&w->in, plan->n_ranks);
	w->held =
		malloc((most + most_ends(&w->out, plan->n_ranks) + 1) * sizeof *w->held);
	w->late = malloc((most + 1) * sizeof *w->late);
	return w->held && w->late;
}

int tb_plan_to_job(struct tb_job **job, const struct tb_plan *plan,
	const struct tb_plan_job *how, struct tb_error *error)
{
	struct writing w = {.plan = plan, .how = how};
	// Per transfer a send, a receive and a calc to combine; per rank the calc of
	// begin.
	uint64_t a_repeat = 3 * (uint64_t)plan->n_transfers + plan->n_ranks;
	if (a_repeat > INT32_MAX / how->n_repeats)
		return tb_fail(error, TB_ECAPACITY,
			"%" PRIu64 " operations, %" PRIu32
			" times, are more than a job can hold (%d)",
			a_repeat, how->n_repeats, INT32_MAX);
	int status = tb_job_builder_new(&w.builder, plan->n_ranks, error);
	if (status == TB_OK && !writing_init(&w))
		status = tb_fail(error, TB_ENOMEM, "no memory for so many transfers");
	if (status == TB_OK)
		status = write_ranks(&w, error);
	ends_fini(&w.out);
	ends_fini(&w.in);
	free(w.held);
	free(w.late);
	if (status == TB_OK)
		status = tb_job_finish(w.builder, "", job, error);
	tb_job_builder_free(w.builder);
	return status;
}
