package native

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tilecheck/prism/sema"
	"tilecheck/result"
	"tilecheck/runner"
)

// The transcripts are runs of PRISM 4.10.2-dev with -sim. Every simulated
// property must give the same answer: the same number of samples, value,
// half-width and path lengths where nothing is random, an overlapping interval
// where something is, an error where there was one.
func TestConformance(t *testing.T) {
	const dir = "../testdata/conformance"
	names, err := filepath.Glob(filepath.Join(dir, "*", "prism*.txt"))
	if err != nil || len(names) == 0 {
		t.Fatalf("%d transcripts, %v", len(names), err)
	}
	runs := 0
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		command, log, _ := strings.Cut(string(text), "\n")
		if !slices.Contains(strings.Fields(command), "-sim") {
			continue
		}
		runs++
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(strings.TrimSuffix(rel, ".txt"), func(t *testing.T) { conform(t, rel, command, log) })
	}
	if runs < 30 {
		t.Errorf("%d simulations among the transcripts, want at least 30", runs)
	}
}

// different says where we differ from PRISM, and why. The key is the
// transcript and, behind a blank, a property.
var different = map[string]string{
	"sim_badvals/prism.txt":                                 "PRISM refuses the switch -simsamples 0; here 0 means not given, and the command line refuses it",
	"sim_badvals/prism.conf.txt":                            "PRISM refuses the switch -simconf 1; here a confidence of 0 means not given, and the command line refuses it",
	"err_init_out_of_range/prism.sim.txt":                   "an initial value outside its range is an error",
	"rt_out_of_range/prism.sim.txt P=? [ F s=3 ]":           "an update that leaves the range is an error",
	"sim_method_sticky/prism.txt P=? [ F s=2 ]":             "the default method is chosen for every property, not once",
	"sim_method_sticky2/prism.txt P>=0.9 [ F s=2 ]":         "the default method is chosen for every property, not once",
	"sim_deadlock/prism.nofixdl.txt P=? [ F \"deadlock\" ]": "a path that is decided on arrival in a deadlock does not stay there",
	"sim_deadlock/prism.nofixdl.txt P=? [ X s=1 ]":          "a path that is decided on arrival in a deadlock does not stay there",
}

// section is what a transcript says about one property and valuation.
type section struct {
	property  string
	constants string
	samples   int64
	min, max  int64
	value     string
	half      float64
	failed    bool
}

var (
	sectionStart = regexp.MustCompile(`(?m)^Simulating: (.*)$`)
	completeLine = regexp.MustCompile(`(?m)^Sampling complete: (\d+) iterations`)
	lengthLine   = regexp.MustCompile(`(?m)^Path length statistics: average \S+, min (\d+), max (\d+)`)
	resultLine   = regexp.MustCompile(`(?m)^(?:Result: |(\S+) : )(\S+)(?: \(\+/- (\S+) with probability \S+; .*\)| \(with probability \S+\))?$`)
	errorLine    = regexp.MustCompile(`(?m)^Error: `)
)

func sections(t *testing.T, log string) []section {
	var out []section
	starts := sectionStart.FindAllStringSubmatchIndex(log, -1)
	for i, at := range starts {
		end := len(log)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		body := log[at[0]:end]
		s := section{property: log[at[2]:at[3]], failed: errorLine.MatchString(body)}
		if m := completeLine.FindStringSubmatch(body); m != nil {
			s.samples = number[int64](t, m[1])
		}
		if m := lengthLine.FindStringSubmatch(body); m != nil {
			s.min, s.max = number[int64](t, m[1]), number[int64](t, m[2])
		}
		// An error behind a result is that of the next property.
		results := resultLine.FindAllStringSubmatch(body, -1)
		for _, m := range results {
			s.constants, s.value, s.failed = m[1], m[2], false
			if s.half = 0; m[3] != "" {
				s.half = number[float64](t, m[3])
			}
			out = append(out, s)
		}
		if len(results) == 0 {
			out = append(out, s)
		}
	}
	return out
}

func number[T int64 | float64](t *testing.T, text string) T {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return T(x)
}

