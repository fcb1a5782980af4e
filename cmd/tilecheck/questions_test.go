package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tilecheck/internal/needs"
)

const questionsPage = "../../docs/questions.md"

// questionModels are models of each kind, in which every question of the table that fits the kind has a value.
var questionModels = map[string]string{
	"DTMC":  "dtmc module m s:[0..3]; [a] s=0 -> 1/4:(s'=0) + 1/4:(s'=1) + 1/2:(s'=2); [b] s=1 -> 1/3:(s'=3) + 2/3:(s'=2); [] s>1 -> true; endmodule " + questionRewards,
	"CTMC":  "ctmc module m s:[0..3]; [a] s=0 -> 1:(s'=1) + 2:(s'=2); [b] s=1 -> 3:(s'=3) + 1:(s'=2); [] s=2 -> (s'=0); [] s=3 -> true; endmodule " + questionRewards,
	"MDP":   "mdp module m s:[0..3]; [a] s=0 -> 1/4:(s'=1) + 3/4:(s'=2); [c] s=0 -> 1/2:(s'=1) + 1/2:(s'=2); [b] s=1 -> 1/3:(s'=3) + 2/3:(s'=2); [] s>1 -> true; endmodule " + questionRewards,
	"POMDP": "pomdp observables s endobservables module m s:[0..3]; [a] s=0 -> 1/4:(s'=1) + 3/4:(s'=2); [c] s=0 -> 1/2:(s'=1) + 1/2:(s'=2); [b] s=1 -> 1/3:(s'=3) + 2/3:(s'=2); [b] s>1 -> true; endmodule " + questionRewards,
	"SMG":   "smg player one m, [a], [c], [b] endplayer player two n endplayer module n t:bool; endmodule module m s:[0..3]; [a] s=0 -> 1/4:(s'=1) + 3/4:(s'=2); [c] s=0 -> 1/2:(s'=1) + 1/2:(s'=2); [b] s=1 -> 1/3:(s'=3) + 2/3:(s'=2); [b] s>1 -> true; endmodule " + questionRewards,
	"IMDP":  "mdp module m s:[0..3]; [a] s=0 -> [0.2,0.3]:(s'=1) + [0.7,0.8]:(s'=2); [c] s=0 -> 1/2:(s'=1) + 1/2:(s'=2); [b] s=1 -> 1/3:(s'=3) + 2/3:(s'=2); [] s>1 -> true; endmodule " + questionRewards,
}

const questionRewards = "rewards \"r\" [a] true : 1; [b] s=1 : 2; endrewards"

// questions are the rows of the table. MIN and MAX in a property stand for nothing in Markov chains.
var questions = []struct{ kind, property, models, prism, storm string }{
	{"reachability", "PMAX=? [ F s=3 ]", "DTMC CTMC MDP POMDP SMG IMDP", "DTMC CTMC MDP POMDP IMDP", "DTMC CTMC MDP POMDP IMDP"},
	{"step bound", "PMAX=? [ F<=2 s=3 ]", "DTMC MDP POMDP SMG IMDP", "DTMC MDP IMDP", "DTMC MDP"},
	{"time bound", "P=? [ F<=1.5 s=3 ]", "CTMC", "CTMC", "CTMC"},
	{"threshold", "P>=0.05 [ F s=3 ]", "DTMC CTMC MDP POMDP SMG IMDP", "DTMC CTMC MDP POMDP IMDP", "DTMC CTMC MDP; IMDP unknown"},
	{"LTL", "PMAX=? [ G F s=3 ]", "DTMC CTMC MDP SMG IMDP", "DTMC CTMC MDP IMDP", "DTMC CTMC MDP"},
	{"reward until", "RMAX=? [ F s>1 ]", "DTMC CTMC MDP POMDP SMG IMDP", "DTMC CTMC MDP POMDP IMDP", "DTMC CTMC MDP POMDP IMDP"},
	{"total reward", "RMAX=? [ C ]", "DTMC CTMC MDP SMG", "DTMC CTMC MDP", "DTMC CTMC MDP"},
	{"cumulative reward", "RMAX=? [ C<=2 ]", "DTMC CTMC MDP POMDP SMG IMDP", "DTMC CTMC MDP", "DTMC CTMC MDP"},
	{"long-run average", "SMAX=? [ s=3 ]", "DTMC CTMC MDP", "DTMC CTMC", "DTMC CTMC MDP"},
	{"long-run average reward", "RMAX=? [ S ]", "DTMC CTMC MDP SMG", "DTMC CTMC", "DTMC CTMC MDP"},
	{"discounted reward", "RMAX=? [ Cdiscount=0.9 ]", "DTMC MDP", "", "DTMC MDP"},
	{"condition", "PMAX=? [ F s=3 || F s=1 ]", "DTMC CTMC MDP", "", "DTMC MDP"},
	{"condition, LTL", "PMAX=? [ G F s=3 || X s=1 ]", "DTMC CTMC MDP", "", ""},
	{"conditional reward", "RMAX=? [ F s>1 || F s=1 ]", "DTMC CTMC MDP", "", "DTMC"},
	{"reward bound", "PMAX=? [ F{\"r\"}<=2 s=3 ]", "DTMC MDP", "", "DTMC MDP"},
	{"reward within a reward bound", "RMAX=? [ C{\"r\"}<=2 ]", "DTMC MDP", "", "DTMC MDP"},
	{"quantile", "quantile(B, PMAX>=0.05 [ F{\"r\"}<=B s=3 ])", "DTMC MDP", "", "DTMC MDP"},
	{"multi-objective", "multi(Pmax=? [ F s=3 ], P>=0.1 [ F s=2 ])", "MDP", "MDP", "MDP"},
	{"lexicographic", "multilex(Pmax=? [ F s=3 ], Pmax=? [ F s=2 ])", "MDP", "", "MDP"},
}

