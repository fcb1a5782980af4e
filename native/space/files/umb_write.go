package files

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"strconv"

	"tilecheck/internal/umb"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// UMB writes the binary format that PRISM, Storm and Modest share, compressed with gzip unless
// Options.Raw is set. It contains the states in PRISM's order, probabilities and rewards as
// float64 or, for an exact model, as fractions, actions, labels, initial states and valuations.
// The same space always gives the same bytes. The file is streamed: memory does not grow with its
// size.
func (w *Writer) UMB(ctx context.Context, out io.Writer) error {
	u, err := w.withoutVariants().umb(ctx)
	if err != nil {
		return err
	}
	if w.opts.Raw {
		return u.archive(out)
	}
	zip, err := gzip.NewWriterLevel(out, gzip.BestSpeed)
	if err != nil {
		return err
	}
	if err := u.archive(zip); err != nil {
		return err
	}
	return zip.Close()
}

// UMBMembers writes the members of UMB to an archive that may have others.
func (w *Writer) UMBMembers(ctx context.Context, out *umb.Writer) error {
	u, err := w.withoutVariants().umb(ctx)
	if err != nil {
		return err
	}
	return u.members(out)
}

// umbWriter writes a UMB file.
type umbWriter struct {
	*Writer
	ctx     context.Context
	labels  []sparse.Label
	rewards []*drnReward
	actions []string       // strings, by number
	action  map[string]int // the inverse
	exact   bool           // numbers are fractions
	size    int64          // of a number, in bytes
	index   umb.Index
	fields  []umbField
	bytes   int // size of a valuation

	rateState  int    // the state of cachedRate; -1 for none
	cachedRate number // the exit rate of rateState
}

// umbField is the position of a variable in a valuation, in bits.
type umbField struct {
	variable int
	at, bits int
}

func (w *Writer) umb(ctx context.Context) (*umbWriter, error) {
	if w.program.Type == syntax.POMDP || w.program.Type == syntax.SMG {
		return nil, w.requirePlainWeights("UMB")
	}
	u := &umbWriter{Writer: w, ctx: ctx, size: 8, rateState: -1}
	var err error
	if u.labels, err = w.labels(ctx); err != nil {
		return nil, err
	}
	if u.rewards, err = w.rewards(ctx); err != nil {
		return nil, err
	}
	if u.exact = w.model.Exact() && (w.opts.Fractions || !w.model.Intervals()); u.exact {
		u.setRationalSize()
	}
	u.numberActions()
	return u, u.describe()
}

// setRationalSize sets the size of fractions to the smallest that holds all of them.
func (u *umbWriter) setRationalSize() {
	u.size = 16
	include := func(r *big.Rat) {
		if r != nil {
			u.size = max(u.size, int64(umb.RatSize(r)))
		}
	}
	for _, r := range u.model.Rats {
		include(r)
	}
	if u.program.Type == syntax.CTMC {
		for i := range u.model.NumStates() {
			rate := u.rate(i).r
			include(rate)
			lo, hi := u.model.Row(i)
			for t := lo; t < hi; t++ {
				include(new(big.Rat).Quo(u.model.Rat(t), rate))
			}
		}
	}
	for _, r := range u.rewards {
		for _, column := range [][]*big.Rat{r.StateRat, r.ChoiceRat, r.each.Rats} {
			for _, x := range column {
				include(x)
			}
		}
	}
}

// numberActions numbers the actions. If some choices or transitions have no action, number 0
// is the empty string.
func (u *umbWriter) numberActions() {
	u.action = make(map[string]int)
	if u.opts.NoActions || u.model.Actions == nil {
		return
	}
	if slices.Contains(u.model.Actions, sparse.NoAction) {
		u.actions = []string{""}
	}
	used := make(map[sparse.Action]bool)
	for _, a := range u.model.Actions {
		used[a] = true
	}
	for i, name := range u.program.Actions {
		if used[sparse.Action(i+1)] {
			u.action[name] = len(u.actions)
			u.actions = append(u.actions, name)
		}
	}
}

func (u *umbWriter) numberType() *umb.Type {
	if u.exact {
		return &umb.Type{Type: "rational", Size: uint64(8 * u.size)}
	}
	return &umb.Type{Type: "double", Size: 64}
}

