package native_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tilecheck/game"
	"tilecheck/internal/needs"
	"tilecheck/modelgen"
	"tilecheck/native/load"
	"tilecheck/native/space/explicit"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/runner"
)

// TestGameGraph shows that package game and the text of modelgen are the same
// game: every state of the model is a board and a phase, no two are the same
// one, the first is the empty board in the random phase, and in each the
// choices, their actions, their transitions and the probabilities (fractions,
// on the smaller boards) are those that package game gives, and so are the
// labels and the formulas. By induction the graphs are one.
func TestGameGraph(t *testing.T) {
	type board struct{ rows, cols, tile int }
	boards := []board{
		{2, 2, 4},
		{2, 2, 8},
		{2, 2, 16},
		{2, 2, 32},
		{2, 2, 64},
		{2, 2, 128}, // 64 and more are out of reach
		{2, 3, 4},
		{2, 3, 8},
		{2, 3, 16},
		{3, 2, 8},
		{3, 2, 16},
		{1, 4, 64},
		{3, 3, 8},
		{4, 1, 64},
		{2, 3, 32},
		{2, 3, 64},
		{2, 3, 256},
		{3, 2, 32},
		{3, 2, 64},
		{3, 3, 16},
		{3, 3, 32},
	}
	for _, b := range boards {
		for _, spawn := range []modelgen.Spawn{modelgen.SpawnUniform, modelgen.SpawnCell} {
			c := modelgen.Config{Rows: b.rows, Cols: b.cols, Max: b.tile, Spawn: spawn}
			t.Run(fmt.Sprintf("%dx%d-%d-%v", b.rows, b.cols, b.tile, spawn), func(t *testing.T) {
				if b.rows*b.cols > 4 && b.tile > 16 || b.rows == 3 && b.cols == 3 && (b.tile > 8 || spawn != modelgen.SpawnUniform) {
					needs.Full(t)
				}
				states, err := checkGraph(t, c, modelText(t, c))
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("%d states", states)
			})
		}
	}
}

// TestGameGraphMutated changes a rule in the text at a time: the comparison
// must find each, wherever it is in the graph.
func TestGameGraphMutated(t *testing.T) {
	uniform := modelgen.Config{Rows: 2, Cols: 3, Max: 16, Spawn: modelgen.SpawnUniform}
	cell := modelgen.Config{Rows: 2, Cols: 3, Max: 16, Spawn: modelgen.SpawnCell}
	tests := []struct {
		c        modelgen.Config
		old, new string
	}{
		{uniform, "2*v_0", "v_0"}, // a merge that does not double
		{uniform, "const double N = 0.9;", "const double N = 0.8;"},
		{uniform, "N/empty_cells", "(N+1E-9)/empty_cells"}, // probabilities that are nearly right
		{uniform, "formula can_left = (v_1!=0 & v_0=0) | ", "formula can_left = "},
		{uniform, "[loss] fail ->", "[loss] fail & v_0!=8 ->"}, // a deadlock instead of the end of the game
		{uniform, "[victory] success", "[victory] success & v_5!=MAX"},
		{uniform, "!field_full & no_MAX & phase=1", "!field_full & phase=1"}, // a tile after the end
		{uniform, "[up]", "[down]"},
		{uniform, `label "fail" = fail`, `label "fail" = fail & v_0!=8`},
		{uniform, `label "success" = success`, `label "success" = success & v_0!=MAX`},
		{uniform, "phase : [0..1] init 1", "phase : [0..1] init 0"},
		{cell, "N:(v_5'=2) & (phase'=0)", "N:(v_5'=2) & (phase'=1)"},
		{cell, "[v_3] !field_empty & v_3=0", "[v_3] !field_empty & v_3=0 & v_4=0"},
	}
	for _, tt := range tests {
		t.Run(tt.old+" becomes "+tt.new, func(t *testing.T) {
			text := modelText(t, tt.c)
			mutated := strings.Replace(text, tt.old, tt.new, 1)
			if mutated == text {
				t.Fatalf("the model has no %q:\n%s", tt.old, text)
			}
			if _, err := checkGraph(t, tt.c, mutated); err == nil {
				t.Error("no difference found")
			} else {
				t.Log(err)
			}
		})
	}
}

