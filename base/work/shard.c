#include "shard.h"

#include "units.h"

#include <stdio.h>
#include <string.h>

int tb_shard_parse(const char *text, struct tb_shard *shard)
{
	char number[16];
	uint64_t n, at;
	const char *slash = strchr(text, '/');
	if (!slash || (size_t)(slash - text) >= sizeof number)
		return TB_EUSAGE;
	snprintf(number, sizeof number, "%.*s", (int)(slash - text), text);
	if (tb_parse_count(slash + 1, 1, TB_SHARDS_MOST, &n) != TB_OK ||
		tb_parse_count(number, 1, n, &at) != TB_OK)
		return TB_EUSAGE;
	*shard = (struct tb_shard){(uint32_t)at, (uint32_t)n};
	return TB_OK;
}

bool tb_shard_has(struct tb_shard shard, size_t place)
{
	return shard.n == 0 || place % shard.n == shard.number - 1;
}
