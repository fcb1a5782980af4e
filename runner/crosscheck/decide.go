package crosscheck

import (
	"fmt"
	"math"

	"tilecheck/prism/syntax"
)

// relation is how two answers stand to each other.
type relation uint8

const (
	same relation = iota
	unknown
	different
)

// comparison is the outcome of comparing two answers.
type comparison struct {
	relation relation
	basis    Basis
	reason   string
	// wide lists which of the two answers more samples might improve.
	wide [2]bool
}

// margins say how far apart agreeing numbers may be.
type margins struct {
	// tolerance is relative, for numbers that were not sampled; precision is
	// for those that were: absolute up to 1 and relative above.
	tolerance, precision float64
}

// weaker returns the basis that both answers reach.
func weaker(a, b Basis) Basis {
	switch {
	case a == Statistical || b == Statistical:
		return Statistical
	case a == Estimated || b == Estimated:
		return Estimated
	}
	return Proven
}

// compare says whether two answers can be of one value and, if so, whether they
// are surely close.
func (m margins) compare(a, b *answer, extremum syntax.Extremum) comparison {
	c := comparison{basis: weaker(a.basis, b.basis), wide: [2]bool{a.wide, b.wide}}
	switch {
	case a.open != "" || b.open != "":
		c.relation = unknown
		c.reason = openReason(a, b)
	case a.boolean != b.boolean:
		c.relation = different
		c.reason = fmt.Sprintf("answers of different kinds: %s %s, %s %s", a.who, a.text(), b.who, b.text())
	case a.uniform != b.uniform:
		c.uniform(m, a, b, extremum)
	case a.boolean:
		c.booleans(a, b)
	case a.high != nil || b.high != nil:
		c.ranges(m, a, b)
	default:
		c.numbers(m, a, b)
	}
	return c
}

func openReason(a, b *answer) string {
	if a.open != "" {
		return a.who + ": " + a.open
	}
	return b.who + ": " + b.open
}

func (c *comparison) set(r relation, a, b *answer, why string) {
	c.relation = r
	c.reason = fmt.Sprintf("%s: %s %s, %s %s", why, a.who, a.text(), b.who, b.text())
}

// uniform compares an answer about the uniform scheduler with one about all of
// them: the one cannot exceed the maximum, nor fall short of the minimum, and
// more there is not to say.
func (c *comparison) uniform(m margins, a, b *answer, extremum syntax.Extremum) {
	u, v := a, b
	if b.uniform {
		u, v = b, a
	}
	if numeric := !u.boolean && v.high == nil; numeric {
		slack := 0.0
		if v.basis == Estimated {
			slack = m.close(v, v)
		}
		switch {
		case extremum == syntax.Max && u.lo > v.hi+slack:
			c.set(different, a, b, "a scheduler exceeds the maximum")
			return
		case extremum == syntax.Min && u.hi < v.lo-slack:
			c.set(different, a, b, "a scheduler falls short of the minimum")
			return
		}
	}
	c.relation, c.wide = unknown, [2]bool{}
	c.reason = fmt.Sprintf("%s drew the choices uniformly, which is no minimum or maximum as %s has it", u.who, v.who)
}

func (c *comparison) booleans(a, b *answer) {
	switch {
	case a.holds == b.holds:
	case a.nominal || b.nominal:
		c.set(unknown, a, b, "a sequential test may be wrong near its bound")
	default:
		c.set(different, a, b, "truth values differ")
	}
}

// ranges compares the values of several initial states. An engine may know only
// one number.
func (c *comparison) ranges(m margins, a, b *answer) {
	if a.high == nil || b.high == nil {
		c.set(unknown, a, b, "one engine has a range of values, one a number")
		return
	}
	c.numbers(m, a, b)
	if c.relation == same {
		c.numbers(m, a.high, b.high)
	}
}

func (c *comparison) numbers(m margins, a, b *answer) {
	if math.IsNaN(a.lo) || math.IsNaN(b.lo) {
		if math.IsNaN(a.lo) != math.IsNaN(b.lo) {
			c.set(different, a, b, "one is not a number")
		}
		return
	}
	if a.rat != nil && b.rat != nil {
		if a.rat.Cmp(b.rat) != 0 {
			c.set(different, a, b, "fractions differ")
		}
		return
	}
	slack := 0.0
	if a.basis == Estimated || b.basis == Estimated {
		slack = m.close(a, b)
	}
	gap := max(minus(a.lo, b.hi), minus(b.lo, a.hi))
	if gap > slack {
		c.set(different, a, b, differenceText(c.basis))
		return
	}
	allowed := m.close(a, b)
	if c.basis == Statistical {
		allowed = m.precision * max(1, math.Abs(a.lo), math.Abs(b.lo))
	}
	if spread := max(minus(a.hi, b.lo), minus(b.hi, a.lo)); spread > allowed {
		c.set(unknown, a, b, fmt.Sprintf("the values may be %s apart, want at most %s", number(spread), number(allowed)))
		c.wide = [2]bool{a.basis == Statistical, b.basis == Statistical}
	}
}

// close is how far numbers that were not sampled may be apart. Beside the
// relative tolerance there is a small absolute one, for the rounding of a zero.
//
// Source: PRISM's test mode compares relatively, with 1e-5 (ResultTesting).
func (m margins) close(a, b *answer) float64 {
	size := max(math.Abs(a.lo), math.Abs(a.hi), math.Abs(b.lo), math.Abs(b.hi))
	if math.IsInf(size, 0) {
		size = 0
	}
	return m.tolerance * max(size, m.tolerance)
}

// minus is x-y where two equal infinities differ by nothing.
func minus(x, y float64) float64 {
	if x == y {
		return 0
	}
	return x - y
}

func differenceText(b Basis) string {
	switch b {
	case Statistical:
		return "confidence intervals are apart"
	case Estimated:
		return "estimated values are further apart than the tolerance"
	}
	return "proven values differ"
}

// judge compares all answers of a row with each other. The disagreement with the
// strongest basis counts. Of each answer it says whether more samples might help,
// which they do not where some pair stays unknown whatever is drawn.
func (m margins) judge(answers []answer, extremum syntax.Extremum) (worst comparison, wide []bool) {
	wide = make([]bool, len(answers))
	worst.basis = Proven
	hopeless := false
	for i := range answers {
		for j := range i {
			c := m.compare(&answers[j], &answers[i], extremum)
			if c.relation == unknown {
				wide[j], wide[i] = wide[j] || c.wide[0], wide[i] || c.wide[1]
				hopeless = hopeless || !c.wide[0] && !c.wide[1]
			}
			switch {
			case c.relation > worst.relation:
				worst = c
			case c.relation < worst.relation:
			case c.relation == different && c.basis != worst.basis && weaker(c.basis, worst.basis) == worst.basis:
				worst = c
			case c.relation == same:
				worst.basis = weaker(worst.basis, c.basis)
			}
		}
	}
	if hopeless {
		clear(wide)
	}
	return worst, wide
}

// status is what a comparison makes of a row.
func (r relation) status() Status { return [...]Status{Agree, Undecided, Disagree}[r] }
