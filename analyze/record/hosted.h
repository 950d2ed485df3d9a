// An engine, with the hosts between it and its source and observer where a network needs
// them. Private to analyze/record/.
#ifndef TB_HOSTED_H
#define TB_HOSTED_H

#include "engine.h"
#include "host.h"

struct tb_hosted { // zeroed, it may be ended
	struct tb_source source;
	struct tb_observer observer;
	struct tb_host *host;	     // NULL when not needed
	struct tb_source nic_source; // what the engine uses
	struct tb_observer nic_observer;
	struct tb_engine *engine;
};

// tb_hosted_init makes the engine. It keeps source and observer, and borrows the network,
// until tb_hosted_fini; `hosted` must stay where it is. Errors as of tb_engine_new.
int tb_hosted_init(struct tb_hosted *hosted, const struct tb_network *network,
	struct tb_source source, struct tb_observer observer,
	const struct tb_engine_options *options, struct tb_error *error) TB_MUST_USE;
void tb_hosted_fini(struct tb_hosted *hosted);

#endif
