package files

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"unicode/utf8"

	"tilecheck/internal/umb"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// assemble makes a space from the columns of a UMB file.
func (u *umbFile) assemble() (*explicit.Space, error) {
	if err := u.checkComplete(); err != nil {
		return nil, err
	}
	kind := map[syntax.ModelType]sparse.Kind{syntax.DTMC: sparse.DTMC, syntax.MDP: sparse.MDP, syntax.LTS: sparse.MDP, syntax.CTMC: sparse.CTMC, syntax.IDTMC: sparse.DTMC, syntax.IMDP: sparse.MDP}[u.typ]
	b := &umbBuild{umbFile: u, assembly: newAssembly(newLines(Source{Name: u.src.Name}), kind, u.states, u.opts)}
	b.intervals = u.typ == syntax.IDTMC || u.typ == syntax.IMDP
	if err := b.actionNames(); err != nil {
		return nil, err
	}
	if err := b.rows(); err != nil {
		return nil, err
	}
	model := b.finish()
	if model == nil {
		return nil, b.errs
	}
	if kind == sparse.CTMC && !u.opts.Exact { // a rate is the rounded product of two rounded numbers
		model.Err = 1.01 * 4 * unit
	}
	sets, err := b.declared()
	if err != nil {
		return nil, err
	}
	b.complete(model, sets)
	if len(b.errs) > 0 {
		return nil, b.errs
	}
	d := &explicit.Imported{File: u.src.Name, Type: u.typ, Actions: b.assembly.names, Model: model, Normalised: b.normalised}
	for i, m := range u.index.Annotations.Get("rewards") {
		r, each, err := b.reward(model, i, m)
		if err != nil {
			return nil, fmt.Errorf("rewards/%s: %w", m.Name, err)
		}
		model.Rewards = append(model.Rewards, r)
		d.TransitionRewards = append(d.TransitionRewards, each)
	}
	if u.opts.NoFixDeadlocks && !b.assembly.deadlocks.Empty() {
		e := &explicit.DeadlockError{Count: b.assembly.deadlocks.Count()}
		for s := range b.assembly.deadlocks.All() {
			e.State = fmt.Sprintf("number %d", s)
			break
		}
		return nil, e
	}
	return b.space(d)
}

// checkComplete returns an error if the file lacks a part that every model of its type has.
func (u *umbFile) checkComplete() error {
	for _, x := range []struct {
		name   string
		absent bool
	}{
		{umb.Targets, u.targets == nil},
		{umb.Probabilities, u.typ != syntax.LTS && !u.probability.There()},
		{umb.ExitRates, u.typ == syntax.CTMC && !u.exitRate.There()},
		{umb.Initial, u.initial == nil || u.initial.Empty()},
	} {
		if x.absent {
			return fmt.Errorf("there is no %s, or nothing in it", x.name)
		}
	}
	s := &u.index.System
	if uint64(u.initial.Count()) != s.InitialStates {
		return fmt.Errorf("%s: found %d initial states, wanted %d as %s says", umb.Initial, u.initial.Count(), s.InitialStates, umb.IndexFile)
	}
	if u.stateChoices == nil && u.choices != u.states {
		return fmt.Errorf("there is no %s, which only a model with one choice in each state can do without", umb.StateChoices)
	}
	if u.choiceRows == nil && u.branches != u.choices {
		return fmt.Errorf("there is no %s, which only a model with one branch in each choice can do without", umb.ChoiceRows)
	}
	if !u.hasChoices() && u.stateChoices != nil {
		for i, at := range u.stateChoices {
			if at != uint32(i) {
				return fmt.Errorf("%s: found a state without exactly one choice, wanted one in each of a %s", umb.StateChoices, u.typ)
			}
		}
	}
	return nil
}

// umbBuild builds a model from a UMB file. UMB calls a transition a branch.
type umbBuild struct {
	*umbFile
	*assembly
	action []sparse.Action // by number in the file
	// branchOf has the first branch of each transition; nil as long as the numbers are equal.
	branchOf       []uint32
	mergedBranches map[uint32][]uint32 // by first branch, the branches that were merged into it
	row            []umbBranch
	found          edges
}

