package export_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/internal/wild"
	"tilecheck/native"
	"tilecheck/native/load"
	"tilecheck/native/space/explicit"
	"tilecheck/prism/jani/export"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
	"tilecheck/verify/crosscheck"
)

// build builds the states of a text; the error may be one of the model.
func build(text []byte, consts []string, exact bool) (*explicit.Space, error) {
	m, _, err := load.Model(context.Background(), runner.Job{File: "model", Model: text, Consts: consts})
	if err != nil {
		return nil, err
	}
	return explicit.Build(context.Background(), m, explicit.Options{MaxStates: 20_000, Exact: exact})
}

// written is a model as a JANI model.
func written(t *testing.T, text []byte, consts []string) []byte {
	t.Helper()
	m, _, err := load.Model(context.Background(), runner.Job{File: "model", Model: text, Consts: consts})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := export.Write(&b, "test", m.Program(), nil); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return b.Bytes()
}

// same fails if two texts have different states, transitions, labels or rewards.
func same(t *testing.T, first, second *explicit.Space) *crosscheck.Difference {
	t.Helper()
	told := func(s *explicit.Space) explicit.ToolSpace {
		return explicit.ToolSpace{Space: s, AllLabelsAndRewards: true}
	}
	d, err := crosscheck.Diff(context.Background(), crosscheck.NamedSpace{Name: "PRISM", ToolSpace: told(first)}, crosscheck.NamedSpace{Name: "JANI", ToolSpace: told(second)})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestWildRoundTrip: random models of the whole language, written as JANI and
// read again, have the same states. So have they if their constants stay open until they are read.
func TestWildRoundTrip(t *testing.T) {
	compared, open := 0, 0
	for i := range uint64(needs.Some(200)) {
		m := wild.New(17, i, 0)
		var consts []string
		for _, c := range m.Consts { // one value of each
			name, values, _ := strings.Cut(c, "=")
			first, _, _ := strings.Cut(values, ":")
			consts = append(consts, name+"="+first)
		}
		exact := i%2 == 0
		space, err := build([]byte(m.Text), consts, exact)
		if err != nil {
			continue // an error in some state, which is not what this is about
		}
		compare := func(text []byte, consts []string) {
			again, err := build(text, consts, exact)
			if err != nil {
				t.Errorf("model %d: %v\n%s\n%s", i, err, m.Text, text)
				return
			}
			if m.System { // several vectors may have one result, but each is an action of its own
				space.Model().Actions, again.Model().Actions = nil, nil
			}
			if d := same(t, space, again); d != nil {
				t.Errorf("model %d: %s\n%s\n%s", i, d, m.Text, text)
			}
		}
		compare(written(t, []byte(m.Text), consts), nil)
		compared++
		if len(consts) > 0 {
			compare([]byte(documentOf(t, m.Text)), consts)
			open++
		}
	}
	t.Logf("%d models compared, %d of them also with open constants", compared, open)
	if compared < needs.Some(200)/2 || open < needs.Some(200)/10 {
		t.Errorf("%d models compared, %d with open constants, want at least a half and a tenth of them", compared, open)
	}
}

// TestWildProperties: what JANI has a form for has the same answers there.
func TestWildProperties(t *testing.T) {
	for name, newModel := range map[string]func(seed, number uint64, n int) wild.Model{"untimed": wild.New, "timed": wild.Timed} {
		t.Run(name, func(t *testing.T) { sameAnswers(t, newModel) })
	}
}

// sameAnswers compares the answers about random models with those about what is written.
func sameAnswers(t *testing.T, newModel func(seed, number uint64, n int) wild.Model) {
	answered := 0
	for i := range uint64(needs.Some(120)) {
		m := newModel(18, i, 6)
		job := runner.Job{File: "model", Model: []byte(m.Text), PropsFile: "props", Settings: runner.Settings{Numeric: runner.Numeric{Accuracy: result.Exact}}}
		job.Properties = []byte(strings.Join(m.Props, "\n"))
		for _, c := range m.Consts {
			name, values, _ := strings.Cut(c, "=")
			first, _, _ := strings.Cut(values, ":")
			job.Consts = append(job.Consts, name+"="+first)
		}
		plan, err := runner.NewPlan(context.Background(), job)
		if err != nil {
			continue
		}
		program, instances, err := plan.Instances()
		if err != nil {
			continue
		}
		for k := range instances {
			instances[k].Name = fmt.Sprintf("p%d", k)
		}
		var text bytes.Buffer
		if _, err := export.Write(&text, "test", program, instances); err != nil {
			t.Fatalf("model %d: %v", i, err)
		}
		want := make(map[string]string)
		for _, p := range instances {
			one := job
			one.Properties = []byte(syntaxText(t, plan, p.Text))
			want[p.Name] = answers(t, one)[""]
		}
		got := answers(t, runner.Job{File: "model.jani", Model: text.Bytes(), Settings: runner.Settings{Numeric: job.Numeric}})
		for name, answer := range got {
			failed := strings.HasPrefix(answer, "error")
			if !failed {
				answered++
			}
			if answer != want[name] && !(failed && strings.HasPrefix(want[name], "error")) {
				t.Errorf("model %d, %s: %s, want %s\n%s\n%s\n%s", i, name, answer, want[name], m.Text, job.Properties, text.String())
			}
		}
	}
	t.Logf("%d answers", answered)
	if answered < needs.Some(120) {
		t.Errorf("%d answers, want one of each model at least", answered)
	}
}

// syntaxText is one property of a file with the declarations of the file.
func syntaxText(t *testing.T, plan *runner.Plan, property string) string {
	t.Helper()
	var b strings.Builder
	for _, item := range plan.Tasks[0].Source.Tree.Items {
		if _, ok := item.(*syntax.Property); !ok {
			if err := syntax.Fprint(&b, item, syntax.Options{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return b.String() + property
}

// answers checks a job, and returns values by the names of properties.
func answers(t *testing.T, job runner.Job) map[string]string {
	t.Helper()
	verdicts, err := runner.Check(context.Background(), native.New(), job)
	if err != nil {
		return nil
	}
	out := make(map[string]string)
	for _, v := range verdicts {
		switch {
		case v.Err != nil:
			out[v.Name] = "error " + v.Err.Error()
		case v.Value.Kind == result.Boolean:
			out[v.Name] = strconv.FormatBool(v.Value.Bool)
		case v.Value.Rat != nil:
			out[v.Name] = v.Value.Rat.RatString()
		default:
			out[v.Name] = fmt.Sprint(v.Value.Num)
		}
	}
	return out
}

// TestWildMarkov: a Markov automaton whose edges all have rates means what the CTMC
// means, as far as no time is bounded.
func TestWildMarkov(t *testing.T) {
	asked := regexp.MustCompile(`\b(P|R(\{[^}]*\})?)=\?`)
	answered := 0
	for i := range uint64(needs.Some(600)) {
		m := wild.New(19, i, 6)
		if m.Kind != "ctmc" || m.System {
			continue
		}
		m.Text = strings.NewReplacer(`rewards "r`, `rewards "w`, "rewards \n", "rewards \"unnamed\"\n").Replace(m.Text)
		var consts []string
		for _, c := range m.Consts {
			name, values, _ := strings.Cut(c, "=")
			first, _, _ := strings.Cut(values, ":")
			consts = append(consts, name+"="+first)
		}
		if _, err := build([]byte(m.Text), consts, true); err != nil {
			continue
		}
		chain := written(t, []byte(m.Text), consts)
		automaton := bytes.Replace(chain, []byte(`"type": "ctmc"`), []byte(`"type": "ma"`), 1)
		if bytes.Equal(chain, automaton) {
			t.Fatalf("model %d has no type:\n%s", i, chain)
		}
		for _, text := range m.Props {
			// Rewards that are only states' and edges' names differ in, and constants of properties, are left out.
			text = strings.NewReplacer(`R{"r`, `R{"w`, "R=?", `R{"unnamed"}=?`).Replace(text)
			value := func(model []byte, text string) (string, bool) {
				v, err := runner.Check(context.Background(), native.New(), runner.Job{
					File: "m.jani", Model: model, Props: []string{text}, Settings: runner.Settings{Numeric: runner.Numeric{Accuracy: result.Exact}},
				})
				if err != nil || v[0].Err != nil {
					return "", false
				}
				return fmt.Sprint(v[0].Value.Bool, v[0].Value.Num, v[0].Value.Rat), true
			}
			got, ok := value(automaton, asked.ReplaceAllString(text, "${1}max=?"))
			least, too := value(automaton, asked.ReplaceAllString(text, "${1}min=?"))
			want, three := value(chain, text)
			if !ok || !too || !three {
				continue
			}
			if answered++; got != want || least != want {
				t.Errorf("model %d, %s: found %s and %s, want %s\n%s", i, text, least, got, want, m.Text)
			}
		}
	}
	t.Logf("%d answers", answered)
	if answered < needs.Some(600)/10 {
		t.Errorf("%d answers, want a tenth of the models at least", answered)
	}
}

// TestActionsAreDeclared: JANI wants every action declared that an edge or a vector names;
// Storm refuses a model without.
func TestActionsAreDeclared(t *testing.T) {
	const text = `mdp
module a
 x : [0..2];
 [go] x=0 -> (x'=1);
 [] x=1 -> (x'=2);
 [alone] x=2 -> true;
endmodule
module b
 y : [0..1];
 [go] y=0 -> (y'=1);
endmodule
rewards "r" [go] true : 1; endrewards`
	var doc struct {
		Actions  []struct{ Name string }
		Automata []struct {
			Edges []struct{ Action string }
		}
		System struct {
			Syncs []struct {
				Synchronise []*string
				Result      string
			}
		}
	}
	if err := json.Unmarshal(written(t, []byte(text), nil), &doc); err != nil {
		t.Fatal(err)
	}
	declared, named := map[string]int{}, map[string]bool{}
	for _, a := range doc.Actions {
		declared[a.Name]++
	}
	for _, a := range doc.Automata {
		for _, e := range a.Edges {
			named[e.Action] = true
		}
	}
	for _, v := range doc.System.Syncs {
		named[v.Result] = true
		for _, a := range v.Synchronise {
			if a != nil {
				named[*a] = true
			}
		}
	}
	delete(named, "") // the silent one has no name
	if !named["go"] || !named["alone"] {
		t.Fatalf("edges and vectors name %v", named)
	}
	for name := range named {
		if declared[name] != 1 {
			t.Errorf("the action %q is declared %d times", name, declared[name])
		}
	}
	if len(declared) != len(named) {
		t.Errorf("declared %v, named %v", declared, named)
	}
}
