package sema

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"tilecheck/prism/syntax"
)

// expressionModel checks a model with an expression over int x, int y and bool
// b in it, and constants ic=3, dc=0.1 and bc=true.
func expressionModel(src, typ string) (*Model, error) {
	text := "mdp const int ic = 3; const double dc = 0.1; const bool bc = true; module M x: int; y: int; b: bool; [] true->true; endmodule\n"
	if typ == "bool" {
		text += "label \"l\" = " + src + ";"
	} else {
		text += "rewards true: " + src + "; endrewards"
	}
	tree, err := syntax.ParseModel("", []byte(text))
	if err != nil {
		return nil, err
	}
	m, err := CheckModel(tree)
	if err == nil && (len(m.labels)+len(m.rewards) != 1 || typ != "bool" && len(m.rewards[0].Items) != 1) {
		return nil, errors.New("not one expression")
	}
	return m, err
}

// expression resolves an expression of expressionModel, without and with folding.
func expression(src, typ string) (raw, folded Expr, err error) {
	m, err := expressionModel(src, typ)
	if err != nil {
		return nil, nil, err
	}
	p, err := m.Instantiate(nil)
	if err != nil {
		return nil, nil, err
	}
	if typ == "bool" {
		return m.labels[0].Expr, p.Labels[0].Expr, nil
	}
	return m.rewards[0].Items[0].Value, p.Rewards[0].Items[0].Value, nil
}

func state(t *testing.T, x, y, b string) []int32 {
	t.Helper()
	var s []int32
	for _, text := range []string{x, y} {
		i, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		s = append(s, int32(i))
	}
	if b == "true" {
		return append(s, 1)
	}
	return append(s, 0)
}

// bits writes a value as testdata/eval.tsv does.
func bits(v Value) string {
	if v.Type != Double {
		return v.String()
	}
	if math.IsNaN(v.Float) {
		return "NaN"
	}
	return fmt.Sprintf("%x", math.Float64bits(v.Float))
}

// TestEvalAsPRISM evaluates every expression of testdata/eval.tsv as it was
// written and as Instantiate folded it.
func TestEvalAsPRISM(t *testing.T) {
	f, err := os.Open("testdata/eval.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for sc := bufio.NewScanner(f); sc.Scan(); {
		if strings.HasPrefix(sc.Text(), "#") {
			continue
		}
		col := strings.Split(sc.Text(), "\t")
		raw, folded, err := expression(col[0], col[4])
		if err != nil {
			t.Errorf("%s: %v", col[0], err)
			continue
		}
		n++
		s := state(t, col[1], col[2], col[3])
		compareEval(t, raw, s, col)
		for _, e := range []Expr{raw, folded} {
			if e.Type().String() != col[4] {
				t.Errorf("%s has type %s, want %s", col[0], e.Type(), col[4])
			}
			compareExact(t, e, s, col)
		}
		// Folding is exact: it gives PRISM's doubles where they are right.
		v, err := Eval(raw, s)
		if truth, _, exactErr := EvalExact(raw, s); agrees(v, err, truth, exactErr) {
			compareEval(t, folded, s, col)
		}
	}
	if n < 500 {
		t.Errorf("%d expressions, want more", n)
	}
}

func compareEval(t *testing.T, e Expr, s []int32, col []string) {
	t.Helper()
	v, err := Eval(e, s)
	got, want := bits(v), col[5]
	switch {
	case strings.HasSuffix(want, " NaN"):
		want = "NaN"
	case col[4] == "double" && !strings.HasPrefix(want, "ERR"):
		want, _, _ = strings.Cut(want, " ")
	}
	switch {
	case strings.HasPrefix(want, "ERR"):
		if evalErr := (*EvalError)(nil); !errors.As(err, &evalErr) || evalErr.Pos.Line != 2 {
			t.Errorf("%s in %v = %s, %v, want an error with its place, as PRISM: %s", col[0], s, got, err, want)
		}
	case err != nil || got != want || v.Rat != nil:
		t.Errorf("%s in %v = %s, %v, want %s", col[0], s, got, err, want)
	}
}

func compareExact(t *testing.T, e Expr, s []int32, col []string) {
	t.Helper()
	v, exact, err := EvalExact(e, s)
	want := col[6]
	if want == "ERR too large" || strings.Contains(col[0], "/0") { // PRISM has exact infinities
		return
	}
	if strings.Contains(want, "cannot compute log exactly") || strings.Contains(want, "cannot compute fractional power") {
		return // some are fractions, and some comparisons are decided all the same
	}
	switch {
	case strings.HasPrefix(want, "ERR"):
		if err == nil && exact {
			t.Errorf("%s in %v = %s exactly, want no exact value: %s", col[0], s, v, want)
		}
		return
	case err != nil || !exact: // integers have 32 bits here, but not in PRISM's exact mode
		if big, ok := new(big.Int).SetString(want, 10); (!ok || big.IsInt64() && int64(int32(big.Int64())) == big.Int64()) && !strings.HasPrefix(col[5], "ERR") {
			t.Errorf("%s in %v = %s, %v, %v, want exactly %s", col[0], s, v, exact, err, want)
		}
		return
	}
	got := v.String()
	if v.Type == Double {
		got = v.Rat.RatString()
	}
	if got != want {
		t.Errorf("%s in %v = %s exactly, want %s", col[0], s, got, want)
	}
}

