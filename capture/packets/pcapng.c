#include "pcapng.h"

#include "array.h"

#include <pcap/dlt.h>
#include <stdlib.h>

__extension__ typedef unsigned __int128 wide_ticks;

#define SECTION		 0x0a0d0d0au
#define INTERFACE	 1u
#define PACKET		 2u // obsolete, still found in old files
#define SIMPLE_PACKET	 3u
#define ENHANCED_PACKET	 6u
#define BYTE_ORDER_MAGIC 0x1a2b3c4du

#define HEAD_BYTES	12 // type, length, and the first word of the body or the trailer
#define SECTION_HEAD	24
#define INTERFACE_HEAD	16 // before the options
#define PACKET_HEAD	28 // of enhanced and obsolete packet blocks, before the data
#define SIMPLE_HEAD	12
#define BLOCK_BYTES_MAX (16u * 1024 * 1024) // libpcap's limit

#define OPTION_END	  0
#define OPTION_RESOLUTION 9
#define OPTION_OFFSET	  14
#define OPTION_SPEED	  8

struct interface {
	int link_type;
	uint32_t snapshot_bytes; // 0: no limit
	uint64_t ticks_per_s;
	int64_t offset_s; // added to all stamps
	uint64_t bits_per_s;
};

struct tb_pcapng {
	FILE *stream;
	const struct tb_infile *file;
	struct interface *interfaces; // of this section
	uint32_t n_interfaces;
	size_t interfaces_room;
	uint32_t first_interface; // number of interfaces in earlier sections
	bool little_endian;
	int64_t last_ns; // stamp of the last packet
	uint8_t *block;
	uint32_t block_bytes;
	size_t block_room;
};

static uint32_t pcapng_word(const struct tb_pcapng *p, size_t at)
{
	uint32_t value = 0;
	(void)tb_bytes_u32_as(
		(struct tb_bytes){p->block, p->block_room}, at, p->little_endian, &value);
	return value;
}

static uint16_t half_word(const struct tb_pcapng *p, size_t at)
{
	uint16_t value = 0;
	(void)tb_bytes_u16_as(
		(struct tb_bytes){p->block, p->block_room}, at, p->little_endian, &value);
	return value;
}

// read_up_to extends the block from `have` bytes to `n`: 1, 0 when the file has ended
// before the block, or negative.
static int read_up_to(struct tb_pcapng *p, size_t have, size_t n, struct tb_error *error)
{
	int status = TB_ARRAY_RESERVE(&p->block, &p->block_room, n) == TB_OK
			     ? TB_OK
			     : tb_fail_memory(error, "the capture");
	if (status != TB_OK)
		return status;
	size_t got = fread(p->block + have, 1, n - have, p->stream);
	if (got == n - have)
		return 1;
	status = tb_infile_check(p->file, error);
	if (status != TB_OK || have + got == 0)
		return status;
	return tb_fail(error, TB_EFORMAT, "the capture ends in mid-block");
}

static int begin_pcapng_section(struct tb_pcapng *p, struct tb_error *error)
{
	uint32_t magic;
	(void)tb_bytes_u32((struct tb_bytes){p->block, HEAD_BYTES}, 8, &magic);
	if (magic != BYTE_ORDER_MAGIC && magic != __builtin_bswap32(BYTE_ORDER_MAGIC))
		return tb_fail(error, TB_EFORMAT,
			"a pcapng section has no valid byte order (0x%08x, expected "
			"0x%08x)",
			magic, BYTE_ORDER_MAGIC);
	p->little_endian = magic != BYTE_ORDER_MAGIC;
	// Each section numbers its interfaces from 0.
	p->first_interface += p->n_interfaces;
	p->n_interfaces = 0;
	return TB_OK;
}

static int too_short(const char *what, struct tb_error *error)
{
	return tb_fail(
		error, TB_EFORMAT, "a pcapng %s is too short for what it holds", what);
}

static int check_pcapng_version(const struct tb_pcapng *p, struct tb_error *error)
{
	if (p->block_bytes < SECTION_HEAD + 4)
		return too_short("section", error);
	// Some tools wrote version 1.2 by mistake; it is the same as 1.0.
	uint16_t major = half_word(p, 12), minor = half_word(p, 14);
	if (major == 1 && (minor == 0 || minor == 2))
		return TB_OK;
	return tb_fail(error, TB_EFORMAT, "a pcapng section of version %u.%u is not read",
		major, minor);
}

