#include "replay_records.h"

#include "array.h"

#include <stdlib.h>
#include <string.h>

// A bin is a head and its samples. A sample is its link in 4 bytes, the length of each
// figure in half a byte, and the figures, lowest byte first: 0 takes none. Reading and
// writing whole words needs no branch per byte, so what is written may reach WORD bytes
// beyond its end, and what is read, too.
struct kept_bin_head {
	uint32_t bin, level;
	uint32_t n, n_bytes; // of the samples
};

enum {
	WORD = 8,
	LENGTHS = (TB_N_ALL_METRICS + 1) / 2, // bytes, with room for those not kept
	FIGURES = 4 + LENGTHS,		      // where they begin
	SAMPLE_MOST = FIGURES + WORD * TB_N_FIGURES,
	LARGE_BYTES = 64 << 20 // from there on memory matters more than merging less
};
_Static_assert(LENGTHS <= WORD, "the lengths of a sample's figures are read as one word");

void tb_kept_bins_fini(struct tb_kept_bins *kept)
{
	free(kept->bytes);
	free(kept->seen);
	*kept = (struct tb_kept_bins){0};
}

static inline uint64_t word_at(const unsigned char *from)
{
	uint64_t word;
	memcpy(&word, from, sizeof word);
	return word;
}

static inline uint32_t kept_bins_link_at(const unsigned char *sample)
{
	uint32_t link;
	memcpy(&link, sample, sizeof link);
	return link;
}

// length_of returns how many bytes a nonzero figure needs.
static inline unsigned length_of(uint64_t value)
{
	unsigned last_bit = 63 ^ (unsigned)__builtin_clzll(value);
	return (last_bit + 8) / 8;
}

// PACK packs the figures of `from`, a sample or a cell, behind `to`, and leaves in `at`
// the byte after them.
#define PACK_FIGURE(ID, field, ...)                                                      \
	if (from->field) {                                                               \
		uint64_t value = from->field;                                            \
		unsigned length = length_of(value);                                      \
		memcpy(at, &value, WORD);                                                \
		at += length;                                                            \
		lengths |= (uint64_t)length << 4 * TB_##ID;                              \
	}
#define PACK(to, link)                                                                   \
	uint64_t lengths = 0;                                                            \
	uint32_t id = (link);                                                            \
	unsigned char *at = (to) + FIGURES;                                              \
	TB_LINK_FIGURES(PACK_FIGURE)                                                     \
	memcpy((to), &id, 4);                                                            \
	memcpy((to) + 4, &lengths, LENGTHS)

// By length: the mask of a figure in a word.
static const uint64_t masks[WORD + 1] = {0, UINT64_MAX >> 56, UINT64_MAX >> 48,
	UINT64_MAX >> 40, UINT64_MAX >> 32, UINT64_MAX >> 24, UINT64_MAX >> 16,
	UINT64_MAX >> 8, UINT64_MAX};

static inline const unsigned char *get_sample(
	const unsigned char *from, struct tb_link_sample *sample)
{
	uint64_t lengths = word_at(from + 4);
	sample->link.id = kept_bins_link_at(from);
	from += FIGURES;
#define ROW(ID, field, ...)                                                              \
	{                                                                                \
		unsigned length = lengths >> 4 * TB_##ID & 15;                           \
		sample->field = word_at(from) & masks[length];                           \
		from += length;                                                          \
	}
	TB_LINK_FIGURES(ROW)
#undef ROW
#define ROW(ID, field, ...) sample->field = 0;
	TB_LINK_DERIVED(ROW)
	TB_LINK_WAIT(ROW)
#undef ROW
	return from;
}

static inline const unsigned char *add_sample(
	const unsigned char *from, struct tb_link_sample *sum)
{
	uint64_t lengths = word_at(from + 4);
	from += FIGURES;
#define ROW(ID, field, column, type, adds, ...)                                          \
	if (lengths >> 4 * TB_##ID & 15) {                                               \
		unsigned length = lengths >> 4 * TB_##ID & 15;                           \
		uint64_t value = word_at(from) & masks[length];                          \
		TB_FIGURE_##adds(sum->field, value);                                     \
		from += length;                                                          \
	}
	TB_LINK_FIGURES(ROW)
#undef ROW
	return from;
}

