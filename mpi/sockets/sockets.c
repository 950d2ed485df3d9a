// tailback-trace-sockets.so: loaded into every process of `tailback trace --sockets`, it
// records what the process does with sockets of TCP (capture/tbt/tbt_format.h).
//
// Model: it stands in for libc's functions that connect, accept, send, receive, wait for
// readiness and close. Each calls libc's own first, and then records what it did, with
// TCP_INFO. A descriptor is looked at once (is it TCP, which connection) until it is
// closed. A process makes its file at its first record, so one without sockets leaves
// none; a forked child makes one of its own. Where a process waits for a child, that is
// recorded too, and so are signals to others, pipes and socketpair(), by which processes
// and threads of a host wait for each other, and where a thread waits for another.
//
// Safety: nothing here allocates memory, and a lock is only taken while the thread is
// marked busy. A signal handler that comes in between calls libc without a record. Its
// calls within a call that waits are recorded before that one: what that waited until
// then becomes a wait of its own.
//
// Not seen: system calls made without libc (Go, io_uring), static programs, what stdio
// reads from a socket. What it writes shows in the counts of the next record.
//
// As functions with the signatures of libc they have nowhere but file scope to keep their
// state.
#include "lane.h"

#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define WRAP __attribute__((visibility("default")))

// What a descriptor is. LOCAL: a pipe, or a socket of socketpair().
enum { UNSEEN, OTHER, TCP, LOCAL };

struct descriptor {
	_Atomic uint8_t what;
	_Atomic uint32_t socket;     // the process's number of it; 0: none yet
	_Atomic uint32_t generation; // of the process whose file has it
};

// A wait for another thread of less than WOKEN_NS is one for a lock.
enum {
	DESCRIPTORS_MAX = 1 << 16,
	PAIRS_MAX = 256,
	OWN_TIME_NS = 50000,
	WOKEN_NS = 50000
};

