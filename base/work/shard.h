// A shard: one of several equal shares of some work, for a machine each.
//
// Model: the tasks are dealt out like cards, in an order that every machine knows, so
// that the shards need no word from each other.
#ifndef TB_SHARD_H
#define TB_SHARD_H

#include "status.h"

#include <stdbool.h>
#include <stddef.h>

#define TB_SHARDS_MOST 100000

// Zeroed: all of the work.
struct tb_shard {
	uint32_t number; // from 1
	uint32_t n;	 // of the shards, at most TB_SHARDS_MOST
};

// tb_shard_parse reads "3/16", the third of 16. TB_EUSAGE for anything else.
int tb_shard_parse(const char *text, struct tb_shard *shard) TB_MUST_USE;

// tb_shard_has returns whether the task at this place of the order, from 0, is of the
// shard.
bool tb_shard_has(struct tb_shard shard, size_t place);

#endif
