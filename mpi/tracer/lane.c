#include "lane.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// Two calls that asked in vain with less than this between them are waiting, with more a
// computation that looks up at times. A loop around MPI_Test takes under 1 us a turn.
#define POLL_GAP_NS 20000

#define VARINT_MAX 10

static struct {
	pthread_mutex_t lock;
	pthread_key_t key; // returns the lane of a thread that ends
	bool has_key;
	_Atomic bool recording;
	bool threads;
	char path[4096];
	int fd;
	dev_t device; // of the file
	ino_t inode;
	pid_t pid;
	off_t n_bytes;	 // of the file
	uint8_t *header; // mapped
	uint32_t n_lanes;
	struct tb_record_lane *idle;
} process = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

_Thread_local struct tb_record_lane *tb_lane_own
	__attribute__((tls_model("initial-exec")));

static void record_put_u32(uint8_t *at, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		at[i] = (uint8_t)(value >> 8 * i);
}

static void record_put_u64(uint8_t *at, uint64_t value)
{
	record_put_u32(at, (uint32_t)value);
	record_put_u32(at + 4, (uint32_t)(value >> 32));
}

static uint8_t *record_put_varint(uint8_t *at, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*at++ = (uint8_t)(value | 0x80);
	*at++ = (uint8_t)value;
	return at;
}

static void record_put_text(uint8_t *at, const char *text, size_t max)
{
	size_t n = strnlen(text, max);
	at[0] = (uint8_t)n;
	at[1] = (uint8_t)(n >> 8);
	memcpy(at + 2, text, n);
}

static uint64_t real_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// Standard error as the program began with it.
static struct stat standard_error;

static void __attribute__((constructor)) note_standard_error(void)
{
	(void)fstat(STDERR_FILENO, &standard_error);
}

// complain writes to standard error, unless a program that closed it has another file or
// a connection there by now.
static __attribute__((format(printf, 1, 2))) void complain(const char *format, ...)
{
	char text[PATH_MAX + 256];
	struct stat file;
	va_list values;
	va_start(values, format);
	int n = vsnprintf(text, sizeof text, format, values);
	va_end(values);
	if (n > 0 && fstat(STDERR_FILENO, &file) == 0 &&
		file.st_dev == standard_error.st_dev &&
		file.st_ino == standard_error.st_ino)
		(void)!write(STDERR_FILENO, text,
			(size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

// has_file returns whether the file is open: a program may have closed all descriptors,
// and have another file at this one's number.
static bool has_file(void)
{
	struct stat file;
	return process.fd >= 0 && fstat(process.fd, &file) == 0 &&
	       file.st_dev == process.device && file.st_ino == process.inode;
}

// open_high opens the file at a high number, which programs leave alone.
static int open_high(const char *path, int flags)
{
	int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | flags, 0666);
	int high = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 200) : -1;
	if (high < 0)
		return fd;
	close(fd);
	return high;
}

// map_more extends the file and maps what is new. The disk space is taken at once: a page
// of a mapped file for which there is no space kills the process.
static uint8_t *map_more(size_t n)
{
	if (!has_file())
		process.fd = open_high(process.path, 0);
	int failed = has_file() ? EINTR : EBADF;
	while (failed == EINTR) // a signal keeps tmpfs from it
		failed = posix_fallocate(process.fd, process.n_bytes, (off_t)n);
	void *there = MAP_FAILED;
	if (!failed)
		there = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
			process.fd, process.n_bytes);
	if (there == MAP_FAILED) {
		errno = failed ? failed : errno;
		return NULL;
	}
	process.n_bytes += (off_t)n;
	return there;
}

static void lane_give_back(void *lane)
{
	struct tb_record_lane *own = lane;
	pthread_mutex_lock(&process.lock);
	own->next = process.idle;
	process.idle = own;
	pthread_mutex_unlock(&process.lock);
	tb_lane_own = NULL;
}

// read_boot stores what is equal on all that share this clock: the boot of a machine.
static void read_boot(char boot[64], const char *host)
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, boot, 63) : 0;
	if (fd >= 0)
		close(fd);
	boot[n > 0 ? n : 0] = '\0';
	boot[strcspn(boot, "\n")] = '\0';
	if (!boot[0])
		snprintf(boot, 64, "%s", host);
}