static struct {
	struct descriptor descriptors[DESCRIPTORS_MAX];
	_Atomic uint32_t n_sockets, generation;
	_Atomic bool opened, is_on, has_tcp;
	pthread_mutex_t opening;
	// Inodes of the last pairs of sockets.
	_Atomic uint64_t pairs[PAIRS_MAX][2];
	_Atomic uint32_t n_pairs;
	// Zeroed in a forked child, however it was forked.
	volatile int *alive;
	uint64_t begin_ns;
	pid_t pid;
	char folder[3072], host[256], version[64];
} own = {.opening = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local bool busy __attribute__((tls_model("initial-exec")));

// The call of this thread that is going on while a signal handler makes others: how many
// are, since when it waits, and its frame, by which one is known to be left by longjmp.
static _Thread_local struct {
	unsigned depth;
	uint64_t since_ns;
	const void *frame;
} going_on __attribute__((tls_model("initial-exec")));

// WRAPPED begins the function that stands in for one of libc's, after what finds that one
// when the library is loaded, or by a call that comes before. Fortified ones have no
// prototype in a header.
#define WRAPPED(type, name, parameters)                                                  \
	static type(*found_##name) parameters;                                           \
	static void __attribute__((constructor)) find_##name(void)                       \
	{                                                                                \
		found_##name = (type(*) parameters)(uintptr_t)dlsym(RTLD_NEXT, #name);   \
	}                                                                                \
	static type(*real_##name(void)) parameters                                       \
	{                                                                                \
		if (!found_##name)                                                       \
			find_##name();                                                   \
		return found_##name;                                                     \
	}                                                                                \
	WRAP type name parameters;                                                       \
	type name parameters

static void begin_process(void)
{
	own.begin_ns = tb_now_ns();
	own.pid = getpid();
	own.opened = false;
	own.generation++;
	if (own.alive)
		*own.alive = 1;
}

// is_own_process returns whether this is the process that records, not a child of vfork,
// whose memory, busy too, is its parent's.
static bool is_own_process(void)
{
	return own.is_on && *own.alive && getpid() == own.pid;
}

// check_fork has a forked child begin anew.
static void check_fork(void)
{
	const pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
	if (!own.alive || *own.alive)
		return;
	own.opening = opening;
	going_on.depth = 0;
	tb_lanes_forget();
	begin_process();
}

// A process that exits in the usual way runs this.
static void __attribute__((destructor)) sockets_end(void)
{
	if (!is_own_process())
		return;
	busy = true;
	tb_lanes_close(TB_TBT_FINISHED);
}

static void __attribute__((constructor)) sockets_begin(void)
{
	const char *folder = getenv("TAILBACK_TRACE_FOLDER");
	if (!folder || strlen(folder) >= sizeof own.folder)
		return;
	memcpy(own.folder, folder, strlen(folder) + 1);
	if (gethostname(own.host, sizeof own.host - 1) != 0)
		own.host[0] = '\0';
	void *page = mmap(
		NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED || madvise(page, 4096, MADV_WIPEONFORK) != 0)
		return;
	own.alive = page;
	begin_process();
	pthread_atfork(NULL, NULL, check_fork);
	at_quick_exit(sockets_end);
	own.is_on = true;
}

// open_file_once makes the process's file at its first call, which began at `at_ns`;
// `busy` is set.
static void open_file_once(uint64_t at_ns)
{
	char name[64];
	struct stat net = {0};
	pthread_mutex_lock(&own.opening);
	if (!own.opened) {
		snprintf(name, sizeof name, "socket-%ld-%016" PRIx64 ".tbr",
			(long)own.pid, own.begin_ns);
		tb_lanes_open(own.folder, &(struct tb_lanes_rank){.n_ranks = 1,
						  .mpi = TB_TBT_SOCKETS,
						  .host = own.host,
						  .version = "",
						  .threads = true,
						  .job = "",
						  .parent = "",
						  .name = name,
						  .begin_ns = own.begin_ns});
		struct tb_record_lane *lane = tb_lane_take();
		stat("/proc/self/ns/net", &net);
		if (lane)
			lane->last_ns = at_ns;
		if (lane)
			tb_lane_define(lane, TB_TBT_PROCESS,
				(const uint64_t[]){(uint64_t)own.pid, (uint64_t)getppid(),
					net.st_ino, at_ns - own.begin_ns},
				NULL, 0);
		tb_ending_watch();
		own.opened = true;
	}
	pthread_mutex_unlock(&own.opening);
}

// enter begins a call; false where nothing is to be recorded.
static bool enter(struct tb_traced_call *call)
{
	if (!own.is_on || busy)
		return false;
	busy = true;
	check_fork();
	busy = false;
	call->lane = NULL;
	call->enter_ns = tb_now_ns();
	const void *frame = __builtin_frame_address(0);
	if (going_on.depth && (uintptr_t)frame >= (uintptr_t)going_on.frame)
		going_on.depth = 0;
	if (going_on.depth++ == 0) {
		going_on.since_ns = call->enter_ns;
		going_on.frame = frame;
	}
	return true;
}

// back ends what enter began, whether the call is recorded or not.
static void back(void)
{
	if (going_on.depth)
		going_on.depth--;
}

static bool is_seen(int fd)
{
	return fd >= 0 && fd < DESCRIPTORS_MAX;
}

static void forget_fd(int fd)
{
	if (is_seen(fd)) {
		own.descriptors[fd].what = UNSEEN;
		own.descriptors[fd].socket = 0;
	}
}

static void forget_both(const int fds[2])
{
	forget_fd(fds[0]);
	forget_fd(fds[1]);
}

// pair_of returns the inode of the other socket of a pair; 0: it is of none.
static uint64_t pair_of(uint64_t inode)
{
	for (uint32_t i = 0; i < PAIRS_MAX && i < own.n_pairs; i++)
		for (int side = 0; side < 2; side++)
			if (own.pairs[i][side] == inode)
				return own.pairs[i][1 - side];
	return 0;
}

// classify returns what a descriptor is. It leaves errno alone.
static int classify(int fd)
{
	struct descriptor *of = &own.descriptors[fd];
	if (of->what != UNSEEN)
		return of->what;
	int kept = errno, protocol = 0;
	socklen_t n = sizeof protocol;
	struct stat entry;
	uint8_t what = OTHER;
	of->socket = 0;
	if (getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &n) != 0) {
		if (fstat(fd, &entry) == 0 && S_ISFIFO(entry.st_mode))
			what = LOCAL;
	} else if (protocol == IPPROTO_TCP) {
		what = TCP;
		own.has_tcp = true;
	} else if (fstat(fd, &entry) == 0 && pair_of(entry.st_ino))
		what = LOCAL;
	of->what = what;
	errno = kept;
	return what;
}

// watch begins a call with a descriptor, if that is a socket of TCP or local.
static bool watch(struct tb_traced_call *call, int fd)
{
	if (!own.is_on || !is_seen(fd) || own.descriptors[fd].what == OTHER ||
		!enter(call))
		return false;
	if (classify(fd) != OTHER)
		return true;
	back();
	return false;
}

// leave gives the call the lane of its thread and its end; false: nothing is recorded.
// `busy` is set until done().
static bool leave(struct tb_traced_call *call)
{
	busy = true;
	call->leave_ns = tb_now_ns();
	if (!own.opened)
		open_file_once(going_on.depth ? going_on.since_ns : call->enter_ns);
	bool is_new = !tb_lane_own;
	call->lane = is_new ? tb_lane_take() : tb_lane_own;
	if (!call->lane)
		return false;
	if (call->lane->n_blocks == 0 && !going_on.depth)
		call->lane->last_ns = call->enter_ns;
	// What a signal handler recorded meanwhile stands before this call.
	uint64_t last = call->lane->last_ns;
	if (call->lane->poll_end_ns > last)
		last = call->lane->poll_end_ns;
	if (call->enter_ns < last)
		call->enter_ns = last;
	if (call->leave_ns < call->enter_ns)
		call->leave_ns = call->enter_ns;
	const struct tb_traced_call begins = {call->lane, call->enter_ns, call->enter_ns};
	if (is_new)
		tb_lane_record(&begins, TB_TBT_THREAD, NULL, NULL, 0);
	// In a signal handler: what it came into waited until now, and goes on behind.
	if (going_on.depth) {
		struct tb_traced_call waited = {
			call->lane, going_on.since_ns, call->enter_ns};
		if (waited.enter_ns < last)
			waited.enter_ns = last;
		if (waited.enter_ns < waited.leave_ns)
			tb_lane_poll(&waited);
		going_on.since_ns = call->leave_ns;
	}
	return true;
}

// done ends it. What recording took is waiting, where that is long: beginning a block.
static void done(struct tb_traced_call *call, int kept)
{
	const struct tb_traced_call own_time = {call->lane, call->leave_ns, tb_now_ns()};
	if (call->lane && own_time.leave_ns - own_time.enter_ns > OWN_TIME_NS)
		tb_lane_poll(&own_time);
	busy = false;
	errno = kept;
}

// put_address stores an address as of IPv6, in two values and the port.
static void put_address(const struct sockaddr_storage *address, uint64_t *to)
{
	uint8_t bytes[16] = {[10] = 0xff, [11] = 0xff};
	const struct sockaddr_in *four = (const void *)address;
	const struct sockaddr_in6 *six = (const void *)address;
	to[2] = 0;
	if (address->ss_family == AF_INET) {
		memcpy(bytes + 12, &four->sin_addr, 4);
		to[2] = ntohs(four->sin_port);
	} else if (address->ss_family == AF_INET6) {
		memcpy(bytes, &six->sin6_addr, 16);
		to[2] = ntohs(six->sin6_port);
	}
	for (int i = 0; i < 2; i++) {
		to[i] = 0;
		for (int k = 0; k < 8; k++)
			to[i] = to[i] << 8 | bytes[8 * i + k];
	}
}

static uint32_t define_as(const struct tb_traced_call *call, struct descriptor *of,
	enum tb_tbt_socket how, uint64_t cookie, const uint64_t list[6])
{
	uint32_t socket = ++own.n_sockets;
	tb_lane_record(
		call, TB_TBT_SOCKET, (const uint64_t[]){socket, how, cookie}, list, 6);
	if (!call->lane->at) // no room for it: who uses it next may have some
		return 0;
	of->socket = socket;
	of->generation = own.generation;
	return socket;
}

// define records a connection, unless the file has it. `peer` may be NULL: it is asked
// for. It returns the number, 0 for a socket that is not connected.
static uint32_t define(const struct tb_traced_call *call, int fd, enum tb_tbt_socket how,
	const struct sockaddr *peer, socklen_t peer_n)
{
	struct descriptor *of = &own.descriptors[fd];
	struct sockaddr_storage address[2] = {0};
	socklen_t n = sizeof *address;
	uint64_t cookie = 0, list[6];
	if (of->socket && of->generation == own.generation)
		return of->socket;
	if (of->what == LOCAL) {
		struct stat entry;
		if (fstat(fd, &entry) != 0)
			return 0;
		bool pipes = S_ISFIFO(entry.st_mode);
		uint64_t writes = (fcntl(fd, F_GETFL) & O_ACCMODE) == O_WRONLY;
		uint64_t other = pipes ? entry.st_ino : pair_of(entry.st_ino);
		const uint64_t local[] = {TB_TBT_LOCAL, entry.st_ino, pipes && writes,
			TB_TBT_LOCAL, other, pipes && !writes};
		memcpy(list, local, sizeof list);
		cookie = UINT64_C(1) << 63 | entry.st_ino << 1 | (pipes && writes);
		return define_as(call, of, how, cookie, list);
	}
	if (peer && peer_n <= sizeof *address)
		memcpy(&address[1], peer, peer_n);
	else if (getpeername(fd, (struct sockaddr *)&address[1], &n) != 0)
		return 0;
	n = sizeof *address;
	if (getsockname(fd, (struct sockaddr *)&address[0], &n) != 0)
		return 0;
	n = sizeof cookie;
	getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &n);
	put_address(&address[0], list);
	put_address(&address[1], list + 3);
	return define_as(call, of, how, cookie, list);
}

// record_bytes records what was sent or received. What is not TCP any more, because the
// descriptor was closed unseen, is forgotten.
static void record_bytes(
	struct tb_traced_call *call, int fd, enum tb_tbt_kind kind, ssize_t n)
{
	struct tcp_info info = {0};
	socklen_t size = sizeof info;
	bool is_local = own.descriptors[fd].what == LOCAL;
	if (!is_local && getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) {
		forget_fd(fd);
		return;
	}
	const struct tb_traced_call before = {call->lane, call->enter_ns, call->enter_ns};
	uint32_t socket = define(&before, fd, TB_TBT_INHERITED, NULL, 0);
	uint64_t so_far = 0;
	if (!socket)
		return;
	if (!is_local && size >= offsetof(struct tcp_info, tcpi_bytes_retrans) + 8)
		so_far = 1 + (kind == TB_TBT_READ ? info.tcpi_bytes_received
						  : info.tcpi_bytes_sent -
							    info.tcpi_bytes_retrans +
							    info.tcpi_notsent_bytes);
	tb_lane_record(call, kind,
		(const uint64_t[]){socket, (uint64_t)n, so_far, info.tcpi_rtt,
			info.tcpi_busy_time, info.tcpi_rwnd_limited,
			info.tcpi_sndbuf_limited, info.tcpi_total_retrans},
		NULL, 0);
}

// moved ends a call that sent or received: it records that, or that it asked in vain.
static void moved(struct tb_traced_call *call, int fd, enum tb_tbt_kind kind, ssize_t n)
{
	int kept = errno;
	back();
	bool in_vain = n < 0 && (kept == EAGAIN || kept == EWOULDBLOCK || kept == EINTR);
	if ((n > 0 || (n == 0 && kind == TB_TBT_READ) || in_vain) && leave(call)) {
		if (in_vain)
			tb_lane_poll(call);
		else
			record_bytes(call, fd, kind, n);
	}
	done(call, kept);
}

#define SENDS(fd, name, ...)                                                             \
	struct tb_traced_call call;                                                      \
	bool watched = watch(&call, fd);                                                 \
	ssize_t n = real_##name()(__VA_ARGS__);                                          \
	if (watched)                                                                     \
		moved(&call, fd, TB_TBT_WRITE, (ssize_t)n);                              \
	return n
#define RECEIVES(fd, room, name, ...)                                                    \
	struct tb_traced_call call;                                                      \
	bool watched = (room) > 0 && watch(&call, fd);                                   \
	ssize_t n = real_##name()(__VA_ARGS__);                                          \
	if (watched)                                                                     \
		moved(&call, fd, TB_TBT_READ, (ssize_t)n);                               \
	return n

// ready ends a call that waited until something is ready, or its time was over.
static void ready(struct tb_traced_call *call, uint64_t bits)
{
	int kept = errno;
	back();
	if (leave(call))
		tb_lane_record(call, TB_TBT_READY, &bits, NULL, 0);
	done(call, kept);
}

// A receive that leaves what it looks at is a wait.
static ssize_t peeked(struct tb_traced_call *call, ssize_t n)
{
	if (n >= 0)
		ready(call, TB_TBT_READABLE);
	else
		back();
	return n;
}

WRAPPED(ssize_t, read, (int fd, void *to, size_t size))
{
	RECEIVES(fd, size, read, fd, to, size);
}

WRAPPED(ssize_t, __read_chk, (int fd, void *to, size_t size, size_t room))
{
	RECEIVES(fd, size, __read_chk, fd, to, size, room);
}

WRAPPED(ssize_t, readv, (int fd, const struct iovec *parts, int n_parts))
{
	RECEIVES(fd, n_parts, readv, fd, parts, n_parts);
}

#define RECEIVES_UNLESS_PEEK(fd, size, flags, name, ...)                                 \
	struct tb_traced_call call;                                                      \
	bool watched =                                                                   \
		(size) > 0 && !((flags) & (MSG_ERRQUEUE | MSG_OOB)) && watch(&call, fd); \
	ssize_t n = real_##name()(__VA_ARGS__);                                          \
	if (watched && (flags)&MSG_PEEK)                                                 \
		return peeked(&call, n);                                                 \
	if (watched)                                                                     \
		moved(&call, fd, TB_TBT_READ, n);                                        \
	return n

WRAPPED(ssize_t, recv, (int fd, void *to, size_t size, int flags))
{
	RECEIVES_UNLESS_PEEK(fd, size, flags, recv, fd, to, size, flags);
}

WRAPPED(ssize_t, __recv_chk, (int fd, void *to, size_t size, size_t room, int flags))
{
	RECEIVES_UNLESS_PEEK(fd, size, flags, __recv_chk, fd, to, size, room, flags);
}

WRAPPED(ssize_t, recvfrom,
	(int fd, void *restrict to, size_t size, int flags, __SOCKADDR_ARG from,
		socklen_t *restrict from_n))
{
	RECEIVES_UNLESS_PEEK(
		fd, size, flags, recvfrom, fd, to, size, flags, from, from_n);
}

WRAPPED(ssize_t, __recvfrom_chk,
	(int fd, void *to, size_t size, size_t room, int flags, struct sockaddr *from,
		socklen_t *from_n))
{
	RECEIVES_UNLESS_PEEK(
		fd, size, flags, __recvfrom_chk, fd, to, size, room, flags, from, from_n);
}

// forget_passed forgets descriptors that came over a socket of the machine: what had
// their numbers before may have been closed unseen.
static void forget_passed(struct msghdr *message)
{
	for (struct cmsghdr *part = message->msg_controllen ? CMSG_FIRSTHDR(message)
							    : NULL;
		part; part = CMSG_NXTHDR(message, part)) {
		if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t at = 0; at + sizeof(int) <= part->cmsg_len - CMSG_LEN(0);
			at += sizeof(int)) {
			int fd;
			memcpy(&fd, CMSG_DATA(part) + at, sizeof fd);
			forget_fd(fd);
		}
	}
}

WRAPPED(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags))
{
	struct tb_traced_call call;
	bool watched = !(flags & (MSG_ERRQUEUE | MSG_OOB)) && watch(&call, fd);
	ssize_t n = real_recvmsg()(fd, message, flags);
	if (watched && flags & MSG_PEEK)
		peeked(&call, n);
	else if (watched)
		moved(&call, fd, TB_TBT_READ, n);
	if (n >= 0)
		forget_passed(message);
	return n;
}

