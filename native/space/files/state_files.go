package files

import (
	"context"
	"strconv"
	"sync"

	"tilecheck/native/space/explicit"
	"tilecheck/prism/sema"
	"tilecheck/runner"
)

// StateFiles holds the files of a state space and the space that was read from them. It is the
// States of a runner.Job: engines that read files themselves get the files.
type StateFiles struct {
	src  Sources
	ext  string // of the transitions
	opts ReadOptions

	mu     sync.Mutex
	first  *explicit.Space
	second *explicit.Space // with fractions, read on demand if first has none
}

var _ explicit.SpaceSource = (*StateFiles)(nil)

// Open reads files. ext is "tra", or the extension of a single file, Transitions, that contains
// everything: "drn", "pexp" or "umb". Errors are those of Read.
func Open(ctx context.Context, src Sources, ext string, opts ReadOptions) (*StateFiles, error) {
	g := &StateFiles{src: src, ext: ext, opts: opts}
	var err error
	g.first, err = g.read(ctx, opts)
	return g, err
}

func (g *StateFiles) read(ctx context.Context, opts ReadOptions) (*explicit.Space, error) {
	switch g.ext {
	case "drn":
		return ReadDRN(ctx, g.src.Transitions, opts)
	case "pexp":
		return ReadCombined(ctx, g.src.Transitions, opts)
	case "umb":
		return ReadUMB(ctx, g.src.Transitions, opts)
	}
	return Read(ctx, g.src, opts)
}

// Declares implements runner.StateSpace.
func (g *StateFiles) Declares() *sema.Model { return g.first.Declares() }

// Space implements explicit.SpaceSource. It reads the files again for the exact space, so that
// rounding never affects it.
func (g *StateFiles) Space(ctx context.Context, exact bool) (*explicit.Space, error) {
	if !exact || g.opts.Exact {
		return g.first, nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	var err error
	if g.second == nil {
		opts := g.opts
		opts.Exact = true
		g.second, err = g.read(ctx, opts)
	}
	return g.second, err
}

// Files implements runner.StateSpace. The first file has the transitions.
func (g *StateFiles) Files() []runner.File {
	out := []runner.File{{Name: "model." + g.ext, Data: g.src.Transitions.Text}}
	add := func(name string, src *Source) {
		if src != nil {
			out = append(out, runner.File{Name: name, Data: src.Text})
		}
	}
	add("model.sta", g.src.States)
	add("model.lab", g.src.Labels)
	add("model.obs", g.src.Observations)
	several := func(ext string, sources []Source) {
		for i := range sources {
			number := ""
			if len(sources) > 1 {
				number = strconv.Itoa(i + 1)
			}
			add("model"+number+"."+ext, &sources[i])
		}
	}
	several("srew", g.src.StateRewards)
	several("trew", g.src.TransitionRewards)
	return out
}
