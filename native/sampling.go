package native

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"

	"tilecheck/native/simulate"
	"tilecheck/native/simulate/splitting"
	"tilecheck/native/space/explicit"
	"tilecheck/prism/compile"
	"tilecheck/result"
	"tilecheck/runner"
	"tilecheck/stats"
)

// sampling is the method that samples paths.
type sampling struct {
	splitting splitting.Variant // of importance splitting; "" for other methods
	opt       simulate.Options
	progress  func(runner.Progress)
	digest    func() []byte // returns a hash of the model's text or files
}

// newSampling returns the sampling method that a job selects. It is an error if an option of the job is unsupported or out of range.
func newSampling(job *runner.Job) (*sampling, error) {
	name := job.Method
	if name == runner.Sim || name.IsSplitting() {
		name = ""
	}
	method, err := stats.ParseMethod(string(name))
	if err != nil {
		return nil, err
	}
	settings := &job.Simulation
	switch {
	case job.Numeric.Fair:
		return nil, errors.New("fair schedulers are not sampled: want method states")
	case settings.MaxPath < 0:
		return nil, fmt.Errorf("maximum path length %d: want a positive number", settings.MaxPath)
	case settings.Workers < 0:
		return nil, fmt.Errorf("%d workers: want a positive number", settings.Workers)
	}
	return &sampling{
		splitting: splittingVariant(job.Method),
		progress:  job.Progress,
		opt: simulate.Options{
			Params: stats.Params{
				Method: method, Width: settings.Width, Confidence: settings.Confidence, Samples: settings.Samples, Approx: settings.Approximation,
				MaxReward: settings.MaxReward, Valid: settings.Valid, ZeroVarianceSamples: settings.MinSamples, MaxSamples: settings.MaxSamples,
			},
			MaxPath: settings.MaxPath, Seed: settings.Seed, Workers: settings.Workers, Split: settings.Split, Quantiles: settings.Quantiles,
		},
		digest: sync.OnceValue(func() []byte { return digest(job) }),
	}, nil
}

// digest returns a hash of the model of a job. It identifies the model in the directory of --disk, and in the names of the streams of random numbers of
// shards.
func digest(job *runner.Job) []byte {
	hash := sha256.New()
	hash.Write(job.Model)
	if job.States != nil {
		for _, file := range job.States.Files() {
			fmt.Fprintf(hash, "%s %d\n", file.Name, len(file.Data))
			hash.Write(file.Data)
		}
	}
	return hash.Sum(nil)
}

// fractions implements method.
func (sampling *sampling) fractions() bool { return false }

// imported implements method.
func (sampling *sampling) imported(space *explicit.Space) instance {
	return &sampled{sampling: sampling, model: space, warnings: space.Warnings()}
}

// instance implements method.
func (sampling *sampling) instance(_ context.Context, compiled *compile.Model) (instance, error) {
	return &sampled{sampling: sampling, model: compiled}, compiled.Samples()
}

// sampled is an instance that is checked by sampling paths.
type sampled struct {
	*sampling
	model    simulate.Paths
	warnings []string // warnings about the files from which the states were read
}

// check implements instance. It estimates the value of a property by sampling paths.
func (sampled *sampled) check(ctx context.Context, property *checkedProperty) result.Verdict {
	options := sampled.opt
	if sampled.progress != nil {
		options.Progress = func(progress runner.Progress) {
			progress.Property = property.Text
			sampled.progress(progress)
		}
	}
	options.Steps = sampled.steps
	if sampled.splitting != "" {
		return sampled.checkBySplitting(ctx, property, options)
	}
	if options.Split != nil { // a shard: its random numbers depend on the model, the property and the constants only
		options.Stream = fmt.Sprintf("%.12x: %s with %v", sampled.digest(), property.Text, property.constants)
	}
	verdict := simulate.Check(ctx, sampled.model, &property.Instance, options).Verdict
	verdict.Warnings = append(slices.Clip(verdict.Warnings), sampled.warnings...)
	return verdict
}

// splittingVariant returns the variant of importance splitting that a method names, or "" if the method is not importance splitting.
func splittingVariant(method runner.Method) splitting.Variant {
	switch method {
	case runner.Splitting:
		return splitting.FixedEffort
	case runner.Restart:
		return splitting.Restart
	default:
		return ""
	}
}

// checkBySplitting estimates the value of a property by importance splitting. It is an error if the states come from files, because splitting needs the
// text of the model.
func (sampled *sampled) checkBySplitting(ctx context.Context, property *checkedProperty, options simulate.Options) result.Verdict {
	model, ok := sampled.model.(*compile.Model)
	if !ok {
		message := "importance splitting needs the text of a model, found states that were read from files"
		failed := &result.Failure{Class: result.Unsupported, File: property.File, Pos: property.Pos, Message: message}
		return result.Verdict{Method: string(sampled.splitting), Err: failed}
	}
	return splitting.Check(ctx, model, &property.Instance, sampled.splitting, options)
}
