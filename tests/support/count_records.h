// An observer that counts what it is told, for what is measured with records in memory.
#ifndef COUNT_RECORDS_H
#define COUNT_RECORDS_H

#include "observer.h"

static inline int count_bin(
	void *context, uint64_t bin, const struct tb_link_sample *samples, size_t n)
{
	(void)bin;
	(void)samples;
	*(uint64_t *)context += n;
	return TB_OK;
}

static inline int count_flows(
	void *context, const struct tb_flow_sample *samples, size_t n)
{
	(void)samples;
	*(uint64_t *)context += n;
	return TB_OK;
}

static inline int count_messages(
	void *context, const struct tb_message_sample *samples, size_t n)
{
	(void)samples;
	*(uint64_t *)context += n;
	return TB_OK;
}

static inline int count_blame(void *context, const struct tb_blame_record *record)
{
	*(uint64_t *)context += record->n_roots;
	return TB_OK;
}

// count_records counts bins, flows, messages and blame in *n; who measures without some
// of them takes these away.
static inline struct tb_observer count_records(uint64_t *n)
{
	return (struct tb_observer){.context = n,
		.bin = count_bin,
		.flows = count_flows,
		.messages = count_messages,
		.blame = count_blame};
}

#endif
