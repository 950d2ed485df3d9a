#include "replay_records.h"

#include "array.h"

#include <stdlib.h>
#include <string.h>

// A bin is a head and its samples: the link and its figures, seven bits a byte, lowest
// first, the eighth bit set in all but the last byte.
struct head {
	uint32_t bin, n, n_bytes; // of the samples
};

enum { SAMPLE_MOST = 5 + 10 * TB_N_FIGURES }; // bytes

void tb_kept_bins_fini(struct tb_kept_bins *kept)
{
	free(kept->bytes);
	free(kept->first);
	*kept = (struct tb_kept_bins){0};
}

static inline unsigned char *put(unsigned char *to, uint64_t value)
{
	for (; value >= 128; value >>= 7)
		*to++ = (unsigned char)(value | 128);
	*to++ = (unsigned char)value;
	return to;
}

static inline const unsigned char *get(const unsigned char *from, uint64_t *value)
{
	uint64_t read = *from & 127;
	for (unsigned shift = 7; *from++ & 128; shift += 7)
		read |= (uint64_t)(*from & 127) << shift;
	*value = read;
	return from;
}

// put_sample packs a sample; `link` is that of the one before, and becomes its own.
static unsigned char *put_sample(
	unsigned char *to, const struct tb_link_sample *sample, uint32_t *link)
{
	to = put(to, sample->link.id - *link);
	*link = sample->link.id;
	for (int i = 0; i < TB_N_FIGURES; i++)
		to = put(to, sample->figures[i]);
	return to;
}

static const unsigned char *get_sample(
	const unsigned char *from, struct tb_link_sample *sample, uint32_t *link)
{
	uint64_t further;
	from = get(from, &further);
	*link += (uint32_t)further;
	sample->link.id = *link;
	for (int i = 0; i < TB_N_FIGURES; i++)
		from = get(from, &sample->figures[i]);
	tb_link_sample_rate(sample, 0);
	return from;
}

int tb_kept_bins_begin(struct tb_kept_bins *kept, uint32_t bin)
{
	kept->last = kept->n_bytes;
	kept->link = 0;
	size_t needed = kept->n_bytes + sizeof(struct head);
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
	if (TB_ARRAY_RESERVE(&kept->bytes, &kept->room, used + (size_t)n * SAMPLE_MOST) !=
		TB_OK)
		return TB_ENOMEM;
	unsigned char *to = kept->bytes + used;
	for (uint32_t i = 0; i < n; i++)
		to = put_sample(to, &samples[i], &kept->link);
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
	uint32_t link = 0;
	for (uint32_t i = 0; i < head.n; i++)
		at = get_sample(at, &samples[i], &link);
	*bin = head.bin;
	*n = head.n;
	return (size_t)(at - kept->bytes);
}

// A packed bin that is being read.
struct reader {
	const unsigned char *at;
	uint32_t n_left, link;
	struct tb_link_sample sample; // the next, while there are any
};

static void read_next(struct reader *reader)
{
	if (reader->n_left)
		reader->at = get_sample(reader->at, &reader->sample, &reader->link);
}

static struct reader reader_of(const unsigned char *samples, uint32_t n)
{
	struct reader reader = {.at = samples, .n_left = n};
	read_next(&reader);
	return reader;
}

static void pass(struct reader *reader)
{
	reader->n_left--;
	read_next(reader);
}

// merge packs the samples of two bins as one bin's at `to`, behind `head`, which it
// completes.
static unsigned char *merge(
	unsigned char *to, struct reader first, struct reader second, struct head *head)
{
	const unsigned char *begin = to;
	uint32_t link = 0;
	for (head->n = 0; first.n_left || second.n_left; head->n++) {
		bool from_second =
			first.n_left == 0 ||
			(second.n_left && second.sample.link.id < first.sample.link.id);
		struct tb_link_sample sample = from_second ? second.sample : first.sample;
		if (from_second) {
			pass(&second);
		} else {
			if (second.n_left && second.sample.link.id == sample.link.id) {
				tb_link_sample_add(&sample, &second.sample);
				pass(&second);
			}
			pass(&first);
		}
		to = put_sample(to, &sample, &link);
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
	if (TB_ARRAY_RESERVE(&kept->first, &kept->first_room, head.n_bytes + 1) != TB_OK)
		return TB_ENOMEM;
	memcpy(kept->first, kept->bytes + *from + sizeof head, head.n_bytes);
	struct reader first = reader_of(kept->first, head.n);
	*from += sizeof head + head.n_bytes;
	if (*from < kept->n_bytes)
		memcpy(&next, kept->bytes + *from, sizeof next);
	struct reader second = {0};
	if (next.n && next.bin / 2 == head.bin / 2) {
		second = reader_of(kept->bytes + *from + sizeof next, next.n);
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
