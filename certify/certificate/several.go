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

// Query returns the objective without a bound, or nil if all objectives have bounds.
func (several *Several) Query() *Objective {
	for i := range several.Objectives {
		if several.Objectives[i].Bound == nil {
			return &several.Objectives[i]
		}
	}
	return nil
}

// validateSizes returns an error unless the numbers of objectives, parts and states are within their limits. They determine the number and the
// lengths of the columns.
func (several *Several) validateSizes() error {
	numObjectives, numParts := len(several.Objectives), len(several.Parts)
	isCountValid := numObjectives >= 1 && numObjectives <= MaxObjectives && numParts <= MaxParts
	if !isCountValid || several.States < 1 || several.States >= None/2 {
		return fmt.Errorf("found %d objectives, %d parts and %d states", numObjectives, numParts, several.States)
	}
	return nil
}

// columns returns the columns of all parts: the choices of each part, and its values and ranks for each objective.
func (several *Several) columns() []columnSlot {
	var slots []columnSlot
	for j := range several.Parts {
		part := &several.Parts[j]
		if part.Values == nil {
			part.Values, part.Ranks = make([]*Values, len(several.Objectives)), make([][]uint32, len(several.Objectives))
		}
		slots = append(slots, columnSlot{name: fmt.Sprint("choice-", j), n: several.States, ranks: &part.Choice})
		for i := range part.Values {
			slots = append(slots,
				columnSlot{name: fmt.Sprint("value-", j, "-", i), n: several.States, values: &part.Values[i]},
				columnSlot{name: fmt.Sprint("rank-", j, "-", i), n: several.States, ranks: &part.Ranks[i]})
		}
	}
	return slots
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
		if err := several.Parts[j].validate(j, len(several.Objectives)); err != nil {
			return err
		}
	}
	return nil
}

// validate returns an error unless the part has a share, choices, and values for each objective. number is the number of the part.
func (part *Part) validate(number, numObjectives int) error {
	hasShare := part.Share != nil && part.Share.Sign() >= 0
	hasColumns := part.Choice != nil && len(part.Values) == numObjectives && len(part.Ranks) == numObjectives
	if !hasShare || !hasColumns {
		return fmt.Errorf("found part %d without its share or its choices", number)
	}
	for i, values := range part.Values {
		if values == nil {
			return fmt.Errorf("found part %d without values of objective %d", number, i)
		}
	}
	return nil
}

// text returns the vector in PRISM's syntax: multi(...), or (multi(...)?1:0)=? without a query.
func (several *Several) text(file *File) string {
	var texts []string
	for _, objective := range several.Objectives {
		texts = append(texts, objective.text(file))
	}
	query := "multi(" + strings.Join(texts, ", ") + ")"
	if several.Query() == nil { // its value is 1 or 0
		return "(" + query + "?1:0)=?"
	}
	return query
}

// text returns the objective in PRISM's syntax.
func (objective *Objective) text(file *File) string {
	threshold := objective.thresholdText()
	switch {
	case objective.Reward < 0:
		return "P" + threshold + " [ " + file.setText(objective.Left) + " U " + file.setText(objective.Right) + " ]"
	case objective.Steps < 0:
		return file.Model.rewardOperator(objective.Reward) + threshold + " [ C ]"
	}
	return fmt.Sprintf("%s%s [ C<=%d ]", file.Model.rewardOperator(objective.Reward), threshold, objective.Steps)
}

// thresholdText returns the threshold of the objective in PRISM's syntax, such as max=? or <=1/2.
func (objective *Objective) thresholdText() string {
	optimum, relation := "min=?", "<="
	if objective.Maximised {
		optimum, relation = "max=?", ">="
	}
	if objective.Bound == nil {
		return optimum
	}
	return relation + objective.Bound.RatString()
}
