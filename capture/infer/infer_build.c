// Builds a job of messages and their causes.
#include "infer_impl.h"
#include "order.h"

#include <stdlib.h>

#define REACTION_NS 1 // to what answers: next to nothing, but in order
#define N_CPUS	    256
#define NONE	    UINT32_MAX

// What a job is built from: operations, by index within their ranks.
struct infer_building {
	const struct tb_inferred *from;
	struct tb_job_builder *builder;
	uint32_t *calc, *send, *recv; // by message; a calc of NONE: there is none
	uint32_t *tags;		      // by message
	uint32_t *rounds;	      // by round: its computation
	uint32_t *n_calcs;	      // by rank
	uint64_t (*order)[2];	      // by place: key, message
};

static uint32_t rank_of(const struct infer_building *building, uint32_t node)
{
	return tb_inferred_rank(building->from->rank_of, node);
}

static bool is_message_built(const struct infer_building *building, uint64_t message)
{
	return rank_of(building, building->from->list->rows[message].source) !=
	       TB_ID_NONE;
}

static int build_op(struct infer_building *building, uint32_t rank,
	const struct tb_op *op, uint32_t *index, struct tb_error *error)
{
	return tb_job_add(building->builder, rank, op, index, error);
}

// build_calc adds computation. Gaps of different messages overlap as they did, so each
// has a processor; but rounds and answers share the first, as a rank does not answer
// while it computes (rule L14).
static int build_calc(struct infer_building *building, uint32_t rank, int64_t ns,
	bool shared, uint32_t *index, struct tb_error *error)
{
	struct tb_op calc = {.kind = TB_OP_CALC, .amount = (uint64_t)ns};
	if (!shared)
		calc.cpu = (uint8_t)(1 + building->n_calcs[rank]++ % (N_CPUS - 1));
	return build_op(building, rank, &calc, index, error);
}

static int add_computation(
	struct infer_building *building, uint32_t message, struct tb_error *error)
{
	const struct tb_asked *asked = &building->from->rendezvous->of[message];
	uint32_t rank = rank_of(building, building->from->list->rows[message].source);
	int64_t gap_ns = building->from->causes->of[message].gap_ns;
	uint32_t *calc = &building->calc[message];
	*calc = NONE;
	if (asked->role == TB_ROLE_ANSWER || asked->role == TB_ROLE_DATA)
		return build_calc(building, rank, REACTION_NS, true, calc, error);
	if (building->from->list->rows[message].reopens) {
		const struct tb_op closed = {.kind = TB_OP_CALC,
			.amount = (uint64_t)gap_ns,
			.cpu = (uint8_t)(1 + building->n_calcs[rank]++ % (N_CPUS - 1)),
			.closed = true};
		return build_op(building, rank, &closed, calc, error);
	}
	if (asked->role != TB_ROLE_REQUEST)
		return gap_ns > 0 ? build_calc(building, rank, gap_ns, false, calc, error)
				  : TB_OK;
	const struct tb_round *round = &building->from->rendezvous->rounds[asked->round];
	if (round->first_request != message)
		return TB_OK;
	return build_calc(building, rank, round->gap_ns > 0 ? round->gap_ns : 0, true,
		&building->rounds[asked->round], error);
}

// add_causes makes an operation wait for causes.
static int add_causes(const struct infer_building *building,
	const struct tb_cause *causes, uint32_t n, uint32_t rank, uint32_t op,
	struct tb_error *error)
{
	int status = TB_OK;
	for (uint32_t i = 0; status == TB_OK && i < n; i++) {
		uint32_t on = causes[i].is_call ? building->send[causes[i].message]
						: building->recv[causes[i].message];
		// A program goes on once it has called: it does not wait for delivery.
		status = tb_job_depend(building->builder, rank, op, on,
			causes[i].is_call && !causes[i].is_done, error);
	}
	return status;
}

static int depend_in_round(
	const struct infer_building *building, uint32_t message, struct tb_error *error)
{
	const struct tb_asked *asked = &building->from->rendezvous->of[message];
	uint32_t rank = rank_of(building, building->from->list->rows[message].source);
	uint32_t send = building->send[message], calc = building->calc[message];
	int status = TB_OK;
	if (asked->round != NONE) {
		const struct tb_round *round =
			&building->from->rendezvous->rounds[asked->round];
		uint32_t computed = building->rounds[asked->round];
		status = tb_job_depend(
			building->builder, rank, send, computed, false, error);
		if (status == TB_OK && round->first_request == message)
			status = add_causes(building,
				building->from->causes->rows + round->first, round->n,
				rank, computed, error);
	}
	if (status != TB_OK || asked->role != TB_ROLE_ANSWER)
		return status;
	status = tb_job_depend(building->builder, rank, calc,
		building->recv[asked->replied], false, error);
	return status == TB_OK
		       ? tb_job_depend(building->builder, rank, send, calc, false, error)
		       : status;
}

static int depend_message(
	const struct infer_building *building, uint32_t message, struct tb_error *error)
{
	const struct tb_asked *asked = &building->from->rendezvous->of[message];
	const struct tb_caused *of = &building->from->causes->of[message];
	uint32_t rank = rank_of(building, building->from->list->rows[message].source);
	uint32_t send = building->send[message], calc = building->calc[message];
	if (asked->role == TB_ROLE_REQUEST || asked->role == TB_ROLE_ANSWER)
		return depend_in_round(building, message, error);
	int status = add_causes(building, building->from->causes->rows + of->first, of->n,
		rank, calc != NONE ? calc : send, error);
	if (status == TB_OK && calc != NONE)
		status = tb_job_depend(building->builder, rank, send, calc, false, error);
	return status;
}