// jobOf translates a command line of PRISM.
func jobOf(t *testing.T, dir, command string) runner.Job {
	read := func(name string) []byte {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	job := runner.Job{Settings: runner.Settings{Method: runner.Sim}, File: "model.prism", Model: read("model.prism"), PropsFile: "props.props", Properties: read("props.props")}
	args := strings.Fields(command)
	for i := 4; i < len(args); i++ { // $ prism model.prism props.props
		sim := &job.Simulation
		next := func() string { i++; return args[i] }
		switch args[i] {
		case "-sim", "-simmanual":
		case "-nofixdl":
			job.NoFixDeadlocks = true
		case "-exportresults":
			next()
		case "-const":
			job.Consts = append(job.Consts, next())
		case "-simmethod":
			job.Method = runner.Method(next())
		case "-simsamples":
			sim.Samples = number[int64](t, next())
		case "-simwidth":
			sim.Width = number[float64](t, next())
		case "-simapprox":
			sim.Approximation = number[float64](t, next())
		case "-simconf":
			sim.Confidence = 1 - number[float64](t, next())
		case "-simpathlen":
			sim.MaxPath = number[int64](t, next())
		case "-simmaxrwd":
			sim.MaxReward = number[float64](t, next())
		case "-simvar":
			sim.MinSamples = number[int64](t, next())
		default:
			t.Fatalf("unknown switch %s", args[i])
		}
	}
	return job
}

func conform(t *testing.T, rel, command, log string) {
	if why, ok := different[rel]; ok {
		t.Logf("not compared: %s", why)
		return
	}
	got, err := runner.Check(t.Context(), New(), jobOf(t, filepath.Join("../testdata/conformance", filepath.Dir(rel)), command))
	if refused := strings.Contains(log, "[exit code 1]"); refused || err != nil {
		if !refused || err == nil {
			t.Errorf("error %v; PRISM refused: %v", err, refused)
		}
		return
	}
	want := sections(t, log)
	for _, v := range got {
		i := slices.IndexFunc(want, func(w section) bool { return w.property == v.Property && w.constants == constants(&v) })
		why, differs := different[rel+" "+v.Property]
		if i < 0 { // an error before sampling
			if v.Err == nil && !differs {
				t.Errorf("%s %s: PRISM has no result", v.Property, constants(&v))
			}
			continue
		}
		w := want[i]
		want = slices.Delete(want, i, i+1)
		if differs {
			t.Logf("%s: %s", w.property, why)
		} else if msg := compare(&v, w); msg != "" {
			t.Errorf("%s %s: %s", w.property, w.constants, msg)
		}
	}
	for _, w := range want {
		t.Errorf("%s %s: no verdict", w.property, w.constants)
	}
}

func constants(v *result.Verdict) string {
	var out []string
	for _, c := range v.Constants {
		out = append(out, c.Name+"="+c.Value)
	}
	return strings.Join(out, ",")
}

// compare returns how a verdict differs from PRISM's answer; empty if it does not.
func compare(v *result.Verdict, w section) string {
	switch {
	case w.failed != (v.Err != nil):
		return fmt.Sprintf("error %v, PRISM failed: %v", v.Err, w.failed)
	case w.failed:
		return ""
	case v.Samples != w.samples:
		return fmt.Sprintf("%d samples, PRISM took %d", v.Samples, w.samples)
	case v.Value.Kind == result.Boolean:
		if fmt.Sprint(v.Value.Bool) != w.value {
			return fmt.Sprintf("%v, PRISM says %s", v.Value.Bool, w.value)
		}
		return ""
	}
	theirs, err := strconv.ParseFloat(w.value, 64)
	if err != nil {
		return err.Error()
	}
	random := theirs != 0 && theirs != 1 && strings.HasPrefix(w.property, "P")
	switch {
	case random && math.Abs(theirs-v.Value.Num) > w.half+*v.HalfWidth:
		return fmt.Sprintf("%v +/- %v, PRISM says %v +/- %v", v.Value.Num, *v.HalfWidth, theirs, w.half)
	case !random && sema.DoubleValue(v.Value.Num).String() != w.value:
		return fmt.Sprintf("%v, PRISM says %s", v.Value.Num, w.value)
	case !random && *v.HalfWidth != w.half:
		return fmt.Sprintf("half-width %v, PRISM's is %v", *v.HalfWidth, w.half)
	case w.constants == "" && (v.Steps.Min != w.min || v.Steps.Max != w.max):
		// For several values of a constant PRISM samples longer paths once.
		return fmt.Sprintf("paths of %d to %d steps, PRISM's have %d to %d", v.Steps.Min, v.Steps.Max, w.min, w.max)
	}
	return ""
}
