package crosscheck

import (
	"fmt"
	"slices"
	"strings"

	"tilecheck/internal/noun"
	"tilecheck/prism/sema"
	"tilecheck/result"
	"tilecheck/result/agree"
	"tilecheck/runner"
)

// row is a Row with the state of its comparison.
type row struct {
	Row
	index    int // among all rows, and among the verdicts of an engine
	task     int
	instance int
	property sema.Valuation
	// questions, answers and needsSamples have one element for each engine run.
	questions    []agree.Question
	answers      []agree.Answer
	needsSamples []bool
}

// makeRows makes a row for every property under every valuation of its constants. The order is the order of the engines' verdicts. It returns an
// error if the models do not have the same properties and valuations.
func (c *comparison) makeRows() error {
	reference := c.models[0]
	c.allRows = reference.rows()
	for _, model := range c.models[1:] {
		otherRows := model.rows()
		if len(otherRows) != len(c.allRows) {
			return fmt.Errorf("%s has %s and valuations to check, %s has %d", reference.plan.Job.File, noun.Count(len(c.allRows), "property"), model.plan.Job.File, len(otherRows))
		}
		for i, row := range otherRows {
			if want := c.allRows[i].key(); row.key() != want {
				return fmt.Errorf("%s has the property %s where %s has %s", reference.plan.Job.File, want, model.plan.Job.File, row.key())
			}
		}
	}
	return nil
}

// rows returns a row for every property of the model under every valuation.
func (m *plannedModel) rows() []*row {
	var rows []*row
	for instance := range m.instances {
		for i, task := range m.plan.Tasks {
			if task.Rejected != nil { // a rejected property has one row, because its constants are unknown
				rows = append(rows, m.newRow(len(rows), instance, i, nil))
				continue
			}
			for valuation := range task.Valuations() {
				rows = append(rows, m.newRow(len(rows), instance, i, valuation))
			}
		}
	}
	return rows
}

// newRow returns a row for a property under a valuation of its constants. index is the index of the row, instance that of the model's instance,
// and task that of the property.
func (m *plannedModel) newRow(index, instance, task int, valuation sema.Valuation) *row {
	added := &row{index: index, task: task, instance: instance, property: valuation}
	added.Property, added.Name = m.plan.Tasks[task].Text, m.plan.Tasks[task].Name
	added.Constants = runner.Constants(m.instances[instance].valuation, valuation)
	return added
}

// key returns a text that identifies the row.
func (r *row) key() string { return key(r.Property, r.Constants) }

// key returns a text that identifies a property under a valuation.
func key(property string, constants []result.Constant) string {
	return strings.TrimSpace(property + " " + result.Valuation(constants).String())
}

// prepare allocates the verdicts and the answers of the row. It sets r.questions: for each engine, the facts about the property that a comparison of answers
// needs.
func (r *row) prepare(comparison *comparison) {
	r.Verdicts = make([]result.Verdict, len(comparison.engineRuns))
	r.answers = make([]agree.Answer, len(comparison.engineRuns))
	for _, run := range comparison.engineRuns {
		instance := run.model.instances[r.instance]
		question := instance.question(run.model.plan.Tasks[r.task], r.property, r.Constants)
		question.FixedSamples = run.samplingMethod() != "" && run.samplingMethod() != runner.SPRT
		r.questions = append(r.questions, question)
	}
}

// recordAnswer records the verdict of an engine. A sampling engine gives a verdict for each draw of samples, with a confidence interval of the
// given level. The answer is the intersection of these intervals. If a later draw fails, the earlier answer is kept.
func (r *row) recordAnswer(engine int, run *engineRun, verdict *result.Verdict, level float64) {
	earlierAnswer := &r.answers[engine]
	answer := agree.ReadAnswer(run.label, verdict, r.questions[engine], level)
	switch {
	case answer.IsGiven():
		r.Verdicts[engine] = *verdict
		r.answers[engine] = earlierAnswer.Intersect(answer) // both intervals contain the value
	case !earlierAnswer.IsGiven():
		r.Verdicts[engine] = *verdict
	case verdict.Err != nil:
		r.Notes = append(r.Notes, fmt.Sprintf("%s gave up a further draw (%s): %v", run.label, verdict.Err.Class, verdict.Err))
	}
}

// givenAnswers returns the answers of the row and the indices of their engines.
func (r *row) givenAnswers() (answers []*agree.Answer, engines []int) {
	for engine := range r.answers {
		if r.answers[engine].IsGiven() {
			answers = append(answers, &r.answers[engine])
			engines = append(engines, engine)
		}
	}
	return answers, engines
}

