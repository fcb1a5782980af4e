package prove_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tilecheck/certify"
	"tilecheck/certify/certificate"
	"tilecheck/internal/needs"
	"tilecheck/native/prove"
	"tilecheck/native/space/files"
)

// errand is a random MDP of three states and two in which all ends: 3, the goal, and 4.
type errand [3][]struct {
	to   []int // with the same chance
	cost int
}

func newErrand(rng *rand.Rand) (e errand) {
	for s := range e {
		e[s] = make([]struct {
			to   []int
			cost int
		}, 1+rng.IntN(3))
		for c := range e[s] {
			e[s][c].cost = rng.IntN(3)
			for range 1 + rng.IntN(3) {
				e[s][c].to = append(e[s][c].to, rng.IntN(5))
			}
		}
	}
	return e
}

func (e errand) text() string {
	var out, rewards strings.Builder
	for s := range e {
		for c, x := range e[s] {
			var to []string
			for _, t := range x.to {
				to = append(to, fmt.Sprintf("1/%d:(s'=%d)", len(x.to), t))
			}
			fmt.Fprintf(&out, " [a%d] s=%d -> %s;\n", c, s, strings.Join(to, " + "))
			fmt.Fprintf(&rewards, " [a%d] s=%d : %d;\n", c, s, x.cost)
		}
	}
	return fmt.Sprintf("mdp\nmodule m\n s : [0..4];\n%s [] s>2 -> true;\nendmodule\nrewards \"t\"\n%sendrewards\n", &out, &rewards)
}

// solve returns x = r + P x in state 0 of a scheduler, where x is known in the other states;
// of those that never end it is nothing, or nil if they cost for ever.
func (e errand) solve(how []int, r func(s int) int64, goal, bad *big.Rat) *big.Rat {
	ends := [5]bool{3: true, 4: true}
	for range 3 {
		for s := range 3 {
			for _, t := range e[s][how[s]].to {
				ends[s] = ends[s] || ends[t]
			}
		}
	}
	seen, queue := [5]bool{0: true}, []int{0}
	for ; len(queue) > 0; queue = queue[1:] {
		if s := queue[0]; s < 3 {
			if !ends[s] && r(s) > 0 {
				return nil
			}
			for _, t := range e[s][how[s]].to {
				if !seen[t] {
					seen[t], queue = true, append(queue, t)
				}
			}
		}
	}
	// One state after the other is put into the equations of the others.
	var a [3][6]*big.Rat // coefficients of the states, and a constant
	for s := range 3 {
		for k := range a[s] {
			a[s][k] = new(big.Rat)
		}
		if !ends[s] {
			continue
		}
		a[s][5].SetInt64(r(s))
		to := e[s][how[s]].to
		for _, t := range to {
			a[s][t].Add(a[s][t], big.NewRat(1, int64(len(to))))
		}
		a[s][5].Add(a[s][5], new(big.Rat).Mul(a[s][3], goal))
		a[s][5].Add(a[s][5], new(big.Rat).Mul(a[s][4], bad))
	}
	for s := 2; s >= 0; s-- {
		stay := new(big.Rat).Sub(big.NewRat(1, 1), a[s][s])
		for _, k := range []int{0, 1, 2, 5} {
			a[s][k] = new(big.Rat).Quo(a[s][k], stay)
		}
		a[s][s].SetInt64(0)
		for t := range s {
			w := a[t][s]
			for _, k := range []int{0, 1, 2, 5} {
				if k != s {
					a[t][k].Add(a[t][k], new(big.Rat).Mul(w, a[s][k]))
				}
			}
			a[t][s] = new(big.Rat)
		}
	}
	return a[0][5]
}

// points are what the schedulers without memory have: the chances of 3 and 4, and the cost.
// If that matters it has to be finite.
func (e errand) points(costs bool) (out [][3]*big.Rat) {
	free := func(int) int64 { return 0 }
	for a := range e[0] {
		for b := range e[1] {
			for c := range e[2] {
				how := []int{a, b, c}
				cost := e.solve(how, func(s int) int64 { return int64(e[s][how[s]].cost) }, new(big.Rat), new(big.Rat))
				if cost != nil || !costs {
					out = append(out, [3]*big.Rat{e.solve(how, free, big.NewRat(1, 1), new(big.Rat)), e.solve(how, free, new(big.Rat), big.NewRat(1, 1)), cost})
				}
			}
		}
	}
	return out
}

