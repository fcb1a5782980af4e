package certificate

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
)

// Several is a multi-objective query about one scheduler, from the single initial state. If one objective has no
// bound, the value is its optimum while the others satisfy their bounds. Otherwise the value is 1 if some
// scheduler satisfies all bounds, and 0 if none does. All columns are about the states of the product with the
// objectives' memory; package several says what they prove.
type Several struct {
	Objectives []Objective `json:"objectives"`
	States     int         `json:"states"` // the number of states of the product
	// Weights has one weight for each objective. With Shift, Factor and the vector's columns they prove an upper bound
	// that no scheduler exceeds.
	Weights []*big.Rat `json:"weights,omitempty"`
	Shift   *big.Rat   `json:"shift,omitempty"`
	Factor  *big.Rat   `json:"factor,omitempty"`
	// Parts is a mixture of schedulers: one of them is drawn at the start. It proves which values are achievable.
	Parts []Part `json:"parts,omitempty"`
}

// Objective is a number to be maximised or minimised: the probability of Left until Right, or the expected Reward
// of the first Steps steps, or of all steps if Steps is -1.
type Objective struct {
	Left   int      `json:"left"`
	Right  int      `json:"right"`
	Reward int      `json:"reward"` // -1 for a probability
	Steps  int      `json:"steps"`
	Great  bool     `json:"great,omitempty"` // maximised; with a bound: at least Bound
	Bound  *big.Rat `json:"bound,omitempty"` // nil for the query
}

// Part is a scheduler that takes choice Choice[i] in product state i. The mixture draws it with probability Share.
// Values are lower bounds of the maximised objectives, with ranks, and upper bounds of the minimised ones.
type Part struct {
	Share  *big.Rat   `json:"share"`
	Choice []uint32   `json:"-"`
	Values []*Values  `json:"-"`
	Ranks  [][]uint32 `json:"-"`
}

// Most that several objectives may have.
const (
	MaxObjectives = 12
	MaxParts      = 64
)

// Query returns the objective without a bound; nil if all have one.
func (x *Several) Query() *Objective {
	for i := range x.Objectives {
		if x.Objectives[i].Bound == nil {
			return &x.Objectives[i]
		}
	}
	return nil
}

// validateSizes checks the numbers that determine how many columns there are and how long.
func (x *Several) validateSizes() error {
	if n := len(x.Objectives); n < 1 || n > MaxObjectives || len(x.Parts) > MaxParts || x.States < 1 || x.States >= None/2 {
		return fmt.Errorf("found %d objectives, %d parts and %d states", n, len(x.Parts), x.States)
	}
	return nil
}

// columns returns the columns of the parts.
func (x *Several) columns() []columnSlot {
	var out []columnSlot
	for j := range x.Parts {
		p := &x.Parts[j]
		if p.Values == nil {
			p.Values, p.Ranks = make([]*Values, len(x.Objectives)), make([][]uint32, len(x.Objectives))
		}
		out = append(out, columnSlot{name: fmt.Sprint("choice-", j), n: x.States, ranks: &p.Choice})
		for i := range p.Values {
			out = append(out,
				columnSlot{name: fmt.Sprint("value-", j, "-", i), n: x.States, values: &p.Values[i]},
				columnSlot{name: fmt.Sprint("rank-", j, "-", i), n: x.States, ranks: &p.Ranks[i]})
		}
	}
	return out
}

func (x *Several) validate(m *Model) error {
	queries := 0
	for _, o := range x.Objectives {
		if o.Bound == nil {
			queries++
		}
		if o.Reward < -1 || o.Reward >= len(m.Rewards) || o.Steps < -1 || o.Reward < 0 && o.Steps >= 0 {
			return fmt.Errorf("found reward structure %d of %d with %d steps", o.Reward, len(m.Rewards), o.Steps)
		}
	}
	switch {
	case m.Kind != MDP || m.Initial.Count() != 1 || queries > 1:
		return errors.New("found several objectives in a model that is no mdp or has several initial states, or more than one objective without a bound")
	case x.Weights != nil && (len(x.Weights) != len(x.Objectives) || x.Shift == nil || x.Factor == nil):
		return errors.New("found a wrong number of weights, or weights without a shift and a factor")
	}
	for _, w := range append([]*big.Rat{new(big.Rat)}, x.Weights...) {
		if w == nil || w.Sign() < 0 {
			return errors.New("found a missing or negative weight")
		}
	}
	for _, w := range []*big.Rat{x.Shift, x.Factor} {
		if w != nil && w.Sign() < 0 {
			return errors.New("found a negative shift or factor")
		}
	}
	for j := range x.Parts {
		p := &x.Parts[j]
		if p.Share == nil || p.Share.Sign() < 0 || p.Choice == nil || len(p.Values) != len(x.Objectives) || len(p.Ranks) != len(x.Objectives) {
			return fmt.Errorf("found part %d without its share or its choices", j)
		}
		for i, v := range p.Values {
			if v == nil {
				return fmt.Errorf("found part %d without values of objective %d", j, i)
			}
		}
	}
	return nil
}

// text returns the query in PRISM's syntax.
func (x *Several) text(f *File) string {
	var out []string
	for _, o := range x.Objectives {
		bound, path := map[bool]string{true: "max=?", false: "min=?"}[o.Great], ""
		if o.Bound != nil {
			bound = map[bool]string{true: ">=", false: "<="}[o.Great] + o.Bound.RatString()
		}
		switch {
		case o.Reward < 0:
			path = "P" + bound + " [ " + f.setText(o.Left) + " U " + f.setText(o.Right) + " ]"
		case o.Steps < 0:
			path = "R" + f.structureText(o.Reward) + bound + " [ C ]"
		default:
			path = fmt.Sprintf("R%s%s [ C<=%d ]", f.structureText(o.Reward), bound, o.Steps)
		}
		out = append(out, path)
	}
	all := "multi(" + strings.Join(out, ", ") + ")"
	if x.Query() == nil {
		return "(" + all + "?1:0)=?"
	}
	return all
}