// compareAnswers compares the answers of a row and sets its status. It returns true if more samples may decide the row; r.needsSamples is then true for the
// engines that must draw more samples.
func (r *row) compareAnswers(comparison *comparison) (undecided bool) {
	r.needsSamples = make([]bool, len(comparison.engineRuns))
	answers, engines := r.givenAnswers()
	switch len(answers) {
	case 0:
		r.Status, r.Reason = Unchecked, "no engine answered"
		return false
	case 1:
		r.Status, r.Reason = Unchecked, "only "+answers[0].EngineLabel()+" answered"
		return false
	}
	// The intervals of an engine's draws must overlap, because all of them contain the value.
	for _, answer := range answers {
		if answer.IsEmpty() {
			r.Status, r.Basis, r.Reason = Disagree, agree.Statistical, answer.EngineLabel()+" contradicts itself: its draws have intervals that are apart"
			return false
		}
	}
	outcome, needsSamples := judgeAnswers(answers, comparison.agreeOptions())
	r.Status, r.Basis, r.Reason = statusFor(outcome.Relation), outcome.Basis, outcome.Reason
	if r.Status != Undecided {
		return false
	}
	for i, engine := range engines {
		r.needsSamples[engine] = needsSamples[i]
	}
	return slices.Contains(needsSamples, true)
}

// noAnswerReason returns the class and the message of the error because of which an engine has no answer. It returns "" if the engine has
// answered.
func (r *row) noAnswerReason(engine int) string {
	if failure := r.Verdicts[engine].Err; failure != nil && !r.answers[engine].IsGiven() {
		return fmt.Sprintf("(%s): %v", failure.Class, failure)
	}
	return ""
}

// enginesWithReason returns the names of the engines that did not answer for the given reason, separated by commas.
func (r *row) enginesWithReason(comparison *comparison, reason string) string {
	var labels []string
	for engine := range r.Verdicts {
		if r.noAnswerReason(engine) == reason {
			labels = append(labels, comparison.engineRuns[engine].label)
		}
	}
	return strings.Join(labels, ", ")
}

// finish completes the row after all engines have answered. It adds notes, and changes the status if a certificate refutes an answer or a model is
// invalid.
func (r *row) finish(comparison *comparison) {
	invalidity := r.invalidity(comparison)
	r.noteMissingAnswers(comparison, invalidity != nil)
	r.judgeByProofs(comparison)
	switch r.Status {
	case Agree:
		if r.Reason != "" {
			r.Notes, r.Reason = append([]string{r.Reason}, r.Notes...), ""
		}
	case Disagree, Undecided:
		if text := r.stateCountsNote(comparison); text != "" {
			r.Notes = append(r.Notes, text)
		}
	}
	if invalidity != nil {
		r.Status, r.Basis, r.Reason = Invalid, "", invalidity.Error()
	}
}

// invalidity returns the error that the strict check found in a model, nil if the models are valid or were not checked.
func (r *row) invalidity(comparison *comparison) error {
	for _, model := range comparison.models {
		if checked := &model.instances[r.instance].strictCheck; checked.Validity == Broken {
			return checked.Failure
		}
	}
	return nil
}

// noteMissingAnswers adds a note for each reason of missing answers. In an invalid row, engines that found the model invalid need no note. It also
// adds notes about doubtful values of an unchecked row.
func (r *row) noteMissingAnswers(comparison *comparison, isInvalid bool) {
	isNoted := map[string]bool{"": true} // the reason is empty if the engine answered
	for i := range r.Verdicts {
		if failure := r.Verdicts[i].Err; isInvalid && failure != nil && failure.Class == result.Model {
			continue
		}
		if reason := r.noAnswerReason(i); !isNoted[reason] {
			isNoted[reason] = true
			r.Notes = append(r.Notes, r.enginesWithReason(comparison, reason)+" did not answer "+reason)
		}
		if doubt := r.Verdicts[i].Doubt; doubt != "" && r.Status == Unchecked {
			r.Notes = append(r.Notes, fmt.Sprintf("the value of %s is doubtful (%s)", comparison.engineRuns[i].label, doubt))
		}
	}
}

// stateCountsNote returns a note if engines report different numbers of states; empty otherwise.
func (r *row) stateCountsNote(comparison *comparison) string {
	if len(comparison.models) > 1 {
		return ""
	}
	var counts []int64
	var texts []string
	addCount := func(engine string, states int64) {
		if states > 0 {
			counts = append(counts, states)
			texts = append(texts, fmt.Sprintf("%s %d", engine, states))
		}
	}
	addCount("strict check", int64(comparison.models[0].instances[r.instance].strictCheck.States))
	for engine := range r.Verdicts {
		addCount(comparison.engineRuns[engine].label, r.Verdicts[engine].States)
	}
	allEqual := len(slices.Compact(counts)) < 2
	if allEqual {
		return ""
	}
	return "different numbers of states: " + strings.Join(texts, ", ")
}
