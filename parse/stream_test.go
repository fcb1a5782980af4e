package parse_test

import (
	"bytes"
	"io"
	"maps"
	"math/rand/v2"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"tilecheck/internal/progress"
	"tilecheck/parse"
	"tilecheck/result"
)

func newParser(tool parse.Tool, opts parse.Options) *parse.Parser {
	if tool == parse.Storm {
		return parse.NewStorm(opts)
	}
	return parse.NewPRISM(opts)
}

// feed parses a transcript in pieces of random length.
func feed(tool parse.Tool, tr parse.Transcript, rng *rand.Rand, opts parse.Options) *parse.Log {
	p := newParser(tool, opts)
	out, errs := tr.Stdout, tr.Stderr
	for len(out) > 0 || len(errs) > 0 {
		n := min(1+rng.IntN(1+rng.IntN(200)), len(out))
		p.Write(out[:n])
		k := min(1+rng.IntN(50), len(errs))
		p.Stderr().Write(errs[:k])
		out, errs = out[n:], errs[k:]
	}
	return p.Finish(tr.End)
}

// checkLog states what holds of every log.
func checkLog(t *testing.T, log *parse.Log) {
	t.Helper()
	for i, v := range log.Verdicts() {
		p := &log.Properties[i]
		if (v.Err == nil) == (v.Value.Kind == result.NoValue) {
			t.Errorf("%q: value %q and failure %v", p.Text, showValue(v.Value), v.Err)
		}
		if b := v.Bound; b != nil && (v.Value.Kind != result.Number || !b.Contains(v.Value.Num)) {
			t.Errorf("%q: bound %v without %v", p.Text, *b, v.Value)
		}
		if v.Value.Kind == result.NoValue && (v.Bound != nil || v.HalfWidth != nil || v.Accuracy != result.Unknown) {
			t.Errorf("%q: no value and accuracy %v", p.Text, v.Accuracy)
		}
		if (p.Accuracy == result.Probable) != (v.Confidence > 0) && v.Value.Kind != result.NoValue {
			t.Errorf("%q: accuracy %v with confidence %v", p.Text, p.Accuracy, v.Confidence)
		}
	}
}

// checkPrefix requires that whatever the log of a prefix gives a value has the
// same value in the whole log, or has been refused there.
func checkPrefix(t *testing.T, prefix, whole *parse.Log) {
	t.Helper()
	for i := range prefix.Properties {
		p := &prefix.Properties[i]
		if p.Value.Kind == result.NoValue {
			continue
		}
		if i >= len(whole.Properties) {
			t.Errorf("%q: %s in a prefix only", p.Text, p.ValueText)
			continue
		}
		q := &whole.Properties[i]
		at := showConstants(slices.Concat(p.Model, p.Constants)...)
		if p.Text != q.Text || at != showConstants(slices.Concat(q.Model, q.Constants)...) {
			t.Errorf("property %d is %q (%s) in a prefix, %q in the whole", i, p.Text, at, q.Text)
		}
		if q.Value.Kind != result.NoValue && (showValue(p.Value) != showValue(q.Value) || p.ValueText != q.ValueText || showAccuracy(p) != showAccuracy(q)) {
			t.Errorf("%q: %s %s in a prefix, %s %s in the whole", p.Text, p.ValueText, showAccuracy(p), q.ValueText, showAccuracy(q))
		}
	}
}

func TestChunks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	all := transcripts(t)
	for _, path := range slices.Sorted(maps.Keys(all)) {
		tool, tr := all[path], readTranscript(t, path)
		whole, err := tr.Log(tool, parse.Options{})
		if err != nil {
			t.Fatal(err)
		}
		checkLog(t, whole)
		want := encode(t, whole)
		if got := encode(t, feed(tool, tr, rng, parse.Options{})); got != want {
			t.Errorf("%s: another record in pieces:\n%s\nwant\n%s", path, got, want)
		}
		tr.Stdout = bytes.ReplaceAll(tr.Stdout, []byte("\n"), []byte("\r\n"))
		if got := encode(t, feed(tool, tr, rng, parse.Options{})); got != want {
			t.Errorf("%s: another record with CR LF:\n%s\nwant\n%s", path, got, want)
		}
	}
}

