package check_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tilecheck/native/space/explicit"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// countsDiffer says for which transcripts we have no state space, or one of
// another size, and why.
var countsDiffer = map[string]string{
	"rt_deadlock/prism.nofixdl.txt":      "a deadlock is an error before anything is counted",
	"rt_prob_sum/prism.noprobchecks.txt": "probabilities must sum to one; there is no -noprobchecks",
}

// counts is the size of a state space; choices are 0 where PRISM prints none.
type counts struct{ states, initial, transitions, choices int }

// transcript is what PRISM printed about the models it built.
type transcript struct {
	args   []string
	counts map[string]counts // by the constants of the model, "N=1,p=0.5"
}

// readTranscript returns nil if no model was built explicitly.
func readTranscript(t *testing.T, file string) *transcript {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tr := &transcript{counts: map[string]counts{}}
	constants, explicit := "", false
	var c counts
	for s := bufio.NewScanner(f); s.Scan(); {
		line := s.Text()
		rest, found := strings.CutPrefix(line, "Model constants: ")
		switch {
		case tr.args == nil:
			tr.args = strings.Fields(line)
		case found:
			constants = rest
		case strings.HasPrefix(line, "Building model (engine:"):
			explicit = !strings.Contains(line, "symbolic")
		case strings.HasPrefix(line, "States:"):
			c = counts{}
			fmt.Sscanf(line, "States: %d (%d initial)", &c.states, &c.initial)
		case strings.HasPrefix(line, "Transitions:"):
			fmt.Sscanf(line, "Transitions: %d", &c.transitions)
			if explicit {
				tr.counts[constants] = c
			}
		case strings.HasPrefix(line, "Choices:") && explicit:
			fmt.Sscanf(line, "Choices: %d", &c.choices)
			tr.counts[constants] = c
		}
	}
	return tr
}

// TestCounts compares the sizes of state spaces with those that PRISM's
// explicit and exact engines printed.
func TestCounts(t *testing.T) {
	files, err := filepath.Glob(corpus + "/*/prism*.txt")
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, file := range files {
		tr := readTranscript(t, file)
		name := strings.TrimPrefix(file, corpus+"/")
		dir := filepath.Dir(file)
		if len(tr.counts) == 0 || outside[filepath.Base(dir)] != "" || strings.Contains(strings.Join(tr.args, " "), "-import") {
			continue
		}
		got, err := countStates(t, dir, tr.args)
		if err != nil && countsDiffer[name] != "" {
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for constants, want := range tr.counts {
			compared++
			have, ok := got[constants]
			if want.choices == 0 {
				have.choices = 0
			}
			if why := countsDiffer[name]; !ok || (have != want) != (why != "") {
				t.Errorf("%s %s: %+v, PRISM has %+v", name, constants, have, want)
			}
		}
	}
	t.Logf("%d state spaces compared", compared)
	if compared < 100 {
		t.Errorf("only %d state spaces were compared", compared)
	}
}

// countStates builds the model of a case as a command line asks.
func countStates(t *testing.T, dir string, args []string) (map[string]counts, error) {
	src, err := os.ReadFile(dir + "/model.prism")
	if err != nil {
		return nil, err
	}
	tree, err := syntax.ParseModel("model.prism", src)
	if err != nil {
		return nil, err
	}
	for word, typ := range map[string]syntax.ModelType{"-dtmc": syntax.DTMC, "-mdp": syntax.MDP, "-ctmc": syntax.CTMC} {
		if slices.Contains(args, word) {
			tree.Items = slices.DeleteFunc(tree.Items, func(x syntax.Item) bool { _, ok := x.(*syntax.TypeDecl); return ok })
			tree.Items = append(tree.Items, &syntax.TypeDecl{Type: typ})
		}
	}
	model, err := sema.CheckModel(tree)
	if err != nil {
		return nil, err
	}
	var consts []string
	for i, a := range args {
		if a == "-const" {
			consts = append(consts, args[i+1])
		}
	}
	defs, err := sema.ParseConsts(consts)
	if err != nil {
		return nil, err
	}
	x, err := model.Experiment(nil, nil, defs)
	if err != nil {
		return nil, err
	}
	out := map[string]counts{}
	for v := range x.Models() {
		prog, err := model.Instantiate(v.Map())
		if err != nil {
			return nil, err
		}
		m, err := compile.Compile(prog, compile.Options{})
		if err != nil {
			return nil, err
		}
		opts := explicit.Options{NoFixDeadlocks: slices.Contains(args, "-nofixdl"), Exact: slices.Contains(args, "-exact")}
		s, err := explicit.Build(t.Context(), m, opts)
		if err != nil {
			return nil, err
		}
		rows := s.Model()
		out[v.String()] = counts{rows.NumStates(), len(rows.Initial), rows.NumTransitions(), rows.NumChoices()}
	}
	return out, nil
}
