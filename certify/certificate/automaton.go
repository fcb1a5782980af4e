package certificate

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// Automaton is a path formula and an automaton that accepts the paths that satisfy it. Package omega defines how it
// reads a path. State 0 has read nothing.
type Automaton struct {
	Formula *Formula `json:"formula"`
	Sets    []int    `json:"sets"` // the propositions of the formula
	// Letters are the combinations of propositions that occur in states: bit i stands for Sets[i].
	Letters []uint64 `json:"letters"`
	// Next[q][k] is the successor of state q under Letters[k]. Jumps[q] are the states, in increasing order, that a run
	// may jump to from q. Accepting[q] says whether q is accepting.
	Next      [][]uint32 `json:"next"`
	Jumps     [][]uint32 `json:"jumps"`
	Accepting []bool     `json:"accepting"`
	// Condition and Excluded belong to MaxConditional. A run that has jumped stays in Excluded, or outside. If it accepts in Excluded, the path
	// violates the Condition; if it accepts outside, the path satisfies the Formula and the Condition.
	Condition *Formula `json:"condition,omitempty"`
	Excluded  []bool   `json:"excluded,omitempty"`
	// Pairs and Runs are the numbers of states of the two products.
	Pairs int `json:"pairs"`
	Runs  int `json:"runs"`
}

// IsAbsorbing reports whether a state is absorbing: its successor for every letter is the state itself.
func (a *Automaton) IsAbsorbing(state uint32) bool {
	for _, successor := range a.Next[state] {
		if successor != state {
			return false
		}
	}
	return true
}

// Formula is a path formula. Op is true, p (proposition Prop), !, X, F, G (of X), &, |, =>, <=>, U, W or R (of X and
// Y). F, G, U and R may have a step bound from Low to High; a nil High is no upper bound.
type Formula struct {
	Op            string   `json:"op"`
	Prop          int      `json:"prop,omitempty"`
	Operand       *Formula `json:"x,omitempty"`
	SecondOperand *Formula `json:"y,omitempty"`
	Low           int      `json:"low,omitempty"`
	High          *int     `json:"high,omitempty"`
}

// Restrictions of formulas, which the checker evaluates again and again.
const (
	maxFormula = 1000 // operators
	maxBound   = 1000
	maxStates  = 100_000
)

// validate returns an error unless the sizes, letters, successors and jumps of the automaton are consistent. If coSafe is true, the automaton
// must have no jumps and no runs.
func (a *Automaton) validate(coSafe bool) error {
	size := 0
	if err := a.Formula.validate(len(a.Sets), &size); err != nil {
		return err
	}
	n, letters := len(a.Next), len(a.Letters)
	hasValidSize := n >= 1 && n <= maxStates && letters >= 1 && len(a.Sets) <= 64
	if !hasValidSize || len(a.Jumps) != n || len(a.Accepting) != n {
		return fmt.Errorf("found an automaton of %d states, %d lists of jumps, %d marks, %d letters and %d propositions", n, len(a.Jumps), len(a.Accepting), letters, len(a.Sets))
	}
	if err := a.validateLetters(); err != nil {
		return err
	}
	for state := range n {
		if err := a.validateState(state, coSafe); err != nil {
			return err
		}
	}
	if coSafe && a.Runs != 0 {
		return errors.New("found runs in a co-safe reward, which has none")
	}
	return a.validateCondition(size)
}

// validateLetters returns an error if a letter occurs twice, or has a proposition that does not exist.
func (a *Automaton) validateLetters() error {
	seenLetters := map[uint64]bool{}
	for _, letter := range a.Letters {
		hasUnknownProposition := len(a.Sets) < 64 && letter>>len(a.Sets) != 0
		if seenLetters[letter] || hasUnknownProposition {
			return fmt.Errorf("found the letter %d twice, or with a proposition that does not exist", letter)
		}
		seenLetters[letter] = true
	}
	return nil
}

