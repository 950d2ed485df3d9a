#include "host_params.h"

#include <inttypes.h>
#include <stdio.h>

const char *tb_handshake_name(enum tb_handshake handshake)
{
	static const char *const names[] = {
		[TB_HANDSHAKE_NONE] = "none",
		[TB_HANDSHAKE_READ] = "read",
		[TB_HANDSHAKE_RENDEZVOUS] = "rendezvous",
	};
	return (size_t)handshake < sizeof names / sizeof *names ? names[handshake] : NULL;
}

const char *tb_local_name(enum tb_local local)
{
	static const char *const names[] = {
		[TB_LOCAL_NETWORK] = "network",
		[TB_LOCAL_MEMORY] = "memory",
	};
	return (size_t)local < sizeof names / sizeof *names ? names[local] : NULL;
}

bool tb_host_does_nothing(const struct tb_host_params *host)
{
	return !host->issue_ps && !host->notice_ps && !host->copy_bytes_per_s &&
	       !host->largest_bytes && !host->n_outstanding &&
	       host->handshake == TB_HANDSHAKE_NONE && host->local == TB_LOCAL_NETWORK;
}

// rate_text writes what the key of a rate takes.
static const char *rate_text(uint64_t bytes_per_s, char *buffer, size_t size)
{
	if (bytes_per_s == 0)
		return "none";
	snprintf(buffer, size, "%" PRIu64 "B/s", bytes_per_s);
	return buffer;
}

static const char *count_text(uint32_t count, char *buffer, size_t size)
{
	if (count == 0)
		return "none";
	snprintf(buffer, size, "%" PRIu32, count);
	return buffer;
}

char *tb_host_describe(const struct tb_host_params *host, char *buffer, size_t size)
{
	char copy[32], rate[32], largest[16], outstanding[16];
	snprintf(buffer, size,
		"host=%s,issue=%" PRId64 "ps,notice=%" PRId64 "ps,copy=%s,largest=%s,"
		"outstanding=%s,stripe_above=%" PRIu32
		",handshake=%s,handshake_above=%" PRIu32
		",local=%s,local_latency=%" PRId64 "ps,local_rate=%s",
		host->name, host->issue_ps, host->notice_ps,
		rate_text(host->copy_bytes_per_s, copy, sizeof copy),
		count_text(host->largest_bytes, largest, sizeof largest),
		count_text(host->n_outstanding, outstanding, sizeof outstanding),
		host->stripe_above_bytes, tb_handshake_name(host->handshake),
		host->handshake_above_bytes, tb_local_name(host->local),
		host->local_latency_ps,
		rate_text(host->local_bytes_per_s, rate, sizeof rate));
	return buffer;
}
