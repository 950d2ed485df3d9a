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
#include "array.h"
#include "counters_reading.h"
#include "hash.h"
#include "infile.h"
#include "text_lines.h"
#include "trace_files.h"
#include "visible.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define INFO(ID, side, class, key, noun)                                                 \
	[TB_COUNTER_##ID] = {TB_COUNTS_##side, TB_COUNTS_##class, key, noun},
const struct tb_counter_info tb_counter_infos[TB_N_COUNTERS] = {TB_COUNTERS(INFO)};
#undef INFO

// Names are without case, blanks and signs; # is the number of a priority, @ "rx" or
// "tx". Endings "total", "extended" and "ext" are left out; the last two have 64 bits.
#define COUNTED(name, ID, SENT, scale, bits, adds)                                       \
	{                                                                                \
		{name, TB_COUNTER_##ID, scale, bits, adds, TB_COUNTER_CLASSES - 1},      \
			TB_COUNTER_##SENT                                                \
	}
#define NAME(name, ID, bits)  COUNTED(name, ID, ID, 1, bits, false)
#define WORDS(name, ID, bits) COUNTED(name, ID, ID, 4, bits, false)
#define PAIR(name, ID, SENT)  COUNTED(name, ID, SENT, 1, 64, false)
// Those of several that come to the sum.
#define PART(name, ID)	      COUNTED(name, ID, ID, 1, 64, true)
#define PARTS(name, ID, SENT) COUNTED(name, ID, SENT, 1, 64, true)

static const struct {
	struct counter_name of;
	enum tb_counter sent; // where @ is "tx"
} counter_names[] = {
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
	PAIR("@bytes", RECEIVED_BYTES, SENT_BYTES),
	PAIR("@packets", RECEIVED_PACKETS, SENT_PACKETS),
	PAIR("@pause", PAUSES_RECEIVED, PAUSES_SENT),
	PAIR("@pauseframes", PAUSES_RECEIVED, PAUSES_SENT), // bnxt_en, cxgb4, qede
	// mlx5 (Documentation/networking/.../mellanox/mlx5/counters.rst): durations in
	// us; pause_ctrl_phy are all pause frames, of every priority
	PAIR("@bytesphy", RECEIVED_BYTES, SENT_BYTES),
	PAIR("@packetsphy", RECEIVED_PACKETS, SENT_PACKETS),
	PARTS("@prio#pauseduration", PAUSED_US, PAUSING_US),
	PARTS("@globalpauseduration", PAUSED_US, PAUSING_US),
	PARTS("@prio#pause", PAUSES_RECEIVED, PAUSES_SENT),
	PARTS("@globalpause", PAUSES_RECEIVED, PAUSES_SENT),
	PAIR("@pausectrlphy", PAUSES_RECEIVED, PAUSES_SENT),
	// A storm whose error follows has been warned of.
	NAME("txpausestormwarningevents", STORMS_SENT, 64),
	NAME("txpausestormerrorevents", STORMS_SENT, 64),
	NAME("rxecnmark", ECN_MARKED, 64),
	NAME("npecnmarkedrocepackets", ECN_MARKED, 64),
	PAIR("@discardsphy", RECEIVE_DISCARDS, SEND_DISCARDS),
	NAME("rxsymbolerrphy", SYMBOL_ERRORS, 64),
	NAME("rxcrcerrorsphy", RECEIVE_ERRORS, 64),
	NAME("txerrorsphy", SEND_ERRORS, 64),
	NAME("linkdowneventsphy", LINK_DOWNED, 64),
	// mlx4 (en_ethtool.c): durations in us
	PARTS("@pausedurationprio#", PAUSED_US, PAUSING_US),
	PARTS("@pauseprio#", PAUSES_RECEIVED, PAUSES_SENT),
	PAIR("@pauseduration", PAUSED_US, PAUSING_US),
	// bnxt_en (bnxt_ethtool.c): durations from XOFF to XON in us
	PARTS("pfcpri#@durationus", PAUSED_US, PAUSING_US),
	PARTS("@pfcenaframespri#", PAUSES_RECEIVED, PAUSES_SENT),
	PAIR("@pfcframes", PAUSES_RECEIVED, PAUSES_SENT),
	PAIR("@fcserrframes", RECEIVE_ERRORS, SEND_ERRORS),
	PAIR("@totaldiscardpkts", RECEIVE_DISCARDS, SEND_DISCARDS),
	// ionic (ionic_stats.c; AMD's exporter lists rx_pripause_N_1us_count as
	// durations)
	PAIR("octets@ok", RECEIVED_BYTES, SENT_BYTES),
	PAIR("frames@ok", RECEIVED_PACKETS, SENT_PACKETS),
	PARTS("@pripause#1uscount", PAUSED_US, PAUSING_US),
	PARTS("frames@pripause#", PAUSES_RECEIVED, PAUSES_SENT),
	PAIR("frames@pripause", PAUSES_RECEIVED, PAUSES_SENT),
	PAIR("frames@pause", PAUSES_RECEIVED, PAUSES_SENT),
	NAME("framesrxbadfcs", RECEIVE_ERRORS, 64),
	NAME("framesrxdropped", RECEIVE_DISCARDS, 64),
	NAME("framestxbad", SEND_ERRORS, 64),
	// ice and i40e (ice_ethtool.c, i40e_ethtool.c), without "port." and ".nic", and
	// ixgbe: frames that ask to stop (XOFF) count, those that let go (XON) do not
	PARTS("@priority#xoff", PAUSES_RECEIVED, PAUSES_SENT),
	PART("rxpriority#xoffrx", PAUSES_RECEIVED),
	PART("txpriority#xofftx", PAUSES_SENT),
	PARTS("@pb#pxoff", PAUSES_RECEIVED, PAUSES_SENT),
	PARTS("linkxoff@", PAUSES_RECEIVED, PAUSES_SENT),
	PARTS("@flowcontrolxoff", PAUSES_RECEIVED, PAUSES_SENT),
	NAME("rxcrcerrors", RECEIVE_ERRORS, 64),
	NAME("rxdropped", RECEIVE_DISCARDS, 64),
	NAME("txerrors", SEND_ERRORS, 64),
	// cxgb4 (cxgb4_ethtool.c); hns3 (hns3_ethtool.c)
	PARTS("@ppp#frames", PAUSES_RECEIVED, PAUSES_SENT),
	PAIR("@octetsok", RECEIVED_BYTES, SENT_BYTES),
	PARTS("mac@pfcpri#pktnum", PAUSES_RECEIVED, PAUSES_SENT),
	PARTS("mac@pausenum", PAUSES_RECEIVED, PAUSES_SENT),

	// SONiC (sonic-utilities: portstat, pfcstat)
	PAIR("@ok", RECEIVED_PACKETS, SENT_PACKETS),
	PAIR("@err", RECEIVE_ERRORS, SEND_ERRORS),
	PAIR("@drp", RECEIVE_DISCARDS, SEND_DISCARDS),
	NAME("rxovr", OVERRUNS, 64),
	PARTS("pfc@#", PAUSES_RECEIVED, PAUSES_SENT), // a column of show pfc counters
	// pfcstat --history: a row a priority, in us or, before, in ms
	PART("totalrxpausetimeus", PAUSED_US),
	COUNTED("totalrxpausetimems", PAUSED_US, PAUSED_US, 1000, 64, true),
};

void counter_name_plain(const char *name, size_t n, char *buffer, size_t size)
{
	size_t used = 0;
	for (size_t i = 0; i < n && used + 1 < size; i++)
		if (isalnum((unsigned char)name[i]))
			buffer[used++] = (char)tolower((unsigned char)name[i]);
	buffer[used] = '\0';
}

// name_matches: '#' stands for one digit, which sets `class`, '@' for "rx" or "tx", which
// sets `sent`.
static bool name_matches(const char *name, const char *plain, bool *sent, unsigned *class)
{
	*class = TB_COUNTER_CLASSES - 1;
	for (*sent = false; *name; name++, plain++)
		if (*name == '@') {
			*sent = *plain == 't';
			if ((*plain != 'r' && !*sent) || *++plain != 'x')
				return false;
		} else if (*name == '#' && isdigit((unsigned char)*plain)) {
			*class = (unsigned)(*plain - '0') % TB_COUNTER_CLASSES;
		} else if (*name == '#' || *name != *plain) {
			return false;
		}
	return *plain == '\0';
}

struct counter_name counter_name_find(const char *name, size_t n)
{
	static const char *const endings[] = {"total", "extended", "ext"};
	char plain[64];
	bool wide = false, sent;
	unsigned class;
	if (n >= sizeof plain)
		return (struct counter_name){0};
	counter_name_plain(name, n, plain, sizeof plain);
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
		size_t length = strlen(plain), of_end = strlen(endings[i]);
		if (length > of_end && strcmp(plain + length - of_end, endings[i]) == 0) {
			plain[length - of_end] = '\0';
			wide |= i > 0;
		}
	}
	for (size_t i = 0; i < sizeof counter_names / sizeof *counter_names; i++)
		if (name_matches(counter_names[i].of.name, plain, &sent, &class)) {
			struct counter_name found = counter_names[i].of;
			found.class = class;
			if (sent)
				found.counter = counter_names[i].sent;
			found.bits = wide ? 64 : found.bits;
			return found;
		}
	return (struct counter_name){0};
}

#define PORTS_MOST (1u << 20)

void tb_counters_fini(struct tb_counters *counters)
{
	for (size_t i = 0; i < counters->n; i++) {
		free(counters->ports[i].device);
		free(counters->ports[i].port);
	}
	free(counters->ports);
	tb_map_fini(&counters->of_key);
	*counters = (struct tb_counters){0};
}

char *tb_counter_port_text(const struct tb_counter_port *port, char *buffer, size_t size)
{
	char device[COUNTER_NAME_MOST], name[COUNTER_NAME_MOST];
	const char *shown = tb_visible(port->port, name, sizeof name);
	if (port->guid)
		snprintf(buffer, size, "GUID 0x%016" PRIx64 " port %.80s", port->guid,
			shown);
	else if (port->lid)
		snprintf(buffer, size, "LID %" PRIu32 " port %.80s", port->lid, shown);
	else
		snprintf(buffer, size, "%.120s%s%.80s",
			tb_visible(port->device, device, sizeof device),
			*port->port ? ":" : "", shown);
	return buffer;
}

static uint64_t counter_port_key(const struct tb_counter_port *port)
{
	uint64_t key =
		TB_HASH_BEGIN ^ port->guid ^ (port->guid ? 0 : (uint64_t)port->lid << 40);
	key = tb_hash_text(key, port->guid || port->lid ? "" : port->device);
	return tb_hash_text(tb_hash_word(key, 0xff), port->port);
}

// counter_port_is_same is whether two ports are so named that they are one. A GUID goes
// before a LID, and both before a name, which several devices may have.
static bool counter_port_is_same(
	const struct tb_counter_port *a, const struct tb_counter_port *b)
{
	if (a->guid != b->guid || strcmp(a->port, b->port) != 0)
		return false;
	return a->guid ||
	       (a->lid == b->lid && (a->lid || strcmp(a->device, b->device) == 0));
}

static int counter_port_add(struct counters_reading *reading,
	const struct tb_counter_port *named, uint64_t key)
{
	struct tb_counters *counters = reading->counters;
	struct tb_counter_port port = *named;
	if (counters->n >= PORTS_MOST)
		return tb_fail_in(reading->error, TB_ECAPACITY, reading->file,
			"it has more than %u ports", PORTS_MOST);
	port.device = strdup(named->device ? named->device : "");
	port.port = strdup(named->port ? named->port : "");
	if (!port.device || !port.port || TB_ARRAY_NEXT(counters, ports) != TB_OK ||
		tb_map_put(&counters->of_key, key, (uint32_t)counters->n) != TB_OK) {
		free(port.device);
		free(port.port);
		return tb_fail_memory_in(reading->error, reading->file, "its ports");
	}
	counters->ports[counters->n++] = port;
	return TB_OK;
}

// counter_port_find finds a port, and the key under which it is or would be; ports of one
// hash lie behind each other.
static bool counter_port_find(const struct tb_counters *counters,
	const struct tb_counter_port *named, uint64_t *key, uint32_t *at)
{
	for (*key = counter_port_key(named); tb_map_find(&counters->of_key, *key, at);
		++*key)
		if (counter_port_is_same(&counters->ports[*at], named))
			return true;
	return false;
}

const struct tb_counter_port *tb_counters_find(
	const struct tb_counters *counters, const struct tb_counter_port *named)
{
	uint64_t key;
	uint32_t at = 0;
	return counter_port_find(counters, named, &key, &at) ? &counters->ports[at]
							     : NULL;
}

int counters_port(struct counters_reading *reading, const struct tb_counter_port *named,
	bool is_new)
{
	struct tb_counters *counters = reading->counters;
	uint64_t key;
	uint32_t at = 0;
	char text[COUNTER_NAME_MOST * 2];
	if (!counter_port_find(counters, named, &key, &at)) {
		at = (uint32_t)counters->n;
		int status = counter_port_add(reading, named, key);
		if (status != TB_OK)
			return status;
	}
	reading->port = &counters->ports[at];
	bool again = reading->port->formats >> reading->format & 1;
	reading->port->formats |= UINT32_C(1) << reading->format;
	if (again && is_new)
		return COUNTERS_REFUSE(reading,
			"%s stands there twice: a dump is of one time",
			tb_counter_port_text(reading->port, text, sizeof text));
	return TB_OK;
}

// counters_rename gives port `i` another device's name, which it takes over, and by which
// it is found from then on. TB_ENOMEM.
static int counters_rename(struct counters_reading *reading, size_t i, char *device)
{
	struct tb_counters *counters = reading->counters;
	uint64_t key;
	uint32_t at;
	free(counters->ports[i].device);
	counters->ports[i].device = device;
	if (counter_port_find(counters, &counters->ports[i], &key, &at) ||
		tb_map_put(&counters->of_key, key, (uint32_t)i) == TB_OK)
		return TB_OK;
	return tb_fail_memory_in(reading->error, reading->file, "its ports");
}

static uint64_t value_scaled(uint64_t value, unsigned scale)
{
	uint64_t most = UINT64_MAX / scale;
	return (value > most ? most : value) * scale;
}

// end_of_name is where a counter of that name stops. One that is beyond is of the wider
// kind, as some tools print it by the narrow one's name.
static uint64_t end_of_name(const struct counters_reading *reading,
	const struct counter_name *name, uint64_t value)
{
	uint64_t end = name->bits < 64 ? (UINT64_C(1) << name->bits) - 1 : UINT64_MAX;
	return reading->is_wide || value > end ? UINT64_MAX
					       : value_scaled(end, name->scale);
}

// reading_add_part adds a priority's to those of the same port and format. Of all
// priorities there may be a counter besides: the larger holds.
static uint64_t reading_add_part(
	struct counters_reading *reading, enum tb_counter counter, uint64_t value)
{
	uint32_t port = (uint32_t)(reading->port - reading->counters->ports);
	if (reading->parts_of != port || reading->parts_format != reading->format)
		memset(reading->parts, 0, sizeof reading->parts);
	reading->parts_of = port;
	reading->parts_format = reading->format;
	uint64_t *sum = &reading->parts[counter];
	*sum = *sum > UINT64_MAX - value ? UINT64_MAX : *sum + value;
	return *sum;
}

void counters_put(
	struct counters_reading *reading, const struct counter_name *name, uint64_t value)
{
	struct tb_counter_port *port = reading->port;
	uint64_t *to = &port->values[name->counter], *end = &port->ends[name->counter];
	uint32_t bit = UINT32_C(1) << name->counter;
	uint64_t own_end = end_of_name(reading, name, value);
	value = value_scaled(value, name->scale);
	bool is_pausing = name->counter == TB_COUNTER_PAUSING_US;
	if (name->adds && (is_pausing || name->counter == TB_COUNTER_PAUSED_US))
		port->class_us[is_pausing][name->class] = value;
	if (name->adds)
		value = reading_add_part(reading, name->counter, value);
	if (!(port->known & bit) || value > *to || (value == *to && own_end > *end)) {
		*to = value;
		*end = own_end;
	}
	port->known |= bit;
}

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 16;
}

