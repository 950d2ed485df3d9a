#include "live.h"

#include "infile.h"

#include <errno.h>
#include <grp.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <pcap/pcap.h>
#include <poll.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#define BATCH_MS 100 // how long the kernel may gather packets before it delivers them
#define IDLE_MS	 250
#define NS_PER_S UINT64_C(1000000000)

struct tb_live {
	pcap_t *pcap;
	struct tb_infile *input; // files only; freed by pcap_close, with its stream
	int fd;			 // interfaces only; to wait on
	uint64_t n_captured;
	char *name; // of the interface or file
	char warning[PCAP_ERRBUF_SIZE];
};

void tb_live_free(struct tb_live *live)
{
	if (!live)
		return;
	if (live->pcap)
		pcap_close(live->pcap);
	free(live->name);
	free(live);
}

static int set_filter(struct tb_live *live, const struct tb_live_options *options,
	bpf_u_int32 netmask, struct tb_error *error)
{
	struct bpf_program program;
	if (!options->filter || options->filter[0] == '\0')
		return TB_OK;
	if (pcap_compile(live->pcap, &program, options->filter, !options->no_optimize,
		    netmask) != 0)
		return tb_fail(error, TB_EUSAGE, "filter '%s': %s", options->filter,
			pcap_geterr(live->pcap));
	int failed = pcap_setfilter(live->pcap, &program);
	pcap_freecode(&program);
	if (failed)
		return tb_fail_in(error, TB_EIO, live->name,
			"the filter cannot be set: %s", pcap_geterr(live->pcap));
	return TB_OK;
}

static int activate(struct tb_live *live, const struct tb_live_options *options,
	struct tb_error *error)
{
	static const pcap_direction_t directions[] = {
		PCAP_D_INOUT, PCAP_D_IN, PCAP_D_OUT};
	char message[PCAP_ERRBUF_SIZE] = "";
	// Set the options that libpcap takes only before activation.
	pcap_t *pcap = live->pcap;
	uint32_t snap = options->snap_bytes ? options->snap_bytes : TB_LIVE_SNAP_BYTES;
	pcap_set_snaplen(pcap, (int)snap);
	pcap_set_promisc(pcap, !options->no_promiscuous);
	pcap_set_timeout(pcap, BATCH_MS);
	pcap_set_immediate_mode(pcap, options->immediate);
	if (options->buffer_bytes)
		pcap_set_buffer_size(pcap, (int)options->buffer_bytes);
	// If the system has only microseconds this fails; tb_live_next converts them.
	pcap_set_tstamp_precision(pcap, PCAP_TSTAMP_PRECISION_NANO);
	int code = pcap_activate(live->pcap);
	if (code < 0) {
		const char *refusal = pcap_geterr(live->pcap);
		switch (code) {
		case PCAP_ERROR_NO_SUCH_DEVICE:
			return tb_fail_in(error, TB_EUSAGE, live->name,
				"there is no such interface; -D lists the interfaces");
		case PCAP_ERROR_PERM_DENIED:
		case PCAP_ERROR_PROMISC_PERM_DENIED:
			return tb_fail_in(error, TB_EIO, live->name,
				"capturing needs root or the capability CAP_NET_RAW: try "
				"sudo");
		case PCAP_ERROR_IFACE_NOT_UP:
			return tb_fail_in(error, TB_EIO, live->name,
				"the interface is down: 'ip link set %s up' starts it",
				live->name);
		default:
			return tb_fail_in(error, TB_EIO, live->name, "%s: %s",
				pcap_statustostr(code), refusal);
		}
	}
	if (code > 0)
		snprintf(live->warning, sizeof live->warning, "%s",
			code == PCAP_WARNING ? pcap_geterr(live->pcap)
					     : pcap_statustostr(code));
	if (options->direction != TB_LIVE_INOUT &&
		pcap_setdirection(live->pcap, directions[options->direction]) != 0)
		return tb_fail_in(error, TB_EIO, live->name,
			"cannot capture one direction only: %s", pcap_geterr(live->pcap));
	// Like tcpdump, use the second cooked header, which has the interface. The filter
	// is compiled for the header, so set that first.
	if (strcmp(live->name, "any") == 0 &&
		pcap_set_datalink(live->pcap, DLT_LINUX_SLL2) != 0)
		return tb_fail_in(
			error, TB_EIO, live->name, "%s", pcap_geterr(live->pcap));
	bpf_u_int32 network, netmask;
	// Only filters with "ip broadcast" need the netmask, so go on without.
	if (pcap_lookupnet(live->name, &network, &netmask, message) != 0)
		netmask = PCAP_NETMASK_UNKNOWN;
	int status = set_filter(live, options, netmask, error);
	if (status != TB_OK)
		return status;
	live->fd = pcap_get_selectable_fd(live->pcap);
	if (live->fd < 0 || pcap_setnonblock(live->pcap, 1, message) != 0)
		return tb_fail_in(
			error, TB_EIO, live->name, "cannot be waited for: %s", message);
	return TB_OK;
}

