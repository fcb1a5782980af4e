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

// caching reports whether the cache keeps the answers of the engine.
func (u *testRun) caching() bool { return u.opt.Cache != nil && u.engine.Identity != "" }

// propertyKey returns the cache key of the verdicts of a property in a job. It covers everything that the verdicts depend on, and the names of
// the files, which appear in messages.
func (u *testRun) propertyKey(job *runner.Job, number string) cache.Hash {
	simulation, numeric := job.Simulation, job.Numeric
	simulation.Workers, numeric.Workers, numeric.MaxMemory = 0, 0, 0
	parts := []string{
		"verdicts", u.engine.Identity, job.File, string(job.Model), job.PropsFile, string(job.Properties), number, u.importsHash,
		string(job.Method), fmt.Sprintf("%#v %#v", simulation, numeric), strconv.FormatBool(job.NoFixDeadlocks),
	}
	return cache.Key(append(parts, job.Consts...)...)
}

// checkBatch fills in the answers of a batch. Answers that are not in the cache come from the engine and are kept.
func (u *testRun) checkBatch(ctx context.Context, batch *batch, answers []answer) error {
	if !u.caching() {
		return u.check(ctx, batch, answers)
	}
	missing := *batch
	missing.properties = nil
	for _, number := range batch.properties {
		if !u.readCache(batch, number, answers) {
			missing.properties = append(missing.properties, number)
		}
	}
	if len(missing.properties) == 0 {
		return nil
	}
	if err := u.check(ctx, &missing, answers); err != nil {
		return err
	}
	for _, number := range missing.properties {
		u.writeCache(batch, number, answers)
	}
	return nil
}

// check asks the engine about the properties of a batch, and fills in the answers.
func (u *testRun) check(ctx context.Context, batch *batch, answers []answer) error {
	plan, err := u.batchPlan(batch)
	if err != nil {
		return err
	}
	verdicts, err := u.engine.Engine.Check(ctx, plan)
	if err != nil {
		return err
	}
	return u.attribute(batch, verdicts, answers)
}

// instancesOf returns the instances of a batch that belong to the property with a number.
func (u *testRun) instancesOf(batch *batch, number string) []int {
	return slices.DeleteFunc(slices.Clone(batch.instances), func(i int) bool { return strconv.Itoa(u.instances[i].number) != number })
}

// readCache fills in the answers about a property from the cache. It returns false if the cache does not have them all.
func (u *testRun) readCache(batch *batch, number string, answers []answer) bool {
	data, ok := u.opt.Cache.Get(u.propertyKey(&batch.plan.Job, number))
	if !ok {
		return false
	}
	verdictOf := make(map[string]result.Verdict)
	verdicts, err := result.DecodeVerdicts(data)
	if err != nil {
		return false
	}
	for _, verdict := range verdicts {
		verdictOf[fmt.Sprint(verdict.Constants)] = verdict
	}
	items := u.instancesOf(batch, number)
	for _, i := range items {
		verdict, ok := verdictOf[fmt.Sprint(u.instances[i].constants())]
		if !ok || verdict.Property != u.instances[i].task.Text {
			return false
		}
	}
	for _, i := range items {
		answers[i] = answer{Verdict: verdictOf[fmt.Sprint(u.instances[i].constants())], cached: true}
	}
	return true
}

// writeCache keeps the verdicts of a property, unless another run might give other ones.
func (u *testRun) writeCache(batch *batch, number string, answers []answer) {
	var verdicts []result.Verdict
	for _, i := range u.instancesOf(batch, number) {
		if !repeatable(answers[i].Err) {
			return
		}
		verdicts = append(verdicts, answers[i].Verdict)
	}
	data, err := result.EncodeVerdicts(verdicts)
	if err == nil {
		err = u.opt.Cache.Put(u.propertyKey(&batch.plan.Job, number), data)
	}
	u.noteError(err)
}

// noteError adds a note to the report if an answer could not be written to the cache.
func (u *testRun) noteError(err error) {
	if err != nil {
		u.notes = append(u.notes, err.Error())
	}
}

// transcript runs a command of PRISM, or returns its output from the cache. Runs that sample are not cached, because PRISM has no seed for random
// numbers.
func (u *testRun) transcript(ctx context.Context, command runner.Command) (output *transcript, cached bool, err error) {
	samples := slices.ContainsFunc(command.Args, func(arg string) bool { return strings.HasPrefix(arg, "-sim") })
	if !u.caching() || samples {
		output, err = u.runTool(ctx, command)
		return output, false, err
	}
	key := u.transcriptKey(command)
	if output := u.cachedTranscript(key); output != nil {
		return output, true, nil
	}
	output, err = u.runTool(ctx, command)
	if err != nil || !output.repeatable() {
		return output, false, err
	}
	data, err := json.Marshal(output)
	if err == nil {
		err = u.opt.Cache.Put(key, data)
	}
	u.noteError(err)
	return output, false, nil
}

// transcriptKey returns the key of a command's output in the cache: a hash of its tool, arguments and files.
func (u *testRun) transcriptKey(command runner.Command) cache.Hash {
	parts := append([]string{"transcript", u.engine.Identity, strconv.Itoa(len(command.Args))}, command.Args...)
	for _, file := range command.Files {
		parts = append(parts, file.Name, string(file.Data))
	}
	return cache.Key(append(parts, command.Collect...)...)
}

// cachedTranscript returns an output from the cache; nil if the cache does not have it, or has something unreadable.
func (u *testRun) cachedTranscript(key cache.Hash) *transcript {
	data, ok := u.opt.Cache.Get(key)
	if !ok {
		return nil
	}
	output := new(transcript)
	if json.Unmarshal(data, output) != nil {
		return nil
	}
	return output
}

// repeatable reports whether another run of the command would have the same output.
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
	for _, failure := range log.Failures {
		if !repeatable(failure) {
			return false
		}
	}
	return true
}
