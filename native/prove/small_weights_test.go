package prove_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"tilecheck/native/prove"
)

// A weight below the range of float64 stays positive in the product with an automaton: state 1 is reached with probability 1. So do rewards.
func TestSmallWeights(t *testing.T) {
	const model = "mdp\nmodule m\n s:[0..2];\n [] s=0 -> 1-1e-400:(s'=0) + 1e-400:(s'=1);\n [] s=1 -> 0.5:(s'=1) + 0.5:(s'=2);\n [] s=2 -> (s'=1);\nendmodule\nrewards s=1 : 1e-400; endrewards\n"
	space, properties := spaceOf(t, model, "Pmax=? [ F G s>0 ];\nPmin=? [ G F s=2 ];\nRmax=? [ (F s=1) & (F s=2) ];")
	for _, property := range properties[:2] {
		proof, err := inMemory(t, space, property)
		if err != nil {
			t.Fatalf("%v", err)
		}
		if lower, _ := proof.Lower.Float64(); lower != 1 {
			t.Errorf("found %v, want 1", proof.Lower)
		}
	}
	// 0.5 x = 1e-400
	proof, err := inMemory(t, space, properties[2])
	if err != nil {
		t.Fatal(err)
	}
	if proof.Lower.Sign() < 0 || proof.Upper != nil && proof.Upper.Cmp(proof.Lower) < 0 {
		t.Errorf("found %v to %v", proof.Lower, proof.Upper)
	}
}

// The checker rounds the values of step bounds. For a few states it has enough digits to tell 1-1e-8000 from 1. For many states the property is
// refused by name, and no certificate is made that the checker rejects.
func TestUndecidedSteps(t *testing.T) {
	model := func(last int) string {
		return fmt.Sprintf("dtmc\nmodule m\n s:[0..%d];\n [] s=0 -> 1-1e-400:(s'=1) + 1e-400:(s'=0);\n [] s>0 -> (s'=min(s+1,%[1]d));\nendmodule\n", last)
	}
	space, properties := spaceOf(t, model(2), "P>=1 [ F<=20 s>0 ];")
	proof, err := inMemory(t, space, properties[0])
	if err != nil || proof.Holds {
		t.Errorf("found %v, %v, want a proof that the property fails", proof, err)
	}
	space, properties = spaceOf(t, model(1000), "P>=1 [ F<=20 s>0 ];")
	_, err = inMemory(t, space, properties[0])
	if rejected := new(prove.NotAccepted); err == nil || errors.As(err, &rejected) || !strings.Contains(err.Error(), "do not decide the property") {
		t.Errorf("found the error %v, want that the bounds do not decide the property", err)
	}
}
