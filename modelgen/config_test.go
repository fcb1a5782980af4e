package modelgen

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"tilecheck/prism/syntax"
)

func TestValidate(t *testing.T) {
	good := Config{Rows: 2, Cols: 2, Max: 16}
	with := func(change func(*Config)) Config {
		c := good
		change(&c)
		return c
	}
	for _, tc := range []struct {
		cfg  Config
		want string // the errors, joined by newlines; empty when there are none
	}{
		{good, ""},
		{Config{Rows: 1, Cols: 2, Max: 4}, ""},
		{Config{Rows: 6, Cols: 6, Max: 1 << 30, P2: "1"}, ""},
		{with(func(c *Config) { c.P2 = "1e-3" }), ""},
		{with(func(c *Config) { c.P2 = ".5" }), ""},
		{Config{Rows: 1, Cols: 1, Max: 4}, "board is 1x1, want 1 to 6 rows and columns and at least 2 cells"},
		{Config{Rows: 7, Cols: 2, Max: 4}, "board is 7x2, want 1 to 6 rows and columns and at least 2 cells"},
		{Config{Rows: -2, Cols: -2, Max: 4}, "board is -2x-2, want 1 to 6 rows and columns and at least 2 cells"},
		{Config{}, "board is 0x0, want 1 to 6 rows and columns and at least 2 cells\nmax is 0, want a power of two from 4 to 1073741824"},
		{with(func(c *Config) { c.Max = 12 }), "max is 12, want a power of two from 4 to 1073741824"},
		{with(func(c *Config) { c.Max = 2 }), "max is 2, want a power of two from 4 to 1073741824"},
		{with(func(c *Config) { c.Max = -8 }), "max is -8, want a power of two from 4 to 1073741824"},
		{with(func(c *Config) { c.Max = 1 << 31 }), "max is 2147483648, want a power of two from 4 to 1073741824"},
		{with(func(c *Config) { c.P2 = "0" }), `p2 is "0", want a decimal number above 0 and up to 1, such as 0.9`},
		{with(func(c *Config) { c.P2 = "1.0001" }), `p2 is "1.0001", want a decimal number above 0 and up to 1, such as 0.9`},
		{with(func(c *Config) { c.P2 = "-0.5" }), `p2 is "-0.5", want a decimal number above 0 and up to 1, such as 0.9`},
		{with(func(c *Config) { c.P2 = "1." }), `p2 is "1.", want a decimal number above 0 and up to 1, such as 0.9`},
		{with(func(c *Config) { c.P2 = "0x1p-1" }), `p2 is "0x1p-1", want a decimal number above 0 and up to 1, such as 0.9`},
		{with(func(c *Config) { c.P2 = "1e-999999999" }), `p2 is "1e-999999999", want a decimal number above 0 and up to 1, such as 0.9`},
		{with(func(c *Config) { c.P2 = "NaN" }), `p2 is "NaN", want a decimal number above 0 and up to 1, such as 0.9`},
		{Config{Kind: Combined, Rows: 2, Cols: 3, Max: 8}, "board is 2x3, want 2x2 for the combined model"},
		{Config{Kind: Prototype, Rows: 4, Cols: 4, Max: 4}, "board is 4x4, want 2x2 for the prototype model\n" +
			"max is 4, want a power of two from 8 to 1073741824"},
		{
			Config{Kind: Prototype, Rows: 2, Cols: 2, Max: 8, Policy: Policy{Kind: RandomMoves}, Spawn: SpawnUniform},
			"policy is random, want none for the prototype, which has no policy manager\nspawn is uniform, want cell for the prototype",
		},
		{with(func(c *Config) { c.Kind, c.Spawn = 9, 9 }), "kind is Kind(9), want final, combined, prototype, dtmc, pomdp, smg\n" +
			"spawn is Spawn(9), want cell, module, uniform, worst-cell, worst-tile, worst"},
		{with(func(c *Config) { c.Spawn = SpawnWorst }), "spawn is worst, want cell, module or uniform for a model other than smg"},
		{with(func(c *Config) { c.Kind = SMG }), "spawn is cell, want worst-cell, worst-tile or worst for an smg"},
		{
			Config{Kind: Combined, Rows: 2, Cols: 2, Max: 8, Rewards: true},
			"rewards is given, want none with the combined model, the prototype or the published updates",
		},
		{with(func(c *Config) { c.Kind = DTMC }), "spawn is cell, want uniform for a dtmc\npolicy is none, want a policy for a dtmc, which has no choices"},
		{
			with(func(c *Config) { c.Kind, c.Spawn, c.Policy = POMDP, SpawnUniform, Policy{Kind: RandomMoves} }),
			"policy is random, want none for a pomdp, whose player does not see what policies need",
		},
		{
			with(func(c *Config) { c.Kind, c.Spawn, c.Observe = POMDP, SpawnUniform, Observe{Kind: ObserveRow, Row: 5} }),
			"observe is row:5, want a row from 0 to 1",
		},
		{
			with(func(c *Config) {
				c.Kind, c.Spawn, c.Observe = POMDP, SpawnUniform, Observe{Kind: ObserveCells, Cells: "3,16"}
			}),
			"observe is cells:3,16, want cells from 0 to 3",
		},
		{with(func(c *Config) { c.Observe = Observe{Kind: ObserveMax} }), "observe is max, want nothing for a model other than pomdp"},
		{Config{Rows: 2, Cols: 4, Max: 8, Updates: UpdatesPublished}, ""},
		{
			with(func(c *Config) { c.Updates = UpdatesPublished }),
			"board is 2x2, want lines of four cells for published updates: 4 rows or 4 columns, and no side longer than 4",
		},
		{
			Config{Rows: 4, Cols: 5, Max: 8, Updates: UpdatesPublished},
			"board is 4x5, want lines of four cells for published updates: 4 rows or 4 columns, and no side longer than 4",
		},
		{
			Config{Kind: POMDP, Spawn: SpawnUniform, Rows: 4, Cols: 4, Max: 8, Updates: UpdatesPublished},
			"kind is pomdp, want final or dtmc for published updates",
		},
		{with(func(c *Config) { c.Updates = 9 }), "updates is Updates(9), want rules, published\n" +
			"board is 2x2, want lines of four cells for published updates: 4 rows or 4 columns, and no side longer than 4"},
		{with(func(c *Config) { c.Policy = Policy{Kind: PreferMoves} }), "policy is a list with left twice, " +
			"want each of left, up, right, down once, separated by commas"},
		{with(func(c *Config) { c.Policy = Policy{Kind: RandomMoves, First: Order{Down}} }), "policy is random, " +
			"want no list where the kind of policy has none"},
	} {
		got := ""
		if err := tc.cfg.Validate(); err != nil {
			got = err.Error()
			if _, ok := errors.AsType[*FieldError](err); !ok {
				t.Errorf("%+v: no *FieldError in %v", tc.cfg, err)
			}
		}
		if got != tc.want {
			t.Errorf("%+v:\n got %s\nwant %s", tc.cfg, got, tc.want)
		}
		if _, err := Build(tc.cfg); (err == nil) != (tc.want == "") {
			t.Errorf("%+v: Build says %v", tc.cfg, err)
		}
	}
}

