package files

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strings"

	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
)

// DRN writes Storm's format: rewards in the order of the program, labels sorted by name, actions
// and, as comments, valuations. Floating-point numbers have MaxPrecision digits unless Options
// sets a precision. In a Markov chain each state has one row: weights of transitions with the same
// target are added, an action is written if all transitions have it, and the reward is the mean
// over the transitions; in a CTMC it is the mean per jump. Labels without states are listed in a
// comment, which ReadDRN reads. Names that the format cannot express are errors.
//
// Source: Storm's DirectEncodingExporter and DirectEncodingParser.
func (w *Writer) DRN(ctx context.Context, out io.Writer) error {
	if !w.probabilistic() {
		return &compile.UnsupportedError{File: w.program.File, Msg: "the DRN format has no LTSs"}
	}
	if err := w.requirePlainWeights("DRN"); err != nil {
		return err
	}
	w = w.withoutVariants()
	labels, err := w.labels(ctx)
	if err != nil {
		return err
	}
	rewards, err := w.rewards(ctx)
	if err != nil {
		return err
	}
	if err := w.writableNames(labels, rewards); err != nil {
		return err
	}
	slices.SortStableFunc(labels, func(a, b sparse.Label) int { return cmp.Compare(a.Name, b.Name) })
	return w.print(ctx, out, func(p *printer) error {
		d := &drnPrinter{printer: p, labels: labels, rewards: rewards}
		d.preamble()
		return p.states(d.state)
	})
}

// drnReward is a reward structure; each has the transition rewards of a Markov chain.
type drnReward struct {
	*sparse.Reward
	each explicit.TransitionReward
}

