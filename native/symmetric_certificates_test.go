package native

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tilecheck/certify"
	"tilecheck/certify/certificate"
	"tilecheck/internal/needs"
	"tilecheck/native/load"
	"tilecheck/native/prove"
	"tilecheck/prism/sema"
	"tilecheck/prism/symmetry"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// symmetricJob returns a job that checks properties of a model.
func symmetricJob(model string, props ...string) runner.Job {
	return runner.Job{File: "m.prism", Model: []byte(model), Dialect: syntax.Storm, Props: props}
}

// symmetricCertificate returns the certificate of a property with symmetry, or nil if there is none, and the verdict.
func symmetricCertificate(t *testing.T, model, property string) (*certificate.File, *result.Verdict) {
	t.Helper()
	var written bytes.Buffer
	job := symmetricJob(model, property)
	job.Numeric = runner.Numeric{Accuracy: result.Proven, Symmetry: true}
	job.Outputs.Certificate = &runner.CertificateFile{File: "m.cert", Write: func(_ string, write func(io.Writer) error) error { return write(&written) }}
	verdicts, err := runner.Check(t.Context(), New(), job)
	if err != nil {
		t.Fatalf("%v\n%s", err, model)
	}
	if written.Len() == 0 {
		return nil, &verdicts[0]
	}
	file, err := certificate.Read(t.Context(), &written, certificate.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return file, &verdicts[0]
}

// errNotQuotient says that package orbits accepted a chain that is not the quotient. In an MDP, equal choices count as one there.
var errNotQuotient = errors.New("orbits accepted another model")

// confirmSymmetric checks a certificate as the command certify does with --model. The error says why its first claim is not proven.
func confirmSymmetric(ctx context.Context, model string, file *certificate.File) (*certify.Result, error) {
	results, err := certify.Check(ctx, file)
	if err != nil {
		return nil, err
	}
	job := symmetricJob(model, results[0].Property)
	job.Numeric.Accuracy = result.Exact
	plan, err := runner.NewPlan(ctx, job)
	if err != nil {
		return nil, err
	}
	claim := cmp.Or(file.Symmetry, &certificate.Symmetry{})
	space, instances, err := load.QuotientProperties(ctx, plan, func(program *sema.Program) ([]symmetry.Class, []symmetry.Permutation, error) {
		return prove.Reduction(program, claim)
	})
	if err != nil {
		return nil, err
	}
	var props []*prove.Property
	for _, instance := range instances {
		props = append(props, &prove.Property{Property: instance})
	}
	ofText, err := prove.Model(space)
	if err != nil {
		return nil, err
	}
	difference, symmetryErr := file.Model.Difference(ofText), prove.ConfirmSymmetry(ctx, file, space, props)[0]
	if isChain := file.Model.Kind != certificate.MDP; isChain && file.Symmetry != nil && difference != nil && symmetryErr == nil {
		return nil, fmt.Errorf("%w: %w", errNotQuotient, difference)
	}
	return &results[0], cmp.Or(results[0].Err, difference, symmetryErr, prove.Confirm(file, space, props)[0])
}

// symmetricProperty returns a random property that random symmetric models have.
func symmetricProperty(r *rand.Rand, kind string) string {
	which := ""
	if kind == "mdp" {
		which = []string{"min", "max"}[r.IntN(2)]
	}
	return fmt.Sprintf([]string{
		`P%s=? [ F total=2 ]`, `P%s=? [ g<2 U "equal" & g=1 ]`, `R{"r"}%s=? [ F "equal" & total>0 ]`,
		`filter(max, P%s=? [ F g=2 ], total=1)`, `P%s=? [ F<=3 total>=3 ]`, `P%s=? [ G F "equal" ]`,
	}[r.IntN(6)], which)
}

// isTrueClaim reports whether the bounds that a claim proves contain the value of the property in the whole model.
func isTrueClaim(t *testing.T, model, property string, proven *certify.Result) bool {
	t.Helper()
	whole := checkWithSymmetry(t, model, []string{property}, result.Bounded, false)[0]
	if whole.Err != nil {
		return false
	}
	above := func(bound *big.Rat, x float64) bool {
		return bound == nil || new(big.Rat).SetFloat64(x).Cmp(bound) <= 0
	}
	if whole.Bound == nil {
		return false
	}
	if whole.Bound.Lo > 1e300 { // infinite
		return proven.Upper == nil
	}
	return above(proven.Upper, whole.Bound.Lo) && (proven.Lower != nil && new(big.Rat).SetFloat64(whole.Bound.Hi).Cmp(proven.Lower) >= 0)
}

// TestSymmetricCertificates proves properties of random symmetric models, and compares the proofs with the whole models. Then it changes the
// certificates: a changed certificate must be rejected, or prove what is true.
func TestSymmetricCertificates(t *testing.T) {
	seed := needs.Number(t, "TILECHECK_SEED", 1)
	numProven, numAccepted, numRejected := 0, 0, map[string]int{}
	for i := range needs.Some(uint64(1000)) {
		r := rand.New(rand.NewPCG(seed, i))
		kind := []string{"dtmc", "ctmc", "mdp"}[r.IntN(3)]
		model, property := randomSymmetricModel(r, kind, 2+r.IntN(2), []string{"", "", "command"}[r.IntN(3)]), symmetricProperty(r, kind)
		if r.IntN(3) == 0 { // which has no labels
			model, property = randomRing(r, kind, 3+r.IntN(2), false), strings.ReplaceAll(property, `"equal"`, "total=3")
		}
		file, verdict := symmetricCertificate(t, model, property)
		if file == nil {
			if verdict.Err == nil && !slices.ContainsFunc(verdict.Warnings, func(w string) bool { return strings.HasPrefix(w, NotProven) }) {
				t.Errorf("model %d, %s: no certificate and no reason: %v", i, property, verdict.Warnings)
			}
			for _, warning := range verdict.Warnings {
				if strings.Contains(warning, "the symmetry is not proven") || strings.Contains(warning, "changes the formula") {
					t.Errorf("model %d, %s: %s\n%s", i, property, warning, model)
				}
			}
			continue
		}
		if file.Symmetry == nil {
			continue
		}
		numProven++
		proven, err := confirmSymmetric(t.Context(), model, file)
		if err != nil || !isTrueClaim(t, model, property, proven) {
			t.Errorf("model %d, %s: proven %v, %v\n%s", i, property, proven, err, model)
			continue
		}
		for range 40 {
			kind, changed := changeSymmetric(r, file)
			proven, err := confirmSymmetric(t.Context(), model, changed)
			switch {
			case errors.Is(err, errNotQuotient):
				t.Errorf("model %d: %s: %v", i, kind, err)
			case err != nil:
				numRejected[kind]++
			case isTrueClaim(t, model, property, proven):
				numAccepted++
			default:
				t.Errorf("model %d, %s: the certificate with %s proves %v to %v\n%s", i, property, kind, proven.Lower, proven.Upper, model)
			}
		}
	}
	t.Logf("%d certificates; of the changed ones %v are rejected and %d prove what is true", numProven, numRejected, numAccepted)
	if numProven < 25 || len(numRejected) < 6 {
		t.Errorf("%d certificates, changed in %d ways, want more", numProven, len(numRejected))
	}
}

// changeSymmetric returns a copy of a certificate with one change, and the name of the change.
func changeSymmetric(r *rand.Rand, original *certificate.File) (string, *certificate.File) {
	file := *original
	model := *original.Model
	file.Model = &model
	file.Vectors = slices.Clone(original.Vectors)
	claimed := certificate.Symmetry{Permutations: slices.Clone(original.Symmetry.Permutations)}
	var names []string
	for _, class := range original.Symmetry.Classes {
		claimed.Classes = append(claimed.Classes, slices.Clone(class))
		for _, block := range class {
			names = append(names, block.Variables...)
		}
	}
	for _, images := range original.Symmetry.Permutations {
		for name := range images {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	names = append(slices.Compact(names), "g")
	file.Symmetry = &claimed
	numStates := model.NumStates()
	switch r.IntN(8) {
	case 0:
		first, second := names[r.IntN(len(names))], names[r.IntN(len(names))]
		claimed.Permutations = append(claimed.Permutations, certificate.Permutation{first: second, second: first})
		return "a swap of two variables", &file
	case 1:
		claimed.Permutations = append(claimed.Permutations, certificate.Permutation{names[0]: names[r.IntN(len(names))]})
		return "a map that is no permutation", &file
	case 2:
		if len(claimed.Classes) > 0 {
			class := claimed.Classes[0]
			block := class[r.IntN(len(class))]
			block.Variables = slices.Clone(block.Variables)
			slices.Reverse(block.Variables)
			class[0] = block
		} else {
			claimed.Permutations = claimed.Permutations[:0]
		}
		return "another class, or none", &file
	case 3: // the last state is removed; transitions to it lead to another one
		model.FirstTransition, model.Target = slices.Clone(model.FirstTransition), slices.Clone(model.Target)
		for i, target := range model.Target {
			if int(target) == numStates-1 {
				model.Target[i] = uint32(r.IntN(numStates))
			}
		}
		file.Model = withoutLastState(&model)
		return "a missing orbit", &file
	case 4:
		model.Target = slices.Clone(model.Target)
		model.Target[r.IntN(len(model.Target))] = uint32(r.IntN(numStates))
		return "another successor", &file
	case 5:
		model.Initial = certificate.NewBits(numStates)
		model.Initial.Add(r.IntN(numStates))
		return "another initial state", &file
	case 6:
		file.Symmetry = nil
		return "no symmetry", &file
	}
	for i := range file.Vectors {
		for _, column := range []**certificate.Values{&file.Vectors[i].Lower, &file.Vectors[i].Upper} {
			if *column == nil {
				continue
			}
			values := **column
			*column = &values
			if values.Fixed != nil {
				values.Fixed = slices.Clone(values.Fixed)
				values.Fixed[r.IntN(len(values.Fixed))] += uint64(r.IntN(3)) << r.IntN(int(values.Scale)+1)
			}
		}
	}
	return "a greater value", &file
}

// withoutLastState returns a model without its last state, whose choices are dropped.
func withoutLastState(model *certificate.Model) *certificate.Model {
	last := model.NumStates() - 1
	first, _ := model.Choices(last)
	result := *model
	if model.FirstChoice != nil {
		result.FirstChoice = model.FirstChoice[:last+1]
	}
	result.FirstTransition = model.FirstTransition[:first+1]
	result.Target = model.Target[:model.FirstTransition[first]]
	result.Prob = model.Prob[:len(result.Target)]
	result.Initial = certificate.NewBits(last)
	for s := range last {
		if model.Initial.Has(s) {
			result.Initial.Add(s)
		}
	}
	return &result
}

// forgedCertificate explores a model up to a symmetry that it may not have, and proves a property of these states.
func forgedCertificate(t *testing.T, model, property string, claimed *certificate.Symmetry) *certificate.File {
	t.Helper()
	plan, err := runner.NewPlan(t.Context(), symmetricJob(model, property))
	if err != nil {
		t.Fatal(err)
	}
	space, instances, err := load.QuotientProperties(t.Context(), plan, func(program *sema.Program) ([]symmetry.Class, []symmetry.Permutation, error) {
		return prove.Reduction(program, claimed)
	})
	if err != nil {
		t.Fatal(err)
	}
	prover, err := prove.New(space, prove.Options{Ordered: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := prover.Proven(t.Context(), &prove.Property{Property: instances[0]}); err != nil {
		t.Fatal(err)
	}
	prover.Symmetry = claimed
	return &prover.File
}

// almost is a model of two modules, in which a weight or an initial value may differ.
const almost = `dtmc
module a
  x : [0..2]WHERE;
  [] x=0 -> FIRST:(x'=1) + 1-FIRST:(x'=2);
endmodule
module b
  y : [0..2];
  [] y=0 -> 0.25:(y'=1) + 0.75:(y'=2);
endmodule
`

// TestForgedSymmetry claims that the modules of a model are interchangeable, with states that are explored accordingly. If the model differs in one
// number, or the property sees a difference, the certificate must be rejected although it is right about the states in the file.
func TestForgedSymmetry(t *testing.T) {
	claimed := &certificate.Symmetry{Classes: []certificate.Class{{{Variables: []string{"x"}}, {Variables: []string{"y"}}}}}
	for _, test := range []struct{ first, where, property, want string }{
		{"0.25", "", "P=? [ F x=1 & y=1 ]", ""},
		{"0.25", "", "P=? [ F x=y & x>0 ]", ""},
		{"0.5", "", "P=? [ F x=1 & y=1 ]", "changes the commands"},
		{"0.25000001", "", "P=? [ F x=1 & y=1 ]", "changes the commands"},
		{"0.25", "", "P=? [ F x=1 ]", "changes the formula at"},
		{"0.25", " init 1", "P=? [ F x=1 & y=1 ]", "same type, range and initial value"},
	} {
		model := strings.NewReplacer("FIRST", test.first, "WHERE", test.where).Replace(almost)
		file := forgedCertificate(t, model, test.property, claimed)
		if results, err := certify.Check(t.Context(), file); err != nil || results[0].Err != nil {
			t.Fatal(err, results)
		}
		_, err := confirmSymmetric(t.Context(), model, file)
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%v: rejected: %v", test, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%v: found the error %v", test, err)
		}
	}
}
