#include "pcapng.h"

#include <stdlib.h>

#define SECTION		 0x0a0d0d0au
#define INTERFACE	 1u
#define PACKET		 2u // obsolete, still found in old files
#define SIMPLE_PACKET	 3u
#define ENHANCED_PACKET	 6u
#define BYTE_ORDER_MAGIC 0x1a2b3c4du

#define HEAD_BYTES	12 // type, length, and the first word of the body or the trailer
#define PACKET_HEAD	28 // of enhanced and obsolete packet blocks, before the data
#define SIMPLE_HEAD	12
#define LINKTYPE_USER0	147u
#define BLOCK_BYTES_MAX (16u * 1024 * 1024) // libpcap's limit
#define SNAPLEN_MAX	262144u		    // libpcap's limit

struct interface {
	uint16_t link_type;
	uint32_t snapshot_bytes; // 0: no limit
};

struct tb_pcapng {
	FILE *stream;
	const struct tb_infile *input;
	struct interface *interfaces; // of this section
	uint32_t n_interfaces;
	uint32_t interfaces_capacity;
	uint32_t first_interface; // those of the sections before
	bool little_endian;
	bool ended;
	struct tb_error failure; // which stays; code TB_OK: none
	uint8_t *block;		 // as read; also what is given out when nothing changes
	size_t block_capacity;
	uint8_t *changed;
	size_t changed_capacity;
	const uint8_t *out; // block or changed
	size_t out_at;
	size_t out_n;
};

int tb_pcapng_new(struct tb_pcapng **pcapng, FILE *stream, const struct tb_infile *input)
{
	struct tb_pcapng *new = calloc(1, sizeof *new);
	if (!new)
		return TB_ENOMEM;
	new->stream = stream;
	new->input = input;
	*pcapng = new;
	return TB_OK;
}

void tb_pcapng_free(struct tb_pcapng *pcapng)
{
	if (!pcapng)
		return;
	free(pcapng->interfaces);
	free(pcapng->block);
	free(pcapng->changed);
	free(pcapng);
}

static int reserve(uint8_t **buffer, size_t *capacity, size_t n)
{
	if (n <= *capacity)
		return TB_OK;
	size_t larger = *capacity ? *capacity : 4096;
	while (larger < n)
		larger *= 2;
	uint8_t *grown = realloc(*buffer, larger);
	if (!grown)
		return TB_ENOMEM;
	*buffer = grown;
	*capacity = larger;
	return TB_OK;
}

// read_up_to appends to the block until it has `n` bytes or the file ends.
static int read_up_to(struct tb_pcapng *p, size_t n, size_t *have, struct tb_error *error)
{
	if (reserve(&p->block, &p->block_capacity, n) != TB_OK)
		return tb_fail(error, TB_ENOMEM, "no memory");
	if (*have < n)
		*have += fread(p->block + *have, 1, n - *have, p->stream);
	return *have < n ? tb_infile_check(p->input, error) : TB_OK;
}

static uint32_t word(const struct tb_pcapng *p, size_t at)
{
	uint32_t value = 0;
	(void)tb_bytes_u32_as((struct tb_bytes){p->block, p->block_capacity}, at,
		p->little_endian, &value);
	return value;
}

static uint16_t half_word(const struct tb_pcapng *p, size_t at)
{
	uint16_t value = 0;
	(void)tb_bytes_u16_as((struct tb_bytes){p->block, p->block_capacity}, at,
		p->little_endian, &value);
	return value;
}

static void put_word(const struct tb_pcapng *p, uint8_t *at, uint32_t value)
{
	for (unsigned i = 0; i < 4; i++)
		at[i] = (uint8_t)(value >> (p->little_endian ? 8 * i : 24 - 8 * i));
}

static void put_half_word(const struct tb_pcapng *p, uint8_t *at, uint16_t value)
{
	at[p->little_endian ? 0 : 1] = (uint8_t)value;
	at[p->little_endian ? 1 : 0] = (uint8_t)(value >> 8);
}

