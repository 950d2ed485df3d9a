// What the tools call the counters.
#include "counters_impl.h"

#include <ctype.h>
#include <string.h>

#define INFO(ID, side, class, key, noun)                                                 \
	[TB_COUNTER_##ID] = {TB_COUNTS_##side, TB_COUNTS_##class, key, noun},
const struct tb_counter_info tb_counter_infos[TB_N_COUNTERS] = {TB_COUNTERS(INFO)};
#undef INFO

#define NAME(name, ID)	      {name, TB_COUNTER_##ID, 1, false},
#define WORDS(name, ID)	      {name, TB_COUNTER_##ID, 4, false},
#define OF_PRIORITY(name, ID) {name, TB_COUNTER_##ID, 1, true},

// InfiniBand counts data in words of 4 bytes; exporters whose names end in "bytes" have
// made bytes of them. Endings "total", "extended" and "ext" are left out.
static const struct counter_name names[] = {
	// perfquery, ibqueryerrors, ibdiagnet2.pm, UFM, and exporters that keep these
	// names
	WORDS("portxmitdata", SENT_BYTES) WORDS("portrcvdata", RECEIVED_BYTES) NAME(
		"portxmitpkts", SENT_PACKETS) NAME("portrcvpkts",
		RECEIVED_PACKETS) NAME("portxmitwait",
		WAIT_TICKS) NAME("symbolerrorcounter", SYMBOL_ERRORS) NAME("symbolerrors",
		SYMBOL_ERRORS) NAME("linkerrorrecoverycounter",
		RECOVERIES) NAME("linkrecovers", RECOVERIES) NAME("linkdownedcounter",
		LINK_DOWNED) NAME("linkdowncounter", LINK_DOWNED) NAME("linkdowned",
		LINK_DOWNED) NAME("portrcverrors", RECEIVE_ERRORS) NAME("rcverrors",
		RECEIVE_ERRORS) NAME("portrcvremotephysicalerrors",
		REMOTE_PHYSICAL) NAME("rcvremotephyserrors",
		REMOTE_PHYSICAL) NAME("portrcvswitchrelayerrors",
		RELAY_ERRORS) NAME("rcvswrelayerrors",
		RELAY_ERRORS) NAME("portxmitdiscards",
		SEND_DISCARDS) NAME("portxmitdiscard", SEND_DISCARDS) NAME("xmtdiscards",
		SEND_DISCARDS) NAME("portxmitconstrainterrors",
		SEND_CONSTRAINT) NAME("xmtconstrainterrors",
		SEND_CONSTRAINT) NAME("portrcvconstrainterrors", RECEIVE_CONSTRAINT)
		NAME("rcvconstrainterrors", RECEIVE_CONSTRAINT) NAME(
			"locallinkintegrityerrors", INTEGRITY) NAME("linkintegrityerrors",
			INTEGRITY) NAME("excessivebufferoverrunerrors", OVERRUNS)
			NAME("excessivebuffererrors", OVERRUNS) NAME(
				"excbufoverrunerrors", OVERRUNS) NAME("vl15dropped",
				VL15_DROPPED) WORDS("xmtdata", SENT_BYTES)
				WORDS("rcvdata", RECEIVED_BYTES) NAME("xmtpkts",
					SENT_PACKETS) NAME("rcvpkts", RECEIVED_PACKETS)
					NAME("xmtwait", WAIT_TICKS)
	// infiniband_exporter
	NAME("porttransmitdatabytes", SENT_BYTES) NAME(
		"portreceivedatabytes", RECEIVED_BYTES) NAME("porttransmitpackets",
		SENT_PACKETS) NAME("portreceivepackets",
		RECEIVED_PACKETS) NAME("porttransmitwait",
		WAIT_TICKS) NAME("portsymbolerror",
		SYMBOL_ERRORS) NAME("portlinkerrorrecovery",
		RECOVERIES) NAME("portlinkdowned", LINK_DOWNED) NAME("portreceiveerrors",
		RECEIVE_ERRORS) NAME("portreceiveremotephysicalerrors", REMOTE_PHYSICAL)
		NAME("portreceiveswitchrelayerrors", RELAY_ERRORS) NAME(
			"porttransmitdiscards", SEND_DISCARDS)
			NAME("porttransmitconstrainterrors", SEND_CONSTRAINT) NAME(
				"portreceiveconstrainterrors", RECEIVE_CONSTRAINT)
				NAME("portlocallinkintegrityerrors", INTEGRITY)
					NAME("portexcessivebufferoverrunerrors", OVERRUNS)
						NAME("portvl15dropped", VL15_DROPPED)
	// node_exporter
	NAME("portdatatransmittedbytes", SENT_BYTES) NAME(
		"portdatareceivedbytes", RECEIVED_BYTES) NAME("portpacketstransmitted",
		SENT_PACKETS) NAME("portpacketsreceived", RECEIVED_PACKETS)
		NAME("symbolerror", SYMBOL_ERRORS) NAME(
			"linkerrorrecovery", RECOVERIES) NAME("porterrorsreceived",
			RECEIVE_ERRORS) NAME("portdiscardstransmitted", SEND_DISCARDS)
			NAME("portdiscardsreceived", RECEIVE_DISCARDS) NAME(
				"portconstrainterrorstransmitted", SEND_CONSTRAINT)
				NAME("portconstrainterrorsreceived", RECEIVE_CONSTRAINT)
	// ethtool -S; pause durations are microseconds
	NAME("txbytesphy", SENT_BYTES) NAME("rxbytesphy", RECEIVED_BYTES) NAME(
		"txbytes", SENT_BYTES) NAME("rxbytes",
		RECEIVED_BYTES) NAME("txpacketsphy", SENT_PACKETS) NAME("rxpacketsphy",
		RECEIVED_PACKETS) NAME("txpackets", SENT_PACKETS) NAME("rxpackets",
		RECEIVED_PACKETS) OF_PRIORITY("rxpriopauseduration",
		PAUSED_US) OF_PRIORITY("txpriopauseduration", PAUSING_US)
		OF_PRIORITY("rxglobalpauseduration", PAUSED_US) OF_PRIORITY(
			"txglobalpauseduration", PAUSING_US) OF_PRIORITY("rxpriopause",
			PAUSES_RECEIVED) OF_PRIORITY("txpriopause",
			PAUSES_SENT) OF_PRIORITY("rxglobalpause",
			PAUSES_RECEIVED) OF_PRIORITY("txglobalpause", PAUSES_SENT)
			OF_PRIORITY("rxpriorityxoffnic", PAUSES_RECEIVED) OF_PRIORITY(
				"txpriorityxoffnic", PAUSES_SENT) NAME("rxecnmark",
				ECN_MARKED) NAME("npecnmarkedrocepackets", ECN_MARKED)
				NAME("rxdiscardsphy", RECEIVE_DISCARDS) NAME(
					"txdiscardsphy", SEND_DISCARDS)
					NAME("rxsymbolerrphy", SYMBOL_ERRORS) NAME(
						"rxcrcerrorsphy", RECEIVE_ERRORS)
						NAME("txerrorsphy", SEND_ERRORS) NAME(
							"linkdowneventsphy", LINK_DOWNED)
	// SONiC: show interfaces counters
	NAME("rxok", RECEIVED_PACKETS) NAME("txok", SENT_PACKETS) NAME("rxerr",
		RECEIVE_ERRORS) NAME("txerr", SEND_ERRORS) NAME("rxdrp", RECEIVE_DISCARDS)
		NAME("txdrp", SEND_DISCARDS) NAME("rxovr", OVERRUNS)};

static bool ends(const char *text, size_t n, const char *end)
{
	size_t length = strlen(end);
	return n > length && memcmp(text + n - length, end, length) == 0;
}

void counter_name_plain(const char *name, size_t n, char *buffer, size_t size)
{
	size_t used = 0;
	for (size_t i = 0; i < n && used + 1 < size; i++) {
		unsigned char c = (unsigned char)name[i];
		bool of_priority = isdigit(c) && (ends(buffer, used, "prio") ||
							 ends(buffer, used, "priority"));
		if (isalnum(c) && !of_priority)
			buffer[used++] = (char)tolower(c);
	}
	buffer[used] = '\0';
}

const struct counter_name *counter_name_find(const char *name, size_t n)
{
	static const char *const endings[] = {"total", "extended", "ext"};
	char plain[64];
	if (n >= sizeof plain)
		return NULL;
	counter_name_plain(name, n, plain, sizeof plain);
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
		if (ends(plain, strlen(plain), endings[i]))
			plain[strlen(plain) - strlen(endings[i])] = '\0';
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(names[i].name, plain) == 0)
			return &names[i];
	return NULL;
}