// umbBranch is a branch of a row.
type umbBranch struct {
	edge
	branch int
	x      number
	high   number // the upper bound of an interval
}

func (b *umbBuild) actionNames() error {
	s := &b.index.System
	n := int(max(s.ChoiceActions, s.BranchActions))
	for i := range n {
		name := "_" + strconv.Itoa(i+1) // as PRISM calls those without a name
		if b.nameAt != nil {
			lo, hi := b.nameAt[i], b.nameAt[i+1]
			if int(hi) > len(b.umbFile.names) {
				return fmt.Errorf("found the name of action %d at %d to %d, wanted it below %d", i, lo, hi, len(b.umbFile.names))
			}
			name = string(b.umbFile.names[lo:hi])
		}
		if !utf8.ValidString(name) || name != "" && !isWord(name) {
			return fmt.Errorf("found the action %s, wanted a word", quote([]byte(name)))
		}
		b.action = append(b.action, b.assembly.action(name))
	}
	return nil
}

// actionOf returns the action of a choice or branch.
func (b *umbBuild) actionOf(i int) sparse.Action {
	switch {
	case b.action == nil:
		return sparse.NoAction
	case b.umbFile.actions == nil: // every action has number 0
		return b.action[0]
	}
	return b.action[b.umbFile.actions[i]]
}

// branchesOf returns the range of branches of choice c.
func (b *umbBuild) branchesOf(c int) (lo, hi int) {
	if b.choiceRows == nil {
		return c, c + 1
	}
	return int(b.choiceRows[c]), int(b.choiceRows[c+1])
}

// noBranches reports whether a state has no branches: it has no choice, or one without branches.
func (b *umbBuild) noBranches(i int) bool {
	first, end := b.choicesOf(i)
	if first+1 == end {
		lo, hi := b.branchesOf(first)
		return lo == hi
	}
	return first == end
}

// choicesOf returns the range of choices of state i.
func (b *umbBuild) choicesOf(i int) (first, end int) {
	if b.stateChoices == nil {
		return i, i + 1
	}
	return int(b.stateChoices[i]), int(b.stateChoices[i+1])
}

// rows builds the rows, with memory for all of them allocated in advance, and then drops the
// columns that are no longer needed.
func (b *umbBuild) rows() error {
	noBranches := 0
	for i := range b.umbFile.states {
		if b.noBranches(i) {
			noBranches++
		}
	}
	b.builder.Grow(b.umbFile.states, b.umbFile.choices+noBranches, b.branches+noBranches)
	defer func() { b.umbFile.targets, b.choiceRows, b.umbFile.actions = nil, nil, nil }()
	for i := range b.umbFile.states {
		if i&0xfff == 0 {
			if err := b.ctx.Err(); err != nil {
				return err
			}
		}
		if b.noBranches(i) {
			continue // a skipped state becomes a deadlock
		}
		first, end := b.choicesOf(i)
		b.state(i)
		for c := first; c < end; c++ {
			if err := b.choice(i, c); err != nil {
				return fmt.Errorf("state %d, choice %d: %w", i, c-first, err)
			}
		}
		if len(b.errs) >= maxErrors {
			return b.errs
		}
	}
	return nil
}