func TestEvalErrors(t *testing.T) {
	tests := []struct{ src, want string }{
		{"1 + mod(2,x)", "2:19: modulo with non-positive divisor 0"},
		{"2147483647 + x + 1", "2:15: integer overflow: 2147483648 does not fit 32 bits"},
		{"-(x-2147483647-1)", "2:15: integer overflow: 2147483648 does not fit 32 bits"},
		{"2^(x-1)", "2:15: negative exponent -1 of an integer power; write the base as a double"},
		{"pow(2,x+31)", "2:15: integer overflow: 2^31 does not fit 32 bits"},
		{"floor(1/x)", "2:15: floor(Infinity) cannot be represented by a 32-bit int"},
		{"max(1, ceil(x-1e10))", "2:22: ceil(-1.0E10) cannot be represented by a 32-bit int"},
	}
	for _, test := range tests {
		raw, folded, err := expression(test.src, "int")
		if err != nil {
			t.Errorf("%s: %v", test.src, err)
			continue
		}
		for _, e := range []Expr{raw, folded} {
			if v, err := Eval(e, []int32{0, 0, 0}); err == nil || err.Error() != test.want {
				t.Errorf("%s = %v, %v, want error %s", test.src, v, err, test.want)
			}
		}
	}
	label := &Label{Base{Bool, syntax.Pos{}}, "a", 0}
	if _, err := Eval(label, nil); err == nil || !strings.Contains(err.Error(), `label "a"`) {
		t.Errorf("label: got %v", err)
	}
	if _, err := Eval(&Prob{}, nil); err == nil || !strings.Contains(err.Error(), "no value in a single state") {
		t.Errorf("P operator: got %v", err)
	}
	if _, err := Eval(&Var{Base{Int, syntax.Pos{}}, 0}, nil); err == nil || !strings.Contains(err.Error(), "want a constant expression") {
		t.Errorf("variable: got %v", err)
	}
}

// Numbers may be inexact, decisions may not.
func TestEvalExact(t *testing.T) {
	tests := []struct {
		src, typ, want string
		exact          bool
	}{
		{"0.1+0.2=0.3", "bool", "true", true},
		{"floor((0.1+0.7)*10)", "int", "8", true}, // 7 in floating point
		{"1/3+x", "double", "7/3", true},
		{"log(8,2)", "double", "3", true},
		{"log(8,4)", "double", "3/2", true},
		{"log(3,2)", "double", "", false},
		{"log(8,3)<x", "bool", "true", true},
		{"log(8,3)<x ? 1/3 : 1", "double", "1/3", true},
		{"x>2 & log(8,2)>1", "bool", "false", true}, // not evaluated
		{"floor(log(8.1,2))+1", "int", "4", true},
		{"1/0", "double", "", false},
		{"min(1/0,x)", "double", "2", true},
		{"2^0.5", "double", "", false},
		{"2.25^1.5", "double", "27/8", true},
		{"1e-400*1e400", "double", "1", true},
		{"(1e16+0.5)-1e16", "double", "1/2", true},
		{"1e400 > 1e399", "bool", "true", true},
		{"pow(pow(0.5,2)+pow(0.866025403784,2), 0.5) >= 1", "bool", "false", true}, // 0.99999999999962
		{"0.0 = -0.0", "bool", "true", true},
		{"pow(0.9,100000) < 1e-300", "bool", "true", true},
		{"0.5^x", "double", "1/4", true},
		{"0.5^-2", "double", "4", true},
		{"(0.0)^-1", "double", "", false},
		{"1e-300*1e300", "double", "1", true},
		{"pow(1.5, 100000)", "double", "", false},
		{"pow(1.5, 100000) > 1e300", "bool", "true", true},
		{"pow(0.5,100000) > 0", "bool", "true", true},
		{"1/(pow(0.5,100000)) > 1", "bool", "true", true},
	}
	for _, test := range tests {
		raw, folded, err := expression(test.src, test.typ)
		if err != nil {
			t.Errorf("%s: %v", test.src, err)
			continue
		}
		for _, e := range []Expr{raw, folded} {
			v, exact, err := EvalExact(e, []int32{2, 0, 0})
			got := v.String()
			if v.Type != Bool {
				got = ""
				if v.Rat != nil {
					got = v.Rat.RatString()
				}
			}
			if err != nil || exact != test.exact || got != test.want {
				t.Errorf("%s = %q, %v, %v, want %q, %v", test.src, got, exact, err, test.want, test.exact)
			}
		}
	}
}