// open_file makes the file.
static int open_file(const char *path)
{
	struct stat file;
	int fd = open_high(path, O_CREAT | O_EXCL);
	if (fd >= 0 && fstat(fd, &file) == 0) {
		process.device = file.st_dev;
		process.inode = file.st_ino;
	}
	return fd;
}

void tb_lanes_open(const char *folder, const struct tb_lanes_rank *rank)
{
	char *path = process.path, boot[64];
	size_t size = sizeof process.path;
	int n = rank->name ? snprintf(path, size, "%s/%s", folder, rank->name)
			   : snprintf(path, size, "%s/rank-%u-%016" PRIx64 ".tbr", folder,
				     (unsigned)rank->rank, rank->world);
	if (n < 0 || (size_t)n >= size)
		return;
	process.threads = rank->threads;
	process.pid = getpid();
	// No other process of any world has this name: what is there is not written to.
	process.fd = open_file(path);
	if (process.fd >= 0)
		process.header = map_more(TB_TBT_HEADER_BYTES);
	if (process.header && !process.has_key)
		process.has_key = pthread_key_create(&process.key, lane_give_back) == 0;
	if (!process.header || !process.has_key) {
		complain("tailback: %s: cannot be written, so rank %u is not "
			 "traced: %s\n",
			path, (unsigned)rank->rank, strerror(errno));
		return;
	}
	uint8_t *header = process.header;
	record_put_u32(header + TB_TBT_AT_RANK, rank->rank);
	record_put_u32(header + TB_TBT_AT_N_RANKS, rank->n_ranks);
	record_put_u32(header + TB_TBT_AT_MPI, rank->mpi);
	uint64_t now_ns = tb_now_ns();
	uint64_t begin_ns = rank->begin_ns ? rank->begin_ns : now_ns;
	record_put_u64(header + TB_TBT_AT_MONO_BEGIN, begin_ns);
	record_put_u64(header + TB_TBT_AT_REAL_BEGIN, real_ns() - (now_ns - begin_ns));
	read_boot(boot, rank->host);
	record_put_text(header + TB_TBT_AT_CLOCK, boot, 61);
	record_put_text(header + TB_TBT_AT_HOST, rank->host, 254);
	record_put_text(header + TB_TBT_AT_VERSION, rank->version, 254);
	record_put_u64(header + TB_TBT_AT_WORLD, rank->world);
	record_put_u32(header + TB_TBT_AT_ORIGIN, rank->origin);
	record_put_u32(header + TB_TBT_AT_RECORDS_ANY, 1);
	record_put_text(header + TB_TBT_AT_JOB, rank->job, 62);
	record_put_text(header + TB_TBT_AT_PARENT, rank->parent, 62);
	memcpy(header, TB_TBT_RANK_MAGIC, TB_TBT_MAGIC_BYTES);
	process.recording = true;
}

void tb_lanes_forget(void)
{
	const pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	if (has_file())
		close(process.fd);
	process.recording = false;
	process.lock = lock;
	process.fd = -1;
	process.n_bytes = 0;
	process.header = NULL;
	process.n_lanes = 0;
	process.idle = NULL;
	tb_lane_own = NULL;
	if (process.has_key)
		pthread_setspecific(process.key, NULL);
}

void tb_lanes_state(enum tb_tbt_state state)
{
	if (process.header)
		record_put_u32(process.header + TB_TBT_AT_STATE, state);
}

void tb_lanes_close(enum tb_tbt_state state)
{
	if (!process.recording)
		return;
	process.recording = false;
	record_put_u64(process.header + TB_TBT_AT_MONO_END, tb_now_ns());
	record_put_u64(process.header + TB_TBT_AT_REAL_END, real_ns());
	tb_lanes_state(state);
}

bool tb_lanes_threads(void)
{
	return process.threads;
}

