package native_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"tilecheck/internal/hostile"
	"tilecheck/internal/needs"
	"tilecheck/native"
	"tilecheck/result"
	"tilecheck/runner"
)

// mode is one way to ask.
type mode struct {
	name string
	num  runner.Numeric
}

func hostileModes() []mode {
	return []mode{
		{"default", runner.Numeric{}},
		{"exact", runner.Numeric{Accuracy: result.Exact}},
		{"float", runner.Numeric{Accuracy: result.Float}},
		{"narrow", runner.Numeric{Epsilon: 1e-12}},
		{"wide", runner.Numeric{Epsilon: 1e-3}},
		{"proven", runner.Numeric{Accuracy: result.Proven}},
	}
}

// misjudged says what is wrong with a verdict, if anything is.
func misjudged(m mode, v *result.Verdict, want hostile.Want) string {
	x := v.Value
	switch {
	case v.Doubt != "":
		return "the engine doubts its own value: " + v.Doubt
	case want.Boolean != (x.Kind == result.Boolean):
		return fmt.Sprintf("a value of kind %d", x.Kind)
	case want.Boolean && x.Bool != want.True && (v.Accuracy != result.Float || len(v.Warnings) == 0):
		return "wrong"
	case want.Boolean:
		return ""
	case math.IsNaN(x.Num):
		return "NaN"
	}
	warned := len(v.Warnings) > 0
	switch v.Accuracy {
	case result.Proven:
		switch {
		case x.Rat == nil:
			return wrongBounds(m, v, want.Value, warned)
		case want.Value.Inf || want.Value.Exact():
			return wrongFraction(x, want.Value)
		case x.Rat.Cmp(want.Value.Lo) < 0 || x.Rat.Cmp(want.Value.Hi) > 0:
			return "wrong"
		}
		return "" // a certificate may show a number of which only digits are known otherwise
	case result.Exact:
		return wrongFraction(x, want.Value)
	case result.Bounded:
		return wrongBounds(m, v, want.Value, warned)
	case result.Float:
		if m.num.Accuracy != result.Float && !warned {
			return "bounds were asked for, and nobody says why there are none"
		}
		if !warned && !near(x.Num, want.Value) {
			return "off by more than 1e-5"
		}
		return ""
	}
	return "accuracy " + v.Accuracy.String()
}

func wrongFraction(x result.Value, want hostile.Value) string {
	switch {
	case want.Inf:
		if !math.IsInf(x.Num, 1) {
			return "wrong"
		}
	case x.Kind == result.Integer:
		x.Rat = new(big.Rat).SetFloat64(x.Num)
	case x.Rat == nil:
		return "called exact, without a fraction"
	}
	switch {
	case want.Inf:
	case x.Rat.Cmp(want.Lo) < 0 || x.Rat.Cmp(want.Hi) > 0:
		return "wrong"
	case !want.Exact():
		return "called exact where no fraction is known"
	}
	return ""
}

// compare compares a double with a fraction.
func compare(x float64, y *big.Rat) int {
	if math.IsInf(x, 0) {
		return int(math.Copysign(1, x))
	}
	return new(big.Rat).SetFloat64(x).Cmp(y)
}

func wrongBounds(m mode, v *result.Verdict, want hostile.Value, warned bool) string {
	b := v.Bound
	switch {
	case b == nil:
		return "called bounded, without an interval"
	case math.IsNaN(b.Lo) || math.IsNaN(b.Hi) || b.Lo < 0 || !b.Contains(v.Value.Num):
		return "interval and value do not fit"
	case want.Inf:
		if !math.IsInf(b.Hi, 1) || !math.IsInf(b.Lo, 1) && !warned {
			return "infinity is not in the interval, or not alone"
		}
		return ""
	case compare(b.Lo, want.Hi) > 0 || compare(b.Hi, want.Lo) < 0:
		return "the truth is not in the interval"
	case math.IsInf(v.Value.Num, 1):
		return "infinite"
	case strings.HasPrefix(v.Property, "P") && !strings.Contains(v.Property, "*") && b.Hi > 1:
		return "a probability above one"
	}
	epsilon := m.num.Epsilon
	if epsilon == 0 {
		epsilon = 1e-8
	}
	// Below the normal doubles no relative width can be had.
	if width := b.Hi - b.Lo; m.num.Accuracy != result.Float && !warned && b.Hi > 1e-290 && !(width <= epsilon*b.Hi*(1+1e-9)) && compare(math.MaxFloat64, want.Lo) > 0 {
		return fmt.Sprintf("width %.2g of %.3g without a warning", width, b.Hi)
	}
	return ""
}