// validateState returns an error unless a state has one successor for each letter, and jumps to existing states in increasing order. If coSafe
// is true, it must not jump.
func (a *Automaton) validateState(state int, coSafe bool) error {
	n := len(a.Next)
	if len(a.Next[state]) != len(a.Letters) {
		return fmt.Errorf("state %d of the automaton has %d successors, wanted %d", state, len(a.Next[state]), len(a.Letters))
	}
	for _, target := range a.Next[state] {
		if int(target) >= n {
			return fmt.Errorf("state %d of the automaton leads to %d of %d", state, target, n)
		}
	}
	for index, target := range a.Jumps[state] {
		isInOrder := index == 0 || a.Jumps[state][index-1] < target
		if coSafe || int(target) >= n || !isInOrder {
			return fmt.Errorf("state %d of the automaton jumps to %d", state, target)
		}
	}
	return nil
}

// Size returns the number of operators of a formula, plus the numbers of steps in its step bounds.
func (f *Formula) Size() int {
	size := 0
	f.walk(func(formula *Formula) {
		size += 1 + formula.Low
		if formula.High != nil {
			size += *formula.High
		}
	})
	return size
}

// walk calls visit for every operator of the formula.
func (f *Formula) walk(visit func(formula *Formula)) {
	if f != nil {
		visit(f)
		f.Operand.walk(visit)
		f.SecondOperand.walk(visit)
	}
}

// validate returns an error unless each operator of a formula has the right number of operands and a valid step bound. numProps is the number of
// propositions. It adds the number of operators to size, and limits it.
func (f *Formula) validate(numProps int, size *int) error {
	if *size++; f == nil || *size > maxFormula {
		return fmt.Errorf("found no formula, or a formula with more than %d operators", maxFormula)
	}
	operands, isKnown := map[string]int{"true": 0, "p": 0, "!": 1, "X": 1, "F": 1, "G": 1, "&": 2, "|": 2, "=>": 2, "<=>": 2, "U": 2, "W": 2, "R": 2}[f.Op]
	hasRightOperands := (f.Operand != nil) == (operands > 0) && (f.SecondOperand != nil) == (operands > 1)
	if !isKnown || !hasRightOperands {
		return fmt.Errorf("found the operator %q with a wrong number of operands", f.Op)
	}
	if f.Op == "p" && (f.Prop < 0 || f.Prop >= numProps) {
		return fmt.Errorf("found proposition %d of %d", f.Prop, numProps)
	}
	if err := f.validateBound(); err != nil {
		return err
	}
	if f.Operand != nil {
		if err := f.Operand.validate(numProps, size); err != nil {
			return err
		}
	}
	if f.SecondOperand != nil {
		return f.SecondOperand.validate(numProps, size)
	}
	return nil
}

// validateBound returns an error if the operator must not have a step bound but has one, or if the bound is empty or too great.
func (f *Formula) validateBound() error {
	isBounded := f.Low != 0 || f.High != nil
	if isBounded && !slices.Contains([]string{"F", "G", "U", "R"}, f.Op) {
		return fmt.Errorf("found a step bound at the operator %q", f.Op)
	}
	isLowValid := f.Low >= 0 && f.Low <= maxBound
	isHighValid := f.High == nil || *f.High >= f.Low && *f.High <= maxBound
	if !isLowValid || !isHighValid {
		return fmt.Errorf("found an empty step bound, or one above %d", maxBound)
	}
	return nil
}

// pathText returns a path formula as text, with the text of a set in place of each proposition.
func (file *File) pathText(automaton *Automaton, formula *Formula) string {
	bound := ""
	switch {
	case formula.High != nil:
		bound = "[" + strconv.Itoa(formula.Low) + "," + strconv.Itoa(*formula.High) + "]"
	case formula.Low > 0:
		bound = ">=" + strconv.Itoa(formula.Low)
	}
	switch {
	case formula.Op == "p":
		return file.setText(automaton.Sets[formula.Prop])
	case formula.Operand == nil:
		return formula.Op
	case formula.Op == "!":
		return "!" + file.pathText(automaton, formula.Operand)
	case formula.SecondOperand == nil:
		return "(" + formula.Op + bound + " " + file.pathText(automaton, formula.Operand) + ")"
	}
	return "(" + file.pathText(automaton, formula.Operand) + " " + formula.Op + bound + " " + file.pathText(automaton, formula.SecondOperand) + ")"
}
