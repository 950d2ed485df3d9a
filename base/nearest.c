#include "nearest.h"

#include <string.h>

enum { LETTERS = 64 };

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

// distance keeps one row of Levenshtein's table: row[k] is the distance between the first
// i letters of `a` and the first k of `b`.
static unsigned distance(const char *a, const char *b)
{
	unsigned row[LETTERS];
	size_t n = strnlen(b, LETTERS - 1);
	for (unsigned i = 0; i <= n; i++)
		row[i] = i;
	for (unsigned i = 0; a[i]; i++) {
		unsigned diagonal = row[0];
		row[0] = i + 1;
		for (size_t k = 0; k < n; k++) {
			unsigned replace = diagonal + (a[i] != b[k]);
			diagonal = row[k + 1];
			row[k + 1] = least(replace, least(row[k], row[k + 1]) + 1);
		}
	}
	return row[n];
}

size_t tb_nearest(const char *typed, const char *const *names, size_t n, size_t stride)
{
	size_t nearest = 0;
	unsigned fewest = distance(typed, names[0]);
	for (size_t i = 1; i < n; i++) {
		const char *name;
		memcpy(&name, (const char *)names + i * stride, sizeof name);
		unsigned letters = distance(typed, name);
		if (letters < fewest) {
			fewest = letters;
			nearest = i;
		}
	}
	return nearest;
}
