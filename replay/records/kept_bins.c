#include "replay_records.h"

#include "array.h"

#include <stdlib.h>
#include <string.h>

// A bin is a head and its samples. A sample is its link in 4 bytes, the length of each
// figure in half a byte, and the figures, lowest byte first: 0 takes none. Reading and
// writing whole words needs no branch per byte, so what is written may reach WORD bytes
// beyond its end, and what is read, too.
struct head {
	uint32_t bin, n, n_bytes; // of the samples
};

enum {
	WORD = 8,
	LENGTHS = (TB_N_FIGURES + 1) / 2, // bytes
	FIGURES = 4 + LENGTHS,		  // where they begin
	SAMPLE_MOST = FIGURES + WORD * TB_N_FIGURES
};
_Static_assert(LENGTHS <= WORD, "the lengths of a sample's figures are read as one word");

void tb_kept_bins_fini(struct tb_kept_bins *kept)
{
	free(kept->bytes);
	free(kept->first);
	*kept = (struct tb_kept_bins){0};
}

static inline uint64_t word_at(const unsigned char *from)
{
	uint64_t word;
	memcpy(&word, from, sizeof word);
	return word;
}

static inline uint32_t link_at(const unsigned char *sample)
{
	uint32_t link;
	memcpy(&link, sample, sizeof link);
	return link;
}

static inline uint64_t lengths_at(const unsigned char *sample)
{
	uint64_t all = word_at(sample + 4);
	return 4 * TB_N_FIGURES < 64 ? all & ((UINT64_C(1) << 4 * TB_N_FIGURES % 64) - 1)
				     : all;
}

// size_at returns how many bytes the packed sample takes.
static inline size_t size_at(const unsigned char *sample)
{
	const uint64_t odd = UINT64_C(0x0f0f0f0f0f0f0f0f);
	uint64_t lengths = lengths_at(sample);
	lengths = (lengths & odd) + (lengths >> 4 & odd);
	return FIGURES + (size_t)(lengths * UINT64_C(0x0101010101010101) >> 56);
}

// put_sample packs a sample; returns the byte after it.
static inline unsigned char *put_sample(
	unsigned char *to, const struct tb_link_sample *sample)
{
	uint64_t lengths = 0;
	unsigned char *at = to + FIGURES;
	for (int i = 0; i < TB_N_FIGURES; i++) {
		uint64_t value = sample->figures[i];
		unsigned n_bits = value ? 64 - (unsigned)__builtin_clzll(value) : 0;
		memcpy(at, &value, sizeof value);
		at += (n_bits + 7) / 8;
		lengths |= (uint64_t)((n_bits + 7) / 8) << 4 * i;
	}
	memcpy(to, &sample->link.id, 4);
	memcpy(to + 4, &lengths, LENGTHS);
	return at;
}

static inline const unsigned char *get_sample(
	const unsigned char *from, struct tb_link_sample *sample)
{
	uint64_t lengths = lengths_at(from);
	sample->link.id = link_at(from);
	from += FIGURES;
	for (int i = 0; i < TB_N_FIGURES; i++, lengths >>= 4) {
		unsigned n_bytes = lengths & 15;
		uint64_t mask = n_bytes ? UINT64_MAX >> (64 - 8 * n_bytes) : 0;
		sample->figures[i] = word_at(from) & mask;
		from += n_bytes;
	}
	return from;
}

int tb_kept_bins_begin(struct tb_kept_bins *kept, uint32_t bin)
{
	kept->last = kept->n_bytes;
	size_t needed = kept->n_bytes + sizeof(struct head) + WORD;
	if (TB_ARRAY_RESERVE(&kept->bytes, &kept->room, needed) != TB_OK)
		return TB_ENOMEM;
	memcpy(kept->bytes + kept->last, &(struct head){.bin = bin}, sizeof(struct head));
	return TB_OK;
}

int tb_kept_bins_add(
	struct tb_kept_bins *kept, const struct tb_link_sample *samples, uint32_t n)
{
	struct head head;
	if (n == 0)
		return TB_OK;
	size_t begin = kept->last + sizeof head;
	size_t used = kept->n_bytes > begin ? kept->n_bytes : begin;
	if (TB_ARRAY_RESERVE(&kept->bytes, &kept->room,
		    used + (size_t)n * SAMPLE_MOST + WORD) != TB_OK)
		return TB_ENOMEM;
	unsigned char *to = kept->bytes + used;
	for (uint32_t i = 0; i < n; i++)
		to = put_sample(to, &samples[i]);
	kept->n_bytes = (size_t)(to - kept->bytes);
	memcpy(&head, kept->bytes + kept->last, sizeof head);
	head.n += n;
	head.n_bytes = (uint32_t)(kept->n_bytes - begin);
	memcpy(kept->bytes + kept->last, &head, sizeof head);
	return TB_OK;
}

