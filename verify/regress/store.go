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

// usesCache reports whether the answers of the engine are cached.
func (run *testRun) usesCache() bool { return run.options.Cache != nil && run.engine.Identity != "" }

// propertyKey returns the key under which the cache has the verdicts about a property. It is a hash of every input that can change a verdict or a
// message.
func (run *testRun) propertyKey(job *runner.Job, number string) cache.Hash {
	simulation, numeric := job.Simulation, job.Numeric
	simulation.Workers, numeric.Workers, numeric.MaxMemory = 0, 0, 0 // these do not change a verdict
	inputs := []string{
		"verdicts", run.engine.Identity, job.File, string(job.Model), job.PropsFile, string(job.Properties), number, run.importsHash,
		string(job.Method), fmt.Sprintf("%#v %#v", simulation, numeric), strconv.FormatBool(job.NoFixDeadlocks),
	}
	return cache.Key(append(inputs, job.Consts...)...)
}

// checkBatch stores the answers for the instances of a batch in answers. It takes answers from the cache, and runs the engine only for the properties that the
// cache lacks.
func (run *testRun) checkBatch(ctx context.Context, batch *batch, answers []answer) error {
	if !run.usesCache() {
		return run.check(ctx, batch, answers)
	}
	uncached := *batch
	uncached.properties = nil
	for _, number := range batch.properties {
		if !run.readCache(batch, number, answers) {
			uncached.properties = append(uncached.properties, number)
		}
	}
	if len(uncached.properties) == 0 {
		return nil
	}
	if err := run.check(ctx, &uncached, answers); err != nil {
		return err
	}
	for _, number := range uncached.properties {
		run.writeCache(batch, number, answers)
	}
	return nil
}

// check runs the engine on the properties of a batch, and stores the verdicts in answers.
func (run *testRun) check(ctx context.Context, batch *batch, answers []answer) error {
	plan, err := run.batchPlan(batch)
	if err != nil {
		return err
	}
	verdicts, err := run.engine.Engine.Check(ctx, plan)
	if err != nil {
		return err
	}
	return run.storeVerdicts(batch, verdicts, answers)
}

// instancesOf returns the indices of the instances of one property in a batch. number is the number of the property.
func (run *testRun) instancesOf(batch *batch, number string) []int {
	return slices.DeleteFunc(slices.Clone(batch.instances), func(i int) bool { return strconv.Itoa(run.instances[i].propertyNumber) != number })
}

// readCache stores the answers about a property from the cache in answers. It returns false, and stores nothing, if the cache does not have all
// of them.
func (run *testRun) readCache(batch *batch, number string, answers []answer) bool {
	data, ok := run.options.Cache.Get(run.propertyKey(&batch.plan.Job, number))
	if !ok {
		return false
	}
	verdicts, err := result.DecodeVerdicts(data)
	if err != nil {
		return false
	}
	byValuation := make(map[string]result.Verdict)
	for _, verdict := range verdicts {
		byValuation[fmt.Sprint(verdict.Constants)] = verdict
	}
	cached := make(map[int]result.Verdict) // by the index of the instance
	for _, i := range run.instancesOf(batch, number) {
		verdict, ok := byValuation[fmt.Sprint(run.instances[i].constants())]
		if !ok || verdict.Property != run.instances[i].task.Text {
			return false
		}
		cached[i] = verdict
	}
	for i, verdict := range cached {
		answers[i] = answer{Verdict: verdict, cached: true}
	}
	return true
}

// writeCache writes the verdicts about a property to the cache. It writes nothing if a verdict is a failure that may not occur again.
func (run *testRun) writeCache(batch *batch, number string, answers []answer) {
	var verdicts []result.Verdict
	for _, i := range run.instancesOf(batch, number) {
		if !isRepeatable(answers[i].Err) {
			return
		}
		verdicts = append(verdicts, answers[i].Verdict)
	}
	data, err := result.EncodeVerdicts(verdicts)
	if err == nil {
		err = run.options.Cache.Put(run.propertyKey(&batch.plan.Job, number), data)
	}
	run.noteError(err)
}

// noteError adds an error to the notes of the run. It does nothing if err is nil.
func (run *testRun) noteError(err error) {
	if err != nil {
		run.notes = append(run.notes, err.Error())
	}
}

// transcript returns the output of a PRISM command. cached is true if the output comes from the cache.
func (run *testRun) transcript(ctx context.Context, command runner.Command) (output *transcript, isCached bool, err error) {
	isSampling := slices.ContainsFunc(command.Args, func(arg string) bool { return strings.HasPrefix(arg, "-sim") })
	if !run.usesCache() || isSampling { // PRISM's samples have no seed, so they cannot be repeated
		output, err = run.runTool(ctx, command)
		return output, false, err
	}
	key := run.transcriptKey(command)
	if output := run.cachedTranscript(key); output != nil {
		return output, true, nil
	}
	output, err = run.runTool(ctx, command)
	if err != nil || !output.isRepeatable() {
		return output, false, err
	}
	data, err := json.Marshal(output)
	if err == nil {
		err = run.options.Cache.Put(key, data)
	}
	run.noteError(err)
	return output, false, nil
}

// transcriptKey returns the key of a command's output in the cache: a hash of its tool, arguments and files.
func (run *testRun) transcriptKey(command runner.Command) cache.Hash {
	keyTexts := append([]string{"transcript", run.engine.Identity, strconv.Itoa(len(command.Args))}, command.Args...)
	for _, file := range command.Files {
		keyTexts = append(keyTexts, file.Name, string(file.Data))
	}
	return cache.Key(append(keyTexts, command.Collect...)...)
}

// cachedTranscript returns an output from the cache, or nil if the cache does not have it.
func (run *testRun) cachedTranscript(key cache.Hash) *transcript {
	data, ok := run.options.Cache.Get(key)
	if !ok {
		return nil
	}
	output := new(transcript)
	if json.Unmarshal(data, output) != nil {
		return nil
	}
	return output
}

// isRepeatable reports whether the same command would have the same output again. It is false if a failure depends on time, memory or an
// interrupt.
func (t *transcript) isRepeatable() bool {
	log := t.log()
	if t.Cause != runner.Finished || !isRepeatable(log.Err) {
		return false
	}
	for i := range log.Properties {
		if !isRepeatable(log.Properties[i].Err) {
			return false
		}
	}
	for _, failure := range log.Failures {
		if !isRepeatable(failure) {
			return false
		}
	}
	return true
}