static int order_by_start(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	if (x[0] != y[0])
		return x[0] < y[0] ? -1 : 1;
	return TB_ORDER(x[1], y[1]);
}

// sort_starts orders messages as they left, but the answers of a round before its
// requests: a rank looks at what has come first.
static void sort_starts(const struct tb_inferred *from, uint64_t (*order)[2])
{
	const struct tb_rendezvous *rendezvous = from->rendezvous;
	for (size_t i = 0; i < from->list->n; i++) {
		const struct tb_asked *asked = &rendezvous->of[i];
		bool is_first = asked->role == TB_ROLE_ANSWER && asked->round != NONE;
		uint64_t at =
			is_first ? rendezvous->rounds[asked->round].first_request : i;
		order[i][0] = 2 * at + !is_first;
		order[i][1] = i;
	}
	qsort(order, from->list->n, sizeof *order, order_by_start);
}

static int build_operations(struct infer_building *building, struct tb_error *error)
{
	size_t n = building->from->list->n;
	int status = TB_OK;
	sort_starts(building->from, building->order);
	for (size_t i = 0; status == TB_OK && i < n; i++)
		if (is_message_built(building, building->order[i][1])) {
			uint32_t message = (uint32_t)building->order[i][1];
			const struct tb_inferred_message *row =
				&building->from->list->rows[message];
			struct tb_op send = {.kind = TB_OP_SEND,
				.amount = row->bytes,
				.peer = rank_of(building, row->destination),
				.tag = building->tags[message]};
			struct tb_op recv = {.kind = TB_OP_RECV,
				.amount = row->bytes,
				.peer = rank_of(building, row->source),
				.tag = building->tags[message]};
			status = add_computation(building, message, error);
			if (status == TB_OK)
				status = build_op(building, recv.peer, &send,
					&building->send[message], error);
			if (status == TB_OK)
				status = build_op(building, send.peer, &recv,
					&building->recv[message], error);
		}
	for (uint32_t i = 0; status == TB_OK && i < n; i++)
		if (is_message_built(building, i))
			status = depend_message(building, i, error);
	return status;
}

// number_tags numbers the messages of each ordered pair.
static int number_tags(const struct tb_message_list *list, uint32_t *tags)
{
	uint64_t(*keys)[2] = malloc((list->n + 1) * sizeof *keys);
	if (!keys)
		return TB_ENOMEM;
	for (size_t i = 0; i < list->n; i++) {
		keys[i][0] =
			(uint64_t)list->rows[i].source << 32 | list->rows[i].destination;
		keys[i][1] = i;
	}
	qsort(keys, list->n, sizeof *keys, order_by_start);
	uint32_t tag = 0;
	for (size_t i = 0; i < list->n; i++) {
		tag = i > 0 && keys[i][0] == keys[i - 1][0] ? tag + 1 : 0;
		tags[keys[i][1]] = tag;
	}
	free(keys);
	return TB_OK;
}

static int build_job(struct infer_building *building, const char *name,
	struct tb_job **job, struct tb_error *error)
{
	size_t n = building->from->list->n;
	struct tb_job *made = NULL;
	building->calc = malloc(n * sizeof *building->calc);
	building->send = malloc(n * sizeof *building->send);
	building->recv = malloc(n * sizeof *building->recv);
	building->tags = malloc(n * sizeof *building->tags);
	building->order = malloc(n * sizeof *building->order);
	building->rounds = malloc(
		(building->from->rendezvous->n_rounds + 1) * sizeof *building->rounds);
	building->n_calcs = calloc(building->from->n_ranks, sizeof *building->n_calcs);
	if (!building->calc || !building->order || !building->rounds || !building->send ||
		!building->recv || !building->tags || !building->n_calcs ||
		number_tags(building->from->list, building->tags) != TB_OK)
		return tb_fail_memory(error, "the messages");
	int status =
		tb_job_builder_new(&building->builder, building->from->n_ranks, error);
	if (status == TB_OK)
		status = build_operations(building, error);
	if (status == TB_OK)
		status = tb_job_finish(building->builder, name, &made, error);
	if (status == TB_OK && building->from->timed) {
		const struct tb_inferred *from = building->from;
		const struct tb_inferred_times times = {.list = from->list,
			.send = building->send,
			.recv = building->recv,
			.rank_of = from->rank_of,
			.begin_ns = from->begin_ns,
			.port_bytes_per_s = from->timed->port_bytes_per_s,
			.bucket_bytes = from->timed->bucket_bytes,
			.path_ns = from->timed->path_ns};
		status = tb_infer_keep_times(&times, made) == TB_OK
				 ? TB_OK
				 : tb_fail_memory(error, "the messages");
	}
	if (status == TB_OK)
		*job = made;
	else
		tb_job_free(made);
	return status;
}

int tb_infer_build(struct tb_job **job, const struct tb_inferred *from, const char *name,
	struct tb_error *error)
{
	struct infer_building building = {.from = from};
	int status = build_job(&building, name, job, error);
	tb_job_builder_free(building.builder);
	free(building.calc);
	free(building.order);
	free(building.rounds);
	free(building.send);
	free(building.recv);
	free(building.tags);
	free(building.n_calcs);
	return status;
}
