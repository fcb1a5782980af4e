package tree

import (
	"slices"

	"tilecheck/native/explicit/sparse"
	"tilecheck/prism/sema"
)

// sample is a state and the actions that will do there.
type sample struct {
	state   []int32
	actions []sparse.Action
}

// grower grows trees.
type grower struct {
	vars    []sema.Variable
	actions int // the greatest number of an action, plus one
}

// grow returns a tree that takes an action that will do in every sample: at every test
// the one that leaves least impurity (Gini), where a sample counts for its actions
// alike.
func (g *grower) grow(samples []sample) *node {
	if a, ok := common(samples); ok {
		return &node{action: a}
	}
	best, least := test{}, -1.0
	for _, t := range g.tests(samples) {
		if x, splits := g.impurity(samples, t); splits && (least < 0 || x < least-1e-9) {
			best, least = t, x
		}
	}
	var yes, no []sample
	for _, s := range samples {
		if best.holds(s.state) {
			yes = append(yes, s)
		} else {
			no = append(no, s)
		}
	}
	n := &node{test: best, yes: g.grow(yes), no: g.grow(no)}
	if n.yes.leaf() && n.no.leaf() && n.yes.action == n.no.action {
		return n.yes
	}
	return n
}

// common returns an action that will do in all samples: of several the one with the
// least number.
func common(samples []sample) (sparse.Action, bool) {
	for _, a := range samples[0].actions {
		if !slices.ContainsFunc(samples, func(s sample) bool { return !slices.Contains(s.actions, a) }) {
			return a, true
		}
	}
	return 0, false
}

// mostPairs is the number of variables up to which they are compared with each other.
const mostPairs = 40

// tests lists what may tell samples apart: a variable and a value that it has, and two
// integers.
func (g *grower) tests(samples []sample) []test {
	var out []test
	for x, v := range g.vars {
		seen := map[int32]bool{}
		for _, s := range samples {
			seen[s.state[x]] = true
		}
		var values []int32
		for c := range seen {
			values = append(values, c)
		}
		slices.Sort(values)
		for _, c := range values[:len(values)-1] {
			out = append(out, test{x: x, y: -1, c: c})
		}
		if v.Type == sema.Bool || len(g.vars) > mostPairs {
			continue
		}
		for y, w := range g.vars {
			if w.Type != sema.Bool && y != x {
				out = append(out, test{x: x, y: y})
				if y > x {
					out = append(out, test{x: x, y: y, equal: true})
				}
			}
		}
	}
	return out
}

// impurity returns that of the two sides of a test, and whether both have samples.
func (g *grower) impurity(samples []sample, t test) (float64, bool) {
	counts := [2][]float64{make([]float64, g.actions), make([]float64, g.actions)}
	var sizes [2]float64
	for _, s := range samples {
		side := 0
		if t.holds(s.state) {
			side = 1
		}
		sizes[side]++
		for _, a := range s.actions {
			counts[side][a] += 1 / float64(len(s.actions))
		}
	}
	x := 0.0
	for side, n := range sizes {
		squares := 0.0
		for _, c := range counts[side] {
			squares += c * c
		}
		if n > 0 {
			x += n - squares/n
		}
	}
	return x, sizes[0] > 0 && sizes[1] > 0
}
