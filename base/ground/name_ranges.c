#include "name_ranges.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BRACKETS_MAX 8 // pairs in a name

struct name_expansion {
	tb_name_ranges_take *take;
	void *context;
	uint64_t *left;
	struct tb_error *error;
};

bool tb_name_ranges_number(const char **text, uint32_t *number)
{
	uint64_t value = 0;
	const char *at = *text;
	for (; isdigit((unsigned char)*at) && value < TB_NAME_RANGES_NUMBER_MOST; at++)
		value = value * 10 + (uint64_t)(*at - '0');
	if (at == *text || value >= TB_NAME_RANGES_NUMBER_MOST)
		return false;
	*text = at;
	*number = (uint32_t)value;
	return true;
}

static int bad_range(const struct name_expansion *expansion, const char *range)
{
	return tb_fail(expansion->error, TB_EUSAGE,
		"'%.200s' is no range of hosts: expected numbers as in node[0-15,20]",
		range);
}

// range_at reads "7" or "4-7" and skips it.
static int range_at(const struct name_expansion *expansion, const char **text,
	uint32_t *first, uint32_t *last)
{
	const char *range = *text;
	bool fine = tb_name_ranges_number(text, first);
	*last = *first;
	if (fine && **text == '-') {
		++*text;
		fine = tb_name_ranges_number(text, last);
	}
	if (!fine)
		return bad_range(expansion, range);
	if (*last < *first)
		return tb_fail(expansion->error, TB_EUSAGE,
			"the range %.*s runs backwards", (int)(*text - range), range);
	return TB_OK;
}

static int expand_brackets(const struct name_expansion *expansion, const char *before,
	const char *rest, unsigned n_brackets);

// expand_range expands the rest of a name behind each number of a range.
static int expand_range(const struct name_expansion *expansion, const char *before,
	const char **range, const char *rest, unsigned n_brackets)
{
	uint32_t first = 0, last = 0;
	int width = (int)strspn(*range, "0123456789");
	int status = range_at(expansion, range, &first, &last);
	for (uint32_t i = first; i <= last && status == TB_OK; i++) {
		char *name;
		if (asprintf(&name, "%s%0*u", before, width, i) < 0)
			return tb_fail_memory(expansion->error, "names");
		status = expand_brackets(expansion, name, rest, n_brackets);
		free(name);
	}
	return status;
}

static int take_expanded_name(const struct name_expansion *expansion, const char *name)
{
	if (*expansion->left == 0)
		return tb_fail(expansion->error, TB_EUSAGE,
			"'%.60s' is one name more than there may be", name);
	--*expansion->left;
	return expansion->take(expansion->context, name);
}

// expand_brackets takes the names that begin with `before` and go on with `rest`, such as
// "n[0-3]" or "[0-1]n[0-3]-ib".
static int expand_brackets(const struct name_expansion *expansion, const char *before,
	const char *rest, unsigned n_brackets)
{
	size_t n = strcspn(rest, "[]");
	const char *close = strpbrk(rest + n + (rest[n] != '\0'), "[]");
	if (rest[n] && (rest[n] == ']' || !close || *close != ']' || n_brackets == 0))
		return tb_fail(expansion->error, TB_EUSAGE,
			"'%.200s%.200s': expected ranges in at most %d pairs of "
			"brackets, as in node[0-15,20]",
			before, rest, BRACKETS_MAX);
	char *name;
	if (asprintf(&name, "%s%.*s", before, (int)n, rest) < 0)
		return tb_fail_memory(expansion->error, "names");
	int status = rest[n] ? TB_OK : take_expanded_name(expansion, name);
	for (const char *at = rest + n; status == TB_OK && at != close && *at;) {
		at++;
		status = expand_range(expansion, name, &at, close + 1, n_brackets - 1);
		if (status == TB_OK && at != close && *at != ',')
			status = bad_range(expansion, rest + n + 1);
	}
	free(name);
	return status;
}

int tb_name_ranges_expand(const char *name, uint64_t *left, tb_name_ranges_take *taker,
	void *context, struct tb_error *error)
{
	const struct name_expansion expansion = {taker, context, left, error};
	return expand_brackets(&expansion, "", name, BRACKETS_MAX);
}

char *tb_name_ranges_end(char *list)
{
	bool within = false;
	for (; *list && (within || *list != ','); list++)
		if (*list == '[' || *list == ']')
			within = *list == '[';
	return list;
}
