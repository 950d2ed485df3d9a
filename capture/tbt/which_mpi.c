#include "which_mpi.h"

#include "bytes.h"
#include "mpi_library.h"

#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// ELF, 64 bits (System V ABI, "Object files"): where things stand in the header, a
// program header and an entry of the dynamic section.
enum {
	ELF_64 = 2,
	AT_CLASS = 4,
	AT_ORDER = 5,
	AT_PHOFF = 32,
	AT_PHENTSIZE = 54,
	AT_PHNUM = 56,
	PH_OFFSET = 8,
	PH_VADDR = 16,
	PH_FILESZ = 32,
	PT_LOAD = 1,
	PT_DYNAMIC = 2,
	PT_INTERP = 3,
	DT_NEEDED = 1,
	DT_STRTAB = 5,
	DYNAMIC_BYTES = 16
};

struct elf {
	struct tb_bytes bytes;
	bool little;
	uint16_t n_headers, header_bytes;
	uint64_t headers;
};

static bool elf_u64(const struct elf *elf, uint64_t at, uint64_t *value)
{
	uint32_t first, second;
	if (at > elf->bytes.n ||
		!tb_bytes_u32_as(elf->bytes, (size_t)at, elf->little, &first) ||
		!tb_bytes_u32_as(elf->bytes, (size_t)at + 4, elf->little, &second))
		return false;
	*value = elf->little ? (uint64_t)second << 32 | first
			     : (uint64_t)first << 32 | second;
	return true;
}

static bool elf_begin(struct elf *elf, struct tb_bytes bytes)
{
	uint8_t class = 0, order = 0;
	*elf = (struct elf){.bytes = bytes};
	if (!tb_bytes_have(bytes, 0, 4) || memcmp(bytes.data, "\177ELF", 4) != 0)
		return false;
	if (!tb_bytes_u8(bytes, AT_CLASS, &class) || class != ELF_64 ||
		!tb_bytes_u8(bytes, AT_ORDER, &order))
		return false;
	elf->little = order == 1;
	return elf_u64(elf, AT_PHOFF, &elf->headers) &&
	       tb_bytes_u16_as(bytes, AT_PHENTSIZE, elf->little, &elf->header_bytes) &&
	       tb_bytes_u16_as(bytes, AT_PHNUM, elf->little, &elf->n_headers);
}

// A program header: its kind, and where in the file its segment is.
struct elf_part {
	uint32_t kind;
	uint64_t offset, address, n;
};

static bool elf_get_part(const struct elf *elf, unsigned i, struct elf_part *part)
{
	uint64_t at = elf->headers + (uint64_t)i * elf->header_bytes;
	return at <= elf->bytes.n &&
	       tb_bytes_u32_as(elf->bytes, (size_t)at, elf->little, &part->kind) &&
	       elf_u64(elf, at + PH_OFFSET, &part->offset) &&
	       elf_u64(elf, at + PH_VADDR, &part->address) &&
	       elf_u64(elf, at + PH_FILESZ, &part->n);
}

// elf_offset converts an address to an offset in the file.
static bool elf_offset(const struct elf *elf, uint64_t address, uint64_t *offset)
{
	struct elf_part part;
	for (unsigned i = 0; i < elf->n_headers && elf_get_part(elf, i, &part); i++) {
		if (part.kind != PT_LOAD || address < part.address ||
			address - part.address >= part.n)
			continue;
		*offset = part.offset + (address - part.address);
		return true;
	}
	return false;
}

static bool find_dynamic(const struct elf *elf, struct elf_part *dynamic)
{
	for (unsigned i = 0; i < elf->n_headers && elf_get_part(elf, i, dynamic); i++)
		if (dynamic->kind == PT_DYNAMIC)
			return true;
	return false;
}

// find_needed searches the libraries that the dynamic section lists as needed.
static bool find_needed(const struct elf *elf, enum tb_tbt_mpi *mpi)
{
	struct elf_part dynamic;
	uint64_t tag, value, address = 0, names = 0;
	if (!find_dynamic(elf, &dynamic))
		return false;
	uint64_t n = dynamic.n / DYNAMIC_BYTES, at = dynamic.offset;
	for (uint64_t i = 0; i < n && elf_u64(elf, at + i * DYNAMIC_BYTES, &tag); i++)
		if (tag == DT_STRTAB)
			elf_u64(elf, at + i * DYNAMIC_BYTES + 8, &address);
	if (!elf_offset(elf, address, &names) || names > elf->bytes.n)
		return false;
	for (uint64_t i = 0; i < n && elf_u64(elf, at + i * DYNAMIC_BYTES, &tag); i++) {
		if (tag != DT_NEEDED ||
			!elf_u64(elf, at + i * DYNAMIC_BYTES + 8, &value) ||
			value >= elf->bytes.n - names)
			continue;
		const char *name = (const char *)elf->bytes.data + names + value;
		size_t most = elf->bytes.n - (size_t)(names + value);
		unsigned its = memchr(name, '\0', most) ? tb_mpi_of_library(name) : 0;
		if (!its)
			continue;
		*mpi = (enum tb_tbt_mpi)its;
		return true;
	}
	return false;
}