func near(x float64, want hostile.Value) bool {
	if want.Inf {
		return math.IsInf(x, 1)
	}
	f, _ := want.Lo.Float64()
	return x == f || math.Abs(x-f) <= 1e-5*math.Abs(f)
}

// tally counts verdicts by mode, and refusals by their words.
type tally struct {
	verdicts, refused map[string]int
	words             map[string]int
}

// notProven counts why a value has no certificate, and returns it.
func (c *tally) notProven(v *result.Verdict) string {
	for _, w := range v.Warnings {
		if why, ok := strings.CutPrefix(w, native.NotProven); ok {
			c.words[native.NotProven+why]++
			c.refused["proof"]++
			return why
		}
	}
	c.verdicts["proof"]++
	return ""
}

// TestPlainModels compares every mode with the fractions of models that have
// ordinary numbers, TestExtremeModels of models with numbers such as 1e-400 and
// 1.7e308, and TestHostileModels of models that are written to mislead doubles.
// TILECHECK_SEED is another seed; TILECHECK_FULL makes eight and TILECHECK_LONG a thousand times as many models.
func TestPlainModels(t *testing.T)   { testModels(t, hostile.Plain, 80) }
func TestExtremeModels(t *testing.T) { testModels(t, hostile.Extreme, 80) }
func TestHostileModels(t *testing.T) { testModels(t, hostile.Hostile, 200) }

func testModels(t *testing.T, level hostile.Level, models uint64) {
	t.Parallel()
	if needs.IsLong() {
		models *= 100
	} else {
		models = needs.Some(2 * models)
	}
	seed := needs.Number(t, "TILECHECK_SEED", 1)
	count := tally{map[string]int{}, map[string]int{}, map[string]int{}}
	for i := range needs.AllModels(t, models) {
		m := hostile.New(seed, i, level)
		qs := m.Queries(6)
		for _, mode := range hostileModes() {
			if bad := askHostile(t, &count, mode, m, qs); bad != "" {
				t.Errorf("model %d of seed %d, %s:\n%s", i, seed, mode.name, bad)
			}
		}
	}
	for _, mode := range hostileModes() {
		t.Logf("%s: %d verdicts, %d refused", mode.name, count.verdicts[mode.name], count.refused[mode.name])
	}
	t.Logf("%d verdicts proven, %d not", count.verdicts["proof"], count.refused["proof"])
	// Fractions of time bounds do not exist, and --float leaves comparisons open.
	if mode := "default"; count.refused[mode]*20 > count.verdicts[mode] {
		t.Errorf("%d of %d answers are refused", count.refused[mode], count.verdicts[mode])
	}
	for _, w := range slices.Sorted(maps.Keys(count.words)) {
		t.Logf("%d times: %s", count.words[w], w)
	}
}

// askHostile checks all queries of a model in one mode, and says what is wrong.
func askHostile(t *testing.T, count *tally, mode mode, m *hostile.Model, qs []hostile.Query) string {
	var props []string
	for _, q := range qs {
		props = append(props, q.Text)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	mode.num.Workers = 1
	start := time.Now()
	vs, err := runner.Check(ctx, native.New(), runner.Job{File: "m.prism", Model: []byte(m.Text), Props: props, Settings: runner.Settings{Numeric: mode.num}})
	if err != nil {
		return err.Error() + "\n" + m.Text
	}
	if d := time.Since(start); d > 2*time.Second {
		t.Logf("slow: %s %v\n%s\n%s", mode.name, d, m.Text, strings.Join(props, "\n"))
	}
	var bad []string
	for i, v := range vs {
		count.verdicts[mode.name]++
		if v.Err != nil {
			count.refused[mode.name]++
			words, _, _ := strings.Cut(v.Err.Message, " in state")
			count.words[mode.name+", "+string(v.Err.Class)+": "+words]++
			if v.Err.Class != result.Unsupported && v.Err.Class != result.NonConverge {
				bad = append(bad, fmt.Sprintf("%s\n  error %v, want %s", qs[i].Text, v.Err, qs[i].Want))
			}
			continue
		}
		if mode.num.Accuracy == result.Proven {
			if why := count.notProven(&v); strings.Contains(why, "this is a bug") || strings.Contains(why, "is not accepted") {
				bad = append(bad, qs[i].Text+"\n  "+why)
			}
		}
		if msg := misjudged(mode, &v, qs[i].Want); msg != "" {
			bad = append(bad, fmt.Sprintf("%s\n  %s: %v %v %s %v %v, want %s", qs[i].Text, msg, v.Value, v.Bound, v.Accuracy, v.Warnings, v.Value.Rat, qs[i].Want))
		}
	}
	if len(bad) == 0 {
		return ""
	}
	return strings.Join(slices.Compact(bad), "\n") + "\n" + m.Text
}
