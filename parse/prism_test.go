package parse_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/parse"
	"tilecheck/result"
)

// TestPRISM reads a running PRISM through its pipes. The probability to gain 4
// before losing 1 at odds 0.6 to 0.4 from 1 is (1-2/3)/(1-(2/3)^4) = 27/65.
func TestPRISM(t *testing.T) {
	bin := needs.PRISM(t)
	dir := t.TempDir()
	model := "dtmc\nmodule M\ns:[0..4] init 1;\n[] s>0&s<4 -> 0.4:(s'=s-1)+0.6:(s'=s+1);\n[] s=0|s=4 -> true;\nendmodule\n"
	if err := os.WriteFile(filepath.Join(dir, "m.prism"), []byte(model), 0o644); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) *parse.Log {
		cmd := exec.Command(bin, append([]string{"m.prism"}, args...)...)
		p := parse.NewPRISM(parse.Options{})
		cmd.Dir, cmd.Stdout, cmd.Stderr = dir, p, p.Stderr()
		err := cmd.Run()
		if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		log := p.Finish(parse.End{Known: true, Code: cmd.ProcessState.ExitCode()})
		checkLog(t, log)
		return log
	}
	exact := run("-exact", "-pf", `"win": P=? [ F s=4 ]; P=? [ F<=3 s=4 ]`)
	if v := exact.Verdicts(); len(v) != 2 || v[0].Name != "win" || v[0].Value.Rat == nil || v[0].Value.Rat.RatString() != "27/65" || v[0].States != 5 {
		t.Errorf("exact: %+v", v)
	} else if v[1].Err == nil || v[1].Err.Class != result.Unsupported {
		t.Errorf("exact, bounded: %+v", v[1])
	}
	sim := run("-sim", "-simsamples", "500", "-pf", "const int k; P=? [ F<=k s=4 ]", "-const", "k=2:3")
	if v := sim.Verdicts(); len(v) != 2 || showConstants(v[0].Constants...) != "k=2" || v[0].Value.Num != 0 || v[1].Samples != 500 || v[1].Method != "ci" {
		t.Errorf("simulation: %+v", v)
	}
	if bad := run("-pf", "P=? [ F z=1 ]"); bad.Err == nil || bad.Err.Class != result.TypeError {
		t.Errorf("undeclared: %v", bad.Err)
	}
}