// aim is one of the three numbers, to be great or small.
type aim struct {
	of    int
	great bool
}

func (a aim) sign(x *big.Rat) *big.Rat {
	if a.great {
		return x
	}
	return new(big.Rat).Neg(x)
}

// best is the greatest value of one aim among the means of points for which another is
// at least, or at most, a bound; nil if there are none: of the points, or of two on the bound.
func best(points [][3]*big.Rat, q, other aim, bound *big.Rat) (out *big.Rat) {
	take := func(x *big.Rat) {
		if out == nil || q.sign(x).Cmp(q.sign(out)) > 0 {
			out = x
		}
	}
	for _, x := range points {
		d := new(big.Rat).Sub(x[other.of], bound)
		if other.sign(d).Sign() >= 0 {
			take(x[q.of])
		}
		for _, y := range points {
			e := new(big.Rat).Sub(bound, y[other.of])
			if d.Sign()*e.Sign() <= 0 {
				continue
			}
			all := new(big.Rat).Add(d, e)
			mean := new(big.Rat).Mul(x[q.of], e)
			mean.Add(mean, new(big.Rat).Mul(y[q.of], d))
			take(mean.Quo(mean, all))
		}
	}
	return out
}

func (a aim) text(bound string) string {
	op := map[bool]string{true: ">=", false: "<="}[a.great] + bound
	if bound == "" {
		op = map[bool]string{true: "max=?", false: "min=?"}[a.great]
	}
	return []string{"P" + op + " [ F s=3 ]", "P" + op + " [ F s=4 ]", "R{\"t\"}" + op + " [ C ]"}[a.of]
}

var tiny = big.NewRat(1, 1<<60)

func moved(x *big.Rat, up bool) *big.Rat {
	if up {
		return new(big.Rat).Add(x, tiny)
	}
	if x.Cmp(tiny) < 0 {
		return x
	}
	return new(big.Rat).Sub(x, tiny)
}

func nudged(rng *rand.Rand, v *certificate.Values, up bool) *certificate.Values {
	out := *v
	out.Fractions = slices.Clone(v.Fractions)
	s := rng.IntN(min(2, len(out.Fractions)))
	out.Fractions[s] = moved(out.Fractions[s], up)
	return &out
}