int counters_put_text(struct counters_reading *reading, const struct counter_name *name,
	const char *text, size_t n)
{
	uint64_t value = 0;
	char shown[80], quoted[40];
	bool is_hex = n > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	unsigned base = is_hex ? 16 : 10;
	if (n == 0 || (n == 3 && memcmp(text, "N/A", 3) == 0) ||
		(n == 2 && memcmp(text, "NA", 2) == 0) || (n == 1 && *text == '-'))
		return TB_OK;
	for (size_t i = is_hex ? 2 : 0; i < n; i++) {
		int digit = digit_of(text[i]);
		if (text[i] == ',' && i > 0 && !is_hex)
			continue;
		if (digit >= (int)base || value > (UINT64_MAX - (unsigned)digit) / base) {
			snprintf(quoted, sizeof quoted, "%.*s", (int)(n < 32 ? n : 32),
				text);
			return COUNTERS_REFUSE(reading, "'%s' is no count",
				tb_visible(quoted, shown, sizeof shown));
		}
		value = value * base + (unsigned)digit;
	}
	counters_put(reading, name, value);
	return TB_OK;
}

void counters_unread(
	struct counters_reading *reading, const char *name, size_t n, uint64_t value)
{
	static const char *const words[] = {"storm", "discard", "drop", "err", "pause",
		"xoff", "cnp", "ecn", "congest", "retrans", "timeout", "outof"};
	struct tb_counters *counters = reading->counters;
	char plain[sizeof counters->unread->name];
	bool tells = false;
	counter_name_plain(name, n, plain, sizeof plain);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		tells |= strstr(plain, words[i]) != NULL;
	if (value == 0 || !tells || strstr(plain, "transition"))
		return;
	snprintf(plain, sizeof plain, "%.*s", (int)n, name);
	uint32_t i = 0;
	while (i < counters->n_unread && strcmp(counters->unread[i].name, plain) != 0)
		i++;
	if (i == TB_COUNTERS_UNREAD_MOST)
		return;
	struct tb_counter_unread *at = &counters->unread[i];
	if (i == counters->n_unread) {
		*at = (struct tb_counter_unread){.sum = 0};
		memcpy(at->name, plain, sizeof plain);
		counters->n_unread++;
	}
	at->sum = at->sum > UINT64_MAX - value ? UINT64_MAX : at->sum + value;
}

