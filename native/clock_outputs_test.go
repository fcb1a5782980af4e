package native_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"tilecheck/certify"
	"tilecheck/certify/certificate"
	"tilecheck/internal/needs"
	"tilecheck/internal/wild"
	"tilecheck/native"
	"tilecheck/native/check"
	"tilecheck/native/load"
	"tilecheck/native/prove"
	"tilecheck/native/space/files"
	"tilecheck/prism/digital"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// certificateOf checks properties and returns the verdicts with the certificate file.
func certificateOf(t *testing.T, job runner.Job) ([]result.Verdict, []byte) {
	t.Helper()
	var text bytes.Buffer
	job.Numeric.Accuracy = result.Proven
	job.Certificate = &runner.CertificateFile{File: "m.cert", Write: func(_ string, write func(io.Writer) error) error { return write(&text) }}
	verdicts, err := runner.Check(t.Context(), native.New(), job)
	if err != nil {
		t.Fatalf("%v\n%s", err, job.Model)
	}
	return verdicts, text.Bytes()
}

// confirm checks a certificate, and that it is about the timed automaton of a job. It returns the first error.
func confirm(t *testing.T, text []byte, job runner.Job) ([]certify.Result, error) {
	t.Helper()
	file, err := certificate.Read(t.Context(), bytes.NewReader(text), certificate.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	results, err := certify.Check(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	job.Numeric.Accuracy, job.Props = result.Exact, nil
	for i := range results {
		if results[i].Err != nil {
			return results, results[i].Err
		}
		job.Props = append(job.Props, results[i].Property)
	}
	plan, err := runner.NewPlan(t.Context(), job)
	if err != nil {
		return nil, err
	}
	space, instances, err := load.ClockProperties(t.Context(), plan)
	if err != nil {
		return nil, err
	}
	model, err := prove.Model(space)
	if err != nil {
		t.Fatal(err)
	}
	if err := file.Model.Difference(model); err != nil {
		return nil, err
	}
	var properties []*prove.Property
	for _, instance := range instances {
		properties = append(properties, &prove.Property{Property: instance})
	}
	for _, err := range prove.Confirm(file, space, properties) {
		if err != nil {
			return nil, err
		}
	}
	return results, nil
}

// TestClockCertificates: certificates of random automata prove the fractions of the check without certificates, and are about the automaton. They are
// not about an automaton with another probability.
func TestClockCertificates(t *testing.T) {
	proven, other, models := 0, 0, needs.Some(120)
	for i := range models {
		newModel := wild.Timed
		if i%4 == 3 {
			newModel = wild.TimedOpen
		}
		model := newModel(5, uint64(i), 4)
		for _, property := range model.Props {
			if strings.HasPrefix(property, "filter") {
				continue
			}
			job := runner.Job{File: "m.prism", Model: []byte(model.Text), Props: []string{property}}
			want := checkClocks(t, model.Text, job.Props, "")[0]
			verdicts, text := certificateOf(t, job)
			if (verdicts[0].Err == nil) != (want.Err == nil) {
				t.Errorf("model %d: %s: %v, want %v\n%s", i, property, verdicts[0].Err, want.Err, model.Text)
				continue
			}
			if want.Err != nil || len(text) == 0 {
				continue
			}
			proven++
			results, err := confirm(t, text, job)
			switch checked := results[0:1]; {
			case err != nil:
				t.Errorf("model %d: %s: %v\n%s", i, property, err, model.Text)
			case !checked[0].Number && checked[0].Holds != want.Value.Bool:
				t.Errorf("model %d: %s: %t is proven, want %t\n%s", i, property, checked[0].Holds, want.Value.Bool, model.Text)
			case checked[0].Number && want.Value.Rat != nil && (checked[0].Lower == nil || checked[0].Lower.Cmp(want.Value.Rat) > 0 || checked[0].Upper == nil || checked[0].Upper.Cmp(want.Value.Rat) < 0):
				t.Errorf("model %d: %s: [%v, %v] is proven, want %v\n%s", i, property, checked[0].Lower, checked[0].Upper, want.Value.Rat, model.Text)
			}
			if changed := strings.Replace(model.Text, "0.5:", "0.25:", 1); changed != model.Text {
				changed = strings.Replace(changed, "+ 0.5:", "+ 0.75:", 1)
				job.Model = []byte(changed)
				if _, err := confirm(t, text, job); err != nil {
					other++
				}
			}
		}
	}
	t.Logf("%d proven, %d not about a changed automaton", proven, other)
	if proven < models || other == 0 {
		t.Errorf("only %d properties are proven, %d certificates are not about another automaton", proven, other)
	}
}

// TestClockCertificateOfAnotherAutomaton: a certificate is not about an automaton with another invariant, or about a property with another time bound.
func TestClockCertificateOfAnotherAutomaton(t *testing.T) {
	model := strings.Replace(switching, "const int SECOND;", "const int SECOND = 2;", 1)
	job := runner.Job{File: "m.prism", Model: []byte(model), Props: []string{`Pmax=? [ F<=6 "on" ]`, `R{"time"}min=? [ F "on" ]`, `Pmin=? [ F<=6 "on" ]`}}
	verdicts, text := certificateOf(t, job)
	for i, accuracy := range []result.Accuracy{result.Proven, result.Bounded, result.Proven} {
		if verdicts[i].Err != nil || verdicts[i].Accuracy != accuracy {
			t.Errorf("%s: %v %v %q, want %v", verdicts[i].Property, verdicts[i].Accuracy, verdicts[i].Err, verdicts[i].Warnings, accuracy)
		}
	}
	if !strings.Contains(strings.Join(verdicts[1].Warnings, " "), "not proven: the property needs another MDP of clocks than an earlier property") {
		t.Errorf("%q", verdicts[1].Warnings)
	}
	if results, err := confirm(t, text, job); err != nil || len(results) != 2 {
		t.Errorf("found %d results, %v", len(results), err)
	}
	for _, edit := range [][2]string{{"x<=4*SECOND", "x<=3*SECOND"}, {"0.7:", "0.6:"}, {"SECOND = 2", "SECOND = 3"}, {"l=2;", "l=1;"}} {
		changed := strings.Replace(model, edit[0], edit[1], 1)
		if edit[0] == "0.7:" {
			changed = strings.Replace(changed, "0.3:", "0.4:", 1)
		}
		job.Model = []byte(changed)
		if _, err := confirm(t, text, job); err == nil {
			t.Errorf("the certificate is about the automaton with %s, too", edit[1])
		}
	}
}

// TestClockOutputsRefused checks which representations of clocks have no certificate file and no scheduler.
func TestClockOutputsRefused(t *testing.T) {
	model := strings.Replace(switching, "const int SECOND;", "const int SECOND = 1;", 1)
	write := func(string, func(io.Writer) error) error { return nil }
	for _, clocks := range []runner.ClockMethod{runner.ClockZones, runner.ClockRegions} {
		for i, want := range []string{"want --clocks digital for a certificate file, or none", "want --clocks digital for the export of schedulers, or none"} {
			job := runner.Job{File: "m.prism", Model: []byte(model), Props: []string{`Pmax=? [ F "on" ]`}}
			job.Numeric.Clocks = clocks
			if i == 0 {
				job.Numeric.Accuracy, job.Certificate = result.Proven, &runner.CertificateFile{File: "m.cert", Write: write}
			} else {
				job.Scheduler = &runner.SchedulerFile{Target: "m.txt", Write: write}
			}
			verdicts, err := runner.Check(t.Context(), native.New(), job)
			if err != nil || verdicts[0].Err == nil || !strings.Contains(verdicts[0].Err.Message, want) {
				t.Errorf("%s: %v %v, want %s", clocks, err, verdicts, want)
			}
		}
	}
	job := runner.Job{File: "m.prism", Model: []byte(model), Props: []string{`Pmax=? [ F<=2 "on" ]`}}
	job.Numeric.Accuracy, job.Numeric.Clocks = result.Proven, runner.ClockZones
	verdicts, err := runner.Check(t.Context(), native.New(), job)
	if err != nil || verdicts[0].Accuracy == result.Proven || !strings.Contains(strings.Join(verdicts[0].Warnings, " "), "not proven: there is no certificate of zones of clocks") {
		t.Errorf("%v %v", err, verdicts)
	}
	job = runner.Job{File: "m.prism", Model: []byte(strings.Replace(model, "x>=SECOND", "x>SECOND", 1)), Props: []string{`Pmax=? [ F "on" ]`}, Outputs: runner.Outputs{Scheduler: &runner.SchedulerFile{Target: "m.txt", Write: write}}}
	verdicts, err = runner.Check(t.Context(), native.New(), job)
	if err != nil || verdicts[0].Err == nil || !strings.Contains(verdicts[0].Err.Message, "found a strict clock constraint, want a closed one for digital clocks") {
		t.Errorf("%v %v", err, verdicts)
	}
}

// TestClockScheduler: within a time that suffices for two tries, the scheduler switches as early as possible.
func TestClockScheduler(t *testing.T) {
	model := strings.Replace(switching, "const int SECOND;", "const int SECOND = 10;", 1)
	var text bytes.Buffer
	job := runner.Job{File: "m.prism", Model: []byte(model), Props: []string{`Pmax=? [ F<=30 "on" ]`}, Outputs: runner.Outputs{
		Scheduler: &runner.SchedulerFile{Target: "m.txt", Write: func(_ string, write func(io.Writer) error) error { return write(&text) }},
	}}
	verdicts, err := runner.Check(t.Context(), native.New(), job)
	if err != nil || verdicts[0].Err != nil {
		t.Fatal(err, verdicts[0].Err)
	}
	if warnings := strings.Join(verdicts[0].Warnings, " "); !strings.Contains(warnings, `the action "time" lets the time 10 pass, in which a clock counts 1`) {
		t.Errorf("%q", warnings)
	}
	for _, want := range []string{"(0,0,0):time", "(1,0,1):time"} { // location, x and the timer, in tens
		if !strings.Contains(strings.ReplaceAll(text.String(), "=", ":"), want) {
			t.Errorf("found\n%s\nwant %s", text.String(), want)
		}
	}
}

// TestClockModel: the MDP of an automaton without a property has the values of the automaton.
func TestClockModel(t *testing.T) {
	compared, models := 0, needs.Some(100)
	for i := range models {
		newModel, method := wild.Timed, digital.Digital
		if i%4 == 3 {
			newModel, method = wild.TimedOpen, digital.Regions
		}
		model := newModel(6, uint64(i), 0)
		for _, query := range []string{`Pmin=? [ F "goal" ]`, `Pmax=? [ F "goal" ]`, `R{"time"}min=? [ F "goal" ]`, `R{"moves"}max=? [ F "goal" ]`} {
			if method == digital.Regions && query[0] == 'R' {
				continue
			}
			want := checkClocks(t, model.Text, []string{query}, "")[0]
			if want.Err != nil {
				continue
			}
			compared++
			if got := checkClockModel(t, model.Text, query, method); fmt.Sprint(got) != fmt.Sprint(want.Value) {
				t.Errorf("model %d: %s of the MDP is %v, want %v\n%s", i, query, got, want.Value, model.Text)
			}
		}
	}
	if compared < models {
		t.Errorf("compared %d values", compared)
	}
}

// checkClockModel returns the value of a property of the MDP of an automaton without a property.
func checkClockModel(t *testing.T, text, query string, method digital.Method) result.Value {
	t.Helper()
	job := runner.Job{File: "m.prism", Model: []byte(text)}
	job.Numeric.Accuracy = result.Exact
	plan, err := runner.PlanModel(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	program, err := plan.Model.Instantiate(nil)
	if err != nil {
		t.Fatal(err)
	}
	space, _, warnings, err := load.ClockModel(t.Context(), plan, program, program.Labels, method)
	if err != nil || len(warnings) > 0 {
		t.Fatalf("%v %q\n%s", err, warnings, text)
	}
	parsed, err := syntax.ParseProperties("p.props", []byte(query))
	if err != nil {
		t.Fatal(err)
	}
	properties, err := program.Model().CheckProperties(parsed)
	if err != nil {
		t.Fatal(err)
	}
	instances, full, err := properties.Instantiate(space.Program(), []int{0}, nil)
	if err != nil {
		t.Fatal(err)
	}
	property := runner.Instance{Property: instances[0], Program: full, File: "p.props"}
	verdict := check.New(space.Compiled(), space, check.Options{Accuracy: result.Exact}).Check(t.Context(), &property)
	if verdict.Err != nil {
		t.Fatalf("%v\n%s", verdict.Err, text)
	}
	return verdict.Value
}

// TestClockModelLabels: the clocks of an MDP without a property count up to what labels compare them with, and labels that digital clocks do not support
// are left out.
func TestClockModelLabels(t *testing.T) {
	const model = `pta
module m
  l : [0..1]; x : clock;
  invariant l=0 => x<=2 endinvariant
  [] l=0 & x>=2 -> (l'=1);
endmodule
`
	plan, err := runner.PlanModel(t.Context(), runner.Job{File: "m.prism", Model: []byte(model)})
	if err != nil {
		t.Fatal(err)
	}
	program, err := plan.Model.Instantiate(nil)
	if err != nil {
		t.Fatal(err)
	}
	withLabels, err := files.ProgramWithLabels(program, syntax.PRISM, "p.props", []byte(`label "late" = x>=20; label "early" = x<2;`))
	if err != nil {
		t.Fatal(err)
	}
	space, translated, warnings, err := load.ClockModel(t.Context(), plan, withLabels, program.Labels, digital.Digital)
	if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], `left out: label "early": found a strict clock constraint`) {
		t.Fatalf("%v %q", err, warnings)
	}
	action, step := translated.TimeStep()
	late, err := space.States(translated.Program.Labels[0].Expr)
	if err != nil || late.Count() != 2 || len(translated.Program.Labels) != 1 || action != "time" || step != 2 {
		t.Errorf("%v, %d late states, want 2: x=20 and x>20; %d labels, action %q of time %d", err, late.Count(), len(translated.Program.Labels), action, step)
	}
}

// TestClockReadByProperty: a clock that only one of two properties reads counts in the MDP of that property, although both compare it with the same
// numbers.
func TestClockReadByProperty(t *testing.T) {
	const model = `pta
module m
  a : [0..2]; x : clock;
  invariant a=0 => x<=2 endinvariant
  [] a=0 & x>=2 -> (a'=1);
  [] a=1 -> (a'=2);
endmodule
`
	properties := []string{"Pmax=? [ F a=2 ]", "Pmax=? [ F a=2 & x<=0 ]", "Pmax=? [ F a=2 & x>=2 ]", "Pmax=? [ F a=2 ]"}
	for _, clocks := range []runner.ClockMethod{runner.DigitalClocks, runner.ClockRegions, runner.ClockZones} {
		for i, verdict := range checkClocks(t, model, properties, clocks) {
			if got, want := clockAnswer(verdict), []string{"1", "0", "1", "1"}[i]; got != want {
				t.Errorf("%s with %s: %s, want %s", properties[i], clocks, got, want)
			}
		}
	}
}

// TestClockPropertiesTogether: properties that are checked together have the values that they have alone.
func TestClockPropertiesTogether(t *testing.T) {
	for i := range needs.Some(100) {
		model := wild.Timed(7, uint64(i), 2)
		properties := model.Props
		for n := range 3 {
			properties = append(properties, fmt.Sprintf("Pmax=? [ F l0=%d & x0<=%d ]", n, n), fmt.Sprintf("Pmin=? [ F l0=%d & x0>=%d ]", n, n))
		}
		together := checkClocks(t, model.Text, properties, runner.DigitalClocks)
		for k, property := range properties {
			alone := checkClocks(t, model.Text, []string{property}, runner.DigitalClocks)[0]
			if got, want := fmt.Sprint(together[k].Value, together[k].Err), fmt.Sprint(alone.Value, alone.Err); got != want {
				t.Errorf("model %d: %s: %s, alone %s\n%s", i, property, got, want, model.Text)
			}
		}
	}
}