int tb_kept_bins_begin(struct tb_kept_bins *kept, uint32_t bin)
{
	kept->last = kept->n_bytes;
	size_t needed = kept->n_bytes + sizeof(struct kept_bin_head) + WORD;
	if (TB_ARRAY_RESERVE(&kept->bytes, &kept->room, needed) != TB_OK)
		return TB_ENOMEM;
	const struct kept_bin_head head = {.bin = bin, .level = kept->level};
	memcpy(kept->bytes + kept->last, &head, sizeof head);
	return TB_OK;
}

// make_seen makes room for the bit of a link.
static int make_seen(struct tb_kept_bins *kept, uint32_t link)
{
	size_t room = kept->seen_room;
	if (link / 64 < room)
		return TB_OK;
	int status = TB_ARRAY_RESERVE(&kept->seen, &kept->seen_room, link / 64 + 1u);
	if (status == TB_OK)
		memset(kept->seen + room, 0,
			(kept->seen_room - room) * sizeof *kept->seen);
	return status;
}

static struct kept_bin_head head_at(const struct tb_kept_bins *kept, size_t from)
{
	struct kept_bin_head head;
	memcpy(&head, kept->bytes + from, sizeof head);
	return head;
}

// put_behind extends the bin begun last by `n` samples, up to byte `end`.
static void put_behind(struct tb_kept_bins *kept, size_t end, uint32_t n)
{
	struct kept_bin_head head = head_at(kept, kept->last);
	head.n += n;
	head.n_bytes = (uint32_t)(end - kept->last - sizeof head);
	memcpy(kept->bytes + kept->last, &head, sizeof head);
	kept->n_bytes = end;
}

// end_of_last is the byte after the bin begun last.
static size_t end_of_last(const struct tb_kept_bins *kept)
{
	size_t begin = kept->last + sizeof(struct kept_bin_head);
	return kept->n_bytes > begin ? kept->n_bytes : begin;
}

int tb_kept_bins_append(struct tb_kept_bins *kept, const struct tb_kept_bins *from)
{
	if (from->n_bytes == 0)
		return TB_OK;
	struct kept_bin_head head = head_at(from, 0);
	size_t used = end_of_last(kept);
	if (TB_ARRAY_RESERVE(&kept->bytes, &kept->room, used + head.n_bytes + WORD) !=
			TB_OK ||
		make_seen(kept, (uint32_t)(64 * from->seen_room - 1)) != TB_OK)
		return TB_ENOMEM;
	memcpy(kept->bytes + used, from->bytes + sizeof head, head.n_bytes);
	put_behind(kept, used + head.n_bytes, head.n);
	return TB_OK;
}

int tb_kept_bins_add(struct tb_kept_bins *kept, const struct tb_cell *cells, uint32_t n)
{
	if (n == 0)
		return TB_OK;
	size_t used = end_of_last(kept);
	if (TB_ARRAY_RESERVE(&kept->bytes, &kept->room,
		    used + (size_t)n * SAMPLE_MOST + WORD) != TB_OK ||
		make_seen(kept, cells[n - 1].link) != TB_OK)
		return TB_ENOMEM;
	unsigned char *to = kept->bytes + used;
	for (const struct tb_cell *from = cells; from < cells + n; from++) {
		PACK(to, from->link);
		to = at;
	}
	put_behind(kept, (size_t)(to - kept->bytes), n);
	return TB_OK;
}

static uint32_t bin_of(const struct tb_kept_bins *kept, const struct kept_bin_head *head)
{
	unsigned levels = kept->level - head->level;
	return levels < 32 ? head->bin >> levels : 0;
}

