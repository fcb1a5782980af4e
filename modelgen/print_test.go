package modelgen

import (
	"io"
	"slices"
	"strings"
	"testing"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// printed returns the text of a model.
func printed(t *testing.T, m *syntax.Model) string {
	t.Helper()
	var text strings.Builder
	if err := syntax.Fprint(&text, m, syntax.Options{}); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// everyShape is a configuration of every kind, policy and spawn mode, and boards of every length of line.
func everyShape() []Config {
	var all []Config
	for _, kind := range []Kind{Final, Combined, Prototype} {
		all = append(all, variants(Config{Kind: kind, Rows: 2, Cols: 2, Max: 16})...)
	}
	for _, spawn := range []Spawn{SpawnCell, SpawnModule, SpawnUniform} {
		for n := range maxSide {
			all = append(all, Config{Rows: n + 1, Cols: maxSide, Max: 1 << 30, P2: "1", Spawn: spawn, Policy: ThesisPolicies()[n%4].Policy})
		}
	}
	return all
}

// The text of a model parses to the tree that was built.
func TestPrintParse(t *testing.T) {
	for _, cfg := range everyShape() {
		m := build(t, cfg)
		again, err := syntax.ParseModel("", []byte(printed(t, m)))
		if err != nil {
			t.Errorf("%v: %v", cfg.Args(), err)
		} else if !syntax.Equal(m, again) {
			t.Errorf("%v: the text is another model", cfg.Args())
		}
	}
}

// Models are well formed, not only as text: every name is known, types and ranges fit. They say what they are on the surface that other
// tools see: module and label names.
func TestChecks(t *testing.T) {
	for _, cfg := range everyShape() {
		m, err := sema.CheckModel(build(t, cfg))
		if err != nil {
			t.Errorf("%v: %v", cfg.Args(), err)
			continue
		}
		p, err := m.Instantiate(nil)
		if err != nil {
			t.Errorf("%v: %v", cfg.Args(), err)
			continue
		}
		if len(p.Warnings) > 0 || p.Type != syntax.MDP || p.Labels[0].Name != "fail" || p.Labels[1].Name != "success" {
			t.Errorf("%v: %s with labels %v, warnings %v", cfg.Args(), p.Type, p.Labels, p.Warnings)
		}
		wantModules := []string{"game_grid"}
		if cfg.Policy.Kind != NoPolicy {
			wantModules = append(wantModules, "policy_manager")
		}
		if cfg.Spawn == SpawnModule {
			wantModules = append(wantModules, "spawn_manager")
		}
		if cfg.Kind == Prototype {
			wantModules = []string{"cell_00", "cell_01", "cell_10", "cell_11"}
		}
		if got := m.Modules(); !slices.Equal(got, wantModules) {
			t.Errorf("%v: modules %v, want %v", cfg.Args(), got, wantModules)
		}
	}
}

// Text and tree stay small: PRISM parses the largest model in about a second, which is what the sizes of docs/models.md mean.
func TestSizes(t *testing.T) {
	for _, tc := range []struct{ side, most int }{{2, 5_500}, {3, 12_500}, {4, 33_000}, {5, 95_000}, {6, 280_000}} {
		for _, spawn := range []Spawn{SpawnCell, SpawnModule, SpawnUniform} {
			text := printed(t, build(t, Config{Rows: tc.side, Cols: tc.side, Max: 2048, Spawn: spawn}))
			if len(text) > tc.most {
				t.Errorf("%dx%[1]d, spawn %s: %d bytes, want at most %d", tc.side, spawn, len(text), tc.most)
			}
		}
	}
}

// The numbers of commands that the thesis gives: 38 for the final 4x4 model (section 3.5), and for the combined model two for each cell and
// twelve for each move (section 3.4), besides the two ends.
func TestCommands(t *testing.T) {
	for _, tc := range []struct {
		cfg  Config
		want int
	}{
		{Config{Rows: 4, Cols: 4, Max: 2048}, 38},
		{Config{Kind: Combined, Rows: 2, Cols: 2, Max: 32}, 2*4 + 4*12 + 2},
	} {
		if got := len(modules(build(t, tc.cfg))[0].Commands); got != tc.want {
			t.Errorf("%v: %d commands, want %d", tc.cfg.Args(), got, tc.want)
		}
	}
}

// Storm's dialect can say all of it.
func TestStormDialect(t *testing.T) {
	for _, cfg := range everyShape() {
		if err := syntax.Fprint(io.Discard, build(t, cfg), syntax.Options{Dialect: syntax.Storm}); err != nil {
			t.Errorf("%v: %v", cfg.Args(), err)
		}
	}
}

// A generated model says the same each time.
func TestDeterministic(t *testing.T) {
	for _, cfg := range everyShape() {
		if a, b := printed(t, build(t, cfg)), printed(t, build(t, cfg)); a != b {
			t.Errorf("%v: two texts", cfg.Args())
		}
	}
}
