// Which neighbours of LLDP are cables of the fabric, and which are of management.
#include "../../support/fabric_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define TEXT_MOST 32768

struct text {
	char text[TEXT_MOST];
	size_t n;
};

static void begin(struct text *to, const char *device)
{
	to->n += (size_t)snprintf(to->text + to->n, TEXT_MOST - to->n,
		"# %s\n{\"lldp\": {\"interface\": [", device);
}

// neighbour adds one that is a bridge, or a station where its name begins with n.
static void neighbour(struct text *to, const char *port, const char *peer,
	const char *peer_port, const char *mau)
{
	to->n += (size_t)snprintf(to->text + to->n, TEXT_MOST - to->n,
		"%s{\"%s\": {\"chassis\": {\"%s\": {\"capability\": {\"type\": \"%s\", "
		"\"enabled\": true}}}, \"port\": {\"id\": {\"type\": \"ifname\", "
		"\"value\": \"%s\"}, \"auto-negotiation\": {\"current\": \"%s\"}}}}",
		to->text[to->n - 1] == '[' ? "" : ", ", port, peer,
		*peer == 'n' ? "Station" : "Bridge", peer_port, mau);
}

static void end(struct text *to)
{
	to->n += (size_t)snprintf(to->text + to->n, TEXT_MOST - to->n, "]}}\n");
}

#define FAST "100GbaseCR4"
#define SLOW "1000BaseTFD"

// leaf adds a leaf with two hosts and a spine.
static void leaf(struct text *to, int number)
{
	char name[24], port[24], host[24];
	snprintf(name, sizeof name, "leaf%d", number);
	begin(to, name);
	for (int i = 1; i <= 2; i++) {
		snprintf(port, sizeof port, "swp%d", i);
		snprintf(host, sizeof host, "n%d", 2 * number + i);
		neighbour(to, port, host, "enp1s0", FAST);
	}
	snprintf(port, sizeof port, "swp%d", number + 1);
	neighbour(to, "swp49", "spine", port, FAST);
}

static struct tb_network *check(const struct text *text, bool has_management)
{
	struct tb_network *net = fabric_of(text->text, ",preset=roce-100");
	bool is_said = false;
	for (uint32_t i = 0; i < tb_network_n_remarks(net); i++)
		is_said |= strstr(tb_network_remark(net, i), "management port") != NULL;
	assert_int_equal(is_said, has_management);
	return net;
}

static void ports_with_names_of_management_are_set_aside(void **state)
{
	static const char *const names[] = {"mgmt0", "Management1", "eth0", "fxp0"};
	(void)state;
	for (size_t k = 0; k < 4; k++) {
		struct text text = {.n = 0};
		for (int i = 0; i < 2; i++) {
			char port[24];
			snprintf(port, sizeof port, "ge%d", i);
			leaf(&text, i);
			neighbour(&text, names[k], "oob-sw.example.org", port, "");
			end(&text);
		}
		struct tb_network *net = check(&text, true);
		assert_int_equal(tb_network_n_hosts(net), 4);
		assert_int_equal(tb_network_n_switches(net), 3);
		assert_int_equal(tb_network_n_levels(net), 2);
		tb_network_free(net);
	}
}

static void slow_ports_to_a_switch_of_their_own_are_set_aside(void **state)
{
	(void)state;
	// The second time the switch has a fast cable up.
	for (int up = 0; up < 2; up++) {
		struct text text = {.n = 0};
		for (int i = 0; i < 2; i++) {
			leaf(&text, i);
			neighbour(&text, "aux", "basement", i ? "p1" : "p0", SLOW);
			end(&text);
		}
		begin(&text, "n1");
		neighbour(&text, "eno1", "basement", "p7", SLOW);
		neighbour(&text, "enp1s0", "leaf0", "swp1", FAST);
		end(&text);
		if (up) {
			begin(&text, "basement");
			neighbour(&text, "up1", "core", "x1", "10GbaseSR");
			end(&text);
		}
		struct tb_network *net = check(&text, true);
		assert_int_equal(tb_network_n_hosts(net), 4);
		// That cable is a part without hosts.
		assert_int_equal(tb_network_n_switches(net), 3);
		tb_network_free(net);
	}
}

static void slow_hosts_and_hosts_by_eth0_are_of_the_fabric(void **state)
{
	static const char *const ports[] = {"eno1", "eth0"};
	(void)state;
	for (int k = 0; k < 2; k++) {
		struct text text = {.n = 0};
		for (int i = 0; i < 2; i++) {
			begin(&text, i ? "access1" : "access0");
			neighbour(&text, "g1", i ? "n3" : "n1", ports[k], SLOW);
			neighbour(&text, "g2", i ? "n4" : "n2", ports[k], SLOW);
			neighbour(&text, "x1", "core", i ? "t2" : "t1", "10GbaseSR");
			end(&text);
		}
		struct tb_network *net = check(&text, false);
		assert_int_equal(tb_network_n_hosts(net), 4);
		assert_int_equal(tb_network_n_switches(net), 3);
		tb_network_free(net);
	}
	// A plug that loops back to its own port is no cable.
	struct text loop = {.n = 0};
	begin(&loop, "leaf");
	neighbour(&loop, "g1", "n1", "eno1", "10GbaseSR");
	neighbour(&loop, "g2", "n2", "eno1", "10GbaseSR");
	neighbour(&loop, "g3", "leaf", "g3", "10GbaseSR");
	end(&loop);
	tb_network_free(check(&loop, false));
	// Nothing would be left.
	struct text text = {.n = 0};
	begin(&text, "lab");
	neighbour(&text, "mgmt0", "n1", "eth0", SLOW);
	neighbour(&text, "mgmt1", "n2", "eth0", SLOW);
	end(&text);
	tb_network_free(check(&text, false));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ports_with_names_of_management_are_set_aside),
		cmocka_unit_test(slow_ports_to_a_switch_of_their_own_are_set_aside),
		cmocka_unit_test(slow_hosts_and_hosts_by_eth0_are_of_the_fabric),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