// kept_bins_end returns the end of the bins that now form one with the bin at byte
// `from`.
static size_t kept_bins_end(const struct tb_kept_bins *kept, size_t from)
{
	struct kept_bin_head head = head_at(kept, from);
	uint32_t bin = bin_of(kept, &head);
	do {
		from += sizeof head + head.n_bytes;
		if (from >= kept->n_bytes)
			break;
		head = head_at(kept, from);
	} while (bin_of(kept, &head) == bin);
	return from;
}

// add_bin adds the bin at byte `from` to the samples by link whose bits are set, and sets
// those of the others.
static void add_bin(
	struct tb_kept_bins *kept, size_t from, struct tb_link_sample *samples)
{
	struct kept_bin_head head = head_at(kept, from);
	const unsigned char *at = kept->bytes + from + sizeof head;
	for (uint32_t i = 0; i < head.n; i++) {
		uint32_t link = kept_bins_link_at(at);
		uint64_t bit = UINT64_C(1) << link % 64;
		if (kept->seen[link / 64] & bit)
			at = add_sample(at, &samples[link]);
		else
			at = get_sample(at, &samples[link]);
		kept->seen[link / 64] |= bit;
	}
}

// gather_seen moves the samples whose bits are set to the front, and clears the bits.
static uint32_t gather_seen(struct tb_kept_bins *kept, struct tb_link_sample *samples)
{
	uint32_t n = 0;
	for (size_t word = 0; word < kept->seen_room; word++) {
		for (uint64_t bits = kept->seen[word]; bits; bits &= bits - 1)
			samples[n++] =
				samples[word * 64 + (uint32_t)__builtin_ctzll(bits)];
		kept->seen[word] = 0;
	}
	return n;
}

size_t tb_kept_bins_read(struct tb_kept_bins *kept, size_t from, uint32_t *bin,
	struct tb_link_sample *samples, uint32_t *n)
{
	struct kept_bin_head head = head_at(kept, from);
	size_t end = kept_bins_end(kept, from);
	*bin = bin_of(kept, &head);
	*n = head.n;
	if (end == from + sizeof head + head.n_bytes) { // no others
		const unsigned char *at = kept->bytes + from + sizeof head;
		for (uint32_t i = 0; i < head.n; i++)
			at = get_sample(at, &samples[i]);
		return end;
	}
	for (; from < end; from += sizeof head + head.n_bytes) {
		head = head_at(kept, from);
		add_bin(kept, from, samples);
	}
	*n = gather_seen(kept, samples);
	return end;
}

// has_samples returns whether what is behind a head is its samples, of links below
// `n_links`, ascending.
static bool has_samples(
	const unsigned char *from, const struct kept_bin_head *head, uint32_t n_links)
{
	size_t left = head->n_bytes;
	uint32_t first = 0; // that the next link may be
	for (uint32_t i = 0; i < head->n; i++) {
		uint64_t lengths = 0;
		size_t n = FIGURES;
		if (left < n || kept_bins_link_at(from) < first ||
			kept_bins_link_at(from) >= n_links)
			return false;
		first = kept_bins_link_at(from) + 1;
		for (memcpy(&lengths, from + 4, LENGTHS); lengths; lengths >>= 4) {
			if ((lengths & 15) > WORD)
				return false;
			n += lengths & 15;
		}
		if (left < n)
			return false;
		from += n;
		left -= n;
	}
	return left == 0;
}

// are_whole checks that bytes from another process are bins.
static bool are_whole(const struct tb_kept_bins *bins, uint32_t n_links)
{
	for (size_t at = 0, left = bins->n_bytes; left > 0;) {
		if (left < sizeof(struct kept_bin_head))
			return false;
		struct kept_bin_head head = head_at(bins, at);
		at += sizeof head;
		left -= sizeof head;
		if (head.level > bins->level || head.n_bytes > left ||
			!has_samples(bins->bytes + at, &head, n_links))
			return false;
		at += head.n_bytes;
		left -= head.n_bytes;
	}
	return true;
}