int counters_put_named(struct counters_reading *reading, const char *name, size_t name_n,
	const char *text, size_t n)
{
	struct counter_name found = counter_name_find(name, name_n);
	if (found.name)
		return counters_put_text(reading, &found, text, n);
	counters_unread(reading, name, name_n,
		strncmp(text, "0x", 2) == 0 ? counters_hex(text)
					    : strtoull(text, NULL, 10));
	return TB_OK;
}

void counters_time(struct counters_reading *reading, int64_t time_us)
{
	if (!reading->counters->has_time)
		reading->counters->time_us = time_us;
	reading->counters->has_time = true;
}

int64_t counters_epoch(double number)
{
	double us = number > 1e17   ? number / 1e3
		    : number > 1e14 ? number
		    : number > 1e11 ? number * 1e3
				    : number * 1e6;
	return us > 0 && us < 9e18 ? (int64_t)us : 0;
}

uint64_t counters_hex(const char *text)
{
	uint64_t value = 0;
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		text += 2;
	for (int n = 0; n < 16 && digit_of(*text) < 16; n++, text++)
		value = value << 4 | (unsigned)digit_of(*text);
	return value;
}

// Reads files and folders line by line, and hands the lines to the formats.

#define LINE_MOST  (1u << 20)
#define FILES_MOST 65536

