package needs

import (
	"errors"
	"testing"
)

// recorder is a test whose end is looked at.
type recorder struct {
	testing.TB
	end string
}

func (r *recorder) Helper()               {}
func (r *recorder) Fatal(...any)          { r.stop("fail") }
func (r *recorder) Fatalf(string, ...any) { r.stop("fail") }
func (r *recorder) Skipf(string, ...any)  { r.stop("skip") }
func (r *recorder) stop(how string)       { r.end = how; panic(r) }

func ended(f func(testing.TB)) (how string) {
	r := &recorder{end: "go on"}
	defer func() {
		if x := recover(); x != nil && x != any(r) {
			panic(x)
		}
		how = r.end
	}()
	f(r)
	return r.end
}

func TestHave(t *testing.T) {
	absent := errors.New("there is none")
	for _, tt := range []struct {
		require string
		err     error
		want    string
	}{
		{"", nil, "go on"},
		{"", absent, "skip"},
		{"storm,prism-image", absent, "skip"},
		{"prism", absent, "fail"},
		{"docker, prism", absent, "fail"},
		{"all", absent, "fail"},
		{"prism", nil, "go on"},
		{"prims", nil, "fail"}, // a misspelt requirement must not require nothing
	} {
		t.Setenv("TILECHECK_REQUIRE", tt.require)
		if got := ended(func(tb testing.TB) { Have(tb, PRISMTool, tt.err) }); got != tt.want {
			t.Errorf("TILECHECK_REQUIRE=%q, %v: %s, want %s", tt.require, tt.err, got, tt.want)
		}
	}
}

func TestPaths(t *testing.T) {
	t.Setenv("TILECHECK_REQUIRE", "")
	for path, want := range map[string]string{"": "skip", "/nonexistent/prism": "fail", t.TempDir(): "go on"} {
		t.Setenv("TILECHECK_PRISM", path)
		if got := ended(func(tb testing.TB) { PRISM(tb) }); got != want {
			t.Errorf("TILECHECK_PRISM=%q: %s, want %s", path, got, want)
		}
	}
	for long, want := range map[string]string{"": "skip", "1": "go on"} {
		t.Setenv("TILECHECK_LONG", long)
		if got := ended(Long); got != want {
			t.Errorf("TILECHECK_LONG=%q: %s, want %s", long, got, want)
		}
	}
}