// kept_bins_first returns the lowest bin number at the positions `at` of several;
// UINT64_MAX: none is left.
static uint64_t kept_bins_first(
	const struct tb_kept_bins *const *several, const size_t *at, uint32_t n)
{
	uint64_t first = UINT64_MAX;
	for (uint32_t i = 0; i < n; i++) {
		if (at[i] >= several[i]->n_bytes)
			continue;
		struct kept_bin_head head = head_at(several[i], at[i]);
		uint32_t bin = bin_of(several[i], &head);
		first = bin < first ? bin : first;
	}
	return first;
}

// kept_bins_take_bin appends the bins of one number that begin at byte *at of `from`.
static void kept_bins_take_bin(struct tb_kept_bins *joined,
	const struct tb_kept_bins *from, size_t *at, uint64_t bin)
{
	while (*at < from->n_bytes) {
		struct kept_bin_head head = head_at(from, *at);
		size_t n = sizeof head + head.n_bytes;
		if (bin_of(from, &head) != bin)
			return;
		memcpy(joined->bytes + joined->n_bytes, from->bytes + *at, n);
		joined->n_bytes += n;
		*at += n;
	}
}

int tb_kept_bins_join(struct tb_kept_bins *joined,
	const struct tb_kept_bins *const *several, uint32_t n, uint32_t n_links)
{
	struct tb_kept_bins made = {.level = several[0]->level};
	size_t n_bytes = WORD;
	for (uint32_t i = 0; i < n; i++) {
		if (several[i]->level != made.level ||
			(i > 0 && !are_whole(several[i], n_links)))
			return TB_EFORMAT;
		n_bytes += several[i]->n_bytes;
	}
	size_t *at = calloc(n, sizeof *at);
	if (!at || TB_ARRAY_RESERVE(&made.bytes, &made.room, n_bytes) != TB_OK ||
		make_seen(&made, n_links) != TB_OK) {
		free(at);
		tb_kept_bins_fini(&made);
		return TB_ENOMEM;
	}
	for (uint64_t bin; (bin = kept_bins_first(several, at, n)) != UINT64_MAX;)
		for (uint32_t i = 0; i < n; i++)
			kept_bins_take_bin(&made, several[i], &at[i], bin);
	free(at);
	*joined = made;
	return TB_OK;
}

// pack_samples returns how many bytes it has written.
static uint32_t pack_samples(
	unsigned char *begin, const struct tb_link_sample *samples, uint32_t n)
{
	unsigned char *to = begin;
	for (const struct tb_link_sample *from = samples; from < samples + n; from++) {
		PACK(to, from->link.id);
		to = at;
	}
	return (uint32_t)(to - begin);
}

// kept_bins_merge writes the bins in [*from, end) as one to `to`, before them; returns
// the byte after it. The sum of several has room: it has one head, and a packed sum is no
// longer than what it sums.
static size_t kept_bins_merge(struct tb_kept_bins *kept, size_t *from, size_t to,
	struct tb_link_sample *samples)
{
	struct kept_bin_head head = head_at(kept, *from);
	size_t alone = *from + sizeof head + head.n_bytes;
	size_t end = kept_bins_end(kept, *from);
	if (end == alone) {
		memmove(kept->bytes + to + sizeof head, kept->bytes + *from + sizeof head,
			head.n_bytes);
		head.bin = bin_of(kept, &head);
	} else {
		(void)tb_kept_bins_read(kept, *from, &head.bin, samples, &head.n);
		head.n_bytes =
			pack_samples(kept->bytes + to + sizeof head, samples, head.n);
	}
	head.level = kept->level;
	memcpy(kept->bytes + to, &head, sizeof head);
	*from = end;
	return to + sizeof head + head.n_bytes;
}

void tb_kept_bins_widen(struct tb_kept_bins *kept, struct tb_link_sample *samples)
{
	size_t from = 0, to = 0;
	kept->level++;
	if (kept->n_bytes <= kept->most_bytes)
		return;
	while (from < kept->n_bytes)
		to = kept_bins_merge(kept, &from, to, samples);
	kept->n_bytes = to;
	size_t most = to > LARGE_BYTES ? to + to / 2 : 2 * to;
	if (kept->most_bytes < most)
		kept->most_bytes = most;
}