// TestPrefixes cuts every transcript in several places, among them the middle
// of each result line.
func TestPrefixes(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	all := transcripts(t)
	for _, path := range slices.Sorted(maps.Keys(all)) {
		tool, tr := all[path], readTranscript(t, path)
		whole := parse.Transcript{Stdout: tr.Stdout}
		log, err := whole.Log(tool, parse.Options{})
		if err != nil {
			t.Fatal(err)
		}
		cuts := []int{rng.IntN(len(tr.Stdout) + 1), rng.IntN(len(tr.Stdout) + 1)}
		for _, at := range regexp.MustCompile(`(?m)^Result.*$`).FindAllIndex(tr.Stdout, 10) {
			cuts = append(cuts, at[1], at[0]+rng.IntN(at[1]-at[0]))
		}
		for _, cut := range cuts {
			part, err := parse.Transcript{Stdout: tr.Stdout[:cut]}.Log(tool, parse.Options{})
			if err != nil {
				t.Fatal(err)
			}
			checkLog(t, part)
			checkPrefix(t, part, log)
			if t.Failed() {
				t.Fatalf("%s: cut at %d", path, cut)
			}
		}
	}
}

// TestShortLines cuts every line of some transcripts at every byte.
func TestShortLines(t *testing.T) {
	for path, tool := range map[string]parse.Tool{
		pm + "sim-experiment.log": parse.PRISM, pm + "hybrid.log": parse.PRISM, pm + "oom-java.log": parse.PRISM, pm + "sim-pathlen-error.log": parse.PRISM,
		cf + "rt_multi_init/prism.txt": parse.PRISM, st + "dtmc-filter-many.log": parse.Storm, st + "mdp-dd.log": parse.Storm, st + "timeout.log": parse.Storm,
	} {
		tr := readTranscript(t, path)
		lines := bytes.SplitAfter(tr.Stdout, []byte("\n"))
		for i, line := range lines {
			for n := range min(len(line), 60) {
				out := slices.Concat(bytes.Join(lines[:i], nil), line[:n], []byte("\n"), bytes.Join(lines[i+1:], nil))
				log, err := parse.Transcript{Stdout: out, Stderr: tr.Stderr}.Log(tool, parse.Options{})
				if err != nil {
					t.Fatal(err)
				}
				checkLog(t, log)
			}
		}
	}
}

// TestEveryResult counts the result lines another way: each belongs to exactly
// one property.
func TestEveryResult(t *testing.T) {
	line := regexp.MustCompile(`(?m)^Result(?: \([^\n]*?\))?: |^[\w=,.:-]+ : .*(?:probability|Error)`)
	for path, tool := range transcripts(t) {
		log, tr := readLog(t, path, tool), readTranscript(t, path)
		want, got := len(line.FindAll(tr.Stdout, -1)), 0
		for _, p := range log.Properties {
			if p.ValueText != "" || strings.HasPrefix(path, "logs/prism/recorded/sim-exp") && p.Err != nil && p.Err.Class == result.TypeError {
				got++
			}
		}
		if strings.HasSuffix(path, "/multi-pareto.log") {
			want-- // the curve is on the lines below
		}
		if strings.HasSuffix(path, "/dtmc-filter-many.log") {
			want-- // "Result (…): ERROR (…)"
		}
		if path == "logs/prism/recorded/multiline.log" {
			want -= 2 // in the command, which was recorded and echoed
		}
		if got != want {
			t.Errorf("%s: %d properties have a result, want %d", path, got, want)
		}
	}
}

const head = "PRISM\n=====\n\nVersion: 4.10.2-dev\nCommand line: prism m.nm m.props\n\nParsing PRISM model file \"m.nm\"...\n\nType:        DTMC\nModules:     M\n\n"

const rule = "---------------------------------------------------------------------\n\n"