// sum_of returns what messages of one call moved together.
static ssize_t sum_of(const struct mmsghdr *messages, int n)
{
	ssize_t sum = n < 0 ? -1 : 0;
	for (int i = 0; i < n; i++)
		sum += (ssize_t)messages[i].msg_len;
	return sum;
}

WRAPPED(int, recvmmsg,
	(int fd, struct mmsghdr *messages, unsigned n, int flags, struct timespec *most))
{
	struct tb_traced_call call;
	bool watched = n > 0 && !(flags & (MSG_ERRQUEUE | MSG_OOB | MSG_PEEK)) &&
		       watch(&call, fd);
	int got = real_recvmmsg()(fd, messages, n, flags, most);
	if (watched)
		moved(&call, fd, TB_TBT_READ, sum_of(messages, got));
	return got;
}

WRAPPED(ssize_t, write, (int fd, const void *from, size_t size))
{
	SENDS(fd, write, fd, from, size);
}

WRAPPED(ssize_t, writev, (int fd, const struct iovec *parts, int n_parts))
{
	SENDS(fd, writev, fd, parts, n_parts);
}

WRAPPED(ssize_t, send, (int fd, const void *from, size_t size, int flags))
{
	SENDS(fd, send, fd, from, size, flags);
}

WRAPPED(ssize_t, sendto,
	(int fd, const void *from, size_t size, int flags, __CONST_SOCKADDR_ARG to,
		socklen_t to_n))
{
	SENDS(fd, sendto, fd, from, size, flags, to, to_n);
}

