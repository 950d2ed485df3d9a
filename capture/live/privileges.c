#include "privileges.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

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
