// Walks through a JSON file that is too large to hold: one object with members, of which
// some are long arrays.
//
// Model: the items of the file are the elements of each array that is a member of its
// outermost object, and every other member. An item is raw text, found by its brackets
// and quotes alone; raw_json.h looks into it. Memory: the largest item, at most 16 MiB.
// Cost: one look at each byte. One thread at a time.
#ifndef TB_JSON_ITEMS_H
#define TB_JSON_ITEMS_H

#include "raw_json.h"

#include <stdint.h>
#include <stdio.h>

#define TB_JSON_ITEM_MAX ((size_t)16 << 20)

struct tb_json_items; // opaque

struct tb_json_item {
	struct tb_raw key; // of the member, or of the array; without quotes
	struct tb_raw value;
	uint64_t offset; // of the value in the file, decompressed
	bool in_array;
};

// tb_json_items_new begins with a stream, which stays the caller's; `name` is that of the
// file, for errors, and is borrowed. tb_json_items_free: NULL is fine.
int tb_json_items_new(struct tb_json_items **items, FILE *stream, const char *name,
	struct tb_error *error) TB_MUST_USE;
void tb_json_items_free(struct tb_json_items *items);

// tb_json_items_next stores the next item, which lives until the next call: 1, or 0 at
// the end of the outermost object. TB_EFORMAT, with the offset, for what is not JSON, for
// a file that ends too early and for an item of more than TB_JSON_ITEM_MAX.
int tb_json_items_next(struct tb_json_items *items, struct tb_json_item *item,
	struct tb_error *error) TB_MUST_USE;

// tb_json_items_is_cut returns whether the last TB_EFORMAT was that the file ends too
// early.
bool tb_json_items_is_cut(const struct tb_json_items *items);

#endif
