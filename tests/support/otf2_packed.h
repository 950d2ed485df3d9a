// An OTF2 archive of two locations in one run of bytes, for the fuzzer: each file as its
// number (a byte: 1 the global definitions, 2 + 2 i the events of location i, 3 + 2 i its
// own definitions), its length (two bytes, low one first) and its bytes. Numbers instead
// of names keep what the fuzzer makes up inside of the folder. The anchor file is always
// the same: libotf2 alone reads it, and a damaged one can keep it busy for minutes.
#ifndef TB_OTF2_PACKED_TEST_H
#define TB_OTF2_PACKED_TEST_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint8_t otf2_anchor[] = {0x03, 0x42, 0x4f, 0x54, 0x46, 0x32, 0x00, 0x03,
	0x02, 0x03, 0x00, 0x02, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x40, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x01, 0x02, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x27, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x74, 0x65, 0x73, 0x74, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xd2, 0x48, 0xed,
	0x32, 0x06, 0x0f, 0x6c, 0x1d, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x02, 0x01, 0x00};

static inline void otf2_file_name(
	char *path, size_t size, const char *folder, unsigned number)
{
	if (number < 2)
		snprintf(path, size, "%s/traces.%s", folder, number ? "def" : "otf2");
	else
		snprintf(path, size, "%s/traces/%u.%s", folder, number / 2 - 1,
			number % 2 ? "def" : "evt");
}

static inline void otf2_write(const char *path, const uint8_t *data, size_t n)
{
	FILE *file = fopen(path, "wb");
	if (!file || fwrite(data, 1, n, file) != n || fclose(file) != 0)
		abort();
}

// otf2_unpack writes the files into a new folder. What is behind the last whole file's
// length belongs to it.
static inline void otf2_unpack(const char *folder, const uint8_t *data, size_t size)
{
	char path[200];
	snprintf(path, sizeof path, "%s/traces", folder);
	if (mkdir(path, 0700) != 0)
		abort();
	for (size_t at = 0; size - at >= 3;) {
		size_t n = data[at + 1] | (size_t)data[at + 2] << 8;
		otf2_file_name(path, sizeof path, folder, data[at]);
		at += 3;
		n = n < size - at ? n : size - at;
		otf2_write(path, data + at, n);
		at += n;
	}
	otf2_file_name(path, sizeof path, folder, 0);
	otf2_write(path, otf2_anchor, sizeof otf2_anchor);
}

// otf2_pack makes such a run of bytes of an archive's folder: how the corpus was made.
static inline size_t otf2_pack(const char *folder, uint8_t *data, size_t size)
{
	size_t at = 0;
	for (unsigned number = 1; number < 256; number++) {
		char path[200];
		otf2_file_name(path, sizeof path, folder, number);
		FILE *file = fopen(path, "rb");
		if (!file)
			continue;
		if (size - at < 3)
			abort();
		size_t n = fread(data + at + 3, 1, size - at - 3, file);
		fclose(file);
		if (n > UINT16_MAX)
			abort();
		data[at] = (uint8_t)number;
		data[at + 1] = (uint8_t)n;
		data[at + 2] = (uint8_t)(n >> 8);
		at += 3 + n;
	}
	return at;
}

// otf2_remove removes the folder and the files that otf2_unpack writes.
static inline void otf2_remove(const char *folder)
{
	char path[200];
	for (unsigned number = 0; number < 256; number++) {
		otf2_file_name(path, sizeof path, folder, number);
		unlink(path);
	}
	snprintf(path, sizeof path, "%s/traces", folder);
	rmdir(path);
	rmdir(folder);
}

#endif