static const struct counters_format *const formats[] = {&counters_perfquery,
	&counters_ibqueryerrors, &counters_pm, &counters_db, &counters_ethtool,
	&counters_sonic, &counters_pfc, &counters_pfc_history, &counters_pfc_watchdog,
	&counters_csv, &counters_prometheus, &counters_ethtool_lines};
enum { N_FORMATS = sizeof formats / sizeof *formats };

// name_source takes the name of a file or section, without its folder and endings.
static void name_source(struct counters_reading *reading, const char *path, size_t n)
{
	static const char *const endings[] = {".gz", ".zst", ".xz", ".lz4", ".bz2",
		".txt", ".log", ".out", ".prom", ".csv", ".pm", ".counters"};
	const char *slash = memrchr(path, '/', n);
	if (slash) {
		n -= (size_t)(slash + 1 - path);
		path = slash + 1;
	}
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
		size_t length = strlen(endings[i]);
		if (n > length && memcmp(path + n - length, endings[i], length) == 0)
			n -= length;
	}
	n = n < sizeof reading->source ? n : sizeof reading->source - 1;
	memcpy(reading->source, path, n);
	reading->source[n] = '\0';
}

// end_section names the hosts of node_exporter's ports, of which only the whole text
// tells.
static int end_section(struct counters_reading *reading)
{
	struct tb_counters *counters = reading->counters;
	const char *host = *reading->nodename ? reading->nodename : reading->source;
	for (size_t i = reading->first_of_section; i < counters->n; i++) {
		struct tb_counter_port *port = &counters->ports[i];
		char *device = strrchr(port->device, '\n'), *whole = NULL;
		if (*port->device != '\n' || !device)
			continue;
		if (asprintf(&whole, "%s %s", host, device + 1) < 0)
			return tb_fail_memory_in(
				reading->error, reading->file, "its ports");
		int status = counters_rename(reading, i, whole);
		if (status != TB_OK)
			return status;
	}
	reading->first_of_section = counters->n;
	*reading->nodename = '\0';
	reading->n_sections++;
	reading->port = NULL;
	reading->is_held = false;
	reading->format = N_FORMATS;
	return TB_OK;
}

