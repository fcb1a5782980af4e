package orbits

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"tilecheck/certify/certificate"
	"tilecheck/internal/noun"
	"tilecheck/prism/sema"
)

// Quotient is the model of a certificate, after NewQuotient has checked that it is the quotient of a program.
type Quotient struct {
	*automorphisms
	*interpreter
	program      *sema.Program
	group        *group
	model        *certificate.Model
	states       func(index int) []int32
	index        map[string]int // the listed state for each canonical valuation
	isRewardSafe map[int]bool   // by reward structure: whether it was checked
}

// NewQuotient checks that a model is the quotient of a program by a symmetry. states returns the valuation of a listed state, in a slice that
// the next call may overwrite; its values are in the order of program.Vars. The error says which of the three facts of the package comment does not hold. Rewards are checked
// for a property.
func NewQuotient(ctx context.Context, program *sema.Program, symmetry *certificate.Symmetry, model *certificate.Model, states func(index int) []int32) (*Quotient, error) {
	if kind := strings.ToLower(program.Type.String()); string(model.Kind) != kind {
		return nil, fmt.Errorf("found %s in the certificate, want %s as in the model", noun.WithArticle(string(model.Kind)), noun.WithArticle(kind))
	}
	group, err := newGroup(program, symmetry)
	if err != nil {
		return nil, err
	}
	automorphisms, err := newAutomorphisms(program, group)
	if err != nil {
		return nil, err
	}
	quotient := &Quotient{
		automorphisms: automorphisms, interpreter: newInterpreter(program), program: program, group: group, model: model, states: states,
		index: make(map[string]int, model.NumStates()), isRewardSafe: map[int]bool{},
	}
	if err := quotient.indexStates(ctx); err != nil {
		return nil, err
	}
	if err := quotient.checkInitial(ctx); err != nil {
		return nil, err
	}
	return quotient, quotient.checkChoices(ctx)
}

// indexStates computes the canonical valuation of each listed state. It is an error if two states are in the same orbit, or a value is out of range.
func (q *Quotient) indexStates(ctx context.Context) error {
	program := q.program
	for s := range q.model.NumStates() {
		if err := ctx.Err(); err != nil {
			return err
		}
		state := slices.Clone(q.states(s))
		for slot, value := range state {
			if variable := &program.Vars[slot]; value < variable.Low || value > variable.High {
				return fmt.Errorf("state %d: the value of %s is %d, want %d to %d", s, variable.Name, value, variable.Low, variable.High)
			}
		}
		key := q.key(state)
		if other, ok := q.index[key]; ok {
			return fmt.Errorf("the states %d and %d are in one orbit, want one state of each orbit", other, s)
		}
		q.index[key] = s
	}
	return nil
}

// key returns the canonical valuation of a state as a text. It overwrites the state.
func (q *Quotient) key(state []int32) string {
	q.group.canonical(state)
	var text strings.Builder
	for _, value := range state {
		_ = binary.Write(&text, binary.LittleEndian, value) // a strings.Builder accepts all bytes
	}
	return text.String()
}

// representative returns the listed state in the orbit of a valuation, which it overwrites.
func (q *Quotient) representative(state []int32) (int, error) {
	var values []string
	for slot, value := range state {
		values = append(values, fmt.Sprint(q.program.Vars[slot].Name, "=", value))
	}
	if s, ok := q.index[q.key(state)]; ok {
		return s, nil
	}
	return 0, fmt.Errorf("found no state in the orbit of (%s), want one", strings.Join(values, ", "))
}