// severalAttacks change a copy of what proves several objectives. One that could not is false.
func severalAttacks() map[string]func(rng *rand.Rand, vector *certificate.Vector, x *certificate.Several) bool {
	part := func(rng *rand.Rand, x *certificate.Several) *certificate.Part {
		if len(x.Parts) == 0 {
			return nil
		}
		p := &x.Parts[rng.IntN(len(x.Parts))]
		p.Choice, p.Values, p.Ranks = slices.Clone(p.Choice), slices.Clone(p.Values), slices.Clone(p.Ranks)
		return p
	}
	return map[string]func(rng *rand.Rand, vector *certificate.Vector, x *certificate.Several) bool{
		"nothing": func(*rand.Rand, *certificate.Vector, *certificate.Several) bool { return true },
		"upper nudged": func(rng *rand.Rand, vector *certificate.Vector, _ *certificate.Several) bool {
			if vector.Upper == nil {
				return false
			}
			vector.Upper = nudged(rng, vector.Upper, false)
			return true
		},
		"least nudged": func(rng *rand.Rand, vector *certificate.Vector, _ *certificate.Several) bool {
			vector.Lower = nudged(rng, vector.Lower, true)
			return true
		},
		"values nudged": func(rng *rand.Rand, _ *certificate.Vector, x *certificate.Several) bool {
			p := part(rng, x)
			if p == nil {
				return false
			}
			i := rng.IntN(len(p.Values))
			p.Values[i] = nudged(rng, p.Values[i], x.Objectives[i].Maximised)
			return true
		},
		"another choice": func(rng *rand.Rand, _ *certificate.Vector, x *certificate.Several) bool {
			p := part(rng, x)
			if p == nil {
				return false
			}
			p.Choice[rng.IntN(min(3, len(p.Choice)))] = uint32(rng.IntN(3))
			return true
		},
		"ranks all 0": func(rng *rand.Rand, vector *certificate.Vector, x *certificate.Several) bool {
			vector.Rank = make([]uint32, x.States)
			if p := part(rng, x); p != nil {
				for i := range p.Ranks {
					p.Ranks[i] = make([]uint32, x.States)
				}
			}
			return true
		},
		"shares moved": func(rng *rand.Rand, _ *certificate.Vector, x *certificate.Several) bool {
			if len(x.Parts) < 2 {
				return false
			}
			x.Parts[0].Share, x.Parts[1].Share = moved(x.Parts[0].Share, true), moved(x.Parts[1].Share, false)
			return true
		},
		"a share more": func(_ *rand.Rand, _ *certificate.Vector, x *certificate.Several) bool {
			if len(x.Parts) < 1 {
				return false
			}
			x.Parts[0].Share = moved(x.Parts[0].Share, true)
			return true
		},
		"weights nudged": func(rng *rand.Rand, _ *certificate.Vector, x *certificate.Several) bool {
			if x.Weights == nil {
				return false
			}
			x.Weights = slices.Clone(x.Weights)
			i := rng.IntN(len(x.Weights))
			x.Weights[i] = moved(x.Weights[i], rng.IntN(2) == 0)
			return true
		},
		"shift": func(rng *rand.Rand, _ *certificate.Vector, x *certificate.Several) bool {
			if x.Shift == nil {
				return false
			}
			x.Shift = moved(x.Shift, rng.IntN(2) == 0)
			return true
		},
		"factor": func(rng *rand.Rand, _ *certificate.Vector, x *certificate.Several) bool {
			if x.Factor == nil {
				return false
			}
			x.Factor = []*big.Rat{new(big.Rat), moved(x.Factor, true), big.NewRat(1000, 1)}[rng.IntN(3)]
			return true
		},
		"least infinite": func(rng *rand.Rand, vector *certificate.Vector, x *certificate.Several) bool {
			y := *vector.Lower
			y.Infinite = certificate.NewBits(x.States)
			y.Infinite.Add(rng.IntN(min(3, x.States)))
			vector.Lower, vector.Layer = &y, make([]uint32, x.States)
			return true
		},
		"min and max": func(_ *rand.Rand, _ *certificate.Vector, x *certificate.Several) bool {
			x.Objectives[0].Maximised = !x.Objectives[0].Maximised
			return true
		},
		"a bound moved": func(rng *rand.Rand, _ *certificate.Vector, x *certificate.Several) bool {
			o := &x.Objectives[len(x.Objectives)-1]
			o.Bound = moved(o.Bound, o.Maximised)
			return rng != nil
		},
	}
}

