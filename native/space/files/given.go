package files

import (
	"context"
	"strconv"
	"sync"

	"tilecheck/native/space/explicit"
	"tilecheck/prism/sema"
	"tilecheck/runner"
)

// Given are files of states with what was read from them: the States of a
// runner.Job. Engines that read files for themselves get the files.
type Given struct {
	src  Sources
	ext  string // of the transitions
	opts ReadOptions

	mu    sync.Mutex
	first *explicit.Space
	exact map[explicit.Fractions]*explicit.Space // if the first one has no fractions
}

var _ explicit.Known = (*Given)(nil)

// Open reads files. The extension is "tra", or that of a file that has all in
// one, the Transitions: "drn", "pexp" or "umb". Errors are those of Read.
func Open(ctx context.Context, src Sources, ext string, opts ReadOptions) (*Given, error) {
	g := &Given{src: src, ext: ext, opts: opts, exact: map[explicit.Fractions]*explicit.Space{}}
	var err error
	g.first, err = g.read(ctx, opts)
	return g, err
}

func (g *Given) read(ctx context.Context, opts ReadOptions) (*explicit.Space, error) {
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
func (g *Given) Declares() *sema.Model { return g.first.Declares() }

// Space implements explicit.Known. Fractions are read on their own, so that they
// are not what the other way computes with.
func (g *Given) Space(ctx context.Context, f explicit.Fractions) (*explicit.Space, error) {
	if f == explicit.NoFractions || g.opts.Exact {
		return g.first, nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if s := g.exact[f]; s != nil {
		return s, nil
	}
	opts := g.opts
	opts.Exact, opts.Normalise = true, f == explicit.Normalised
	s, err := g.read(ctx, opts)
	if err == nil {
		g.exact[f] = s
	}
	return s, err
}

// Files implements runner.StateSpace. The transitions are first.
func (g *Given) Files() []runner.File {
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
