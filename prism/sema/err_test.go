package sema

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tilecheck/prism/syntax"
)

var (
	markRE      = regexp.MustCompile(`[ ]*// ERROR(!?) "((?:[^"\\]|\\.)*)"`)
	lastTokenRE = regexp.MustCompile(`(?:[A-Za-z_][A-Za-z_0-9]*'?|[0-9]*\.?[0-9]+|[^ ])$`)
)

// mark is an expected error: // ERROR "regexp" stands behind the token where
// the error is, the last one of its line, and // ERROR! behind the one that
// PRISM reports.
type mark struct {
	line, col int32
	first     bool
	msg       *regexp.Regexp
}

func marks(t *testing.T, src string) []mark {
	t.Helper()
	var list []mark
	for i, line := range strings.Split(src, "\n") {
		at := markRE.FindStringSubmatchIndex(line)
		if at == nil {
			continue
		}
		token := lastTokenRE.FindStringIndex(line[:at[0]])
		if token == nil {
			t.Fatalf("line %d: no token before the mark", i+1)
		}
		msg := strings.ReplaceAll(line[at[4]:at[5]], `\"`, `"`)
		list = append(list, mark{int32(i + 1), int32(token[0] + 1), at[2] < at[3], regexp.MustCompile(msg)})
	}
	return list
}

func mustCheck(t testing.TB, src string) *Model {
	t.Helper()
	tree, err := syntax.ParseModel("m.prism", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	m, err := CheckModel(tree)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// checkFile checks a model, or properties over testdata/err/base.model.
func checkFile(t *testing.T, file string, src []byte) error {
	t.Helper()
	if filepath.Ext(file) == ".prism" {
		m, err := syntax.ParseModel(file, src)
		if err != nil {
			t.Fatal(err)
		}
		_, err = CheckModel(m)
		return err
	}
	base, err := os.ReadFile("testdata/err/base.model")
	if err != nil {
		t.Fatal(err)
	}
	ps, err := syntax.ParseProperties(file, src)
	if err != nil {
		t.Fatal(err)
	}
	_, err = mustCheck(t, string(base)).CheckProperties(ps)
	return err
}

// The files list every error that must be found, and so also say where none
// must be found. Where PRISM 4.10.2-dev reports its one error was found by
// running it.
func TestErrorFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/err/*.pr*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no test files: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			compareErrors(t, checkFile(t, file, src), marks(t, string(src)))
		})
	}
}

func compareErrors(t *testing.T, err error, want []mark) {
	t.Helper()
	var got syntax.ErrorList
	if !errors.As(err, &got) {
		t.Fatalf("got %v, want an ErrorList", err)
	}
	for i, e := range got {
		j := slices.IndexFunc(want, func(m mark) bool { return m.line == e.Pos.Line && m.col == e.Pos.Col })
		switch {
		case j < 0:
			t.Errorf("unexpected error: %v", e)
			continue
		case !want[j].msg.MatchString(e.Msg):
			t.Errorf("got %v, want /%s/", e, want[j].msg)
		case i == 0 != want[j].first:
			t.Errorf("the first error is %v, want that which PRISM reports", got[0])
		}
		want = slices.Delete(want, j, j+1)
	}
	for _, m := range want {
		t.Errorf("missing error: %d:%d: /%s/", m.line, m.col, m.msg)
	}
}