// interface_name returns `interface` itself or, if that is a number, the name of the
// interface with this number in -D's list.
static char *interface_name(const char *interface)
{
	struct tb_live_interface *list;
	size_t n, digits = strspn(interface, "0123456789");
	unsigned long number = strtoul(interface, NULL, 10);
	if (digits == 0 || interface[digits] || tb_live_list(&list, &n, NULL) != TB_OK)
		return strdup(interface);
	bool there = number >= 1 && number <= n;
	char *name = strdup(there ? list[number - 1].name : interface);
	tb_live_list_free(list, n);
	return name;
}

int tb_live_open(struct tb_live **live, const char *interface,
	const struct tb_live_options *options, struct tb_error *error)
{
	char message[PCAP_ERRBUF_SIZE] = "";
	struct tb_live *opened = calloc(1, sizeof *opened);
	if (opened)
		opened->name = interface_name(interface);
	if (!opened || !opened->name) {
		tb_live_free(opened);
		return tb_fail_memory_in(error, interface, "it");
	}
	int status = TB_OK;
	opened->pcap = pcap_create(opened->name, message);
	if (!opened->pcap)
		status = tb_fail_in(error, TB_EIO, interface, "%s", message);
	else
		status = activate(opened, options, error);
	if (status == TB_OK)
		*live = opened;
	else
		tb_live_free(opened);
	return status;
}

static int open_savefile(struct tb_live *live, const char *path, struct tb_error *error)
{
	FILE *stream;
	char message[PCAP_ERRBUF_SIZE] = "";
	int status = tb_infile_open(&stream, &live->input, path, error);
	if (status != TB_OK)
		return status;
	live->pcap = pcap_fopen_offline_with_tstamp_precision(
		stream, PCAP_TSTAMP_PRECISION_NANO, message);
	if (live->pcap)
		return TB_OK;
	status = tb_infile_check(live->input, error);
	fclose(stream);
	return status != TB_OK ? status
			       : tb_fail_in(error, TB_EFOREIGN, path,
					 "is not a readable capture: %s", message);
}

int tb_live_open_file(struct tb_live **live, const char *path,
	const struct tb_live_options *options, struct tb_error *error)
{
	struct tb_live *opened = calloc(1, sizeof *opened);
	if (opened)
		opened->name = strdup(strcmp(path, "-") == 0 ? "standard input" : path);
	if (!opened || !opened->name) {
		tb_live_free(opened);
		return tb_fail_memory_in(error, path, "it");
	}
	int status = open_savefile(opened, path, error);
	TB_THEN(status, set_filter(opened, options, PCAP_NETMASK_UNKNOWN, error));
	if (status == TB_OK)
		*live = opened;
	else
		tb_live_free(opened);
	return status;
}

