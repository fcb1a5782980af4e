package explicit_test

import (
	"math/rand/v2"
	"testing"

	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
)

// unexploredStates returns the states of a space that are not explored.
func unexploredStates(space *explicit.Space) (states []uint32) {
	if space.Unexplored() == nil {
		return nil
	}
	for s := range space.Unexplored().All() {
		states = append(states, uint32(s))
	}
	return states
}

// TestSelection explores the states of PRISM's models in a random order, a few at a time, and compares the space with that of Build, in floating-point
// numbers and in fractions.
func TestSelection(t *testing.T) {
	numCompared := 0
	for _, c := range corpusModels(t) {
		m := compiled(t, c.src, c.consts...)
		whole, err := explicit.Build(t.Context(), m, explicit.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if whole.Model().Intervals() || whole.Model().Player != nil || whole.Model().NumStates() > 5_000 {
			continue
		}
		numCompared++
		random := rand.New(rand.NewPCG(1, uint64(numCompared)))
		selection, err := explicit.NewSelection(t.Context(), m, explicit.Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		space := exploreInRandomOrder(t, selection, random)
		compareRows(t, rowsOf(space), rowsOf(whole))
		if last := space.Model().NumStates() - 1; !finds(space, last) {
			t.Errorf("%s: state %d is not found", c.name, last)
		}
		exact, err := space.Fractions(t.Context(), explicit.Options{Normalise: true})
		if err != nil {
			t.Fatal(err)
		}
		compareRows(t, rowsOf(exact), rowsOf(whole))
		if exact.Model().Fractions == nil || exact.NumExplored() != exact.Model().NumStates() || len(exact.Model().Initial) != len(whole.Model().Initial) {
			t.Errorf("%s: fractions %v, %d of %d states explored, %d initial states", c.name, exact.Model().Fractions != nil, exact.NumExplored(), exact.Model().NumStates(), len(exact.Model().Initial))
		}
		if err := selection.Close(); err != nil {
			t.Error(err)
		}
	}
	if numCompared < 50 {
		t.Errorf("compared %d models, too few for a test", numCompared)
	}
}

// finds reports whether the number of a state is found from its valuation.
func finds(space *explicit.Space, state int) bool {
	number, found := space.Find(space.State(nil, state))
	return found && number == state
}

// exploreInRandomOrder explores all states of a selection. Each round explores some of the unexplored states in a random order, or unexplored successors of the last ones.
func exploreInRandomOrder(t *testing.T, selection *explicit.Selection, random *rand.Rand) *explicit.Space {
	t.Helper()
	var last []uint32
	for {
		space, err := selection.Space()
		if err != nil {
			t.Fatal(err)
		}
		states := unexploredStates(space)
		if !finds(space, 0) { // in each round, because the table of states is dropped in each
			t.Fatal("the first state is not found")
		}
		if space.NumExplored()+len(states) != space.Model().NumStates() {
			t.Fatalf("%d explored and %d unexplored states of %d", space.NumExplored(), len(states), space.Model().NumStates())
		}
		if len(states) == 0 {
			return space
		}
		random.Shuffle(len(states), func(i, j int) { states[i], states[j] = states[j], states[i] })
		states = states[:1+random.IntN(len(states))]
		if ahead := selection.UnexploredSuccessors(last); len(ahead) > 0 && random.IntN(2) == 0 {
			states = ahead
		}
		if err := selection.Expand(t.Context(), states); err != nil {
			t.Fatal(err)
		}
		last = states
	}
}

// TestSelectionExcludes excludes the states of one half of a model. They are found, but neither unexplored nor explored.
func TestSelectionExcludes(t *testing.T) {
	m := compiled(t, "mdp\nmodule m\nx : [0..9];\n[] x<9 -> 1/2:(x'=x+1) + 1/2:(x'=0);\n[] x<8 -> (x'=x+2);\nendmodule\n")
	selection, err := explicit.NewSelection(t.Context(), m, explicit.Options{}, func(state []int32) bool { return state[0] >= 5 })
	if err != nil {
		t.Fatal(err)
	}
	defer selection.Close()
	space := exploreUnexcluded(t, selection)
	numFound := space.Model().NumStates()
	if numFound != 7 || space.NumExplored() != 5 { // 0 to 6 are found, 5 and 6 are excluded
		t.Errorf("%d states found and %d explored, want 7 and 5", numFound, space.NumExplored())
	}
	if space.Unexplored() == nil || !space.Unexplored().Empty() {
		t.Error("want an empty set of unexplored states")
	}
	if err := selection.Expand(t.Context(), []uint32{0}); err == nil {
		t.Error("want an error for a state that is explored already")
	}
	fractions, err := space.Fractions(t.Context(), explicit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*explicit.Space{space, fractions} {
		graph := sparse.NewGraph(s.Model())
		for state := range s.Model().NumStates() {
			x := s.State(nil, state)[0]
			first, end := graph.Choices(state)
			if numChoices := end - first; numChoices != 2 && x < 5 || numChoices != 1 && x >= 5 {
				t.Errorf("x=%d has %d choices", x, numChoices)
			}
		}
	}
}

// exploreUnexcluded explores all states of a selection that are not excluded.
func exploreUnexcluded(t *testing.T, selection *explicit.Selection) *explicit.Space {
	t.Helper()
	for {
		space, err := selection.Space()
		if err != nil {
			t.Fatal(err)
		}
		states := unexploredStates(space)
		if len(states) == 0 {
			return space
		}
		if err := selection.Expand(t.Context(), states); err != nil {
			t.Fatal(err)
		}
	}
}
