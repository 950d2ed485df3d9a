// Reads one capture file, or standard input, record by record: pcap with libpcap, pcapng
// with its own reader.
//
// Time stamps are nanoseconds since the epoch, whatever resolution the file has. Memory
// is constant. One thread at a time per object.
#ifndef TB_CAPTURE_FILE_H
#define TB_CAPTURE_FILE_H

#include "infile.h"
#include "record.h"
#include "status.h"

#include <signal.h>

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

#endif
