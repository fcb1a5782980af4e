package regress

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"

	"tilecheck/native/space/explicit"
	"tilecheck/native/space/files"
	"tilecheck/prism/sema"
	"tilecheck/result"
	"tilecheck/runner"
)

// SpaceBuilder is an engine that builds states as this program has them, so that imports and exports can be compared
// with files.
type SpaceBuilder interface {
	Build(ctx context.Context, plan *runner.Plan, v sema.Valuation) (*explicit.Space, error)
}

// builder returns the engine as a SpaceBuilder; false if it is not one.
func (u *testRun) builder() (SpaceBuilder, bool) { return runner.As[SpaceBuilder](u.engine.Engine) }

// unsupported returns a failure of class Unsupported. The message names the switch or property that is not supported.
func unsupported(format string, args ...any) *result.Failure {
	return &result.Failure{Class: result.Unsupported, Message: fmt.Sprintf(format, args...)}
}

// readImports reads the state space that the switches of the test import, and sets importsHash. The error is a failure of class Unsupported or
// an error of the files.
func (s *loadedTest) readImports(ctx context.Context) (*explicit.Space, error) {
	sources, combined, err := s.readImportFiles()
	if err != nil {
		return nil, err
	}
	imports := s.switches.Imports
	if modelType := unsupportedType(sources.Transitions.Text); modelType != "" {
		return nil, unsupported("imports of %ss (%s)", modelType, imports[0][0])
	}
	if sources.Transitions.Name == "" {
		return nil, unsupported("imports without transitions (%s)", imports[0][0])
	}
	options := files.ReadOptions{Type: s.switches.Type, Exact: s.switches.Exact, NoFixDeadlocks: s.switches.NoFixDeadlocks}
	if !combined {
		return files.Read(ctx, sources, options)
	}
	if len(imports) > 1 {
		return nil, unsupported("imports of .pexp files with others (%s)", imports[0][0])
	}
	return files.ReadCombined(ctx, sources.Transitions, options)
}

// readImportFiles reads the files of all imports, and sets importsHash to a hash of them. combined reports whether the transitions are in a .pexp
// file, which has the states, too.
func (s *loadedTest) readImportFiles() (sources files.Sources, combined bool, err error) {
	hash := sha256.New()
	for _, words := range s.switches.Imports {
		imported, err := s.importSources(words)
		if err != nil {
			return sources, false, err
		}
		for _, found := range imported {
			source, err := s.readImportFile(found.name, found.ext, hash)
			if err != nil {
				return sources, false, err
			}
			addSource(&sources, found.ext, source)
			if found.ext == "tra" || found.ext == "pexp" {
				combined = found.ext == "pexp"
			}
		}
	}
	s.importsHash = fmt.Sprintf("%x", hash.Sum(nil))
	return sources, combined, nil
}

// readImportFile reads one file of a state space, which may be compressed, and adds its extension and bytes to a hash.
func (s *loadedTest) readImportFile(name, ext string, hash io.Writer) (files.Source, error) {
	text, err := s.read(name)
	if err != nil {
		return files.Source{}, err
	}
	fmt.Fprintf(hash, "%s %d\n", ext, len(text))
	_, _ = hash.Write(text) // a hash never fails
	if gzipExtension(name) != "" {
		if text, err = files.Gunzip(text, s.maxTextSize()); err != nil {
			return files.Source{}, fmt.Errorf("%s: %w", s.opt.name(name), err)
		}
	}
	return files.Source{Name: s.opt.name(name), Text: text}, nil
}

// addSource adds a file of a state space to the sources, as its extension says.
func addSource(sources *files.Sources, ext string, source files.Source) {
	switch ext {
	case "tra", "pexp":
		sources.Transitions = source
	case "sta":
		sources.States = &source
	case "lab":
		sources.Labels = &source
	case "obs":
		sources.Observations = &source
	case "srew":
		sources.StateRewards = append(sources.StateRewards, source)
	case "trew":
		sources.TransitionRewards = append(sources.TransitionRewards, source)
	}
}

// gzipExtension returns ".gz" or ".gzip" if the name of a file ends so, otherwise "".
func gzipExtension(name string) string {
	if ext := path.Ext(name); ext == ".gz" || ext == ".gzip" {
		return ext
	}
	return ""
}

// unsupportedType returns the model type in the first line of a transitions file if this program cannot read such a model; otherwise "".
func unsupportedType(transitions []byte) string {
	line, _, _ := bytes.Cut(transitions, []byte("\n"))
	match := headerType.FindSubmatch(line)
	if match == nil || slices.Contains([]string{"DTMC", "MDP", "CTMC", "LTS", "IDTMC", "IMDP", "POMDP"}, string(match[1])) {
		return ""
	}
	return string(match[1])
}

var headerType = regexp.MustCompile(`^#.*\(([A-Z]+)\)`)

// importSource is a file of an import, with the extension that says what it has: tra, sta, lab, ...
type importSource struct{ name, ext string }

// importSources returns the files of one import switch.
func (s *loadedTest) importSources(words []string) ([]importSource, error) {
	target, _, _ := strings.Cut(words[1], ":")
	single := map[string]string{
		"importtrans": "tra", "importstates": "sta", "importlabels": "lab", "importstaterewards": "srew", "importtransrewards": "trew",
	}
	name := strings.TrimLeft(words[0], "-")
	if ext := path.Ext(target); slices.Contains([]string{".xz", ".umb", ".drn"}, ext) {
		return nil, unsupported("imports of %s files (%s)", ext, words[0])
	}
	file := path.Join(s.Dir, target)
	if ext, ok := single[name]; ok {
		return []importSource{{file, ext}}, nil
	}
	if name != "importmodel" {
		return nil, unsupported("imports (%s)", words[0])
	}
	found, err := importFiles(s.opt.FS, file)
	if err != nil {
		return nil, err
	}
	var out []importSource
	for _, f := range found {
		out = append(out, importSource{f, strings.TrimPrefix(path.Ext(strings.TrimSuffix(f, gzipExtension(f))), ".")})
	}
	return out, nil
}

// buildSpace returns the imported state space, or builds the states of the model. Of several valuations of the constants it uses the first, as
// PRISM does for exports.
func (u *testRun) buildSpace(ctx context.Context) (*explicit.Space, error) {
	if u.space != nil {
		return u.space, nil
	}
	plan := u.plan
	if plan == nil {
		var err error
		if plan, err = runner.PlanModel(ctx, u.job); err != nil {
			return nil, err
		}
	}
	plan = plan.WithSettings(func(settings *runner.Settings) { settings.Numeric.Workers = u.workers })
	for valuation := range plan.Models() {
		builder, _ := u.builder() // unsupportedSwitch excludes other engines
		return builder.Build(ctx, plan, valuation)
	}
	return nil, fmt.Errorf("%s: no valuation of the constants", u.job.File)
}
