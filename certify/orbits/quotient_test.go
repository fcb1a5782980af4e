package orbits

import (
	"context"
	"errors"
	"math/big"
	"testing"

	"tilecheck/certify/certificate"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// endingContext is a context that ends when it is asked for its error once more than remaining allows.
type endingContext struct {
	context.Context
	remaining int
}

func (ctx *endingContext) Err() error {
	if ctx.remaining--; ctx.remaining < 0 {
		return context.Canceled
	}
	return nil
}

// propertyOf returns a property of a model, and the program that defines its labels.
func propertyOf(t *testing.T, model *sema.Model, program *sema.Program, text string) (sema.Expr, *sema.Program) {
	t.Helper()
	tree, err := syntax.ParseProperties("m.props", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	properties, err := model.CheckProperties(tree)
	if err != nil {
		t.Fatal(err)
	}
	instances, extended, err := properties.Instantiate(program, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return instances[0].Expr, extended
}

// TestCancel checks that NewQuotient and CheckProperty stop at once when their context ends, and that they ask it before each state and each valuation.
func TestCancel(t *testing.T) {
	model, program := parse(t, `dtmc
module a x : [0..1]; [] x=0 -> (x'=1); endmodule
module b y : [0..1]; [] y=0 -> (y'=1); endmodule
init x+y=0 endinit
rewards "r" x+y>0 : 1; endrewards
`)
	property, extended := propertyOf(t, model, program, `R{"r"}=? [ F x+y=2 ]`)
	symmetry := &certificate.Symmetry{Classes: []certificate.Class{{{Variables: []string{"x"}}, {Variables: []string{"y"}}}}}
	initial := certificate.NewBits(3)
	initial.Add(0)
	quotient := &certificate.Model{
		Kind: certificate.DTMC, FirstTransition: []uint32{0, 1, 2, 3}, Target: []uint32{1, 2, 2}, Prob: []uint32{1, 1, 1},
		Numbers: []*big.Rat{new(big.Rat), big.NewRat(1, 1)}, Initial: initial, Rewards: []certificate.Reward{{Name: "r", State: []uint32{0, 1, 1}}},
	}
	valuations := [][]int32{{0, 0}, {0, 1}, {1, 1}}
	check := func(ctx *endingContext) error {
		checked, err := NewQuotient(ctx, program, symmetry, quotient, func(s int) []int32 {
			if ctx.remaining < 0 {
				t.Error("found a state that is read after the context has ended")
			}
			return valuations[s]
		})
		if err != nil {
			return err
		}
		return checked.CheckProperty(ctx, extended, property)
	}
	const wanted = 3 + 4 + 3 + 1 + 3 // states, valuations for the initial states, choices of states, a formula with one permutation, rewards of states
	for allowed := range wanted {
		if err := check(&endingContext{t.Context(), allowed}); !errors.Is(err, context.Canceled) {
			t.Errorf("the context ends after %d questions: found the error %v, want that of the context", allowed, err)
		}
	}
	if err := check(&endingContext{t.Context(), wanted}); err != nil {
		t.Errorf("found the error %v, want none", err)
	}
}
