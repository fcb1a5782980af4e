package crosscheck

import (
	"fmt"
	"slices"
	"strings"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner/plan"
)

// row is a Row under way.
type row struct {
	Row
	index    int // among all rows: that of the engines' verdicts
	task     int
	instance int
	property sema.Valuation
	// questions, answers and wide have one entry per player. An answer of nobody
	// is none.
	questions []*question
	answers   []answer
	wide      []bool
}

// list makes a row for every property and valuation, in the order of
// runner.Engine. All subjects must have the same.
func (c *run) list() error {
	for i, s := range c.subjects {
		rows := s.rows()
		if i == 0 {
			c.rows = rows
			continue
		}
		if len(rows) != len(c.rows) {
			return fmt.Errorf("%s has %d properties and valuations to check, %s has %d", c.subjects[0].job.File, len(c.rows), s.job.File, len(rows))
		}
		for k := range rows {
			if rows[k].key() != c.rows[k].key() {
				return fmt.Errorf("%s has the property %s where %s has %s", c.subjects[0].job.File, c.rows[k].key(), s.job.File, rows[k].key())
			}
		}
	}
	return nil
}

func (s *subject) rows() []*row {
	var out []*row
	add := func(i, t int, property sema.Valuation) {
		task := s.plan.Tasks[t]
		r := &row{index: len(out), task: t, instance: i, property: property}
		r.Property, r.Name, r.Constants = task.Text, task.Name, plan.Constants(s.instances[i].valuation, property)
		out = append(out, r)
	}
	for i := range s.instances {
		for t, task := range s.plan.Tasks {
			if task.Rejected != nil {
				add(i, t, nil)
				continue
			}
			for v := range task.Valuations() {
				add(i, t, v)
			}
		}
	}
	return out
}

func (r *row) key() string { return key(r.Property, r.Constants) }

func key(property string, constants []result.Constant) string {
	return strings.TrimSpace(property + " " + constantsText(constants))
}

// constantsText is the argument of PRISM's -const.
func constantsText(constants []result.Constant) string {
	var parts []string
	for _, c := range constants {
		parts = append(parts, c.Name+"="+c.Value)
	}
	return strings.Join(parts, ",")
}

// prepare looks up what the property asks and whether the model is valid.
func (r *row) prepare(c *run) {
	r.Verdicts = make([]result.Verdict, len(c.players))
	r.answers = make([]answer, len(c.players))
	for _, p := range c.players {
		in := p.subject.instances[r.instance]
		r.questions = append(r.questions, in.question(p.subject.plan.Tasks[r.task], r.property))
	}
}

// take records what a player says. Intervals of several draws hold together.
func (r *row) take(k int, p *player, v *result.Verdict, level float64) {
	old := r.answers[k]
	if !answered(v, r.questions[k]) {
		if old.who == "" {
			r.Verdicts[k] = *v
		} else if v.Err != nil { // the earlier draw remains valid
			r.Notes = append(r.Notes, fmt.Sprintf("%s gave up a further draw (%s): %v", p.label, v.Err.Class, v.Err))
		}
		return
	}
	r.Verdicts[k] = *v
	a := newAnswer(p.label, v, r.questions[k], level)
	if old.who != "" && old.basis == Statistical && !a.boolean && !old.boolean && a.open == "" && old.open == "" {
		a.lo, a.hi = max(a.lo, old.lo), min(a.hi, old.hi)
	}
	r.answers[k] = a
}

// answered reports whether a verdict is an answer. A simulation that could not
// decide is one if it has an interval.
func answered(v *result.Verdict, q *question) bool {
	if v.Err == nil {
		return v.Value.Kind != result.NoValue
	}
	return v.Err.Class == result.NonConverge && v.Bound != nil && q.objective != nil && !q.objective.Query() &&
		v.Accuracy == result.Probable && v.Samples > 0
}

// compare compares the answers there are. It reports whether more samples of
// some player might decide what is not decided.
func (r *row) compare(c *run) bool {
	var answers []answer
	var who []int
	r.wide = make([]bool, len(c.players))
	for k := range r.answers {
		if r.answers[k].who != "" {
			answers = append(answers, r.answers[k])
			who = append(who, k)
		}
	}
	if len(answers) < 2 {
		r.Status = Unchecked
		r.Reason = "no engine answered"
		if len(answers) == 1 {
			r.Reason = "only " + answers[0].who + " answered"
		}
		return false
	}
	m := margins{c.opt.Tolerance, c.opt.Precision}
	for i := range answers {
		if a := &answers[i]; a.lo > a.hi {
			r.Status, r.Basis, r.Reason = Disagree, Statistical, a.who+" contradicts itself: its draws have intervals that are apart"
			return false
		}
	}
	worst, wide := m.judge(answers, r.extremum(who))
	r.Status, r.Basis, r.Reason = worst.relation.status(), worst.basis, worst.reason
	for i, k := range who {
		r.wide[k] = wide[i]
	}
	return r.Status == Undecided && slices.Contains(wide, true)
}

// extremum is what the property asks of the schedulers.
func (r *row) extremum(who []int) syntax.Extremum {
	for _, k := range who {
		if o := r.questions[k].objective; o != nil {
			return o.Extremum
		}
	}
	return syntax.NoExtremum
}

// conclude completes the row once nothing more is drawn.
func (r *row) conclude(c *run) {
	for k := range r.Verdicts {
		if f := r.Verdicts[k].Err; f != nil && r.answers[k].who == "" {
			r.Notes = append(r.Notes, fmt.Sprintf("%s did not answer (%s): %v", c.players[k].label, f.Class, f))
		}
	}
	if text := r.counts(c); text != "" {
		r.Notes = append(r.Notes, text)
	}
	for _, s := range c.subjects {
		if m := &s.instances[r.instance].check; m.Validity == Broken {
			r.Status, r.Basis, r.Reason = Invalid, "", m.Failure.Error()
			return
		}
	}
}

// counts says where the sizes of the state spaces differ, of those who tell them.
func (r *row) counts(c *run) string {
	if len(c.subjects) > 1 {
		return ""
	}
	type size struct{ states, choices, transitions int64 }
	var parts []string
	var sizes []size
	add := func(who string, s size) {
		sizes = append(sizes, s)
		parts = append(parts, fmt.Sprintf("%s %d/%d/%d", who, s.states, s.choices, s.transitions))
	}
	if m := &c.subjects[0].instances[r.instance].check; m.States > 0 {
		add("strict check", size{int64(m.States), int64(m.Choices), int64(m.Transitions)})
	}
	for k := range r.Verdicts {
		v := &r.Verdicts[k]
		if v.States == 0 {
			continue
		}
		s := size{v.States, v.Choices, v.Transitions}
		if s.choices == 0 && len(sizes) > 0 { // tools tell none of Markov chains
			s.choices = sizes[0].choices
		}
		add(c.players[k].label, s)
	}
	for _, s := range sizes {
		if s != sizes[0] {
			return "different numbers of states/choices/transitions: " + strings.Join(parts, ", ")
		}
	}
	return ""
}
