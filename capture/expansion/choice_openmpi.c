// What Open MPI chooses.
#include "expansion_impl.h"

#include <stdio.h>

void tb_choose_openmpi(struct tb_choice *choice, const struct tb_shape *shape)
{
	static const char *const names[TB_COLL_N] = {
		[TB_COLL_BARRIER] = "dissemination",
		[TB_COLL_BROADCAST] = "binomial",
		[TB_COLL_GATHER] = "binomial",
		[TB_COLL_SCATTER] = "binomial",
		[TB_COLL_ALLGATHER] = "ring",
		[TB_COLL_ALLTOALL] = "linear",
		[TB_COLL_REDUCE] = "binomial",
		[TB_COLL_ALLREDUCE] = "ring",
		[TB_COLL_REDUCE_SCATTER] = "ring",
		[TB_COLL_SCAN] = "linear",
		[TB_COLL_EXSCAN] = "linear",
		[TB_COLL_EXCHANGE] = "linear",
	};
	choice->algorithm = names[shape->op];
	snprintf(choice->reason, sizeof choice->reason, "for every call");
}
