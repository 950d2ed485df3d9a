#include "nearest.h"

#include <stdio.h>
#include <string.h>

enum { LETTERS = 64, LETTERS_A_SLIP = 3, FEWEST_LETTERS = 2 };

static unsigned lesser_cost(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static const char *name_at(const char *const *names, size_t i, size_t stride)
{
	const char *name;
	memcpy(&name, (const char *)names + i * stride, sizeof name);
	return name;
}

// slips counts the letters that are missing after a beginning of `name` as one slip.
static unsigned slips(const char *typed, size_t n_typed, const char *name)
{
	// Keep three rows of the table of optimal string alignment: row[i % 3][k]
	// is the distance between the first i letters of `a` and the first k of `b`.
	unsigned row[3][LETTERS];
	size_t n = strnlen(name, LETTERS - 1), i = 0;
	for (unsigned k = 0; k <= n; k++)
		row[0][k] = k;
	for (i = 1; typed[i - 1]; i++) {
		unsigned *now = row[i % 3];
		const unsigned *above = row[(i - 1) % 3], *twice = row[(i + 1) % 3];
		now[0] = (unsigned)i;
		for (size_t k = 1; k <= n; k++) {
			now[k] = lesser_cost(above[k - 1] + (typed[i - 1] != name[k - 1]),
				lesser_cost(above[k], now[k - 1]) + 1);
			if (i > 1 && k > 1 && typed[i - 1] == name[k - 2] &&
				typed[i - 2] == name[k - 1])
				now[k] = lesser_cost(now[k], twice[k - 2] + 1);
		}
	}
	unsigned letters = row[(i - 1) % 3][n];
	if (n_typed >= FEWEST_LETTERS && strncmp(typed, name, n_typed) == 0)
		return lesser_cost(letters, 1);
	return letters;
}

size_t tb_nearest(const char *typed, const char *const *names, size_t n, size_t stride)
{
	size_t n_typed = strlen(typed), nearest = n;
	size_t allowed = n_typed / LETTERS_A_SLIP;
	if (allowed == 0 && n_typed >= FEWEST_LETTERS)
		allowed = 1;
	size_t fewest = allowed + 1;
	for (size_t i = 0; i < n; i++) {
		unsigned letters = slips(typed, n_typed, name_at(names, i, stride));
		if (letters < fewest) {
			fewest = letters;
			nearest = i;
		}
	}
	return nearest;
}

const char *tb_hint_near(struct tb_hint *hint, const char *typed,
	const char *const *names, size_t n, size_t stride)
{
	size_t nearest = tb_nearest(typed, names, n, stride);
	hint->text[0] = '\0';
	if (nearest < n)
		snprintf(hint->text, sizeof hint->text, "; the nearest is '%s'",
			name_at(names, nearest, stride));
	return hint->text;
}

const char *tb_hint_choice(struct tb_hint *hint, const char *typed,
	const char *const *names, size_t n, size_t stride)
{
	size_t used = 0;
	if (*tb_hint_near(hint, typed, names, n, stride))
		return hint->text;
	for (size_t i = 0; i < n; i++) {
		const char *name = name_at(names, i, stride);
		size_t room = sizeof hint->text - used;
		if (strlen(name) + sizeof "; expected " + sizeof ", ..." > room) {
			snprintf(hint->text + used, room, ", ...");
			break;
		}
		used += (size_t)snprintf(hint->text + used, room, "%s%s",
			i == 0	     ? "; expected "
			: i + 1 == n ? " or "
				     : ", ",
			name);
	}
	return hint->text;
}
