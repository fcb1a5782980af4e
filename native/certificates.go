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
	space     *explicit.Space
	prover    *prove.Prover
	proverErr error // why there are no certificates
	fair      bool  // only fair schedulers count
	exact     bool  // a certificate must prove the fraction, and not an interval
	epsilon   float64
	claims    []int         // indices of the accepted claims
	labels    *sema.Program // defines the labels in the file; nil means the program of the space
	// recheck says that the checker rejected a claim. Later claims may depend on it, so all of them are checked again.
	recheck bool
}

// newCertificates returns an empty collection of certificates for the verdicts of a space. The error inexact says why the space has no
// fractions, without which there are no certificates; it is nil if the space has fractions. reward returns a reward structure.
func (method *statesMethod) newCertificates(space *explicit.Space, inexact error, reward func(int) (*sparse.Reward, error)) *certificates {
	certificates := &certificates{space: space, proverErr: inexact, epsilon: method.opt.Epsilon, fair: method.opt.Fair, exact: method.opt.Accuracy == result.Exact}
	if inexact == nil {
		certificates.prover, certificates.proverErr = prove.New(space, prove.Options{Epsilon: method.opt.Epsilon, Exact: certificates.exact, Ordered: method.outputs.Certificate != nil, Reward: reward})
	}
	return certificates
}

// prove finds a certificate for a verdict, and replaces the answer in the verdict by the one that the certificate proves. If there
// is no certificate, it adds a warning; if the context has ended, it adds an error.
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

// prove finds a certificate of a property, checks it, and replaces the answer in the verdict by the one that the certificate proves.
func (c *certificates) prove(ctx context.Context, property *prove.Property, verdict *result.Verdict) error {
	if c.fair {
		return errors.New("certificates cover all schedulers, and cannot be restricted to fair ones")
	}
	if c.proverErr != nil {
		return fmt.Errorf("there is no certificate without fractions: %w", c.proverErr)
	}
	claim, proof, err := c.prover.Proven(ctx, property)
	if err != nil {
		c.recheck = c.recheck || errors.As(err, new(*prove.NotAccepted))
		return err
	}
	if c.exact && proof.Number {
		if err := checkSameFraction(verdict, proof); err != nil {
			return err
		}
	}
	if err := adoptProof(verdict, proof, cmp.Or(c.epsilon, solve.DefaultEpsilon)); err != nil {
		return err
	}
	c.claims = append(c.claims, claim)
	return nil
}

// checkSameFraction returns an error if the certificate proves an interval or another number instead of the fraction in the verdict. A bound
// of nil stands for infinity.
func checkSameFraction(verdict *result.Verdict, proof *certify.Result) error {
	if verdict.Value.Kind == result.Range || proof.Lower == nil { // the numbers of a range are the bounds of the certificate
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

// adoptProof replaces the answer in a verdict by the answer that a certificate proves. It returns an error if the two
// answers contradict each other, or if the proven interval is wider than maxWidth. It adds a warning if the proven interval
// is wider than epsilon.
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
	if verdict.Value.Kind == result.Range {
		return nil
	}
	verdict.Value.Num = min(max(verdict.Value.Num, bound.Lo), bound.Hi)
	verdict.Value.Rat = nil
	if proof.Lower != nil && proof.Upper != nil && proof.Lower.Cmp(proof.Upper) == 0 {
		verdict.Value.Rat = new(big.Rat).Set(proof.Lower)
		verdict.Value.Num, _ = proof.Lower.Float64()
	}
	return nil
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

// checkWidth adds a warning to a verdict if the width of the proven interval exceeds epsilon, and returns an error if it
// exceeds maxWidth.
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

// relativeWidth returns (upper - lower) / upper. A nil bound stands for infinity: [infinity, infinity] has width 0, and
// [lower, infinity] has an infinite width. The width is also infinite if upper exceeds the range of float64.
func relativeWidth(lower, upper *big.Rat) float64 {
	switch {
	case lower == nil:
		return 0
	case upper == nil:
		return math.Inf(1)
	case lower.Cmp(upper) == 0:
		return 0
	}
	if nearest, _ := upper.Float64(); math.IsInf(nearest, 1) {
		return nearest
	}
	width := new(big.Rat).Sub(upper, lower)
	relative, _ := width.Quo(width, upper).Float64()
	return relative
}

// write writes the accepted claims to a certificate file, together with the states of the model. Without an accepted claim it writes
// no file. If the checker rejected a claim, write checks all accepted claims again, because they may depend on that claim.
func (c *certificates) write(ctx context.Context, output *runner.CertificateFile) error {
	if c == nil || len(c.claims) == 0 {
		return nil
	}
	claims := prove.Only(&c.prover.File, c.claims...)
	if c.recheck {
		if err := checkClaims(ctx, claims); err != nil {
			return err
		}
	}
	writer, err := files.NewWriter(c.space, files.Options{Program: c.labels})
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

// checkClaims returns an error for the first claim that the checker rejects.
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
