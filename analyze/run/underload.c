#include "underload.h"

#include "replay_command.h"
#include "run.h"
#include "switchings.h"

#include <string.h>

enum tb_recorded_on tb_recorded_on_of(const char *endpoint)
{
	if (!endpoint || !*endpoint)
		return TB_RECORDED_UNKNOWN;
	return strncmp(endpoint, "lid:", 4) == 0 || strncmp(endpoint, "gid:", 4) == 0
		       ? TB_RECORDED_INFINIBAND
		       : TB_RECORDED_ETHERNET;
}

enum tb_recorded_on tb_run_recorded_on(const struct tb_run *run)
{
	const struct tb_run_info *info = tb_run_info(run);
	const char *name = "";
	if (!info->is_captured && strcmp(info->input_kind, "packets") != 0)
		return TB_RECORDED_UNKNOWN;
	for (size_t i = 0; i < info->n_notes; i++)
		if (strncmp(info->notes[i].text, TB_UNTOLD, strlen(TB_UNTOLD)) == 0)
			return TB_RECORDED_UNKNOWN;
	for (uint32_t i = 0; i < info->n_nodes && !*name; i++)
		name = tb_run_node_name(run, (struct tb_node){i});
	return tb_recorded_on_of(name);
}

bool tb_recorded_elsewhere(
	enum tb_recorded_on on, const struct tb_network_params *network)
{
	return on == TB_RECORDED_ETHERNET && !tb_switching_of(network)->has_connections;
}

char *tb_recorded_on_text(
	enum tb_recorded_on on, uint64_t bytes_per_s, char *buffer, size_t size)
{
	static const char *const names[] = {[TB_RECORDED_UNKNOWN] = "",
		[TB_RECORDED_ETHERNET] = "Ethernet",
		[TB_RECORDED_INFINIBAND] = "InfiniBand"};
	char rate[32];
	buffer[0] = '\0';
	if (on != TB_RECORDED_UNKNOWN && bytes_per_s)
		snprintf(buffer, size, ", recorded on %s at %s a port", names[on],
			tb_format_rate((double)bytes_per_s, rate, sizeof rate));
	else if (on != TB_RECORDED_UNKNOWN)
		snprintf(buffer, size, ", recorded on %s", names[on]);
	return buffer;
}

// wait_of returns the mean wait of a packet, in ps.
static double wait_of(const struct tb_underload *load)
{
	return load->n_packets ? load->wait_ps / (double)load->n_packets : 0;
}

bool tb_underload_shows_nothing(const struct tb_underload *load)
{
	const struct tb_network_params *network = load->network;
	double bytes =
		(double)network->packet_payload_bytes + network->packet_overhead_bytes;
	double packet_ps =
		bytes / (double)network->link_bytes_per_s * (double)TB_PS_PER_S;
	return load->busiest_share > 0 && load->half_scale > 0 &&
	       load->busiest_share < TB_UNDERLOAD_SHARE &&
	       wait_of(load) < TB_UNDERLOAD_PACKETS * packet_ps;
}

// scale_of writes the time scale to try; replay takes no smaller one than 1e-9.
static const char *scale_of(const struct tb_underload *load, char *buffer, size_t size)
{
	snprintf(buffer, size, "%.3g", load->half_scale > 1e-9 ? load->half_scale : 1e-9);
	return buffer;
}

void tb_underload_hints(FILE *stream, const struct tb_underload *load)
{
	char scale[32];
	const char *between = "";
	bool closed = strstr(load->options ? load->options : "", "--closed-loop");
	bool may_close = load->recorded != TB_RECORDED_INFINIBAND;
	fputs("Waits show with ", stream);
	if (tb_recorded_elsewhere(load->recorded, load->network) && !load->is_untold) {
		fputs("-n recorded (the captured network, if full frames tell it)",
			stream);
		between = ", ";
	}
	if (load->half_scale > 0 && load->half_scale < 1) {
		fprintf(stream, "%s--time-scale %s (loads the busiest node to a half)",
			between, scale_of(load, scale, sizeof scale));
		between = ", ";
	}
	if (!closed && may_close) {
		fprintf(stream, "%s--closed-loop (senders wait for what they receive)",
			between);
		between = ", ";
	}
	fprintf(stream, "%s%s jobs side by side (--job).", *between ? " or " : "",
		load->n_inputs > 1 ? "more" : "several");
}

static void put_finding(FILE *stream, const struct tb_underload *load)
{
	char share[32], wait[32];
	fprintf(stream,
		"The capture asks for little of this network: at most %s of what a "
		"node's link carries, and packets waited %s each on average",
		tb_format_percent(load->busiest_share * 100, share, sizeof share),
		tb_format_time((tb_time_ps)wait_of(load), wait, sizeof wait));
}

void tb_underload_state(FILE *stream, const struct tb_underload *load)
{
	put_finding(stream, load);
	fputs(". ", stream);
	tb_underload_hints(stream, load);
}

int tb_underload_command(FILE *stream, const struct tb_underload *load)
{
	char scale[32];
	struct tb_replay_command command;
	int status = tb_replay_command_init(&command, load->input_name, load->options);
	if (status)
		return status;
	// Last, where the eye finds it.
	tb_replay_command_drop(&command, "--time-scale");
	tb_replay_command_set(
		&command, "--time-scale", scale_of(load, scale, sizeof scale));
	status = tb_replay_command_write(&command, "scaled.db", stream);
	tb_replay_command_fini(&command);
	return status;
}

void tb_underload_write(FILE *stream, const struct tb_underload *load)
{
	char scale[32];
	tb_underload_state(stream, load);
	fputs(" Try: ", stream);
	if (tb_underload_command(stream, load))
		fprintf(stream, "the same command with --time-scale %s.",
			scale_of(load, scale, sizeof scale));
}
