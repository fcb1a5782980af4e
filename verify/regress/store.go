package regress

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tilecheck/result"
	"tilecheck/runner"
	"tilecheck/verify/cache"
)

// caching reports whether answers of the entrant are kept.
func (u *unit) caching() bool { return u.opt.Cache != nil && u.entrant.Identity != "" }

// propertyKey names the verdicts of one property in a job: everything that they
// depend on, and the names of the files, which messages have.
func (u *unit) propertyKey(job *runner.Job, number string) cache.Hash {
	sim, num := job.Simulation, job.Numeric
	sim.Workers, num.Workers, num.MaxMemory = 0, 0, 0
	parts := []string{
		"verdicts", u.entrant.Identity, job.File, string(job.Model), job.PropsFile, string(job.Properties), number, u.imports,
		string(job.Method), fmt.Sprintf("%#v %#v", sim, num), strconv.FormatBool(job.NoFixDeadlocks),
	}
	return cache.Key(append(parts, job.Consts...)...)
}

// batch gives the items of a batch their verdicts: those that are kept, and for
// the other properties what the engine says.
func (u *unit) batch(ctx context.Context, b *batch, answers []answer) error {
	if !u.caching() {
		return u.check(ctx, b, answers)
	}
	missing := *b
	missing.selected = nil
	for _, number := range b.selected {
		if !u.recall(b, number, answers) {
			missing.selected = append(missing.selected, number)
		}
	}
	if len(missing.selected) == 0 {
		return nil
	}
	if err := u.check(ctx, &missing, answers); err != nil {
		return err
	}
	for _, number := range missing.selected {
		u.keepAnswers(b, number, answers)
	}
	return nil
}

// check asks the engine about the selected properties.
func (u *unit) check(ctx context.Context, b *batch, answers []answer) error {
	plan, err := u.part(b)
	if err != nil {
		return err
	}
	verdicts, err := u.entrant.Engine.Check(ctx, plan)
	if err != nil {
		return err
	}
	return u.attribute(b, verdicts, answers)
}

// of lists the items of a property in a batch.
func (u *unit) of(b *batch, number string) []int {
	return slices.DeleteFunc(slices.Clone(b.items), func(i int) bool { return strconv.Itoa(u.items[i].number) != number })
}

// recall fills in the verdicts of a property that are kept.
func (u *unit) recall(b *batch, number string, answers []answer) bool {
	data, ok := u.opt.Cache.Get(u.propertyKey(&b.plan.Job, number))
	if !ok {
		return false
	}
	kept := make(map[string]result.Verdict)
	verdicts, err := result.DecodeVerdicts(data)
	if err != nil {
		return false
	}
	for _, v := range verdicts {
		kept[fmt.Sprint(v.Constants)] = v
	}
	items := u.of(b, number)
	for _, i := range items {
		v, ok := kept[fmt.Sprint(u.items[i].constants())]
		if !ok || v.Property != u.items[i].task.Text {
			return false
		}
	}
	for _, i := range items {
		answers[i] = answer{Verdict: kept[fmt.Sprint(u.items[i].constants())], cached: true}
	}
	return true
}

// keepAnswers keeps the verdicts of a property, if they would be the same
// another time.
func (u *unit) keepAnswers(b *batch, number string, answers []answer) {
	var verdicts []result.Verdict
	for _, i := range u.of(b, number) {
		if !lasting(answers[i].Err) {
			return
		}
		verdicts = append(verdicts, answers[i].Verdict)
	}
	data, err := result.EncodeVerdicts(verdicts)
	if err == nil {
		err = u.opt.Cache.Put(u.propertyKey(&b.plan.Job, number), data)
	}
	u.remark(err)
}

// remark notes that something could not be kept, which costs no result.
func (u *unit) remark(err error) {
	if err != nil {
		u.notes = append(u.notes, err.Error())
	}
}

// transcript runs a command, or finds what it once left behind. Runs that sample
// are not kept: PRISM has no seed.
func (u *unit) transcript(ctx context.Context, c runner.Command) (t *transcript, cached bool, err error) {
	if !u.caching() || slices.ContainsFunc(c.Args, func(a string) bool { return strings.HasPrefix(a, "-sim") }) {
		t, err = u.runTool(ctx, c)
		return t, false, err
	}
	parts := append([]string{"transcript", u.entrant.Identity, strconv.Itoa(len(c.Args))}, c.Args...)
	for _, f := range c.Files {
		parts = append(parts, f.Name, string(f.Data))
	}
	key := cache.Key(append(parts, c.Collect...)...)
	if data, ok := u.opt.Cache.Get(key); ok {
		t := new(transcript)
		if err := json.Unmarshal(data, t); err == nil {
			return t, true, nil
		}
	}
	t, err = u.runTool(ctx, c)
	if err != nil || !t.lasting() {
		return t, false, err
	}
	data, err := json.Marshal(t)
	if err == nil {
		err = u.opt.Cache.Put(key, data)
	}
	u.remark(err)
	return t, false, nil
}

// lasting reports whether a run would end the same way another time.
func (t *transcript) lasting() bool {
	log := t.log()
	if t.Cause != runner.Finished || !lasting(log.Err) {
		return false
	}
	for i := range log.Properties {
		if !lasting(log.Properties[i].Err) {
			return false
		}
	}
	for _, f := range log.Failures {
		if !lasting(f) {
			return false
		}
	}
	return true
}