// zone_s reads the zone behind a time: seconds east of UTC.
static int64_t zone_s(const char *at)
{
	unsigned hours = 0, minutes = 0;
	at += strspn(at, ".,0123456789 ");
	if ((*at != '+' && *at != '-') || sscanf(at + 1, "%2u:%2u", &hours, &minutes) < 1)
		return 0;
	return (*at == '-' ? -1 : 1) * (int64_t)(hours * 3600 + minutes * 60);
}

bool counters_date(const char *text, int64_t *time_us)
{
	struct tm utc = {0};
	int n = 0;
	if (sscanf(text, "%4d-%2d-%2d%*1[T ]%2d:%2d:%2d%n", &utc.tm_year, &utc.tm_mon,
		    &utc.tm_mday, &utc.tm_hour, &utc.tm_min, &utc.tm_sec, &n) != 6 ||
		utc.tm_year < 1970 || utc.tm_mon < 1 || utc.tm_mon > 12 ||
		utc.tm_mday < 1 || utc.tm_mday > 31)
		return false;
	utc.tm_year -= 1900;
	utc.tm_mon--;
	int64_t seconds = timegm(&utc);
	double part = text[n] == '.' ? strtod(text + n, NULL) : 0;
	*time_us = (seconds - zone_s(text + n)) * 1000000 +
		   (int64_t)(part < 1 ? part * 1e6 : 0);
	return true;
}