// wait_for_packets returns whether a packet came; false after IDLE_MS or a signal.
static bool wait_for_packets(const struct tb_live *live)
{
	struct pollfd waiting = {.fd = live->fd, .events = POLLIN};
	return poll(&waiting, 1, IDLE_MS) > 0;
}

// packet_time stores when a packet came. The seconds of a pcap file are unsigned, which
// libpcap reads as signed, after 2038; pcapng, whose version is 1, has 64 bits.
static int packet_time(const struct tb_live *live, const struct pcap_pkthdr *header,
	uint64_t *at_ns, struct tb_error *error)
{
	bool nanoseconds =
		pcap_get_tstamp_precision(live->pcap) == PCAP_TSTAMP_PRECISION_NANO;
	int64_t seconds = header->ts.tv_sec;
	if (live->input && pcap_major_version(live->pcap) > 1)
		seconds = (uint32_t)seconds;
	if (seconds < 0)
		return tb_fail_in(error, TB_EFORMAT, live->name,
			"a packet is dated before 1970: expected a date since then");
	*at_ns = (uint64_t)seconds * NS_PER_S +
		 (uint64_t)header->ts.tv_usec * (nanoseconds ? 1 : 1000);
	return TB_OK;
}

int tb_live_next(
	struct tb_live *live, struct tb_capture_packet *packet, struct tb_error *error)
{
	struct pcap_pkthdr *header;
	const unsigned char *bytes;
	int code = pcap_next_ex(live->pcap, &header, &bytes);
	// In nonblocking mode 0 means that nothing is buffered. Waiting with poll instead
	// of in libpcap lets a signal interrupt it.
	if (code == 0 && wait_for_packets(live))
		code = pcap_next_ex(live->pcap, &header, &bytes);
	if (code == 0)
		return TB_LIVE_IDLE;
	if (code == PCAP_ERROR_BREAK)
		return 0;
	if (code != 1) {
		const char *message = pcap_geterr(live->pcap);
		if (!live->input)
			return tb_fail_in(error, TB_EIO, live->name, "%s", message);
		int status = tb_infile_check(live->input, error);
		if (status != TB_OK)
			return status;
		return tb_fail_in(error, TB_EFORMAT, live->name, "%s", message);
	}
	uint64_t at_ns = 0;
	int status = packet_time(live, header, &at_ns, error);
	if (status != TB_OK)
		return status;
	live->n_captured++;
	*packet = (struct tb_capture_packet){.at_ns = at_ns,
		.bytes = bytes,
		.n_captured = header->caplen,
		.n_wire = header->len};
	return 1;
}

void tb_live_counts(struct tb_live *live, struct tb_capture_counts *counts)
{
	struct pcap_stat stat;
	*counts = (struct tb_capture_counts){
		.captured = live->n_captured, .received = live->n_captured};
	if (live->input || pcap_stats(live->pcap, &stat) != 0)
		return; // a file has no kernel to count drops
	counts->received = stat.ps_recv;
	counts->dropped = stat.ps_drop;
	counts->dropped_interface = stat.ps_ifdrop;
}

uint16_t tb_live_link_type(const struct tb_live *live)
{
	// Files hold LINKTYPE_ values. libpcap converts its DLT_ values to these only
	// when it writes a file, so write a header to memory.
	uint32_t header[6] = {0};
	char *bytes = NULL;
	size_t n = 0;
	FILE *stream = open_memstream(&bytes, &n);
	pcap_dumper_t *dumper = stream ? pcap_dump_fopen(live->pcap, stream) : NULL;
	if (dumper)
		pcap_dump_close(dumper);
	else if (stream)
		fclose(stream);
	if (n >= sizeof header)
		memcpy(header, bytes, sizeof header);
	free(bytes);
	return dumper ? (uint16_t)header[5] : (uint16_t)pcap_datalink(live->pcap);
}

const char *tb_live_link_type_text(const struct tb_live *live, char *buffer, size_t size)
{
	int type = pcap_datalink(live->pcap);
	const char *name = pcap_datalink_val_to_name(type);
	const char *description = pcap_datalink_val_to_description(type);
	if (name)
		snprintf(buffer, size, "%s (%s)", name, description ? description : "");
	else
		snprintf(buffer, size, "%d", type);
	return buffer;
}

