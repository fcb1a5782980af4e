package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"tilecheck/cluster/kubernetes/kubetest"
	"tilecheck/internal/build"
	"tilecheck/internal/needs"
)

var update = flag.Bool("update", false, "rewrite the expected output in testdata/script")

func TestMain(m *testing.M) {
	for name, value := range startQuickly() {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") { // bench and rerun start their own program; go test gives flags only
		os.Exit(runProcess(testBuild))
	}
	testscript.Main(withoutTools{m}, map[string]func(){
		"tilecheck":      func() { os.Exit(runProcess(testBuild)) },
		"kubectl-double": func() { os.Exit(kubetest.Double(os.Args[1:])) },
	})
}

// withoutTools runs the tests without the tools of the machine and its user: what there is
// does not decide what commands do that name no tool.
type withoutTools struct{ tests *testing.M }

func (w withoutTools) Run() int {
	restore, err := needs.HideTools()
	defer restore()
	if err != nil {
		panic(err)
	}
	return w.tests.Run()
}

// startQuickly returns the environment of the thousand programs that our tests start. A third of the time of a start is garbage collection.
func startQuickly() map[string]string { return map[string]string{"GOGC": "400"} }

// The program initialises the package quickstart before the package that would list all processes.
func TestQuickStart(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), ownProgram(t), "--version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	trace, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	quick := bytes.Index(trace, []byte("init tilecheck/internal/quickstart "))
	slow := bytes.Index(trace, []byte("init github.com/shirou/gopsutil/v4/process "))
	if quick < 0 || slow < quick {
		t.Errorf("quickstart is initialised at byte %d of the trace, gopsutil at byte %d", quick, slow)
	}
}

// ownProgram is the program under test, as testscript.Main has put it on the path: nothing has to be built for a test that kills it.
func ownProgram(t *testing.T) string {
	t.Helper()
	program, err := exec.LookPath("tilecheck")
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// testBuild is the build of a test, another one where the environment names it.
func testBuild() (string, error) {
	return build.Version + "+test" + os.Getenv("TILECHECK_TEST_BUILD"), nil
}

func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Setup: func(env *testscript.Env) error {
			for name, value := range startQuickly() {
				env.Setenv(name, value)
			}
			env.Setenv("DOCKER_HOST", needs.NoDocker)
			logs, err := filepath.Abs("../../testdata/logs") // of tools, for scripts in which a tool says what it said
			env.Setenv("LOGS", logs)
			return err
		},
		RequireExplicitExec: true,
		Condition: func(cond string) (bool, error) {
			if cond != "full" {
				return false, fmt.Errorf("there is no condition [%s], want [full]", cond)
			}
			return needs.IsFull(), nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exitcode": exitCode,
			"garbage":  garbage,
		},
	})
}

// exitCode runs `exitcode N command args…` and fails unless the exit code is N.
func exitCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exitcode N command [args...]")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if err != nil {
		exit, ok := err.(interface{ ExitCode() int })
		if !ok {
			ts.Fatalf("run %s: %v", args[1], err)
		}
		got = strconv.Itoa(exit.ExitCode())
	}
	if got != args[0] {
		ts.Fatalf("exit code %s, want %s", got, args[0])
	}
}

// garbage writes a file of so many megabytes of bytes that are no model.
func garbage(ts *testscript.TestScript, neg bool, args []string) {
	block := make([]byte, 1<<20)
	for i := range block {
		block[i] = byte(i*7 + i>>8)
	}
	f, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	defer f.Close()
	for range 100 {
		_, err := f.Write(block)
		ts.Check(err)
	}
}
