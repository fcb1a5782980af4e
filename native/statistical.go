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

// statistical is the method of sampling paths.
type statistical struct {
	opt      simulate.Options
	progress func(runner.Progress)
	digest   func() []byte // of the model's text, or of its files
}

func newStatistical(job *runner.Job) (*statistical, error) {
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
	return &statistical{
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

// digest is that of the model of a job.
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

func (s *statistical) fractions() bool { return false }

func (s *statistical) known(space *explicit.Space) instance {
	return &sampled{statistical: s, model: space, warnings: space.Warnings()}
}

func (s *statistical) instance(_ context.Context, m *compile.Model) (instance, error) {
	return &sampled{statistical: s, model: m}, m.Samples()
}

// sampled is an instance whose paths are sampled.
type sampled struct {
	*statistical
	model simulate.Paths
	// warnings are about the files of the states.
	warnings []string
}

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
