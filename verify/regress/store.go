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

// propertyKey returns the key of the verdicts of a property in a job: all that they depend on, and the names of the
// files, which messages contain.
func (u *unit) propertyKey(job *runner.Job, number string) cache.Hash {
	sim, num := job.Simulation, job.Numeric
	sim.Workers, num.Workers, num.MaxMemory = 0, 0, 0
	parts := []string{
		"verdicts", u.entrant.Identity, job.File, string(job.Model), job.PropsFile, string(job.Properties), number, u.imports,
		string(job.Method), fmt.Sprintf("%#v %#v", sim, num), strconv.FormatBool(job.NoFixDeadlocks),
	}
	return cache.Key(append(parts, job.Consts...)...)
}

// checkBatch fills in the verdicts of a batch, from the cache or from the engine.
func (u *unit) checkBatch(ctx context.Context, b *batch, answers []answer) error {
	if !u.caching() {
		return u.check(ctx, b, answers)
	}
	missing := *b
	missing.selected = nil
	for _, number := range b.selected {
		if !u.readCache(b, number, answers) {
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
		u.writeCache(b, number, answers)
	}
	return nil
}

// check checks the selected properties with the engine.
func (u *unit) check(ctx context.Context, b *batch, answers []answer) error {
	plan, err := u.batchPlan(b)
	if err != nil {
		return err
	}
	verdicts, err := u.entrant.Engine.Check(ctx, plan)
	if err != nil {
		return err
	}
	return u.attribute(b, verdicts, answers)
}

// itemsOf lists the items of a property in a batch.
func (u *unit) itemsOf(b *batch, number string) []int {
	return slices.DeleteFunc(slices.Clone(b.items), func(i int) bool { return strconv.Itoa(u.items[i].number) != number })
}

// readCache fills in the verdicts of a property from the cache, and reports whether it has them all.
func (u *unit) readCache(b *batch, number string, answers []answer) bool {
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
	items := u.itemsOf(b, number)
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

// writeCache keeps the verdicts of a property, if another run would give the same ones.
func (u *unit) writeCache(b *batch, number string, answers []answer) {
	var verdicts []result.Verdict
	for _, i := range u.itemsOf(b, number) {
		if !repeatable(answers[i].Err) {
			return
		}
		verdicts = append(verdicts, answers[i].Verdict)
	}
	data, err := result.EncodeVerdicts(verdicts)
	if err == nil {
		err = u.opt.Cache.Put(u.propertyKey(&b.plan.Job, number), data)
	}
	u.noteError(err)
}

// noteError adds a note if something could not be kept.
func (u *unit) noteError(err error) {
	if err != nil {
		u.notes = append(u.notes, err.Error())
	}
}

// transcript runs a command, or finds the output of an earlier run. Runs that sample are not kept, because PRISM has no
// seed.
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
	if err != nil || !t.repeatable() {
		return t, false, err
	}
	data, err := json.Marshal(t)
	if err == nil {
		err = u.opt.Cache.Put(key, data)
	}
	u.noteError(err)
	return t, false, nil
}

// repeatable reports whether another run would end in the same way.
func (t *transcript) repeatable() bool {
	log := t.log()
	if t.Cause != runner.Finished || !repeatable(log.Err) {
		return false
	}
	for i := range log.Properties {
		if !repeatable(log.Properties[i].Err) {
			return false
		}
	}
	for _, f := range log.Failures {
		if !repeatable(f) {
			return false
		}
	}
	return true
}