// TestGameSampledStates compares single states of the 4x4 model to 2048, as
// the interpreter expands them: boards of random and of careful games, and the
// same boards with larger tiles, up to those that are won.
func TestGameSampledStates(t *testing.T) {
	needs.NotShort(t, "uses one goroutine")
	for _, spawn := range []modelgen.Spawn{modelgen.SpawnUniform, modelgen.SpawnCell} {
		c := modelgen.Config{Rows: 4, Cols: 4, Max: 2048, Spawn: spawn}
		t.Run(spawn.String(), func(t *testing.T) {
			text, err := newGameText(c, modelText(t, c))
			if err != nil {
				t.Fatal(err)
			}
			x, err := newGameStates(text)
			if err != nil {
				t.Fatal(err)
			}
			seen := map[int]int{} // by largest exponent
			ends := 0
			for _, s := range sampledBoards(t, text.rules, 11) {
				if err := x.check(s); err != nil {
					t.Fatal(err)
				}
				seen[s.board.Max()]++
				if text.rules.Lost(s.board) {
					ends++
				}
			}
			for exp := 1; exp <= 11; exp++ {
				if seen[exp] < 50 {
					t.Errorf("%d boards with largest tile %d, want 50 or more", seen[exp], game.Value(exp))
				}
			}
			if ends < 50 {
				t.Errorf("%d boards without a move, want 50 or more", ends)
			}
		})
	}
}

// sampledBoards returns boards met in games on random moves and on moves that
// keep most cells empty, before and after the new tile, and two copies of each
// with all exponents raised, at random and so that the largest tile is largest.
func sampledBoards(t *testing.T, r *game.Rules, largest int) []gameState {
	t.Helper()
	rng := rand.New(rand.NewPCG(11, 0))
	states := []gameState{{0, true}}
	add := func(b game.Board, random bool) {
		states = append(states, gameState{b, random})
		raised := b
		for i := range game.MaxCells {
			if e := b.Cell(i); e > 0 {
				raised = raised.With(i, min(e+rng.IntN(largest+1-b.Max()), largest))
			}
		}
		most := game.Board(0)
		for i := range game.MaxCells {
			if e := b.Cell(i); e > 0 {
				most = most.With(i, e+largest-b.Max())
			}
		}
		states = append(states, gameState{raised, random}, gameState{most, random})
	}
	for i := range 40 {
		b := r.Start(rng)
		for {
			add(b, false)
			legal := r.Legal(b)
			if legal == 0 || b.Max() == largest {
				break
			}
			d := legal.Random(rng)
			if i%2 == 0 {
				d = mostEmpty(r, b, legal)
			}
			next, _, err := r.Move(b, d)
			if err != nil {
				t.Fatal(err)
			}
			add(next, true)
			if next.Max() == largest {
				break
			}
			b = r.AddRandom(next, rng)
		}
	}
	return states
}

func mostEmpty(r *game.Rules, b game.Board, legal game.Moves) game.Dir {
	best, most := legal.At(0), -1
	for i := range legal.Len() {
		next, _, _ := r.Move(b, legal.At(i))
		if n := r.NumEmptyCells(next); n > most {
			best, most = legal.At(i), n
		}
	}
	return best
}

// modelText prints a model, with labels for its formulas.
func modelText(t *testing.T, c modelgen.Config) string {
	t.Helper()
	model, err := modelgen.Build(c)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := syntax.Fprint(&text, model, syntax.Options{}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"no_MAX", "field_empty", "field_full", "can_left", "can_right", "can_up", "can_down"} {
		fmt.Fprintf(&text, "label %q = %s;\n", name, name)
	}
	if c.Spawn == modelgen.SpawnUniform {
		for n := range c.Rows*c.Cols + 1 {
			fmt.Fprintf(&text, "label \"empty_cells_%d\" = empty_cells=%d;\n", n, n)
		}
	}
	return text.String()
}

// gameState is a state of the model without a policy.
type gameState struct {
	board  game.Board
	random bool // the phase
}

func (s gameState) String() string {
	phase := "move"
	if s.random {
		phase = "random"
	}
	return fmt.Sprintf("%s %s", s.board, phase)
}

func (s gameState) compare(t gameState) int {
	if s.random != t.random {
		if s.random {
			return 1
		}
		return -1
	}
	return cmp.Compare(s.board, t.board)
}

// gameOutcome is a transition: where to, and the index of its probability in
// gameText.probs.
type gameOutcome struct {
	To   gameState
	Prob int
}

