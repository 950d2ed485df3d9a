#include "blame_copy.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct rows { // of a record
	const void *items;
	size_t n, size;
};

enum { PARTS = 8 + TB_GROUPINGS };

#define PART(name)                                                                       \
	{                                                                                \
		record->name, record->n_##name, sizeof *record->name                     \
	}

static void list_parts(const struct tb_blame_record *record, struct rows parts[PARTS])
{
	const struct rows list[] = {PART(roots), PART(root_bins), PART(root_jobs),
		PART(job_waits), PART(job_links), PART(by_link), PART(by_time),
		PART(trees), PART(groups[TB_GROUP_DESTINATION]),
		PART(groups[TB_GROUP_DESTINATION_LEAF]),
		PART(groups[TB_GROUP_SOURCE_LEAF])};
	_Static_assert(sizeof list == PARTS * sizeof *list, "all parts");
	memcpy(parts, list, sizeof list);
}

static void take_parts(struct tb_blame_record *record, const struct rows parts[PARTS])
{
	record->roots = parts[0].items;
	record->root_bins = parts[1].items;
	record->root_jobs = parts[2].items;
	record->job_waits = parts[3].items;
	record->job_links = parts[4].items;
	record->by_link = parts[5].items;
	record->by_time = parts[6].items;
	record->trees = parts[7].items;
	for (int i = 0; i < TB_GROUPINGS; i++)
		record->groups[i] = parts[8 + i].items;
}

static void *copy_of(const struct rows *rows)
{
	void *copy = malloc(rows->n ? rows->n * rows->size : 1);
	if (copy && rows->n)
		memcpy(copy, rows->items, rows->n * rows->size);
	return copy;
}

int tb_blame_record_copy(struct tb_blame_record *copy, const struct tb_blame_record *from)
{
	struct tb_blame_record made = *from;
	struct rows parts[PARTS];
	bool failed = false;
	list_parts(from, parts);
	for (int i = 0; i < PARTS; i++) {
		parts[i].items = copy_of(&parts[i]);
		failed |= !parts[i].items;
	}
	take_parts(&made, parts);
	if (failed) {
		tb_blame_record_free(&made);
		return TB_ENOMEM;
	}
	*copy = made;
	return TB_OK;
}

void tb_blame_record_free(struct tb_blame_record *record)
{
	struct rows parts[PARTS];
	list_parts(record, parts);
	for (int i = 0; i < PARTS; i++)
		free((void *)(uintptr_t)parts[i].items);
	*record = (struct tb_blame_record){0};
}
