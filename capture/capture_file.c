#include "capture_file.h"

#include "frame.h"
#include "pcapng.h"
#include "stream.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>

#define BUFFER_BYTES (64 * 1024)
#define STAMP_MAX_S  INT64_C(9000000000)

struct tb_capture_file {
	struct tb_stream *stream;
	struct tb_pcapng *pcapng; // NULL for pcap
	pcap_t *pcap;
	int link_type;
	uint64_t n_records;
	struct tb_error failure; // why reading for libpcap failed; code TB_OK: it did not
};

// read_for_libpcap keeps the sentence that errno cannot carry through stdio and libpcap.
static ssize_t read_for_libpcap(void *cookie, char *buffer, size_t n)
{
	struct tb_capture_file *file = cookie;
	size_t got;
	int status =
		file->pcapng
			? tb_pcapng_read(file->pcapng, buffer, n, &got, &file->failure)
			: tb_stream_read(file->stream, buffer, n, &got, &file->failure);
	if (status == TB_OK)
		return (ssize_t)got;
	errno = EIO;
	return -1;
}

enum kind { NO_CAPTURE, PCAP, PCAPNG };

// The magic numbers of microsecond, nanosecond and patched ("Kuznetzov") pcap in both
// byte orders, and the type of pcapng's first block.
static enum kind kind_of(uint32_t magic)
{
	switch (magic) {
	case 0xa1b2c3d4:
	case 0xd4c3b2a1:
	case 0xa1b23c4d:
	case 0x4d3cb2a1:
	case 0xa1b2cd34:
	case 0x34cdb2a1:
		return PCAP;
	case 0x0a0d0d0a:
		return PCAPNG;
	default:
		return NO_CAPTURE;
	}
}

static int recognise(struct tb_capture_file *file, struct tb_error *error)
{
	const char *name = tb_stream_name(file->stream);
	uint8_t head[4];
	size_t n;
	uint32_t magic;
	int status = tb_stream_peek(file->stream, head, sizeof head, &n, error);
	if (status != TB_OK)
		return status;
	if (n == 0)
		return tb_fail_in(error, TB_EFOREIGN, name,
			"is empty, expected a capture (pcap or pcapng)");
	if (!tb_bytes_u32((struct tb_bytes){head, n}, 0, &magic) ||
		kind_of(magic) == NO_CAPTURE)
		return tb_fail_in(error, TB_EFOREIGN, name,
			"is no capture: expected pcap or pcapng, plain or compressed by "
			"gzip "
			"or zstd");
	if (kind_of(magic) == PCAP)
		return TB_OK;
	if (tb_pcapng_new(&file->pcapng, file->stream) != TB_OK)
		return tb_fail_in(error, TB_ENOMEM, name, "no memory");
	return TB_OK;
}

// fail_at says what stopped reading at the record after the last whole one.
static int fail_at(
	struct tb_capture_file *file, const char *found, struct tb_error *error)
{
	enum tb_status code = file->failure.code;
	if (code != TB_OK)
		found = file->failure.text;
	if (code != TB_EIO && code != TB_ENOMEM)
		code = TB_EFORMAT;
	return tb_fail_at(error, code, tb_stream_name(file->stream), TB_PLACE_RECORD,
		file->n_records + 1, "%s", found);
}