func (o gameOutcome) compare(p gameOutcome) int {
	return cmp.Or(o.To.compare(p.To), cmp.Compare(o.Prob, p.Prob))
}

// gameChoice is a choice; its Outcomes are sorted.
type gameChoice struct {
	Action   string
	Outcomes []gameOutcome
}

func (c gameChoice) compare(d gameChoice) int {
	return cmp.Or(cmp.Compare(c.Action, d.Action), slices.CompareFunc(c.Outcomes, d.Outcomes, gameOutcome.compare))
}

// sortChoices puts the choices of a state in an order that only depends on what
// they are.
func sortChoices(choices []gameChoice) {
	for _, c := range choices {
		slices.SortFunc(c.Outcomes, gameOutcome.compare)
	}
	slices.SortFunc(choices, gameChoice.compare)
}

// gameText is a model of the game as text, compiled, and the rules it should
// follow.
type gameText struct {
	rules *game.Rules
	spawn modelgen.Spawn
	max   int // the exponent of MAX
	model *compile.Model
	cells []int // the variables of the cells, row by row
	phase int
	probs []*big.Rat // the probabilities that there are, all different
	nums  []float64  // the same, rounded

	two, four []int    // which of them a 2 and a 4 in one of n+1 cells have
	actions   []string // of a tile in each cell
}

func newGameText(c modelgen.Config, text string) (*gameText, error) {
	rules, err := game.New(game.Shape{Rows: c.Rows, Cols: c.Cols})
	if err != nil {
		return nil, err
	}
	m, _, err := load.Model(context.Background(), runner.Job{File: "2048.prism", Model: []byte(text)})
	if err != nil {
		return nil, err
	}
	g := &gameText{rules: rules, spawn: c.Spawn, max: bits.TrailingZeros(uint(c.Max)), model: m}
	slot := map[string]int{}
	for i, v := range m.Program().Vars {
		slot[v.Name] = i
	}
	names := []string{"phase"}
	for i := range c.Rows * c.Cols {
		names = append(names, fmt.Sprintf("v_%d", i))
		g.cells = append(g.cells, slot[names[i+1]])
	}
	g.phase = slot["phase"]
	for _, name := range names {
		if _, ok := slot[name]; !ok || len(slot) != len(names) {
			return nil, fmt.Errorf("variables %v, want %v", slot, names)
		}
	}
	g.probs = []*big.Rat{big.NewRat(1, 1)}
	for n := range int64(len(g.cells)) {
		g.two = append(g.two, g.addProb(big.NewRat(9, 10*(n+1))))
		g.four = append(g.four, g.addProb(big.NewRat(1, 10*(n+1))))
		g.actions = append(g.actions, fmt.Sprintf("v_%d", n))
	}
	for _, p := range g.probs {
		f, _ := p.Float64()
		g.nums = append(g.nums, f)
	}
	return g, nil
}

// prob returns the index of a probability, -1 where the game has no such.
func (g *gameText) prob(p *big.Rat) int {
	return slices.IndexFunc(g.probs, func(q *big.Rat) bool { return p.Cmp(q) == 0 })
}

// near is prob for a sum or product that was rounded a few times. The
// probabilities of the game are further apart.
func (g *gameText) near(p float64) int {
	return slices.IndexFunc(g.nums, func(q float64) bool { return math.Abs(p-q) < 1e-15 })
}

// addProb returns the index of a probability, which it adds when it is new.
func (g *gameText) addProb(p *big.Rat) int {
	if g.prob(p) < 0 {
		g.probs = append(g.probs, p)
	}
	return g.prob(p)
}

// state returns what a valuation stands for.
func (g *gameText) state(valuation []int32) (gameState, error) {
	var s gameState
	for i, slot := range g.cells {
		switch v := valuation[slot]; {
		case v == 0:
		case v < 2 || v&(v-1) != 0 || v > 1<<game.MaxExponent:
			return s, fmt.Errorf("%s: cell %d has no tile's value", g.model.StateText(valuation), i)
		default:
			s.board = s.board.With(i, bits.TrailingZeros32(uint32(v)))
		}
	}
	s.random = valuation[g.phase] == 1
	return s, nil
}