// next_block reads a whole block: 1, 0 at the end, or negative.
static int next_block(struct tb_pcapng *p, uint32_t *type, struct tb_error *error)
{
	int status = read_up_to(p, 0, HEAD_BYTES, error);
	if (status <= 0)
		return status;
	*type = pcapng_word(p, 0); // a section's type is the same in both byte orders
	if (*type == SECTION && (status = begin_pcapng_section(p, error)) != TB_OK)
		return status;
	uint32_t length = pcapng_word(p, 4);
	if (length < HEAD_BYTES || length % 4 != 0 || length > BLOCK_BYTES_MAX)
		return tb_fail(error, TB_EFORMAT,
			"a pcapng block has a length of %u bytes: expected 12 to %u, a "
			"multiple of 4",
			length, BLOCK_BYTES_MAX);
	status = read_up_to(p, HEAD_BYTES, length, error);
	if (status <= 0)
		return status;
	if (pcapng_word(p, length - 4) != length)
		return tb_fail(error, TB_EFORMAT,
			"a pcapng block of %u bytes has a length of %u at its end",
			length, pcapng_word(p, length - 4));
	p->block_bytes = length;
	return 1;
}

// set_resolution decodes the option's byte: the negative power of 10, or of 2 if the
// highest bit is set.
static int set_resolution(
	struct interface *interface, uint8_t value, struct tb_error *error)
{
	unsigned power = value & 0x7f;
	bool binary = value & 0x80;
	if (power > (binary ? 63 : 19))
		return tb_fail(error, TB_EFORMAT,
			"the time resolution of a pcapng interface is %u to the -%u: "
			"expected at most %u",
			binary ? 2 : 10, power, binary ? 63 : 19);
	interface->ticks_per_s = 1;
	for (; power > 0; power--)
		interface->ticks_per_s *= binary ? 2 : 10;
	return TB_OK;
}

static int read_option(const struct tb_pcapng *p, struct interface *interface,
	uint16_t code, size_t at, uint16_t n, struct tb_error *error)
{
	if (code == OPTION_RESOLUTION)
		return n == 1 ? set_resolution(interface, p->block[at], error)
			      : too_short("interface", error);
	if (code != OPTION_OFFSET && code != OPTION_SPEED)
		return TB_OK;
	if (n != 8)
		return too_short("interface", error);
	uint64_t first = pcapng_word(p, at), second = pcapng_word(p, at + 4);
	uint64_t value = p->little_endian ? second << 32 | first : first << 32 | second;
	if (code == OPTION_SPEED)
		interface->bits_per_s = value;
	else
		interface->offset_s = (int64_t)value;
	return TB_OK;
}

// Files hold LINKTYPE_ values. A few old types have another DLT_ value; of those that
// Tailback decodes, only raw IP.
static int link_type_of(uint16_t in_file)
{
	return in_file == 101 ? DLT_RAW : in_file;
}

static int add_interface(struct tb_pcapng *p, struct tb_error *error)
{
	if (p->block_bytes < INTERFACE_HEAD + 4)
		return too_short("interface", error);
	if (TB_ARRAY_RESERVE(&p->interfaces, &p->interfaces_room,
		    (size_t)p->n_interfaces + 1) != TB_OK)
		return tb_fail_memory(error, "the capture");
	struct interface *interface = &p->interfaces[p->n_interfaces++];
	*interface = (struct interface){.link_type = link_type_of(half_word(p, 8)),
		.snapshot_bytes = pcapng_word(p, 12),
		.ticks_per_s = 1000000};
	size_t end = p->block_bytes - 4;
	for (size_t at = INTERFACE_HEAD; at < end;) {
		uint16_t code = half_word(p, at), n = half_word(p, at + 2);
		if (code == OPTION_END)
			break;
		at += 4;
		if (n > end - at)
			return too_short("interface", error);
		int status = read_option(p, interface, code, at, n, error);
		if (status != TB_OK)
			return status;
		at += (n + 3u) & ~3u;
	}
	return TB_OK;
}

