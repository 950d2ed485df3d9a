#include "records.h"

static const struct {
	OTF2_CollectiveOp op;
	enum tb_collective_op found;
} operations[] = {
	{OTF2_COLLECTIVE_OP_BARRIER, TB_COLL_BARRIER},
	{OTF2_COLLECTIVE_OP_BCAST, TB_COLL_BROADCAST},
	{OTF2_COLLECTIVE_OP_GATHER, TB_COLL_GATHER},
	{OTF2_COLLECTIVE_OP_GATHERV, TB_COLL_GATHER},
	{OTF2_COLLECTIVE_OP_SCATTER, TB_COLL_SCATTER},
	{OTF2_COLLECTIVE_OP_SCATTERV, TB_COLL_SCATTER},
	{OTF2_COLLECTIVE_OP_ALLGATHER, TB_COLL_ALLGATHER},
	{OTF2_COLLECTIVE_OP_ALLGATHERV, TB_COLL_ALLGATHER},
	{OTF2_COLLECTIVE_OP_ALLTOALL, TB_COLL_ALLTOALL},
	{OTF2_COLLECTIVE_OP_ALLTOALLV, TB_COLL_ALLTOALL},
	{OTF2_COLLECTIVE_OP_ALLTOALLW, TB_COLL_ALLTOALL},
	{OTF2_COLLECTIVE_OP_ALLREDUCE, TB_COLL_ALLREDUCE},
	{OTF2_COLLECTIVE_OP_REDUCE, TB_COLL_REDUCE},
	{OTF2_COLLECTIVE_OP_REDUCE_SCATTER, TB_COLL_REDUCE_SCATTER},
	{OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK, TB_COLL_REDUCE_SCATTER},
	{OTF2_COLLECTIVE_OP_SCAN, TB_COLL_SCAN},
	{OTF2_COLLECTIVE_OP_EXSCAN, TB_COLL_EXSCAN},
};

bool tb_otf2_collective(OTF2_CollectiveOp op, enum tb_collective_op *found)
{
	for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
		if (operations[i].op != op)
			continue;
		*found = operations[i].found;
		return true;
	}
	return false;
}

// per_member divides what all members got. What one member fewer divides evenly, and all
// do not, was in place.
static uint64_t per_member(uint64_t total, uint64_t n)
{
	if (total % n != 0 && n > 1 && total % (n - 1) == 0)
		return total / (n - 1);
	return total / n;
}

// per_other divides what all but one member got.
static uint64_t per_other(uint64_t total, uint64_t n)
{
	return n > 1 ? total / (n - 1) : 0;
}

// scanned returns the vector of a scan: a rank sends to itself and those after it, and
// receives from itself and those before; in place, and in an exclusive scan, not itself.
static uint64_t scanned(
	uint64_t sent, uint64_t received, const struct tb_otf2_view *view, bool exclusive)
{
	uint64_t n = view->n_local, block = (sent + received) / (n + 1);
	if (!exclusive && block * (n - view->me) == sent &&
		block * (view->me + UINT64_C(1)) == received)
		return block;
	return per_other(sent + received, n);
}

uint64_t tb_otf2_collective_bytes(OTF2_CollectiveOp op, const struct tb_otf2_view *view,
	uint64_t sent, uint64_t received, bool by_arguments)
{
	enum tb_collective_op kind;
	uint64_t n = view->n;
	if (by_arguments) {
		if (op == OTF2_COLLECTIVE_OP_BCAST)
			return sent > received ? sent : received;
		if (op == OTF2_COLLECTIVE_OP_SCATTER || op == OTF2_COLLECTIVE_OP_SCATTERV)
			return received;
		return sent;
	}
	if (!tb_otf2_collective(op, &kind))
		return 0;
	// Only the root of an inter-communicator sends without receiving: no member of
	// its own group is among those that it serves.
	uint64_t others = view->is_inter ? n + 1 : n;
	switch (kind) {
	case TB_COLL_BROADCAST:
	case TB_COLL_SCATTER:
		return received > 0 ? received : per_other(sent, others);
	case TB_COLL_GATHER:
	case TB_COLL_REDUCE:
		return sent > 0 ? sent : per_other(received, others);
	case TB_COLL_ALLGATHER:
	case TB_COLL_ALLTOALL:
	case TB_COLL_ALLREDUCE:
		return per_member(sent, n);
	case TB_COLL_REDUCE_SCATTER:
		return sent;
	case TB_COLL_SCAN:
	case TB_COLL_EXSCAN:
		return scanned(sent, received, view, kind == TB_COLL_EXSCAN);
	case TB_COLL_BARRIER:
	case TB_COLL_EXCHANGE:
	case TB_COLL_N:
		break;
	}
	return 0;
}