WRAPPED(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags))
{
	SENDS(fd, sendmsg, fd, message, flags);
}

WRAPPED(int, sendmmsg, (int fd, struct mmsghdr *messages, unsigned n, int flags))
{
	struct tb_traced_call call;
	bool watched = watch(&call, fd);
	int sent = real_sendmmsg()(fd, messages, n, flags);
	if (watched)
		moved(&call, fd, TB_TBT_WRITE, sum_of(messages, sent));
	return sent;
}

WRAPPED(ssize_t, sendfile, (int fd, int from, off_t *at, size_t size))
{
	SENDS(fd, sendfile, fd, from, at, size);
}

WRAPPED(ssize_t, sendfile64, (int fd, int from, off64_t *at, size_t size))
{
	SENDS(fd, sendfile64, fd, from, at, size);
}

// Of a splice one end is a pipe, or both are.
WRAPPED(ssize_t, splice,
	(int from, off64_t *from_at, int to, off64_t *to_at, size_t size, unsigned flags))
{
	struct tb_traced_call call, second;
	bool in = watch(&call, from), out = !in && watch(&call, to);
	ssize_t n = real_splice()(from, from_at, to, to_at, size, flags);
	if (in || out)
		moved(&call, in ? from : to, in ? TB_TBT_READ : TB_TBT_WRITE, n);
	if (in && n > 0 && watch(&second, to))
		moved(&second, to, TB_TBT_WRITE, n);
	return n;
}

