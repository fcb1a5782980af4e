package omega

import (
	"context"
	"fmt"

	"tilecheck/certify/certificate"
)

const (
	// maxLasso is the greatest length of a lasso.
	maxLasso = 16
	// maxWork is about the greatest number of evaluations of an operator at a position.
	maxWork = 1 << 20
)

// lasso is the infinite word u v v v ...: letters is u v, as indices into the automaton's letters, and loopStart is
// the length of u.
type lasso struct {
	letters   []int
	loopStart int
}

func (w *lasso) next(i int) int {
	if i++; i == len(w.letters) {
		return w.loopStart
	}
	return i
}

// Agrees tests whether an automaton accepts the words that satisfy its formula. It tries all lassos over the
// automaton's letters up to a length that bounds the work. An automaton of a co-safe formula accepts a word when it
// reaches an accepting state.
func Agrees(ctx context.Context, a *certificate.Automaton, coSafe bool) error {
	words, work, weight := 1, 0, a.Formula.Size()
	r := &wordReader{Automaton: a, visited: make([]uint32, maxLasso*len(a.Next)), mark: make([]uint32, maxLasso*len(a.Next))}
	for size := 1; size <= maxLasso; size++ {
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
			for w.loopStart = range size {
				says := w.evaluate(a, a.Formula)[0]
				if accepts := r.accepts(&w, coSafe); accepts != says {
					return fmt.Errorf("the automaton's answer to the letters %d, again and again from number %d on, is %v, its formula's is %v", w.letters, w.loopStart, accepts, says)
				}
			}
		}
	}
	return nil
}

// wordReader runs an automaton on lassos. A configuration is a position in the lasso and a state of the automaton,
// numbered position * states + state.
type wordReader struct {
	*certificate.Automaton
	wordNumber uint32   // counts the words, so that visited and mark need no clearing
	visited    []uint32 // the last word in which the configuration was reached before the jump
	mark       []uint32 // after the jump: marks * the last word that reached it, plus its mark
}

// The marks of a configuration after the jump.
const (
	open = iota // it is on the path of the current search
	rejected
	accepted
	marks
)

// accepts reports whether some jump leads to an accepting run; for a co-safe formula, whether the run reaches an accepting state.
func (r *wordReader) accepts(w *lasso, coSafe bool) bool {
	n := len(r.Next)
	step := func(x int) int { return w.next(x/n)*n + int(r.Next[x%n][w.letters[x/n]]) }
	r.wordNumber++
	for x := step(0); r.visited[x] != r.wordNumber; x = step(x) {
		r.visited[x] = r.wordNumber
		if coSafe && r.Accepting[x%n] {
			return true
		}
		for _, d := range r.Jumps[x%n] {
			if r.acceptsFrom(x/n*n+int(d), step) {
				return true
			}
		}
	}
	return false
}

// acceptsFrom reports whether the deterministic run from configuration x visits accepting states infinitely often.
func (r *wordReader) acceptsFrom(x int, step func(x int) int) bool {
	var path []int
	for ; r.mark[x]/marks != r.wordNumber; x = step(x) {
		r.mark[x] = r.wordNumber*marks + open
		path = append(path, x)
	}
	verdict := r.mark[x] % marks
	for k := len(path) - 1; verdict == open; k-- { // backwards through the cycle at the end of path
		if r.Accepting[path[k]%len(r.Next)] {
			verdict = accepted
		} else if path[k] == x {
			verdict = rejected
		}
	}
	for _, y := range path {
		r.mark[y] = r.wordNumber*marks + verdict
	}
	return verdict == accepted
}

// evaluate returns the positions of the lasso at which a formula holds.
func (w *lasso) evaluate(a *certificate.Automaton, f *certificate.Formula) []bool {
	out := make([]bool, len(w.letters))
	var x, y []bool
	if f.X != nil {
		x = w.evaluate(a, f.X)
	}
	if f.Y != nil {
		y = w.evaluate(a, f.Y)
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
		return w.evaluateUntil(not(out), x, f) // out is all false here, so not(out) is true everywhere
	case "G":
		return not(w.evaluateUntil(not(out), not(x), f))
	case "U":
		return w.evaluateUntil(x, y, f)
	case "R":
		return not(w.evaluateUntil(not(x), not(y), f))
	case "W": // (x U y) or always x: not (not y until neither)
		for i := range y {
			x[i] = !x[i] && !y[i]
		}
		return not(w.evaluateUntil(not(y), x, f))
	}
	return out
}

// evaluateUntil returns the positions at which x U y holds within the step bound of f.
func (w *lasso) evaluateUntil(x, y []bool, f *certificate.Formula) []bool {
	holds := make([]bool, len(y)) // the positions where it holds within the steps counted so far
	stepBack := func(allowNow bool) bool {
		next, changed := make([]bool, len(y)), false
		for i := range next {
			next[i] = allowNow && y[i] || x[i] && holds[w.next(i)]
			changed = changed || next[i] != holds[i]
		}
		holds = next
		return changed
	}
	if f.High == nil {
		for stepBack(true) {
		}
	} else {
		for range *f.High - f.Low + 1 {
			stepBack(true)
		}
	}
	for range f.Low {
		stepBack(false)
	}
	return holds
}