// describe fills the index.
func (u *umbWriter) describe() error {
	x := &u.index
	x.Version, x.FileData = umb.Version, &umb.FileData{Tool: "tilecheck", ToolVersion: u.opts.Version}
	m := u.model
	x.System = umb.System{
		Time: "discrete", States: uint64(m.NumStates()), InitialStates: uint64(len(m.Initial)),
		Choices: uint64(m.NumChoices()), Branches: uint64(m.NumTransitions()),
	}
	s := &x.System
	if u.nondeterministic() {
		s.Players, s.ChoiceActions = 1, uint64(len(u.actions))
	} else {
		s.BranchActions = uint64(len(u.actions))
	}
	if u.probabilistic() {
		s.Probability = u.numberType()
		if u.model.Intervals() {
			s.Probability = &umb.Type{Type: s.Probability.Type + "-interval", Size: 2 * s.Probability.Size}
		}
	}
	if u.program.Type == syntax.CTMC {
		s.Time, s.ExitRate = "stochastic", u.numberType()
	}
	var aps, rewards umb.Group
	for _, l := range u.labels {
		if l.Name == "init" || l.Name == "deadlock" && l.States.Empty() {
			continue
		}
		id := umb.Identifier(l.Name, func(id string) bool {
			return slices.ContainsFunc(aps, func(m umb.Named[umb.Annotation]) bool { return m.Name == id })
		})
		aps = append(aps, umb.Named[umb.Annotation]{Name: id, Value: umb.Annotation{Alias: &l.Name, AppliesTo: []string{"states"}, Type: umb.Type{Type: "bool", Size: 1}}})
	}
	for i, r := range u.rewards {
		a := umb.Annotation{Type: *u.numberType()}
		id := strconv.Itoa(i + 1)
		if r.Name != "" {
			a.Alias = &r.Name
			id = umb.Identifier(r.Name, func(id string) bool {
				return slices.ContainsFunc(rewards, func(m umb.Named[umb.Annotation]) bool { return m.Name == id })
			})
		}
		if _, numbered := strconv.Atoi(id); r.Name != "" && numbered == nil { // a number means that there is no name
			id = "_" + id
		}
		if !u.zero(r.State, r.StateRat) {
			a.AppliesTo = append(a.AppliesTo, "states")
		}
		switch {
		case u.nondeterministic() && !u.zero(r.Choice, r.ChoiceRat):
			a.AppliesTo = append(a.AppliesTo, "choices")
		case !u.nondeterministic() && !u.zero(r.each.Values, r.each.Rats):
			a.AppliesTo = append(a.AppliesTo, "branches")
		}
		if len(a.AppliesTo) == 0 {
			a.AppliesTo = []string{"states"}
		}
		rewards = append(rewards, umb.Named[umb.Annotation]{Name: id, Value: a})
	}
	for _, g := range []umb.Named[umb.Group]{{Name: "aps", Value: aps}, {Name: "rewards", Value: rewards}} {
		if len(g.Value) > 0 {
			x.Annotations = append(x.Annotations, g)
		}
	}
	if !u.opts.NoValuations {
		return u.describeStates()
	}
	return nil
}

// zero reports whether all entries of a column are zero.
func (u *umbWriter) zero(values []float64, rats []*big.Rat) bool {
	for i := range max(len(values), len(rats)) {
		if x := rewardOf(values, rats, i); !x.zero() {
			return false
		}
	}
	return true
}

// describeStates lays out the packed valuations.
func (u *umbWriter) describeStates() error {
	var class umb.Class
	at := 0
	for i, v := range u.program.Vars {
		low, high := int64(v.Low), int64(v.High)
		x := umb.Variable{Name: v.Name, Type: &umb.Type{Type: "uint", Size: uint64(max(1, bits.Len64(uint64(high))))}, Lower: &low, Upper: &high}
		switch {
		case v.Type == sema.Bool:
			x.Type, x.Lower, x.Upper = &umb.Type{Type: "bool", Size: 1}, nil, nil
		case low < 0: // two's complement: one bit more than the longer of -low-1 and high
			x.Type = &umb.Type{Type: "int", Size: uint64(max(bits.Len64(uint64(-low-1)), bits.Len64(uint64(max(high, 0)))) + 1)}
		}
		if v.Type == sema.Int && !v.Bounded {
			x.Lower, x.Upper = nil, nil
		}
		class.Variables = append(class.Variables, x)
		u.fields = append(u.fields, umbField{i, at, int(x.Type.Size)})
		at += int(x.Type.Size)
	}
	if at%8 != 0 {
		class.Variables = append(class.Variables, umb.Variable{Padding: uint64(8 - at%8)})
	}
	u.bytes = (at + 7) / 8
	u.index.Valuations = map[string]umb.Valuation{"states": {Unique: true, Classes: []umb.Class{class}}}
	return nil
}

func (u *umbWriter) archive(out io.Writer) error {
	t := umb.NewWriter(u.ctx, out)
	if err := u.members(t); err != nil {
		return err
	}
	return t.Close()
}

