package native

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strings"
	"sync"

	"tilecheck/certify"
	"tilecheck/certify/certificate"
	"tilecheck/internal/interval"
	"tilecheck/native/check"
	"tilecheck/native/prove"
	"tilecheck/native/solve"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/files"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/sema"
	"tilecheck/result"
	"tilecheck/runner"
)

// NotProven begins the warning of a verdict for which a certificate was wanted and not found.
const NotProven = "not proven: "

// certificates finds and collects the certificates of an instance's verdicts.
type certificates struct {
	space         *explicit.Space
	prover        *prove.Prover
	proverErr     error        // why there are no certificates
	refusal       func() error // why no file can have the rewards of the model
	fairOnly      bool         // only fair schedulers count
	wantsFraction bool         // a certificate must prove the fraction, and not an interval
	epsilon       float64
	claims        []int         // indices of the accepted claims
	labels        *sema.Program // defines the labels in the file; nil means the program of the space
	// quotient checks that a property has the same value in the whole model as in the space, which symmetry has reduced; nil if the space is the whole model.
	quotient quotientChecker
	// mustRecheck says that the checker rejected a claim. Later claims may depend on it, so all of them are checked again.
	mustRecheck bool
}

// quotientChecker is implemented by *orbits.Quotient.
type quotientChecker interface {
	CheckProperty(ctx context.Context, program *sema.Program, property sema.Expr) error
}

// newCertificates returns an empty collection of certificates for properties of a state space. rewardOf returns the reward structure with an index. If
// the space has no fractions, inexactErr is the reason, and no certificate can be added.
func (method *statesMethod) newCertificates(space *explicit.Space, inexactErr error, rewardOf func(index int) (*sparse.Reward, error)) *certificates {
	collected := &certificates{
		space: space, epsilon: method.opt.Epsilon, fairOnly: method.opt.Fair,
		wantsFraction: method.opt.Accuracy == result.Exact,
	}
	if inexactErr != nil {
		collected.proverErr = fmt.Errorf("there is no certificate without fractions: %w", inexactErr)
	} else {
		collected.prover, collected.proverErr = prove.New(space, prove.Options{
			Epsilon: method.opt.Epsilon, Exact: collected.wantsFraction, Ordered: method.outputs.Certificate != nil, Reward: rewardOf,
		})
	}
	collected.refusal = sync.OnceValue(func() error {
		if method.outputs.Certificate == nil {
			return nil
		}
		return refuseNegative(space, rewardOf)
	})
	return collected
}

// refuseNegative returns an error if a reward structure of the space has negative rewards: a certificate file has all reward structures of the model,
// and its checker accepts no negative rewards. rewardOf returns the reward structure with an index.
func refuseNegative(space *explicit.Space, rewardOf func(index int) (*sparse.Reward, error)) error {
	for i, structure := range space.Program().Rewards {
		if _, err := rewardOf(i); err == nil {
			continue
		}
		if _, _, err := space.SignedReward(i); err == nil {
			return fmt.Errorf("found negative rewards in the structure %q: a certificate file has all rewards of the model, and none may be negative; --certify works without a file", structure.Name)
		}
	}
	return nil
}

// prove looks for a certificate for a verdict, and replaces the answer by the proven answer. If there is no certificate, the verdict gets a
// warning. If the context has ended, it gets an error.
func (model *exploredModel) prove(ctx context.Context, property *checkedProperty, verdict *result.Verdict) {
	if verdict.Err != nil {
		return
	}
	err := model.proofs.prove(ctx, &prove.Property{Property: property.Instance, Guess: verdict.Value.Num}, verdict)
	if err == nil {
		return
	}
	failure := check.Failure(err, property.File, property.Pos)
	if ctx.Err() != nil {
		*verdict = unfinished(*verdict, NotProven, failure)
		return
	}
	verdict.Warnings = append(slices.Clip(verdict.Warnings), NotProven+failure.Message)
}

// prove finds a certificate for a property, lets package certify check it, and replaces the answer in the verdict by the proven answer. The error says
// why there is no certificate.
func (collected *certificates) prove(ctx context.Context, property *prove.Property, verdict *result.Verdict) error {
	if collected.fairOnly {
		return errors.New("certificates cover all schedulers, and cannot be restricted to fair ones")
	}
	if err := cmp.Or(collected.proverErr, collected.refusal()); err != nil {
		return err
	}
	claim, proof, err := collected.prover.Proven(ctx, property)
	if err != nil {
		collected.mustRecheck = collected.mustRecheck || errors.As(err, new(*prove.NotAccepted))
		return err
	}
	if collected.quotient != nil {
		if err := collected.quotient.CheckProperty(ctx, property.Program, property.Expr); err != nil {
			return err
		}
	}
	if collected.wantsFraction && proof.Number {
		if err := checkSameFraction(verdict, proof); err != nil {
			return err
		}
	}
	if err := adoptProof(verdict, proof, cmp.Or(collected.epsilon, solve.DefaultEpsilon)); err != nil {
		return err
	}
	collected.claims = append(collected.claims, claim)
	return nil
}

// checkSameFraction returns an error unless the certificate proves exactly the fraction in the verdict. For a range of values it returns nil,
// because a range gets the bounds of the certificate.
func checkSameFraction(verdict *result.Verdict, proof *certify.Result) error {
	isRange := verdict.Value.Kind == result.Range // it gets the bounds of the certificate
	if isRange || proof.Lower == nil {
		return nil
	}
	isInterval := proof.Upper == nil || proof.Lower.Cmp(proof.Upper) != 0
	if isInterval {
		return errors.New("the certificate proves an interval, and not the fraction")
	}
	if verdict.Value.Rat != nil && verdict.Value.Rat.Cmp(proof.Lower) != 0 {
		return errors.New("the certificate proves another fraction; this is a bug: please report it")
	}
	return nil
}

