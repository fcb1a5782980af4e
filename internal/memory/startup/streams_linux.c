#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

// open_streams opens /dev/null in place of each closed standard stream. The Go runtime would do the same, but for reading and writing: then results
// would be lost without an error. Here standard output can only be read, so writing to it fails.
__attribute__((constructor)) static void open_streams(void) {
	static const int flags[] = {O_RDONLY, O_RDONLY, O_WRONLY};
	for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
		if (fcntl(stream, F_GETFD) == -1 && errno == EBADF && open("/dev/null", flags[stream]) == -1) // open returns the least free descriptor: the stream
			return;
}
