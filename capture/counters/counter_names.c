// What the tools and drivers call the counters: one row a name.
//
// Widths are those of the attribute that the name is of. InfiniBand's PortCounters have
// 4 to 32 bits, stop at their end and stay there until somebody resets them;
// PortCountersExtended have 64 (IBTA, vol. 1, 16.1.3.5 and 16.1.4.11). Kernel exports
// (node_exporter) read the narrow ones but for data and packets
// (drivers/infiniband/core/sysfs.c). Drivers of Ethernet count in 64 bits.
//
// Which side is held: who receives a pause must not send, so "rx" is this port's time,
// and "tx" the time of the port at the other end.
#include "counters_impl.h"

#include <ctype.h>
#include <string.h>

#define INFO(ID, side, class, key, noun)                                                 \
	[TB_COUNTER_##ID] = {TB_COUNTS_##side, TB_COUNTS_##class, key, noun},
const struct tb_counter_info tb_counter_infos[TB_N_COUNTERS] = {TB_COUNTERS(INFO)};
#undef INFO

// Names are without case, blanks and signs; # is the number of a priority.
#define NAME(name, ID, bits)                                                             \
	{                                                                                \
		name, TB_COUNTER_##ID, 1, bits, false                                    \
	}
#define WORDS(name, ID, bits)                                                            \
	{                                                                                \
		name, TB_COUNTER_##ID, 4, bits, false                                    \
	}
// One of several that come to the sum.
#define PART(name, ID)                                                                   \
	{                                                                                \
		name, TB_COUNTER_##ID, 1, 64, true                                       \
	}

// Endings "total", "extended" and "ext" are left out; the last two have 64 bits.
static const struct counter_name names[] = {
	// perfquery, ibqueryerrors, ibdiagnet2.pm and .db_csv, UFM, and exporters that
	// keep these names. Data is in words of 4 bytes.
	WORDS("portxmitdata", SENT_BYTES, 32),
	WORDS("portrcvdata", RECEIVED_BYTES, 32),
	NAME("portxmitpkts", SENT_PACKETS, 32),
	NAME("portrcvpkts", RECEIVED_PACKETS, 32),
	NAME("portxmitwait", WAIT_TICKS, 32),
	NAME("symbolerrorcounter", SYMBOL_ERRORS, 16),
	NAME("symbolerrors", SYMBOL_ERRORS, 16),
	NAME("linkerrorrecoverycounter", RECOVERIES, 8),
	NAME("linkrecovers", RECOVERIES, 8),
	NAME("linkdownedcounter", LINK_DOWNED, 8),
	NAME("linkdowncounter", LINK_DOWNED, 8),
	NAME("linkdowned", LINK_DOWNED, 8),
	NAME("portrcverrors", RECEIVE_ERRORS, 16),
	NAME("rcverrors", RECEIVE_ERRORS, 16),
	NAME("portrcvremotephysicalerrors", REMOTE_PHYSICAL, 16),
	NAME("rcvremotephyserrors", REMOTE_PHYSICAL, 16),
	NAME("portrcvswitchrelayerrors", RELAY_ERRORS, 16),
	NAME("rcvswrelayerrors", RELAY_ERRORS, 16),
	NAME("portxmitdiscards", SEND_DISCARDS, 16),
	NAME("portxmitdiscard", SEND_DISCARDS, 16),
	NAME("xmtdiscards", SEND_DISCARDS, 16),
	NAME("portxmitconstrainterrors", SEND_CONSTRAINT, 8),
	NAME("xmtconstrainterrors", SEND_CONSTRAINT, 8),
	NAME("portrcvconstrainterrors", RECEIVE_CONSTRAINT, 8),
	NAME("rcvconstrainterrors", RECEIVE_CONSTRAINT, 8),
	NAME("locallinkintegrityerrors", INTEGRITY, 4),
	NAME("linkintegrityerrors", INTEGRITY, 4),
	NAME("excessivebufferoverrunerrors", OVERRUNS, 4),
	NAME("excessivebuffererrors", OVERRUNS, 4),
	NAME("excbufoverrunerrors", OVERRUNS, 4),
	NAME("vl15dropped", VL15_DROPPED, 16),
	WORDS("xmtdata", SENT_BYTES, 32),
	WORDS("rcvdata", RECEIVED_BYTES, 32),
	NAME("xmtpkts", SENT_PACKETS, 32),
	NAME("rcvpkts", RECEIVED_PACKETS, 32),
	NAME("xmtwait", WAIT_TICKS, 32),
	// infiniband_exporter, which made bytes of the words
	NAME("porttransmitdatabytes", SENT_BYTES, 64),
	NAME("portreceivedatabytes", RECEIVED_BYTES, 64),
	NAME("porttransmitpackets", SENT_PACKETS, 64),
	NAME("portreceivepackets", RECEIVED_PACKETS, 64),
	NAME("porttransmitwait", WAIT_TICKS, 32),
	NAME("portsymbolerror", SYMBOL_ERRORS, 16),
	NAME("portlinkerrorrecovery", RECOVERIES, 8),
	NAME("portlinkdowned", LINK_DOWNED, 8),
	NAME("portreceiveerrors", RECEIVE_ERRORS, 16),
	NAME("portreceiveremotephysicalerrors", REMOTE_PHYSICAL, 16),
	NAME("portreceiveswitchrelayerrors", RELAY_ERRORS, 16),
	NAME("porttransmitdiscards", SEND_DISCARDS, 16),
	NAME("porttransmitconstrainterrors", SEND_CONSTRAINT, 8),
	NAME("portreceiveconstrainterrors", RECEIVE_CONSTRAINT, 8),
	NAME("portlocallinkintegrityerrors", INTEGRITY, 4),
	NAME("portexcessivebufferoverrunerrors", OVERRUNS, 4),
	NAME("portvl15dropped", VL15_DROPPED, 16),
	// node_exporter
	NAME("portdatatransmittedbytes", SENT_BYTES, 64),
	NAME("portdatareceivedbytes", RECEIVED_BYTES, 64),
	NAME("portpacketstransmitted", SENT_PACKETS, 64),
	NAME("portpacketsreceived", RECEIVED_PACKETS, 64),
	NAME("symbolerror", SYMBOL_ERRORS, 16),
	NAME("linkerrorrecovery", RECOVERIES, 8),
	NAME("porterrorsreceived", RECEIVE_ERRORS, 16),
	NAME("portdiscardstransmitted", SEND_DISCARDS, 16),
	NAME("portdiscardsreceived", RECEIVE_DISCARDS, 16),
	NAME("portconstrainterrorstransmitted", SEND_CONSTRAINT, 8),
	NAME("portconstrainterrorsreceived", RECEIVE_CONSTRAINT, 8),

	// ethtool -S. What several drivers share; rx_pause and tx_pause alone are frames.
	NAME("txbytes", SENT_BYTES, 64),
	NAME("rxbytes", RECEIVED_BYTES, 64),
	NAME("txpackets", SENT_PACKETS, 64),
	NAME("rxpackets", RECEIVED_PACKETS, 64),
	NAME("rxpause", PAUSES_RECEIVED, 64),
	NAME("txpause", PAUSES_SENT, 64),
	NAME("rxpauseframes", PAUSES_RECEIVED, 64), // bnxt_en, cxgb4, qede
	NAME("txpauseframes", PAUSES_SENT, 64),
	// mlx5 (Documentation/networking/.../mellanox/mlx5/counters.rst): durations in
	// us;
	// pause_ctrl_phy are all pause frames, of every priority
	NAME("txbytesphy", SENT_BYTES, 64),
	NAME("rxbytesphy", RECEIVED_BYTES, 64),
	NAME("txpacketsphy", SENT_PACKETS, 64),
	NAME("rxpacketsphy", RECEIVED_PACKETS, 64),
	PART("rxprio#pauseduration", PAUSED_US),
	PART("txprio#pauseduration", PAUSING_US),
	PART("rxglobalpauseduration", PAUSED_US),
	PART("txglobalpauseduration", PAUSING_US),
	PART("rxprio#pause", PAUSES_RECEIVED),
	PART("txprio#pause", PAUSES_SENT),
	PART("rxglobalpause", PAUSES_RECEIVED),
	PART("txglobalpause", PAUSES_SENT),
	NAME("rxpausectrlphy", PAUSES_RECEIVED, 64),
	NAME("txpausectrlphy", PAUSES_SENT, 64),
	NAME("rxecnmark", ECN_MARKED, 64),
	NAME("npecnmarkedrocepackets", ECN_MARKED, 64),
	NAME("rxdiscardsphy", RECEIVE_DISCARDS, 64),
	NAME("txdiscardsphy", SEND_DISCARDS, 64),
	NAME("rxsymbolerrphy", SYMBOL_ERRORS, 64),
	NAME("rxcrcerrorsphy", RECEIVE_ERRORS, 64),
	NAME("txerrorsphy", SEND_ERRORS, 64),
	NAME("linkdowneventsphy", LINK_DOWNED, 64),
	// mlx4 (en_ethtool.c): durations in us
	PART("rxpausedurationprio#", PAUSED_US),
	PART("txpausedurationprio#", PAUSING_US),
	PART("rxpauseprio#", PAUSES_RECEIVED),
	PART("txpauseprio#", PAUSES_SENT),
	NAME("rxpauseduration", PAUSED_US, 64),
	NAME("txpauseduration", PAUSING_US, 64),
	// bnxt_en (bnxt_ethtool.c): durations from XOFF to XON in us
	PART("pfcpri#rxdurationus", PAUSED_US),
	PART("pfcpri#txdurationus", PAUSING_US),
	PART("rxpfcenaframespri#", PAUSES_RECEIVED),
	PART("txpfcenaframespri#", PAUSES_SENT),
	NAME("rxpfcframes", PAUSES_RECEIVED, 64),
	NAME("txpfcframes", PAUSES_SENT, 64),
	NAME("rxfcserrframes", RECEIVE_ERRORS, 64),
	NAME("txfcserrframes", SEND_ERRORS, 64),
	NAME("rxtotaldiscardpkts", RECEIVE_DISCARDS, 64),
	NAME("txtotaldiscardpkts", SEND_DISCARDS, 64),
	// ionic (ionic_stats.c; AMD's exporter lists rx_pripause_N_1us_count as
	// durations)
	NAME("octetstxok", SENT_BYTES, 64),
	NAME("octetsrxok", RECEIVED_BYTES, 64),
	NAME("framestxok", SENT_PACKETS, 64),
	NAME("framesrxok", RECEIVED_PACKETS, 64),
	PART("rxpripause#1uscount", PAUSED_US),
	PART("txpripause#1uscount", PAUSING_US),
	PART("framesrxpripause#", PAUSES_RECEIVED),
	PART("framestxpripause#", PAUSES_SENT),
	NAME("framesrxpripause", PAUSES_RECEIVED, 64),
	NAME("framestxpripause", PAUSES_SENT, 64),
	NAME("framesrxpause", PAUSES_RECEIVED, 64),
	NAME("framestxpause", PAUSES_SENT, 64),
	NAME("framesrxbadfcs", RECEIVE_ERRORS, 64),
	NAME("framesrxdropped", RECEIVE_DISCARDS, 64),
	NAME("framestxbad", SEND_ERRORS, 64),
	// ice and i40e (ice_ethtool.c, i40e_ethtool.c), without "port." and ".nic", and
	// ixgbe: frames that ask to stop (XOFF) count, those that let go (XON) do not
	PART("rxpriority#xoff", PAUSES_RECEIVED),
	PART("txpriority#xoff", PAUSES_SENT),
	PART("rxpriority#xoffrx", PAUSES_RECEIVED),
	PART("txpriority#xofftx", PAUSES_SENT),
	PART("rxpb#pxoff", PAUSES_RECEIVED),
	PART("txpb#pxoff", PAUSES_SENT),
	PART("linkxoffrx", PAUSES_RECEIVED),
	PART("linkxofftx", PAUSES_SENT),
	PART("rxflowcontrolxoff", PAUSES_RECEIVED),
	PART("txflowcontrolxoff", PAUSES_SENT),
	NAME("rxcrcerrors", RECEIVE_ERRORS, 64),
	NAME("rxdropped", RECEIVE_DISCARDS, 64),
	NAME("txerrors", SEND_ERRORS, 64),
	// cxgb4 (cxgb4_ethtool.c); hns3 (hns3_ethtool.c)
	PART("rxppp#frames", PAUSES_RECEIVED),
	PART("txppp#frames", PAUSES_SENT),
	NAME("txoctetsok", SENT_BYTES, 64),
	NAME("rxoctetsok", RECEIVED_BYTES, 64),
	PART("macrxpfcpri#pktnum", PAUSES_RECEIVED),
	PART("mactxpfcpri#pktnum", PAUSES_SENT),
	PART("macrxpausenum", PAUSES_RECEIVED),
	PART("mactxpausenum", PAUSES_SENT),

	// SONiC (sonic-utilities: portstat, pfcstat)
	NAME("rxok", RECEIVED_PACKETS, 64),
	NAME("txok", SENT_PACKETS, 64),
	NAME("rxerr", RECEIVE_ERRORS, 64),
	NAME("txerr", SEND_ERRORS, 64),
	NAME("rxdrp", RECEIVE_DISCARDS, 64),
	NAME("txdrp", SEND_DISCARDS, 64),
	NAME("rxovr", OVERRUNS, 64),
	PART("pfcrx#", PAUSES_RECEIVED), // a column of show pfc counters
	PART("pfctx#", PAUSES_SENT),
	// pfcstat --history: a row a priority, in us or, before, in ms
	PART("totalrxpausetimeus", PAUSED_US),
	{"totalrxpausetimems", TB_COUNTER_PAUSED_US, 1000, 64, true},
};

static bool text_ends(const char *text, size_t n, const char *end)
{
	size_t length = strlen(end);
	return n > length && memcmp(text + n - length, end, length) == 0;
}

void counter_name_plain(const char *name, size_t n, char *buffer, size_t size)
{
	size_t used = 0;
	for (size_t i = 0; i < n && used + 1 < size; i++)
		if (isalnum((unsigned char)name[i]))
			buffer[used++] = (char)tolower((unsigned char)name[i]);
	buffer[used] = '\0';
}

// name_matches: '#' stands for one digit.
static bool name_matches(const char *name, const char *plain)
{
	for (; *name; name++, plain++)
		if (*name == '#' ? !isdigit((unsigned char)*plain) : *name != *plain)
			return false;
	return *plain == '\0';
}

struct counter_name counter_name_find(const char *name, size_t n)
{
	static const char *const endings[] = {"total", "extended", "ext"};
	char plain[64];
	bool wide = false;
	if (n >= sizeof plain)
		return (struct counter_name){0};
	counter_name_plain(name, n, plain, sizeof plain);
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
		if (text_ends(plain, strlen(plain), endings[i])) {
			plain[strlen(plain) - strlen(endings[i])] = '\0';
			wide |= i > 0;
		}
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (name_matches(names[i].name, plain)) {
			struct counter_name found = names[i];
			found.bits = wide ? 64 : found.bits;
			return found;
		}
	return (struct counter_name){0};
}
