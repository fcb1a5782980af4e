package files

import (
	"context"
	"strconv"
	"sync"

	"tilecheck/native/space/explicit"
	"tilecheck/prism/sema"
	"tilecheck/runner"
)

// StateFiles holds the files of a state space and the space that was read from them. It is used as
// the States of a runner.Job, so that other engines can read the files themselves.
type StateFiles struct {
	sources   Sources
	extension string // of the transitions
	opts      ReadOptions

	mutex              sync.Mutex
	space              *explicit.Space
	spaceWithFractions map[explicit.Fractions]*explicit.Space // if the first one has no fractions
}

var _ explicit.SpaceSource = (*StateFiles)(nil)

// Open reads the files of a state space. ext is "tra", or the extension of a complete model in src.Transitions:
// "drn", "pexp" or "umb". The errors are the same as for Read.
func Open(ctx context.Context, sources Sources, ext string, opts ReadOptions) (*StateFiles, error) {
	stateFiles := &StateFiles{sources: sources, extension: ext, opts: opts, spaceWithFractions: map[explicit.Fractions]*explicit.Space{}}
	var err error
	stateFiles.space, err = stateFiles.readSpace(ctx, opts)
	return stateFiles, err
}

// readSpace reads the files with the given options. The format depends on the extension of the first file.
func (files *StateFiles) readSpace(ctx context.Context, opts ReadOptions) (*explicit.Space, error) {
	switch files.extension {
	case "drn":
		return ReadDRN(ctx, files.sources.Transitions, opts)
	case "pexp":
		return ReadCombinedFile(ctx, files.sources.Transitions, opts)
	case "umb":
		return ReadUMB(ctx, files.sources.Transitions, opts)
	}
	return Read(ctx, files.sources, opts)
}

// Declares implements runner.StateSpace.
func (files *StateFiles) Declares() *sema.Model { return files.space.Declares() }

// Space returns the state space, and implements explicit.SpaceSource. If fractions are wanted, and the first space has none, it reads the
// files again and keeps the result. So computations without fractions need less memory.
func (files *StateFiles) Space(ctx context.Context, fractions explicit.Fractions) (*explicit.Space, error) {
	if fractions == explicit.NoFractions || files.opts.Exact {
		return files.space, nil
	}
	files.mutex.Lock()
	defer files.mutex.Unlock()
	if space := files.spaceWithFractions[fractions]; space != nil {
		return space, nil
	}
	opts := files.opts
	opts.Exact, opts.Normalise = true, fractions == explicit.Normalised
	space, err := files.readSpace(ctx, opts)
	if err == nil {
		files.spaceWithFractions[fractions] = space
	}
	return space, err
}

// Files returns the files under the names model.sta, model.lab and so on, and implements runner.StateSpace. The first file has the
// transitions.
func (stateFiles *StateFiles) Files() []runner.File {
	files := []runner.File{{Name: "model." + stateFiles.extension, Data: stateFiles.sources.Transitions.Text}}
	optional := []struct {
		name   string
		source *Source
	}{
		{"model.sta", stateFiles.sources.States},
		{"model.lab", stateFiles.sources.Labels},
		{"model.obs", stateFiles.sources.Observations},
	}
	for _, file := range optional {
		if file.source != nil {
			files = append(files, runner.File{Name: file.name, Data: file.source.Text})
		}
	}
	files = append(files, rewardFiles("srew", stateFiles.sources.StateRewards)...)
	return append(files, rewardFiles("trew", stateFiles.sources.TransitionRewards)...)
}

// rewardFiles returns a file for each of the sources, which have rewards of one kind. If there are several, their names have numbers.
func rewardFiles(extension string, sources []Source) []runner.File {
	var files []runner.File
	for index, source := range sources {
		number := ""
		if len(sources) > 1 {
			number = strconv.Itoa(index + 1)
		}
		files = append(files, runner.File{Name: "model" + number + "." + extension, Data: source.Text})
	}
	return files
}
