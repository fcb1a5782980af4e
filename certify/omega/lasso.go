package omega

import (
	"context"
	"fmt"

	"tilecheck/certify/certificate"
)

const (
	// longest is how many letters a lasso has at most.
	longest = 16
	// maxWork is how often an operator of the formula is evaluated at a place, about.
	maxWork = 1 << 20
)

// lasso is the word u v v v ..., of letters by their numbers, of which the first loop are u.
type lasso struct {
	letters []int
	loop    int
}

func (w *lasso) next(i int) int {
	if i++; i == len(w.letters) {
		return w.loop
	}
	return i
}

// Agrees compares what an automaton accepts with what its formula says, of all lassos whose
// length is at most a size that is small enough, over the letters of the automaton. An
// automaton of a co-safe formula accepts what leads to an accepting state.
func Agrees(ctx context.Context, a *certificate.Automaton, coSafe bool) error {
	words, work, weight := 1, 0, a.Formula.Size()
	r := &reader{Automaton: a, visited: make([]uint32, longest*len(a.Next)), mark: make([]uint32, longest*len(a.Next))}
	for size := 1; size <= longest; size++ {
		words *= len(a.Letters)
		if work += words * size * size * weight; work > maxWork && size > 1 {
			return nil
		}
		w := lasso{letters: make([]int, size)}
		for k := range words {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			for i, rest := 0, k; i < size; i, rest = i+1, rest/len(a.Letters) {
				w.letters[i] = rest % len(a.Letters)
			}
			for w.loop = range size {
				says := w.holds(a, a.Formula)[0]
				if accepts := r.accepts(&w, coSafe); accepts != says {
					return fmt.Errorf("the automaton's answer to the letters %d, again and again from number %d on, is %v, its formula's is %v", w.letters, w.loop, accepts, says)
				}
			}
		}
	}
	return nil
}

// reader reads words with an automaton. A place is where in the word it is, and its state.
type reader struct {
	*certificate.Automaton
	word    uint32   // the number of the word
	visited []uint32 // the last word in which a place was come to before the jump
	mark    []uint32 // marks times the last word in which it was come to afterwards, and what is known
}

// What is known of a place after the jump.
const (
	open = iota // it is on the path that is being followed
	rejected
	accepted
	marks
)

// accepts reports whether some jump of the run is right, or for a co-safe formula whether
// the run comes to an accepting state.
func (r *reader) accepts(w *lasso, coSafe bool) bool {
	n := len(r.Next)
	step := func(x int) int { return w.next(x/n)*n + int(r.Next[x%n][w.letters[x/n]]) }
	r.word++
	for x := step(0); r.visited[x] != r.word; x = step(x) {
		r.visited[x] = r.word
		if coSafe && r.Accepting[x%n] {
			return true
		}
		for _, d := range r.Jumps[x%n] {
			if r.recurs(x/n*n+int(d), step) {
				return true
			}
		}
	}
	return false
}

// recurs reports whether the run from a place is accepting infinitely often.
func (r *reader) recurs(x int, step func(x int) int) bool {
	var path []int
	for ; r.mark[x]/marks != r.word; x = step(x) {
		r.mark[x] = r.word*marks + open
		path = append(path, x)
	}
	out := r.mark[x] % marks
	for k := len(path) - 1; out == open; k-- { // back through the cycle
		if r.Accepting[path[k]%len(r.Next)] {
			out = accepted
		} else if path[k] == x {
			out = rejected
		}
	}
	for _, y := range path {
		r.mark[y] = r.word*marks + out
	}
	return out == accepted
}

// holds returns at which places of the word a formula holds.
func (w *lasso) holds(a *certificate.Automaton, f *certificate.Formula) []bool {
	out := make([]bool, len(w.letters))
	var x, y []bool
	if f.X != nil {
		x = w.holds(a, f.X)
	}
	if f.Y != nil {
		y = w.holds(a, f.Y)
	}
	for i := range out {
		switch f.Op {
		case "true":
			out[i] = true
		case "p":
			out[i] = a.Letters[w.letters[i]]>>f.Prop&1 != 0
		case "!":
			out[i] = !x[i]
		case "&":
			out[i] = x[i] && y[i]
		case "|":
			out[i] = x[i] || y[i]
		case "=>":
			out[i] = !x[i] || y[i]
		case "<=>":
			out[i] = x[i] == y[i]
		case "X":
			out[i] = x[w.next(i)]
		}
	}
	not := func(v []bool) []bool {
		for i := range v {
			v[i] = !v[i]
		}
		return v
	}
	switch f.Op {
	case "F":
		return w.until(not(out), x, f) // out is false so far
	case "G":
		return not(w.until(not(out), not(x), f))
	case "U":
		return w.until(x, y, f)
	case "R":
		return not(w.until(not(x), not(y), f))
	case "W": // (x U y) or always x: not (not y until neither)
		for i := range y {
			x[i] = !x[i] && !y[i]
		}
		return not(w.until(not(y), x, f))
	}
	return out
}

// until is x U y, within the bound of f.
func (w *lasso) until(x, y []bool, f *certificate.Formula) []bool {
	now := make([]bool, len(y)) // within no more than what was counted
	back := func(early bool) bool {
		next, changed := make([]bool, len(y)), false
		for i := range next {
			next[i] = early && y[i] || x[i] && now[w.next(i)]
			changed = changed || next[i] != now[i]
		}
		now = next
		return changed
	}
	if f.High == nil {
		for back(true) {
		}
	} else {
		for range *f.High - f.Low + 1 {
			back(true)
		}
	}
	for range f.Low {
		back(false)
	}
	return now
}
