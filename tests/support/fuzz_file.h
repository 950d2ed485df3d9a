// An input of a fuzz target as a file that is on no disk, by a path.
#ifndef TB_TESTS_FUZZ_FILE_H
#define TB_TESTS_FUZZ_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FUZZ_FILE_PATH = 32 };

// fuzz_input_file makes the input the content of the one file that there is; NULL where
// it cannot.
static inline const char *fuzz_input_file(
	const uint8_t *data, size_t size, char path[FUZZ_FILE_PATH])
{
	static int file = -1;
	if (file < 0)
		file = memfd_create("input", 0);
	if (file < 0 || ftruncate(file, 0) != 0 ||
		pwrite(file, data, size, 0) != (ssize_t)size)
		return NULL;
	snprintf(path, FUZZ_FILE_PATH, "/proc/self/fd/%d", file);
	return path;
}

// fuzz_folder returns where files that need a name are not on a disk, if there is such a
// folder.
static inline const char *fuzz_folder(void)
{
	return access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
}

// fuzz_turn returns whether an input gets share `turn` of `n` of the questions: the
// fuzzer asks each input some of them, to try more inputs, and a replay of the corpus
// all.
static inline bool fuzz_turn(size_t choice, unsigned n, unsigned turn)
{
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
	return choice % n == turn;
#else
	(void)choice, (void)n, (void)turn;
	return true;
#endif
}

#endif