// with_elf calls `ask` for a program's file if it is ELF, and returns its answer.
static bool with_elf(const char *path, bool (*ask)(const struct elf *, enum tb_tbt_mpi *),
	enum tb_tbt_mpi *mpi)
{
	struct stat entry;
	struct elf elf;
	bool answer = false;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (fstat(fd, &entry) == 0 && S_ISREG(entry.st_mode) && entry.st_size > 0) {
		size_t n = (size_t)entry.st_size;
		void *there = mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0);
		if (there != MAP_FAILED) {
			answer = elf_begin(&elf, (struct tb_bytes){there, n}) &&
				 ask(&elf, mpi);
			munmap(there, n);
		}
	}
	close(fd);
	return answer;
}

static bool mpi_of_program(const char *path, enum tb_tbt_mpi *mpi)
{
	return with_elf(path, find_needed, mpi);
}

// elf_is_static returns whether a program has no dynamic loader, so that nothing can be
// preloaded into it.
static bool elf_is_static(const struct elf *elf, enum tb_tbt_mpi *mpi)
{
	struct elf_part part;
	(void)mpi;
	for (unsigned i = 0; i < elf->n_headers && elf_get_part(elf, i, &part); i++)
		if (part.kind == PT_INTERP)
			return false;
	return true;
}

// find_program stores the path of a word of the command if it is a program, searching
// PATH as a shell does.
static bool find_program(const char *word, char path[PATH_MAX])
{
	const char *folders = getenv("PATH");
	if (strchr(word, '/'))
		return snprintf(path, PATH_MAX, "%s", word) < PATH_MAX &&
		       access(path, X_OK) == 0;
	while (folders && *folders) {
		int n = (int)strcspn(folders, ":");
		if (snprintf(path, PATH_MAX, "%.*s/%s", n, folders, word) < PATH_MAX &&
			access(path, X_OK) == 0)
			return true;
		folders += n;
		folders += *folders == ':';
	}
	return false;
}

static bool mpi_of_launcher(const char *path, enum tb_tbt_mpi *mpi)
{
	char real[PATH_MAX];
	if (!realpath(path, real))
		return false;
	const char *name = strrchr(real, '/') + 1;
	if (strstr(name, "hydra") || strstr(name, ".mpich"))
		*mpi = TB_TBT_MPICH;
	else if (strstr(name, "orterun") || strstr(name, "prterun") ||
		 strstr(name, ".openmpi"))
		*mpi = TB_TBT_OPENMPI;
	else
		return false;
	return true;
}

bool tb_which_mpi(enum tb_tbt_mpi *mpi, char *const *command)
{
	char path[PATH_MAX];
	for (size_t i = 0; command[i]; i++)
		if (find_program(command[i], path) && mpi_of_program(path, mpi))
			return true;
	for (size_t i = 0; command[i]; i++)
		if (find_program(command[i], path) && mpi_of_launcher(path, mpi))
			return true;
	return false;
}

const char *tb_mpi_against(enum tb_tbt_mpi mpi, char *const *command)
{
	char path[PATH_MAX];
	const char *other = NULL;
	for (size_t i = 0; command[i]; i++) {
		enum tb_tbt_mpi its;
		if (!find_program(command[i], path) || !mpi_of_program(path, &its))
			continue;
		if (its == mpi)
			return NULL;
		other = other ? other : command[i];
	}
	return other;
}

const char *tb_not_preloaded(char *const *command, const char **why)
{
	char path[PATH_MAX];
	struct stat entry;
	for (size_t i = 0; command[i]; i++) {
		if (!find_program(command[i], path))
			continue;
		*why = NULL;
		if (with_elf(path, elf_is_static, NULL))
			*why = "is linked statically";
		else if (stat(path, &entry) == 0 && (entry.st_mode & (S_ISUID | S_ISGID)))
			*why = "runs with the rights of another (set-uid)";
		if (*why)
			return command[i];
	}
	return NULL;
}

bool tb_is_program(const char *word)
{
	char path[PATH_MAX];
	return find_program(word, path);
}

static const char *const names[] = {
	[TB_TBT_OPENMPI] = "openmpi", [TB_TBT_MPICH] = "mpich"};

const char *tb_mpi_name(size_t mpi)
{
	return mpi < sizeof names / sizeof *names ? names[mpi] : NULL;
}
