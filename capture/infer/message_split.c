#include "infer_impl.h"

#include "array.h"
#include "order.h"

#include <stdlib.h>
#include <string.h>

#define SIZES_MAX    8 // of a stream with more sizes, sums of two are chance
#define RECURS_FROM  3
#define MULTIPLE_MAX 8

// How often a stream has a message of a size.
struct size_count {
	uint32_t stream;
	uint32_t n;
	uint64_t bytes;
};

struct size_table {
	struct size_count *rows; // by stream, then bytes
	size_t n;
	struct size_count *sums; // of all streams, by bytes
	size_t n_sums;
	bool few; // SIZES_MAX of them are those of most messages
};

static int by_stream(const void *a, const void *b)
{
	const struct size_count *x = a, *y = b;
	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	return TB_ORDER(x->bytes, y->bytes);
}

static int order_by_size(const void *a, const void *b)
{
	const struct size_count *x = a, *y = b;
	return TB_ORDER(x->bytes, y->bytes);
}

static int order_by_count(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return TB_ORDER(y, x);
}

// count_entry_sizes counts the sizes of all streams.
static int count_entry_sizes(
	struct size_table *sizes, const struct tb_uncut_message *entries, size_t n)
{
	sizes->rows = malloc((n + 1) * sizeof *sizes->rows);
	if (!sizes->rows)
		return TB_ENOMEM;
	for (size_t i = 0; i < n; i++)
		sizes->rows[i] = (struct size_count){
			entries[i].stream, 1, entries[i].message.bytes};
	qsort(sizes->rows, n, sizeof *sizes->rows, by_stream);
	for (size_t i = 0; i < n; i++) {
		if (sizes->n &&
			by_stream(&sizes->rows[sizes->n - 1], &sizes->rows[i]) == 0)
			sizes->rows[sizes->n - 1].n++;
		else
			sizes->rows[sizes->n++] = sizes->rows[i];
	}
	// Count the sizes of all streams together.
	sizes->sums = malloc((sizes->n + 1) * sizeof *sizes->sums);
	if (!sizes->sums)
		return TB_ENOMEM;
	memcpy(sizes->sums, sizes->rows, sizes->n * sizeof *sizes->sums);
	qsort(sizes->sums, sizes->n, sizeof *sizes->sums, order_by_size);
	for (size_t i = 0; i < sizes->n; i++) {
		struct size_count *last = sizes->sums + sizes->n_sums;
		if (sizes->n_sums && last[-1].bytes == sizes->sums[i].bytes)
			last[-1].n += sizes->sums[i].n;
		else
			sizes->sums[sizes->n_sums++] = sizes->sums[i];
	}
	// Few sizes: SIZES_MAX of them cover three in four messages.
	bool *few = &sizes->few;
	uint64_t *counts = malloc((sizes->n_sums + 1) * sizeof *counts);
	uint64_t all = 0, most = 0;
	if (!counts)
		return TB_ENOMEM;
	for (size_t i = 0; i < sizes->n_sums; i++)
		all += counts[i] = sizes->sums[i].n;
	qsort(counts, sizes->n_sums, sizeof *counts, order_by_count);
	for (size_t i = 0; i < sizes->n_sums && i < SIZES_MAX; i++)
		most += counts[i];
	*few = most >= all - all / 4;
	free(counts);
	return TB_OK;
}

// in_all returns how often a size comes in all streams together.
static uint64_t in_all(const struct size_table *sizes, uint64_t bytes)
{
	const struct size_count sought = {.bytes = bytes};
	const struct size_count *found = bsearch(
		&sought, sizes->sums, sizes->n_sums, sizeof sought, order_by_size);
	return found ? found->n : 0;
}

// The sizes of one stream that recur, and how often the message's own size does.
struct recurring {
	struct size_count rows[SIZES_MAX];
	uint32_t n;
	bool too_many;
	uint32_t own;
};

// The parts of a message: `n` times `first` bytes, then `last` bytes if that is not 0.
struct message_parts {
	uint64_t first, last;
	uint32_t n;
};