// members writes the members.
func (u *umbWriter) members(out *umb.Writer) error {
	text, err := json.MarshalIndent(u.index, "", "  ")
	if err != nil {
		return err
	}
	t := &umbTar{out, u}
	states, choices, branches := u.model.NumStates(), u.model.NumChoices(), u.model.NumTransitions()
	t.File(umb.IndexFile, int64(len(text)), func(b *bufio.Writer) { _, _ = b.Write(text) })
	if u.nondeterministic() {
		t.offsets(umb.StateChoices, func(i int) int {
			first, end := u.model.Choices(i)
			return end - first
		})
	}
	if u.probabilistic() {
		t.File(umb.ChoiceRows, int64(8*(choices+1)), func(b *bufio.Writer) {
			at := uint64(0)
			umb.PutUint64(b, at)
			u.choices(func(c, _ int) {
				lo, hi := u.model.Row(c)
				at += uint64(hi - lo)
				umb.PutUint64(b, at)
			})
		})
		each := u.size
		if u.model.Intervals() {
			each *= 2
		}
		t.File(umb.Probabilities, int64(branches)*each, func(b *bufio.Writer) {
			u.branches(func(i, t int) {
				u.put(b, u.probability(i, t))
				if u.model.Intervals() {
					u.put(b, number{r: u.model.HighRat(t)})
				}
			})
		})
	}
	if u.program.Type == syntax.CTMC {
		t.File(umb.ExitRates, int64(states)*u.size, func(b *bufio.Writer) {
			for _, i := range u.order {
				u.put(b, u.rate(int(i)))
			}
		})
	}
	t.File(umb.Targets, int64(8*branches), func(b *bufio.Writer) {
		u.branches(func(_, t int) { umb.PutUint64(b, uint64(u.numbers[u.model.Target[t]])) })
	})
	t.bits(umb.Initial, func(i int) bool { _, ok := slices.BinarySearch(u.model.Initial, uint32(i)); return ok })
	t.actions()
	t.annotations()
	if u.fields != nil {
		t.valuations()
	}
	return nil
}

// choices calls visit for every choice c, with its state i, in the order of the file.
func (u *umbWriter) choices(visit func(c, i int)) {
	for k, i := range u.order {
		if k&0xfff == 0 && u.ctx.Err() != nil {
			return
		}
		first, end := u.model.Choices(int(i))
		for c := first; c < end; c++ {
			visit(c, int(i))
		}
	}
}

// branches calls visit for every transition t, with its state i, in the order of the file.
func (u *umbWriter) branches(visit func(i, t int)) {
	u.choices(func(c, i int) {
		u.row = u.sorted(u.row, c)
		for _, t := range u.row {
			visit(i, t)
		}
	})
}

// rate returns the exit rate of a state of a CTMC. Without fractions that is the sum of the rates
// in the order of the file, or a float64 close to it for which every rate is exactly its product
// with some probability: then a reader gets the same rates.
func (u *umbWriter) rate(i int) number {
	if u.rateState == i {
		return u.cachedRate
	}
	row := u.sorted(nil, i) // u.row may be in use
	u.rateState, u.cachedRate = i, (&drnPrinter{printer: &printer{Writer: u.Writer}}).sum(row)
	if u.model.Exact() {
		return u.cachedRate
	}
	sum := u.cachedRate.f
	up, down := sum, sum
	for range 8 {
		for _, candidate := range []float64{up, down} {
			if !slices.ContainsFunc(row, func(t int) bool { _, ok := branchProbability(u.model.Prob(t), candidate); return !ok }) {
				u.cachedRate.f = candidate
				return u.cachedRate
			}
		}
		up, down = math.Nextafter(up, math.Inf(1)), math.Nextafter(down, 0)
	}
	return u.cachedRate
}

// branchProbability returns the probability p with p*exitRate == rate in floating point. If there
// is none, it returns the quotient and false.
func branchProbability(rate, exitRate float64) (p float64, ok bool) {
	p = rate / exitRate
	for _, q := range []float64{p, math.Nextafter(p, 0), math.Nextafter(p, 1)} {
		if q*exitRate == rate {
			return q, true
		}
	}
	return p, false
}

// probability returns the probability of transition t of state i.
func (u *umbWriter) probability(i, t int) number {
	x := u.weightOf(t)
	switch {
	case u.program.Type != syntax.CTMC:
	case x.r != nil:
		x.r = new(big.Rat).Quo(x.r, u.rate(i).r)
	default:
		x.f, _ = branchProbability(x.f, u.rate(i).f)
	}
	return x
}

