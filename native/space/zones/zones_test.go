package zones_test

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/internal/wild"
	"tilecheck/native/check"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/zones"
	"tilecheck/prism/compile"
	"tilecheck/prism/digital"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/sema/sematest"
	"tilecheck/result"
)

// parse returns a timed automaton with a property.
func parse(t *testing.T, text, property string) *logic.Property {
	t.Helper()
	instances, full := sematest.Properties(t, sematest.Program(t, text), property)
	return &logic.Property{Property: instances[0], Program: full, File: "p.props"}
}

// build returns the MDP of zones.
func build(t *testing.T, property *logic.Property, options zones.Options) (*zones.Built, error) {
	t.Helper()
	timed, err := digital.ForZones(property.Program, &property.Property)
	if err != nil {
		t.Fatal(err)
	}
	return zones.Build(t.Context(), timed, options)
}

// value returns the value of a property of an MDP as a fraction.
func value(t *testing.T, space *explicit.Space, property *logic.Property, expr sema.Expr) *big.Rat {
	t.Helper()
	translated := property.Property
	translated.Expr = expr
	verdict := check.New(space.Compiled(), space, check.Options{Accuracy: result.Exact}).Check(t.Context(), &logic.Property{Property: translated, Program: space.Program(), File: "p.props"})
	if verdict.Err != nil {
		t.Fatal(verdict.Err)
	}
	return verdict.Value.Rat
}

// digitalValue returns the value of a property by digital clocks.
func digitalValue(t *testing.T, property *logic.Property) *big.Rat {
	t.Helper()
	translated, err := digital.Translate(property.Program, &property.Property, digital.Digital)
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := compile.Compile(translated.Program, compile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	space, err := explicit.Build(t.Context(), compiled, explicit.Options{Exact: true})
	if err != nil {
		t.Fatal(err)
	}
	own := *property
	own.Program = translated.Program
	return value(t, space, &own, translated.Property.Expr)
}

// A message is sent between 1 and 2 seconds after the start, and arrives with 0.8; otherwise it is sent again.
const sending = `pta
module m
  l : [0..1]; x : clock;
  invariant l=0 => x<=2 endinvariant
  [] l=0 & x>=1 -> 0.8:(l'=1) + 0.2:(l'=0)&(x'=0);
endmodule
`

// TestBuild checks values that follow from a calculation by hand, and that the MDP does not grow with the numbers.
func TestBuild(t *testing.T) {
	large := strings.NewReplacer("x<=2", "x<=2000000", "x>=1", "x>=1000000").Replace(sending)
	for property, want := range map[string]string{
		"Pmax=? [ F l=1 ]":        "1",
		"Pmin=? [ F l=1 ]":        "1",
		"Pmax=? [ F<=1 l=1 ]":     "4/5",
		"Pmax=? [ F<1 l=1 ]":      "0",
		"Pmax=? [ F<=2 l=1 ]":     "24/25",
		"Pmin=? [ F<=2 l=1 ]":     "4/5",
		"Pmin=? [ F<2 l=1 ]":      "0",
		"Pmax=? [ G<=1 l=0 ]":     "1",
		"Pmin=? [ G<=3 l=0 ]":     "1/125",
		"Pmax=? [ l=0 U<=3 l=1 ]": "124/125",
	} {
		for _, model := range []string{sending, large} {
			text := property
			if model == large {
				text = strings.NewReplacer("=1 ", "=1000000 ", "<1 ", "<1000000 ", "=2 ", "=2000000 ", "<2 ", "<2000000 ", "=3 ", "=3000000 ").Replace(property)
				text = strings.NewReplacer("l=1000000", "l=1").Replace(text)
			}
			parsed := parse(t, model, text)
			built, err := build(t, parsed, zones.Options{})
			if err != nil {
				t.Errorf("%s: %v", text, err)
				continue
			}
			if got := value(t, built.Space, parsed, built.Property).RatString(); got != want || built.Space.Model().NumStates() > 20 {
				t.Errorf("%s: %s with %d states, want %s with at most 20", text, got, built.Space.Model().NumStates(), want)
			}
		}
	}
}

// TestRandom compares the values of random automata with those of digital clocks: without states that seem to be dominated, where both bounds of the value
// contain it, and with all states.
func TestRandom(t *testing.T) {
	compared, dominated := 0, 0
	for i := range needs.Models(t, 300) {
		model := wild.Timed(9, i, 4)
		for _, text := range model.Props {
			if !strings.HasPrefix(text, "Pm") {
				continue
			}
			property := parse(t, model.Text, text)
			want := digitalValue(t, property)
			built, err := build(t, property, zones.Options{})
			if err != nil {
				t.Fatalf("model %d: %s: %v\n%s", i, text, err, model.Text)
			}
			compared++
			got := value(t, built.Space, property, built.Property)
			isExact := got.Cmp(want) == 0
			if built.Upper != nil {
				dominated++
				upper := value(t, built.Upper, property, built.Property)
				low, high := got, upper
				if low.Cmp(high) > 0 { // the property is about the negation of the target
					low, high = high, low
				}
				isExact = low.Cmp(want) <= 0 && want.Cmp(high) <= 0
			}
			if !isExact {
				t.Errorf("model %d: %s: %v, want %v\n%s", i, text, got, want, model.Text)
			}
			all, err := build(t, property, zones.Options{KeepAll: true})
			if err != nil || all.Upper != nil {
				t.Fatalf("model %d: %s: %v, upper bounds although nothing is left out: %t", i, text, err, all.Upper != nil)
			}
			if got := value(t, all.Space, property, all.Property); got.Cmp(want) != 0 {
				t.Errorf("model %d: %s: %v with all states, want %v\n%s", i, text, got, want, model.Text)
			}
		}
	}
	if compared < 20 || dominated == 0 {
		t.Errorf("compared %d values, %d of them with states that were left out", compared, dominated)
	}
}

// Within a time of 5 one command reaches the target with probability 1/2. Within a time of 2 another one has a probability that is greater by 1/10^19, which
// is no difference of float64 numbers.
const nearlyEqual = `pta
module m
  l : [0..3]; x : clock;
  invariant (l=0 => x<=9) & (l=1 => x<=5) endinvariant
  [] l=0 & x>=1 -> (l'=1)&(x'=0);
  [] l=1 & x<=5 -> 0.5:(l'=2) + 0.5:(l'=3);
  [] l=1 & x<=2 -> 0.5000000000000000001:(l'=2) + 0.4999999999999999999:(l'=3);
endmodule
`

// TestDominated: the entry of the better command is left out, because its value seems to be the same. The bounds of the value differ, and with all
// states the value is right.
func TestDominated(t *testing.T) {
	property := parse(t, nearlyEqual, "Pmax=? [ F l=2 ]")
	want := new(big.Rat).Add(big.NewRat(1, 2), new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(19), nil)))
	built, err := build(t, property, zones.Options{})
	if err != nil || built.Upper == nil {
		t.Fatalf("%v, nothing was left out", err)
	}
	lower, upper := value(t, built.Space, property, built.Property), value(t, built.Upper, property, built.Property)
	if lower.Cmp(want) >= 0 || upper.Cmp(want) != 0 {
		t.Errorf("bounds %v and %v, want 1/2 and %v", lower, upper, want)
	}
	all, err := build(t, property, zones.Options{KeepAll: true})
	if err != nil || all.Upper != nil {
		t.Fatalf("%v, or something was left out", err)
	}
	if got := value(t, all.Space, property, all.Property); got.Cmp(want) != 0 {
		t.Errorf("%v with all states, want %v", got, want)
	}
}

