package crosscheck_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"tilecheck/bridge"
	"tilecheck/native"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/files"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/result/agree"
	"tilecheck/runner"
	"tilecheck/verify/crosscheck"
)

// Models that engines accept although they are wrong, and what is said of them.
func TestStrictCheck(t *testing.T) {
	const body = "module m x : [0..3] init 0; [go] x<3 -> %s; [] x=3 -> true; endmodule"
	model := func(updates string) string { return "mdp\n" + strings.Replace(body, "%s", updates, 1) }
	for _, tc := range []struct {
		name, model string
		options     crosscheck.Options
		validity    crosscheck.Validity
		message     string
	}{
		{name: "valid", model: model("(x'=x+1)"), validity: crosscheck.Valid},
		{name: "range", model: model("(x'=x+2)"), validity: crosscheck.Broken, message: "x'=4 leaves [0..3] in state (x=2)"},
		{name: "sum", model: model("0.5:(x'=x+1)+0.4:(x'=0)"), validity: crosscheck.Broken, message: "sum to 0.9, not to 1 in state (x=0)"},
		{name: "negative", model: model("1.1:(x'=x+1)+x-0.1:(x'=0)"), validity: crosscheck.Broken, message: "negative in state (x=0)"},
		{name: "division", model: model("x/x:(x'=x+1)"), validity: crosscheck.Broken, message: "in state (x=0)"},
		{name: "initial value", model: "mdp module m x : [0..3] init 5; [] true -> true; endmodule", validity: crosscheck.Broken, message: "5"},
		{name: "deadlock", model: "mdp module m x : [0..3] init 0; [] x=0 -> (x'=1); endmodule", validity: crosscheck.Valid},
		{
			name: "deadlock refused", model: "mdp module m x : [0..3] init 0; [] x=0 -> (x'=1); endmodule",
			options: crosscheck.Options{NoDeadlocks: true}, validity: crosscheck.Broken, message: "deadlock in state (x=1)",
		},
		{name: "large", model: model("(x'=x+1)"), options: crosscheck.Options{MaxStates: 2}, validity: crosscheck.Sampled},
		{name: "large and wrong", model: model("(x'=x+2)"), options: crosscheck.Options{MaxStates: 1}, validity: crosscheck.Broken, message: "x'=4 leaves [0..3] in state (x=2)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := runWith(t, tc.options, tc.model, "Pmax=? [ F x=3 ]", canon("a"), canon("b"))
			m := r.Models[0]
			if m.Validity != tc.validity {
				t.Fatalf("%s %v, want %s", m.Validity, m.Failure, tc.validity)
			}
			row := r.Rows[0]
			if tc.validity != crosscheck.Broken {
				if row.Status != crosscheck.Agree || r.ExitCode() != crosscheck.ExitAgree {
					t.Errorf("%s %q, want agree", row.Status, row.Reason)
				}
				return
			}
			if row.Status != crosscheck.Invalid || r.ExitCode() != crosscheck.ExitDisagree || row.Reason != m.Failure.Error() {
				t.Errorf("%s %q, exit code %d, want invalid", row.Status, row.Reason, r.ExitCode())
			}
			if !strings.Contains(row.Reason, tc.message) || !strings.HasPrefix(row.Reason, "model.prism") {
				t.Errorf("reason %q, want file and %q", row.Reason, tc.message)
			}
		})
	}
}

// canon is an engine that accepts every model and says 1/2.
func canon(name string) runner.Engine {
	return named{name, func(_ context.Context, p *runner.Plan) ([]result.Verdict, error) {
		v := fraction(1, 2)
		v.Property = p.Job.Props[0]
		return []result.Verdict{v}, nil
	}}
}

type named struct {
	name string
	engineFunc
}

func (n named) Name() string { return n.name }

