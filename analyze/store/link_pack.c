#include "link_pack.h"

#include <string.h>

static const char digits[] = "0001020304050607080910111213141516171819"
			     "2021222324252627282930313233343536373839"
			     "4041424344454647484950515253545556575859"
			     "6061626364656667686970717273747576777879"
			     "8081828384858687888990919293949596979899";

// put_number writes two digits at a time, from behind.
static char *put_number(char *to, uint64_t value)
{
	char text[20];
	char *at = text + sizeof text;
	for (; value >= 100; value /= 100)
		memcpy(at -= 2, digits + 2 * (value % 100), 2);
	if (value >= 10)
		memcpy(at -= 2, digits + 2 * value, 2);
	else
		*--at = (char)('0' + value);
	size_t n = (size_t)(text + sizeof text - at);
	memcpy(to, at, n);
	return to + n;
}

static char *put_sample(char *to, const struct tb_link_sample *sample)
{
	*to++ = '[';
	to = put_number(to, sample->link.id);
	int n = TB_N_FIGURES;
	while (n > 0 && sample->figures[n - 1] == 0)
		n--;
	for (int i = 0; i < n; i++) {
		*to++ = ',';
		to = put_number(to, sample->figures[i]);
	}
	*to++ = ']';
	return to;
}

size_t tb_link_pack_write(const struct tb_link_sample *samples, size_t n,
	char text[TB_PACK_MOST], size_t *n_bytes)
{
	char *to = text;
	size_t i = 0;
	uint32_t pack = samples[0].link.id / TB_PACK_LINKS;
	for (; i < n && samples[i].link.id / TB_PACK_LINKS == pack; i++) {
		if (tb_link_sample_empty(&samples[i]))
			continue;
		*to = to == text ? '[' : ',';
		to = put_sample(to + 1, &samples[i]);
	}
	if (to != text)
		*to++ = ']';
	*n_bytes = (size_t)(to - text);
	return i;
}

struct tb_link_pack tb_link_pack_open(uint64_t pack, const char *text, size_t n_bytes)
{
	struct tb_link_pack made = {.at = text, .end = text + n_bytes, .first = 1};
	if (pack <= TB_ID_NONE / TB_PACK_LINKS) {
		made.first = pack * TB_PACK_LINKS;
		made.last = made.first + TB_PACK_LINKS - 1;
	}
	return made;
}

static bool take(struct tb_link_pack *pack, char wanted)
{
	if (pack->at == pack->end || *pack->at != wanted)
		return false;
	pack->at++;
	return true;
}

// take_number reads a number of at most INT64_MAX, what a column of a table may hold.
static bool take_number(struct tb_link_pack *pack, uint64_t *value)
{
	const char *at = pack->at, *end = pack->end;
	uint64_t sum = 0;
	for (; at < end && *at >= '0' && *at <= '9'; at++) {
		uint64_t digit = (uint64_t)(*at - '0');
		if (sum > ((uint64_t)INT64_MAX - digit) / 10)
			return false;
		sum = 10 * sum + digit;
	}
	bool any = at > pack->at;
	pack->at = at;
	*value = sum;
	return any;
}

static bool take_sample(struct tb_link_pack *pack, struct tb_link_sample *sample)
{
	uint64_t link = 0;
	if (!take(pack, '[') || !take_number(pack, &link) || link < pack->first ||
		link > pack->last)
		return false;
	sample->link.id = (uint32_t)link;
	pack->first = link + 1;
	int n = 0;
	for (; n < TB_N_FIGURES && take(pack, ','); n++)
		if (!take_number(pack, &sample->figures[n]))
			return false;
	for (; n < TB_N_FIGURES; n++)
		sample->figures[n] = 0;
	return take(pack, ']');
}

int tb_link_pack_next(struct tb_link_pack *pack, struct tb_link_sample *sample)
{
	if (pack->begun && take(pack, ']'))
		return pack->at == pack->end ? 0 : TB_EFORMAT;
	if (!take(pack, pack->begun ? ',' : '['))
		return TB_EFORMAT;
	pack->begun = true;
	return take_sample(pack, sample) ? 1 : TB_EFORMAT;
}
