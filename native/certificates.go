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
	"tilecheck/result"
	"tilecheck/runner"
)

// NotProven begins the warning of a verdict for which a certificate was wanted and not found.
const NotProven = "not proven: "

// certificates finds and collects the certificates of an instance's verdicts.
type certificates struct {
	space   *explicit.Space
	prover  *prove.Prover
	none    error // why there are no certificates
	fair    bool  // only fair schedulers count
	exact   bool  // a certificate must prove the fraction, and not an interval
	epsilon float64
	claims  []int // indices of the accepted claims
	// recheck says that the checker rejected a claim. Later claims may depend on it, so all of them are checked again.
	recheck bool
}

// newCertificates returns the certificates of a space, none so far. inexact says why the space has no fractions; nil if it has.
func (e *statesMethod) newCertificates(space *explicit.Space, inexact error, reward func(int) (*sparse.Reward, error)) *certificates {
	p := &certificates{space: space, none: inexact, epsilon: e.opt.Epsilon, fair: e.opt.Fair, exact: e.opt.Accuracy == result.Exact}
	if inexact == nil {
		p.prover, p.none = prove.New(space, prove.Options{Epsilon: e.opt.Epsilon, Exact: p.exact, Ordered: e.wants.Certificate != nil, Reward: reward})
	}
	return p
}

// prove finds the certificate of a verdict, and changes the verdict to what the certificate proves. If there is none, the
// verdict gets a warning.
func (b *states) prove(ctx context.Context, p *property, v *result.Verdict) {
	if v.Err != nil {
		return
	}
	if err := b.proofs.prove(ctx, &prove.Property{Property: p.Instance, Guess: v.Value.Num}, v); err != nil {
		f := check.Failure(err, p.File, p.Pos)
		if ctx.Err() != nil {
			*v = unfinished(*v, NotProven, f)
			return
		}
		v.Warnings = append(slices.Clip(v.Warnings), NotProven+f.Message)
	}
}

// prove finds the certificate of a property, has it checked, and changes the verdict to what it proves.
func (p *certificates) prove(ctx context.Context, of *prove.Property, v *result.Verdict) error {
	if p.fair {
		return errors.New("certificates are about all schedulers, not fair ones")
	}
	if p.none != nil {
		return fmt.Errorf("there is no certificate without fractions: %w", p.none)
	}
	i, proven, err := p.prover.Proven(ctx, of)
	if err != nil {
		p.recheck = p.recheck || errors.As(err, new(*prove.NotAccepted))
		return err
	}
	if p.exact && proven.Number {
		if err := sameFraction(v, proven); err != nil {
			return err
		}
	}
	if err := adopt(v, proven, cmp.Or(p.epsilon, solve.DefaultEpsilon)); err != nil {
		return err
	}
	p.claims = append(p.claims, i)
	return nil
}

// sameFraction returns an error unless a certificate proves exactly the fraction of a verdict.
func sameFraction(v *result.Verdict, r *certify.Result) error {
	switch {
	case v.Value.Kind == result.Range:
		return nil // its two numbers are the bounds of the certificate
	case r.Lower != nil && (r.Upper == nil || r.Lower.Cmp(r.Upper) != 0):
		return errors.New("the certificate proves an interval, and not the fraction")
	case r.Lower != nil && v.Value.Rat != nil && v.Value.Rat.Cmp(r.Lower) != 0:
		return errors.New("the certificate proves another fraction; this is a bug: please report it")
	}
	return nil
}

// maxWidth is the largest relative width of a proven interval. A wider one is not accepted as a proof of the value.
const maxWidth = 1e-3

// adopt changes a verdict to what is proven. It is an error if the verdict contradicts that, or if the proven interval is too wide.
func adopt(v *result.Verdict, r *certify.Result, epsilon float64) error {
	wrong := errors.New("the certificate proves something else; this is a bug: please report it")
	x := v.Value
	if !r.Number {
		if x.Kind != result.Boolean || x.Bool != r.Holds {
			return wrong
		}
		v.Accuracy = result.Proven
		return nil
	}
	bound := interval.Between(r.Lower, r.Upper)
	if x.Kind == result.Boolean || v.Bound != nil && (v.Bound.Lo > bound.Hi || v.Bound.Hi < bound.Lo) {
		return wrong
	}
	width := relativeWidth(r.Lower, r.Upper)
	if v.Value.Kind != result.Range && width > epsilon {
		msg := fmt.Sprintf("the interval that is proven has a relative width of %.2g, where %.3g was asked for", width, epsilon)
		if width > maxWidth {
			return errors.New(msg)
		}
		v.Warnings = append(slices.Clip(v.Warnings), msg)
	}
	v.Accuracy = result.Proven
	v.Bound = &bound
	v.BoundMethod = ""
	if x.Kind != result.Range {
		v.Value.Num = min(max(x.Num, bound.Lo), bound.Hi)
		v.Value.Rat = nil
		if r.Lower != nil && r.Upper != nil && r.Lower.Cmp(r.Upper) == 0 {
			v.Value.Rat = new(big.Rat).Set(r.Lower)
			v.Value.Num, _ = r.Lower.Float64()
		}
	}
	return nil
}

// relativeWidth returns the relative width of an interval. An end that is nil is infinite. The width is infinite if the upper end
// exceeds the range of float64.
func relativeWidth(lower, upper *big.Rat) float64 {
	switch {
	case lower == nil || upper != nil && lower.Cmp(upper) == 0:
		return 0
	case upper == nil:
		return math.Inf(1)
	}
	if f, _ := upper.Float64(); math.IsInf(f, 1) {
		return f
	}
	width := new(big.Rat).Sub(upper, lower)
	f, _ := width.Quo(width, upper).Float64()
	return f
}

// write writes the file of the accepted certificates, if there are any. If a claim was rejected, all are checked again first.
func (p *certificates) write(ctx context.Context, to *runner.CertificateFile) error {
	if len(p.claims) == 0 {
		return nil
	}
	f := prove.Only(&p.prover.File, p.claims...)
	if p.recheck {
		results, err := certify.Check(ctx, f)
		if err != nil {
			return err
		}
		for i := range results {
			if results[i].Err != nil {
				return fmt.Errorf("%s: %w", results[i].Property, results[i].Err)
			}
		}
	}
	w, err := files.NewWriter(p.space, files.Options{})
	if err != nil {
		return err
	}
	return to.Write(to.File, func(out io.Writer) error {
		if !strings.HasSuffix(to.File, ".gz") {
			return certificate.Write(ctx, out, w.UMBMembers, f)
		}
		z := certificate.Compress(out)
		if err := certificate.Write(ctx, z, w.UMBMembers, f); err != nil {
			return err
		}
		return z.Close()
	})
}
