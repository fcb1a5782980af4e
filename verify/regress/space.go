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

// SpaceBuilder is an engine that builds the state space of a plan. Tests with imports and exports need it.
type SpaceBuilder interface {
	Build(ctx context.Context, plan *runner.Plan, v sema.Valuation) (*explicit.Space, error)
}

// builder returns the engine as a SpaceBuilder. It returns false if the engine is not one.
func (run *testRun) builder() (SpaceBuilder, bool) { return runner.As[SpaceBuilder](run.engine.Engine) }

// unsupported returns a failure of class Unsupported.
func unsupported(format string, args ...any) *result.Failure {
	return &result.Failure{Class: result.Unsupported, Message: fmt.Sprintf(format, args...)}
}

// readImports reads the state space in the files that the import switches name. It returns a failure of class Unsupported for imports that tests do not
// support.
func (test *loadedTest) readImports(ctx context.Context) (*explicit.Space, error) {
	sources, isCombined, err := test.readImportFiles()
	if err != nil {
		return nil, err
	}
	imports := test.switches.Imports
	if modelType := unsupportedType(sources.Transitions.Text); modelType != "" {
		return nil, unsupported("imports of %ss (%s)", modelType, imports[0][0])
	}
	if sources.Transitions.Name == "" {
		return nil, unsupported("imports without transitions (%s)", imports[0][0])
	}
	options := files.ReadOptions{Type: test.switches.Type, Exact: test.switches.Exact, NoFixDeadlocks: test.switches.NoFixDeadlocks}
	if !isCombined {
		return files.Read(ctx, sources, options)
	}
	if len(imports) > 1 {
		return nil, unsupported("imports of .pexp files with others (%s)", imports[0][0])
	}
	return files.ReadCombinedFile(ctx, sources.Transitions, options)
}

// readImportFiles reads the files of all import switches, and stores their hash in importsHash. isCombined is true if the transitions are in a
// .pexp file, which also has the states.
func (test *loadedTest) readImportFiles() (sources files.Sources, isCombined bool, err error) {
	hash := sha256.New()
	for _, words := range test.switches.Imports {
		imported, err := test.importSources(words)
		if err != nil {
			return sources, false, err
		}
		for _, file := range imported {
			source, err := test.readImportFile(file.name, file.ext, hash)
			if err != nil {
				return sources, false, err
			}
			addSource(&sources, file.ext, source)
			if file.ext == "tra" || file.ext == "pexp" {
				isCombined = file.ext == "pexp"
			}
		}
	}
	test.importsHash = fmt.Sprintf("%x", hash.Sum(nil))
	return sources, isCombined, nil
}

// readImportFile reads one imported file and decompresses it if necessary. It adds the file to the hash.
func (test *loadedTest) readImportFile(name, extension string, hash io.Writer) (files.Source, error) {
	text, err := test.read(name)
	if err != nil {
		return files.Source{}, err
	}
	fmt.Fprintf(hash, "%s %d\n", extension, len(text))
	_, _ = hash.Write(text) // a hash never fails
	isCompressed := gzipExtension(name) != ""
	if isCompressed {
		if text, err = files.Gunzip(text, test.maxTextSize()); err != nil {
			return files.Source{}, fmt.Errorf("%s: %w", test.options.name(name), err)
		}
	}
	return files.Source{Name: test.options.name(name), Text: text}, nil
}

// addSource stores a file of a state space in the field of sources for its extension.
func addSource(sources *files.Sources, extension string, source files.Source) {
	switch extension {
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

// gzipExtension returns the extension ".gz" or ".gzip" of a file name, or "" if it has neither.
func gzipExtension(name string) string {
	if extension := path.Ext(name); extension == ".gz" || extension == ".gzip" {
		return extension
	}
	return ""
}

// unsupportedType returns the model type in the first line of a transitions file if imports of this type are unsupported, and "" otherwise.
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

// importSources returns the files of one import switch. words are the switch and its argument.
func (test *loadedTest) importSources(words []string) ([]importSource, error) {
	target, _, _ := strings.Cut(words[1], ":")
	singleFileExtensions := map[string]string{ // by switch
		"importtrans": "tra", "importstates": "sta", "importlabels": "lab", "importstaterewards": "srew", "importtransrewards": "trew",
	}
	switchName := strings.TrimLeft(words[0], "-")
	if extension := path.Ext(target); slices.Contains([]string{".xz", ".umb", ".drn"}, extension) {
		return nil, unsupported("imports of %s files (%s)", extension, words[0])
	}
	file := path.Join(test.Dir, target)
	if extension, ok := singleFileExtensions[switchName]; ok {
		return []importSource{{file, extension}}, nil
	}
	if switchName != "importmodel" {
		return nil, unsupported("imports (%s)", words[0])
	}
	existing, err := importFiles(test.options.FS, file)
	if err != nil {
		return nil, err
	}
	var sources []importSource
	for _, name := range existing {
		uncompressed := strings.TrimSuffix(name, gzipExtension(name))
		sources = append(sources, importSource{name, strings.TrimPrefix(path.Ext(uncompressed), ".")})
	}
	return sources, nil
}

// buildSpace returns the state space that a run exports: the imported one, or the one that the engine builds from the model.
func (run *testRun) buildSpace(ctx context.Context) (*explicit.Space, error) {
	if run.space != nil {
		return run.space, nil
	}
	plan := run.plan
	if plan == nil {
		var err error
		if plan, err = runner.PlanModel(ctx, run.job); err != nil {
			return nil, err
		}
	}
	plan = plan.WithSettings(func(settings *runner.Settings) { settings.Numeric.Workers = run.workers })
	for valuation := range plan.Models() { // PRISM, too, exports only the first valuation
		builder, _ := run.builder() // tests for other engines ended as unsupported
		return builder.Build(ctx, plan, valuation)
	}
	return nil, fmt.Errorf("%s: no valuation of the constants", run.job.File)
}
