// Whatever an archive holds, its files lie in the folder that is made for it, no more
// than so many bytes, and the folder is gone afterwards.
#include "fuzz_file.h"
#include "unpacked.h"

#include <ftw.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int check(
	const char *path, const struct stat *status, int kind, struct FTW *position)
{
	(void)path;
	(void)position;
	// Sparse files count by their end.
	bool is_plain = (kind == FTW_F && S_ISREG(status->st_mode)) || kind == FTW_D;
	if (!is_plain || status->st_size > (256 << 20))
		abort();
	return 0;
}

static void unpack(const char *path, enum tb_unpacked_part part)
{
	struct tb_error error;
	struct tb_opened_input in = {NULL, NULL};
	struct tb_unpacked *unpacked = NULL;
	if (tb_infile_open(&in.stream, &in.file, path, &error) != TB_OK)
		return;
	if (tb_unpacked_new(&unpacked, &in, "fuzz", part, &error) == TB_OK) {
		char *folder = strdup(tb_unpacked_path(unpacked));
		if (!folder || nftw(folder, check, 8, FTW_PHYS) != 0)
			abort();
		tb_unpacked_free(unpacked, NULL);
		if (access(folder, F_OK) == 0)
			abort();
		free(folder);
	}
	fclose(in.stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[FUZZ_FILE_PATH];
	setenv("TMPDIR", fuzz_folder(), 1);
	if (!fuzz_input_file(data, size, path))
		return 0;
	if (fuzz_turn(size, 2, 0))
		unpack(path, TB_UNPACKED_ALL);
	if (fuzz_turn(size, 2, 1))
		unpack(path, TB_UNPACKED_LOOK);
	return 0;
}
