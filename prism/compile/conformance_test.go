package compile

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// row is one line of PRISM's .tra format: a transition of a choice. The choice
// of a Markov chain is 0.
type row struct {
	source, choice, target int
	prob                   float64
	action                 string
}

// space is a model built as PRISM's explicit engine builds it, by brute force.
type space struct {
	states  [][]int32
	initial int
	choices int
	rows    []row
}

// explore builds the reachable states with an Expander.
func explore(m *Model) (*space, error) {
	x := m.NewExpander()
	initial, err := m.InitialStates(context.Background())
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	sp := &space{initial: len(initial)}
	add := func(s []int32) {
		if k := fmt.Sprint(s); !seen[k] {
			seen[k] = true
			sp.states = append(sp.states, slices.Clone(s))
		}
	}
	for _, s := range initial {
		add(s)
	}
	for i := 0; i < len(sp.states); i++ {
		cs, err := x.Expand(sp.states[i])
		if err != nil {
			return nil, err
		}
		for _, c := range cs.List {
			for _, t := range c.Transitions {
				add(t.Target)
			}
		}
	}
	slices.SortFunc(sp.states, slices.Compare)
	for i, s := range sp.states {
		cs, err := x.Expand(s)
		if err != nil {
			return nil, err
		}
		sp.addRows(m, i, cs)
	}
	return sp, nil
}

func (sp *space) index(s []int32) int {
	i, _ := slices.BinarySearchFunc(sp.states, s, slices.Compare)
	return i
}

func (sp *space) addRows(m *Model, source int, cs *Choices) {
	var rows []row
	name := func(action int) string {
		if action == sema.Unlabelled {
			return ""
		}
		return m.program.Actions[action]
	}
	switch {
	case cs.Deadlock():
		rows = []row{{source, 0, source, 1, ""}}
		sp.choices++
	case m.isNondeterministic():
		var kept []string
		for _, c := range cs.List {
			var part []row
			for _, t := range c.Transitions {
				part = append(part, row{source, len(kept), sp.index(t.Target), t.Weight, name(c.Action)})
			}
			slices.SortFunc(part, func(a, b row) int { return cmp.Compare(a.target, b.target) })
			// The explicit engine drops a choice that it has already.
			key := fmt.Sprint(c.Action)
			for _, r := range part {
				key += fmt.Sprint(" ", r.target, ":", r.prob)
			}
			if slices.Contains(kept, key) {
				continue
			}
			kept = append(kept, key)
			rows = append(rows, part...)
		}
		sp.choices += len(kept)
	default:
		for _, t := range markovRow(m, nil, cs) {
			rows = append(rows, row{source, 0, sp.index(t.Target), t.Weight, name(t.Action)})
		}
		slices.SortStableFunc(rows, func(a, b row) int {
			return cmp.Or(cmp.Compare(a.target, b.target), cmp.Compare(cmp.Or(a.action, "null"), cmp.Or(b.action, "null")))
		})
	}
	sp.rows = append(sp.rows, rows...)
}

// expected is what the corpus has of a run of PRISM.
type expected struct {
	Run struct {
		Command     string
		ModelType   string `json:"model_type"`
		States      string
		Transitions string
		Choices     string
	} `json:"$run"`
}

const corpus = "../../testdata/conformance"

// outside are the models whose behaviour differs on purpose, with the reason.
var outside = map[string]string{
	"rt_out_of_range":     "PRISM's explicit engine accepts values outside their range",
	"rt_out_of_range_sym": "PRISM's explicit engine accepts values outside their range",
	"imdp_basic":          "interval models are not executed",
	"pta_basic":           "timed models are not executed",
}

// TestConformance compares the states, choices and transitions that real PRISM
// 4.10.2-dev found with those found by way of the Expander. Where the run is
// symbolic (the system construct), the choices are not reported.
func TestConformance(t *testing.T) {
	files, err := filepath.Glob(corpus + "/*/expected.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no corpus: %v", err)
	}
	ran := 0
	for _, file := range files {
		dir := filepath.Dir(file)
		name := filepath.Base(dir)
		want := readExpected(t, file)
		text, err := os.ReadFile(dir + "/model.prism")
		if err != nil || want.Run.States == "" || outside[name] != "" || name == "err_init_out_of_range" || // sema refuses it
			strings.Contains(want.Run.Command, "-import") {
			continue
		}
		ran++
		t.Run(name, func(t *testing.T) { conform(t, dir, text, want) })
	}
	if ran < 80 {
		t.Errorf("only %d models", ran)
	}
}

func readExpected(t *testing.T, file string) expected {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var e expected
	if err := json.Unmarshal(b, &e); err != nil {
		t.Fatal(err)
	}
	return e
}

