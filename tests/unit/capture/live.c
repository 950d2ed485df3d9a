// Packets from files and from an interface: the loopback interface of a network namespace
// of this test's own, so that nothing else passes there. Where the system refuses one,
// what needs an interface is skipped.
#include "live.h"

#include "../../capture_writer.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <pcap/dlt.h>

#define SECOND UINT64_C(1000000000)

static char path[] = "live_XXXXXX";
static struct capture capture;
static struct tb_live *live;
static struct tb_error error;
static bool has_network;

static int set_up(void **state)
{
	(void)state;
	live = NULL;
	error = (struct tb_error){0};
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	tb_live_free(live);
	return 0;
}

static int open_file(const char *filter)
{
	const struct tb_live_options options = {.filter = filter};
	capture_end(&capture, path);
	return tb_live_open_file(&live, path, &options, &error);
}

static void assert_next(uint64_t at_ns, uint32_t n_captured, uint32_t n_wire)
{
	struct tb_capture_packet packet;
	assert_int_equal(tb_live_next(live, &packet, &error), 1);
	assert_int_equal(packet.at_ns, at_ns);
	assert_int_equal(packet.n_captured, n_captured);
	assert_int_equal(packet.n_wire, n_wire);
}

static void packets_of_a_file_pass_the_filter(void **state)
{
	(void)state;
	struct tb_capture_packet packet;
	struct tb_capture_counts counts;
	char text[96];
	capture_begin(&capture, DLT_EN10MB);
	capture_tcp(&capture, 5 * SECOND + 7, 1, 2, 1, 500, 1000);
	capture_udp(&capture, 6 * SECOND, 1, 2, 18);
	capture_tcp(&capture, 3000000000 * SECOND + 999999999, 1, 2, 1, 500, 4);
	assert_int_equal(open_file("tcp"), TB_OK);
	assert_next(5 * SECOND + 7, 66, 1066);
	assert_next(3000000000 * SECOND + 999999999, 66, 70); // in the year 2065
	assert_int_equal(tb_live_next(live, &packet, &error), 0);
	tb_live_counts(live, &counts);
	assert_int_equal(counts.captured, 2);
	assert_int_equal(counts.received, 2);
	assert_int_equal(counts.dropped, 0);
	assert_int_equal(tb_live_link_type(live), 1);
	assert_int_equal(tb_live_snap_bytes(live), 262144);
	assert_string_equal(
		tb_live_link_type_text(live, text, sizeof text), "EN10MB (Ethernet)");
	assert_string_equal(tb_live_interface(live), "");
	assert_null(tb_live_warning(live));
}

// Types of links have other numbers in files than in libpcap.
static void links_have_the_types_of_files(void **state)
{
	(void)state;
	capture_begin(&capture, 101); // raw IP, 12 in libpcap
	assert_int_equal(open_file(NULL), TB_OK);
	assert_int_equal(tb_live_link_type(live), 101);
}

static void broken_files_are_refused(void **state)
{
	(void)state;
	struct tb_capture_packet packet;
	capture_begin(&capture, DLT_EN10MB);
	capture_tcp(&capture, SECOND, 1, 2, 1, 500, 1000);
	assert_int_equal(open_file("tcp and and"), TB_EUSAGE);
	assert_non_null(strstr(error.text, "filter 'tcp and and': "));
	capture.n -= 3;
	assert_int_equal(open_file(NULL), TB_OK);
	assert_int_equal(tb_live_next(live, &packet, &error), TB_EFORMAT);
	assert_string_equal(error.file, path);
	tb_live_free(live);
	live = NULL;
	capture.n = 20;
	assert_int_equal(open_file(NULL), TB_EFOREIGN);
	assert_non_null(strstr(error.text, "is not a readable capture: "));
	assert_int_equal(tb_live_open_file(&live, "no/such.pcap",
				 &(struct tb_live_options){0}, &error),
		TB_EIO);
}

// pcapng with an offset of -2 s.
static void dates_before_1970_are_refused(void **state)
{
	(void)state;
	static const uint32_t words[] = {0x0a0d0d0a, 28, 0x1a2b3c4d, 1, UINT32_MAX,
		UINT32_MAX, 28, 1, 40, 1, 0, 14 | 8 << 16, 0xfffffffe, UINT32_MAX, 0, 0,
		40, 6, 32, 0, 0, 1999999, 0, 0, 32};
	struct tb_capture_packet packet;
	FILE *file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(words, 1, sizeof words, file), sizeof words);
	fclose(file);
	assert_int_equal(
		tb_live_open_file(&live, path, &(struct tb_live_options){0}, &error),
		TB_OK);
	assert_int_equal(tb_live_next(live, &packet, &error), TB_EFORMAT);
	assert_string_equal(
		error.text, "a packet is dated before 1970: expected a date since then");
}

static void need_network(void)
{
	if (has_network)
		return;
	print_message("skipped: the system refuses a network namespace\n");
	skip();
}

