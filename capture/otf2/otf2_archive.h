// An archive as files: its anchor file, and what is checked before libotf2 reads it.
#ifndef TB_OTF2_ARCHIVE_H
#define TB_OTF2_ARCHIVE_H

#include "definitions.h"

#define TB_OTF2_PATH 4352

struct tb_otf2_archive {
	OTF2_Reader *reader;
	char anchor[TB_OTF2_PATH];
	char folder[TB_OTF2_PATH]; // with the locations' files
	bool has_files;		   // a file per location
	bool has_local_definitions;
	char said[256]; // what libotf2 complained of last, or ""
	OTF2_ErrorCallback before;
	bool listens;
	size_t n_ready; // locations, from the first on, that were opened or passed by
	bool has_selected;
};

// tb_otf2_archive_open opens the archive of an anchor file, or of the folder with it.
// Messages of libotf2 go to `said` from then on, not to standard error.
// TB_EIO, TB_EFORMAT, TB_EVERSION. To be closed in any case.
int tb_otf2_archive_open(struct tb_otf2_archive *archive, const char *path,
	struct tb_error *error) TB_MUST_USE;
void tb_otf2_archive_close(struct tb_otf2_archive *archive);

// tb_otf2_archive_has returns whether a location has a file of events ("evt") or of
// definitions ("def"), whose name it stores. Where the archive does not have a file each,
// it stores nothing, and has events only.
bool tb_otf2_archive_has(const struct tb_otf2_archive *archive,
	const struct tb_otf2_location *location, const char *kind, char *path,
	size_t size);

// tb_otf2_archive_select opens the events of location `i` and of some after it. They must
// be read in their order: libotf2 takes time that grows with the square of those that are
// open, so that of a million only a few can be.
int tb_otf2_archive_select(struct tb_otf2_archive *archive,
	const struct tb_otf2_definitions *of, size_t i,
	struct tb_error *error) TB_MUST_USE;

#endif