func conform(t *testing.T, dir string, text []byte, want expected) {
	tree, err := syntax.ParseModel("model.prism", text)
	if err != nil {
		t.Fatal(err)
	}
	checked, err := sema.CheckModel(tree)
	if err != nil {
		t.Fatal(err)
	}
	consts := map[string]sema.Value{}
	for _, name := range checked.Undefined() { // the corpus has experiments; the counts are those of the last values
		consts[name] = map[string]sema.Value{"N": sema.IntValue(2), "p": sema.DoubleValue(0.25), "K": sema.IntValue(2)}[name]
	}
	m, err := Compile(program(t, tree, consts), Options{})
	if err != nil {
		t.Fatal(err)
	}
	sp, err := explore(m)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("%d (%d initial) %d", len(sp.states), sp.initial, len(sp.rows))
	if w := want.Run.States + " " + want.Run.Transitions; got != w {
		t.Errorf("got %s, want %s", got, w)
	}
	if want.Run.Choices != "" && strconv.Itoa(sp.choices) != want.Run.Choices {
		t.Errorf("got %d choices, want %s", sp.choices, want.Run.Choices)
	}
	if _, err := os.Stat(dir + "/out.tra"); err == nil {
		compareRows(t, sp.rows, readRows(t, dir+"/out.tra", m.isNondeterministic()))
	}
}

func compareRows(t *testing.T, got, want []row) {
	t.Helper()
	same := func(a, b row) bool {
		near := math.Abs(a.prob-b.prob) <= 1e-15*math.Abs(b.prob)
		a.prob, b.prob = 0, 0
		return near && a == b
	}
	if !slices.EqualFunc(got, want, same) {
		t.Errorf("got transitions\n%v, want\n%v", got, want)
	}
}

func readRows(t *testing.T, file string, choices bool) []row {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var rows []row
	sc := bufio.NewScanner(f)
	for line := 0; sc.Scan(); {
		fields := strings.Fields(sc.Text())
		if fields[0] == "#" {
			continue
		}
		if line++; line == 1 { // the counts
			continue
		}
		var r row
		if choices {
			r.choice, _ = strconv.Atoi(fields[1])
			fields = append(fields[:1], fields[2:]...)
		}
		r.source, _ = strconv.Atoi(fields[0])
		r.target, _ = strconv.Atoi(fields[1])
		r.prob, _ = strconv.ParseFloat(fields[2], 64)
		if len(fields) > 3 {
			r.action = fields[3]
		}
		rows = append(rows, r)
	}
	return rows
}

// TestOutside pins what happens to the models that TestConformance leaves out.
func TestOutside(t *testing.T) {
	for name := range outside {
		text, err := os.ReadFile(filepath.Join(corpus, name, "model.prism"))
		if err != nil {
			t.Fatal(err)
		}
		tree, err := syntax.ParseModel("model.prism", text)
		if err != nil {
			t.Fatal(err)
		}
		m, err := Compile(program(t, tree, nil), Options{})
		if err == nil {
			_, err = explore(m)
		}
		_, state := errors.AsType[*StateError](err)
		_, unsupported := errors.AsType[*UnsupportedError](err)
		if !state && !unsupported {
			t.Errorf("%s: got %v", name, err)
		} else {
			t.Logf("%s: %v", name, err)
		}
	}
}

// markovTransition is a transition of a Markov chain's state. Weight is a
// probability, or a rate in a CTMC; Action is that of the choice it came from.
type markovTransition struct {
	Action int
	Weight float64
	Target []int32
}

// markovRow merges the choices of a state of a DTMC or CTMC into the row of a Markov
// chain and appends it to dst: in a DTMC every probability is divided by the
// total, which resolves overlapping commands uniformly; in a CTMC rates add up.
// Transitions with the same action and target are added; those with different
// actions stay apart. The targets are the Choices' memory.
//
// Source: PRISM's explicit engine (reference, sections 4.5 and 4.6).
func markovRow(m *Model, dst []markovTransition, choices *Choices) []markovTransition {
	start, total := len(dst), 0.0
	for _, c := range choices.List {
		for _, t := range c.Transitions {
			total += t.Weight
			dst = addMarkov(dst, start, markovTransition{c.Action, t.Weight, t.Target})
		}
	}
	if !m.isContinuous() {
		for i := range dst[start:] {
			dst[start+i].Weight /= total
		}
	}
	return dst
}

func addMarkov(dst []markovTransition, start int, t markovTransition) []markovTransition {
	for i := start; i < len(dst); i++ {
		if dst[i].Action == t.Action && slices.Equal(dst[i].Target, t.Target) {
			dst[i].Weight += t.Weight
			return dst
		}
	}
	return append(dst, t)
}
