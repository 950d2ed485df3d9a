#include "classes.h"

#include <stdlib.h>

struct keyed {
	uint32_t source, destination;
	uint64_t bytes;
	uint32_t message;
};

static int by_key(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;
	if (x->source != y->source)
		return x->source < y->source ? -1 : 1;
	if (x->destination != y->destination)
		return x->destination < y->destination ? -1 : 1;
	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? -1 : 1;
	return x->message < y->message ? -1 : x->message > y->message;
}

void tb_classes_fini(struct tb_classes *classes)
{
	free(classes->first);
	free(classes->members);
	free(classes->of);
	free(classes->place);
	free(classes->sent_first);
	free(classes->got_first);
	free(classes->got);
	*classes = (struct tb_classes){0};
}

static bool allocate(struct tb_classes *classes, size_t n, uint32_t n_nodes)
{
	classes->first = malloc((n + 1) * sizeof *classes->first);
	classes->members = malloc((n + 1) * sizeof *classes->members);
	classes->of = malloc((n + 1) * sizeof *classes->of);
	classes->place = malloc((n + 1) * sizeof *classes->place);
	classes->sent_first = calloc(n_nodes + 1u, sizeof *classes->sent_first);
	classes->got_first = calloc(n_nodes + 2u, sizeof *classes->got_first);
	classes->got = malloc((n + 1) * sizeof *classes->got);
	return classes->first && classes->members && classes->of && classes->place &&
	       classes->sent_first && classes->got_first && classes->got;
}

// number gives each message its class and its place.
static void number(struct tb_classes *classes, const struct keyed *keys, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bool begins = i == 0 || keys[i].source != keys[i - 1].source ||
			      keys[i].destination != keys[i - 1].destination ||
			      keys[i].bytes != keys[i - 1].bytes;
		if (begins)
			classes->first[classes->n++] = (uint32_t)i;
		uint32_t class = classes->n - 1;
		classes->members[i] = keys[i].message;
		classes->of[keys[i].message] = class;
		classes->place[keys[i].message] = (uint32_t)i - classes->first[class];
	}
	classes->first[classes->n] = (uint32_t)n;
}

// list_by_node fills sent_first and got: counting sorts of the classes by their ends.
static void list_by_node(
	struct tb_classes *classes, const struct keyed *keys, uint32_t n_nodes)
{
	for (uint32_t c = 0; c < classes->n; c++) {
		const struct keyed *key = &keys[classes->first[c]];
		classes->sent_first[key->source + 1]++;
		classes->got_first[key->destination + 2]++;
	}
	for (uint32_t v = 0; v < n_nodes; v++) {
		classes->sent_first[v + 1] += classes->sent_first[v];
		classes->got_first[v + 1] += classes->got_first[v];
	}
	// While it is filled, got_first is shifted by one: afterwards it is right.
	for (uint32_t c = 0; c < classes->n; c++) {
		uint32_t to = keys[classes->first[c]].destination;
		classes->got[classes->got_first[to + 1]++] = c;
	}
}

int tb_classes_find(
	struct tb_classes *classes, const struct tb_message_list *list, uint32_t n_nodes)
{
	struct tb_classes made = {0};
	struct keyed *keys = malloc((list->n + 1) * sizeof *keys);
	if (!keys || !allocate(&made, list->n, n_nodes)) {
		free(keys);
		tb_classes_fini(&made);
		return TB_ENOMEM;
	}
	for (size_t i = 0; i < list->n; i++)
		keys[i] = (struct keyed){list->rows[i].source, list->rows[i].destination,
			list->rows[i].bytes, (uint32_t)i};
	qsort(keys, list->n, sizeof *keys, by_key);
	number(&made, keys, list->n);
	list_by_node(&made, keys, n_nodes);
	free(keys);
	*classes = made;
	return TB_OK;
}