// TestForms states what single lines become, in logs made up around them.
func TestForms(t *testing.T) {
	for _, c := range []struct{ line, value, accuracy, failure string }{
		{"Result: 0.5 (value in the initial state)", "number 0.5", "unknown", ""}, // PRISM before 4.7
		{"Result: [0.1,0.5] (range of values over initial states)", "range [0.1, 0.5]", "unknown", ""},
		{"Result (minimum probability): 0.5", "number 0.5", "unknown", ""},
		{"Result: 1.2E-5 (+/- 1.0E-7; rel err 0.01)", "number 1.2e-05", "claimed [1.1899999999999998e-05, 1.2100000000000003e-05]", ""},
		{"Result: 1.2e-05", "number 1.2e-05", "unknown", ""},
		{"Result: 4.9E-324", "number 5e-324", "unknown", ""},
		{"Result: -Infinity", "number -Inf", "unknown", ""},
		{"Result: 1/3 (exact) (~0.3333333333333333)", "number 0.3333333333333333 = 1/3", "exact", ""},
		{"Result: 12345678901234567890", "integer 1.2345678901234567e+19 = 12345678901234567890", "unknown", ""},
		{"Result: 0.5 (exact floating point) (odd remark)", "number 0.5", "float", ""},
		{"Result: 0.5 (+/- NaN; rel err NaN)", "number 0.5", "unknown", ""},
		{"Result: 0.5 (+/- -1.0; rel err 0.1)", "number 0.5", "unknown", ""},
		{"Result: 0.5 (+/- 0.1 with probability 1.5; rel err 0.1)", "number 0.5", "unknown", ""},
		{"Result: 1/0 (exact) (Infinity)", "", "unknown", "unsupported: found a fraction with denominator 0"},
		{"Result: 1.0E400", "", "unknown", "unsupported: number outside the range of a double: 1.0E400"},
		{"Result: 0x1p-2", "", "unknown", `unsupported: found "0x1p-2", want a number, a fraction or a Boolean`},
		{"Result: 1_000", "", "unknown", `unsupported: found "1_000", want a number, a fraction or a Boolean`},
		{"Result: 0.5 0.7", "", "unknown", `unsupported: found " 0.7" after the value`},
		{"Result: 0.5(exact)", "", "unknown", `unsupported: found "0.5(exact)", want a number, a fraction or a Boolean`},
		{"Result: 0.5 (exact", "", "unknown", `unsupported: found " (exact" after the value`},
		{"Result: [0.5,0.1]", "", "unknown", "unsupported: found a range whose low end is above its high end"},
		{"Result: [false,true]", "", "unknown", "unsupported: the result differs between initial states"},
		{"Result: [(0.5, 0.5), (0.0, 0.8)]", "curve [(0,0.8),(0.5,0.5)]", "unknown", ""},
		{"Result: [(0.5, 0.5), (0.0)]", "", "unknown", `unsupported: found the point "0.0)" in a Pareto curve, want as many numbers in each, two at least`},
		{"Result: [(0.5, x)]", "", "unknown", `unsupported: found "x" in a Pareto curve, want points of numbers`},
		{"Result: [(0.5, 0.5", "", "unknown", `unsupported: found "[(0.5, 0.5", want [low,high]`},
		{"Result: ([0.0,1.0]): 1/2 (exact)", "", "unknown", "unsupported: the result is a function of parameters"},
		{"Result: ", "", "unknown", `unsupported: found "", want a number, a fraction or a Boolean`},
		{"Result: " + strings.Repeat("1", 200_000) + "/3 (exact)", "", "unknown", "unsupported: a number of 200002 characters is longer than is read"},
		{"Results: 0.5", "", "unknown", "truncated: the output ends in the middle"},
		{" Result: 0.5", "", "unknown", "truncated: the output ends in the middle"},
	} {
		p := parse.NewPRISM(parse.Options{})
		io.WriteString(p, head+rule+"Model checking: P=? [ F x ]\n\n"+c.line+"\n")
		log := p.Finish(parse.End{})
		checkLog(t, log)
		got := &log.Properties[0]
		if len(log.Properties) != 1 || showValue(got.Value) != c.value || showAccuracy(got) != c.accuracy || showFailure(got.Err) != c.failure {
			t.Errorf("%.80q: %q %q %q, want %q %q %q", c.line, showValue(got.Value), showAccuracy(got), showFailure(got.Err), c.value, c.accuracy, c.failure)
		}
	}
}

