package attack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"

	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// record is an answer in the JSON of the command.
type record struct {
	Property     string
	Value        any
	Lower, Upper any
	Fraction     string
	Error        *struct{ Class, Message string }
}

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
	var report struct{ Results []record }
	if err := json.Unmarshal(out, &report); err != nil || len(report.Results) != len(i.questions) {
		a.alarm(i, "", "%q: %v\n%s%s", args, err, out, stderr.Bytes())
		return
	}
	for k, answer := range report.Results {
		q := &i.questions[k]
		if answer.Error != nil {
			isUndecided := areStates && answer.Error.Class == string(result.NonConverge)
			if answer.Error.Class != string(result.Unsupported) && !isUndecided {
				a.alarm(i, q.text, "%q: %v", args, *answer.Error)
			}
			a.refused(i, q.text, answer.Error.Message)
			continue
		}
		if wrong := q.want.contradictsRecord(&answer); wrong != "" {
			a.alarm(i, q.text, "%q: %s, want %v", args, wrong, q.want)
			continue
		}
		a.answers[[2]string{i.kind, a.mode}]++
	}
}

// contradictsRecord says what is wrong in an answer; empty for nothing.
func (want *answer) contradictsRecord(answer *record) string {
	wrong := fmt.Sprintf("found %v %v [%v, %v]", answer.Value, answer.Fraction, answer.Lower, answer.Upper)
	if want.isBool {
		if answer.Value != want.truth {
			return wrong
		}
		return ""
	}
	low, high := numberOf(answer.Lower), numberOf(answer.Upper)
	if x, ok := new(big.Rat).SetString(answer.Fraction); ok {
		low, high = x, x
	}
	value := fmt.Sprint(answer.Value)
	switch {
	case want.infinite && value != "+Inf" && value != "Infinity" && value != "inf":
		return wrong
	case want.infinite:
		return ""
	case low == nil && high == nil: // a whole number without bounds
		low, high = numberOf(answer.Value), numberOf(answer.Value)
	}
	if low == nil || high == nil || low.Cmp(want.upper) > 0 || high.Cmp(want.lower) < 0 {
		return wrong
	}
	return ""
}

// numberOf returns a number of JSON as the float64 that it stands for; nil if it is none.
func numberOf(x any) *big.Rat {
	if number, ok := x.(float64); ok {
		return new(big.Rat).SetFloat64(number)
	}
	return nil
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