// put writes a number as float64 or as a fraction.
func (u *umbWriter) put(b *bufio.Writer, x number) {
	if !u.exact {
		if x.r != nil {
			x.f, _ = x.r.Float64()
		}
		umb.PutUint64(b, math.Float64bits(x.f))
		return
	}
	r := x.r
	if r == nil {
		r = new(big.Rat)
	}
	umb.PutRat(b, r, int(u.size))
}

// umbTar writes the columns of a UMB file.
type umbTar struct {
	*umb.Writer
	u *umbWriter
}

// offsets writes the offset of each state's row.
func (t *umbTar) offsets(name string, length func(i int) int) {
	t.Offsets(name, len(t.u.order), func(k int) int { return length(int(t.u.order[k])) })
}

// bits writes a set of states.
func (t *umbTar) bits(name string, has func(i int) bool) {
	t.Bits(name, len(t.u.order), func(k int) bool { return has(int(t.u.order[k])) })
}

func (t *umbTar) actions() {
	u := t.u
	if len(u.actions) == 0 {
		return
	}
	dir, n := "actions/branches/", u.model.NumTransitions()
	if u.nondeterministic() {
		dir, n = "actions/choices/", u.model.NumChoices()
	}
	number := func(b *bufio.Writer, i int) {
		a := 0
		if name := u.Writer.action(i); name != "" {
			a = u.action[name]
		}
		_, _ = b.Write(binary.LittleEndian.AppendUint32(b.AvailableBuffer(), uint32(a)))
	}
	t.File(dir+"values.bin", int64(4*n), func(b *bufio.Writer) {
		if u.nondeterministic() {
			u.choices(func(c, _ int) { number(b, c) })
		} else {
			u.branches(func(_, t int) { number(b, t) })
		}
	})
	length := 0
	for _, a := range u.actions {
		length += len(a)
	}
	t.File(dir+"string-mapping.bin", int64(8*(len(u.actions)+1)), func(b *bufio.Writer) {
		at := uint64(0)
		umb.PutUint64(b, at)
		for _, a := range u.actions {
			at += uint64(len(a))
			umb.PutUint64(b, at)
		}
	})
	t.File(dir+"strings.bin", int64(length), func(b *bufio.Writer) {
		for _, a := range u.actions {
			_, _ = b.WriteString(a)
		}
	})
}

func (t *umbTar) annotations() {
	u := t.u
	aps := u.index.Annotations.Get("aps")
	for _, l := range u.labels {
		for _, m := range aps {
			if *m.Value.Alias == l.Name {
				t.bits("annotations/aps/"+m.Name+"/states/values.bin", l.States.Has)
			}
		}
	}
	states, choices, branches := int64(u.model.NumStates()), int64(u.model.NumChoices()), int64(u.model.NumTransitions())
	for k, m := range u.index.Annotations.Get("rewards") {
		r := u.rewards[k]
		for _, kind := range m.Value.AppliesTo {
			name := fmt.Sprintf("annotations/rewards/%s/%s/values.bin", m.Name, kind)
			switch kind {
			case "states":
				t.File(name, states*u.size, func(b *bufio.Writer) {
					for _, i := range u.order {
						u.put(b, rewardOf(r.State, r.StateRat, int(i)))
					}
				})
			case "choices":
				t.File(name, choices*u.size, func(b *bufio.Writer) {
					u.choices(func(c, _ int) { u.put(b, rewardOf(r.Choice, r.ChoiceRat, c)) })
				})
			case "branches":
				t.File(name, branches*u.size, func(b *bufio.Writer) {
					u.branches(func(_, t int) { u.put(b, rewardOf(r.each.Values, r.each.Rats, t)) })
				})
			}
		}
	}
}

// valuations packs the values of the variables of every state, the first variable in the lowest
// bits.
func (t *umbTar) valuations() {
	u := t.u
	t.File(umb.Valuations, int64(u.bytes)*int64(len(u.order)), func(b *bufio.Writer) {
		var values []int32
		packed := make([]byte, u.bytes+8)
		for k, i := range u.order {
			if k&0xfff == 0 && u.ctx.Err() != nil {
				return
			}
			values = u.space.State(values, int(i))
			clear(packed)
			for _, f := range u.fields {
				x := uint64(values[f.variable]) & (1<<f.bits - 1) << (f.at % 8)
				at := packed[f.at/8:]
				binary.LittleEndian.PutUint64(at, binary.LittleEndian.Uint64(at)|x)
			}
			_, _ = b.Write(packed[:u.bytes])
		}
	})
}