static void open_loopback(const struct tb_live_options *options)
{
	if (tb_live_open(&live, "lo", options, &error) != TB_OK)
		fail_msg("%s", error.text);
}

// say sends `n` datagrams of 10, 11, 12 bytes and so on to `port` on this machine.
static void say(uint16_t port, size_t n)
{
	static const char text[64];
	const struct sockaddr_in to = {.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	assert_true(fd >= 0);
	for (size_t i = 0; i < n; i++)
		(void)sendto(
			fd, text, 10 + i, 0, (const struct sockaddr *)&to, sizeof to);
	close(fd);
}

static int next_packet(struct tb_capture_packet *packet)
{
	int status = TB_LIVE_IDLE;
	while (status == TB_LIVE_IDLE)
		status = tb_live_next(live, packet, &error);
	return status;
}

static void packets_of_an_interface_are_captured(void **state)
{
	(void)state;
	struct tb_capture_packet packet;
	struct tb_capture_counts counts;
	struct timespec now;
	need_network();
	open_loopback(&(struct tb_live_options){
		.filter = "udp port 4321", .snap_bytes = 48, .immediate = true});
	assert_string_equal(tb_live_interface(live), "lo");
	assert_null(tb_live_warning(live));
	assert_int_equal(tb_live_snap_bytes(live), 48);
	assert_int_equal(tb_live_link_type(live), 1);
	clock_gettime(CLOCK_REALTIME, &now);
	uint64_t before = (uint64_t)now.tv_sec * SECOND;
	say(1234, 2); // not for the filter
	say(4321, 10);
	for (uint32_t i = 0; i < 10; i++) {
		assert_int_equal(next_packet(&packet), 1);
		assert_int_equal(packet.n_wire, 14 + 20 + 8 + 10 + i);
		assert_int_equal(packet.n_captured, 48);
		assert_true(packet.at_ns >= before);
		assert_true(packet.at_ns < before + 3600 * SECOND);
	}
	assert_int_equal(tb_live_next(live, &packet, &error), TB_LIVE_IDLE);
	tb_live_counts(live, &counts);
	assert_int_equal(counts.captured, 10);
	assert_true(counts.received >= 10); // some kernels count both ways
	assert_int_equal(counts.dropped, 0);
}

static void all_interfaces_are_captured_at_once(void **state)
{
	(void)state;
	struct tb_capture_packet packet;
	need_network();
	if (tb_live_open(&live, "any",
		    &(struct tb_live_options){.filter = "udp", .immediate = true},
		    &error) != TB_OK)
		fail_msg("%s", error.text);
	assert_int_equal(tb_live_link_type(live), 276); // cooked, the second header
	say(4321, 1);
	assert_int_equal(next_packet(&packet), 1);
	assert_int_equal(packet.n_wire, 20 + 20 + 8 + 10);
}

static void interfaces_are_listed_and_numbered(void **state)
{
	(void)state;
	struct tb_live_interface *list = NULL;
	size_t n = 0, lo = 0;
	char number[16];
	need_network();
	assert_int_equal(tb_live_list(&list, &n, &error), TB_OK);
	while (lo < n && strcmp(list[lo].name, "lo") != 0)
		lo++;
	assert_true(lo < n);
	assert_true(list[lo].loopback);
	assert_true(list[lo].up);
	assert_true(list[lo].running);
	assert_false(list[lo].wireless);
	tb_live_list_free(list, n);
	snprintf(number, sizeof number, "%zu", lo + 1);
	assert_int_equal(
		tb_live_open(&live, number, &(struct tb_live_options){0}, &error), TB_OK);
	assert_string_equal(tb_live_interface(live), "lo");
	tb_live_free(live);
	live = NULL;
	snprintf(number, sizeof number, "%zu", n + 1);
	assert_int_equal(
		tb_live_open(&live, number, &(struct tb_live_options){0}, &error),
		TB_EUSAGE);
	assert_string_equal(
		error.text, "there is no such interface; -D lists the interfaces");
}

// enter_network makes a network namespace, with its loopback interface up.
static bool enter_network(void)
{
	struct ifreq request = {.ifr_name = "lo"};
	if (unshare(CLONE_NEWNET) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
		return false;
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	request.ifr_flags = IFF_UP | IFF_RUNNING | IFF_LOOPBACK;
	bool up = fd >= 0 && ioctl(fd, SIOCSIFFLAGS, &request) == 0;
	if (fd >= 0)
		close(fd);
	return up;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(packets_of_a_file_pass_the_filter),
		TEST(links_have_the_types_of_files),
		TEST(broken_files_are_refused),
		TEST(dates_before_1970_are_refused),
		TEST(packets_of_an_interface_are_captured),
		TEST(all_interfaces_are_captured_at_once),
		TEST(interfaces_are_listed_and_numbered),
	};
	close(mkstemp(path));
	has_network = enter_network();
	int n_failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return n_failed;
}