// choice adds a row. Branches with the same target, and in a Markov chain the same action, are
// merged.
func (b *umbBuild) choice(i, c int) error {
	lo, hi := b.branchesOf(c)
	if lo == hi {
		return errors.New("found no branch, wanted one")
	}
	if b.typ == syntax.LTS && lo+1 < hi {
		return fmt.Errorf("found %d branches, wanted one in a choice of an LTS", hi-lo)
	}
	b.row = b.row[:0]
	b.found.clear()
	chain := !b.hasChoices()
	for t := lo; t < hi; t++ {
		x, high, err := b.weight(i, t)
		if err != nil {
			return fmt.Errorf("branch %d: %w", t-lo, err)
		}
		if x.zero() && high.zero() {
			continue
		}
		e := edge{target: int(b.umbFile.targets[t])}
		if chain {
			e.action = b.actionOf(t)
		}
		if at, isNew := b.found.add(e); !isNew && !b.intervals { // in an interval model that is an error, see transition
			b.merge(&b.row[at], t, x)
			continue
		}
		b.row = append(b.row, umbBranch{e, t, x, high})
	}
	action := sparse.NoAction
	if !chain {
		action = b.actionOf(c)
	}
	b.assembly.choice(action, syntax.Pos{})
	for k := range b.row {
		r := &b.row[k]
		b.recordBranch(r.branch)
		before := len(b.errs)
		b.high = r.high
		b.transition(r.target, r.x, r.action, 0, 0)
		if len(b.errs) > before {
			b.addLocation(i, c)
		}
	}
	b.endRow()
	b.addLocation(i, c)
	return nil
}

// merge adds a branch to the transition r.
func (b *umbBuild) merge(r *umbBranch, branch int, x number) {
	if r.x.r != nil {
		r.x.r = new(big.Rat).Add(r.x.r, x.r)
	}
	r.x.f += x.f
	if b.mergedBranches == nil {
		b.mergedBranches = make(map[uint32][]uint32)
	}
	b.mergedBranches[uint32(r.branch)] = append(b.mergedBranches[uint32(r.branch)], uint32(branch))
}

// addLocation adds the state and choice to new diagnostics, which have no line.
func (b *umbBuild) addLocation(i, c int) {
	for _, e := range b.errs {
		if e.Pos.IsValid() || len(e.Msg) < 6 || e.Msg[:6] != "state " {
			e.Pos = syntax.Pos{}
			e.Msg = fmt.Sprintf("state %d, choice number %d: %s", i, c, e.Msg)
		}
	}
}

// weight returns the probability or rate of branch t of state i, or the bounds of its interval.
func (b *umbBuild) weight(i, t int) (x, high number, err error) {
	switch {
	case b.typ == syntax.LTS:
		return b.one, high, nil
	case b.intervals:
		if x, err = b.probability.at(2*t, true); err == nil {
			high, err = b.probability.at(2*t+1, true)
		}
		if err == nil && !isInterval(x, high) && !(x.zero() && high.zero()) {
			err = fmt.Errorf("found the interval [%s,%s], wanted one of probabilities from 0 to 1", x.r.RatString(), high.r.RatString())
		}
		return x, high, err
	}
	if x, err = b.probability.at(t, b.opts.Exact); err != nil || b.typ != syntax.CTMC {
		return x, high, err
	}
	rate, err := b.exitRate.at(i, b.opts.Exact)
	if x.r != nil && rate.r != nil {
		x.r = new(big.Rat).Mul(x.r, rate.r)
	}
	x.f *= rate.f
	return x, high, err
}

// recordBranch records the branch of the next transition if their numbers differ.
func (b *umbBuild) recordBranch(branch int) {
	if b.branchOf == nil && branch != b.transitions {
		for t := range b.transitions {
			b.branchOf = append(b.branchOf, uint32(t))
		}
	}
	if b.branchOf != nil {
		b.branchOf = append(b.branchOf, uint32(branch))
	}
}

