package attack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// command asks the program: with bounds, fractions or proofs, and about files that it exported.
func (a *attack) command(i *instance) {
	dir, isExported := a.TempDir(), false
	model, props := filepath.Join(dir, i.file), filepath.Join(dir, "m.props")
	var text bytes.Buffer
	for _, q := range i.questions {
		fmt.Fprintln(&text, q.text+";")
	}
	if err := os.WriteFile(model, []byte(i.text), 0o600); err != nil {
		a.Fatal(err)
	}
	if err := os.WriteFile(props, text.Bytes(), 0o600); err != nil {
		a.Fatal(err)
	}
	if i.kind != "ma" && i.kind != "pta" && i.kind != "pomdp" && a.one(2) {
		exported := filepath.Join(dir, "out."+pick(a.maker, "all", "umb"))
		if out, err := exec.CommandContext(a.Context(), a.program, "export", model, "--exact", "-o", exported).CombinedOutput(); err != nil {
			a.alarm(i, "", "export: %v\n%s", err, out)
			return
		}
		model, isExported = exported, true
	}
	args := []string{"check", model, props, "--format", "json"}
	if i.dialect == syntax.Storm {
		args = append(args, "--dialect", "storm")
	}
	if a.one(3) {
		args = append(args, pick(a.maker, "--exact", "--certify"))
	}
	a.judgeJSON(i, args, isExported)
}

// judgeJSON runs a command and judges the answers in its JSON. Comparisons with numbers that are values are undecided for files of states, which are
// read without fractions.
func (a *attack) judgeJSON(i *instance, args []string, areStates bool) {
	var stderr bytes.Buffer
	run := exec.CommandContext(a.Context(), a.program, args...)
	run.Stderr = &stderr
	out, _ := run.Output() // the status says that a property was refused
	var report struct{ Results []result.Record }
	if err := json.Unmarshal(out, &report); err != nil || len(report.Results) != len(i.questions) {
		a.alarm(i, "", "%q: %v\n%s%s", args, err, out, stderr.Bytes())
		return
	}
	for k := range report.Results {
		q := &i.questions[k]
		verdict, err := report.Results[k].Verdict()
		if err != nil {
			a.alarm(i, q.text, "%q: %v", args, err)
			continue
		}
		if failure := verdict.Err; failure != nil {
			isUndecided := areStates && failure.Class == result.NonConverge
			if failure.Class != result.Unsupported && !isUndecided {
				a.alarm(i, q.text, "%q: %v", args, failure)
			}
			a.refused(i, q.text, failure.Message)
			continue
		}
		if wrong := q.want.contradicts(verdict, &runner.Job{}); wrong != "" {
			a.alarm(i, q.text, "%q: %s, want %v", args, wrong, q.want)
			continue
		}
		a.answers[[2]string{i.kind, a.mode}]++
	}
}

// buildProgram compiles the program for the mode that runs it, if the test runs for long enough.
func (a *attack) buildProgram() {
	if *durationFlag == 0 && *numberFlag < 0 || *modeFlag != "" && !isListed(*modeFlag, "command") {
		return
	}
	a.program = filepath.Join(a.TempDir(), "tilecheck")
	if out, err := exec.CommandContext(a.Context(), "go", "build", "-o", a.program, "tilecheck/cmd/tilecheck").CombinedOutput(); err != nil {
		a.Fatalf("%v\n%s", err, out)
	}
}
