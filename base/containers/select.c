#include "select.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct select_span {
	char *entries;
	size_t size;
	int (*compare)(const void *, const void *);
};

static char *ranked_at(const struct select_span *span, size_t i)
{
	return span->entries + i * span->size;
}

static void swap(const struct select_span *span, size_t i, size_t j)
{
	char spare[TB_SELECT_SIZE_MAX];
	memcpy(spare, ranked_at(span, i), span->size);
	memcpy(ranked_at(span, i), ranked_at(span, j), span->size);
	memcpy(ranked_at(span, j), spare, span->size);
}

// pivot_of takes the median of three, so that input sorted in either direction does not
// cost n^2.
static size_t pivot_of(const struct select_span *span, size_t low, size_t high)
{
	size_t middle = low + (high - low) / 2, last = high - 1;
	if (span->compare(ranked_at(span, middle), ranked_at(span, low)) < 0)
		swap(span, middle, low);
	if (span->compare(ranked_at(span, last), ranked_at(span, low)) < 0)
		swap(span, last, low);
	if (span->compare(ranked_at(span, last), ranked_at(span, middle)) < 0)
		swap(span, last, middle);
	return middle;
}

void tb_select_first(void *entries, size_t n, size_t size, size_t k,
	int (*compare)(const void *, const void *))
{
	const struct select_span span = {entries, size, compare};
	size_t low = 0, high = n;
	assert(size <= TB_SELECT_SIZE_MAX);
	k = k < n ? k : n;
	// Quickselect: entries before `low` belong among the first k, those from `high`
	// on do not.
	while (k > low && k < high) {
		// Move the entries smaller than the pivot before it.
		size_t last = high - 1, next = low;
		swap(&span, pivot_of(&span, low, high), last);
		for (size_t i = low; i < last; i++)
			if (span.compare(ranked_at(&span, i), ranked_at(&span, last)) < 0)
				swap(&span, i, next++);
		swap(&span, next, last);
		if (next < k)
			low = next + 1;
		else
			high = next;
	}
	qsort(entries, k, size, compare);
}