// take_comment looks for a time in a comment: "# 2026-11-27T10:00:00.5+01:00".
static void take_comment(struct counters_reading *reading, const char *line)
{
	int64_t time_us;
	for (const char *at = line; *at; at++)
		if (*at == '2' && counters_date(at, &time_us)) {
			counters_time(reading, time_us);
			return;
		}
}

// take_prompt takes the name of the device on which somebody asked: "admin@leaf1:~$ show
// interfaces counters", "root@n03:~# ethtool -S eth2 | grep pause".
static void take_prompt(struct counters_reading *reading, const char *line)
{
	const char *at = strchr(line, '@'), *asked = strstr(line, "ethtool -S ");
	size_t user = strcspn(line, "@ "), n = at ? strcspn(at + 1, ": ") : 0;
	if (at != line + user || user == 0 || n == 0 || at[1 + n] != ':')
		return;
	name_source(reading, at + 1, n);
	if (!asked)
		return;
	asked += strlen("ethtool -S ");
	size_t used = strlen(reading->source);
	snprintf(reading->source + used, sizeof reading->source - used, ":%.*s",
		(int)strcspn(asked, " |\r"), asked);
	reading->format = N_FORMATS;
}

static int counters_take_line(struct counters_reading *reading, char *line)
{
	const char *end = strstr(line, " <==");
	if (strncmp(line, "==> ", 4) == 0 && end) {
		int status = end_section(reading);
		if (end > line + 4)
			name_source(reading, line + 4, (size_t)(end - line - 4));
		return status;
	}
	if (reading->is_held)
		return formats[reading->format]->take(reading, line);
	for (unsigned i = 0; i < N_FORMATS; i++)
		if ((!formats[i]->is_loose || reading->format == N_FORMATS) &&
			formats[i]->begins(line)) {
			reading->format = i;
			reading->is_wide = false;
			return formats[i]->begin(reading, line);
		}
	if (*line == '#')
		take_comment(reading, line);
	else
		take_prompt(reading, line);
	if (reading->format == N_FORMATS || *line == '#')
		return TB_OK;
	return formats[reading->format]->take(reading, line);
}

