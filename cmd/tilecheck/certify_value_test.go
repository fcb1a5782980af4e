package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tilecheck/internal/needs"
)

// certifiedAnswer is a row of check or of certify.
type certifiedAnswer struct {
	Property string
	Value    any
	Lower    any
	Upper    any
	Accuracy string
	Outcome  string
}

// interval returns the bounds of a number, which JSON writes as text where it is infinite.
func (a *certifiedAnswer) interval(t *testing.T) (lo, hi float64) {
	t.Helper()
	read := func(x any) float64 {
		switch x := x.(type) {
		case float64:
			return x
		case string:
			if strings.EqualFold(x, "inf") || strings.EqualFold(x, "infinity") {
				return math.Inf(1)
			}
		}
		t.Errorf("%s: found %v for a bound", a.Property, x)
		return math.NaN()
	}
	return read(a.Lower), read(a.Upper)
}

// TestCertifyValue compares the values that certify prints beside a property with the answers
// of check, which are computed without certificates: of all kinds of properties and filters,
// and of random nestings of them.
func TestCertifyValue(t *testing.T) {
	const body = `
module m
  s : [0..4];
  [a] s=0 -> 1/2:(s'=1) + 1/2:(s'=2);
  [b] s=0%s -> 1/3:(s'=3) + 2/3:(s'=0);
  [c] s=1%s -> (s'=0);
  [d] s=1 -> 1/4:(s'=3) + 3/4:(s'=4);
  [] s>=2 -> true;
endmodule
rewards "r" s<2 : 1; [a] true : 2; endrewards
label "goal" = s=3;
`
	for _, kind := range []string{"mdp", "dtmc", "ctmc"} {
		never := "&false"
		if kind == "mdp" {
			never = ""
		}
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			model := kind + fmt.Sprintf(body, never, never)
			g := propertyGenerator{rng: rand.New(rand.NewPCG(39, 1)), kind: kind}
			texts := g.everyKind()
			for range needs.Some(20) {
				texts = append(texts, g.filter(), g.truth(3))
			}
			compareCertified(t, model, texts)
		})
	}
}

// propertyGenerator writes properties of the model of TestCertifyValue.
type propertyGenerator struct {
	rng  *rand.Rand
	kind string
}

// everyKind returns one property of each operator, and each filter over a truth and over a value.
func (g *propertyGenerator) everyKind() []string {
	texts := []string{`s=0`, `s=1`, `true`, `"named"`, `!"named"`, `(filter(exists, s=3))`, `E [ F "goal" ]`, `A [ F "goal" ]`, `E [ G s<2 ]`, `A [ G s<4 ]`}
	for _, x := range []string{`P%s [ F "goal" ]`, `P%s [ G !"goal" ]`, `P%s [ X s=1 ]`, `P%s [ F<=3 "goal" ]`, `P%s [ s<2 W "goal" ]`, `P%s [ s<2 R s!=4 ]`, `P%s [ G F "goal" ]`, `P%s [ s=0 ]`, `R%s [ F s>1 ]`, `R%s [ C<=3 ]`, `R%s [ I=2 ]`, `S%s [ s>1 ]`} {
		bounds := []string{"=?"}
		switch {
		case g.kind == "mdp" && x[0] != 'S':
			bounds = []string{"max=?", "min=?"}
		case g.kind == "mdp":
			bounds = nil
		}
		for _, b := range append(bounds, ">=0.3", "<0.3") {
			if g.kind != "mdp" || x[0] != 'S' {
				texts = append(texts, fmt.Sprintf(x, b))
			}
		}
	}
	value := g.bounded(`P=? [ F "goal" ]`)
	for _, op := range []string{"min", "max", "sum", "avg", "range", "first", "argmin", "argmax", "print", "printall"} {
		texts = append(texts, fmt.Sprintf("filter(%s, %s, s<2)", op, value), fmt.Sprintf("filter(%s, %s)", op, value))
	}
	for _, op := range []string{"forall", "exists", "count", "first", "print", "printall"} {
		for _, x := range []string{`s=3`, `s<=4`, `s=7`, `P>=0.3 [ F "goal" ]`, `P<0.1 [ F "goal" ]`} {
			texts = append(texts, fmt.Sprintf("filter(%s, %s, s<2)", op, x), fmt.Sprintf("filter(%s, %s)", op, x))
		}
	}
	return append(texts, fmt.Sprintf("filter(state, %s, s=1)", value), `filter(state, P>=0.3 [ F "goal" ], s=1)`)
}

