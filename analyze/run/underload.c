#include "underload.h"

#include "replay_command.h"

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

static void put_finding(FILE *stream, const struct tb_underload *load)
{
	char share[32], wait[32], scale[32];
	fprintf(stream,
		"This replay shows nothing to speak of: the busiest node asks for %s of "
		"what its link carries, and packets waited %s each on average. "
		"With --time-scale %s it would ask for a half",
		tb_format_percent(load->busiest_share * 100, share, sizeof share),
		tb_format_time((tb_time_ps)wait_of(load), wait, sizeof wait),
		scale_of(load, scale, sizeof scale));
}

void tb_underload_state(FILE *stream, const struct tb_underload *load)
{
	put_finding(stream, load);
	fputc('.', stream);
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
	put_finding(stream, load);
	fputs(": ", stream);
	if (tb_underload_command(stream, load))
		fprintf(stream, "the same command with --time-scale %s.",
			scale_of(load, scale, sizeof scale));
}
