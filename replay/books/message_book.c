#include "message_book.h"

#include "array.h"
#include "heap.h"

#include <stdbool.h>
#include <stdlib.h>

struct tb_kept_message {
	int64_t lost_ps;
	uint64_t nth; // to be delivered
	uint32_t at;  // in the samples
};

// A lone message can be quicker than the ideal: by rounding, or over better links.
static int64_t lost_by(const struct tb_message_sample *message)
{
	return (int64_t)(message->network_ps - message->ideal_ps);
}

static bool goes_first(const struct tb_kept_message *a, const struct tb_kept_message *b)
{
	return a->lost_ps != b->lost_ps ? a->lost_ps < b->lost_ps : a->nth > b->nth;
}

TB_HEAP(kept, struct tb_kept_message, goes_first)

void tb_message_book_fini(struct tb_message_book *book)
{
	free(book->samples);
	free(book->heap);
	*book = (struct tb_message_book){0};
}

static int make_heap(struct tb_message_book *book)
{
	book->heap = malloc(TB_MESSAGES_KEPT * sizeof *book->heap);
	if (!book->heap)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < TB_MESSAGES_KEPT; i++)
		kept_put(book->heap, i,
			(struct tb_kept_message){lost_by(&book->samples[i]), i, i});
	return TB_OK;
}

static void replace(struct tb_message_book *book, const struct tb_message_sample *message)
{
	int64_t lost_ps = lost_by(message);
	uint32_t at = book->heap[0].at;
	if (lost_ps <= book->heap[0].lost_ps)
		return;
	book->samples[at] = *message;
	kept_replace(book->heap, TB_MESSAGES_KEPT,
		(struct tb_kept_message){lost_ps, book->n_seen, at});
}

int tb_message_book_add(
	struct tb_message_book *book, const struct tb_message_sample *message)
{
	if (book->n < TB_MESSAGES_KEPT) {
		if (TB_ARRAY_RESERVE(&book->samples, &book->room, book->n + 1) != TB_OK)
			return TB_ENOMEM;
		book->samples[book->n++] = *message;
	} else {
		if (!book->heap && make_heap(book) != TB_OK)
			return TB_ENOMEM;
		replace(book, message);
	}
	book->n_seen++;
	return TB_OK;
}

static int by_flow(const void *left, const void *right)
{
	const struct tb_message_sample *a = left, *b = right;
	const uint64_t keys[][2] = {{a->job, b->job}, {a->source.id, b->source.id},
		{a->destination.id, b->destination.id}, {a->number, b->number}};
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (keys[i][0] != keys[i][1])
			return keys[i][0] < keys[i][1] ? -1 : 1;
	return 0;
}

int tb_message_book_tell(struct tb_message_book *book, const struct tb_observer *observer)
{
	if (book->n)
		qsort(book->samples, book->n, sizeof *book->samples, by_flow);
	return observer->messages(observer->context, book->samples, book->n);
}
