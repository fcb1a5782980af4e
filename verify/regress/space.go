package regress

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
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

func (u *unit) builder() (SpaceBuilder, bool) { return runner.As[SpaceBuilder](u.entrant.Engine) }

// refusal returns a failure that names an unsupported switch or property.
func refusal(format string, args ...any) *result.Failure {
	return &result.Failure{Class: result.Unsupported, Message: fmt.Sprintf(format, args...)}
}

// imported reads the imported state space. The error is a refusal or an error of the files.
func (s *subject) imported(ctx context.Context) (*explicit.Space, error) {
	var src files.Sources
	combined := false
	sum := sha256.New()
	add := func(name, ext string) error {
		text, err := s.read(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(sum, "%s %d\n", ext, len(text))
		sum.Write(text)
		if zipped(name) != "" {
			if text, err = files.Gunzip(text, s.mostText()); err != nil {
				return fmt.Errorf("%s: %w", s.opt.name(name), err)
			}
		}
		f := files.Source{Name: s.opt.name(name), Text: text}
		switch ext {
		case "tra", "pexp":
			src.Transitions = f
			combined = ext == "pexp"
		case "sta":
			src.States = &f
		case "lab":
			src.Labels = &f
		case "obs":
			src.Observations = &f
		case "srew":
			src.StateRewards = append(src.StateRewards, f)
		case "trew":
			src.TransitionRewards = append(src.TransitionRewards, f)
		}
		return nil
	}
	for _, words := range s.switches.Imports {
		found, err := s.importSources(words)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			if err := add(f.name, f.ext); err != nil {
				return nil, err
			}
		}
	}
	s.imports = fmt.Sprintf("%x", sum.Sum(nil))
	if typ := unsupportedType(src.Transitions.Text); typ != "" {
		return nil, refusal("imports of %ss (%s)", typ, s.switches.Imports[0][0])
	}
	if src.Transitions.Name == "" {
		return nil, refusal("imports without transitions (%s)", s.switches.Imports[0][0])
	}
	opts := files.ReadOptions{Type: s.switches.Type, Exact: s.switches.Exact, NoFixDeadlocks: s.switches.NoFixDeadlocks}
	if combined {
		if len(s.switches.Imports) > 1 {
			return nil, refusal("imports of .pexp files with others (%s)", s.switches.Imports[0][0])
		}
		return files.ReadCombined(ctx, src.Transitions, opts)
	}
	return files.Read(ctx, src, opts)
}

// zipped returns the extension of a file that gzip compressed, and "" for other files.
func zipped(name string) string {
	if ext := path.Ext(name); ext == ".gz" || ext == ".gzip" {
		return ext
	}
	return ""
}

// unsupportedType returns the model type in the first line of a transitions file if it cannot be read; "" otherwise.
func unsupportedType(tra []byte) string {
	line, _, _ := bytes.Cut(tra, []byte("\n"))
	m := headerType.FindSubmatch(line)
	if m == nil || slices.Contains([]string{"DTMC", "MDP", "CTMC", "LTS", "IDTMC", "IMDP", "POMDP"}, string(m[1])) {
		return ""
	}
	return string(m[1])
}

var headerType = regexp.MustCompile(`^#.*\(([A-Z]+)\)`)

type importSource struct{ name, ext string }

// importSources lists the files of an import.
func (s *subject) importSources(words []string) ([]importSource, error) {
	target, _, _ := strings.Cut(words[1], ":")
	single := map[string]string{
		"importtrans": "tra", "importstates": "sta", "importlabels": "lab", "importstaterewards": "srew", "importtransrewards": "trew",
	}
	name := strings.TrimLeft(words[0], "-")
	if ext := path.Ext(target); slices.Contains([]string{".xz", ".umb", ".drn"}, ext) {
		return nil, refusal("imports of %s files (%s)", ext, words[0])
	}
	file := path.Join(s.Dir, target)
	if ext, ok := single[name]; ok {
		return []importSource{{file, ext}}, nil
	}
	if name != "importmodel" {
		return nil, refusal("imports (%s)", words[0])
	}
	found, err := importFiles(s.opt.FS, file)
	if err != nil {
		return nil, err
	}
	var out []importSource
	for _, f := range found {
		out = append(out, importSource{f, strings.TrimPrefix(path.Ext(strings.TrimSuffix(f, zipped(f))), ".")})
	}
	return out, nil
}

// buildSpace returns the imported state space, or builds the states of the model.
func (u *unit) buildSpace(ctx context.Context) (*explicit.Space, error) {
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
	plan = plan.WithSettings(func(s *runner.Settings) { s.Numeric.Workers = u.workers })
	for v := range plan.Models() { // PRISM exports the first
		builder, _ := u.builder() // others are refused
		return builder.Build(ctx, plan, v)
	}
	return nil, fmt.Errorf("%s: no valuation of the constants", u.job.File)
}
