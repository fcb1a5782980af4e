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

// next returns the position after position i.
func (w *lasso) next(i int) int {
	if i++; i == len(w.letters) {
		return w.loopStart
	}
	return i
}

// Agrees checks that an automaton accepts a word exactly if the word satisfies the automaton's formula. It tests all lassos over the letters of
// the automaton, up to a length that limits the work. The automaton of a co-safe formula accepts a word when it reaches an accepting state.
func Agrees(ctx context.Context, automaton *certificate.Automaton, coSafe bool) error {
	words, work, weight := 1, 0, automaton.Formula.Size()
	reader := &wordReader{Automaton: automaton, visited: make([]uint32, maxLasso*len(automaton.Next)), mark: make([]uint32, maxLasso*len(automaton.Next))}
	for length := 1; length <= maxLasso; length++ {
		words *= len(automaton.Letters)
		if work += words * length * length * weight; work > maxWork && length > 1 {
			return nil
		}
		word := lasso{letters: make([]int, length)}
		for wordNumber := range words {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			digits := wordNumber // the letters of a word are the digits of its number
			for i := range length {
				word.letters[i] = digits % len(automaton.Letters)
				digits /= len(automaton.Letters)
			}
			for word.loopStart = range length {
				satisfied := word.evaluate(automaton, automaton.Formula)[0]
				if accepts := reader.accepts(&word, coSafe); accepts != satisfied {
					return fmt.Errorf("for the letters %d, repeated from number %d on, the automaton's answer is %v and the formula's is %v", word.letters, word.loopStart, accepts, satisfied)
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

// accepts reports whether the automaton accepts a lasso: after some jump the run is accepting or, for a co-safe formula, the run reaches an
// accepting state.
func (reader *wordReader) accepts(word *lasso, coSafe bool) bool {
	numStates := len(reader.Next)
	step := func(configuration int) int {
		position, state := configuration/numStates, configuration%numStates
		return word.next(position)*numStates + int(reader.Next[state][word.letters[position]])
	}
	reader.wordNumber++
	for current := step(0); reader.visited[current] != reader.wordNumber; current = step(current) {
		reader.visited[current] = reader.wordNumber
		state := current % numStates
		if coSafe && reader.Accepting[state] {
			return true
		}
		for _, jump := range reader.Jumps[state] {
			if reader.acceptsFrom(current-state+int(jump), step) {
				return true
			}
		}
	}
	return false
}

// acceptsFrom reports whether the run from a configuration visits accepting states infinitely often. The run is deterministic: step returns the
// next configuration.
func (reader *wordReader) acceptsFrom(start int, step func(configuration int) int) bool {
	current := start
	var path []int
	for ; reader.mark[current]/marks != reader.wordNumber; current = step(current) {
		reader.mark[current] = reader.wordNumber*marks + open
		path = append(path, current)
	}
	verdict := reader.mark[current] % marks
	for k := len(path) - 1; verdict == open; k-- { // search the cycle at the end of path backwards; it begins at current
		if reader.Accepting[path[k]%len(reader.Next)] {
			verdict = accepted
		} else if path[k] == current {
			verdict = rejected
		}
	}
	for _, configuration := range path {
		reader.mark[configuration] = reader.wordNumber*marks + verdict
	}
	return verdict == accepted
}

// evaluate returns the positions of the lasso at which a formula holds.
func (w *lasso) evaluate(automaton *certificate.Automaton, formula *certificate.Formula) []bool {
	out := make([]bool, len(w.letters))
	var x, y []bool
	if formula.Operand != nil {
		x = w.evaluate(automaton, formula.Operand)
	}
	if formula.SecondOperand != nil {
		y = w.evaluate(automaton, formula.SecondOperand)
	}
	for i := range out {
		switch formula.Op {
		case "true":
			out[i] = true
		case "p":
			out[i] = automaton.Letters[w.letters[i]]>>formula.Prop&1 != 0
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
	switch formula.Op {
	case "F":
		return w.evaluateUntil(not(out), x, formula) // out is all false here, so not(out) is true everywhere
	case "G":
		return not(w.evaluateUntil(not(out), not(x), formula))
	case "U":
		return w.evaluateUntil(x, y, formula)
	case "R":
		return not(w.evaluateUntil(not(x), not(y), formula))
	case "W": // (x U y) or always x: not (not y until neither)
		for i := range y {
			x[i] = !x[i] && !y[i]
		}
		return not(w.evaluateUntil(not(y), x, formula))
	}
	return out
}

// evaluateUntil returns, for each position, whether `left U right` holds there within the step bound of formula. left and right say at which
// positions the operands hold.
func (w *lasso) evaluateUntil(left, right []bool, formula *certificate.Formula) []bool {
	holds := make([]bool, len(right)) // the positions where the formula holds within the steps counted so far
	stepBack := func(allowNow bool) (changed bool) {
		nextHolds := make([]bool, len(right))
		for i := range nextHolds {
			nextHolds[i] = allowNow && right[i] || left[i] && holds[w.next(i)]
			changed = changed || nextHolds[i] != holds[i]
		}
		holds = nextHolds
		return changed
	}
	if formula.High == nil {
		for stepBack(true) {
		}
	} else {
		for range *formula.High - formula.Low + 1 {
			stepBack(true)
		}
	}
	for range formula.Low {
		stepBack(false)
	}
	return holds
}
