// An archive of files (tar, zip), unpacked into a temporary folder of this process.
//
// The archive is not trusted: a member that would lie outside of the folder, or a device,
// refuses it, and so do more than 32,768 members, or more than 64 MiB and a hundred times
// its size when unpacked (texts of traces become twenty to forty times shorter). Links
// are skipped. The folder goes with the object, and when the process ends in any other
// way (temporary.h). Files that systems add (__MACOSX, .DS_Store) are left out.
//
// Formats: POSIX.1 ustar and pax, GNU tar, zip, with libarchive.
#ifndef TB_UNPACKED_H
#define TB_UNPACKED_H

#include "infile.h"

struct tb_unpacked; // opaque

// tb_unpacked_begins returns whether a stream that begins so is an archive.
bool tb_unpacked_begins(struct tb_bytes first);

// How much of it is wanted.
enum tb_unpacked_part {
	TB_UNPACKED_ALL,
	TB_UNPACKED_LOOK, // the first 64 KiB of the first 64 files, to recognise the
			  // format
};

// tb_unpacked_new unpacks a stream, which it does not close; `name` is for errors and
// borrowed. TB_EFORMAT, TB_EIO, TB_ENOMEM, TB_ESTOPPED as the stream's.
int tb_unpacked_new(struct tb_unpacked **unpacked, const struct tb_opened_input *in,
	const char *name, enum tb_unpacked_part part, struct tb_error *error) TB_MUST_USE;

// tb_unpacked_free removes the folder; NULL is fine. A file of an error in it is named as
// one of the archive from then on, "trace.zip/rank0.json".
void tb_unpacked_free(struct tb_unpacked *unpacked, struct tb_error *error);

// tb_unpacked_path returns the path of what the archive holds: its only file, or else the
// first folder that holds more than one.
const char *tb_unpacked_path(const struct tb_unpacked *unpacked);

// tb_unpacked_note returns a sentence about what was skipped; NULL: nothing.
const char *tb_unpacked_note(struct tb_unpacked *unpacked);

#endif
