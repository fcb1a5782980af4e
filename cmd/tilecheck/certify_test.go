package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"tilecheck/certify"
	"tilecheck/certify/certificate"
	"tilecheck/native/load"
	"tilecheck/native/prove"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/files"
	"tilecheck/runner"
)

// writeCertificate writes what certificateOf makes, with 10 steps.
func writeCertificate(t *testing.T, file, model string, goal func(state []int32) bool) {
	t.Helper()
	if err := os.WriteFile(file, []byte(certificateOf(t, model, 0, 10, goal)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// certificateOf is a certificate about a model: of the probability that some states are
// reached after so many steps, which the checker makes.
func certificateOf(t *testing.T, model string, from, to int, goal func(state []int32) bool) string {
	t.Helper()
	m, _, err := load.Model(t.Context(), runner.Job{File: "m.prism", Model: []byte(model)})
	if err != nil {
		t.Fatal(err)
	}
	space, err := explicit.Build(t.Context(), m, explicit.Options{Exact: true})
	if err != nil {
		t.Fatal(err)
	}
	f := &certificate.File{
		Sets:    []certificate.Set{{Kind: certificate.All}, {Kind: certificate.Init}, {Kind: certificate.Atomic, Text: "(d=6)"}},
		Vectors: []certificate.Vector{{Kind: certificate.Steps, Right: 2, From: from, To: to}},
		Claims:  []certificate.Claim{{Property: "P=? [ F<=10 d=6 ]", OverSet: 1}},
	}
	if f.Model, err = prove.Model(space); err != nil {
		t.Fatal(err)
	}
	f.Sets[2].Bits = certificate.NewBits(f.Model.NumStates())
	for k, s := range space.Order() {
		if goal(space.State(nil, int(s))) {
			f.Sets[2].Bits.Add(k)
		}
	}
	w, err := files.NewWriter(space, files.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := certificate.Write(t.Context(), &out, w.UMBMembers, f); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestCertify(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	six := func(state []int32) bool { return state[1] == 6 }
	writeCertificate(t, "die.cert", die, six)
	writeCertificate(t, "other.cert", strings.Replace(die, "0.5:(s'=1) + 0.5:(s'=2)", "0.4:(s'=1) + 0.6:(s'=2)", 1), six)
	writeCertificate(t, "five.cert", die, func(state []int32) bool { return state[1] == 5 })
	text, err := os.ReadFile("die.cert")
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"cut.cert": string(text[:len(text)/2]), "die.prism": die, "empty.cert": "",
		"die.props":   "const int K;\nlabel \"end\" = s=7;\nP=? [ F<=K d=6 ];\nR{\"flips\"}=? [ F \"end\" ];\nP>=1 [ F \"end\" ];\nfilter(max, P=? [ !\"end\" U s=6 ], d=0);\nP=? [ G F d=6 ];\nR{\"flips\"}=? [ F (\"end\" & (X d>0)) ];\nfilter(sum, P=? [ F d=6 ], s=7);\nfilter(argmax, P=? [ F d=6 ], s=0);\n",
		"other.prism": strings.Replace(die, "s<7 : 1", "s<6 : 1", 1),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if code, out, errs := tilecheck(t.Context(), "check", "die.prism", "die.props", "--const", "K=3", "--certificate", "proven.cert"); code != 0 {
		t.Fatal(code, out, errs)
	}
	for _, tt := range []struct {
		args string
		code int
		want string
	}{
		{"die.cert", 0, "85/512"},
		{"die.cert --model die.prism", 0, "P=? [ true U<=10 ((d=6)) ]"},
		{"other.cert", 0, "proven"},
		{"other.cert die.cert --model die.prism", 2, "not proven"},
		{"other.cert --model die.prism", 2, "the transitions differ"},
		{"cut.cert", 1, "cut.cert: "},
		{"die.cert empty.cert", 1, "85/512"},
		{"die.prism", 80, "die.prism is a model and no certificate, want --model die.prism"},
		{"nowhere.cert", 1, "nowhere.cert"},
		{"die.cert --const N=3", 80, "--model"},
		{"five.cert", 0, "proven"},
		{"five.cert --model die.prism", 2, "the states of (d=6) differ"},
		{"proven.cert --model die.prism --props die.props --const K=3", 0, "proven"},
		{"proven.cert --model die.prism --props die.props --const K=2", 2, "not proven"},
		{"proven.cert --model other.prism --props die.props --const K=3", 2, "it is not about other.prism"},
		{"die.cert --max-states 3", 1, "wanted at most 3 states"},
	} {
		code, out, errs := tilecheck(context.Background(), append([]string{"certify"}, strings.Fields(tt.args)...)...)
		if code != tt.code || !strings.Contains(out+errs, tt.want) {
			t.Errorf("certify %s: exit code %d, want %d and %q:\n%s%s", tt.args, code, tt.code, tt.want, out, errs)
		}
	}
}

// endingContext is a context that ends when it is asked for its error once more than remaining allows.
type endingContext struct {
	context.Context
	remaining atomic.Int64
}

func (ctx *endingContext) Err() error {
	if ctx.remaining.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// TestCertifyInterrupted checks that an interrupt at any time is an error of certify --model, and not only a reason why a claim is not proven.
func TestCertifyInterrupted(t *testing.T) {
	text := certificateOf(t, die, 0, 10, func(state []int32) bool { return state[1] == 6 })
	file, err := certificate.Read(t.Context(), strings.NewReader(text), certificate.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	file.Symmetry = &certificate.Symmetry{}
	for allowed := int64(0); ; allowed++ {
		ctx := &endingContext{Context: t.Context()}
		ctx.remaining.Store(allowed)
		results, err := (&certifyCmd{}).confirmModel(ctx, file, []certify.Result{{Property: file.Claims[0].Property}}, runner.Job{File: "m.prism", Model: []byte(die)})
		if err == nil && results[0].Err == nil {
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("interrupted after %d questions: found the errors %v and %v, want that of the context", allowed, err, results[0].Err)
		}
	}
}
