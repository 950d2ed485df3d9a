// One capture file, or standard input, read record by record: pcap through libpcap, and
// pcapng (pcapng.h).
//
// Stamps are nanoseconds since the epoch, whatever the file keeps. Memory is constant.
// One thread at a time per object.
#ifndef TB_CAPTURE_FILE_H
#define TB_CAPTURE_FILE_H

#include "record.h"
#include "status.h"

struct tb_capture_file; // opaque

enum tb_capture_kind { TB_CAPTURE_NONE, TB_CAPTURE_KIND_PCAP, TB_CAPTURE_KIND_PCAPNG };

// tb_capture_kind reports what a file that begins with these bytes is, by the first four.
enum tb_capture_kind tb_capture_kind(struct tb_bytes first);

// tb_capture_file_open opens `path` ("-" is standard input). TB_EFOREIGN when it is no
// capture, TB_EFORMAT when it is a broken one, TB_EIO when the system refuses.
int tb_capture_file_open(struct tb_capture_file **file, const char *path,
	struct tb_error *error) TB_MUST_USE;
void tb_capture_file_free(struct tb_capture_file *file);

// tb_capture_file_next gives the next record: 1, 0 at the end, negative when the file is
// damaged or cut short; the error names the record.
int tb_capture_file_next(struct tb_capture_file *file, struct tb_record *record,
	struct tb_error *error) TB_MUST_USE;

// tb_capture_file_many_points says whether one frame may be in the file more than once,
// because several interfaces wrote it: `any` captures and pcapng.
bool tb_capture_file_many_points(const struct tb_capture_file *file);

// tb_capture_file_fraction is how much was read, in [0, 1]; negative when that is not
// known.
double tb_capture_file_fraction(const struct tb_capture_file *file);

#endif
