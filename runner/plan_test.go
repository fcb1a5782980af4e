package runner

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

const coin = `dtmc
const double p;
const int N;
module coin
  s : [0..N] init 0;
  [] s<N -> p:(s'=s+1) + 1-p:(s'=0);
  [] s=N -> true;
endmodule
label "top" = s=N;
`

// table writes what a plan says: one line a verdict, in the order of the verdicts.
func table(p *Plan) []string {
	var out []string
	for model := range p.Models() {
		for _, t := range p.Tasks {
			if t.Rejected != nil {
				out = append(out, fmt.Sprintf("%s rejected %d:%d %s", values(model), t.Rejected.Pos.Line, t.Rejected.Pos.Col, t.Rejected.Msg))
				continue
			}
			for property := range t.Valuations() {
				out = append(out, strings.TrimSpace(values(model, property)+" "+t.Name+" "+t.Text))
			}
		}
	}
	return out
}

func values(valuations ...sema.Valuation) string {
	var out []string
	for _, c := range Constants(valuations...) {
		out = append(out, c.Name+"="+c.Value)
	}
	return strings.Join(out, ",")
}

func TestPlan(t *testing.T) {
	for _, test := range []struct {
		name string
		job  Job
		want []string
	}{
		{
			"model constants are outermost",
			Job{Props: []string{"P=? [ F<=T s=N ]; const int T;"}, Consts: []string{"p=0.5,N=1:2,T=3:4"}},
			[]string{
				"p=0.5,N=1,T=3  P=? [ F<=T s=N ]", "p=0.5,N=1,T=4  P=? [ F<=T s=N ]",
				"p=0.5,N=2,T=3  P=? [ F<=T s=N ]", "p=0.5,N=2,T=4  P=? [ F<=T s=N ]",
			},
		},
		{
			"a constant of the file that a property does not use does not multiply it",
			Job{Properties: []byte("const int T;\n\"a\": P=? [ F<=T s=N ];\n\"b\": P=? [ F s=N ];\n"), Consts: []string{"p=0.5,N=1,T=1:3"}},
			[]string{
				"p=0.5,N=1,T=1 a P=? [ F<=T s=N ]", "p=0.5,N=1,T=2 a P=? [ F<=T s=N ]", "p=0.5,N=1,T=3 a P=? [ F<=T s=N ]",
				"p=0.5,N=1 b P=? [ F s=N ]",
			},
		},
		{
			"properties of the file come before those of the job",
			Job{Properties: []byte(`P=? [ F "top" ];`), Props: []string{"true", "false"}, Consts: []string{"p=1,N=1"}},
			[]string{`p=1.0,N=1  P=? [ F "top" ]`, "p=1.0,N=1  true", "p=1.0,N=1  false"},
		},
		{
			"selection by number and name, in the order asked for",
			Job{Properties: []byte(`"a": true; "b": false; "c": s=0;`), Select: []string{"3", "a"}, Consts: []string{"p=1,N=1"}},
			[]string{"p=1.0,N=1 c s=0", "p=1.0,N=1 a true"},
		},
		{
			"a property with an error costs the others nothing",
			Job{Properties: []byte("P=? [ F x=1 ];\nP=? [ F s=N ];\n"), Consts: []string{"p=1,N=1"}},
			[]string{`p=1.0,N=1 rejected 1:9 undeclared identifier "x"`, "p=1.0,N=1  P=? [ F s=N ]"},
		},
		{
			"so does one that refers to it",
			Job{Properties: []byte("\"a\": P=? [ F x=1 ];\n\"b\": \"a\">0;\n\"c\": true;\n"), Consts: []string{"p=1,N=1"}},
			[]string{`p=1.0,N=1 rejected 1:14 undeclared identifier "x"`, `p=1.0,N=1 rejected 2:6 undeclared label "a"; declared: "b", "c", "top"`, "p=1.0,N=1 c true"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.job.File, test.job.Model, test.job.PropsFile = "coin.prism", []byte(coin), "coin.props"
			p, err := NewPlan(t.Context(), test.job)
			if err != nil {
				t.Fatal(err)
			}
			got := table(p)
			if !slices.Equal(got, test.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
			if p.Verdicts() != len(test.want) {
				t.Errorf("%d verdicts, want %d", p.Verdicts(), len(test.want))
			}
		})
	}
}

func TestPlanErrors(t *testing.T) {
	for _, test := range []struct {
		name string
		job  Job
		want []string // all must be in the message
	}{
		{"no value", Job{Props: []string{"true"}, Consts: []string{"N=1"}}, []string{"p"}},
		{"nothing to check", Job{Consts: []string{"p=1,N=1"}}, []string{"propert"}},
		{"selection", Job{Props: []string{"true"}, Select: []string{"2"}, Consts: []string{"p=1,N=1"}}, []string{"2"}},
		{"too many values", Job{Props: []string{"true"}, Consts: []string{"p=1,N=1:1000001"}}, []string{"more than 1000000 results"}},
		{"all properties wrong", Job{Properties: []byte("x=1;"), Consts: []string{"p=1,N=1"}}, []string{"coin.props:1:1", "x"}},
		{
			"texts are reported together",
			Job{Props: []string{"x=1", "y=1"}, Consts: []string{"p=1,N=1"}},
			[]string{`"x"`, `"y"`},
		},
		{
			"a declaration with an error costs everything",
			Job{Properties: []byte("label \"l\" = x=1;\ntrue;\n"), Consts: []string{"p=1,N=1"}},
			[]string{"coin.props:1:13", "x"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.job.File, test.job.Model, test.job.PropsFile = "coin.prism", []byte(coin), "coin.props"
			_, err := NewPlan(t.Context(), test.job)
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q, want %q in it", err, want)
				}
			}
		})
	}
}