// declared returns the labels, the initial states and the deadlocks.
func (b *umbBuild) declared() (d declared, err error) {
	d.init = b.initial
	seen := make(map[string]bool)
	for _, m := range b.index.Annotations.Get("aps") {
		name := m.Name
		if m.Value.Alias != nil {
			name = *m.Value.Alias
		}
		set := b.labels[m.Name]
		if set == nil {
			set = sparse.NewSet(b.umbFile.states)
		}
		switch {
		case seen[name]:
			return d, fmt.Errorf("found the label %s twice", quote([]byte(name)))
		case name == "deadlock":
			d.deadlock = set
			for s := range set.All() {
				if !b.selfLoops.Has(s) && !b.assembly.deadlocks.Has(s) {
					return d, fmt.Errorf(`state %d has the label "deadlock" and transitions to other states`, s)
				}
			}
		case name == "init":
			if !set.Minus(b.initial).Empty() || !b.initial.Minus(set).Empty() {
				return d, errors.New(`the label "init" is not that of the initial states`)
			}
		case !syntax.IsIdent(name):
			return d, fmt.Errorf("found the label %s, wanted a word", quote([]byte(name)))
		default:
			d.labels = append(d.labels, sparse.Label{Name: name, States: set})
		}
		seen[name] = true
	}
	return d, nil
}

// reward makes a reward structure. It has no name if it has no alias and its identifier is its
// number, or Storm's "default".
func (b *umbBuild) reward(m *sparse.Model, i int, a umb.Named[umb.Annotation]) (out sparse.Reward, each explicit.TransitionReward, err error) {
	name := a.Name
	if a.Value.Alias != nil {
		name = *a.Value.Alias
	} else if name == strconv.Itoa(i+1) || name == "default" {
		name = ""
	}
	if name != "" && !syntax.IsIdent(name) {
		return out, each, fmt.Errorf("found the name %s, wanted a word", quote([]byte(name)))
	}
	value := func(n umbNumbers, i int) (number, error) {
		x, err := n.at(i, b.opts.Exact)
		if err == nil && x.f < 0 {
			err = fmt.Errorf("found the reward %v, wanted none below 0", x.f)
		}
		return x, err
	}
	var state, trans *column
	if n := b.rewards[a.Name+"/states"]; n.There() {
		state = newColumn(b.umbFile.states, b.opts.Exact)
		for s := range b.umbFile.states {
			x, err := value(n, s)
			if err != nil {
				return out, each, fmt.Errorf("state %d: %w", s, err)
			}
			state.put(s, x)
		}
	}
	choices, branches := b.rewards[a.Name+"/choices"], b.rewards[a.Name+"/branches"]
	if !choices.There() && !branches.There() {
		out, each = structure(m, name, state, nil)
		return out, each, nil
	}
	trans = newColumn(m.NumTransitions(), b.opts.Exact)
	t, inFile := 0, 0 // t counts all transitions, inFile those that are not loops of deadlocks
	for s := range b.umbFile.states {
		first, end := m.Choices(s)
		if b.assembly.deadlocks.Has(s) {
			t++
			continue
		}
		for c := first; c < end; c++ {
			lo, hi := m.Row(c)
			sum := number{}
			if b.opts.Exact {
				sum.r = new(big.Rat)
			}
			if choices.There() {
				if sum, err = value(choices, b.choiceOf(s, c-first)); err != nil {
					return out, each, fmt.Errorf("state %d, choice %d: %w", s, c-first, err)
				}
			}
			for range hi - lo {
				x := sum
				if branches.There() {
					y, err := b.branchReward(func(i int) (number, error) { return value(branches, i) }, inFile, s)
					if err != nil {
						return out, each, fmt.Errorf("state %d: %w", s, err)
					}
					x = plus(x, y)
				}
				trans.put(t, x)
				t, inFile = t+1, inFile+1
			}
		}
	}
	out, each = structure(m, name, state, trans)
	return out, each, nil
}

// branchReward returns the reward of a transition: the mean of the rewards of its branches.
func (b *umbBuild) branchReward(value func(i int) (number, error), transition, s int) (number, error) {
	first := transition
	if b.branchOf != nil {
		first = int(b.branchOf[transition])
	}
	x, err := value(first)
	others := b.mergedBranches[uint32(first)]
	if err != nil || len(others) == 0 {
		return x, err
	}
	sum, total := number{}, number{}
	same := true
	for _, i := range append([]uint32{uint32(first)}, others...) {
		y, err1 := value(int(i))
		w, _, err2 := b.weight(s, int(i))
		if err := errors.Join(err1, err2); err != nil {
			return x, err
		}
		same = same && y.f == x.f && cmpRat(x.r, y.r) == 0
		total = plus(total, w)
		if w.r != nil {
			w.r = new(big.Rat).Mul(w.r, y.r)
		}
		w.f *= y.f
		sum = plus(sum, w)
	}
	if same {
		return x, nil
	}
	mean := number{f: sum.f / total.f}
	if total.r != nil {
		mean.r = new(big.Rat).Quo(sum.r, total.r)
	}
	return mean, nil
}

