#include "link_pack.h"

#include <stdio.h>
#include <string.h>

static char *pack_put_sample(char *text, char *end, const struct tb_link_sample *sample)
{
#define ROW(ID, field, ...) , sample->field
	uint64_t numbers[1 + TB_N_FIGURES] = {sample->link.id TB_LINK_FIGURES(ROW)};
#undef ROW
	return tb_row_pack_put(text, end, numbers, 1, 1 + TB_N_FIGURES);
}

size_t tb_link_pack_write(const struct tb_link_sample *samples, size_t n,
	char text[TB_PACK_MOST], size_t *n_bytes)
{
	char *end = text;
	size_t i = 0;
	uint32_t pack = samples[0].link.id / TB_PACK_LINKS;
	for (; i < n && samples[i].link.id / TB_PACK_LINKS == pack; i++)
		if (!tb_link_sample_empty(&samples[i]))
			end = pack_put_sample(text, end, &samples[i]);
	*n_bytes = (size_t)(tb_row_pack_end(text, end) - text);
	return i;
}

struct tb_link_pack tb_link_pack_open(uint64_t pack, const char *text, size_t n_bytes)
{
	struct tb_link_pack made = {.rows = tb_row_pack_open(text, n_bytes), .first = 1};
	if (pack <= TB_ID_NONE / TB_PACK_LINKS) {
		made.first = pack * TB_PACK_LINKS;
		made.last = made.first + TB_PACK_LINKS - 1;
	}
	return made;
}

int tb_link_pack_next(struct tb_link_pack *pack, struct tb_link_sample *sample)
{
	uint64_t numbers[1 + TB_N_FIGURES];
	int status = tb_row_pack_next(&pack->rows, numbers, 1, 1 + TB_N_FIGURES);
	if (status <= 0)
		return status;
	if (numbers[0] < pack->first || numbers[0] > pack->last)
		return TB_EFORMAT;
	pack->first = numbers[0] + 1;
	sample->link.id = (uint32_t)numbers[0];
	const uint64_t *number = numbers;
#define ROW(ID, field, ...) sample->field = *++number;
	TB_LINK_FIGURES(ROW)
#undef ROW
	return 1;
}

int tb_link_pack_find(
	struct tb_link_pack *pack, struct tb_link link, struct tb_link_sample *sample)
{
	struct tb_row_pack *rows = &pack->rows;
	char begin[16];
	size_t n = (size_t)snprintf(begin, sizeof begin, "[%u,", link.id);
	const char *found = memmem(rows->at, (size_t)(rows->end - rows->at), begin, n);
	if (!found)
		return 0;
	if (found == rows->at)
		return TB_EFORMAT; // a row stands behind a bracket or a comma
	rows->at = found - 1;
	rows->begun = *rows->at == ',';
	return tb_link_pack_next(pack, sample);
}
