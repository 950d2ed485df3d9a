// What the name of a profile's file tells.
#include "profile.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define RANKS_MAX (UINT32_C(1) << 24)

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

uint32_t tb_profile_rank_in_name(const char *path)
{
	for (const char *at = base_name(path); (at = strcasestr(at, "rank")); at++) {
		const char *digits = at + 4;
		if (*digits == '_' || *digits == '-' || *digits == '.' || *digits == '=')
			digits++;
		if (isdigit((unsigned char)*digits)) {
			unsigned long rank = strtoul(digits, NULL, 10);
			return rank < RANKS_MAX ? (uint32_t)rank : TB_NONE;
		}
	}
	return TB_NONE;
}

// counts_ranks returns whether a name is that of a rank or step, not of a host:
// "worker0", "rank-3", "worker0_step".
static bool counts_ranks(const char *name, size_t n)
{
	static const char *const words[] = {"worker", "rank", "step", "epoch", "iter"};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		size_t length = strlen(words[i]);
		const char *at = memmem(name, n, words[i], length);
		if (!at)
			continue;
		size_t end = (size_t)(at - name) + length;
		end += end < n && (name[end] == '-' || name[end] == '_');
		if (end == n || isdigit((unsigned char)name[end]))
			return true;
	}
	return false;
}

char *tb_profile_host_in_name(const char *path)
{
	const char *name = base_name(path), *end = strstr(name, ".pt.trace.json");
	const char *pid = end ? memrchr(name, '_', (size_t)(end - name)) : NULL;
	if (!pid || pid == name || !isdigit((unsigned char)pid[1]))
		return NULL;
	for (const char *at = pid + 1; at < end; at++)
		if (!isdigit((unsigned char)*at) && *at != '.')
			return NULL;
	if (counts_ranks(name, (size_t)(pid - name)))
		return NULL;
	return strndup(name, (size_t)(pid - name));
}
