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
		"'%.*s' is no range of hosts: expected numbers as in node[0-15,20]",
		(int)strcspn(range, "]"), range);
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

char *tb_name_ranges_next(char **list)
{
	char *name = *list, *end = name;
	bool within = false;
	if (!name)
		return NULL;
	for (; *end && (within || *end != ','); end++)
		if (*end == '[' || *end == ']')
			within = *end == '[';
	*list = *end ? end + 1 : NULL;
	*end = '\0';
	return name;
}

// number_at_end returns how many digits end a name, of a number that fits; 0: none.
static size_t number_at_end(const char *name, uint32_t *number)
{
	size_t n = strlen(name), digits = 0;
	while (digits < n && isdigit((unsigned char)name[n - digits - 1]))
		digits++;
	const char *at = name + n - digits;
	return digits && tb_name_ranges_number(&at, number) ? digits : 0;
}

// follows returns whether a name is that of the next number behind the same letters.
static bool follows(const char *name, const char *next)
{
	uint32_t own = 0, more = 0;
	size_t digits = number_at_end(name, &own), wide = number_at_end(next, &more);
	size_t n = strlen(name) - digits;
	// "9" and "10" go on, "09" and "10", too; "9" and "010" do not.
	bool same_form = wide == digits || (wide == digits + 1 && own + 1 == more &&
						   name[n] != '0' && next[n] != '0');
	return digits && same_form && strlen(next) - wide == n &&
	       memcmp(name, next, n) == 0 && more == own + 1;
}

// same_letters returns whether two names differ in the numbers at their ends alone.
static bool same_letters(const char *name, const char *other)
{
	uint32_t number;
	size_t digits = number_at_end(name, &number),
	       more = number_at_end(other, &number);
	size_t n = strlen(name) - digits;
	return digits && more && strlen(other) - more == n && memcmp(name, other, n) == 0;
}

char *tb_name_ranges_format(char *buffer, size_t size, const char *const *names, size_t n)
{
	size_t used = 0;
	buffer[0] = '\0';
	for (size_t i = 0; i < n;) {
		uint32_t number;
		size_t end = i + 1;
		while (end < n && same_letters(names[i], names[end]))
			end++;
		size_t letters = strlen(names[i]) - number_at_end(names[i], &number);
		char *piece = NULL;
		size_t room = 0;
		FILE *text = open_memstream(&piece, &room);
		if (!text)
			return buffer;
		fprintf(text, "%s%.*s%s", i ? "," : "",
			(int)(end > i + 1 ? letters : strlen(names[i])), names[i],
			end > i + 1 ? "[" : "");
		for (size_t first = i, last; end > i + 1 && first < end;
			first = last + 1) {
			for (last = first;
				last + 1 < end && follows(names[last], names[last + 1]);)
				last++;
			fprintf(text, "%s%s", first > i ? "," : "",
				names[first] + letters);
			if (last > first)
				fprintf(text, "-%s", names[last] + letters);
		}
		fprintf(text, "%s", end > i + 1 ? "]" : "");
		fclose(text);
		bool fits = used + room + 5 < size;
		used += (size_t)snprintf(buffer + used, size - used, "%s",
			fits ? piece
			: i  ? ",..."
			     : "...");
		free(piece);
		if (!fits)
			break;
		i = end;
	}
	return buffer;
}
