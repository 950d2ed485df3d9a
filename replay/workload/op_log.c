#include "op_log.h"

#include "array.h"

#include <stdlib.h>

int tb_op_log_init(struct tb_op_log *log, const struct tb_job *job, const uint32_t *by,
	const uint32_t *rank_of, const uint32_t *node_of_rank)
{
	if (job->n_ops > TB_OP_LOG_OPS_MAX)
		return TB_OK;
	*log = (struct tb_op_log){.job = job,
		.by = by,
		.rank_of = rank_of,
		.node_of_rank = node_of_rank,
		.ended = malloc(((size_t)job->n_ops + 1) * sizeof *log->ended),
		.related = malloc(((size_t)job->n_ops + 1) * sizeof *log->related)};
	if (!log->ended || !log->related) {
		tb_op_log_fini(log);
		return TB_ENOMEM;
	}
	for (uint32_t op = 0; op < job->n_ops; op++) {
		log->ended[op] = -1;
		log->related[op] = TB_ID_NONE;
	}
	return TB_OK;
}

void tb_op_log_fini(struct tb_op_log *log)
{
	free(log->ended);
	free(log->related);
	free(log->parts);
	*log = (struct tb_op_log){0};
}

uint32_t tb_op_log_keep(struct tb_op_log *log, const struct tb_message_parts *parts)
{
	if (!log->ended)
		return TB_ID_NONE;
	if (TB_ARRAY_RESERVE(&log->parts, &log->parts_room, log->n_parts + 1) != TB_OK) {
		log->failed = true;
		return TB_ID_NONE;
	}
	log->parts[log->n_parts] = *parts;
	return (uint32_t)log->n_parts++;
}
