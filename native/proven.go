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
	"tilecheck/native/check"
	"tilecheck/native/prove"
	"tilecheck/native/solve"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/files"
	"tilecheck/native/space/sparse"
	"tilecheck/result"
	"tilecheck/runner"
)

// NotProven begins the warning of a verdict that was to be proven, and is not.
const NotProven = "not proven: "

// proofs makes the certificates of an instance.
type proofs struct {
	space  *explicit.Space
	prover *prove.Prover
	none   error // why there are none
	fair   bool  // only fair schedulers count
	// fractions says that values are fractions, and only a certificate of that fraction proves one.
	fractions bool
	// epsilon is the relative width that is asked for.
	epsilon float64
	proven  []int // claims that are accepted
	// doubtful says that something was not accepted, on which other claims may rest now.
	doubtful bool
}

// prover begins the certificates of a space; none says why there are none.
func (e *exact) prover(space *explicit.Space, none error, reward func(int) (*sparse.Reward, error)) *proofs {
	p := &proofs{space: space, none: none, epsilon: e.opt.Epsilon, fair: e.opt.Fair, fractions: e.opt.Accuracy == result.Exact}
	if none == nil {
		p.prover, p.none = prove.New(space, prove.Options{Epsilon: e.opt.Epsilon, Exact: p.fractions, Ordered: e.wants.Certificate != nil, Reward: reward})
	}
	return p
}

// prove makes the certificate of a verdict, and has it checked: then the verdict is what
// it proves.
func (b *built) prove(ctx context.Context, p *property, v *result.Verdict) {
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

func (p *proofs) prove(ctx context.Context, of *prove.Property, v *result.Verdict) error {
	if p.fair {
		return errors.New("certificates are about all schedulers, not fair ones")
	}
	if p.none != nil {
		return fmt.Errorf("there is no certificate without fractions: %w", p.none)
	}
	i, proven, err := p.prover.Proven(ctx, of)
	if err != nil {
		p.doubtful = p.doubtful || errors.As(err, new(*prove.NotAccepted))
		return err
	}
	if p.fractions && proven.Number {
		if err := sameFraction(v, proven); err != nil {
			return err
		}
	}
	if err := adopt(v, proven, cmp.Or(p.epsilon, solve.DefaultEpsilon)); err != nil {
		return err
	}
	p.proven = append(p.proven, i)
	return nil
}

// sameFraction returns an error unless a certificate proves the very fraction of a verdict.
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

// vague is the greatest relative width of an interval that stands for a value.
const vague = 1e-3

// adopt makes a verdict say what is proven. What was found without proof may not
// contradict it.
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
	bound := result.Enclose(r.Lower, r.Upper)
	if x.Kind == result.Boolean || v.Bound != nil && (v.Bound.Lo > bound.Hi || v.Bound.Hi < bound.Lo) {
		return wrong
	}
	if width := relativeWidth(r.Lower, r.Upper); v.Value.Kind != result.Range && width > epsilon {
		msg := fmt.Sprintf("the interval that is proven has a relative width of %.2g, where %.3g was asked for", width, epsilon)
		if width > vague {
			return errors.New(msg)
		}
		v.Warnings = append(slices.Clip(v.Warnings), msg)
	}
	v.Accuracy, v.Bound, v.BoundMethod = result.Proven, &bound, ""
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

// relativeWidth is that of an interval, of which a nil end is infinite. It is infinite
// where doubles cannot say what is between the ends.
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

// write writes the file of certificates.
func (p *proofs) write(ctx context.Context, to *runner.CertificateFile) error {
	if len(p.proven) == 0 {
		return nil
	}
	f := prove.Only(&p.prover.File, p.proven...)
	if p.doubtful {
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