WRAPPED(int, socket, (int domain, int type, int protocol))
{
	int fd = real_socket()(domain, type, protocol);
	forget_fd(fd);
	if (domain == AF_INET || domain == AF_INET6)
		own.has_tcp = true;
	return fd;
}

WRAPPED(int, socketpair, (int domain, int type, int protocol, int fds[2]))
{
	int failed = real_socketpair()(domain, type, protocol, fds);
	struct stat entries[2];
	if (failed)
		return failed;
	forget_both(fds);
	if ((type & 0xf) == SOCK_STREAM && fstat(fds[0], &entries[0]) == 0 &&
		fstat(fds[1], &entries[1]) == 0) {
		uint32_t at = own.n_pairs++ % PAIRS_MAX;
		own.pairs[at][0] = entries[0].st_ino;
		own.pairs[at][1] = entries[1].st_ino;
	}
	return failed;
}

WRAPPED(int, pipe, (int fds[2]))
{
	int failed = real_pipe()(fds);
	if (!failed)
		forget_both(fds);
	return failed;
}

WRAPPED(int, pipe2, (int fds[2], int flags))
{
	int failed = real_pipe2()(fds, flags);
	if (!failed)
		forget_both(fds);
	return failed;
}

WRAPPED(int, connect, (int fd, __CONST_SOCKADDR_ARG address, socklen_t to_n))
{
	const struct sockaddr *to = address.__sockaddr__;
	struct tb_traced_call call;
	bool watched = watch(&call, fd);
	int failed = real_connect()(fd, address, to_n), kept = errno;
	if (!watched)
		return failed;
	back();
	if (to && own.descriptors[fd].what == TCP && (!failed || kept == EINPROGRESS) &&
		leave(&call)) {
		own.descriptors[fd].socket = 0;
		define(&call, fd, TB_TBT_CONNECTED, to, to_n);
	}
	done(&call, kept);
	return failed;
}

