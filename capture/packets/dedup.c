#include "clean.h"

#include "random.h"

#include <stdlib.h>

#define N_ENTRIES (2 * TB_DEDUP_FRAMES_MAX) // per frame: one alone, one with its point
#define N_BUCKETS N_ENTRIES

struct entry {
	uint64_t key;
	int64_t at_ns;
	uint32_t n;
	uint32_t next; // in its bucket: index + 1, 0 at the end
};

// A ring of entries in the order of time, and buckets over it.
struct tb_dedup {
	uint32_t first; // oldest entry
	uint32_t n;
	uint32_t buckets[N_BUCKETS]; // index + 1, 0: empty
	struct entry entries[N_ENTRIES];
};

int tb_dedup_new(struct tb_dedup **dedup)
{
	// Zeroed pages cost nothing until they are used.
	struct tb_dedup *new = calloc(1, sizeof *new);
	if (!new)
		return TB_ENOMEM;
	*dedup = new;
	return TB_OK;
}

void tb_dedup_free(struct tb_dedup *dedup)
{
	free(dedup);
}

// Keys are hashes already, so their low bits will do.
static uint32_t *dedup_bucket(struct tb_dedup *dedup, uint64_t key)
{
	return &dedup->buckets[key & (N_BUCKETS - 1)];
}

// dedup_count returns the counter of the key, which is 0 for a new key.
static uint32_t *dedup_count(struct tb_dedup *dedup, uint64_t key, int64_t at_ns)
{
	uint32_t *bucket = dedup_bucket(dedup, key);
	for (uint32_t i = *bucket; i != 0; i = dedup->entries[i - 1].next)
		if (dedup->entries[i - 1].key == key)
			return &dedup->entries[i - 1].n;
	uint32_t slot = (dedup->first + dedup->n++) & (N_ENTRIES - 1);
	dedup->entries[slot] = (struct entry){key, at_ns, 0, *bucket};
	*bucket = slot + 1;
	return &dedup->entries[slot].n;
}

bool tb_dedup_is_copy(
	struct tb_dedup *dedup, uint64_t digest, uint64_t point, int64_t at_ns)
{
	while (dedup->n > 0 &&
		(dedup->n > N_ENTRIES - 2 || at_ns - dedup->entries[dedup->first].at_ns >
						     TB_DEDUP_WINDOW_NS)) {
		uint32_t oldest = dedup->first;
		uint32_t *link = dedup_bucket(dedup, dedup->entries[oldest].key);
		while (*link != oldest + 1)
			link = &dedup->entries[*link - 1].next;
		*link = dedup->entries[oldest].next;
		dedup->first = (oldest + 1) & (N_ENTRIES - 1);
		dedup->n--;
	}
	// A call adds up to two entries: one counts the frames of this digest, one how
	// often this point saw it.
	uint32_t *taken = dedup_count(dedup, tb_random_mix(digest), at_ns);
	if (point == TB_DEDUP_ANY_POINT)
		return (*taken)++ > 0;
	uint32_t *here =
		dedup_count(dedup, tb_random_mix(digest ^ tb_random_mix(point)), at_ns);
	if (++*here <= *taken)
		return true;
	++*taken;
	return false;
}