// TestNotFooled holds outputs that would fool a reader that counts, or that
// takes the last word for the whole.
func TestNotFooled(t *testing.T) {
	ended := parse.End{Known: true}
	for name, c := range map[string]struct {
		out  string
		end  parse.End
		want []string
	}{
		"the first property fails": {
			head + "2 properties:\n(1) \"a\": P=? [ F x ]\n(2) \"b\": P=? [ F y ]\n\n" + rule + "Model checking: \"a\": P=? [ F x ]\n\nError: Not supported.\n\n" + rule + "Model checking: \"b\": P=? [ F y ]\n\nResult: 0.25\n\n",
			ended,
			[]string{"a other: Not supported", "b number 0.25"},
		},
		"a property without a word": {
			head + rule + "Model checking: P=? [ F x ]\n\n" + rule + "Model checking: P=? [ F y ]\n\nResult: 0.25\n\n",
			ended,
			[]string{" other: PRISM printed no result", " number 0.25"},
		},
		"exit code 0 and no result": {
			head + rule + "Model checking: P=? [ F x ]\n\n",
			ended,
			[]string{" truncated: the output ends before the result, although the exit code is 0"},
		},
		"listed, never begun": {
			head + "2 properties:\n(1) P=? [ F x ]\n(2) \"b\": P=? [ F y ]\n\n" + rule + "Model checking: P=? [ F x ]\n\nResult: 0.5\n\n",
			ended,
			[]string{" number 0.5", "b truncated: not begun: the output ends before this property"},
		},
		"the same text twice": {
			head + "2 properties:\n(1) P=? [ F x ]\n(2) P=? [ F x ]\n\n" + rule + "Model checking: P=? [ F x ]\n\nResult: 0.5\n\n",
			ended,
			[]string{" number 0.5", " truncated: not begun: the output ends before this property"},
		},
		"one selected": {
			strings.Replace(head, "m.props", "m.props -prop 2", 1) + "2 properties:\n(1) P=? [ F x ]\n(2) P=? [ F y ]\n\n" + rule + "Model checking: P=? [ F y ]\n\nResult: 0.5\n\n",
			ended,
			[]string{" number 0.5"},
		},
		"two results": {
			head + rule + "Model checking: P=? [ F x ]\n\nResult: 0.5\n\nResult: 0.75\n\n",
			ended,
			[]string{" other: PRISM printed two results"},
		},
		"a result in the command line": {
			"PRISM\n=====\n\nVersion: 4.10.2-dev\nCommand line: prism m.nm -pf P=? [ F x ];\nModel checking: P=? [ F x ]\nResult: 0.5\n\nParsing PRISM model file \"m.nm\"...\n\nType:        DTMC\n\n" + rule + "Model checking: P=? [ F x ]\n\nResult: 0.25\n\n",
			ended,
			[]string{" number 0.25"},
		},
		"a result cut in the middle": {
			head + rule + "Model checking: P=? [ F x ]\n\nResult: 0.5\n\n" + rule + "Model checking: P=? [ F y ]\n\nResult: 0.123",
			parse.End{},
			[]string{" number 0.5", " truncated: the output ends in the middle"},
		},
		"a result of the last second": {
			head + rule + "Model checking: P=? [ F x ]\n\nError: Timeout (after 3 seconds).\n\nResult: 0.5\n",
			parse.End{Known: true, Code: 1},
			[]string{" number 0.5"},
		},
		"an error after the result": {
			head + rule + "Model checking: P=? [ F x ]\n\nResult: 0.5\n\nError: Couldn't open file \"s\" for output.\n\n",
			ended,
			[]string{" number 0.5"},
		},
		"killed while checking the second": {
			head + rule + "Model checking: P=? [ F x ]\n\nResult: 0.5\n\n" + rule + "Model checking: P=? [ F y ]\n\nStarting iterations...\n",
			parse.End{Known: true, Code: 137},
			[]string{" number 0.5", " killed: killed by signal 9"},
		},
		"stopped by its owner": {
			head + rule + "Model checking: P=? [ F x ]\n\nResult: 0.5\n\n" + rule + "Model checking: P=? [ F y ]\n\n",
			parse.End{Known: true, Code: 137, Stopped: result.Memory},
			[]string{" number 0.5", " memory: memory limit reached"},
		},
		"an experiment cut in its list": {
			head + rule + "Simulating: P=? [ F<=k x ]\nProperty constants: k=1:1:3\n\nResults:\nk=1 : 0.5 (+/- 0.1 with probability 0.99; rel err 0.2)\nk=2 : 0.7 (+/- 0.",
			parse.End{},
			[]string{" number 0.5", " truncated: the output ends in the middle"},
		},
		"an experiment cut after a line": {
			head + rule + "Simulating: P=? [ F<=k x ]\nProperty constants: k=1:1:3\n\nResults:\nk=1 : 0.5 (+/- 0.1 with probability 0.99; rel err 0.2)\n",
			parse.End{Known: true, Code: 137},
			[]string{" number 0.5", " killed: killed by signal 9"},
		},
		"both streams in one": {
			head + rule + "Model checking: P=? [ F x ]\n\nBuilding model (engine:explicit)...\n\nComputing reachable states... 118 Exception in thread \"main\" java.lang.OutOfMemoryError: Java heap space\n\tat a.b(c.java:1)\n",
			parse.End{Known: true, Code: 1},
			[]string{" heap: Java ran out of heap memory (java.lang.OutOfMemoryError); raise it with -javamaxmem"},
		},
		"stack overflow": {
			head + rule + "Model checking: P=? [ F x ]\n\njava.lang.StackOverflowError\njava.lang.StackOverflowError\n    at x.y(z.java:1)\n\nTry increasing the value of the Java stack size (via the -javastack argument).\n\nError: Caught unhandled exception, aborting....\n",
			parse.End{Known: true, Code: 1},
			[]string{" memory: unhandled exception: java.lang.StackOverflowError"},
		},
	} {
		p := parse.NewPRISM(parse.Options{})
		io.WriteString(p, c.out)
		log := p.Finish(c.end)
		checkLog(t, log)
		var got []string
		for _, q := range log.Properties {
			got = append(got, q.Name+" "+showValue(q.Value)+showFailure(q.Err))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got\n%q, want\n%q", name, got, c.want)
		}
	}
}

