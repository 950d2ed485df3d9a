#include "labels.h"

#include "array.h"

#include <stdlib.h>
#include <string.h>

struct tb_label {
	uint32_t hash;
	uint32_t generation; // 0: never used
	uint32_t at;	     // offset of its length in `text`
	uint32_t index;
};

void tb_labels_fini(struct tb_labels *labels)
{
	free(labels->slots);
	free(labels->text);
	*labels = (struct tb_labels){0};
}

void tb_labels_clear(struct tb_labels *labels)
{
	labels->n_used = labels->n_text = labels->n_counted = 0;
	if (++labels->generation == 0) { // wrapped around after 2^32 ranks
		if (labels->slots)
			memset(labels->slots, 0,
				labels->capacity * sizeof *labels->slots);
		labels->generation = 1;
	}
}

// FNV-1a (Fowler, Noll, Vo), plus a final mix because the low bits choose the slot.
static uint32_t label_hash(const char *name, size_t length)
{
	uint32_t hash = UINT32_C(2166136261);
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)name[i]) * UINT32_C(16777619);
	return hash ^ hash >> 15;
}

// label_slot finds the slot of the name, or the empty one where it belongs.
static struct tb_label *label_slot(
	const struct tb_labels *labels, uint32_t hash, const char *name, size_t length)
{
	size_t mask = labels->capacity - 1;
	for (size_t i = hash & mask;; i = (i + 1) & mask) {
		struct tb_label *slot = &labels->slots[i];
		if (slot->generation != labels->generation)
			return slot;
		if (slot->hash != hash)
			continue;
		uint32_t n;
		memcpy(&n, labels->text + slot->at, sizeof n);
		if (n == length &&
			memcmp(labels->text + slot->at + sizeof n, name, length) == 0)
			return slot;
	}
}

static bool grow_slots(struct tb_labels *labels)
{
	size_t capacity = labels->capacity ? labels->capacity * 2 : 256;
	struct tb_label *slots = calloc(capacity, sizeof *slots);
	if (!slots)
		return false;
	if (labels->generation == 0)
		labels->generation = 1;
	for (size_t i = 0; i < labels->capacity; i++) {
		const struct tb_label *old = &labels->slots[i];
		if (old->generation != labels->generation)
			continue;
		size_t k = old->hash & (capacity - 1);
		while (slots[k].generation)
			k = (k + 1) & (capacity - 1);
		slots[k] = *old;
	}
	free(labels->slots);
	labels->slots = slots;
	labels->capacity = capacity;
	return true;
}

static bool store_label(struct tb_labels *labels, const char *name, size_t length)
{
	uint32_t n = (uint32_t)length;
	size_t need = labels->n_text + sizeof n + length;
	if (need > UINT32_MAX ||
		TB_ARRAY_RESERVE(&labels->text, &labels->text_room, need) != TB_OK)
		return false;
	memcpy(labels->text + labels->n_text, &n, sizeof n);
	memcpy(labels->text + labels->n_text + sizeof n, name, length);
	labels->n_text = need;
	return true;
}

// label_number returns n if the name is "ln" with a plain number n from 1, otherwise 0.
static uint32_t label_number(const char *name, size_t length)
{
	uint64_t number = 0;
	if (length < 2 || length > 11 || name[0] != 'l' || name[1] == '0')
		return 0;
	for (size_t i = 1; i < length; i++) {
		if (name[i] < '0' || name[i] > '9')
			return 0;
		number = number * 10 + (uint64_t)(name[i] - '0');
	}
	return number > UINT32_MAX ? 0 : (uint32_t)number;
}

int tb_labels_put(
	struct tb_labels *labels, const char *name, size_t length, uint32_t index)
{
	uint32_t number = label_number(name, length);
	if (number != 0 && number <= labels->n_counted)
		return 0;
	// Once the table has entries, it might hold the next number already.
	if (number == labels->n_counted + 1 && number == index + 1 &&
		labels->n_used == 0) {
		labels->n_counted++;
		return 1;
	}
	// At most three quarters full, so that probe chains stay short.
	if (labels->n_used * 4 >= labels->capacity * 3 && !grow_slots(labels))
		return TB_ENOMEM;
	uint32_t hash = label_hash(name, length);
	struct tb_label *slot = label_slot(labels, hash, name, length);
	if (slot->generation == labels->generation)
		return 0;
	uint32_t at = (uint32_t)labels->n_text;
	if (!store_label(labels, name, length))
		return TB_ENOMEM;
	*slot = (struct tb_label){hash, labels->generation, at, index};
	labels->n_used++;
	return 1;
}

bool tb_labels_find(
	const struct tb_labels *labels, const char *name, size_t length, uint32_t *index)
{
	uint32_t number = label_number(name, length);
	if (number != 0 && number <= labels->n_counted) {
		*index = number - 1;
		return true;
	}
	if (labels->n_used == 0)
		return false;
	const struct tb_label *slot =
		label_slot(labels, label_hash(name, length), name, length);
	if (slot->generation != labels->generation)
		return false;
	*index = slot->index;
	return true;
}