// TestUnknownConstant: a definition that nothing declares is a warning, once.
func TestUnknownConstant(t *testing.T) {
	p, err := NewPlan(t.Context(), Job{File: "coin.prism", Model: []byte(coin), Props: []string{"true", "false"}, Consts: []string{"p=1,N=1,x=2"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0], "x") {
		t.Errorf("warnings %q, want one about x", p.Warnings)
	}
}

// TestOwn: a text has the declarations of the file before its own.
func TestOwn(t *testing.T) {
	p, err := NewPlan(t.Context(), Job{
		File: "coin.prism", Model: []byte(coin), PropsFile: "coin.props",
		Properties: []byte("const int T = 2;\nP=? [ F<=T s=N ];\n"), Props: []string{"P=? [ G<=T s=0 ]"}, Consts: []string{"p=1,N=1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	text := p.Tasks[1].Source
	if len(text.Own()) != 1 || text.First() != 1 || text.Base != p.Tasks[0].Source {
		t.Errorf("the text has %d items of its own from property %d, want 1 from 1", len(text.Own()), text.First())
	}
	if file := p.Tasks[0].Source; len(file.Own()) != 2 || file.First() != 0 {
		t.Errorf("the file has %d items of its own from property %d, want 2 from 0", len(file.Own()), file.First())
	}
}

// TestMisplaced: a file is called misplaced only if it is of the other kind.
func TestMisplaced(t *testing.T) {
	const model, props, both, neither = "dtmc module m x:[0..1]; endmodule", "P=? [ F x=1 ]", "const int N = 3;", "# no such thing"
	for _, test := range []struct{ model, props, want string }{
		{model, props, ""},
		{props, model, "p is a model and m has properties: want the model first"},
		{model, model, "p is a model, want properties"},
		{props, props, "m has properties, want a model"},
		{props, "", "m has properties, want a model"},
		{"", model, "p is a model, want properties"}, // of files of states
		{both, both, ""},
		{neither, props, ""},
		{model, neither, ""},
		{neither, model, "p is a model, want properties"},
	} {
		job := Job{File: "m", Model: []byte(test.model), PropsFile: "p", Properties: []byte(test.props)}
		if got := job.Misplaced(); got != test.want {
			t.Errorf("%q, %q: %q, want %q", test.model, test.props, got, test.want)
		}
	}
}

// Without a properties file a JANI model has its own properties, by its own
// names; who asks something else does not get them.
func TestPlanJANI(t *testing.T) {
	text, err := os.ReadFile("../examples/relay.jani")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		job  Job
		want string
	}{
		{Job{}, "all sent, energy, cheap"},
		{Job{Props: []string{"energy"}}, "energy"},
		{Job{Select: []string{"3", "all sent"}}, "cheap, all sent"},
		{Job{Props: []string{`P=? [ F "done" ]`}}, `P=? [ F "done" ]`},
		{Job{Props: []string{`P=? [ F "done" ]`, "all sent"}}, `all sent, P=? [ F "done" ]`},
		{Job{PropsFile: "p.props", Properties: []byte(`P=? [ F sent=2 ]`)}, "P=? [ F sent=2 ]"},
	} {
		c.job.File, c.job.Model, c.job.Consts = "relay.jani", text, []string{"N=2"}
		p, err := NewPlan(context.Background(), c.job)
		if err != nil {
			t.Fatalf("%v: %v", c.job.Props, err)
		}
		var got []string
		for _, task := range p.Tasks {
			got = append(got, cmp.Or(task.Name, task.Text))
		}
		if got := strings.Join(got, ", "); got != c.want {
			t.Errorf("%v %v: %s, want %s", c.job.Props, c.job.Select, got, c.want)
		}
	}
	if _, err := NewPlan(context.Background(), Job{File: "relay.jani", Model: text, Props: []string{"no_such"}}); err == nil {
		t.Error("a property that is not there: no error")
	}
	odd := bytes.Replace(text, []byte(`"op": "Emax"`), []byte(`"op": "Qmax"`), 1)
	p, err := NewPlan(context.Background(), Job{File: "relay.jani", Model: odd, Consts: []string{"N=2"}})
	if err != nil || len(p.Tasks) != 3 || p.Tasks[1].Rejected == nil || p.Tasks[1].Class != result.Unsupported {
		t.Errorf("%v, want the second of three properties refused as unsupported", err)
	}
}

// F and U of a Markov automaton have bounds on time. What else asks for time is refused,
// in the order of the text.
func TestPlanMarkov(t *testing.T) {
	model := []byte(`{"jani-version": 1, "name": "race", "type": "ma",
 "variables": [{"name": "x", "type": {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": 2}, "initial-value": 0}],
 "automata": [{"name": "a", "locations": [{"name": "l"}], "initial-locations": ["l"],
  "edges": [{"location": "l", "rate": {"exp": 2}, "guard": {"exp": {"op": "=", "left": "x", "right": 0}},
   "destinations": [{"location": "l", "assignments": [{"ref": "x", "value": 1}]}]}]}],
 "system": {"elements": [{"automaton": "a"}]}}`)
	late := `Pmax=? [ F P>0 [ G<=1 x=0 ] ]`
	for _, c := range []struct {
		job  Job
		want string
	}{
		{Job{Props: []string{"Pmax=? [ F x=1 ]; Pmax=? [ G<=2 x=1 ]; Pmin=? [ G<=3 x=1 ]"}}, "1:28: "},
		{Job{Props: []string{late}}, "1:18: "},
	} {
		c.job.File, c.job.Model = "race.jani", model
		_, err := NewPlan(t.Context(), c.job)
		e, ok := errors.AsType[*PlanError](err)
		if !ok || e.Step != result.Unsupported || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v: found %v, want %s… refused", c.job.Props, err, c.want)
		}
	}
	if p, err := NewPlan(t.Context(), Job{File: "race.jani", Model: model, Props: []string{"Pmax=? [ F<=2 x=1 ]"}}); err != nil || p.Tasks[0].Rejected != nil {
		t.Errorf("a bound on the time of F: found %v, want none", err)
	}
	p, err := NewPlan(t.Context(), Job{File: "race.jani", Model: model, PropsFile: "p.props", Properties: []byte("Pmax=? [ F x=1 ];\n" + late + ";\nRmax=? [ I=2 ];")})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, task := range p.Tasks {
		got = append(got, fmt.Sprintf("%v %v", task.Rejected != nil, task.Class))
	}
	if want := "false , true unsupported, true unsupported"; strings.Join(got, ", ") != want {
		t.Errorf("found %s, want %s", strings.Join(got, ", "), want)
	}
}

// TestPlanAgain: the job of a plan can be planned again, also if it asks for the expected time, for which the model gets a reward structure.
func TestPlanAgain(t *testing.T) {
	job := Job{
		File: "coin.prism", Model: []byte(coin), PropsFile: "coin.props", Properties: []byte(`T=? [ F "top" ]`), Dialect: syntax.Storm,
		Consts: []string{"p=0.5,N=2"},
	}
	first, err := NewPlan(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	second, err := NewPlan(t.Context(), first.Job)
	if err != nil || !slices.Equal(table(first), table(second)) {
		t.Errorf("%v, want the plan %q", err, table(first))
	}
}

// TestDefinitions: constants of JANI whose names are keywords of PRISM are defined by the names that they have in the text of the model.
func TestDefinitions(t *testing.T) {
	model := `{"jani-version": 1, "name": "m", "type": "dtmc", "constants": [{"name": "R", "type": "int"}, {"name": "K", "type": "int"}],
		"variables": [{"name": "x", "type": {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": "R"}, "initial-value": 0}],
		"automata": [{"name": "a", "locations": [{"name": "l"}], "initial-locations": ["l"],
			"edges": [{"location": "l", "destinations": [{"location": "l"}]}]}],
		"system": {"elements": [{"automaton": "a"}]}}`
	plan, err := NewPlan(t.Context(), Job{File: "m.jani", Model: []byte(model), Props: []string{"P=? [ F x=1 ]"}, Consts: []string{"K=1, R=2:1:3"}})
	if err != nil {
		t.Fatal(err)
	}
	got := plan.Definitions()
	if len(got) != 1 || got[0] != "K=1,_R=2:1:3" || !bytes.Contains(plan.ModelText(), []byte("const int _R;")) {
		t.Errorf("%q for\n%s", got, plan.ModelText())
	}
}