static int accepted(struct tb_traced_call *call, bool watched, int fd)
{
	int kept = errno;
	forget_fd(fd);
	if (!watched)
		return fd;
	back();
	bool in_vain = fd < 0 && (kept == EAGAIN || kept == EWOULDBLOCK || kept == EINTR);
	if ((is_seen(fd) || in_vain) && leave(call)) {
		if (in_vain)
			tb_lane_poll(call);
		else if (classify(fd) == TCP)
			define(call, fd, TB_TBT_ACCEPTED, NULL, 0);
	}
	done(call, kept);
	return fd;
}

WRAPPED(int, accept, (int fd, __SOCKADDR_ARG from, socklen_t *restrict from_n))
{
	struct tb_traced_call call;
	bool watched = watch(&call, fd);
	return accepted(&call, watched, real_accept()(fd, from, from_n));
}

WRAPPED(int, accept4,
	(int fd, __SOCKADDR_ARG from, socklen_t *restrict from_n, int flags))
{
	struct tb_traced_call call;
	bool watched = watch(&call, fd);
	return accepted(&call, watched, real_accept4()(fd, from, from_n, flags));
}

// record_shut records the end of a socket, or of what it sends.
static void record_shut(struct tb_traced_call *call, uint32_t socket, bool writing)
{
	int kept = errno;
	back();
	if (leave(call))
		tb_lane_record(
			call, TB_TBT_SHUT, (const uint64_t[]){socket, writing}, NULL, 0);
	done(call, kept);
}

// socket_of returns the number of a connection that the process's file has, else 0.
static uint32_t socket_of(int fd)
{
	const struct descriptor *of = is_seen(fd) ? &own.descriptors[fd] : NULL;
	return of && of->what >= TCP && of->generation == own.generation ? of->socket : 0;
}

WRAPPED(int, shutdown, (int fd, int how))
{
	struct tb_traced_call call;
	bool watched = how != SHUT_RD && watch(&call, fd);
	uint32_t socket = socket_of(fd);
	int failed = real_shutdown()(fd, how);
	if (watched && socket && !failed)
		record_shut(&call, socket, true);
	else if (watched)
		back();
	return failed;
}

WRAPPED(int, close, (int fd))
{
	struct tb_traced_call call;
	bool is_child = !busy && socket_of(fd) && *own.alive && !is_own_process();
	bool watched = !busy && !is_child && socket_of(fd) && watch(&call, fd);
	uint32_t socket = socket_of(fd); // 0 where watch() found a forked child
	if (!busy && !is_child)
		forget_fd(fd);
	int failed = real_close()(fd);
	if (watched && socket)
		record_shut(&call, socket, false);
	else if (watched)
		back();
	return failed;
}

WRAPPED(int, dup2, (int from, int to))
{
	int fd = real_dup2()(from, to);
	if (from != to)
		forget_fd(fd);
	return fd;
}

WRAPPED(int, dup3, (int from, int to, int flags))
{
	int fd = real_dup3()(from, to, flags);
	forget_fd(fd);
	return fd;
}

// Waiting is recorded where something that is recorded is waited for: without, it is a
// pause.
static bool watches_any(const struct pollfd *fds, nfds_t n)
{
	bool any = false;
	for (nfds_t i = 0; i < n && !any && own.is_on && !busy; i++)
		any = is_seen(fds[i].fd) && classify(fds[i].fd) != OTHER;
	return any;
}

static void polled(struct tb_traced_call *call, const struct pollfd *fds, nfds_t n)
{
	uint64_t bits = 0;
	for (nfds_t i = 0; i < n; i++) {
		if (fds[i].revents & (POLLOUT | POLLWRNORM))
			bits |= TB_TBT_WRITABLE;
		if (fds[i].revents & ~(POLLOUT | POLLWRNORM))
			bits |= TB_TBT_READABLE;
	}
	ready(call, bits);
}

// The headers declare that poll only writes to `fds`, by which the compiler warns of what
// reads there; it does not know `given`.
#define POLLS(fds, n_fds, name, ...)                                                     \
	struct tb_traced_call call;                                                      \
	const struct pollfd *given = fds;                                                \
	__asm__("" : "+r"(given));                                                       \
	bool watched = watches_any(given, n_fds) && enter(&call);                        \
	int n = real_##name()(__VA_ARGS__);                                              \
	if (watched)                                                                     \
		polled(&call, given, n > 0 ? n_fds : 0);                                 \
	return n