size_t tb_kept_bins_read(const struct tb_kept_bins *kept, size_t from, uint32_t *bin,
	struct tb_link_sample *samples, uint32_t *n)
{
	struct head head;
	memcpy(&head, kept->bytes + from, sizeof head);
	const unsigned char *at = kept->bytes + from + sizeof head;
	for (uint32_t i = 0; i < head.n; i++) {
		at = get_sample(at, &samples[i]);
		tb_link_sample_rate(&samples[i], 0);
	}
	*bin = head.bin;
	*n = head.n;
	return (size_t)(at - kept->bytes);
}

// Packed samples that are being merged.
struct samples {
	const unsigned char *at;
	uint32_t n_left;
};

// pass moves the next sample to `to`; returns the byte after it.
static unsigned char *pass(unsigned char *to, struct samples *samples)
{
	size_t size = size_at(samples->at);
	memmove(to, samples->at, size);
	samples->at += size;
	samples->n_left--;
	return to + size;
}

// pass_sum adds up the next samples of two, which are of one link. The sum is packed
// aside: it ends where the second did at the latest, but its last word may not.
static unsigned char *pass_sum(
	unsigned char *to, struct samples *first, struct samples *second)
{
	struct tb_link_sample sum = {0}, more = {0};
	unsigned char packed[SAMPLE_MOST + WORD];
	first->at = get_sample(first->at, &sum);
	second->at = get_sample(second->at, &more);
	first->n_left--;
	second->n_left--;
	tb_link_sample_add(&sum, &more);
	size_t size = (size_t)(put_sample(packed, &sum) - packed);
	memcpy(to, packed, size);
	return to + size;
}

// merge packs the samples of two bins as one bin's at `to`, behind `head`, which it
// completes.
static unsigned char *merge(
	unsigned char *to, struct samples first, struct samples second, struct head *head)
{
	const unsigned char *begin = to;
	for (head->n = 0; first.n_left || second.n_left; head->n++) {
		uint64_t one = first.n_left ? link_at(first.at) : UINT64_MAX;
		uint64_t other = second.n_left ? link_at(second.at) : UINT64_MAX;
		if (one == other)
			to = pass_sum(to, &first, &second);
		else
			to = pass(to, one < other ? &first : &second);
	}
	head->n_bytes = (uint32_t)(to - begin);
	return to;
}

// merge_at moves the bin at `from`, and the next if that is its neighbour, to `to`, as
// one bin. What it writes never overtakes what it reads of the second: a packed sum is no
// longer than what it sums, and the first is out of the way.
static int merge_at(struct tb_kept_bins *kept, size_t *from, size_t *to)
{
	struct head head, next = {0};
	memcpy(&head, kept->bytes + *from, sizeof head);
	if (TB_ARRAY_RESERVE(&kept->first, &kept->first_room, head.n_bytes + WORD) !=
		TB_OK)
		return TB_ENOMEM;
	memcpy(kept->first, kept->bytes + *from + sizeof head, head.n_bytes);
	struct samples first = {kept->first, head.n};
	*from += sizeof head + head.n_bytes;
	if (*from < kept->n_bytes)
		memcpy(&next, kept->bytes + *from, sizeof next);
	struct samples second = {0};
	if (next.n && next.bin / 2 == head.bin / 2) {
		second = (struct samples){kept->bytes + *from + sizeof next, next.n};
		*from += sizeof next + next.n_bytes;
	}
	struct head merged = {.bin = head.bin / 2};
	unsigned char *end =
		merge(kept->bytes + *to + sizeof merged, first, second, &merged);
	memcpy(kept->bytes + *to, &merged, sizeof merged);
	*to = (size_t)(end - kept->bytes);
	return TB_OK;
}

int tb_kept_bins_widen(struct tb_kept_bins *kept)
{
	size_t from = 0, to = 0;
	int status = TB_OK;
	while (from < kept->n_bytes && status == TB_OK)
		status = merge_at(kept, &from, &to);
	kept->n_bytes = to;
	return status;
}