// bounded makes a query one of the greatest or least value, where the model has choices.
func (g *propertyGenerator) bounded(query string) string {
	if g.kind != "mdp" {
		return query
	}
	return strings.Replace(query, "=?", []string{"max=?", "min=?"}[g.rng.IntN(2)], 1)
}

func (g *propertyGenerator) pick(texts ...string) string { return texts[g.rng.IntN(len(texts))] }

// truth returns a random formula that is true or false in a state.
func (g *propertyGenerator) truth(depth int) string {
	if depth == 0 {
		return g.pick(`s=0`, `s=3`, `s<2`, `"goal"`, `s!=4`)
	}
	x, y := g.truth(depth-1), g.truth(depth-1)
	bound := g.pick(">=", ">", "<", "<=") + g.pick("0", "0.2", "0.5", "1")
	switch g.rng.IntN(6) {
	case 0:
		return "(" + x + ") " + g.pick("&", "|", "=>", "<=>") + " (" + y + ")"
	case 1:
		return "!(" + x + ")"
	case 2:
		return "P" + bound + " [ " + g.pick("F", "G", "X", "F<=2") + " (" + x + ") ]"
	case 3:
		return "P" + bound + " [ (" + x + ") " + g.pick("U", "W", "R", "U<=3") + " (" + y + ") ]"
	case 4:
		return g.pick("E", "A") + " [ " + g.pick("F", "G") + " (" + x + ") ]"
	default:
		return "R" + g.pick(">=", "<") + g.pick("1", "2.5") + " [ F (" + x + ") ]"
	}
}

// filter returns a filter of a random formula over random states.
func (g *propertyGenerator) filter() string {
	over := g.pick("true", g.truth(1)+" | s=0")
	if g.rng.IntN(2) == 0 {
		return "filter(" + g.pick("exists", "forall", "count", "first") + ", " + g.truth(2) + ", " + over + ")"
	}
	return "filter(" + g.pick("min", "max", "sum", "avg", "range", "first", "argmin", "argmax") + ", " + g.bounded("P=? [ F ("+g.truth(1)+") ]") + ", " + over + ")"
}

// compareCertified checks properties, makes their certificates, and compares what certify prints.
func compareCertified(t *testing.T, model string, texts []string) {
	t.Helper()
	slices.Sort(texts)
	texts = slices.Compact(texts)
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	props := "\"named\": P>=0.3 [ F \"goal\" ];\n" + strings.Join(texts, ";\n") + ";\n"
	for name, text := range map[string]string{"m.prism": model, "m.props": props} {
		if err := os.WriteFile(at(name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	answers := func(args ...string) []certifiedAnswer {
		_, out, errs := tilecheck(t.Context(), append(args, "-q", "--format", "json")...)
		var all struct{ Results []certifiedAnswer }
		if err := json.Unmarshal([]byte(out), &all); err != nil || len(all.Results) == 0 {
			t.Fatalf("%v: %v\n%s%s", args, err, out, errs)
		}
		return all.Results
	}
	checked := make(map[string]*certifiedAnswer)
	plain := answers("check", at("m.prism"), at("m.props"))
	for i := range plain {
		checked[plain[i].Property] = &plain[i]
	}
	answers("check", at("m.prism"), at("m.props"), "--certificate", at("m.cert"))
	for _, args := range [][]string{
		{"certify", at("m.cert"), "--model", at("m.prism"), "--props", at("m.props")},
		{"certify", at("m.cert")},
	} {
		certified := answers(args...)
		if len(certified) < len(plain)*4/5 {
			t.Errorf("only %d of %d properties have a certificate", len(certified), len(plain))
		}
		for i := range certified {
			c := &certified[i]
			p := checked[c.Property]
			if p == nil || c.Outcome != "proven" {
				t.Errorf("%s: %s, want one of the properties of check, proven", c.Property, c.Outcome)
				continue
			}
			if _, isBool := p.Value.(bool); isBool {
				if c.Value != p.Value {
					t.Errorf("%s: certify prints %v, check answers %v", c.Property, c.Value, p.Value)
				}
				continue
			}
			lo, hi := c.interval(t)
			least, most := p.interval(t)
			if lo > most || hi < least {
				t.Errorf("%s: certify proves [%v, %v], check answers [%v, %v]", c.Property, lo, hi, least, most)
			}
		}
	}
}