// questionModes are the columns of the table: the flags of a mode, and a text in the answer that shows that it was answered so.
var questionModes = []struct {
	name, shows string
	flags       []string
}{
	{"bounds", `"accuracy": "`, nil},
	{"fractions", `"accuracy": "exact"`, []string{"--exact"}},
	{"certificate", `"accuracy": "proven"`, []string{"--certify"}},
	{"sampling", `"samples": `, []string{"--method", "ci", "--samples", "100", "--seed", "1"}},
	{"scheduler", `"value"`, []string{"--export-scheduler"}},
}

// TestQuestions compares the table of docs/questions.md with what the program answers. -update writes it.
func TestQuestions(t *testing.T) {
	needs.Full(t)
	table := questionTable(t)
	page, err := os.ReadFile(questionsPage)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(page), "<!-- table -->\n")
	_, after, found := strings.Cut(rest, "<!-- end of the table -->\n")
	if !found {
		t.Fatal("docs/questions.md has no marks around its table")
	}
	want := before + "<!-- table -->\n" + table + "<!-- end of the table -->\n" + after
	switch {
	case *update:
		if err := os.WriteFile(questionsPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	case string(page) != want:
		t.Errorf("docs/questions.md is out of date (go test -run TestQuestions -update with TILECHECK_FULL=1); want\n%s", table)
	}
}

// TestReportedModels wants a model in the scripts for each file name in the last column of the tables of reports.
func TestReportedModels(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(questionsPage)
	if err != nil {
		t.Fatal(err)
	}
	var scripts []byte
	for _, name := range []string{"reported", "public_models"} {
		script, err := os.ReadFile("testdata/script/" + name + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		scripts = append(scripts, script...)
	}
	_, tables, _ := strings.Cut(string(page), "\n| report |")
	numModels := 0
	for line := range strings.Lines(tables) {
		cells := strings.Split(line, " | ")
		for i, name := range strings.Split(cells[len(cells)-1], "`") {
			if isQuoted := i%2 == 1; !isQuoted || !strings.Contains(name, ".") {
				continue
			}
			numModels++
			if !strings.Contains(string(scripts), "\n-- "+name+" --\n") {
				t.Errorf("no script has the model %s", name)
			}
		}
	}
	if numModels < 31 {
		t.Errorf("found %d models in the tables, want one for each of 31 rows at least", numModels)
	}
}

// questionTable asks every question of every model in every mode.
func questionTable(t *testing.T) string {
	var table strings.Builder
	table.WriteString("| question | property |")
	for _, mode := range questionModes {
		table.WriteString(" " + mode.name + " |")
	}
	table.WriteString(" PRISM 4.10 | Storm 1.14 |\n" + strings.Repeat("|---", len(questionModes)+4) + "|\n")
	dir := writeQuestionModels(t)
	for _, question := range questions {
		shown := strings.NewReplacer("MAX", "", "|", `\|`).Replace(question.property)
		fmt.Fprintf(&table, "| %s | `%s` |", question.kind, shown)
		for _, mode := range questionModes {
			var answered []string
			for model := range strings.FieldsSeq(question.models) {
				if isAnswered(t, dir, model, question.property, mode.shows, mode.flags) {
					answered = append(answered, model)
				}
			}
			fmt.Fprintf(&table, " %s |", strings.Join(answered, " "))
		}
		fmt.Fprintf(&table, " %s | %s |\n", question.prism, question.storm)
	}
	return table.String()
}

// isAnswered reports whether a property of a model is answered in a mode.
func isAnswered(t *testing.T, dir, model, property, shows string, flags []string) bool {
	args := append([]string{"check", filepath.Join(dir, model+".prism"), "--dialect", "storm", "--format", "json", "--prop", propertyFor(model, property)}, flags...)
	if len(flags) == 1 && flags[0] == "--export-scheduler" {
		args = append(args, filepath.Join(dir, "scheduler.json"))
	}
	code, out, _ := tilecheck(t.Context(), args...)
	return code == 0 && strings.Contains(out, shows)
}

// writeQuestionModels writes each model of questionModels to a new directory: that of a DTMC to DTMC.prism, and so on.
func writeQuestionModels(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, model := range questionModels {
		if err := os.WriteFile(filepath.Join(dir, name+".prism"), []byte(model), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// propertyFor returns the property of a question as it is asked of a kind of model.
func propertyFor(model, property string) string {
	switch model {
	case "DTMC", "CTMC":
		return strings.ReplaceAll(property, "MAX", "")
	case "SMG":
		return "<<one>> " + strings.ReplaceAll(property, "MAX", "max")
	}
	return strings.ReplaceAll(property, "MAX", "max")
}

// TestQuestionsOfPRISM compares the column of PRISM with what a real PRISM answers.
func TestQuestionsOfPRISM(t *testing.T) {
	prism := needs.PRISM(t)
	dir := writeQuestionModels(t)
	for _, question := range questions {
		var answered []string
		for model := range strings.FieldsSeq(question.models) {
			out, _ := exec.CommandContext(t.Context(), prism, filepath.Join(dir, model+".prism"), "-pf", propertyFor(model, question.property)).CombinedOutput()
			if strings.Contains(string(out), "\nResult: ") {
				answered = append(answered, model)
			}
		}
		if got := strings.Join(answered, " "); got != question.prism {
			t.Errorf("%s: PRISM answers %q, want %q", question.kind, got, question.prism)
		}
	}
}