WRAPPED(int, poll, (struct pollfd * fds, nfds_t n_fds, int most))
{
	POLLS(fds, n_fds, poll, fds, n_fds, most);
}

WRAPPED(int, __poll_chk, (struct pollfd * fds, nfds_t n_fds, int most, size_t room))
{
	POLLS(fds, n_fds, __poll_chk, fds, n_fds, most, room);
}

WRAPPED(int, ppoll,
	(struct pollfd * fds, nfds_t n_fds, const struct timespec *most,
		const sigset_t *mask))
{
	POLLS(fds, n_fds, ppoll, fds, n_fds, most, mask);
}

WRAPPED(int, __ppoll_chk,
	(struct pollfd * fds, nfds_t n_fds, const struct timespec *most,
		const sigset_t *mask, size_t room))
{
	POLLS(fds, n_fds, __ppoll_chk, fds, n_fds, most, mask, room);
}

// in_set returns whether a set for select has one of the first n descriptors; `known`:
// one that is recorded.
static bool in_set(const fd_set *set, int n, bool known)
{
	for (int fd = 0; set && fd < n && fd < FD_SETSIZE; fd++)
		if (FD_ISSET(fd, set) && (!known || classify(fd) != OTHER))
			return true;
	return false;
}

#define SELECTS(name, ...)                                                               \
	struct tb_traced_call call;                                                      \
	bool watched = own.is_on && !busy &&                                             \
		       (in_set(in, n_fds, true) || in_set(out, n_fds, true)) &&          \
		       enter(&call);                                                     \
	int n = real_##name()(__VA_ARGS__);                                              \
	if (watched)                                                                     \
		ready(&call,                                                             \
			n <= 0 ? 0                                                       \
			       : (in_set(in, n_fds, false) ? TB_TBT_READABLE : 0) |      \
					 (in_set(out, n_fds, false) ? TB_TBT_WRITABLE    \
								    : 0));               \
	return n

WRAPPED(int, select,
	(int n_fds, fd_set *restrict in, fd_set *restrict out, fd_set *restrict other,
		struct timeval *restrict most))
{
	SELECTS(select, n_fds, in, out, other, most);
}

WRAPPED(int, pselect,
	(int n_fds, fd_set *restrict in, fd_set *restrict out, fd_set *restrict other,
		const struct timespec *restrict most, const sigset_t *restrict mask))
{
	SELECTS(pselect, n_fds, in, out, other, most, mask);
}

// Which descriptors a set of epoll has is the kernel's knowledge.
#define EPOLLS(name, ...)                                                                \
	struct tb_traced_call call;                                                      \
	bool watched = own.has_tcp && enter(&call);                                      \
	int n = real_##name()(__VA_ARGS__);                                              \
	uint64_t bits = 0;                                                               \
	for (int i = 0; i < n && watched; i++)                                           \
		bits |= (events[i].events & EPOLLOUT ? TB_TBT_WRITABLE : 0u) |           \
			(events[i].events & ~(uint32_t)EPOLLOUT ? TB_TBT_READABLE : 0u); \
	if (watched)                                                                     \
		ready(&call, bits);                                                      \
	return n

WRAPPED(int, epoll_wait, (int fd, struct epoll_event *events, int room, int most))
{
	EPOLLS(epoll_wait, fd, events, room, most);
}

WRAPPED(int, epoll_pwait,
	(int fd, struct epoll_event *events, int room, int most, const sigset_t *mask))
{
	EPOLLS(epoll_pwait, fd, events, room, most, mask);
}

WRAPPED(int, epoll_pwait2,
	(int fd, struct epoll_event *events, int room, const struct timespec *most,
		const sigset_t *mask))
{
	EPOLLS(epoll_pwait2, fd, events, room, most, mask);
}

// child_ended ends a wait for a child.
static void child_ended(struct tb_traced_call *call, pid_t pid)
{
	int kept = errno;
	back();
	if (pid > 0 && leave(call))
		tb_lane_record(
			call, TB_TBT_CHILD, (const uint64_t[]){(uint64_t)pid}, NULL, 0);
	done(call, kept);
}

#define WAITS(name, ...)                                                                 \
	struct tb_traced_call call;                                                      \
	bool watched = enter(&call);                                                     \
	pid_t pid = real_##name()(__VA_ARGS__);                                          \
	if (watched)                                                                     \
		child_ended(&call, pid);                                                 \
	return pid

WRAPPED(pid_t, wait, (int *how))
{
	WAITS(wait, how);
}

WRAPPED(pid_t, waitpid, (pid_t of, int *how, int options))
{
	WAITS(waitpid, of, how, options);
}

WRAPPED(pid_t, wait3, (int *how, int options, struct rusage *used))
{
	WAITS(wait3, how, options, used);
}

WRAPPED(pid_t, wait4, (pid_t of, int *how, int options, struct rusage *used))
{
	WAITS(wait4, of, how, options, used);
}

WRAPPED(int, waitid, (idtype_t type, id_t of, siginfo_t *info, int options))
{
	struct tb_traced_call call;
	bool watched = info && enter(&call);
	int failed = real_waitid()(type, of, info, options);
	if (watched)
		child_ended(&call, failed ? -1 : info->si_pid);
	return failed;
}

