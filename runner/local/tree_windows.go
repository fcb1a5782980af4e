package local

import (
	"errors"
	"os"
	"os/exec"
	"unsafe"

	"golang.org/x/sys/windows"
)

// tree is a tool with every process that it starts: a job object, which ends
// them when it is closed, so also when this process ends.
type tree struct{ job windows.Handle }

// prepare puts the tool into a process group of its own. So Ctrl-C interrupts only this program, which then ends the tool.
func (t *tree) prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &windows.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// start starts the tool and puts it into the job object. A process that the tool starts before that is not in the job.
func (t *tree) start(cmd *exec.Cmd) (err error) {
	if t.job, err = newJob(); err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return errors.Join(err, windows.CloseHandle(t.job))
	}
	var assigned error
	err = cmd.Process.WithHandle(func(h uintptr) { assigned = windows.AssignProcessToJobObject(t.job, windows.Handle(h)) })
	if err = errors.Join(err, assigned); err != nil {
		return errors.Join(err, cmd.Process.Kill(), cmd.Wait(), windows.CloseHandle(t.job))
	}
	return nil
}

// newJob returns a job object. The system ends its processes when the last handle of the job is closed.
func newJob() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, err
	}
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(
		job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)),
	)
	if err != nil {
		return 0, errors.Join(err, windows.CloseHandle(job))
	}
	return job, nil
}

// ask ends every process: Windows has no request that tools would follow.
func (t *tree) ask(*os.Process) error { return windows.TerminateJobObject(t.job, 1) }

// kill ends the remaining processes of the run, also after the tool itself has ended.
func (t *tree) kill(*os.Process) error {
	return errors.Join(windows.TerminateJobObject(t.job, 1), windows.CloseHandle(t.job))
}

func (t *tree) code(s *os.ProcessState) int { return s.ExitCode() }
