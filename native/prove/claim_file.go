package prove

import (
	"encoding/json"
	"fmt"
	"slices"

	"tilecheck/certify/certificate"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/sema"
)

// ClaimFile is a certificate that only states the claims for some properties: it has no columns, which prove them, and no model.
// Equal sets are stored once, and so are equal vectors.
type ClaimFile struct {
	certificate.File
	// Atoms are the expressions of the atomic sets, by set.
	Atoms map[int]sema.Expr
	// Coalitions are the players of a game, by number, whose states are an atomic set without an expression.
	Coalitions map[int][]int

	indexByKey map[string]int // the indices of sets and vectors, by setKey and vectorKey
}

// The sets that every ClaimFile begins with.
const (
	allStates = iota
	initialStates
)

// NewClaimFile returns a file without claims. It has the sets allStates and initialStates.
func NewClaimFile() *ClaimFile {
	file := &ClaimFile{Atoms: make(map[int]sema.Expr), Coalitions: make(map[int][]int), indexByKey: make(map[string]int)}
	file.setIndex(certificate.Set{Kind: certificate.All})
	file.setIndex(certificate.Set{Kind: certificate.Init})
	return file
}

// Add translates a property to a claim, adds the claim, and returns its index. If certificates cannot express the property, Add adds nothing,
// and the error is a *result.Failure.
func (file *ClaimFile) Add(property *Property) (int, error) {
	numSets, numVectors := len(file.Sets), len(file.Vectors)
	translation := &translation{ClaimFile: file, property: property}
	claim, err := translation.claim(property.Expr)
	if err != nil {
		file.truncate(numSets, numVectors)
		return 0, err
	}
	claim.Property, claim.Name = property.Text, property.Name
	file.Claims = append(file.Claims, claim)
	return len(file.Claims) - 1, nil
}

// truncate removes all sets and vectors except the first numSets sets and the first numVectors vectors, for a property that could not be translated.
func (file *ClaimFile) truncate(numSets, numVectors int) {
	for i := numSets; i < len(file.Sets); i++ {
		delete(file.indexByKey, setKey(&file.Sets[i]))
		delete(file.Atoms, i)
		delete(file.Coalitions, i)
	}
	for i := numVectors; i < len(file.Vectors); i++ {
		delete(file.indexByKey, vectorKey(&file.Vectors[i]))
	}
	file.Sets, file.Vectors = file.Sets[:numSets], file.Vectors[:numVectors]
}

// setKey returns a string that is equal for equal sets only.
func setKey(set *certificate.Set) string {
	return fmt.Sprint("set ", set.Kind, set.Sets, set.Vector, set.Relation, set.Threshold, set.Text)
}

// vectorKey returns a string that identifies a vector: two vectors have the same key if and only if they are equal.
func vectorKey(vector *certificate.Vector) string {
	var timeBound, formula, sets string
	if vector.Timed != nil {
		timeBound = fmt.Sprint(vector.Timed.From, vector.Timed.To)
	}
	if vector.Several != nil {
		text, _ := json.Marshal(vector.Several.Objectives)
		formula = string(text)
	}
	if vector.Automaton != nil { // the formula and the sets determine the automaton
		text, _ := json.Marshal([]any{vector.Automaton.Formula, vector.Automaton.Condition})
		formula, sets = string(text), fmt.Sprint(vector.Automaton.Sets)
	}
	if vector.Budgets != nil {
		text, _ := json.Marshal(vector.Budgets.Bounds)
		formula = string(text)
	}
	return fmt.Sprint("vector ", vector.Kind, vector.IsMaximum, vector.Maximizer, vector.ExistsPath, vector.Left, vector.Right,
		vector.Reward, vector.From, vector.To, " ", timeBound, " ", sets, " ", formula, " ", vector.Discount, " ", vector.Shares)
}

// setIndex returns the index of a set of states in the certificate. If the certificate has no equal set, setIndex adds this one.
func (file *ClaimFile) setIndex(set certificate.Set) int {
	key := setKey(&set)
	index, isKnown := file.indexByKey[key]
	if !isKnown {
		index = len(file.Sets)
		file.indexByKey[key] = index
		file.Sets = append(file.Sets, set)
	}
	return index
}

// vectorIndex returns the index of a vector, the values of an operator in all states, in the certificate. It adds the vector if it is new.
func (file *ClaimFile) vectorIndex(vector certificate.Vector) int {
	key := vectorKey(&vector)
	index, isKnown := file.indexByKey[key]
	if !isKnown {
		index = len(file.Vectors)
		file.indexByKey[key] = index
		file.Vectors = append(file.Vectors, vector)
	}
	return index
}

// complementIndex returns the index of the complement of set i. The complement of a complement is the original set.
func (file *ClaimFile) complementIndex(i int) int {
	if set := file.Sets[i]; set.Kind == certificate.Not {
		return set.Sets[0]
	}
	return file.setIndex(certificate.Set{Kind: certificate.Not, Sets: []int{i}})
}

// intersectionIndex returns the index of the intersection of two sets.
func (file *ClaimFile) intersectionIndex(left, right int) int {
	return file.setIndex(certificate.Set{Kind: certificate.And, Sets: []int{left, right}})
}

// unionIndex returns the index of the union of two sets.
func (file *ClaimFile) unionIndex(left, right int) int {
	return file.setIndex(certificate.Set{Kind: certificate.Or, Sets: []int{left, right}})
}

// atomicStates returns the states of an atomic set: the states of a coalition's players, or the states that satisfy the expression of the set.
func (file *ClaimFile) atomicStates(space *explicit.Space, set int) (*sparse.Set, error) {
	players, isCoalition := file.Coalitions[set]
	if !isCoalition {
		return space.States(file.Atoms[set])
	}
	states := sparse.NewSet(space.Model().NumStates())
	for s, player := range space.Model().Player {
		if slices.Contains(players, int(player)) {
			states.Add(s)
		}
	}
	return states, nil
}