// TestSeveral proves what can be had of two aims, and changes the certificates: what is
// accepted is true by all schedulers without memory, in fractions, and the second checker
// says the same.
func TestSeveral(t *testing.T) {
	all := severalAttacks()
	names := slices.Sorted(maps.Keys(all))
	dir := t.TempDir()
	var paths, said []string
	type count struct{ made, rejected int }
	counts := map[string]*count{}
	made := 0
	for seed := range needs.Some(uint64(400)) {
		rng := rand.New(rand.NewPCG(seed, 9))
		e := newErrand(rng)
		q, other := aim{rng.IntN(3), rng.IntN(2) == 0}, aim{rng.IntN(3), rng.IntN(2) == 0}
		points := e.points(q.of == 2 || other.of == 2)
		if q.of == 2 && q.great || other.of == 2 && other.great || len(points) == 0 {
			continue // a cost that is to be great may be infinite
		}
		x, y := points[rng.IntN(len(points))][other.of], points[rng.IntN(len(points))][other.of]
		bound := new(big.Rat).Add(x, y)
		bound.Quo(bound, big.NewRat(2, 1))
		asked, query := rng.IntN(3) > 0, ""
		goal := big.NewRat(int64(rng.IntN(11)), 10)
		if !asked {
			query = goal.RatString()
		}
		space, props := spaceOf(t, e.text(), "multi("+q.text(query)+", "+other.text(bound.RatString())+")")
		prover, err := prove.New(space, prove.Options{Ordered: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := prover.Add(t.Context(), props[0]); err != nil {
			if strings.Contains(err.Error(), "infinite") || strings.Contains(err.Error(), "for ever") || strings.Contains(err.Error(), "finite") {
				continue // with costs that some schedulers have for ever
			}
			if best(points, q, other, bound) == nil {
				continue
			}
			t.Fatalf("seed %d: %s\n%v", seed, e.text(), err)
		}
		for _, name := range names {
			f := prover.File
			f.Vectors = slices.Clone(f.Vectors)
			vector := &f.Vectors[0]
			several := *vector.Several
			several.Objectives, several.Parts = slices.Clone(several.Objectives), slices.Clone(several.Parts)
			vector.Several = &several
			if !all[name](rng, vector, vector.Several) {
				continue
			}
			c := counts[name]
			if c == nil {
				c = new(count)
				counts[name] = c
			}
			made++
			c.made++
			q, bound := aim{q.of, vector.Several.Objectives[0].Maximised}, vector.Several.Objectives[1].Bound
			truth := best(points, q, other, bound)
			results, err := certify.Check(t.Context(), &f)
			ok := err == nil && results[0].Err == nil
			switch {
			case !ok && name == "nothing":
				t.Fatalf("seed %d: %s\n%s: %v %v", seed, e.text(), results[0].Statement, err, results[0].Err)
			case !ok:
				c.rejected++
			case asked && (truth == nil || results[0].Lower.Cmp(truth) > 0 || results[0].Upper != nil && results[0].Upper.Cmp(truth) < 0),
				!asked && results[0].Holds != (truth != nil && q.sign(truth).Cmp(q.sign(vector.Several.Objectives[0].Bound)) >= 0):
				t.Fatalf("seed %d, %s: %s\naccepted %s in [%v, %v] or %v, want %v", seed, name, e.text(), results[0].Statement, results[0].Lower, results[0].Upper, results[0].Holds, truth)
			case name == "nothing" && asked && (results[0].Upper == nil || results[0].Lower.Cmp(results[0].Upper) != 0):
				t.Fatalf("seed %d: %s is in [%v, %v], which is not exact", seed, results[0].Statement, results[0].Lower, results[0].Upper)
			}
			if made%4 != 0 {
				continue
			}
			w, err2 := files.NewWriter(space, files.Options{})
			if err2 != nil {
				t.Fatal(err2)
			}
			var text bytes.Buffer
			if err := certificate.Write(t.Context(), &text, w.UMBMembers, &f); err != nil {
				t.Fatal(err)
			}
			back, err := certificate.Read(t.Context(), bytes.NewReader(text.Bytes()), certificate.Limits{})
			line := "no"
			if err == nil {
				if again, err := certify.Check(t.Context(), back); err == nil && again[0].Err == nil {
					if line = fmt.Sprint(again[0].Holds); again[0].Number {
						upper := "inf"
						if again[0].Upper != nil {
							upper = again[0].Upper.RatString()
						}
						line = "value " + again[0].Lower.RatString() + " " + upper
					}
				}
			}
			path := filepath.Join(dir, fmt.Sprint(len(paths), ".cert"))
			if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			paths, said = append(paths, path), append(said, line)
		}
	}
	for _, name := range names {
		if c := counts[name]; c == nil || name != "nothing" && c.rejected == 0 {
			t.Errorf("%s: nothing was rejected", name)
		} else {
			t.Logf("%-16s %4d made, %4d rejected, the others are true", name, c.made, c.rejected)
		}
	}
	out, err := exec.CommandContext(t.Context(), needs.Python(t), append([]string{"../../certify/testdata/check.py"}, paths...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		if line != said[i] {
			t.Errorf("%s: the second checker says %q, the first %q", paths[i], line, said[i])
		}
	}
}
