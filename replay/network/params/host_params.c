#include "host_params.h"

#include <stddef.h>

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
		[TB_LOCAL_LINKS] = "links",
	};
	return (size_t)local < sizeof names / sizeof *names ? names[local] : NULL;
}

const char *tb_rails_policy_name(enum tb_rails_policy policy)
{
	static const char *const names[] = {
		[TB_RAILS_STRIPING] = "striping",
		[TB_RAILS_ROUND_ROBIN] = "round-robin",
		[TB_RAILS_STATIC] = "static",
		[TB_RAILS_LOCAL] = "local",
		[TB_RAILS_RESERVE] = "reserve",
	};
	return (size_t)policy < sizeof names / sizeof *names ? names[policy] : NULL;
}

bool tb_host_does_nothing(const struct tb_host_params *host)
{
	return !host->issue_ps && !host->notice_ps && !host->copy_bytes_per_s &&
	       !host->largest_bytes && !host->n_outstanding &&
	       host->handshake == TB_HANDSHAKE_NONE && host->local == TB_LOCAL_NETWORK &&
	       host->rails_policy != TB_RAILS_RESERVE;
}