func TestStormNotFooled(t *testing.T) {
	const start = "Storm 1.12.0\n\nDate: x\nCommand line arguments: --prism m.prism --prop 'a'\n\nTime for model input parsing: 0.004s.\n\n"
	const one, two = "Model checking property \"1\": P=? [F (x = 1)] ...\n", "\nModel checking property \"2\": P=? [F (x = 2)] ...\n"
	for name, c := range map[string]struct {
		out, stderr string
		end         parse.End
		want        []string
	}{
		"small numbers":    {start + one + "Result (for initial states): 1.2e-05\n", "", parse.End{}, []string{"1 number 1.2e-05"}},
		"several Booleans": {start + one + "Result (for initial states): {true, false}\n", "", parse.End{}, []string{"1 boolean false"}},
		"sound after all not": {
			strings.Replace(start, "'a'", "'a' --sound", 1) + one + " WARN (SymbolicMinMaxLinearEquationSolver.cpp:64): Selected method is not supported for this solver, switching to value iteration.\nResult (for initial states): 0.5\n",
			"",
			parse.End{},
			[]string{"1 number 0.5"},
		},
		"a range":             {start + one + "Result (for initial states): [0.25, 0.5]\n", "", parse.End{}, []string{"1 range [0.25, 0.5]"}},
		"no convergence":      {start + one + " WARN (NativeLinearEquationSolver.cpp:1): Iterative solver did not converge after 3 iterations.\nResult (for initial states): 0.3\n", "", parse.End{}, []string{"1 non-convergence: Iterative solver did not converge after 3 iterations."}},
		"aborted":             {start + one + "Result till abort (for initial states): 0.3\n", "ERROR: The program received signal 14 and will be aborted in 3s.\n", parse.End{Known: true, Code: 14}, []string{"1 timeout: aborted before the end: the value so far is no result"}},
		"first without":       {start + one + two + "Result (for initial states): 0.3\n", "", parse.End{}, []string{"1 other: Storm printed no result", "2 number 0.3"}},
		"two results":         {start + one + "Result (for initial states): 0.3\nResult (for initial states): 0.4\n", "", parse.End{}, []string{"1 other: Storm printed two results"}},
		"a timeout's code":    {start + one, "", parse.End{Known: true, Code: 14}, []string{"1 timeout: time limit reached (signal 14)"}},
		"cut":                 {start + one + "Result (for initial states): 0.3\n" + two + "Result (for initial states): 0.1666", "", parse.End{}, []string{"1 number 0.3", "2 truncated: the output ends in the middle"}},
		"no memory":           {start + one + "ERROR (storm-cli.cpp:52): An unexpected exception occurred and caused Storm to terminate. The message of this exception is: std::bad_alloc\n", "", parse.End{Known: true, Code: 2}, []string{"1 memory: std::bad_alloc"}},
		"in the command line": {"Storm 1.12.0\n\nCommand line arguments: --prop 'P=? [F x=1];\n" + one + "Result (for initial states): 0.3\n'\n", "", parse.End{}, nil},
	} {
		p := parse.NewStorm(parse.Options{})
		io.WriteString(p, c.out)
		io.WriteString(p.Stderr(), c.stderr)
		log := p.Finish(c.end)
		checkLog(t, log)
		var got []string
		for _, q := range log.Properties {
			got = append(got, q.Name+" "+showValue(q.Value)+showFailure(q.Err))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got\n%q, want\n%q", name, got, c.want)
		}
		if i := slices.IndexFunc(log.Properties, func(p parse.Property) bool { return p.Accuracy == result.Claimed }); i >= 0 {
			t.Errorf("%s: property %d is claimed", name, i)
		}
	}
}