// An experiment: the rows are those of the engines, in their order, and what is
// undecided is asked for again by its constants.
func TestExperiment(t *testing.T) {
	s := &canned{name: "ci"}
	s.answer = func(job runner.Job, draw int) (result.Verdict, error) { return sample(0, job.Simulation.Samples), nil }
	job := runner.Job{
		File: "coin.prism", Model: []byte(coin), PropsFile: "coin.props",
		Properties: []byte(`const int k; "never": P=? [ F s=3 ]; P=? [ F<=k s=1 ];`), Consts: []string{"p=0:0.01:0.02,k=0:1"},
	}
	r, err := crosscheck.Run(t.Context(), job, []runner.EngineConfig{{Engine: native.New()}, {Engine: s, Method: runner.APMC}}, crosscheck.Options{MaxSamples: 4000, Precision: 0.005})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, row := range r.Rows {
		text := row.Name
		for _, c := range row.Constants {
			text += " " + c.Name + "=" + c.Value
		}
		got = append(got, text+" "+string(row.Status))
	}
	want := []string{
		"never p=0.0 agree", " p=0.0 k=0 agree", " p=0.0 k=1 agree",
		"never p=0.01 agree", " p=0.01 k=0 agree", " p=0.01 k=1 disagree",
		"never p=0.02 agree", " p=0.02 k=0 agree", " p=0.02 k=1 disagree",
	}
	if !slices.Equal(got, want) {
		t.Errorf("rows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(r.Models) != 3 || r.Models[1].States != 3 {
		t.Errorf("models %+v, want three", r.Models)
	}
	again := 0
	for _, p := range s.asked[1:] {
		if job := p.Job; job.Method != runner.APMC || len(p.Tasks) != 1 || len(job.Consts) != 1 || strings.Contains(job.Consts[0], ":") {
			t.Errorf("asked again with method %s, %d properties, constants %q", job.Method, len(p.Tasks), job.Consts)
		}
		again++
	}
	if again == 0 {
		t.Error("no row was drawn again")
	}
}

// What Run cannot compare at all.
func TestRunErrors(t *testing.T) {
	good := runner.Job{File: "m.prism", Model: []byte(coins), Props: []string{"Pmax=? [ F s=1 ]"}}
	wrong, other := good, good
	wrong.Model = []byte("mdp module")
	other.Props = append(slices.Clone(good.Props), "Pmin=? [ F s=1 ]")
	one := []runner.EngineConfig{{Engine: native.New()}}
	for _, tc := range []struct {
		name    string
		job     runner.Job
		engines []runner.EngineConfig
		options crosscheck.Options
	}{
		{"syntax", wrong, one, crosscheck.Options{}},
		{"one label twice", good, append(slices.Clone(one), one...), crosscheck.Options{}},
		{"confidence", good, one, crosscheck.Options{Confidence: 1}},
		{"tolerance", good, one, crosscheck.Options{Tolerance: -1}},
		{"limit", good, one, crosscheck.Options{MaxSamples: -1}},
	} {
		if r, err := crosscheck.Run(t.Context(), tc.job, tc.engines, tc.options); err == nil {
			t.Errorf("%s: %v, want an error", tc.name, r)
		}
	}
	if r, err := crosscheck.Against(t.Context(), good, other, one, crosscheck.Options{}); err == nil {
		t.Errorf("other properties: %v, want an error", r)
	}
}

// One engine agrees with nobody, and an interrupted run neither.
func TestNothingCompared(t *testing.T) {
	r := run(t, coins, "Pmax=? [ F s=1 ]", native.New())
	if r.ExitCode() != crosscheck.ExitOpen || r.Rows[0].Status != crosscheck.Unchecked {
		t.Errorf("one engine: %s, exit code %d", r, r.ExitCode())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	job := runner.Job{File: "m.prism", Model: []byte(coins), Props: []string{"Pmax=? [ F s=1 ]"}}
	r, err := crosscheck.Run(ctx, job, []runner.EngineConfig{{Engine: native.New()}, {Label: "again", Engine: native.New()}}, crosscheck.Options{})
	if err != nil || r.ExitCode() != crosscheck.ExitOpen || r.Rows[0].Status != crosscheck.Unchecked {
		t.Errorf("interrupted: %v, %v", r, err)
	}
	if m := r.Models[0]; m.Validity != crosscheck.NotChecked || m.Failure.Class != result.Interrupted {
		t.Errorf("interrupted: model %+v", m)
	}
}

// Models that cannot be built are not said to agree when they are compared.
func TestAgainstLargeModels(t *testing.T) {
	job := runner.Job{File: "m.prism", Model: []byte(coins), Props: []string{"Pmax=? [ F s=1 ]"}}
	r, err := crosscheck.Against(t.Context(), job, job, []runner.EngineConfig{{Engine: native.New()}}, crosscheck.Options{MaxStates: 2})
	if err != nil {
		t.Fatal(err)
	}
	if r.Rows[0].Status != crosscheck.Agree || r.ExitCode() != crosscheck.ExitOpen || r.Diagnoses[0].Err == nil {
		t.Errorf("%s, exit code %d, diagnosis %+v, want the values to agree and the models open", r, r.ExitCode(), r.Diagnoses[0])
	}
	if !slices.Equal(r.Engines, []string{"native m.prism", "native m.prism#2"}) {
		t.Errorf("engines %q", r.Engines)
	}
}

// The first difference of two models, one line each.
func TestDiff(t *testing.T) {
	const mdp = "mdp module m x : [0..2] init 0; y : bool; [a] x=0 -> 0.5:(x'=1) + 0.5:(x'=2); [b] x=0 -> (y'=true) & (x'=1); [] x>0 -> true; endmodule label \"l\" = x=1; rewards \"r\" x=1 : 1; [a] true : 2; endrewards"
	const interval = "mdp module m x : [0..1] init 0; [a] x=0 -> [0.1,0.6]:(x'=1)+[0.4,0.9]:true; [] x=1 -> true; endmodule"
	const intervals = "dtmc module m x : [0..2] init 0; [] x=0 -> [0.1,0.5]:true+[0.1,0.5]:(x'=1)+[0.1,0.5]:(x'=2); [] x>0 -> true; endmodule"
	const ctmc = "ctmc module m x : [0..2] init 0; [a] x=0 -> 2:(x'=1); [b] x=0 -> 3:(x'=1); [] x>0 -> 1:(x'=0); endmodule"
	for _, tc := range []struct{ name, first, old, replaced, want string }{
		{"same", mdp, "", "", ""},
		{"choices in another order", mdp, "[] x>0 -> true;", "[] x>0 -> true; [b] x=0 -> (x'=1) & (y'=true);", ""},
		{"type", mdp, "mdp", "dtmc", "model type: MDP against DTMC"},
		{"variable", mdp, "y : bool;", "y : bool; z : bool;", "variable z is only in the second"},
		{"no actions", ctmc, "[a] x=0 -> 2:(x'=1); [b] x=0 -> 3:(x'=1);", "[] x=0 -> 5:(x'=1);", "probability in state (x=0), to (x=1): 5, only in the second"},
		{"lower end", interval, "[0.1,0.6]", "[0.2,0.6]", "probability in state (x=0), choice [a], to (x=1): [0.1,0.6] against [0.2,0.6]"},
		{"upper end", interval, "[0.4,0.9]", "[0.4,0.85]", "probability in state (x=0), choice [a], to (x=1): [0.1,0.6] against [0.15,0.6]"},
		{"only an upper end", intervals, "[0.1,0.5]", "[0.1,0.6]", "probability in state (x=0), to (x=0): [0.1,0.5] against [0.1,0.6]"},
		{"upper ends", interval, "[0.1,0.6]:(x'=1)+[0.4,0.9]", "[0.1,0.5]:(x'=1)+[0.4,0.9]", "probability in state (x=0), choice [a], to (x=0): [0.4,0.9] against [0.5,0.9]"},
		{"initial", mdp, "x : [0..2] init 0", "x : [0..2] init 1", "initial states: (x=0,y=false) against (x=1,y=false)"},
		{"probability", mdp, "0.5:(x'=1) + 0.5:", "0.4:(x'=1) + 0.6:", "probability in state (x=0,y=false), choice [a], to (x=1,y=false): 0.5 against 0.4"},
		{"target", mdp, "0.5:(x'=2);", "0.5:(x'=0);", "probability in state (x=0,y=false), choice [a], to (x=0,y=false): 0.5, only in the second"},
		{"choice", mdp, "[b] x=0", "[b] x=3", "in state (x=0,y=false) the choice [b] to (x=1,y=true) is only in the first"},
		{"further choice", mdp, "[] x>0", "[b] x=1", "in state (x=1,y=false) the choice [] to (x=1,y=false) is only in the first"},
		{"label", mdp, "= x=1;", "= x=2;", "label in state (x=1,y=false), \"l\": true against false"},
		{"reward", mdp, "x=1 : 1;", "x=1 : 3;", "reward in state (x=1,y=false), of the state, \"r\": 1 against 3"},
		{"reward of a choice", mdp, "[a] true : 2;", "[a] true : 3;", "reward in state (x=0,y=false), of a choice, \"r\": 2 against 3"},
		{"rate", ctmc, "2:(x'=1)", "4:(x'=1)", "probability in state (x=0), action [a], to (x=1): 2 against 4"},
		{"rates of other actions", ctmc, "[b]", "[a]", "probability in state (x=0), action [a], to (x=1): 2 against 5"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			second := strings.Replace(tc.first, tc.old, tc.replaced, 1)
			d, err := crosscheck.Diff(t.Context(), side("first", states(t, tc.first)), side("second", states(t, second)))
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if d != nil {
				got = d.String()
			}
			if got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

// The states of several instances are not kept, and are there again when they
// are to be compared.
func TestAgainstExperiment(t *testing.T) {
	job := runner.Job{File: "m.prism", Model: []byte(coin), Props: []string{"P=? [ F s=1 ]"}, Consts: []string{"p=0.2:0.3:0.5"}}
	other := job
	other.File, other.Model = "other.prism", []byte(strings.Replace(coin, "p:(s'=1) + 1-p:", "1-p:(s'=1) + p:", 1))
	r, err := crosscheck.Against(t.Context(), job, other, []runner.EngineConfig{{Engine: native.New()}}, crosscheck.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Diagnoses) != 2 || r.Diagnoses[0].Difference == nil || r.Diagnoses[1].Difference != nil || r.Diagnoses[1].Err != nil {
		t.Errorf("diagnoses %+v, want a difference for p=0.2 and none for p=0.5", r.Diagnoses)
	}
	if r.Rows[0].Status != crosscheck.Disagree || r.Rows[1].Status != crosscheck.Agree {
		t.Errorf("rows %+v", r.Rows)
	}
}

// recorded is a tool that writes the same files whatever it is asked.
type recorded struct {
	exit   runner.Exit
	stdout string
	args   []string
	model  string
}

func (*recorded) Where() string { return "recorded" }

func (r *recorded) Run(_ context.Context, c runner.Command) (runner.Exit, error) {
	r.args, r.model = c.Args, string(c.Files[0].Data)
	_, err := c.Stdout.Write([]byte(r.stdout))
	return r.exit, err
}

// Storm leaves out variables that never change, numbers states in its own order
// and has the values in comments.
func TestStormModel(t *testing.T) {
	const model = "mdp const int k; module m x : [0..2] init 0; y : bool; z : [0..5] init 3; [a] x=0 -> 0.25:(x'=1) + 0.75:(x'=2) & (y'=true); [b] x=0 -> (x'=1); [] x>0 -> true; endmodule"
	const drn = "// Exported by storm\n@type: MDP\n@parameters\n\n@reward_models\n\n@nr_states\n3\n@nr_choices\n4\n@model\n" +
		"state 0 init\n//[x=0\t& !y]\n\taction a\n\t\t1 : 0.75\n\t\t2 : 0.25\n\taction b\n\t\t2 : 1\n" +
		"state 1\n//[x=2\t& y]\n\taction __NOLABEL__\n\t\t1 : 1\n" +
		"state 2\n//[x=1\t& !y]\n\taction __NOLABEL__\n\t\t2 : 1\n"
	for _, tc := range []struct{ name, old, replaced, want string }{
		{"same", "", "", ""},
		{"probability", "0.25:", "1-0.75:", ""},
		{"other", "0.25:(x'=1) + 0.75", "0.5:(x'=1) + 0.5", "probability in state (x=0,y=false,z=3), choice [a], to (x=1,y=false,z=3): 0.5 against 0.25"},
		{"variable that changes", "(x'=2) & (y'=true)", "(x'=2) & (y'=true) & (z'=4)", "variable z is only in the first"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cmd := &recorded{exit: runner.Exit{Files: []runner.File{{Name: "exported.drn", Data: []byte(drn)}}}}
			job := runner.Job{File: "m.prism", Model: []byte(strings.Replace(model, tc.old, tc.replaced, 1)), Consts: []string{"k=1"}}
			told, err := statesOf(t, bridge.Storm(cmd, bridge.Options{}), job)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(cmd.model, "const int k = 1;") || !slices.Contains(cmd.args, "--buildstateval") {
				t.Errorf("arguments %q", cmd.args)
			}
			ours := states(t, strings.Replace(string(job.Model), "const int k;", "const int k = 1;", 1))
			d, err := crosscheck.Diff(t.Context(), side("ours", ours), crosscheck.NamedSpace{Name: "storm", ToolSpace: *told})
			if err != nil {
				t.Fatal(err)
			}
			if got := kindText(d); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

// side is a space that has everything that its model has.
func side(name string, space *explicit.Space) crosscheck.NamedSpace {
	return crosscheck.NamedSpace{Name: name, ToolSpace: explicit.ToolSpace{Space: space, AllLabelsAndRewards: true, AllActions: true}}
}

// statesOf has a tool tell of the states of a model.
func statesOf(t *testing.T, e runner.Engine, job runner.Job) (*explicit.ToolSpace, error) {
	t.Helper()
	p, err := runner.PlanModel(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	tool, ok := runner.As[crosscheck.StateBuilder](e)
	if !ok {
		t.Fatalf("%s does not tell of states", e.Name())
	}
	for v := range p.Models() {
		return tool.States(t.Context(), p, v)
	}
	panic("no valuation")
}

func kindText(d *crosscheck.Difference) string {
	if d == nil {
		return ""
	}
	return d.String()
}

// A file that cannot be had is an error that says why.
func TestExportFails(t *testing.T) {
	job := runner.Job{File: "m.prism", Model: []byte(coins)}
	for name, tc := range map[string]struct {
		tool *bridge.Engine
		want string
	}{
		"nothing":   {bridge.PRISM(&recorded{exit: runner.Exit{Code: 1}}, bridge.Options{}), "recorded wrote no exported.tra (exit code 1)"},
		"killed":    {bridge.Storm(&recorded{exit: runner.Exit{Code: -1, Cause: runner.TimedOut}}, bridge.Options{}), "recorded wrote no exported.umb: time limit"},
		"no values": {bridge.Storm(&recorded{exit: runner.Exit{Files: []runner.File{{Name: "exported.drn", Data: []byte(noValues)}}}}, bridge.Options{}), "no value"},
	} {
		if _, err := statesOf(t, tc.tool, job); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}

const noValues = "@type: DTMC\n@parameters\n\n@reward_models\n\n@nr_states\n2\n@nr_choices\n2\n@model\nstate 0 init\n//[x=0]\n\taction 0\n\t\t1 : 1\nstate 1\n\taction 0\n\t\t1 : 1\n"

// telling is an engine whose states another one tells of.
type telling struct {
	*canned
	crosscheck.StateBuilder
}

// A disagreement of engines is traced to the transition that the tool has
// otherwise, and to the command that made ours.
func TestDiagnosis(t *testing.T) {
	const right = "mdp\nmodule m\n  x : [0..2] init 0;\n  [a] x=0 -> 0.5:(x'=1) + 0.5:(x'=2);\n  [] x>0 -> true;\nendmodule\n"
	wrong := strings.Replace(right, "0.5:(x'=1) + 0.5:", "0.4:(x'=1) + 0.6:", 1)
	tool := &recorded{exit: runner.Exit{Files: exported(t, wrong)}}
	job := runner.Job{File: "m.prism", Model: []byte(right), Props: []string{"Pmax=? [ F x=1 ]"}}
	theirs := says("tool", fraction(2, 5))
	theirs.answer = func(runner.Job, int) (result.Verdict, error) {
		v := fraction(2, 5)
		v.States, v.Choices, v.Transitions = 4, 3, 4
		return v, nil
	}
	r, err := crosscheck.Run(t.Context(), job, []runner.EngineConfig{
		{Engine: native.New()}, {Engine: &telling{theirs, bridge.PRISM(tool, bridge.Options{})}},
	}, crosscheck.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if row := r.Rows[0]; row.Status != crosscheck.Disagree || len(row.Notes) != 1 || !strings.Contains(row.Notes[0], "strict check 3, native 3, tool 4") {
		t.Errorf("%s, notes %q, want the counts", row.Status, row.Notes)
	}
	if len(r.Diagnoses) != 1 || r.Diagnoses[0].Difference == nil {
		t.Fatalf("diagnoses %+v, want one", r.Diagnoses)
	}
	d := r.Diagnoses[0].Difference
	want := crosscheck.Origin{Model: "strict check", File: "m.prism", Pos: syntax.Pos{Offset: d.Origins[0].Pos.Offset, Line: 4, Col: 3}, Action: "a", Enabled: true}
	if d.String() != "probability in state (x=0), choice [a], to (x=1): 0.5 against 0.4" || len(d.Origins) != 1 || d.Origins[0] != want {
		t.Errorf("%s, made by %v", d, d.Origins)
	}
	if got := d.Origins[0].String(); got != "m.prism:4:3: command [a]" {
		t.Errorf("origin %q", got)
	}
}

// exported has the files of a model as PRISM writes them.
func exported(t *testing.T, model string) []runner.File {
	t.Helper()
	w, err := files.NewWriter(states(t, model), files.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var tra, sta, lab bytes.Buffer
	for _, err := range []error{w.Transitions(t.Context(), &tra), w.States(t.Context(), &sta), w.Labels(t.Context(), &lab)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return []runner.File{{Name: "exported.tra", Data: tra.Bytes()}, {Name: "exported.sta", Data: sta.Bytes()}, {Name: "exported.lab", Data: lab.Bytes()}}
}

// Tools merge transitions that are alike, each in its own way: what agrees says
// nothing of it, and what does not only of states.
func TestCountsAreDiagnosis(t *testing.T) {
	counted := func(name string, v result.Verdict, states, transitions int64) *canned {
		v.States, v.Transitions = states, transitions
		return says(name, v)
	}
	for _, tc := range []struct {
		name  string
		tool  *canned
		notes string
	}{
		{"merged", counted("storm", fraction(1, 4), 3, 3), ""},
		{"merged, and another value", counted("storm", fraction(1, 2), 3, 3), ""},
		{"no choices told", counted("storm", fraction(1, 2), 3, 4), ""},
		{"other states, and the value agrees", counted("storm", fraction(1, 4), 5, 4), ""},
		{"other states", counted("storm", fraction(1, 2), 5, 4), "different numbers of states: strict check 3, storm 5"},
	} {
		row := run(t, coin, "P=? [ F s=1 ]", says("a", fraction(1, 4)), tc.tool).Rows[0]
		if got := strings.Join(row.Notes, "; "); got != tc.notes {
			t.Errorf("%s: %s, notes %q, want %q", tc.name, row.Status, got, tc.notes)
		}
	}
}

// What an engine says against its own value is told, whatever becomes of the row.
func TestDoubtIsTold(t *testing.T) {
	v := fraction(1, 4)
	v.Doubt = "results are unreliable"
	for _, other := range []result.Verdict{fraction(1, 4), fraction(1, 2), fails(result.Unsupported)} {
		row := run(t, coin, "P=? [ F s=1 ]", says("a", v), says("b", other)).Rows[0]
		if text := row.Reason + strings.Join(row.Notes, "; "); !strings.Contains(text, "the value of a is doubtful (results are unreliable)") || row.Basis == agree.Proven || row.Status == crosscheck.Disagree {
			t.Errorf("%s %s: %q", row.Status, row.Basis, text)
		}
	}
}