func (w *Writer) rewards(ctx context.Context) ([]*drnReward, error) {
	var out []*drnReward
	for i := range w.program.Rewards {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r, err := w.space.Reward(i)
		if err != nil {
			return nil, err
		}
		named := *r
		named.Name = w.program.Rewards[i].Name
		d := &drnReward{Reward: &named}
		if d.each.Values, d.each.Rats, err = w.space.TransitionRewards(i); err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
}

// writableNames returns an error for names that a reader would read differently.
func (w *Writer) writableNames(labels []sparse.Label, rewards []*drnReward) error {
	for _, l := range labels {
		if l.Name == "" || strings.ContainsAny(l.Name, "\"\n\r\t[]") || l.Name[0] == '!' {
			return fmt.Errorf("label %q cannot be written in the DRN format", l.Name)
		}
	}
	for _, r := range rewards {
		if strings.ContainsAny(r.Name, " \t\r\n") {
			return fmt.Errorf("reward structure %q cannot be written in the DRN format", r.Name)
		}
	}
	return nil
}

type drnPrinter struct {
	*printer
	labels  []sparse.Label
	rewards []*drnReward
	values  []int32
	row     []int
}

func (p *drnPrinter) lines(lines ...string) {
	for _, l := range lines {
		p.text(l)
		p.end()
	}
}

func (p *drnPrinter) preamble() {
	kind, value := p.program.Type.String(), "double"
	if p.model.Exact() {
		value = "rational"
	}
	var names []string
	for _, r := range p.rewards {
		names = append(names, r.Name)
	}
	if !p.opts.NoHeaders {
		p.lines("// Exported by tilecheck", "// Original model type: "+kind)
		p.emptyLabelComment()
	}
	p.lines("@type: "+kind, "@value_type: "+value, "@parameters", "", "@reward_models", strings.Join(names, " "))
	p.lines("@nr_states", fmt.Sprint(p.model.NumStates()), "@nr_choices", fmt.Sprint(p.model.NumChoices()), "@model")
}

// emptyLabels starts the comment with the labels that hold in no state: the format has no other
// place for them.
const emptyLabels = "// Labels of no state:"

// emptyLabelComment writes the comment with the labels that hold in no state.
func (p *drnPrinter) emptyLabelComment() {
	line := ""
	for _, l := range p.labels {
		if l.States.Empty() && l.Name != "init" && l.Name != "deadlock" {
			line += ` "` + l.Name + `"`
		}
	}
	if line != "" {
		p.lines(emptyLabels + line)
	}
}

func (p *drnPrinter) state(k, i int) error {
	p.text("state ")
	p.int(k)
	if p.model.Kind == sparse.CTMC {
		p.text(" !")
		p.num(p.exitRate(i))
	}
	p.tuple(func(r *drnReward) number { return rewardOf(r.State, r.StateRat, i) })
	for _, l := range p.labels {
		if !l.States.Has(i) {
			continue
		}
		if strings.Contains(l.Name, " ") {
			p.text(` "` + l.Name + `"`)
		} else {
			p.text(" " + l.Name)
		}
	}
	p.end()
	if !p.opts.NoValuations {
		p.comment(i)
	}
	first, end := p.model.Choices(i)
	for c := first; c < end; c++ {
		p.choice(i, c)
	}
	return nil
}

// tuple writes one value per reward structure.
func (p *drnPrinter) tuple(value func(*drnReward) number) {
	for i, r := range p.rewards {
		p.text([]string{" [", ", "}[min(i, 1)])
		p.num(value(r))
	}
	if len(p.rewards) > 0 {
		p.text("]")
	}
}

// comment writes the valuation of state i as Storm does: "//[s=0	& !b]".
func (p *drnPrinter) comment(i int) {
	p.values = p.space.State(p.values, i)
	p.text("//[")
	for j, v := range p.program.Vars {
		if j > 0 {
			p.text("\t& ")
		}
		switch {
		case v.Type != sema.Bool:
			p.text(v.Name + "=")
			p.int(int(p.values[j]))
		case p.values[j] != 0:
			p.text(v.Name)
		default:
			p.text("!" + v.Name)
		}
	}
	p.text("]")
	p.end()
}

func (p *drnPrinter) choice(i, c int) {
	p.text("\taction " + p.rowAction(c))
	p.tuple(func(r *drnReward) number { return p.choiceReward(r, i, c) })
	p.end()
	p.row = p.sorted(p.row, c)
	for len(p.row) > 0 {
		n := p.sameTarget()
		p.text("\t\t")
		p.target(p.row[0])
		p.text(" : ")
		p.num(p.sum(p.row[:n]))
		p.end()
		p.row = p.row[n:]
	}
}

// rowAction returns the action of a choice, or the common action of the transitions of a row of a
// Markov chain.
func (p *drnPrinter) rowAction(c int) string {
	if p.nondeterministic() {
		return cmp.Or(p.action(c), noLabel)
	}
	lo, hi := p.model.Row(c)
	name := p.action(lo)
	for t := lo + 1; t < hi; t++ {
		if p.action(t) != name {
			return "0"
		}
	}
	return cmp.Or(name, "0")
}

// choiceReward returns the reward of choice c of state i. In a CTMC it is per jump, whereas that
// of the space is per unit of time.
func (p *drnPrinter) choiceReward(r *drnReward, i, c int) number {
	if x, ok := p.commonReward(r, c); ok {
		return x
	}
	x := rewardOf(r.Choice, r.ChoiceRat, c)
	if p.model.Kind != sparse.CTMC || x.zero() {
		return x
	}
	rate := p.exitRate(i)
	if x.r != nil {
		return number{r: new(big.Rat).Quo(x.r, rate.r)}
	}
	if math.IsInf(x.f, 0) && r.each.Values != nil { // the reward per unit of time overflows
		x.f = 0
		lo, hi := p.model.Row(c)
		for t := lo; t < hi; t++ {
			x.f += p.model.Prob(t) / rate.f * r.each.Values[t]
		}
		return x
	}
	return number{f: x.f / rate.f}
}

// commonReward returns the reward that all transitions of a row of a Markov chain have, if there
// is one. Computing their mean would round it.
func (p *drnPrinter) commonReward(r *drnReward, c int) (number, bool) {
	if r.each.Values == nil {
		return number{}, false
	}
	lo, hi := p.model.Row(c)
	x := rewardOf(r.each.Values, r.each.Rats, lo)
	for t := lo + 1; t < hi; t++ {
		if y := rewardOf(r.each.Values, r.each.Rats, t); x.f != y.f || cmpRat(x.r, y.r) != 0 {
			return number{}, false
		}
	}
	return x, true
}

// cmpRat compares fractions; nil stands for zero.
func cmpRat(a, b *big.Rat) int {
	return cmp.Or(a, new(big.Rat)).Cmp(cmp.Or(b, new(big.Rat)))
}

// sameTarget returns the number of transitions at the start of the row that share a target.
func (p *drnPrinter) sameTarget() int {
	n := slices.IndexFunc(p.row, func(t int) bool { return p.model.Target[t] != p.model.Target[p.row[0]] })
	if n < 0 {
		return len(p.row)
	}
	return n
}

// exitRate adds the rates as written, per target, so that a reader computes the same sum.
func (p *drnPrinter) exitRate(i int) number {
	total := number{}
	if p.model.Exact() {
		total.r = new(big.Rat)
	}
	for p.row = p.sorted(p.row, i); len(p.row) > 0; {
		n := p.sameTarget()
		x := p.sum(p.row[:n])
		p.row = p.row[n:]
		total.f += x.f
		if total.r != nil {
			total.r.Add(total.r, x.r)
		}
	}
	return total
}

// sum adds the weights of transitions.
func (p *drnPrinter) sum(transitions []int) number {
	if p.model.Exact() {
		sum := new(big.Rat)
		for _, t := range transitions {
			sum.Add(sum, p.model.Rat(t))
		}
		return number{r: sum}
	}
	sum := 0.0
	for _, t := range transitions {
		sum += p.model.Prob(t)
	}
	return number{f: sum}
}