// woken ends a wait for another thread.
static void woken(struct tb_traced_call *call, bool was_woken)
{
	int kept = errno;
	back();
	if (was_woken && tb_now_ns() - call->enter_ns > WOKEN_NS && leave(call))
		tb_lane_record(call, TB_TBT_WOKEN, NULL, NULL, 0);
	done(call, kept);
}

#define SLEEPS(name, ...)                                                                \
	struct tb_traced_call call;                                                      \
	bool watched = own.has_tcp && enter(&call);                                      \
	int failed = real_##name()(__VA_ARGS__);                                         \
	if (watched)                                                                     \
		woken(&call, !failed);                                                   \
	return failed

WRAPPED(int, pthread_join, (pthread_t thread, void **result))
{
	SLEEPS(pthread_join, thread, result);
}

WRAPPED(int, pthread_cond_wait, (pthread_cond_t * condition, pthread_mutex_t *mutex))
{
	SLEEPS(pthread_cond_wait, condition, mutex);
}

WRAPPED(int, pthread_cond_timedwait,
	(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
		const struct timespec *restrict most))
{
	SLEEPS(pthread_cond_timedwait, condition, mutex, most);
}

WRAPPED(int, pthread_cond_clockwait,
	(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
		clockid_t clock, const struct timespec *restrict most))
{
	SLEEPS(pthread_cond_clockwait, condition, mutex, clock, most);
}

WRAPPED(int, sem_wait, (sem_t * semaphore))
{
	SLEEPS(sem_wait, semaphore);
}

WRAPPED(int, sem_timedwait,
	(sem_t *restrict semaphore, const struct timespec *restrict most))
{
	SLEEPS(sem_timedwait, semaphore, most);
}

WRAPPED(int, sem_clockwait,
	(sem_t *restrict semaphore, clockid_t clock,
		const struct timespec *restrict most))
{
	SLEEPS(sem_clockwait, semaphore, clock, most);
}

WRAPPED(int, kill, (pid_t pid, int number))
{
	struct tb_traced_call call;
	bool watched = pid > 0 && number != 0 && enter(&call);
	int failed = real_kill()(pid, number), kept = errno;
	if (!watched)
		return failed;
	back();
	if (!failed && pid != own.pid && leave(&call))
		tb_lane_record(
			&call, TB_TBT_SIGNAL, (const uint64_t[]){(uint64_t)pid}, NULL, 0);
	done(&call, kept);
	return failed;
}

// exec ends the process as it was.
#define EXECS(name, ...)                                                                 \
	bool ends = !busy && is_own_process();                                           \
	if (ends)                                                                        \
		tb_lanes_state(TB_TBT_FINISHED);                                         \
	int failed = real_##name()(__VA_ARGS__);                                         \
	if (ends)                                                                        \
		tb_lanes_state(TB_TBT_RUNNING);                                          \
	return failed

WRAPPED(int, execve, (const char *path, char *const words[], char *const environment[]))
{
	EXECS(execve, path, words, environment);
}

WRAPPED(int, execv, (const char *path, char *const words[]))
{
	EXECS(execv, path, words);
}

WRAPPED(int, execvp, (const char *name, char *const words[]))
{
	EXECS(execvp, name, words);
}

WRAPPED(int, execvpe, (const char *name, char *const words[], char *const environment[]))
{
	EXECS(execvpe, name, words, environment);
}

WRAPPED(int, fexecve, (int fd, char *const words[], char *const environment[]))
{
	EXECS(fexecve, fd, words, environment);
}

// libc's own do not come by the functions above. LIST makes an array of the arguments
// from `first` on, and leaves `list` behind their end.
#define LIST(first)                                                                      \
	va_list list;                                                                    \
	size_t n = 1;                                                                    \
	va_start(list, first);                                                           \
	while (va_arg(list, char *))                                                     \
		n++;                                                                     \
	va_end(list);                                                                    \
	char **words = alloca((n + 1) * sizeof *words);                                  \
	words[0] = (char *)(uintptr_t)first;                                             \
	va_start(list, first);                                                           \
	for (size_t i = 1; i <= n; i++)                                                  \
	words[i] = va_arg(list, char *)

WRAP int execl(const char *path, const char *first, ...)
{
	LIST(first);
	va_end(list);
	return execv(path, words);
}

WRAP int execlp(const char *name, const char *first, ...)
{
	LIST(first);
	va_end(list);
	return execvp(name, words);
}

WRAP int execle(const char *path, const char *first, ...)
{
	LIST(first);
	char *const *environment = va_arg(list, char *const *);
	va_end(list);
	return execve(path, words, environment);
}

// _exit and _Exit run no destructors.
WRAPPED(void, _exit, (int code))
{
	sockets_end();
	void (*leave_process)(int) = real__exit();
	for (;;)
		leave_process(code);
}

WRAP void _Exit(int code)
{
	_exit(code);
}
