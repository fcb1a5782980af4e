package crosscheck

import (
	"fmt"
	"slices"
	"strings"

	"tilecheck/prism/sema"
	"tilecheck/result"
	"tilecheck/result/agree"
	"tilecheck/runner"
)

// row is a Row under way.
type row struct {
	Row
	index    int // among all rows: that of the engines' verdicts
	task     int
	instance int
	property sema.Valuation
	// questions, answers and wide have one element per entry.
	questions []agree.Question
	answers   []agree.Answer
	wide      []bool
}

// list makes a row for every property and valuation, in the order of
// runner.Engine. All subjects must have the same.
func (c *comparison) list() error {
	for i, s := range c.subjects {
		rows := s.rows()
		if i == 0 {
			c.rows = rows
			continue
		}
		if len(rows) != len(c.rows) {
			return fmt.Errorf("%s has %d properties and valuations to check, %s has %d", c.subjects[0].plan.Job.File, len(c.rows), s.plan.Job.File, len(rows))
		}
		for k := range rows {
			if rows[k].key() != c.rows[k].key() {
				return fmt.Errorf("%s has the property %s where %s has %s", c.subjects[0].plan.Job.File, c.rows[k].key(), s.plan.Job.File, rows[k].key())
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
		r.Property, r.Name, r.Constants = task.Text, task.Name, runner.Constants(s.instances[i].valuation, property)
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
	return strings.TrimSpace(property + " " + result.Valuation(constants).String())
}

// prepare looks up what the property asks and whether the model is valid.
func (r *row) prepare(c *comparison) {
	r.Verdicts = make([]result.Verdict, len(c.entries))
	r.answers = make([]agree.Answer, len(c.entries))
	for _, p := range c.entries {
		in := p.subject.instances[r.instance]
		q := in.question(p.subject.plan.Tasks[r.task], r.property, r.Constants)
		q.FixedSamples = p.sampling() != "" && p.sampling() != runner.SPRT
		r.questions = append(r.questions, q)
	}
}

// take records what an entry says. Intervals of several draws hold together.
func (r *row) take(k int, e *entry, v *result.Verdict, level float64) {
	old := &r.answers[k]
	answer := agree.Read(e.label, v, r.questions[k], level)
	if !answer.Given() {
		if !old.Given() {
			r.Verdicts[k] = *v
		} else if v.Err != nil { // the earlier draw remains valid
			r.Notes = append(r.Notes, fmt.Sprintf("%s gave up a further draw (%s): %v", e.label, v.Err.Class, v.Err))
		}
		return
	}
	r.Verdicts[k] = *v
	r.answers[k] = old.Meet(answer)
}

// compare compares the answers there are. It reports whether more samples of
// some entry might decide what is not decided, and only then is any of wide set:
// what is drawn for a row does not depend on others.
func (r *row) compare(c *comparison) bool {
	var answers []*agree.Answer
	var who []int
	r.wide = make([]bool, len(c.entries))
	for k := range r.answers {
		if r.answers[k].Given() {
			answers = append(answers, &r.answers[k])
			who = append(who, k)
		}
	}
	if len(answers) < 2 {
		r.Status = Unchecked
		r.Reason = "no engine answered"
		if len(answers) == 1 {
			r.Reason = "only " + answers[0].Who() + " answered"
		}
		return false
	}
	for _, a := range answers {
		if a.Empty() {
			r.Status, r.Basis, r.Reason = Disagree, agree.Statistical, a.Who()+" contradicts itself: its draws have intervals that are apart"
			return false
		}
	}
	worst, wide := judge(answers, agree.Options{Tolerance: c.opt.Tolerance, Precision: c.opt.Precision})
	r.Status, r.Basis, r.Reason = statusOf(worst.Relation), worst.Basis, worst.Reason
	if r.Status != Undecided {
		return false
	}
	for i, k := range who {
		r.wide[k] = wide[i]
	}
	return slices.Contains(wide, true)
}

// unanswered says why an engine did not answer, nothing if it did.
func (r *row) unanswered(k int) string {
	if f := r.Verdicts[k].Err; f != nil && !r.answers[k].Given() {
		return fmt.Sprintf("(%s): %v", f.Class, f)
	}
	return ""
}

// silent names all engines that did not answer for one reason.
func (r *row) silent(c *comparison, why string) string {
	var labels []string
	for k := range r.Verdicts {
		if r.unanswered(k) == why {
			labels = append(labels, c.entries[k].label)
		}
	}
	return strings.Join(labels, ", ")
}

// conclude completes the row once nothing more is drawn.
func (r *row) conclude(c *comparison) {
	said := map[string]bool{}
	for k := range r.Verdicts {
		if why := r.unanswered(k); why != "" && !said[why] {
			said[why] = true
			r.Notes = append(r.Notes, r.silent(c, why)+" did not answer "+why)
		}
		if d := r.Verdicts[k].Doubt; d != "" && r.Status == Unchecked { // else the comparison says it
			r.Notes = append(r.Notes, fmt.Sprintf("the value of %s is doubtful (%s)", c.entries[k].label, d))
		}
	}
	r.settle(c)
	switch {
	case r.Status == Agree && r.Reason != "":
		r.Notes, r.Reason = append([]string{r.Reason}, r.Notes...), ""
	case r.Status == Disagree || r.Status == Undecided:
		if text := r.counts(c); text != "" {
			r.Notes = append(r.Notes, text)
		}
	}
	for _, s := range c.subjects {
		if m := &s.instances[r.instance].check; m.Validity == Broken {
			r.Status, r.Basis, r.Reason = Invalid, "", m.Failure.Error()
			return
		}
	}
}

// counts says where the numbers of states differ, of those who tell them. Choices
// and transitions are no sign of a difference: tools merge those that are alike,
// each in its own way.
func (r *row) counts(c *comparison) string {
	if len(c.subjects) > 1 {
		return ""
	}
	var parts []string
	var counts []int64
	add := func(who string, states int64) {
		if states > 0 {
			counts = append(counts, states)
			parts = append(parts, fmt.Sprintf("%s %d", who, states))
		}
	}
	add("strict check", int64(c.subjects[0].instances[r.instance].check.States))
	for k := range r.Verdicts {
		add(c.entries[k].label, r.Verdicts[k].States)
	}
	if len(slices.Compact(counts)) < 2 {
		return ""
	}
	return "different numbers of states: " + strings.Join(parts, ", ")
}
