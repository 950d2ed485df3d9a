#include "underload.h"

#include <string.h>

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

// put_name writes a file name as a word of a shell command.
static void put_name(FILE *stream, const char *name)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz0123456789_./+:=,@%-"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	if (*name && name[strspn(name, plain)] == '\0') {
		fputs(name, stream);
		return;
	}
	fputc('\'', stream);
	for (; *name; name++)
		if (*name == '\'')
			fputs("'\\''", stream);
		else
			fputc(*name, stream);
	fputc('\'', stream);
}

// put_command writes the replay of the same input with another time scale. Where the
// options name the input (--job), it is not named twice.
static void put_command(FILE *stream, const struct tb_underload *load, const char *scale)
{
	static const char key[] = " --time-scale ";
	const char *options = load->options;
	const char *old = strstr(options, key);
	fputs("tailback replay ", stream);
	if (!strstr(options, "--job ")) {
		put_name(stream, load->input_name);
		fputc(' ', stream);
	}
	size_t before = old ? (size_t)(old - options) : strlen(options);
	const char *after = old ? old + strlen(key) : "";
	after += strcspn(after, " ");
	fprintf(stream, "%.*s%s --time-scale %s -o scaled.db", (int)before, options,
		after, scale);
}

void tb_underload_write(FILE *stream, const struct tb_underload *load)
{
	char share[32], wait[32], scale[32];
	// replay takes no smaller one.
	double half = load->half_scale > 1e-9 ? load->half_scale : 1e-9;
	snprintf(scale, sizeof scale, "%.3g", half);
	fprintf(stream,
		"This replay shows nothing to speak of: the busiest node asks for %s of "
		"what its link carries, and packets waited %s each on average. "
		"With --time-scale %s it would ask for a half: ",
		tb_format_percent(load->busiest_share * 100, share, sizeof share),
		tb_format_time((tb_time_ps)wait_of(load), wait, sizeof wait), scale);
	if (strstr(load->input_name, ", "))
		fprintf(stream, "the same command with --time-scale %s.", scale);
	else
		put_command(stream, load, scale);
}