// TestLimits checks the limits of states and of memory.
func TestLimits(t *testing.T) {
	property := parse(t, sending, "Pmax=? [ F<=1000 l=1 ]")
	for _, options := range []zones.Options{{MaxStates: 10}, {MaxMemory: 20_000}} {
		_, err := build(t, property, options)
		limit, ok := errors.AsType[*explicit.LimitError](err)
		if !ok || limit.Memory != (options.MaxMemory > 0) {
			t.Errorf("%+v: %v, want a limit", options, err)
		}
	}
	if _, err := build(t, property, zones.Options{MaxStates: 10_000, MaxMemory: 1 << 26}); err != nil {
		t.Error(err)
	}
}

// TestErrors checks the errors about states of the automaton.
func TestErrors(t *testing.T) {
	for edit, want := range map[[2]string]string{
		{"x>=1", "x>=3"}: "found the state (l=0,x=2), in which time cannot pass and no command is enabled",
		{"0.2:", "0.3:"}: "probabilities sum to 1.1",
	} {
		_, err := build(t, parse(t, strings.Replace(sending, edit[0], edit[1], 1), "Pmax=? [ F l=1 ]"), zones.Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", edit[1], err, want)
		}
	}
	entered := strings.Replace(sending, "l=0 => x<=2", "(l=0 => x<=2) & (l=1 => x<=0)", 1)
	built, err := build(t, parse(t, entered, "Pmax=? [ F l=1 ]"), zones.Options{})
	if err == nil && built.Violating == "" {
		t.Errorf("no state violates the invariant: %v", built)
	}
}