// is_chance_size returns whether sizes seem to follow each other by chance to make up a
// message: a size of the program's own is as frequent as its parts, in its stream and in
// all.
static bool is_chance_size(const struct size_table *all, const struct recurring *sizes,
	const struct size_count *part, uint64_t rest, uint64_t bytes)
{
	uint64_t n = in_all(all, bytes);
	if (part->n >= 2 * sizes->own)
		return false;
	return !all->few || in_all(all, part->bytes) <= n ||
	       (rest > 0 && in_all(all, rest) <= n);
}

// split_size finds sizes of the stream that make up the message, the largest first.
static struct message_parts split_size(
	const struct size_table *all, const struct recurring *sizes, uint64_t bytes)
{
	const struct message_parts whole = {bytes, 0, 1};
	if (sizes->too_many)
		return whole;
	for (uint32_t i = sizes->n; i-- > 0;) {
		const struct size_count *large = &sizes->rows[i];
		uint64_t times = bytes / large->bytes, rest = bytes % large->bytes;
		if (is_chance_size(all, sizes, large, rest, bytes))
			continue;
		if (rest == 0 && times <= MULTIPLE_MAX)
			return (struct message_parts){large->bytes, 0, (uint32_t)times};
		if (times == 1 && in_all(all, rest) >= RECURS_FROM)
			return (struct message_parts){large->bytes, rest, 1};
	}
	return whole;
}

// at_share returns the instant at which `part` of `whole` bytes had passed.
static int64_t at_share(int64_t from_ns, int64_t to_ns, uint64_t part, uint64_t whole)
{
	double share = (double)part / (double)whole;
	return from_ns + (int64_t)((double)(to_ns - from_ns) * share);
}

static int append_message(
	struct tb_message_list *list, const struct tb_inferred_message *message)
{
	int status = TB_ARRAY_RESERVE(&list->rows, &list->room, list->n + 1);
	if (status == TB_OK)
		list->rows[list->n++] = *message;
	return status;
}

// append_message_parts appends the parts of a message. A part that is not the first stood
// behind those before it, so when its sender called for it is hidden.
static int append_message_parts(struct tb_message_list *list,
	const struct tb_inferred_message *whole, const struct message_parts *parts)
{
	uint64_t done = 0;
	int status = TB_OK;
	if (parts->first == whole->bytes) // it may have none
		return append_message(list, whole);
	while (status == TB_OK && done < whole->bytes) {
		struct tb_inferred_message part = *whole;
		bool is_rest = parts->last && done >= parts->n * parts->first;
		part.bytes = is_rest ? parts->last : parts->first;
		part.left_ns =
			at_share(whole->left_ns, whole->last_ns, done, whole->bytes);
		done += part.bytes;
		part.last_ns =
			at_share(whole->left_ns, whole->last_ns, done, whole->bytes);
		part.delivered_ns =
			at_share(whole->left_ns, whole->delivered_ns, done, whole->bytes);
		if (part.left_ns != whole->left_ns)
			part.resumes = 0;
		if (done < whole->bytes) { // what is known of its end
			part.n_missing = part.closes = 0;
			part.is_cut_off = true;
			part.is_unfinished = part.is_unnumbered = false;
		}
		status = append_message(list, &part);
	}
	return status;
}

int tb_message_split(
	const struct tb_uncut_message *entries, size_t n, struct tb_message_list *list)
{
	struct size_table sizes = {0};
	int status = count_entry_sizes(&sizes, entries, n);
	for (size_t i = 0; status == TB_OK && i < n; i++) {
		const struct tb_uncut_message *entry = &entries[i];
		struct recurring found = {.n = 0};
		size_t low = 0, high = sizes.n;
		while (low < high) {
			size_t middle = (low + high) / 2;
			if (sizes.rows[middle].stream < entry->stream)
				low = middle + 1;
			else
				high = middle;
		}
		for (; low < sizes.n && sizes.rows[low].stream == entry->stream; low++) {
			const struct size_count *row = &sizes.rows[low];
			if (row->bytes == entry->message.bytes)
				found.own = row->n;
			if (row->n < RECURS_FROM || row->bytes >= entry->message.bytes ||
				row->bytes == 0)
				continue;
			if (found.n == SIZES_MAX) {
				found.too_many = true;
				break;
			}
			found.rows[found.n++] = *row;
		}
		const struct message_parts parts =
			split_size(&sizes, &found, entries[i].message.bytes);
		status = append_message_parts(list, &entries[i].message, &parts);
	}
	free(sizes.rows);
	free(sizes.sums);
	return status;
}