func TestParsePolicy(t *testing.T) {
	for _, tc := range []struct{ text, canonical string }{
		{"none", "none"},
		{"random", "random"},
		{"pref:left,up,down,right", "pref:left,up,down,right"},
		{"pref:down,right,left,up", "pref:down,right,left,up"},
		{"alt:up,left,down,right/left,up,down,right", "alt:up,left,down,right/left,up,down,right"},
		// Thesis, section 3.8.1.
		{"opposite", "pref:up,down,left,right"},
		{"orthogonal", "pref:left,up,down,right"},
		{"alternating", "alt:up,left,down,right/left,up,down,right"},
	} {
		p, err := ParsePolicy(tc.text)
		if err != nil || p.String() != tc.canonical {
			t.Errorf("%s: %s, %v", tc.text, p, err)
		}
		again, err := ParsePolicy(p.String())
		if err != nil || again != p {
			t.Errorf("%s does not come back: %s, %v", p, again, err)
		}
	}
}

func TestParsePolicyErrors(t *testing.T) {
	const each = ", want each of left, up, right, down once, separated by commas"
	for text, want := range map[string]string{
		"":                            `policy is "", want none, random,`,
		"best":                        `policy is "best", want none, random,`,
		"random:":                     `policy is "random:", want none, random,`,
		"pref":                        `policy is a list with the move ""` + each,
		"pref:left,up,down":           "policy is a list without right" + each,
		"pref:left,up,up,down":        "policy is a list with up twice" + each,
		"pref:left,up,down,right,up":  "policy is a list with up twice" + each,
		"pref:left,up,down,sideways":  `policy is a list with the move "sideways"` + each,
		"pref:Left,up,down,right":     `policy is a list with the move "Left"` + each,
		"alt:left,up,down,right":      `policy is "alt:left,up,down,right", want two lists separated by a slash after alt:`,
		"alt:left,up,down,right/left": "policy is a list without up" + each,
		"alt:left/left,up,down,right": "policy is a list without up" + each,
	} {
		p, err := ParsePolicy(text)
		var field *FieldError
		if !errors.As(err, &field) || field.Field != "policy" || !strings.HasPrefix(err.Error(), want) || p != (Policy{}) {
			t.Errorf("%q: %v, %v\nwant %s", text, p, err, want)
		}
	}
}

func TestParseNames(t *testing.T) {
	for _, k := range []Kind{Final, Combined, Prototype, DTMC, POMDP} {
		if got, err := ParseKind(k.String()); got != k || err != nil {
			t.Errorf("%s: %s, %v", k, got, err)
		}
	}
	for _, s := range []Spawn{SpawnCell, SpawnModule, SpawnUniform, SpawnWorstCell, SpawnWorstTile, SpawnWorst} {
		if got, err := ParseSpawn(s.String()); got != s || err != nil {
			t.Errorf("%s: %s, %v", s, got, err)
		}
	}
	if _, err := ParseKind("Final"); err == nil || err.Error() != `kind is "Final", want final, combined, prototype, dtmc, pomdp, smg` {
		t.Error(err)
	}
	if _, err := ParseSpawn("4"); err == nil || err.Error() != `spawn is "4", want cell, module, uniform, worst-cell, worst-tile, worst` {
		t.Error(err)
	}
}