uint32_t tb_live_snap_bytes(const struct tb_live *live)
{
	int bytes = pcap_snapshot(live->pcap);
	return bytes > 0 ? (uint32_t)bytes : TB_LIVE_SNAP_BYTES;
}

const char *tb_live_interface(const struct tb_live *live)
{
	return live->input ? "" : live->name;
}

const char *tb_live_warning(const struct tb_live *live)
{
	return live->warning[0] ? live->warning : NULL;
}

void tb_live_list_free(struct tb_live_interface *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(list[i].name);
		free(list[i].description);
	}
	free(list);
}

int tb_live_list(struct tb_live_interface **list, size_t *n, struct tb_error *error)
{
	char message[PCAP_ERRBUF_SIZE] = "";
	pcap_if_t *devices;
	if (pcap_findalldevs(&devices, message) != 0)
		return tb_fail(
			error, TB_EIO, "the interfaces cannot be listed: %s", message);
	size_t n_devices = 0, n_listed = 0;
	for (const pcap_if_t *device = devices; device; device = device->next)
		n_devices++;
	struct tb_live_interface *items = calloc(n_devices + 1, sizeof *items);
	bool complete = items != NULL;
	for (const pcap_if_t *device = devices; device && complete;
		device = device->next) {
		struct tb_live_interface *item = &items[n_listed++];
		bpf_u_int32 flags = device->flags;
		item->name = strdup(device->name);
		item->description =
			strdup(device->description ? device->description : "");
		item->up = (flags & PCAP_IF_UP) != 0;
		item->running = (flags & PCAP_IF_RUNNING) != 0;
		item->loopback = (flags & PCAP_IF_LOOPBACK) != 0;
		item->wireless = (flags & PCAP_IF_WIRELESS) != 0;
		item->connected = (flags & PCAP_IF_CONNECTION_STATUS) ==
				  PCAP_IF_CONNECTION_STATUS_CONNECTED;
		complete = item->name && item->description;
	}
	pcap_freealldevs(devices);
	if (!complete) {
		if (items)
			tb_live_list_free(items, n_listed);
		return tb_fail_memory(error, "the list of interfaces");
	}
	*list = items;
	*n = n_listed;
	return TB_OK;
}

// Gives up privileges for good, once the capture that needed them is open.

static int become_user(const struct passwd *user, struct tb_error *error)
{
	if (initgroups(user->pw_name, user->pw_gid) != 0 || setgid(user->pw_gid) != 0 ||
		setuid(user->pw_uid) != 0)
		return tb_fail(error, TB_EIO,
			"cannot become user '%s': %s; -Z root goes on as root",
			user->pw_name, strerror(errno));
	// Make sure that the step cannot be undone.
	if (setuid(0) == 0)
		return tb_fail(error, TB_EIO,
			"became user '%s', but could become root again: stopping",
			user->pw_name);
	return TB_OK;
}

int tb_privileges_drop(const char *name, struct tb_error *error)
{
	if (!name) {
		// The program may run with capabilities instead of as root (setcap
		// cap_net_raw+ep).
		struct __user_cap_header_struct header = {
			.version = _LINUX_CAPABILITY_VERSION_3};
		struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
		if (syscall(SYS_capset, &header, none) != 0)
			return tb_fail(error, TB_EIO,
				"capabilities cannot be given up: %s", strerror(errno));
		return TB_OK;
	}
	errno = 0;
	const struct passwd *user = getpwnam(name);
	if (!user)
		return tb_fail(error, TB_EUSAGE, "there is no user '%s'", name);
	if (geteuid() != 0)
		return tb_fail(error, TB_EUSAGE, "only root can become user '%s'", name);
	return user->pw_uid == 0 ? TB_OK : become_user(user, error);
}
