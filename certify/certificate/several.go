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
	Left      int      `json:"left"`
	Right     int      `json:"right"`
	Reward    int      `json:"reward"` // -1 for a probability
	Steps     int      `json:"steps"`
	Maximised bool     `json:"great,omitempty"` // maximised; with a bound: at least Bound
	Bound     *big.Rat `json:"bound,omitempty"` // nil for the query
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
func (several *Several) Query() *Objective {
	for i := range several.Objectives {
		if several.Objectives[i].Bound == nil {
			return &several.Objectives[i]
		}
	}
	return nil
}

// validateSizes checks the numbers that determine how many columns there are and how long.
func (several *Several) validateSizes() error {
	if n := len(several.Objectives); n < 1 || n > MaxObjectives || len(several.Parts) > MaxParts || several.States < 1 || several.States >= None/2 {
		return fmt.Errorf("found %d objectives, %d parts and %d states", n, len(several.Parts), several.States)
	}
	return nil
}

// columns returns the columns of the parts: the choices of each part, and the values and ranks of each objective.
func (several *Several) columns() []columnSlot {
	var out []columnSlot
	for j := range several.Parts {
		part := &several.Parts[j]
		if part.Values == nil {
			part.Values, part.Ranks = make([]*Values, len(several.Objectives)), make([][]uint32, len(several.Objectives))
		}
		out = append(out, columnSlot{name: fmt.Sprint("choice-", j), n: several.States, ranks: &part.Choice})
		for i := range part.Values {
			out = append(out,
				columnSlot{name: fmt.Sprint("value-", j, "-", i), n: several.States, values: &part.Values[i]},
				columnSlot{name: fmt.Sprint("rank-", j, "-", i), n: several.States, ranks: &part.Ranks[i]})
		}
	}
	return out
}

// validate returns an error unless the objectives, weights and parts of a multi-objective vector are consistent.
func (several *Several) validate(model *Model) error {
	queries := 0
	for _, objective := range several.Objectives {
		if objective.Bound == nil {
			queries++
		}
		if objective.Reward < -1 || objective.Reward >= len(model.Rewards) || objective.Steps < -1 || objective.Reward < 0 && objective.Steps >= 0 {
			return fmt.Errorf("found reward structure %d of %d with %d steps", objective.Reward, len(model.Rewards), objective.Steps)
		}
	}
	switch {
	case model.Kind != MDP || model.Initial.Count() != 1 || queries > 1:
		return errors.New("found several objectives in a model that is not an mdp or has several initial states, or more than one objective without a bound")
	case several.Weights != nil && (len(several.Weights) != len(several.Objectives) || several.Shift == nil || several.Factor == nil):
		return errors.New("found a wrong number of weights, or weights without a shift and a factor")
	}
	for _, number := range append([]*big.Rat{new(big.Rat)}, several.Weights...) {
		if number == nil || number.Sign() < 0 {
			return errors.New("found a missing or negative weight")
		}
	}
	for _, number := range []*big.Rat{several.Shift, several.Factor} {
		if number != nil && number.Sign() < 0 {
			return errors.New("found a negative shift or factor")
		}
	}
	for j := range several.Parts {
		part := &several.Parts[j]
		if part.Share == nil || part.Share.Sign() < 0 || part.Choice == nil || len(part.Values) != len(several.Objectives) || len(part.Ranks) != len(several.Objectives) {
			return fmt.Errorf("found part %d without its share or its choices", j)
		}
		for i, values := range part.Values {
			if values == nil {
				return fmt.Errorf("found part %d without values of objective %d", j, i)
			}
		}
	}
	return nil
}

// text returns the query in PRISM's syntax.
func (several *Several) text(file *File) string {
	var out []string
	for _, objective := range several.Objectives {
		bound, path := map[bool]string{true: "max=?", false: "min=?"}[objective.Maximised], ""
		if objective.Bound != nil {
			bound = map[bool]string{true: ">=", false: "<="}[objective.Maximised] + objective.Bound.RatString()
		}
		switch {
		case objective.Reward < 0:
			path = "P" + bound + " [ " + file.setText(objective.Left) + " U " + file.setText(objective.Right) + " ]"
		case objective.Steps < 0:
			path = "R" + file.structureText(objective.Reward) + bound + " [ C ]"
		default:
			path = fmt.Sprintf("R%s%s [ C<=%d ]", file.structureText(objective.Reward), bound, objective.Steps)
		}
		out = append(out, path)
	}
	query := "multi(" + strings.Join(out, ", ") + ")"
	if several.Query() == nil {
		return "(" + query + "?1:0)=?"
	}
	return query
}