static int open_pcap(struct tb_capture_file *file, struct tb_error *error)
{
	const char *name = tb_stream_name(file->stream);
	char message[PCAP_ERRBUF_SIZE] = "";
	const cookie_io_functions_t functions = {.read = read_for_libpcap};
	FILE *stdio = fopencookie(file, "rb", functions);
	if (!stdio || setvbuf(stdio, NULL, _IOFBF, BUFFER_BYTES) != 0) {
		if (stdio)
			fclose(stdio);
		return tb_fail_in(error, TB_ENOMEM, name, "no memory");
	}
	// libpcap reads two small pieces a record; without this each takes a lock.
	__fsetlocking(stdio, FSETLOCKING_BYCALLER);
	file->pcap = pcap_fopen_offline_with_tstamp_precision(
		stdio, PCAP_TSTAMP_PRECISION_NANO, message);
	if (!file->pcap) {
		fclose(stdio);
		if (file->failure.code != TB_OK)
			return tb_fail_in(error, file->failure.code, name, "%s",
				file->failure.text);
		return tb_fail_in(error, TB_EFORMAT, name,
			"the capture's header is broken (%s)", message);
	}
	file->link_type = pcap_datalink(file->pcap);
	if (file->pcapng || tb_frame_reads_link_type(file->link_type))
		return TB_OK;
	const char *type = pcap_datalink_val_to_name(file->link_type);
	return tb_fail_in(error, TB_EFORMAT, name,
		"link type %d (%s) is not read: expected Ethernet, Linux cooked, raw IP, "
		"loopback, InfiniBand or ERF",
		file->link_type, type ? type : "unknown");
}

int tb_capture_file_open(
	struct tb_capture_file **file, const char *path, struct tb_error *error)
{
	struct tb_capture_file *new = calloc(1, sizeof *new);
	if (!new)
		return tb_fail_in(error, TB_ENOMEM, path, "no memory");
	int status = tb_stream_open(&new->stream, path, error);
	if (status == TB_OK)
		status = recognise(new, error);
	if (status == TB_OK)
		status = open_pcap(new, error);
	if (status != TB_OK) {
		tb_capture_file_free(new);
		return status;
	}
	*file = new;
	return TB_OK;
}

void tb_capture_file_free(struct tb_capture_file *file)
{
	if (!file)
		return;
	if (file->pcap)
		pcap_close(file->pcap); // and the FILE with it
	tb_pcapng_free(file->pcapng);
	tb_stream_free(file->stream);
	free(file);
}

// A stamp that nanoseconds cannot express is a broken one; it is kept at the end of what
// they can, where the differences of two stamps still do not overflow.
static int64_t stamp_ns(const struct pcap_pkthdr *header)
{
	int64_t seconds = header->ts.tv_sec;
	if (seconds < 0)
		return 0;
	if (seconds >= STAMP_MAX_S)
		return INT64_C(1000000000) * STAMP_MAX_S;
	return seconds * 1000000000 + header->ts.tv_usec;
}

// DLT_ and LINKTYPE_ values differ for a few types of old; of those that are read, only
// in raw IP (and OpenBSD's name for it).
static int link_type_of(uint16_t in_file)
{
	return in_file == 101 ? DLT_RAW : in_file;
}

int tb_capture_file_next(
	struct tb_capture_file *file, struct tb_record *record, struct tb_error *error)
{
	struct pcap_pkthdr *header;
	const u_char *data;
	int code = pcap_next_ex(file->pcap, &header, &data);
	if (code == PCAP_ERROR_BREAK)
		return 0;
	if (code != 1)
		return fail_at(file, pcap_geterr(file->pcap), error);
	record->at_ns = stamp_ns(header);
	record->bytes = (struct tb_bytes){data, header->caplen};
	record->wire_bytes = header->len < header->caplen ? header->caplen : header->len;
	record->link_type = file->link_type;
	record->interface = 0;
	struct tb_pcapng_origin origin;
	if (file->pcapng && tb_pcapng_tag(record->bytes, &origin)) {
		record->bytes = tb_bytes_after(record->bytes, TB_PCAPNG_TAG);
		record->wire_bytes -= TB_PCAPNG_TAG;
		record->link_type = link_type_of(origin.link_type);
		record->interface = origin.interface;
	}
	file->n_records++;
	return 1;
}

bool tb_capture_file_many_points(const struct tb_capture_file *file)
{
	return file->pcapng || file->link_type == DLT_LINUX_SLL ||
	       file->link_type == DLT_LINUX_SLL2;
}

uint64_t tb_capture_file_n_records(const struct tb_capture_file *file)
{
	return file->n_records;
}

uint64_t tb_capture_file_consumed(const struct tb_capture_file *file)
{
	return tb_stream_consumed(file->stream);
}

uint64_t tb_capture_file_size(const struct tb_capture_file *file)
{
	return tb_stream_size(file->stream);
}
