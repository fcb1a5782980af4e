#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/resource.h>
#include <unistd.h>

// The least limit of addresses. A little less is enough for two processors, but each processor has threads of its own.
static const rlim_t least_addresses = 1500000ull << 10;

// The stack of a thread that the Go runtime starts. Goroutines do not run on it; the C library's name resolver does.
static const size_t stack_size = 1 << 20;

// check_addresses ends the program if the limit of addresses is too low. Under any limit it makes the C library reserve
// few addresses: by default it takes 8 MB for the stack and up to 128 MB for the heap of each thread.
__attribute__((constructor)) static void check_addresses(void) {
	static const char message[] = "tilecheck: memory limit reached: ulimit -v is below 1500000 (KB), which the Go runtime needs to start\n";
	struct rlimit limit;
	if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
		return;
	if (limit.rlim_cur < least_addresses) {
		ssize_t written = write(STDERR_FILENO, message, sizeof message - 1);
		(void)written; // a closed standard error changes nothing
		_exit(4);
	}
#ifdef __GLIBC__
	mallopt(M_ARENA_MAX, 1);
#endif
	pthread_attr_t attributes;
	if (pthread_attr_init(&attributes) != 0)
		return;
	if (pthread_attr_setstacksize(&attributes, stack_size) == 0)
		pthread_setattr_default_np(&attributes);
	pthread_attr_destroy(&attributes);
}