static int begin_section(struct tb_pcapng *p, struct tb_error *error)
{
	uint32_t magic;
	(void)tb_bytes_u32((struct tb_bytes){p->block, HEAD_BYTES}, 8, &magic);
	if (magic != BYTE_ORDER_MAGIC && magic != __builtin_bswap32(BYTE_ORDER_MAGIC))
		return tb_fail(error, TB_EFORMAT,
			"a pcapng section names no byte order (0x%08x, expected 0x%08x)",
			magic, BYTE_ORDER_MAGIC);
	p->little_endian = magic != BYTE_ORDER_MAGIC;
	p->first_interface += p->n_interfaces;
	p->n_interfaces = 0;
	return TB_OK;
}

static int add_interface(struct tb_pcapng *p, uint32_t length, struct tb_error *error)
{
	if (length < 20)
		return TB_OK; // libpcap's to refuse
	if (p->n_interfaces == p->interfaces_capacity) {
		uint32_t larger = p->interfaces_capacity ? p->interfaces_capacity * 2 : 8;
		struct interface *grown =
			realloc(p->interfaces, larger * sizeof *p->interfaces);
		if (!grown)
			return tb_fail(error, TB_ENOMEM, "no memory");
		p->interfaces = grown;
		p->interfaces_capacity = larger;
	}
	p->interfaces[p->n_interfaces++] =
		(struct interface){half_word(p, 8), word(p, 12)};
	put_half_word(p, p->block + 8, LINKTYPE_USER0);
	put_word(p, p->block + 12, SNAPLEN_MAX);
	return TB_OK;
}

static void put_tag(const struct tb_pcapng *p, uint8_t *at, uint32_t interface)
{
	uint16_t type = interface < p->n_interfaces ? p->interfaces[interface].link_type
						    : UINT16_MAX;
	uint32_t number = p->first_interface + interface;
	const uint8_t tag[TB_PCAPNG_TAG] = {(uint8_t)(type >> 8), (uint8_t)type, 0, 0,
		(uint8_t)(number >> 24), (uint8_t)(number >> 16), (uint8_t)(number >> 8),
		(uint8_t)number};
	memcpy(at, tag, sizeof tag);
}

bool tb_pcapng_tag(struct tb_bytes packet, struct tb_pcapng_origin *origin)
{
	struct tb_pcapng_origin found;
	if (!tb_bytes_u16(packet, 0, &found.link_type) ||
		!tb_bytes_u32(packet, 4, &found.interface))
		return false;
	*origin = found;
	return true;
}

// tag_packet writes an enhanced packet block to `changed`: that of the block at hand,
// with the tag before its data. `head` is the length of the block's own head.
static int tag_packet(struct tb_pcapng *p, uint32_t length, uint32_t head,
	uint32_t interface, struct tb_error *error)
{
	bool simple = head == SIMPLE_HEAD;
	uint32_t wire = word(p, simple ? 8 : 24);
	uint32_t captured = simple ? wire : word(p, 20);
	uint32_t room = length - head - 4;
	if (simple && p->n_interfaces > 0 && p->interfaces[0].snapshot_bytes > 0 &&
		captured > p->interfaces[0].snapshot_bytes)
		captured = p->interfaces[0].snapshot_bytes;
	if (captured > room)
		return tb_fail(error, TB_EFORMAT,
			"%u captured bytes do not fit into a pcapng block of %u",
			captured, length);
	uint32_t new_length = length + (PACKET_HEAD - head) + TB_PCAPNG_TAG;
	if (reserve(&p->changed, &p->changed_capacity, new_length) != TB_OK)
		return tb_fail(error, TB_ENOMEM, "no memory");
	uint8_t *to = p->changed;
	put_word(p, to, ENHANCED_PACKET);
	put_word(p, to + 4, new_length);
	put_word(p, to + 8, interface);
	put_word(p, to + 12, simple ? 0 : word(p, 12));
	put_word(p, to + 16, simple ? 0 : word(p, 16));
	put_word(p, to + 20,
		captured > SNAPLEN_MAX - TB_PCAPNG_TAG ? SNAPLEN_MAX
						       : captured + TB_PCAPNG_TAG);
	put_word(p, to + 24,
		wire > UINT32_MAX - TB_PCAPNG_TAG ? UINT32_MAX : wire + TB_PCAPNG_TAG);
	put_tag(p, to + PACKET_HEAD, interface);
	memcpy(to + PACKET_HEAD + TB_PCAPNG_TAG, p->block + head, room);
	put_word(p, to + new_length - 4, new_length);
	p->out = to;
	p->out_n = new_length;
	return TB_OK;
}

