#include "labels.h"

#include "array.h"
#include "hash.h"

#include <stdlib.h>
#include <string.h>

// What stands in `text` before a name.
struct label_head {
	uint32_t length, index;
};

void tb_labels_fini(struct tb_labels *labels)
{
	tb_map_fini(&labels->of_hash);
	free(labels->text);
	*labels = (struct tb_labels){0};
}

void tb_labels_clear(struct tb_labels *labels)
{
	labels->n_counted = 0;
	labels->n_text = 0;
	tb_map_fini(&labels->of_hash);
}

// find_named returns whether the table has the name, and stores its operation; `key` is
// where it is in the table, or belongs. Labels of one hash lie behind each other.
__attribute__((noinline)) static bool find_named(const struct tb_labels *labels,
	const char *name, size_t length, uint64_t *key, uint32_t *index)
{
	struct label_head head;
	uint32_t at;
	*key = TB_HASH_BEGIN;
	for (size_t i = 0; i < length; i += 8) {
		uint64_t word = 0;
		memcpy(&word, name + i, length - i < 8 ? length - i : 8);
		*key = tb_hash_word(*key, word);
	}
	for (; tb_map_find(&labels->of_hash, *key, &at); ++*key) {
		memcpy(&head, labels->text + at, sizeof head);
		if (head.length != length ||
			memcmp(labels->text + at + sizeof head, name, length) != 0)
			continue;
		*index = head.index;
		return true;
	}
	return false;
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
	uint32_t number = label_number(name, length), known;
	size_t at = labels->n_text;
	uint64_t key;
	if (number != 0 && number <= labels->n_counted)
		return 0;
	// Once the table has entries, it might hold the next number already.
	if (number == labels->n_counted + 1 && number == index + 1 && at == 0) {
		labels->n_counted++;
		return 1;
	}
	if (find_named(labels, name, length, &key, &known))
		return 0;
	const struct label_head head = {(uint32_t)length, index};
	size_t end = at + sizeof head + length;
	if (end > UINT32_MAX ||
		TB_ARRAY_RESERVE(&labels->text, &labels->text_room, end) != TB_OK ||
		tb_map_put(&labels->of_hash, key, (uint32_t)at) != TB_OK)
		return TB_ENOMEM;
	memcpy(labels->text + at, &head, sizeof head);
	memcpy(labels->text + at + sizeof head, name, length);
	labels->n_text = end;
	return 1;
}

bool tb_labels_find(
	const struct tb_labels *labels, const char *name, size_t length, uint32_t *index)
{
	uint32_t number = label_number(name, length);
	uint64_t key;
	if (number == 0 || number > labels->n_counted)
		return find_named(labels, name, length, &key, index);
	*index = number - 1;
	return true;
}
