// Options of an engine, besides network, source and observer.
#ifndef TB_ENGINE_OPTIONS_H
#define TB_ENGINE_OPTIONS_H

#include "faults.h"
#include "peer_streams.h"

// What running an engine returns once its time has come to where it is to pause.
enum { TB_ENGINE_PAUSED = 2 };

struct tb_engine_options {
	uint64_t seed;
	tb_time_ps
		bin_ps; // width of a time bin; 0: as wide as keeps their number bounded
	// Bins and blame of [from_ps, to_ps) alone; with a width, of which both are
	// multiples. to_ps 0: of all time.
	tb_time_ps from_ps, to_ps;
	bool without_blame;		// do not record who waited for whom
	const struct tb_faults *faults; // what dies; read at the start; NULL: nothing
	// The same nodes on an ideal network: no packet waits for another in it, and
	// nothing fails (docs/model.md, "The ideal network").
	bool ideal;
	// A fluid's window of packets (docs/fluid.md) may begin when all is over.
	bool window_may_miss;
	// Into how many parts a network is cut that are simulated side by side, where the
	// switching model can do that and the source allows it; 0: as many as its size
	// asks for (network_parts.h), but one for one thread. Nothing that comes out
	// depends on it.
	uint32_t n_parts;
	// How many threads simulate the parts, the caller's included; more than there are
	// parts are not used. 0: one. Nothing that comes out depends on it.
	unsigned n_threads;
	// Processes that simulate the parts together, each on its threads; NULL: this one
	// alone. All of them make the same engine of the same network, source and options
	// (engine.h, "Several processes"). Nothing that comes out depends on them.
	struct tb_peer_streams *peers;
	// How many jobs the source's messages belong to, which have the numbers below
	// that. Each job's messages are then numbered by themselves (rule 1), so that the
	// random draws for them do not depend on other jobs. 0: all are numbered as one
	// job's.
	uint32_t n_jobs;
	// The service levels of the source's first jobs, below 16 (docs/credits.md, rule
	// C3); those of further ones are 0. Read at the start. Of switching `credits`
	// alone.
	const uint8_t *service_levels;
	uint32_t n_service_levels;
	// By link, or NULL. When a packet has arrived at its destination, each link of
	// its path but the last gains the time from when the packet's header entered the
	// network until it went on from the receiving end of that link: the delay that
	// paper 000, 5.4, adds up by the link over which packets come in. The caller may
	// read and clear it between calls.
	tb_time_ps *delays;
	// By job of the source, or NULL. Gains the payload of each packet that has
	// arrived at its destination. The caller may read and clear it between calls.
	uint64_t *job_bytes;
};

struct tb_engine_exchange {   // of several processes, among each other
	uint32_t n_processes; // 0: this one alone
	uint64_t n_windows, bytes;
};

#endif
