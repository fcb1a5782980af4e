package files_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"testing"

	"tilecheck/native/space/explicit"
	"tilecheck/native/space/files"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// build explores a model; constants are as for -const.
func build(ctx context.Context, file string, consts []string, opts explicit.Options) (*explicit.Space, error) {
	src, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return buildText(ctx, file, src, consts, opts)
}

func buildText(ctx context.Context, file string, src []byte, consts []string, opts explicit.Options) (*explicit.Space, error) {
	tree, err := syntax.ParseModel(file, src)
	if err != nil {
		return nil, err
	}
	model, err := sema.CheckModel(tree)
	if err != nil {
		return nil, err
	}
	defs, err := sema.ParseConsts(consts)
	if err != nil {
		return nil, err
	}
	x, err := model.Experiment(nil, nil, defs)
	if err != nil {
		return nil, err
	}
	for v := range x.Models() {
		prog, err := model.Instantiate(v.Map())
		if err != nil {
			return nil, err
		}
		m, err := compile.Compile(prog, compile.Options{})
		if err != nil {
			return nil, err
		}
		return explicit.Build(ctx, m, opts)
	}
	return nil, fmt.Errorf("no valuation")
}

// writeAll writes PRISM's files as -exportmodel out.all names them, and the others.
func writeAll(t *testing.T, s *explicit.Space, opts files.Options) map[string]string {
	t.Helper()
	w, err := files.NewWriter(s, opts)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	write := func(name string, f func(context.Context, io.Writer) error) {
		var b bytes.Buffer
		if err := f(t.Context(), &b); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out[name] = b.String()
	}
	write("out.tra", w.Transitions)
	write("out.sta", w.States)
	write("out.lab", w.Labels)
	write("out.dot", w.DOT)
	if typ := s.Program().Type; typ != syntax.IDTMC && typ != syntax.IMDP && typ != syntax.LTS { // DRN has none
		write("out.drn", w.DRN)
	}
	if !opts.NoHeaders && opts.Format == files.Plain && !opts.Symbolic {
		write("out.pexp", w.Combined)
	}
	n := len(s.Program().Rewards)
	for i := range n {
		number := ""
		if n > 1 {
			number = fmt.Sprint(i + 1)
		}
		write("out"+number+".srew", func(ctx context.Context, out io.Writer) error { return w.StateRewards(ctx, out, i) })
		write("out"+number+".trew", func(ctx context.Context, out io.Writer) error { return w.TransitionRewards(ctx, out, i) })
	}
	return out
}
