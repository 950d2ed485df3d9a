// What is to be known of the figures, as the notes of the run.
#include "measured_impl.h"

#include "units.h"

#include <inttypes.h>

static int note_case(struct measuring *measuring, const struct case_of *what,
	const char *noun, const char *text)
{
	char count[64];
	if (what->n == 0)
		return TB_OK;
	return measured_note(measuring->measured, measuring->error, "%s %s (%s%s)",
		tb_format_counted(what->n, noun, count, sizeof count), text,
		what->n > 1 ? "the first: " : "", what->first);
}

static int note_sources(struct measuring *measuring)
{
	struct tb_measured *measured = measuring->measured;
	uint32_t n = tb_network_n_links(measured->network), silent = 0;
	char count[64];
	for (uint32_t i = 0; i < n; i++)
		silent += measured->known[i].wait == TB_NOT_MEASURED;
	if (silent == n)
		return measured_note(measured, measuring->error,
			"No port tells how long it could not send: there are no waits");
	if (!silent)
		return TB_OK;
	return measured_note(measured, measuring->error,
		"Of %s no port tells how long it could not send: their waits are not in "
		"here",
		tb_format_counted(silent, "link", count, sizeof count));
}

// note_all says what is to be known of the figures.
int measuring_notes(struct measuring *measuring)
{
	const struct {
		const struct case_of *what;
		const char *noun, *text;
	} cases[] = {
		{&measuring->unknown, "port",
			"had a counter that stood at its end in both dumps: what it "
			"counts is not known; reset it, or read 64 bits (perfquery -x)"},
		{&measuring->full, "port",
			"had a counter that came to its end: it counted at least so "
			"much"},
		{&measuring->wrapped, "port",
			"had a counter of 32 bits that went through 2^32: it counted at "
			"least so much"},
		{&measuring->reset, "port",
			"had counters reset between the dumps: they counted at least "
			"what "
			"they did since"},
		{&measuring->bounded, "port",
			"counted pause frames and no time: a frame holds for at most "
			"65,535 quanta, so waits are at most so long"},
		{&measuring->unbounded, "port",
			"counted pause frames that may have held for all of the time: "
			"how "
			"long is not known"},
		{&measuring->tickless, "port",
			"counted ticks of PortXmitWait whose length is not known "
			"(xmit_wait_tick): how long it waited is not known"},
		{&measuring->foreign, "port",
			"of the dump the fabric does not have: left out"},
		{&measuring->unseen, "port", "the earlier dump does not have: left out"},
		{&measuring->gone, "port",
			"of the earlier dump the later one does not have: left out"},
		{&measuring->long_stall, "link",
			"could not send for longer than there was time: taken as all of "
			"it; is --interval right?"},
		{&measuring->too_fast, "link",
			"carried more than its rate in the fabric allows: are that and "
			"--interval right?"},
	};
	int status = TB_OK;
	if (!measuring->options->before)
		status = measured_note(measuring->measured, measuring->error,
			"There is one dump: all is since its counters were reset, which "
			"was the time before that --interval gives");
	if (status == TB_OK)
		status = note_sources(measuring);
	for (size_t i = 0; status == TB_OK && i < sizeof cases / sizeof *cases; i++)
		status =
			note_case(measuring, cases[i].what, cases[i].noun, cases[i].text);
	uint64_t divisor = measuring->measured->divisor;
	if (status == TB_OK && divisor > 1)
		status = measured_note(measuring->measured, measuring->error,
			"Figures of links are those of an average 1/%" PRIu64
			" of the time between the dumps: the sums of all of it do not "
			"fit",
			divisor);
	return status;
}
