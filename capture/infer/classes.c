#include "infer_impl.h"
#include "order.h"

#include <stdlib.h>
#include <string.h>

#define SIZES_MAX 8 // of a pair with more, the place in the program tells events apart
#define PLACE	  8 // calls before a message that make up its place

struct message_of_class {
	uint32_t source, destination;
	uint64_t kind; // bytes, or a hash of the place
	uint32_t message;
};

static int order_by_class(const void *a, const void *b)
{
	const struct message_of_class *x = a, *y = b;
	if (x->source != y->source)
		return x->source < y->source ? -1 : 1;
	if (x->destination != y->destination)
		return x->destination < y->destination ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return TB_ORDER(x->message, y->message);
}

void tb_classes_fini(struct tb_classes *classes)
{
	free(classes->first);
	free(classes->members);
	free(classes->of);
	free(classes->place);
	free(classes->by_place);
	free(classes->sent_first);
	free(classes->got_first);
	free(classes->got);
	free(classes->pairs);
	free(classes->by_pair);
	*classes = (struct tb_classes){0};
}

static bool allocate_classes(struct tb_classes *classes, size_t n, uint32_t n_nodes)
{
	classes->first = malloc((n + 1) * sizeof *classes->first);
	classes->members = malloc((n + 1) * sizeof *classes->members);
	classes->of = malloc((n + 1) * sizeof *classes->of);
	classes->place = malloc((n + 1) * sizeof *classes->place);
	classes->by_place = calloc(n + 1, sizeof *classes->by_place);
	classes->sent_first = calloc(n_nodes + 1u, sizeof *classes->sent_first);
	classes->got_first = calloc(n_nodes + 2u, sizeof *classes->got_first);
	classes->got = malloc((n + 1) * sizeof *classes->got);
	classes->pairs = malloc((n + 1) * sizeof *classes->pairs);
	classes->by_pair = malloc((n + 1) * sizeof *classes->by_pair);
	return classes->pairs && classes->by_pair && classes->first && classes->members &&
	       classes->of && classes->place && classes->by_place &&
	       classes->sent_first && classes->got_first && classes->got;
}

static bool is_same_class_pair(
	const struct message_of_class *x, const struct message_of_class *y)
{
	return x->source == y->source && x->destination == y->destination;
}

// mark_many marks the messages of pairs with many sizes, given keys in order; returns
// whether there are any.
static bool mark_many(
	struct tb_classes *classes, const struct message_of_class *keys, size_t n)
{
	bool any = false;
	for (size_t i = 0, end; i < n; i = end) {
		uint32_t sizes = 1;
		for (end = i + 1; end < n && is_same_class_pair(&keys[end], &keys[i]);
			end++)
			sizes += keys[end].kind != keys[end - 1].kind;
		for (size_t k = i; sizes > SIZES_MAX && k < end; k++)
			classes->by_place[keys[k].message] = any = true;
	}
	return any;
}

// hash_place hashes to whom a node sent last, the latest first.
static uint64_t hash_place(const uint32_t *recent)
{
	uint64_t hash = UINT64_C(14695981039346656037); // FNV-1a
	for (uint32_t k = 0; k < PLACE; k++)
		hash = (hash ^ recent[k]) * UINT64_C(1099511628211);
	return hash;
}

// find_class_places replaces the sizes of marked messages by their places. Messages leave
// a node in the order in which it called for them.
static int find_class_places(const struct tb_classes *classes,
	struct message_of_class *keys, const struct tb_message_list *list,
	uint32_t n_nodes)
{
	uint32_t(*recent)[PLACE] = calloc(n_nodes + 1u, sizeof *recent);
	uint64_t *places = malloc((list->n + 1) * sizeof *places);
	if (!recent || !places) {
		free(recent);
		free(places);
		return TB_ENOMEM;
	}
	for (size_t i = 0; i < list->n; i++) {
		uint32_t *of = recent[list->rows[i].source];
		places[i] = hash_place(of);
		memmove(of + 1, of, (PLACE - 1) * sizeof *of);
		of[0] = list->rows[i].destination + 1;
	}
	for (size_t i = 0; i < list->n; i++)
		if (classes->by_place[keys[i].message])
			keys[i].kind = places[keys[i].message];
	free(recent);
	free(places);
	return TB_OK;
}

