package stats

import (
	"errors"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
)

// readTSV returns the rows of a file that PRISM's classes wrote; see
// testdata/prism/README.md.
func readTSV(t *testing.T, name string) [][]string {
	t.Helper()
	data, err := os.ReadFile("testdata/prism/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for line := range strings.Lines(string(data)) {
		rows = append(rows, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	return rows
}

func number(t *testing.T, s string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// near reports whether got is want up to a relative error of tol.
func near(got, want, tol float64) bool {
	return got == want || math.Abs(got-want) <= tol*math.Abs(want)
}

func TestQuantilesAgreeWithColt(t *testing.T) {
	rows := readTSV(t, "colt.tsv")
	for _, row := range rows {
		a, b, want := number(t, row[1]), number(t, row[2]), number(t, row[3])
		var got float64
		switch row[0] {
		case "t":
			got = prismStudentQuantile(a, int64(b))
		case "z":
			got = normalQuantile(a)
		case "F":
			got = 1 - studentTail(b, a)/2
		case "swapped":
			got = 1 - studentTail(a, b)/2
		}
		if !near(got, want, 1e-13) {
			t.Errorf("%v: got %v", row, got)
		}
	}
	if len(rows) != 622 {
		t.Errorf("%d rows, want 622", len(rows))
	}
}

// oracleRow is a row of methods.tsv.
type oracleRow struct {
	name     string
	params   Params
	property Property
	seed     uint64
	p        float64
	want     []string
}

func parseOracle(t *testing.T, row []string) oracleRow {
	t.Helper()
	f := func(i int) float64 { return number(t, row[i]) }
	r := oracleRow{name: row[0], property: Property{Reward: row[1] == "R"}, seed: uint64(f(9)), p: f(10), want: row[11:]}
	if row[2] != "=" {
		r.property.Bound = &Bound{AtLeast: row[2][0] == '>', Threshold: f(3)}
	}
	r.params = Params{Width: f(4), Samples: int64(f(6)), MaxReward: f(7), ZeroVarianceSamples: int64(f(8))}
	if f(5) != 0 {
		r.params.Confidence = Confidence(f(5))
	}
	method, _, _ := strings.Cut(r.name, "-")
	var err error
	if r.params.Method, err = ParseMethod(method); err != nil {
		t.Fatal(err)
	}
	if r.params.Method == APMC {
		r.params.Approx, r.params.Width = r.params.Width, 0
	}
	return r
}

// sample runs the plan on the samples of the oracle.
func (r oracleRow) sample(plan *Plan) Statistics {
	var b Bernoulli
	var m Moments
	s := r.seed
	for {
		s = (1103515245*s + 12345) & 0x7fffffff
		u := float64(s) / (1 << 31)
		if r.property.Reward {
			m.Add(1 + math.Floor(u*7)*r.p)
			if plan.Done(&m) {
				return &m
			}
			continue
		}
		b.Add(u < r.p)
		if plan.Done(&b) {
			return &b
		}
	}
}

// TestMethodsAgreeWithPRISM repeats 1751 runs of PRISM's own classes: the same
// samples must stop at the same index with the same numbers.
func TestMethodsAgreeWithPRISM(t *testing.T) {
	rows := readTSV(t, "methods.tsv")
	for _, row := range rows {
		r := parseOracle(t, row)
		plan, err := NewPlan(r.params, r.property)
		if r.want[0] == "error" {
			e, ok := errors.AsType[*Error](err)
			if !ok || e.Code != Indifference && e.Code != TooFew {
				t.Errorf("%v: got error %v", row, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%v: %v", row, err)
			continue
		}
		s := r.sample(plan)
		o, err := plan.Outcome(s)
		if err != nil {
			t.Errorf("%v: %v", row, err)
			continue
		}
		r.compare(t, row, o, s)
	}
	if len(rows) != 1751 {
		t.Errorf("%d rows, want 1751", len(rows))
	}
}

func (r oracleRow) compare(t *testing.T, row []string, o Outcome, s Statistics) {
	t.Helper()
	check := func(what string, got float64, want string) {
		t.Helper()
		if !near(got, number(t, want), 1e-12) {
			t.Errorf("%v:\n%s: got %v, want %s", row, what, got, want)
		}
	}
	n, k, mean, variance, result, missing := r.want[0], r.want[1], r.want[2], r.want[3], r.want[4], r.want[5]
	check("samples", float64(o.N), n)
	if b, ok := s.(*Bernoulli); ok {
		check("successes", float64(b.K), k)
	}
	check("mean", o.Mean, mean)
	if !near(s.Variance(), number(t, variance), 1e-11) { // PRISM's sums are less accurate
		t.Errorf("%v:\nvariance: got %v, want %s", row, s.Variance(), variance)
	}
	switch o.Decision {
	case NoDecision:
		check("result", o.Mean, result)
	default:
		want := map[Decision]string{Holds: "true", Fails: "false", Undecided: "undecided"}[o.Decision]
		if result != want {
			t.Errorf("%v:\ndecision: got %v, want %s", row, o.Decision, result)
		}
	}
	switch r.name {
	case "ci-width", "aci-width", "apmc-approx":
		check("width", o.Width, missing)
	case "ci-samples", "aci-samples", "apmc-samples", "sprt":
		check("samples", float64(o.N), missing)
	case "aci-conf", "apmc-conf":
		checkAlpha(t, row, o.Confidence, missing)
	case "ci-conf":
		checkAlpha(t, row, PRISMConfidence(r.params.Width, s), missing)
	}
}

// checkAlpha compares absolutely: PRISM's 2·(1-prob) has lost the relative precision.
func checkAlpha(t *testing.T, row []string, confidence float64, want string) {
	t.Helper()
	if math.Abs(confidence-(1-number(t, want))) > 1e-14 {
		t.Errorf("%v:\nconfidence: got %v, want 1-%s", row, confidence, want)
	}
}
