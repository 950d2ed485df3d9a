#include "nodes_impl.h"

#include "array.h"

#include <assert.h>
#include <stdlib.h>

int tb_partners_init(struct tb_partners *partners, uint32_t most, uint32_t n_nodes)
{
	*partners = (struct tb_partners){.most = most};
	if (most)
		partners->n_partners = calloc(n_nodes, sizeof *partners->n_partners);
	return most && !partners->n_partners ? TB_ENOMEM : TB_OK;
}

void tb_partners_fini(struct tb_partners *partners)
{
	tb_map_fini(&partners->pair_of);
	free(partners->n_partners);
	free(partners->n_messages);
	*partners = (struct tb_partners){0};
}

static uint64_t partner_key(uint32_t source, uint32_t destination)
{
	return (uint64_t)destination << 32 | source;
}

// new_pair adds a pair that the map does not have yet.
static int new_pair(struct tb_partners *partners, uint64_t key, uint32_t *pair)
{
	if (TB_ARRAY_RESERVE(&partners->n_messages, &partners->room,
		    (size_t)partners->n_pairs + 1) != TB_OK ||
		tb_map_put(&partners->pair_of, key, partners->n_pairs) != TB_OK)
		return TB_ENOMEM;
	*pair = partners->n_pairs++;
	partners->n_messages[*pair] = 0;
	return TB_OK;
}

static int begin_pair(struct tb_partners *partners, uint32_t source, uint32_t destination)
{
	uint64_t key = partner_key(source, destination);
	uint32_t pair = 0;
	if (!partners->most)
		return TB_OK;
	if (!tb_map_find(&partners->pair_of, key, &pair) &&
		new_pair(partners, key, &pair) != TB_OK)
		return TB_ENOMEM;
	if (partners->n_messages[pair]++ == 0)
		partners->n_partners[destination]++;
	return TB_OK;
}

static void end_pair(struct tb_partners *partners, uint32_t source, uint32_t destination)
{
	uint32_t pair = 0;
	if (!partners->most)
		return;
	bool known =
		tb_map_find(&partners->pair_of, partner_key(source, destination), &pair);
	assert(known && partners->n_messages[pair] > 0);
	if (known && --partners->n_messages[pair] == 0)
		partners->n_partners[destination]--;
}

int tb_partners_begin(struct tb_partners *partners, const struct tb_message *message)
{
	uint32_t source = message->source.id, node = message->destination.id;
	uint32_t n = tb_is_broadcast(message) ? message->n_receivers : 1;
	int status = TB_OK;
	for (uint32_t i = 0; i < n && status == TB_OK; i++)
		if (node + i != source)
			status = begin_pair(partners, source, node + i);
	return status;
}

void tb_partners_end(struct tb_partners *partners, const struct tb_message *message)
{
	uint32_t source = message->source.id, node = message->destination.id;
	uint32_t n = tb_is_broadcast(message) ? message->n_receivers : 1;
	for (uint32_t i = 0; i < n; i++)
		if (node + i != source)
			end_pair(partners, source, node + i);
}
