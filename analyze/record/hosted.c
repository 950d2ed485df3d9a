#include "recording_impl.h"

int tb_hosted_init(struct tb_hosted *hosted, const struct tb_network *network,
	struct tb_source source, struct tb_observer observer,
	const struct tb_engine_options *options, struct tb_error *error)
{
	*hosted = (struct tb_hosted){.source = source,
		.observer = observer,
		.nic_source = source,
		.nic_observer = observer};
	if (tb_host_is_needed(network)) {
		int status = tb_host_new(&hosted->host, network, &hosted->source,
			&hosted->observer, tb_engine_ideal_ps, error);
		if (status != TB_OK)
			return status;
		hosted->nic_source = tb_host_source(hosted->host);
		hosted->nic_observer = tb_host_observer(hosted->host);
	}
	return tb_engine_new(&hosted->engine, network, &hosted->nic_source,
		&hosted->nic_observer, options, error);
}

void tb_hosted_fini(struct tb_hosted *hosted)
{
	tb_engine_free(hosted->engine);
	tb_host_free(hosted->host);
}
