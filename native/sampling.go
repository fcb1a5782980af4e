package native

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"

	"tilecheck/native/simulate"
	"tilecheck/native/space/explicit"
	"tilecheck/prism/compile"
	"tilecheck/result"
	"tilecheck/runner"
	"tilecheck/stats"
)

// sampling is the method that samples paths.
type sampling struct {
	opt      simulate.Options
	progress func(runner.Progress)
	digest   func() []byte // of the model's text, or of its files
}

// newSampling returns the method for a job. It refuses options that sampling does not support.
func newSampling(job *runner.Job) (*sampling, error) {
	name := job.Method
	if name == runner.Sim {
		name = ""
	}
	m, err := stats.ParseMethod(string(name))
	if err != nil {
		return nil, err
	}
	sim := &job.Simulation
	switch {
	case job.Numeric.Fair:
		return nil, errors.New("fair schedulers are not sampled: want the method that builds all states")
	case sim.MaxPath < 0:
		return nil, fmt.Errorf("maximum path length %d: want a positive number", sim.MaxPath)
	case sim.Workers < 0:
		return nil, fmt.Errorf("%d workers: want a positive number", sim.Workers)
	}
	return &sampling{
		progress: job.Progress,
		opt: simulate.Options{
			Params: stats.Params{
				Method: m, Width: sim.Width, Confidence: sim.Confidence, Samples: sim.Samples, Approx: sim.Approximation,
				MaxReward: sim.MaxReward, Valid: sim.Valid, ZeroVarianceSamples: sim.MinSamples, MaxSamples: sim.MaxSamples,
			},
			MaxPath: sim.MaxPath, Seed: sim.Seed, Workers: sim.Workers, Split: sim.Split,
		},
		digest: sync.OnceValue(func() []byte { return digest(job) }),
	}, nil
}

// digest returns the hash of the model of a job, from which the random numbers of shards are derived.
func digest(job *runner.Job) []byte {
	h := sha256.New()
	h.Write(job.Model)
	if job.States != nil {
		for _, f := range job.States.Files() {
			fmt.Fprintf(h, "%s %d\n", f.Name, len(f.Data))
			h.Write(f.Data)
		}
	}
	return h.Sum(nil)
}

// fractions implements method.
func (s *sampling) fractions() bool { return false }

// imported implements method.
func (s *sampling) imported(space *explicit.Space) instance {
	return &sampled{sampling: s, model: space, warnings: space.Warnings()}
}

// instance implements method.
func (s *sampling) instance(_ context.Context, m *compile.Model) (instance, error) {
	return &sampled{sampling: s, model: m}, m.Samples()
}

// sampled is an instance of which paths are sampled.
type sampled struct {
	*sampling
	model    simulate.Paths
	warnings []string // about the files of the states
}

// check implements instance.
func (s *sampled) check(ctx context.Context, p *property) result.Verdict {
	opt := s.opt
	if s.progress != nil {
		opt.Progress = func(sp runner.Progress) {
			sp.Property = p.Text
			s.progress(sp)
		}
	}
	if opt.Split != nil {
		opt.Stream = fmt.Sprintf("%.12x: %s with %v", s.digest(), p.Text, p.constants)
	}
	v := simulate.Check(ctx, s.model, &p.Instance, opt).Verdict
	v.Warnings = append(slices.Clip(v.Warnings), s.warnings...)
	return v
}
