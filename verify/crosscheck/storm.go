package crosscheck

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"tilecheck/native/explicit"
	"tilecheck/native/explicit/files"
	"tilecheck/parse"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// StormModel has Storm write its states with their valuations.
func StormModel(cmd runner.Commander) Export {
	return func(ctx context.Context, job *runner.Job, constants []result.Constant) (*explicit.Space, error) {
		tree, err := syntax.ParseModel(job.File, job.Model)
		if err != nil {
			return nil, err
		}
		var text bytes.Buffer
		if err := syntax.Fprint(&text, tree, syntax.Options{Dialect: syntax.Storm}); err != nil {
			return nil, err
		}
		drn := exported + ".drn"
		args := []string{
			"--prism", exported + ".prism", "--exportbuild", drn, "--digits", "17",
			"--buildstateval", "--buildchoicelab", "--build-all-labels",
		}
		if text := constantsText(constants); text != "" {
			args = append(args, "--constants", text)
		}
		if job.NoFixDeadlocks {
			args = append(args, "--nofixdl")
		}
		written := *job
		written.Model = text.Bytes()
		got, err := collect(ctx, cmd, parse.NewStorm(parse.Options{}), &written, args, drn)
		if err != nil {
			return nil, err
		}
		space, err := files.ReadDRN(ctx, *got[drn], files.ReadOptions{})
		if err != nil {
			return nil, err
		}
		return withValuations(space, got[drn])
	}
}

// withValuations gives the states of a DRN file the values that its comments
// have: "//[x=1	& !b]" behind the line of each state.
func withValuations(space *explicit.Space, src *files.Source) (*explicit.Space, error) {
	n := space.Model().NumStates()
	v := &valuations{of: make([]map[string]int32, n), types: make(map[string]sema.Type)}
	state := -1
	for line := range strings.Lines(string(src.Text)) {
		line = strings.TrimRight(line, "\r\n")
		switch number, isState := strings.CutPrefix(line, "state "); {
		case isState:
			state, _ = strconv.Atoi(strings.Fields(number + " x")[0]) // read before
		case strings.HasPrefix(line, "//[") && strings.HasSuffix(line, "]") && state >= 0 && state < n:
			if err := v.read(state, line[3:len(line)-1]); err != nil {
				return nil, fmt.Errorf("%s: %w", src.Name, err)
			}
		}
	}
	vars, values, err := v.table()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", src.Name, err)
	}
	model := *space.Model()
	model.Rewards = nil
	return explicit.Import(&explicit.Imported{
		File: src.Name, Type: space.Program().Type, Vars: vars, Valuations: values, Actions: space.Program().Actions, Model: &model,
	})
}

// valuations are the values of variables by state, as comments have them.
type valuations struct {
	of    []map[string]int32
	names []string // in order of appearance
	types map[string]sema.Type
}

func (v *valuations) read(state int, text string) error {
	values := make(map[string]int32)
	for part := range strings.SplitSeq(text, "&") {
		part = strings.TrimSpace(part)
		name, value, isInt := strings.Cut(part, "=")
		typ := sema.Bool
		switch {
		case part == "":
			continue
		case isInt:
			x, err := strconv.ParseInt(strings.TrimSpace(value), 10, 32)
			if err != nil {
				return fmt.Errorf("found %q in the valuation of state %d, want a variable with a value", part, state)
			}
			name, typ = strings.TrimSpace(name), sema.Int
			values[name] = int32(x)
		case part[0] == '!':
			name = part[1:]
			values[name] = 0
		default:
			values[name] = 1
		}
		if old, known := v.types[name]; known && old != typ {
			return fmt.Errorf("found variable %s with truth values and numbers", name)
		} else if !known {
			v.names = append(v.names, name)
		}
		v.types[name] = typ
	}
	v.of[state] = values
	return nil
}

// table returns the values state by state.
func (v *valuations) table() ([]sema.Variable, []int32, error) {
	var vars []sema.Variable
	for _, name := range v.names {
		if !syntax.IsIdent(name) {
			return nil, nil, fmt.Errorf("found %q in a valuation, want the name of a variable", name)
		}
		vars = append(vars, sema.Variable{Name: name, Type: v.types[name], Low: math.MaxInt32, High: math.MinInt32})
	}
	var values []int32
	for i, of := range v.of {
		for k := range vars {
			x, ok := of[vars[k].Name]
			if !ok {
				return nil, nil, fmt.Errorf("state %d has no value of %s", i, vars[k].Name)
			}
			vars[k].Low, vars[k].High = min(vars[k].Low, x), max(vars[k].High, x)
			values = append(values, x)
		}
	}
	return slices.Clip(vars), values, nil
}