// TestHuge reads counts beyond an int64, which PRISM prints as doubles.
func TestHuge(t *testing.T) {
	p := parse.NewPRISM(parse.Options{})
	io.WriteString(p, head+rule+"Model checking: P=? [ F x ]\n\nBuilding model (engine:symbolic)...\n\nTime for model construction: 0.1 seconds.\n\nType:        DTMC\nStates:      1.0E24 (1 initial)\nTransitions: 9223372036854775807\n\nResult: 0.5\n")
	log := p.Finish(parse.End{Known: true})
	v := log.Verdicts()[0]
	if v.States != 0 || v.Transitions != 1<<63-1 || !slices.Equal(v.Warnings, []string{"States: 1.0E24 (1 initial): more than are counted"}) {
		t.Errorf("got %d states, %d transitions, %q", v.States, v.Transitions, v.Warnings)
	}
}

// TestFlood feeds 200 MB in lines of all lengths, one of them without an end, and
// requires that the results on both sides survive and memory does not grow.
func TestFlood(t *testing.T) {
	var before, after runtime.MemStats
	p := parse.NewPRISM(parse.Options{})
	io.WriteString(p, head+rule+"Model checking: P=? [ F x ]\n\nResult: 0.5\n\n"+rule+"Model checking: P=? [ F y ]\n\n")
	runtime.ReadMemStats(&before)
	noise := bytes.Repeat([]byte("0:(0,0,0)=0.5\nWarning: something odd\n"), 1<<13)
	long := bytes.Repeat([]byte("x"), 1<<20)
	for range 100 {
		p.Write(noise)
		p.Write(long)
	}
	for range 70 {
		p.Write(long)
	}
	io.WriteString(p, "\n\nResult: 0.25\n\n")
	runtime.ReadMemStats(&after)
	log := p.Finish(parse.End{Known: true})
	if len(log.Properties) != 2 || log.Properties[0].Value.Num != 0.5 || log.Properties[1].Value.Num != 0.25 {
		t.Errorf("got %v", golden(log).Properties)
	}
	if n := len(log.Properties[1].Warnings); n != 1 {
		t.Errorf("%d warnings, want 1: they are the same", n)
	}
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 64<<20 {
		t.Errorf("the heap grew by %d MB", grown>>20)
	}
}