// choices returns the choices in a state as the rules have them.
func (g *gameText) choices(s gameState) []gameChoice {
	stay := []gameOutcome{{s, 0}}
	switch {
	case s.board.AtLeast(g.max):
		return []gameChoice{{"victory", stay}}
	case g.rules.Lost(s.board):
		return []gameChoice{{"loss", stay}}
	case s.random:
		return g.spawns(s.board)
	}
	var choices []gameChoice
	var next [4]game.Board
	legal, overflow := g.rules.Moved(s.board, &next)
	if overflow != 0 {
		panic(game.ErrOverflow) // MAX is far below the largest tile
	}
	for i := range legal.Len() {
		d := legal.At(i)
		choices = append(choices, gameChoice{d.String(), []gameOutcome{{gameState{next[d], true}, 0}}})
	}
	return choices
}

// spawns returns the choices in the random phase, which goes on after the
// first tile.
func (g *gameText) spawns(b game.Board) []gameChoice {
	suffix := ""
	if b == 0 {
		suffix = "_init"
	}
	n, share := g.rules.NumEmptyCells(b), 1
	if g.spawn == modelgen.SpawnUniform {
		share = n
	}
	var byCell []gameChoice
	all := gameChoice{Action: "spawn" + suffix}
	for i := range n {
		with2 := g.rules.Spawn(b, i, 1)
		outcomes := []gameOutcome{
			{gameState{with2, b == 0}, g.two[share-1]},
			{gameState{g.rules.Spawn(b, i, 2), b == 0}, g.four[share-1]},
		}
		if g.spawn == modelgen.SpawnUniform {
			all.Outcomes = append(all.Outcomes, outcomes...)
			continue
		}
		cell := bits.TrailingZeros64(uint64(b^with2)) / 4
		byCell = append(byCell, gameChoice{g.actions[cell] + suffix, outcomes})
	}
	if g.spawn == modelgen.SpawnUniform {
		return []gameChoice{all}
	}
	return byCell
}

// holds returns the states in which a label of the text should hold.
func (g *gameText) holds(label string) (func(gameState) bool, error) {
	switch label {
	case "success":
		return func(s gameState) bool { return s.board.AtLeast(g.max) }, nil
	case "no_MAX":
		return func(s gameState) bool { return !s.board.AtLeast(g.max) }, nil
	case "fail":
		return func(s gameState) bool { return !s.board.AtLeast(g.max) && g.rules.Lost(s.board) }, nil
	case "field_empty":
		return func(s gameState) bool { return s.board == 0 }, nil
	case "field_full":
		return func(s gameState) bool { return g.rules.NumEmptyCells(s.board) == 0 }, nil
	}
	for d := game.Left; d <= game.Down; d++ {
		if label == "can_"+d.String() {
			return func(s gameState) bool { return g.rules.Legal(s.board).Has(d) }, nil
		}
	}
	var n int
	if _, err := fmt.Sscanf(label, "empty_cells_%d", &n); err != nil {
		return nil, fmt.Errorf("no such label: %s", label)
	}
	return func(s gameState) bool { return g.rules.NumEmptyCells(s.board) == n }, nil
}

// checkGraph compares all states of the model with the rules, and returns how
// many there are.
func checkGraph(t *testing.T, c modelgen.Config, text string) (states int, err error) {
	t.Helper()
	g, err := newGameText(c, text)
	if err != nil {
		return 0, err
	}
	exact := c.Max <= 8 || c.Rows*c.Cols < 9 && c.Max <= 32 // fractions take ten times as long
	space, err := explicit.Build(t.Context(), g.model, explicit.Options{Exact: exact})
	if err != nil {
		return 0, err
	}
	graph := gameGraph{gameText: g, space: space}
	if err := graph.number(); err != nil {
		return 0, err
	}
	for i := range graph.states {
		if err := graph.checkChoices(i); err != nil {
			return 0, err
		}
	}
	return len(graph.states), graph.checkLabels()
}

// gameGraph is the state space of the text.
type gameGraph struct {
	*gameText
	space   *explicit.Space
	states  []gameState
	weights []int // what the model's weights are in gameText.probs
}