static int change_block(
	struct tb_pcapng *p, uint32_t type, uint32_t length, struct tb_error *error)
{
	switch (type) {
	case INTERFACE:
		return add_interface(p, length, error);
	case PACKET:
	case ENHANCED_PACKET:
		if (length < PACKET_HEAD + 4)
			return TB_OK; // libpcap's to refuse
		return tag_packet(p, length, PACKET_HEAD,
			type == PACKET ? half_word(p, 8) : word(p, 8), error);
	case SIMPLE_PACKET:
		if (length < SIMPLE_HEAD + 4)
			return TB_OK;
		return tag_packet(p, length, SIMPLE_HEAD, 0, error);
	default:
		return TB_OK;
	}
}

// next_block puts a block into `out`. One that is cut by the end of the file is given as
// it is, so that libpcap says so.
static int next_block(struct tb_pcapng *p, struct tb_error *error)
{
	size_t have = 0;
	int status = read_up_to(p, HEAD_BYTES, &have, error);
	if (status != TB_OK)
		return status;
	p->out_at = 0;
	p->out = p->block;
	p->out_n = have;
	p->ended = have < HEAD_BYTES;
	if (p->ended)
		return TB_OK;
	// The section's type reads the same in both byte orders.
	uint32_t type = word(p, 0);
	if (type == SECTION && (status = begin_section(p, error)) != TB_OK)
		return status;
	uint32_t length = word(p, 4);
	if (length < HEAD_BYTES || length % 4 != 0 || length > BLOCK_BYTES_MAX)
		return tb_fail(error, TB_EFORMAT,
			"a pcapng block claims %u bytes: expected 12 to %u, in fours",
			length, BLOCK_BYTES_MAX);
	status = read_up_to(p, length, &have, error);
	if (status != TB_OK)
		return status;
	p->out = p->block;
	p->out_n = have;
	p->ended = have < length;
	if (p->ended)
		return TB_OK;
	if (word(p, length - 4) != length)
		return tb_fail(error, TB_EFORMAT,
			"a pcapng block of %u bytes says at its end that it has %u",
			length, word(p, length - 4));
	return change_block(p, type, length, error);
}

int tb_pcapng_read(struct tb_pcapng *pcapng, void *buffer, size_t n, size_t *n_read,
	struct tb_error *error)
{
	size_t done = 0;
	while (done < n && !(pcapng->ended && pcapng->out_at == pcapng->out_n)) {
		if (pcapng->out_at == pcapng->out_n && pcapng->failure.code == TB_OK &&
			next_block(pcapng, &pcapng->failure) != TB_OK)
			pcapng->out_at = pcapng->out_n = 0;
		if (pcapng->failure.code != TB_OK)
			break;
		size_t piece = pcapng->out_n - pcapng->out_at;
		if (piece > n - done)
			piece = n - done;
		memcpy((uint8_t *)buffer + done, pcapng->out + pcapng->out_at, piece);
		pcapng->out_at += piece;
		done += piece;
	}
	// What is whole goes first.
	if (done == 0 && pcapng->failure.code != TB_OK) {
		if (error)
			*error = pcapng->failure;
		return pcapng->failure.code;
	}
	*n_read = done;
	return TB_OK;
}