// TestLimits names more properties than are kept: those before the limit stay.
func TestLimits(t *testing.T) {
	p := parse.NewPRISM(parse.Options{MaxKept: 1 << 16, MaxLine: 200})
	io.WriteString(p, head)
	for range 1000 {
		io.WriteString(p, rule+"Model checking: P=? [ F x ]\n\nResult: 0.5\n\n")
	}
	log := p.Finish(parse.End{Known: true})
	checkLog(t, log)
	if n := len(log.Properties); n < 30 || n > 64 || log.Properties[n-2].Value.Num != 0.5 || log.Err == nil {
		t.Errorf("%d properties, ended by %v", n, log.Err)
	}
	p = parse.NewPRISM(parse.Options{MaxLine: 80})
	io.WriteString(p, head+rule+"Model checking: P=? [ F x ]\n\nResult: 1"+strings.Repeat("0", 100)+"/3 (exact)\n\n")
	log = p.Finish(parse.End{Known: true})
	if got := showFailure(log.Properties[0].Err); got != "unsupported: the result is on a line of more than 80 bytes" {
		t.Errorf("a cut result: %s", got)
	}
}

func TestProgress(t *testing.T) {
	var got []progress.Progress
	p := parse.NewPRISM(parse.Options{Progress: func(x progress.Progress) { got = append(got, x) }})
	for _, s := range []string{
		head + rule + "Simulating: P=? [ F x ]\n\nSampling progress: [ ", "10% ", "20% 3", "0% ", "]\n\nSampling complete: 100 iterations in 0.1 seconds (average 0.001)\n",
		"\nResult: 0.5\n\n" + rule + "Model checking: P=? [ F y ]\n\nBuilding model (engine:explicit)...\n\nComputing reachable states... 118", "539 ", "2019", "35 ", "300000 states\n", "\nStarting iterations...\n",
	} {
		io.WriteString(p, s)
	}
	p.Finish(parse.End{})
	x, y := "P=? [ F x ]", "P=? [ F y ]"
	want := []progress.Progress{
		{Property: x, Unit: progress.States},
		{Property: x, Done: 10, Target: 100, Unit: progress.Percent},
		{Property: x, Done: 20, Target: 100, Unit: progress.Percent},
		{Property: x, Done: 30, Target: 100, Unit: progress.Percent},
		{Property: x, Done: 100, Target: 100, Unit: progress.Percent},
		{Property: y, Unit: progress.States},
		{Property: y, Done: 118539, Unit: progress.States},
		{Property: y, Done: 201935, Unit: progress.States},
		{Property: y, Done: 300000, Unit: progress.States},
		{Property: y, Unit: progress.Iterations},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}

	got = nil
	p = parse.NewStorm(parse.Options{Progress: func(x progress.Progress) { got = append(got, x) }})
	io.WriteString(p, "Time for model input parsing: 0.012s.\n\nExplored 563830 states in 2 seconds (currently 281915 states per second).\nModel checking property \"1\": P=? [F (x = 1)] ...\nCompleted 40 iterations (out of 100) in 5s (currently 8 iterations per second).\n")
	p.Finish(parse.End{})
	want = []progress.Progress{
		{Property: "", Unit: progress.States}, {Property: "", Done: 563830, Unit: progress.States}, {Property: "P=? [F (x = 1)]", Unit: progress.States}, {Property: "P=? [F (x = 1)]", Done: 40, Target: 100, Unit: progress.Iterations},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}
