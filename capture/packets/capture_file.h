// Reads one capture file, or standard input, record by record: pcap with libpcap, pcapng
// with its own reader.
//
// Time stamps are nanoseconds since the epoch, whatever resolution the file has. Memory
// is constant. One thread at a time per object.
#ifndef TB_CAPTURE_FILE_H
#define TB_CAPTURE_FILE_H

#include "infile.h"
#include "status.h"

#include <signal.h>

// A record: one frame, as one interface saw it.

// The largest time stamp, in seconds. In nanoseconds it fits an int64_t, and so does the
// difference of two stamps.
#define TB_RECORD_AT_MAX_S INT64_C(9000000000)

struct tb_record {
	int64_t at_ns;	       // since the epoch, in [0, 1e9 * TB_RECORD_AT_MAX_S]
	struct tb_bytes bytes; // captured bytes; they live until the next record is read
	uint32_t wire_bytes;   // length on the wire
	int link_type;	       // libpcap's DLT_ value
	uint32_t interface;    // pcapng: number, counted over all sections; otherwise 0
	bool untimed;	       // it has no time: `at_ns` is that of the record before it
	uint64_t bits_per_s;   // pcapng: of the interface; 0: not known
};

// tb_record_at_ns returns the time stamp for seconds since the epoch, not negative, plus
// nanoseconds. A stamp beyond the range is a broken one and becomes the largest.
static inline int64_t tb_record_at_ns(int64_t seconds, uint64_t ns)
{
	if (seconds >= TB_RECORD_AT_MAX_S)
		return INT64_C(1000000000) * TB_RECORD_AT_MAX_S;
	return seconds * 1000000000 + (int64_t)ns;
}

struct tb_capture_file; // opaque

enum tb_capture_kind { TB_CAPTURE_NONE, TB_CAPTURE_KIND_PCAP, TB_CAPTURE_KIND_PCAPNG };

// tb_capture_kind returns the kind of a file that begins with these bytes; it needs four.
enum tb_capture_kind tb_capture_kind(struct tb_bytes first);

// tb_capture_file_open opens `path` ("-" is standard input), or takes it from `opened`,
// if that is not NULL and has a stream. TB_EFOREIGN when it is not a
// capture, TB_EFORMAT when its header is broken, TB_EIO when the system refuses.
int tb_capture_file_open(struct tb_capture_file **file, const char *path,
	struct tb_opened_input *opened, struct tb_error *error) TB_MUST_USE;
// tb_capture_file_stop_on is tb_infile_stop_on of its stream.
void tb_capture_file_stop_on(
	struct tb_capture_file *file, const volatile sig_atomic_t *stop);
void tb_capture_file_free(struct tb_capture_file *file);

// tb_capture_file_next reads the next record: 1, 0 at the end, negative when the file is
// damaged or cut short; the error names the record.
int tb_capture_file_next(struct tb_capture_file *file, struct tb_record *record,
	struct tb_error *error) TB_MUST_USE;

// tb_capture_file_many_points returns whether the file may hold a frame more than once
// because several interfaces saw it: true for `any` captures and pcapng.
bool tb_capture_file_many_points(const struct tb_capture_file *file);

// tb_capture_file_fraction returns how much has been read, in [0, 1]; negative when
// unknown.
double tb_capture_file_fraction(const struct tb_capture_file *file);

// Merges the records of several capture files by time stamp.
//
// Each file is read in its own order, so the result is as well ordered as the files.
// Equal stamps come in the order of the inputs. A damaged input ends at the damage; the
// others are read to their ends before the damage is reported. One thread at a time per
// object.

struct tb_inputs; // opaque

// tb_inputs_open opens all `n` (at least 1) inputs, the first one from `opened`. Errors
// as tb_capture_file_open.
int tb_inputs_open(struct tb_inputs **inputs, const char *const *paths, size_t n,
	struct tb_opened_input *opened, struct tb_error *error) TB_MUST_USE;
// tb_inputs_stop_on is tb_infile_stop_on of all inputs.
void tb_inputs_stop_on(struct tb_inputs *inputs, const volatile sig_atomic_t *stop);
void tb_inputs_free(struct tb_inputs *inputs);

// tb_inputs_next returns the next record and the index of its input: 1, 0 at the end, or
// negative. The record lives until the next call.
int tb_inputs_next(struct tb_inputs *inputs, const struct tb_record **record,
	size_t *input, struct tb_error *error) TB_MUST_USE;

// tb_inputs_many_points returns whether a frame may come more than once, because several
// points captured it.
bool tb_inputs_many_points(const struct tb_inputs *inputs);

// tb_inputs_fraction returns how much has been read, in [0, 1], with equal weight for
// each input; negative when unknown.
double tb_inputs_fraction(const struct tb_inputs *inputs);

#endif
