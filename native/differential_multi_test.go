package native_test

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tilecheck/result"
	"tilecheck/runner"
)

// trivial reports whether some of several objectives are bounds that every scheduler keeps,
// or a query whose value is the same under all, as PRISM itself says of each alone, and
// whether without these PRISM says what we say.
func (d *differential) trivial(job runner.Job, ours *result.Verdict) bool {
	inner, is := strings.CutPrefix(ours.Property, "multi(")
	if !is || ours.Err != nil {
		return false
	}
	job.Numeric = runner.Numeric{Accuracy: result.Float, Epsilon: 1e-9}
	ask := func(property string) (result.Verdict, bool) {
		job.Props = []string{property}
		vs, err := runner.Check(d.Context(), d.sparse, job)
		return vs[0], err == nil && vs[0].Err == nil
	}
	if ours.Value.Kind == result.Curve && len(ours.Value.Points) != 1 {
		return false
	}
	operator := regexp.MustCompile(`^([PR](?:\{[^}]*\})?)(>=|<=|min=\?|max=\?)([0-9.]*)( .*)$`)
	var kept []string
	query, same := false, false
	for i, o := range strings.Split(strings.TrimSuffix(inner, ")"), ", ") {
		m := operator.FindStringSubmatch(o)
		if m == nil {
			return false
		}
		least, ok := ask(m[1] + "min=?" + m[4])
		most, too := ask(m[1] + "max=?" + m[4])
		if !ok || !too {
			return false
		}
		bound, _ := strconv.ParseFloat(m[3], 64)
		switch {
		case ours.Value.Kind == result.Curve: // of one corner, which is the best of both
			if !alikeNumbers(most.Value.Num, ours.Value.Points[0][i]) {
				return false
			}
			same = same || alikeNumbers(least.Value.Num, most.Value.Num)
			continue
		case m[2] == ">=" && least.Value.Num > bound, m[2] == "<=" && most.Value.Num < bound:
			continue
		case m[3] == "" && alikeNumbers(least.Value.Num, most.Value.Num):
			query = true
			if same = alikeNumbers(least.Value.Num, ours.Value.Num); !same {
				return false
			}
			continue
		}
		query = query || m[3] == ""
		kept = append(kept, o)
	}
	switch {
	case len(kept) == 0:
		return same || !query && ours.Value.Bool
	case same: // if the others can be met
		v, ok := ask("multi(" + strings.Join(kept, ", ") + ")")
		return ok && v.Value.Bool
	}
	v, ok := ask("multi(" + strings.Join(kept, ", ") + ")")
	if ok && alike(ours, &v) {
		return true
	}
	v, ok = ask(kept[0])
	return ok && len(kept) == 1 && strings.Contains(kept[0], "=?") && alike(ours, &v)
}

// contradicted reports whether PRISM's answer about several probabilities does not go with the
// most that it finds for all of their events together, by one scheduler: p. Then each event has
// p at least; and as the probabilities of n events are p+n-1 at most in sum, one of them has at
// most p and what the bounds of the others leave.
func (d *differential) contradicted(job runner.Job, ours, theirs *result.Verdict) bool {
	inner, is := strings.CutPrefix(ours.Property, "multi(")
	if !is || ours.Err != nil || theirs.Err != nil {
		return false
	}
	operator := regexp.MustCompile(`^P(>=|<=|min=\?|max=\?)([0-9.]*) \[ (.*) \]$`)
	var events []string
	var bounds []float64 // of the events, from below; NaN for a query
	var least []bool     // the event is the other one
	for _, o := range strings.Split(strings.TrimSuffix(inner, ")"), ", ") {
		m := operator.FindStringSubmatch(o)
		if m == nil {
			return false
		}
		bound, event := math.NaN(), "("+m[3]+")"
		if m[2] != "" {
			bound, _ = strconv.ParseFloat(m[2], 64)
		}
		other := m[1] == "<=" || m[1] == "min=?"
		if other {
			bound, event = 1-bound, "!"+event
		}
		events, bounds, least = append(events, event), append(bounds, bound), append(least, other)
	}
	job.Props = []string{"Pmax=? [ " + strings.Join(events, " & ") + " ]"}
	job.Numeric = runner.Numeric{Accuracy: result.Float, Epsilon: 1e-9}
	vs, err := runner.Check(d.Context(), d.explicit, job)
	if err != nil || vs[0].Err != nil {
		return false
	}
	const much = 1e-3 // what an iteration may leave
	p, slack := vs[0].Value.Num, 0.0
	met := !slices.ContainsFunc(bounds, func(b float64) bool { return b > p })
	for _, b := range bounds {
		if !math.IsNaN(b) {
			slack += 1 - b
		}
	}
	of := func(i int, v float64) float64 { // the probability of event i
		if least[i] {
			return 1 - v
		}
		return v
	}
	switch x := theirs.Value; x.Kind {
	case result.Curve: // which has a corner with p or more for each
		for i := range events {
			if !slices.ContainsFunc(x.Points, func(at []float64) bool { return of(i, at[i]) >= p-much }) {
				return true
			}
		}
		return false
	case result.Boolean:
		return met && !x.Bool || x.Bool && p+slack+much < 1
	default:
		value := of(slices.IndexFunc(bounds, math.IsNaN), x.Num)
		return met && p > value+much || value > p+slack+much
	}
}