// checkInitial checks that the initial states of the model are the representatives of the initial states of the program.
func (q *Quotient) checkInitial(ctx context.Context) error {
	initial := certificate.NewBits(q.model.NumStates())
	err := q.initialStates(ctx, func(state []int32) error {
		s, err := q.representative(state)
		if err == nil {
			initial.Add(s)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("initial states: %w", err)
	}
	for s := range q.model.NumStates() {
		if q.model.Initial.Has(s) != initial.Has(s) {
			return fmt.Errorf("state %d: whether it is initial is %v, want %v", s, q.model.Initial.Has(s), initial.Has(s))
		}
	}
	return nil
}

// checkChoices checks the choices of all listed states, and that all listed states are reachable.
func (q *Quotient) checkChoices(ctx context.Context) error {
	isReached, open := make([]bool, q.model.NumStates()), []int(nil)
	for s := range isReached {
		if q.model.Initial.Has(s) {
			isReached[s], open = true, append(open, s)
		}
	}
	for len(open) > 0 {
		s := open[len(open)-1]
		open = open[:len(open)-1]
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := q.checkState(s); err != nil {
			return fmt.Errorf("state %d: %w", s, err)
		}
		first, end := q.model.Choices(s)
		for _, target := range q.model.Target[q.model.FirstTransition[first]:q.model.FirstTransition[end]] {
			if !isReached[target] {
				isReached[target], open = true, append(open, int(target))
			}
		}
	}
	if s := slices.Index(isReached, false); s >= 0 {
		return fmt.Errorf("state %d is not reachable, want reachable states only", s)
	}
	return nil
}

// distribution has the weight of each listed state.
type distribution map[int]*big.Rat

// add adds a weight.
func (d distribution) add(target int, weight *big.Rat) {
	if d[target] == nil {
		d[target] = new(big.Rat)
	}
	d[target].Add(d[target], weight)
}

// text returns the same text for two distributions exactly if they are equal.
func (d distribution) text() string {
	var parts []string
	for target, weight := range d {
		parts = append(parts, fmt.Sprint(target, ":", weight.RatString()))
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}

// checkState checks the choices of a listed state: in an MDP as a set, because equal choices are one; in a chain their sum.
func (q *Quotient) checkState(s int) error {
	_, distributions, err := q.distributions(s)
	if err != nil {
		return err
	}
	var wanted, found []string
	for _, distribution := range distributions {
		wanted = append(wanted, distribution.text())
	}
	first, end := q.model.Choices(s)
	for c := first; c < end; c++ {
		found = append(found, q.modelDistribution(s, c).text())
	}
	return compareChoices(found, wanted)
}

// compareChoices returns an error unless two sets of choices are equal. Choices are texts, as distribution.text returns them.
func compareChoices(found, wanted []string) error {
	for _, texts := range [...]*[]string{&found, &wanted} {
		slices.Sort(*texts)
		*texts = slices.Compact(*texts)
	}
	if !slices.Equal(found, wanted) {
		return fmt.Errorf("found the choices %q, want %q, where a choice lists its successors with their weights", found, wanted)
	}
	return nil
}

// distributions returns the choices of a listed state in the program, and their distributions over listed states. A chain has one distribution: in a DTMC
// each choice is equally likely, in a CTMC rates are added.
func (q *Quotient) distributions(s int) ([]choice, []distribution, error) {
	state := slices.Clone(q.states(s))
	choices, err := q.choices(state)
	if err != nil {
		return nil, nil, err
	}
	var distributions []distribution
	target := make([]int32, len(state))
	for i := range choices {
		if i == 0 || q.model.Kind == certificate.MDP {
			distributions = append(distributions, distribution{})
		}
		share := big.NewRat(1, 1)
		if q.model.Kind == certificate.DTMC {
			share.SetFrac64(1, int64(len(choices)))
		}
		for _, branch := range choices[i].branches {
			if err := branch.apply(q.program, target, state); err != nil {
				return nil, nil, err
			}
			representative, err := q.representative(target)
			if err != nil {
				return nil, nil, err
			}
			distributions[len(distributions)-1].add(representative, new(big.Rat).Mul(share, branch.weight))
		}
	}
	return choices, distributions, nil
}

// modelDistribution returns the distribution of a choice of the model: of rates in a CTMC.
func (q *Quotient) modelDistribution(s, c int) distribution {
	result := distribution{}
	first, end := q.model.Row(c)
	for transition := first; transition < end; transition++ {
		weight := q.model.Numbers[q.model.Prob[transition]]
		if q.model.ExitRate != nil {
			weight = new(big.Rat).Mul(weight, q.model.Numbers[q.model.ExitRate[s]])
		}
		result.add(int(q.model.Target[transition]), weight)
	}
	return result
}