static int stamp_block(const struct interface *interface, uint64_t ticks, int64_t *at_ns,
	struct tb_error *error)
{
	// A second may have up to 10^19 ticks, so the part of a second needs 128 bits.
	uint64_t seconds = ticks / interface->ticks_per_s;
	wide_ticks part = (wide_ticks)(ticks % interface->ticks_per_s) * 1000000000;
	int64_t at_s;
	if (__builtin_add_overflow(interface->offset_s, seconds, &at_s))
		at_s = TB_RECORD_AT_MAX_S;
	if (at_s < 0)
		return tb_fail(error, TB_EFORMAT,
			"a packet is dated before 1970: expected a date since then");
	*at_ns = tb_record_at_ns(at_s, (uint64_t)(part / interface->ticks_per_s));
	return TB_OK;
}

// give_packet fills the record from the block; the packet's data begins at `head`.
static int give_packet(struct tb_pcapng *p, uint32_t head, uint32_t number,
	struct tb_record *record, struct tb_error *error)
{
	bool simple = head == SIMPLE_HEAD;
	if (number >= p->n_interfaces)
		return tb_fail(error, TB_EFORMAT,
			"a packet names interface %u, but its section has %u", number,
			p->n_interfaces);
	const struct interface *interface = &p->interfaces[number];
	uint32_t wire = pcapng_word(p, simple ? 8 : 24);
	uint32_t captured = simple ? wire : pcapng_word(p, 20);
	if (simple && interface->snapshot_bytes > 0 &&
		captured > interface->snapshot_bytes)
		captured = interface->snapshot_bytes;
	if (captured > p->block_bytes - head - 4)
		return tb_fail(error, TB_EFORMAT,
			"%u captured bytes do not fit into a pcapng block of %u",
			captured, p->block_bytes);
	uint64_t ticks = (uint64_t)pcapng_word(p, 12) << 32 | pcapng_word(p, 16);
	int64_t at_ns = p->last_ns;
	int status = simple ? TB_OK : stamp_block(interface, ticks, &at_ns, error);
	if (status != TB_OK)
		return status;
	p->last_ns = at_ns;
	*record = (struct tb_record){
		.at_ns = at_ns,
		.untimed = simple,
		.bytes = {p->block + head, captured},
		// A wrong length must not be below what was captured.
		.wire_bytes = wire < captured ? captured : wire,
		.link_type = interface->link_type,
		.bits_per_s = interface->bits_per_s,
		.interface = p->first_interface + number,
	};
	return 1;
}

// take_block returns 1 if the block is a packet, 0 if it is another kind, or negative.
static int take_block(struct tb_pcapng *p, uint32_t type, struct tb_record *record,
	struct tb_error *error)
{
	switch (type) {
	case SECTION:
		return check_pcapng_version(p, error);
	case INTERFACE:
		return add_interface(p, error);
	case PACKET:
	case ENHANCED_PACKET:
		if (p->block_bytes < PACKET_HEAD + 4)
			return too_short("packet", error);
		return give_packet(p, PACKET_HEAD,
			type == PACKET ? half_word(p, 8) : pcapng_word(p, 8), record,
			error);
	case SIMPLE_PACKET:
		if (p->block_bytes < SIMPLE_HEAD + 4)
			return too_short("packet", error);
		return give_packet(p, SIMPLE_HEAD, 0, record, error);
	default:
		return 0;
	}
}

int tb_pcapng_new(struct tb_pcapng **pcapng, FILE *stream, const struct tb_infile *file,
	struct tb_error *error)
{
	struct tb_pcapng *new = calloc(1, sizeof *new);
	uint32_t type;
	if (!new)
		return tb_fail_memory(error, "the capture");
	new->stream = stream;
	new->file = file;
	int status = next_block(new, &type, error);
	if (status == 1)
		status = check_pcapng_version(new, error);
	if (status != TB_OK) {
		tb_pcapng_free(new);
		return status;
	}
	*pcapng = new;
	return TB_OK;
}

void tb_pcapng_free(struct tb_pcapng *pcapng)
{
	if (!pcapng)
		return;
	free(pcapng->interfaces);
	free(pcapng->block);
	free(pcapng);
}

int tb_pcapng_next(
	struct tb_pcapng *pcapng, struct tb_record *record, struct tb_error *error)
{
	uint32_t type;
	int status;
	do {
		status = next_block(pcapng, &type, error);
		if (status <= 0)
			return status;
		status = take_block(pcapng, type, record, error);
	} while (status == 0);
	return status;
}