static int take_lines(struct counters_reading *reading, struct tb_text_lines *lines)
{
	int status = end_section(reading), more = 1;
	while (status == TB_OK && (more = tb_text_lines_next(lines)) == 1) {
		reading->line = lines->number;
		reading->counters->n_bytes += lines->length + 1;
		status = lines->is_ended
				 ? counters_take_line(reading, lines->text)
				 : COUNTERS_REFUSE(reading,
					   "it ends within a line: it is cut off");
	}
	if (status == TB_OK && more < 0)
		status = more;
	return status == TB_OK ? end_section(reading) : status;
}

int tb_counters_add(struct tb_counters *counters, FILE *stream, const char *name,
	struct tb_error *error)
{
	struct counters_reading *reading = calloc(1, sizeof *reading);
	struct tb_text_lines lines;
	if (!reading)
		return tb_fail_memory_in(error, name, "it");
	*reading = (struct counters_reading){.counters = counters,
		.file = name,
		.error = error,
		.first_of_section = counters->n,
		.n_sections = counters->n_sections};
	name_source(reading, name, strlen(name));
	tb_text_lines_init(&lines, stream, name, error);
	lines.most = LINE_MOST;
	int status = take_lines(reading, &lines);
	tb_text_lines_fini(&lines);
	counters->n_sections = reading->n_sections;
	tb_map_fini(&reading->of_node);
	for (size_t i = 0; i < reading->n_nodes; i++)
		free(reading->nodes[i]);
	free(reading->nodes);
	free(reading);
	return status;
}

static int counters_read_file(
	struct tb_counters *counters, const char *path, struct tb_error *error)
{
	FILE *stream = NULL;
	struct tb_infile *file = NULL;
	int status = tb_infile_open(&stream, &file, path, error);
	if (status != TB_OK)
		return status;
	status = tb_counters_add(counters, stream, path, error);
	struct tb_error why;
	if (tb_infile_check(file, &why) != TB_OK) { // damaged: that is the cause
		status = why.code;
		if (error)
			*error = why;
	}
	fclose(stream);
	return status;
}

static bool is_any_file(const char *path, const char *name)
{
	(void)path, (void)name;
	return true;
}

int tb_counters_read(
	struct tb_counters *counters, const char *path, struct tb_error *error)
{
	struct tb_counters made = {0};
	struct tb_trace_files files = {0};
	int status = tb_trace_files_list(&files, &path, 1, is_any_file, error);
	if (status == TB_OK && files.n > FILES_MOST)
		status = tb_fail_in(error, TB_ECAPACITY, path,
			"it has more than %d files", FILES_MOST);
	if (status == TB_OK && files.n == 0)
		status = tb_fail_in(error, TB_EFORMAT, path, "no file is in it");
	for (size_t i = 0; status == TB_OK && i < files.n; i++)
		status = counters_read_file(&made, files.paths[i], error);
	tb_trace_files_fini(&files);
	if (status == TB_OK && made.n == 0)
		status = tb_fail_in(error, TB_EFORMAT, path,
			"no counters of ports are in it, as perfquery -x, ibqueryerrors "
			"--data --details, ibdiagnet2.pm or .db_csv, UFM (CSV), "
			"Prometheus, ethtool -S or SONiC print them");
	if (status != TB_OK) {
		tb_counters_fini(&made);
		return status;
	}
	tb_counters_fini(counters);
	*counters = made;
	return TB_OK;
}