func TestValueString(t *testing.T) {
	// Java's Double.toString.
	for f, want := range map[float64]string{
		0: "0.0", math.Copysign(0, -1): "-0.0", 1: "1.0", 0.1: "0.1", math.Nextafter(0.3, 1): "0.30000000000000004",
		0.001: "0.001", 0.0009999: "9.999E-4", 9999999: "9999999.0", 1e7: "1.0E7", 2147483648: "2.147483648E9",
		1e-5: "1.0E-5", -123456.789: "-123456.789", 5e-324: "4.9E-324", math.MaxFloat64: "1.7976931348623157E308",
		math.Inf(1): "Infinity", math.Inf(-1): "-Infinity",
	} {
		if got := DoubleValue(f).String(); got != want {
			t.Errorf("%g: got %s, want %s", f, got, want)
		}
	}
	if got := DoubleValue(math.NaN()).String(); got != "NaN" {
		t.Errorf("got %s", got)
	}
	if got := BoolValue(true).String() + IntValue(-3).String() + RatValue(big.NewRat(1, 8)).String(); got != "true-30.125" {
		t.Errorf("got %s", got)
	}
}

// Results of Java 17's Math.pow and Math.log.
func TestPow(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	tests := []struct{ x, y, want float64 }{
		{1, nan, nan},
		{1, inf, nan},
		{-1, -inf, nan},
		{nan, 0, 1},
		{0, 0, 1},
		{-8, 1.0 / 3, nan},
		{2, inf, inf},
		{0.5, inf, 0},
		{-inf, 3, -inf},
		{0, -1, inf},
		{-2, 3, -8},
		{-2, -2, 0.25},
		{7e15, 1.5, 5.856620185738529e23},
		{8, 1.0 / 3, 2},
		{0.9, 10, 0.3486784401000001},
		{10, -5, 1e-5},
		{10, 22, 1e22},
		{1 - 0x1p-53, 0.5, 1 - 0x1p-53},
		{2, 1023, 0x1p1023},
		{2, 1024, inf},
		{2, -1074, 5e-324},
		{1 + 0x1p-52, 0x1p52, 2.718281828459045},
	}
	for _, test := range tests {
		if got := Pow(test.x, test.y); !SameFloat(got, test.want) {
			t.Errorf("Pow(%v, %v) = %v, want %v", test.x, test.y, got, test.want)
		}
	}
	for _, test := range []struct{ x, b, want float64 }{
		{8, 2, 3},
		{0, 2, -inf},
		{-1, 2, nan},
		{2, 1, nan},
		{2, 0, nan},
		{2, -2, nan},
		{2, inf, nan},
		{2, nan, nan},
		{inf, 2, inf},
		{5e-324, 0.5, 1074},
		{1000, 10, 2.9999999999999996},
		{1 + 0x1p-52, math.E, 2.2204460492503128e-16},
	} {
		if got := Log(test.x, test.b); !SameFloat(got, test.want) {
			t.Errorf("Log(%v, %v) = %v, want %v", test.x, test.b, got, test.want)
		}
	}
}

// What no fraction and no enclosure decides is refused by name.
func TestUndecided(t *testing.T) {
	for src, typ := range map[string]string{
		"log(3,2)*log(2,3) = 1":             "bool",
		"pow(2,0.5)*pow(2,0.5) <= 2":        "bool",
		"floor(pow(2,0.5)*pow(2,0.5))":      "int",
		"max(log(3,2)-log(9,4),0) > 0":      "bool",
		"pow(2,0.5) - pow(2,0.5) = 0":       "bool",
		"ceil(log(3,2)*log(2,3)+x-x)":       "int",
		"(log(3,2)*log(2,3) = 1) ? 1 : 0.5": "double",
	} {
		raw, folded, err := expression(src, typ)
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		for _, e := range []Expr{raw, folded} {
			v, exact, err := EvalExact(e, []int32{2, 0, 0})
			if evalErr := (*EvalError)(nil); !errors.As(err, &evalErr) || !evalErr.Undecided || evalErr.Pos.Line != 2 {
				t.Errorf("%s = %v, %v, %v, want an undecided error with its place", src, v, exact, err)
			}
		}
	}
}

// Powers with whole exponents are those of fractions, rounded once.
func TestWholePowers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		x, y := math.Ldexp(float64(rng.IntN(1<<rng.IntN(54))+1), rng.IntN(40)-20), rng.IntN(41)-20
		if rng.IntN(2) == 0 {
			x = -x
		}
		want, base := big.NewRat(1, 1), new(big.Rat).SetFloat64(x)
		for range max(y, -y) {
			want.Mul(want, base)
		}
		if y < 0 {
			want.Inv(want)
		}
		// What is nowhere near the ends of the range is rounded once.
		if f, _ := want.Float64(); math.Abs(f) > 1e-250 && math.Abs(f) < 1e250 && Pow(x, float64(y)) != f {
			t.Errorf("Pow(%v, %d) = %v, want %v", x, y, Pow(x, float64(y)), f)
		}
	}
}