struct tb_record_lane *tb_lane_take(void)
{
	if (!process.recording)
		return NULL;
	pthread_mutex_lock(&process.lock);
	struct tb_record_lane *lane = process.idle;
	if (lane)
		process.idle = lane->next;
	else if ((lane = mmap(NULL, sizeof *lane, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) == MAP_FAILED)
		lane = NULL;
	else {
		lane->number = process.n_lanes++;
		lane->last_ns = tb_now_ns();
	}
	pthread_mutex_unlock(&process.lock);
	if (lane)
		pthread_setspecific(process.key, lane);
	tb_lane_own = lane;
	return lane;
}

// begin_block gives the lane its next block, which counts from `now_ns` on.
static bool begin_block(struct tb_record_lane *lane, uint64_t now_ns)
{
	if (lane->block) {
		record_put_u32(lane->block + 12,
			(uint32_t)(lane->at - lane->block - TB_TBT_BLOCK_HEADER));
		munmap(lane->block, TB_TBT_BLOCK_BYTES);
	}
	pthread_mutex_lock(&process.lock);
	lane->block = process.recording ? map_more(TB_TBT_BLOCK_BYTES) : NULL;
	if (!lane->block && process.recording) {
		process.recording = false;
		record_put_u32(process.header + TB_TBT_AT_LOST, 1);
		complain(
			"tailback: the trace of a rank ends here: %s\n", strerror(errno));
	}
	pthread_mutex_unlock(&process.lock);
	lane->at = lane->end = NULL;
	if (!lane->block)
		return false;
	record_put_u32(lane->block + 4, lane->number);
	record_put_u32(lane->block + 8, lane->n_blocks++);
	record_put_u64(lane->block + TB_TBT_BLOCK_HEADER + 1, now_ns);
	lane->block[TB_TBT_BLOCK_HEADER] = TB_TBT_TIME;
	record_put_u32(lane->block, TB_TBT_BLOCK_MAGIC);
	lane->at = lane->block + TB_TBT_BLOCK_HEADER + 9;
	lane->end = lane->block + TB_TBT_BLOCK_BYTES;
	lane->last_ns = now_ns;
	return true;
}

static const uint8_t n_fields_of[TB_TBT_N_KINDS] = {
#define N_FIELDS(name, number, n_fields, has_list) [number] = n_fields,
	TB_TBT_KINDS(N_FIELDS)};
static const bool has_list[TB_TBT_N_KINDS] = {
#define HAS_LIST(name, number, n_fields, has) [number] = has,
	TB_TBT_KINDS(HAS_LIST)};

// record_append writes one record. Its kind comes last: a process that is killed
// meanwhile leaves a 0 there, which ends the block.
static void record_append(struct tb_record_lane *lane, const struct tb_traced_call *when,
	enum tb_tbt_kind kind, const uint64_t *fields, const uint64_t *list,
	size_t n_list)
{
	// A call is recorded when it ends, so the next block may begin only at its enter.
	size_t part = n_list < TB_TBT_LIST_PART ? n_list : TB_TBT_LIST_PART;
	size_t room = 1 + VARINT_MAX * (part + TB_TBT_FIELDS_MAX + 3);
	if ((size_t)(lane->end - lane->at) < room && !begin_block(lane, when->enter_ns))
		return;
	uint8_t *at = record_put_varint(lane->at + 1, when->enter_ns - lane->last_ns);
	at = record_put_varint(at, when->leave_ns - when->enter_ns);
	for (unsigned i = 0; i < n_fields_of[kind]; i++)
		at = record_put_varint(at, fields[i]);
	if (has_list[kind]) {
		at = record_put_varint(at, n_list);
		for (size_t i = 0; i < part; i++)
			at = record_put_varint(at, list[i]);
	}
	atomic_signal_fence(memory_order_release);
	*(volatile uint8_t *)lane->at = (uint8_t)kind;
	lane->at = at;
	lane->last_ns = when->leave_ns;
}

static void append_whole(struct tb_record_lane *lane, const struct tb_traced_call *when,
	enum tb_tbt_kind kind, const uint64_t *fields, const uint64_t *list,
	size_t n_list)
{
	record_append(lane, when, kind, fields, list, n_list);
	const struct tb_traced_call end = {lane, when->leave_ns, when->leave_ns};
	while (n_list > TB_TBT_LIST_PART) {
		list += TB_TBT_LIST_PART;
		n_list -= TB_TBT_LIST_PART;
		record_append(lane, &end, TB_TBT_MORE, NULL, list, n_list);
	}
}

static void flush_poll(struct tb_record_lane *lane)
{
	if (lane->poll_end_ns == 0)
		return;
	const struct tb_traced_call poll = {lane, lane->poll_begin_ns, lane->poll_end_ns};
	lane->poll_end_ns = 0;
	record_append(lane, &poll, TB_TBT_POLL, NULL, NULL, 0);
}

void tb_lane_record(const struct tb_traced_call *entry, enum tb_tbt_kind kind,
	const uint64_t *fields, const uint64_t *list, size_t n_list)
{
	flush_poll(entry->lane);
	append_whole(entry->lane, entry, kind, fields, list, n_list);
}

void tb_lane_define(struct tb_record_lane *lane, enum tb_tbt_kind kind,
	const uint64_t *fields, const uint64_t *list, size_t n_list)
{
	flush_poll(lane);
	// Definitions stand before the call in which they are made, at the end of the
	// last one, so that the call can still begin earlier than now.
	const struct tb_traced_call when = {lane, lane->last_ns, lane->last_ns};
	append_whole(lane, &when, kind, fields, list, n_list);
}

void tb_lane_poll(const struct tb_traced_call *entry)
{
	struct tb_record_lane *lane = entry->lane;
	if (lane->poll_end_ns != 0 && entry->enter_ns - lane->poll_end_ns > POLL_GAP_NS)
		flush_poll(lane);
	if (lane->poll_end_ns == 0)
		lane->poll_begin_ns = entry->enter_ns;
	lane->poll_end_ns = entry->leave_ns;
}

uint64_t *tb_lane_scratch(struct tb_record_lane *lane, size_t n)
{
	if (n <= lane->n_scratch)
		return lane->scratch;
	uint64_t *grown = realloc(lane->scratch, (n + 64) * sizeof *grown);
	if (!grown)
		return NULL;
	lane->scratch = grown;
	lane->n_scratch = n + 64;
	return grown;
}

// note_ending notes in the file by which signal, or by exit, the process seems to end.
// Safe in a signal handler; a forked child notes nothing.
static void note_ending(uint32_t ending)
{
	if (process.header && getpid() == process.pid)
		record_put_u32(process.header + TB_TBT_AT_ENDING, ending);
}

// Faults come again when the handler returns, and a handler that was there before (Open
// MPI's prints a backtrace) is kept for then. The others, which end processes by others'
// wish, are watched only where nothing else is done about them.
static const struct {
	int number;
	bool fault;
} watched[] = {{SIGSEGV, true}, {SIGBUS, true}, {SIGFPE, true}, {SIGILL, true},
	{SIGABRT, true}, {SIGSYS, true}, {SIGTERM, false}, {SIGINT, false},
	{SIGHUP, false}, {SIGQUIT, false}, {SIGXCPU, false}, {SIGXFSZ, false},
	{SIGPIPE, false}, {SIGALRM, false}, {SIGUSR1, false}, {SIGUSR2, false}};

enum { N_WATCHED = sizeof watched / sizeof *watched };

static struct sigaction before[N_WATCHED];
static atomic_bool watching;

// A signal that was sent would not come again by itself; it is blocked until the handler
// returns, so that it meets what was there before.
static void ending_on_signal(int number, siginfo_t *info, void *context)
{
	int kept = errno;
	(void)context;
	for (size_t i = 0; i < N_WATCHED; i++) {
		if (watched[i].number != number)
			continue;
		note_ending((uint32_t)number);
		sigaction(number, &before[i], NULL);
		if (info->si_code <= 0 || !watched[i].fault)
			raise(number);
	}
	errno = kept;
}

void tb_ending_watch(void)
{
	if (watching) // a forked child has its parent's handlers
		return;
	for (size_t i = 0; i < N_WATCHED; i++) {
		struct sigaction own = {.sa_sigaction = ending_on_signal,
			.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
		sigemptyset(&own.sa_mask);
		if (sigaction(watched[i].number, NULL, &before[i]) != 0)
			continue;
		bool is_default = !(before[i].sa_flags & SA_SIGINFO) &&
				  before[i].sa_handler == SIG_DFL;
		bool is_ignored = !(before[i].sa_flags & SA_SIGINFO) &&
				  before[i].sa_handler == SIG_IGN;
		if (is_default || (watched[i].fault && !is_ignored))
			sigaction(watched[i].number, &own, NULL);
	}
	watching = true;
}

// A process that exits runs this; one that a signal ends does not. A rank that came to
// MPI_Finalize has said so, which counts more.
static void __attribute__((destructor)) note_exit(void)
{
	if (watching)
		note_ending(TB_TBT_EXITED);
}