// maxWidth is the largest relative width of a proven interval. A wider one is not accepted as a proof of the value.
const maxWidth = 1e-3

// adoptProof replaces the answer in a verdict by the answer that a certificate proves. It is an error if the two answers contradict each other, or if
// the proven interval is too wide. A relative width greater than epsilon adds a warning.
func adoptProof(verdict *result.Verdict, proof *certify.Result, epsilon float64) error {
	if contradicts(verdict, proof) {
		return errors.New("the certificate proves another answer; this is a bug: please report it")
	}
	if proof.Number && verdict.Value.Kind != result.Range {
		if err := checkWidth(verdict, relativeWidth(proof.Lower, proof.Upper), epsilon); err != nil {
			return err
		}
	}
	verdict.Accuracy = result.Proven
	if !proof.Number {
		return nil
	}
	bound := interval.Between(proof.Lower, proof.Upper)
	verdict.Bound = &bound
	verdict.BoundMethod = ""
	if verdict.Value.Kind != result.Range {
		adoptNumber(&verdict.Value, proof, bound)
	}
	return nil
}

// adoptNumber moves a value to the nearest number in bound, the proven interval. If the certificate proves a fraction, the value becomes this
// fraction.
func adoptNumber(value *result.Value, proof *certify.Result, bound result.Interval) {
	value.Num = min(max(value.Num, bound.Lo), bound.Hi)
	value.Rat = nil
	if proof.Lower != nil && proof.Upper != nil && proof.Lower.Cmp(proof.Upper) == 0 {
		value.Rat = new(big.Rat).Set(proof.Lower)
		value.Num, _ = proof.Lower.Float64()
	}
}

// contradicts reports whether the answers of a verdict and of a certificate cannot both be true.
func contradicts(verdict *result.Verdict, proof *certify.Result) bool {
	isBoolean := verdict.Value.Kind == result.Boolean
	if !proof.Number {
		return !isBoolean || verdict.Value.Bool != proof.Holds
	}
	bound := interval.Between(proof.Lower, proof.Upper)
	areDisjoint := verdict.Bound != nil && (verdict.Bound.Lo > bound.Hi || verdict.Bound.Hi < bound.Lo)
	return isBoolean || areDisjoint
}

// checkWidth checks width, the relative width of the proven interval. If it is greater than epsilon, the verdict gets a warning. If it is greater than
// maxWidth, checkWidth returns an error instead.
func checkWidth(verdict *result.Verdict, width, epsilon float64) error {
	if !(width > epsilon) {
		return nil
	}
	message := fmt.Sprintf("the proven interval has a relative width of %.2g, want %.3g (--epsilon)", width, epsilon)
	if width > maxWidth {
		return errors.New(message)
	}
	verdict.Warnings = append(slices.Clip(verdict.Warnings), message)
	return nil
}

// relativeWidth returns (upper - lower) / upper. nil stands for infinity. Equal bounds have width 0. The width is infinite if only upper is
// infinite, or if upper is beyond the range of float64.
func relativeWidth(lower, upper *big.Rat) float64 {
	switch {
	case lower == nil: // then upper is nil too
		return 0
	case upper == nil:
		return math.Inf(1)
	case lower.Cmp(upper) == 0:
		return 0
	}
	if nearest, _ := upper.Float64(); math.IsInf(nearest, 1) {
		return math.Inf(1)
	}
	width := new(big.Rat).Sub(upper, lower)
	relative, _ := width.Quo(width, upper).Float64()
	return relative
}

// write writes a certificate file with the accepted claims and the states of the model. If no claim was accepted, it writes nothing. It compresses a
// file whose name ends in .gz.
func (collected *certificates) write(ctx context.Context, output *runner.CertificateFile) error {
	if collected == nil || len(collected.claims) == 0 {
		return nil
	}
	claims := prove.Only(&collected.prover.File, collected.claims...)
	if collected.mustRecheck { // accepted claims may depend on a rejected claim
		if err := checkClaims(ctx, claims); err != nil {
			return err
		}
	}
	writer, err := files.NewWriter(collected.space, files.Options{Program: collected.labels, NameOfT: true})
	if err != nil {
		return err
	}
	return output.Write(output.File, func(out io.Writer) error {
		if !strings.HasSuffix(output.File, ".gz") {
			return certificate.Write(ctx, out, writer.UMBMembers, claims)
		}
		compressed := certificate.Compress(out)
		if err := certificate.Write(ctx, compressed, writer.UMBMembers, claims); err != nil {
			return err
		}
		return compressed.Close()
	})
}

// acceptedProofs returns the certificates for the file.
func (model *exploredModel) acceptedProofs() *certificates { return model.proofs }

// checkClaims checks claims by the rules of package certify. If the checker rejects a claim, the error names the property of the first rejected claim.
func checkClaims(ctx context.Context, claims *certificate.File) error {
	results, err := certify.Check(ctx, claims)
	if err != nil {
		return err
	}
	for i := range results {
		if results[i].Err != nil {
			return fmt.Errorf("%s: %w", results[i].Property, results[i].Err)
		}
	}
	return nil
}