// number finds out what the states and the weights are: all different, and the
// first one the start of the game.
func (g *gameGraph) number() error {
	m := g.space.Model()
	for i, w := range m.Weights {
		p := g.near(w)
		if m.Exact() {
			p = g.prob(m.Fractions[i])
		}
		if p < 0 {
			return fmt.Errorf("probability %v, which the game does not have", w)
		}
		g.weights = append(g.weights, p)
	}
	var valuation []int32
	for i := range m.NumStates() {
		valuation = g.space.State(valuation, i)
		s, err := g.state(valuation)
		if err != nil {
			return err
		}
		g.states = append(g.states, s)
	}
	if len(m.Initial) != 1 || g.states[m.Initial[0]] != (gameState{0, true}) {
		return fmt.Errorf("initial states %v, want the empty board in the random phase", m.Initial)
	}
	sorted := slices.SortedFunc(slices.Values(g.states), gameState.compare)
	if n := len(slices.Compact(sorted)); n != len(g.states) {
		return fmt.Errorf("%d states are %d boards and phases", len(g.states), n)
	}
	if m.Deadlocks != nil {
		return errors.New("deadlocks")
	}
	return nil
}

func (g *gameGraph) checkChoices(i int) error {
	m := g.space.Model()
	var got []gameChoice
	first, end := m.Choices(i)
	for c := first; c < end; c++ {
		if m.Actions[c] == 0 {
			return fmt.Errorf("%v: choice without an action", g.states[i])
		}
		choice := gameChoice{Action: g.space.Program().Actions[m.Actions[c]-1]}
		for k, rowEnd := m.Transitions(c); k < rowEnd; k++ {
			choice.Outcomes = append(choice.Outcomes, gameOutcome{g.states[m.Target[k]], g.weights[m.WeightIndex[k]]})
		}
		got = append(got, choice)
	}
	return g.compare(g.states[i], got)
}

// compare compares the choices of a state with those of the rules.
func (g *gameText) compare(s gameState, got []gameChoice) error {
	want := g.choices(s)
	sortChoices(got)
	sortChoices(want)
	if slices.CompareFunc(got, want, gameChoice.compare) != 0 {
		return fmt.Errorf("%v: choices\n%v, want\n%v", s, got, want)
	}
	return nil
}

func (g *gameGraph) checkLabels() error {
	for _, l := range g.space.Program().Labels {
		set, err := g.space.States(l.Expr)
		if err != nil {
			return err
		}
		holds, err := g.holds(l.Name)
		if err != nil {
			return err
		}
		for i, s := range g.states {
			if set.Has(i) != holds(s) {
				return fmt.Errorf("%v: %s is %v, want %v", s, l.Name, set.Has(i), holds(s))
			}
		}
	}
	return nil
}

// gameStates are states of the text one by one.
type gameStates struct {
	*gameText
	expander compile.Expander
	labels   []compile.Evaluator
}

func newGameStates(g *gameText) (*gameStates, error) {
	x := &gameStates{gameText: g, expander: g.model.NewExpander()}
	for _, l := range g.model.Program().Labels {
		e, err := g.model.Evaluator(l.Expr)
		if err != nil {
			return nil, err
		}
		x.labels = append(x.labels, e)
	}
	return x, nil
}

// check compares one state, which need not be reachable.
func (x *gameStates) check(s gameState) error {
	valuation := make([]int32, len(x.cells)+1)
	for i, slot := range x.cells {
		valuation[slot] = int32(game.Value(s.board.Cell(i)))
	}
	if s.random {
		valuation[x.phase] = 1
	}
	choices, err := x.expander.Expand(valuation)
	if err != nil {
		return err
	}
	var got []gameChoice
	for _, c := range choices.List {
		choice, err := x.choice(c)
		if err != nil {
			return err
		}
		got = append(got, choice)
	}
	if err := x.compare(s, got); err != nil {
		return err
	}
	return x.checkLabels(s, valuation)
}

func (x *gameStates) choice(c compile.Choice) (gameChoice, error) {
	if c.Action == sema.Unlabelled {
		return gameChoice{}, errors.New("choice without an action")
	}
	choice := gameChoice{Action: x.model.Program().Actions[c.Action]}
	for _, t := range c.Transitions {
		to, err := x.state(t.Target)
		if err != nil {
			return choice, err
		}
		choice.Outcomes = append(choice.Outcomes, gameOutcome{to, x.near(t.Weight)})
	}
	return choice, nil
}

func (x *gameStates) checkLabels(s gameState, valuation []int32) error {
	for i, l := range x.model.Program().Labels {
		got, err := x.labels[i].Bool(valuation)
		if err != nil {
			return err
		}
		holds, err := x.holds(l.Name)
		if err != nil {
			return err
		}
		if got != holds(s) {
			return fmt.Errorf("%v: %s is %v, want %v", s, l.Name, got, holds(s))
		}
	}
	return nil
}
