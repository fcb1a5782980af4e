package native_test

import (
	"bytes"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tilecheck/certify"
	"tilecheck/certify/certificate"
	"tilecheck/internal/needs"
	"tilecheck/native"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// randomRewards returns a random DTMC or MDP with rewards "c" of states and, in an MDP, of choices.
func randomRewards(rng *rand.Rand, kind string) string {
	var model, rewards strings.Builder
	n := 3 + rng.IntN(3)
	fmt.Fprintf(&model, "%s\nmodule m s:[0..%d] init 0;\n", kind, n)
	for s := range n {
		fmt.Fprintf(&rewards, " s=%d : %d/%d;\n", s, rng.IntN(4), 1+rng.IntN(3))
		for c := range 1 + rng.IntN(2) {
			if c > 0 && kind == "dtmc" {
				break
			}
			p := 1 + rng.IntN(4)
			fmt.Fprintf(&model, " [a%d] s=%d -> %d/5:(s'=%d) + %d/5:(s'=%d);\n", c, s, p, rng.IntN(n+1), 5-p, rng.IntN(n+1))
		}
	}
	if kind == "mdp" {
		fmt.Fprintf(&model, " [a1] s=%d -> true;\n", n)
		fmt.Fprintf(&rewards, " [a0] true : %d;\n [a1] s>0 : %d/2;\n", rng.IntN(2), rng.IntN(3))
	}
	return model.String() + "endmodule\nrewards \"c\"\n" + rewards.String() + "endrewards\n"
}

// extensionProperties returns random properties of the kinds of rules 8 to 10.
func extensionProperties(rng *rand.Rand, kind string) []string {
	opts := []string{""}
	if kind == "mdp" {
		opts = []string{"min", "max"}
	}
	operands := []string{"F s=1", "F s=2", "G s!=3", "X s>1", "s<3 U s=2", "F<=3 s=1", "F G s=3", "G F s=2", "s=0"}
	operand := func() string { return operands[rng.IntN(len(operands))] }
	var out []string
	for _, opt := range opts {
		factor := []string{"0.9", "1/3", "0.99"}[rng.IntN(3)]
		out = append(out,
			fmt.Sprintf(`R{"c"}%s=? [ Cdiscount=%s ]`, opt, factor),
			fmt.Sprintf(`R{"c"}%s=? [ C<=%d discount=%s ]`, opt, rng.IntN(6), factor),
			fmt.Sprintf(`P%s=? [ F{"c"}<%s%d/%d s=2 ]`, opt, []string{"", "="}[rng.IntN(2)], 1+rng.IntN(9), 1+rng.IntN(2)),
			fmt.Sprintf(`P%s=? [ s<3 U{"c"}<=%d s=3 ]`, opt, rng.IntN(6)),
			fmt.Sprintf(`R{"c"}%s=? [ C{"c"}<=%d/%d ]`, opt, rng.IntN(9), 1+rng.IntN(2)),
			fmt.Sprintf(`R{"c"}%s=? [ C%s ]`, opt, []string{`steps<=3,{"c"}<=4`, "steps<=2", `{"c"}<=0`}[rng.IntN(3)]),
			fmt.Sprintf(`P%s=? [ F{"c"}>%s%d s=1 ]`, opt, []string{"", "="}[rng.IntN(2)], rng.IntN(4)),
		)
	}
	out = append(out, fmt.Sprintf(`P>=%d/7 [ F{"c"}<=3 s=2 ]`, rng.IntN(8)), fmt.Sprintf(`R{"c"}<%d [ Cdiscount=0.5 ]`, rng.IntN(6)))
	if kind == "mdp" {
		for _, opt := range opts {
			out = append(out, fmt.Sprintf("P%s=? [ %s || F s=%d ]", opt, operand(), 1+rng.IntN(3)), fmt.Sprintf("P%s=? [ %s || %s ]", opt, operand(), operand()))
		}
		out = append(out, fmt.Sprintf("P>%d/5 [ %s || F s=2 ]", rng.IntN(5), operand()))
	}
	if kind == "dtmc" {
		out = append(out,
			fmt.Sprintf("P=? [ %s || %s ]", operand(), operand()), fmt.Sprintf("P=? [ %s || %s ]", operand(), operand()),
			fmt.Sprintf("P>%d/5 [ %s || %s ]", rng.IntN(5), operand(), operand()), fmt.Sprintf("1-P=? [ %s || F s=2 ]", operand()))
	}
	return out
}

// TestExtensionCertificates: certificates of discounted rewards, bounds on rewards and conditional probabilities of random models contain the fraction of
// the check without certificates. With a bound of their columns moved beyond it, they are rejected. The second checker says the same.
func TestExtensionCertificates(t *testing.T) {
	needs.NotShort(t, "takes long with the race detector")
	proven, rejected, unproven, models := 0, 0, 0, needs.Some(30)
	var written [][]byte
	for i := range models {
		rng := rand.New(rand.NewPCG(uint64(i), 8))
		kind := []string{"dtmc", "mdp"}[i%2]
		job := runner.Job{File: "m.prism", Model: []byte(randomRewards(rng, kind)), Dialect: syntax.Storm, Props: extensionProperties(rng, kind)}
		exactJob := job
		exactJob.Numeric.Accuracy = result.Exact
		want, err := runner.Check(t.Context(), native.New(), exactJob)
		if err != nil {
			t.Fatalf("%v\n%s", err, job.Model)
		}
		for k, property := range job.Props {
			one := job
			one.Props = []string{property}
			verdicts, text := certificateOf(t, one)
			verdict := verdicts[0]
			if verdict.Err != nil || want[k].Err != nil {
				if (verdict.Err == nil) != (want[k].Err == nil) {
					t.Errorf("model %d: %s: %v, want %v\n%s", i, property, verdict.Err, want[k].Err, job.Model)
				}
				continue
			}
			if strings.HasPrefix(property, "1-") {
				continue // arithmetic has no certificate
			}
			if kind == "mdp" && strings.Contains(property, "||") && verdict.Accuracy != result.Proven && isImpossible(property, want[k].Value.Rat) {
				unproven++
				continue
			}
			if verdict.Accuracy != result.Proven {
				t.Errorf("model %d: %s is not proven: %q\n%s", i, property, verdict.Warnings, job.Model)
				continue
			}
			proven++
			written = append(written, text)
			file, err := certificate.Read(t.Context(), bytes.NewReader(text), certificate.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			results, err := certify.Check(t.Context(), file)
			if err != nil || results[0].Err != nil {
				t.Fatal(err, results)
			}
			exact := want[k].Value.Rat
			if exact == nil {
				if results[0].Holds != want[k].Value.Bool {
					t.Errorf("model %d: %s: %t is proven, want %t\n%s", i, property, results[0].Holds, want[k].Value.Bool, job.Model)
				}
				continue
			}
			if results[0].Lower.Cmp(exact) > 0 || results[0].Upper == nil || results[0].Upper.Cmp(exact) < 0 {
				t.Errorf("model %d: %s: [%v, %v] is proven, want %v\n%s", i, property, results[0].Lower, results[0].Upper, exact, job.Model)
			}
			if checkMoved(t, file, exact) {
				rejected++
			}
		}
	}
	t.Logf("%d proven, %d changed certificates rejected, %d conditional probabilities of MDPs not proven", proven, rejected, unproven)
	if proven < 5*models || rejected < models {
		t.Errorf("%d proven, %d rejected", proven, rejected)
	}
	checkSecond(t, written)
}

// isImpossible reports whether a conditional probability is a maximum of 0 or a minimum of 1, or whether a bound may be compared with such a value or
// with an equal one: these have no certificate.
func isImpossible(property string, exact *big.Rat) bool {
	isMaximum, isMinimum := strings.HasPrefix(property, "Pmax"), strings.HasPrefix(property, "Pmin")
	return exact == nil || isMaximum && exact.Sign() == 0 || isMinimum && exact.Cmp(big.NewRat(1, 1)) == 0
}

// checkMoved moves the bounds of a certificate's columns, for the initial states, to the other side of the exact value. It reports whether there are
// columns, and fails if the checker accepts false bounds.
func checkMoved(t *testing.T, file *certificate.File, exact *big.Rat) bool {
	t.Helper()
	vector := &file.Vectors[file.Claims[0].Vector]
	if vector.Lower == nil && vector.Upper == nil {
		return false
	}
	step := big.NewRat(1, 1<<20)
	if vector.ConditionalBounds != nil {
		return checkMovedGiven(t, file, exact, step)
	}
	for side := range 2 {
		changed := *vector
		old := []*certificate.Values{vector.Lower, vector.Upper}[side]
		if old == nil {
			continue
		}
		moved := &certificate.Values{}
		for s := range old.Len() {
			value := new(big.Rat).Set(old.Rat(s))
			if s < file.Model.NumStates() && file.Model.Initial.Has(s) {
				value.Add(exact, step)
				if side == 1 {
					value.Sub(exact, step)
				}
				if value.Sign() < 0 {
					return false
				}
			}
			moved.Fractions = append(moved.Fractions, value)
		}
		if side == 0 {
			changed.Lower = moved
		} else {
			changed.Upper = moved
		}
		if side == 0 && vector.Probability() && new(big.Rat).Add(exact, step).Cmp(big.NewRat(1, 1)) > 0 {
			continue
		}
		old2 := *vector
		*vector = changed
		results, err := certify.Check(t.Context(), file)
		*vector = old2
		if err == nil && results[0].Err == nil {
			t.Fatalf("[%v, %v] is proven, and the value is %v", results[0].Lower, results[0].Upper, exact)
		}
	}
	return true
}

// checkMovedGiven moves the bounds of a maximal conditional probability to the other side of the exact value, and fails if the checker accepts a false one.
func checkMovedGiven(t *testing.T, file *certificate.File, exact, step *big.Rat) bool {
	t.Helper()
	given := file.Vectors[file.Claims[0].Vector].ConditionalBounds
	old := *given
	defer func() { *given = old }()
	if file.Claims[0].Complement {
		exact = new(big.Rat).Sub(big.NewRat(1, 1), exact)
	}
	for side := range 2 {
		*given = old
		if given.Lower = new(big.Rat).Add(exact, step); side == 1 {
			given.Lower, given.Upper = old.Lower, new(big.Rat).Sub(exact, step)
		}
		results, err := certify.Check(t.Context(), file)
		if err == nil && results[0].Err == nil && (side == 0 || results[0].Upper.Cmp(big.NewRat(1, 1)) < 0 && !file.Claims[0].Complement) {
			t.Fatalf("[%v, %v] is proven, and the value is %v", results[0].Lower, results[0].Upper, exact)
		}
	}
	return true
}

// checkSecond fails unless the second checker prints the same as the first one for each file. It returns what they print.
func checkSecond(t *testing.T, texts [][]byte) (verdicts []string) {
	t.Helper()
	python := needs.Python(t)
	dir := t.TempDir()
	arguments := []string{"../certify/testdata/check.py"}
	for i, text := range texts {
		name := filepath.Join(dir, fmt.Sprint(i, ".cert"))
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		arguments, verdicts = append(arguments, name), append(verdicts, said(t, text))
	}
	out, err := exec.CommandContext(t.Context(), python, arguments...).Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	for i, verdict := range verdicts {
		if i >= len(lines) || lines[i] != verdict {
			kept := filepath.Join(os.TempDir(), filepath.Base(arguments[i+1]))
			_ = os.Rename(arguments[i+1], kept)
			t.Fatalf("%s: the second checker says %q, want %q", kept, lines[i:min(i+1, len(lines))], verdict)
		}
	}
	return verdicts
}

// TestUndefinedConditionNotProven: where the condition may have probability 0, nothing is proven.
func TestUndefinedConditionNotProven(t *testing.T) {
	const model = `dtmc
module m s:[0..2] init 0;
  [] s=0 -> 1/2:(s'=1) + 1/2:(s'=2);
  [] s>0 -> true;
endmodule
`
	job := runner.Job{File: "m.prism", Model: []byte(model), Dialect: syntax.Storm, Props: []string{"P=? [ F s=2 || F s=1 ]"}}
	_, text := certificateOf(t, job)
	file, err := certificate.Read(t.Context(), bytes.NewReader(text), certificate.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	file.Claims[0].OverSet = 0 // all states: in s=2 the condition has probability 0
	results, err := certify.Check(t.Context(), file)
	if err != nil || results[0].Err == nil || !strings.Contains(results[0].Err.Error(), "the condition is not proven to have a positive probability in state 2") {
		t.Errorf("%v %v", err, results)
	}
	file.Sets = append(file.Sets, certificate.Set{Kind: certificate.Bound, Vector: file.Claims[0].Vector, Relation: ">=", Threshold: new(big.Rat)})
	for _, holds := range []bool{true, false} {
		file.Claims[0] = certificate.Claim{Vector: -1, Set: len(file.Sets) - 1, OverSet: 0, Holds: holds}
		results, err = certify.Check(t.Context(), file)
		if err != nil || results[0].Err == nil {
			t.Errorf("a property of undefined values is proven to be %t: %v %v", holds, err, results)
		}
	}
}