// choiceOf returns the number in the file of choice k of state s.
func (b *umbBuild) choiceOf(s, k int) int {
	if b.stateChoices == nil {
		return s
	}
	return int(b.stateChoices[s]) + k
}

// space imports the model, with the valuations of its states if they are usable and distinct.
func (b *umbBuild) space(d *explicit.Imported) (*explicit.Space, error) {
	d.Warnings = append(b.umbFile.warnings, b.assembly.warnings()...)
	if b.valuations != nil {
		vars, values, problem := b.valuation()
		if problem == "" {
			d.Vars, d.Valuation = vars, values
			space, err := explicit.Import(d)
			dup, twice := errors.AsType[*explicit.DuplicateError](err)
			if !twice {
				return space, err
			}
			problem = fmt.Sprintf("those of the states %d and %d are the same", dup.First, dup.Second)
		}
		d.Warnings = append(d.Warnings, fmt.Sprintf("the valuations of %s are not used, and its states have one variable x, their number: %s", b.umbFile.src.Name, problem))
	}
	d.Vars, d.Valuation = numbered(b.umbFile.states)
	return explicit.Import(d)
}

// valuation returns the variables and a function that unpacks their values in a state. problem
// says why the valuations cannot be used; "" if they can.
func (b *umbBuild) valuation() (vars []sema.Variable, valuation func(s int) []int32, problem string) {
	width := b.valuationSize()
	padded := make([]byte, width+9)
	for s := range b.umbFile.states {
		copy(padded, b.valuations[s*width:(s+1)*width])
		for i := range b.fields {
			f := &b.fields[i]
			x := f.value(padded)
			if int64(int32(x)) != x || f.bounded && f.kind == sema.Int && (x < f.low || x > f.high) {
				return nil, nil, fmt.Sprintf("variable %s is %d in state %d, which is out of its range", f.name, x, s)
			}
			if !f.bounded && (s == 0 || x < f.low) {
				f.low = x
			}
			if !f.bounded && (s == 0 || x > f.high) {
				f.high = x
			}
		}
	}
	for _, f := range b.fields {
		v := sema.Variable{Name: f.name, Type: f.kind, Low: int32(f.low), High: int32(f.high)}
		switch {
		case f.kind == sema.Bool:
			v.Low, v.High = 0, 1
		case int64(v.Low) != f.low || int64(v.High) != f.high:
			return nil, nil, fmt.Sprintf("variable %s has the range [%d..%d]", f.name, f.low, f.high)
		}
		vars = append(vars, v)
	}
	values := make([]int32, len(b.fields))
	return vars, func(s int) []int32 {
		copy(padded, b.valuations[s*width:(s+1)*width])
		for i := range b.fields {
			values[i] = int32(b.fields[i].value(padded))
		}
		return values
	}, ""
}

// value reads a variable from a packed valuation that is followed by 9 more bytes.
func (f *umbVariable) value(packed []byte) int64 {
	at, shift := f.at/8, f.at%8
	x := binary.LittleEndian.Uint64(packed[at:]) >> shift
	if shift > 0 {
		x |= uint64(packed[at+8]) << (64 - shift)
	}
	if f.bits < 64 {
		x &= 1<<f.bits - 1
	}
	switch {
	case f.kind == sema.Bool && x != 0:
		return 1
	case f.signed && f.bits < 64 && x>>(f.bits-1) != 0:
		x |= ^uint64(0) << f.bits
	}
	return int64(x) + f.offset
}