// sort_keys puts the messages of a class together.
static int sort_keys(struct tb_classes *classes, struct message_of_class *keys,
	const struct tb_message_list *list, uint32_t n_nodes)
{
	for (size_t i = 0; i < list->n; i++)
		keys[i] = (struct message_of_class){list->rows[i].source,
			list->rows[i].destination, list->rows[i].bytes, (uint32_t)i};
	qsort(keys, list->n, sizeof *keys, order_by_class);
	if (!mark_many(classes, keys, list->n))
		return TB_OK;
	int status = find_class_places(classes, keys, list, n_nodes);
	if (status == TB_OK)
		qsort(keys, list->n, sizeof *keys, order_by_class);
	return status;
}

// list_class_pairs fills pairs and by_pair.
static void list_class_pairs(
	struct tb_classes *classes, const struct message_of_class *keys, size_t n)
{
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i; end < n && is_same_class_pair(&keys[end], &keys[i]); end++)
			classes->by_pair[end] = keys[end].message;
		qsort(classes->by_pair + i, end - i, sizeof *classes->by_pair,
			tb_order_u32);
		classes->pairs[classes->n_pairs++] =
			(struct tb_ordered_pair){keys[i].source, keys[i].destination,
				(uint32_t)i, (uint32_t)(end - i)};
	}
}

static int compare_pairs(const void *a, const void *b)
{
	const struct tb_ordered_pair *x = a, *y = b;
	if (x->source != y->source)
		return x->source < y->source ? -1 : 1;
	return TB_ORDER(x->destination, y->destination);
}

const struct tb_ordered_pair *tb_classes_pair(
	const struct tb_classes *classes, uint32_t source, uint32_t destination)
{
	const struct tb_ordered_pair wanted = {source, destination, 0, 0};
	return bsearch(
		&wanted, classes->pairs, classes->n_pairs, sizeof wanted, compare_pairs);
}

int tb_classes_find(
	struct tb_classes *classes, const struct tb_message_list *list, uint32_t n_nodes)
{
	struct tb_classes made = {0};
	struct message_of_class *keys = malloc((list->n + 1) * sizeof *keys);
	if (!keys || !allocate_classes(&made, list->n, n_nodes) ||
		sort_keys(&made, keys, list, n_nodes) != TB_OK) {
		free(keys);
		tb_classes_fini(&made);
		return TB_ENOMEM;
	}
	// Give each message its class and its place.
	size_t n = list->n;
	for (size_t i = 0; i < n; i++) {
		bool begins = i == 0 || !is_same_class_pair(&keys[i], &keys[i - 1]) ||
			      keys[i].kind != keys[i - 1].kind;
		if (begins)
			made.first[made.n++] = (uint32_t)i;
		uint32_t class = made.n - 1;
		made.members[i] = keys[i].message;
		made.of[keys[i].message] = class;
		made.place[keys[i].message] = (uint32_t)i - made.first[class];
	}
	made.first[made.n] = (uint32_t)n;
	list_class_pairs(&made, keys, list->n);
	// Fill sent_first and got: counting sorts of the classes by their ends.
	for (uint32_t c = 0; c < made.n; c++) {
		const struct message_of_class *key = &keys[made.first[c]];
		made.sent_first[key->source + 1]++;
		made.got_first[key->destination + 2]++;
	}
	for (uint32_t v = 0; v < n_nodes; v++) {
		made.sent_first[v + 1] += made.sent_first[v];
		made.got_first[v + 1] += made.got_first[v];
	}
	// While it is filled, got_first is shifted by one: afterwards it is right.
	for (uint32_t c = 0; c < made.n; c++) {
		uint32_t to = keys[made.first[c]].destination;
		made.got[made.got_first[to + 1]++] = c;
	}
	free(keys);
	*classes = made;
	return TB_OK;
}
