package local

import "syscall"

// follow has a process end with the thread that starts it, and so with this
// process, also when that is killed. What the process has started itself is left.
func follow(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