// The text of the probability reaches the model unchanged, and a game of twos only has no branch of probability 0.
func TestParseObserve(t *testing.T) {
	for text, want := range map[string]string{
		"all": "all", "none": "none", "max": "max", "row:5": "row:5", "cells:0,7": "cells:0,7",
		"mask:10/01": "cells:0,3", "mask:0000": "none",
		"": "", "row:": "", "row:6": "", "row:01": "", "cells:": "", "cells:1,0": "", "cells:36": "", "mask:": "", "mask:12": "", "max:1": "",
	} {
		o, err := ParseObserve(text)
		if (err == nil) != (want != "") || err == nil && o.String() != want {
			t.Errorf("%s: %s, %v, want %q", text, o, err, want)
		}
	}
}

func TestP2(t *testing.T) {
	for _, tc := range []struct {
		text   string
		values int // of a new tile
	}{{"", 2}, {"0.90", 2}, {"9e-1", 2}, {"0.99999999999999999999", 2}, {"1", 1}, {"1.0", 1}, {"10e-1", 1}} {
		for _, spawn := range []Spawn{SpawnCell, SpawnModule, SpawnUniform} {
			m := build(t, Config{Rows: 2, Cols: 2, Max: 8, P2: tc.text, Spawn: spawn})
			text := cmp.Or(tc.text, "0.9")
			n := m.Items[2].(*syntax.ConstDecl)
			switch lit := n.Value.(type) {
			case *syntax.DoubleLit:
				if lit.Text != text {
					t.Errorf("p2 %q became %q", tc.text, lit.Text)
				}
			case *syntax.IntLit:
				if text != "1" || lit.Value != 1 {
					t.Errorf("p2 %q became %d", tc.text, lit.Value)
				}
			}
			want := tc.values
			if spawn == SpawnUniform {
				want *= 4
			}
			for _, c := range modules(m)[0].Commands[:2] {
				if len(c.Updates) != want {
					t.Errorf("p2 %q, spawn %s: %d updates, want %d", tc.text, spawn, len(c.Updates), want)
				}
			}
		}
	}
}

// Table 3.6 is copied without slips: each half-width is that of the normal approximation for its estimate and 1000 samples. PRISM's
// quantile is Student's, and the printed estimates are rounded, hence 1 %.
func TestPublishedHalfWidths(t *testing.T) {
	const quantile = 2.5758 // of the normal distribution, at 0.995
	table := PublishedTable()
	if len(table) != 20 {
		t.Fatalf("%d cells, want 20", len(table))
	}
	for _, p := range table {
		want := quantile * math.Sqrt(p.Loss*(1-p.Loss)/PublishedSamples)
		if math.Abs(p.HalfWidth-want) > 0.01*want {
			t.Errorf("%s %d: half-width %v, want %.5f", p.Strategy, p.Max, p.HalfWidth, want)
		}
	}
}

// A column is marked irreproducible exactly when the independent simulation (N) of 2048-numbers.md, 400,000 games a cell, leaves the published
// interval widened by that simulation's own error.
func TestPublishedReproducible(t *testing.T) {
	independent := map[string][5]float64{
		"random":      {0.444, 0.921, 0.9998, 1, 1},
		"opposite":    {0.737, 0.979, 1, 1, 1},
		"orthogonal":  {0.098, 0.488, 0.954, 1, 1},
		"alternating": {0.085, 0.471, 0.942, 1, 1},
	}
	agrees := map[string]bool{"random": true, "opposite": true, "orthogonal": true, "alternating": true}
	for i, p := range PublishedTable() {
		n := independent[p.Strategy][i%5]
		const rounding = 0.001
		if math.Abs(n-p.Loss) > p.HalfWidth+2.6*math.Sqrt(n*(1-n)/400_000)+rounding {
			agrees[p.Strategy] = false
		}
	}
	for _, p := range PublishedTable() {
		if p.Reproducible != agrees[p.Strategy] {
			t.Errorf("%s: reproducible is %t, the simulations agree: %t", p.Strategy, p.Reproducible, agrees[p.Strategy])
		}
	}
}

// The model says how it was made.
func TestHeader(t *testing.T) {
	policy, err := ParsePolicy("alternating")
	if err != nil {
		t.Fatal(err)
	}
	m := build(t, Config{Rows: 3, Cols: 4, Max: 64, P2: "0.75", Policy: policy, Spawn: SpawnModule})
	doc := m.Items[0].(*syntax.TypeDecl).Doc
	want := "Made by: tilecheck gen --kind=final --rows=3 --cols=4 --max=64 --p2=0.75 " +
		"--policy=alt:up,left,down,right/left,up,down,right --spawn=module"
	if !slices.Contains(doc, want) {
		t.Errorf("header %q lacks %q", doc, want)
	}
}
