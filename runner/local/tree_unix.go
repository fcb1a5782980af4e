//go:build unix

package local

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// tree is a tool with every process that it starts: a process group.
type tree struct{}

func (tree) prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	follow(cmd.SysProcAttr)
}

func (tree) start(cmd *exec.Cmd) error { return cmd.Start() }

// ask tells every process to end.
func (tree) ask(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGTERM) }

// kill ends the remaining processes of the run, also after the tool itself has ended.
func (tree) kill(p *os.Process) error {
	if err := syscall.Kill(-p.Pid, syscall.SIGKILL); !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}

// code is the exit code as a shell has it.
func (tree) code(s *os.ProcessState) int {
	if status, ok := s.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return s.ExitCode()
}
