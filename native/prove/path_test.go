package prove_test

import (
	"bytes"
	"fmt"
	"maps"
	"math"
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
	"tilecheck/native"
	"tilecheck/native/prove"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/files"
	"tilecheck/result"
	"tilecheck/runner"
)

// randomText is a chain or MDP of five states, with the labels a and b.
func randomText(rng *rand.Rand) string {
	kind := []string{"dtmc", "mdp"}[rng.IntN(2)]
	out := kind + "\nmodule m\n  s : [0..4] init 0;\n"
	for s := range 5 {
		for range 1 + rng.IntN(2) {
			one, two := rng.IntN(5), rng.IntN(5)
			if one == two {
				out += fmt.Sprintf("  [] s=%d -> (s'=%d);\n", s, one)
			} else {
				out += fmt.Sprintf("  [] s=%d -> %s:(s'=%d) + %s:(s'=%d);\n", s, [2]string{"1/3", "0.5"}[s%2], one, [2]string{"2/3", "0.5"}[s%2], two)
			}
			if kind == "dtmc" {
				break
			}
		}
	}
	return out + fmt.Sprintf("endmodule\nrewards s>1 : s; endrewards\nlabel \"a\" = s=%d | s=%d;\nlabel \"b\" = s=%d;\n", rng.IntN(5), rng.IntN(5), rng.IntN(5))
}

// randomPath is a path formula.
func randomPath(rng *rand.Rand, depth int) string {
	if depth == 0 || rng.IntN(6) == 0 {
		return []string{`"a"`, `"b"`, `!"a"`}[rng.IntN(3)]
	}
	x, y := randomPath(rng, depth-1), randomPath(rng, depth-1)
	return []string{
		"(F " + x + ")", "(G " + x + ")", "(X " + x + ")", "(" + x + " U " + y + ")", "(" + x + " & " + y + ")",
		"(" + x + " | " + y + ")", "(F (G " + x + "))", "(G (F " + x + "))", "(F<=2 " + x + ")", "(" + x + " W " + y + ")", "!" + x,
	}[rng.IntN(11)]
}

// randomCoSafe is a co-safe one.
func randomCoSafe(rng *rand.Rand, depth int) string {
	if depth == 0 {
		return []string{`"a"`, `"b"`, `!"a"`}[rng.IntN(3)]
	}
	x, y := randomCoSafe(rng, depth-1), randomCoSafe(rng, depth-1)
	return []string{"(F " + x + ")", "(X " + x + ")", "(" + x + " U " + y + ")", "(" + x + " & " + y + ")", "(" + x + " | " + y + ")"}[rng.IntN(5)]
}

// exact is the fraction that the engine finds with another product; nil is infinity.
func exact(t *testing.T, model, prop string) *big.Rat {
	t.Helper()
	verdicts, err := runner.Check(t.Context(), native.New(), runner.Job{
		File: "m.prism", Model: []byte(model), Props: []string{prop}, Settings: runner.Settings{Numeric: runner.Numeric{Accuracy: result.Exact}},
	})
	if err != nil || verdicts[0].Err != nil || verdicts[0].Value.Rat == nil && !math.IsInf(verdicts[0].Value.Num, 1) {
		t.Fatal(prop, err, verdicts)
	}
	return verdicts[0].Value.Rat
}

// pathAttacks change a certificate of a path formula. One that could not is false.
func pathAttacks() map[string]func(rng *rand.Rand, vector *certificate.Vector, file *certificate.File) bool {
	shuffle := func(rng *rand.Rand, column []uint32) bool {
		before := slices.Clone(column)
		rng.Shuffle(len(column), func(i, j int) { column[i], column[j] = column[j], column[i] })
		return !slices.Equal(before, column)
	}
	nudge := func(x *certificate.Values, s int, by int64) bool {
		if x.Fixed == nil || by < 0 && x.Fixed[s] == 0 {
			return false
		}
		x.Fixed[s] += uint64(by)
		return true
	}
	return map[string]func(rng *rand.Rand, vector *certificate.Vector, file *certificate.File) bool{
		"lower nudged": func(_ *rand.Rand, vector *certificate.Vector, _ *certificate.File) bool {
			return nudge(vector.Lower, 0, 9)
		},
		"upper nudged": func(_ *rand.Rand, vector *certificate.Vector, _ *certificate.File) bool {
			return nudge(vector.Upper, 0, -9)
		},
		"all is won": func(_ *rand.Rand, vector *certificate.Vector, _ *certificate.File) bool {
			clear(vector.WinningRanks)
			clear(vector.Rank)
			return len(vector.WinningRanks) > 0
		},
		"upper half": func(_ *rand.Rand, vector *certificate.Vector, _ *certificate.File) bool {
			for s := range vector.Upper.Fixed {
				vector.Upper.Fixed[s] /= 2
			}
			return vector.Upper.Fixed != nil
		},
		"won shuffled": func(rng *rand.Rand, vector *certificate.Vector, _ *certificate.File) bool {
			return shuffle(rng, vector.WinningRanks)
		},
		"layers shuffled": func(rng *rand.Rand, vector *certificate.Vector, _ *certificate.File) bool {
			return shuffle(rng, vector.Layer)
		},
		"ranks shuffled": func(rng *rand.Rand, vector *certificate.Vector, _ *certificate.File) bool {
			return shuffle(rng, vector.Rank)
		},
		"another step": func(rng *rand.Rand, vector *certificate.Vector, _ *certificate.File) bool {
			row := vector.Automaton.Next[rng.IntN(len(vector.Automaton.Next))]
			k, to := rng.IntN(len(row)), uint32(rng.IntN(len(vector.Automaton.Next)))
			changed := row[k] != to
			row[k] = to
			return changed
		},
		"another mark": func(rng *rand.Rand, vector *certificate.Vector, _ *certificate.File) bool {
			q := rng.IntN(len(vector.Automaton.Accepting))
			vector.Automaton.Accepting[q] = !vector.Automaton.Accepting[q]
			return true
		},
		"fewer jumps": func(rng *rand.Rand, vector *certificate.Vector, _ *certificate.File) bool {
			q := rng.IntN(len(vector.Automaton.Jumps))
			had := len(vector.Automaton.Jumps[q]) > 0
			vector.Automaton.Jumps[q] = nil
			return had
		},
		"fewer runs": func(_ *rand.Rand, vector *certificate.Vector, _ *certificate.File) bool {
			if vector.Automaton.Runs == 0 {
				return false
			}
			vector.Automaton.Runs--
			vector.WinningRanks, vector.Layer = vector.WinningRanks[1:], vector.Layer[1:]
			return true
		},
		"minimum": func(_ *rand.Rand, vector *certificate.Vector, file *certificate.File) bool {
			vector.IsMaximum = !vector.IsMaximum
			return file.Model.Kind == certificate.MDP
		},
		"complement": func(_ *rand.Rand, vector *certificate.Vector, file *certificate.File) bool {
			file.Claims[0].Complement = !file.Claims[0].Complement
			vector.Automaton.Formula = &certificate.Formula{Op: "!", Operand: vector.Automaton.Formula}
			return true
		},
	}
}

// copied copies what attacks change.
func copied(file *certificate.File) *certificate.File {
	out := *file
	out.Vectors, out.Claims = slices.Clone(file.Vectors), slices.Clone(file.Claims)
	vector := &out.Vectors[0]
	vector.WinningRanks, vector.Layer, vector.Rank = slices.Clone(vector.WinningRanks), slices.Clone(vector.Layer), slices.Clone(vector.Rank)
	for _, x := range []**certificate.Values{&vector.Lower, &vector.Upper} {
		y := **x
		y.Fixed = slices.Clone(y.Fixed)
		*x = &y
	}
	a := *vector.Automaton
	a.Accepting, a.Jumps, a.Next = slices.Clone(a.Accepting), slices.Clone(a.Jumps), slices.Clone(a.Next)
	for q := range a.Next {
		a.Next[q] = slices.Clone(a.Next[q])
	}
	vector.Automaton = &a
	return &out
}

// secondChecker is certify/testdata/check.py, which is to say the same of some files.
type secondChecker struct {
	t           *testing.T
	dir         string
	names, want []string
	seen        int
}

func (c *secondChecker) add(space *explicit.Space, file *certificate.File, results []certify.Result, err error) {
	c.t.Helper()
	if c.seen++; c.seen%3 != 0 { // it is slow
		return
	}
	said := "no"
	switch {
	case err != nil || results[0].Err != nil:
	case !results[0].Number:
		said = fmt.Sprint(results[0].Holds)
	default:
		said = "value " + told(results[0].Lower) + " " + told(results[0].Upper)
	}
	name := filepath.Join(c.dir, fmt.Sprint(len(c.names), ".cert"))
	w, err := files.NewWriter(space, files.Options{})
	if err != nil {
		c.t.Fatal(err)
	}
	var text bytes.Buffer
	if err := certificate.Write(c.t.Context(), &text, w.UMBMembers, file); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(name, text.Bytes(), 0o600); err != nil {
		c.t.Fatal(err)
	}
	again, err := certificate.Read(c.t.Context(), &text, certificate.Limits{})
	if err == nil {
		results, err = certify.Check(c.t.Context(), again)
	}
	if ok := err == nil && results[0].Err == nil; ok != (said != "no") {
		c.t.Errorf("%s: read again it is accepted: %v", said, ok)
	}
	c.names, c.want = append(c.names, name), append(c.want, said)
}

func told(x *big.Rat) string {
	if x == nil {
		return "inf"
	}
	return x.RatString()
}

// compare runs it. Of automata it tries fewer words than we do: what only an automaton is
// rejected for it may accept.
func (c *secondChecker) compare() {
	python := needs.Python(c.t)
	out, err := exec.CommandContext(c.t.Context(), python, append([]string{"../../certify/testdata/check.py"}, c.names...)...).Output()
	if err != nil {
		c.t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != len(c.want) {
		c.t.Fatalf("found %d lines, wanted %d", len(lines), len(c.want))
	}
	for i, line := range lines {
		if line != c.want[i] {
			kept := filepath.Join(os.TempDir(), filepath.Base(c.names[i]))
			_ = os.Rename(c.names[i], kept)
			c.t.Errorf("%s: the second checker says %q, want %q", kept, line, c.want[i])
		}
	}
}

// certified makes a certificate of one property.
func certified(t *testing.T, model, prop string) (*explicit.Space, *certificate.File) {
	t.Helper()
	space, props := spaceOf(t, model, prop)
	prover, err := prove.New(space, prove.Options{Ordered: true})
	if err != nil {
		t.Fatal(err)
	}
	i, err := prover.Add(t.Context(), props[0])
	if err != nil {
		t.Fatal(model, prop, err)
	}
	return space, prove.Only(&prover.File, i)
}

// scattered writes every transition of a random text as a choice of its own.
func scattered(text string) string {
	var out []string
	for _, line := range strings.Split(strings.Replace(text, "dtmc", "mdp", 1), "\n") {
		guard, updates, command := strings.Cut(line, " -> ")
		if !command {
			out = append(out, line)
			continue
		}
		for _, update := range strings.Split(strings.TrimSuffix(updates, ";"), " + ") {
			out = append(out, guard+" -> "+update[strings.Index(update, "("):]+";")
		}
	}
	return strings.Join(out, "\n")
}

// TestSomePath: E and A of random path formulas are proven to be what the engine finds of
// the probability where every transition may be chosen, and no change proves the contrary.
func TestSomePath(t *testing.T) {
	needs.Full(t)
	attacks := pathAttacks()
	delete(attacks, "complement")
	attacks["another answer"] = func(_ *rand.Rand, _ *certificate.Vector, file *certificate.File) bool {
		file.Claims[0].Holds = !file.Claims[0].Holds
		return true
	}
	attacks["no paths"] = func(_ *rand.Rand, vector *certificate.Vector, file *certificate.File) bool {
		vector.ExistsPath, file.Sets = false, slices.Clone(file.Sets)
		for i := range file.Sets { // of which one would be P>=1 [ ... ]
			file.Sets[i].Relation = strings.Replace(file.Sets[i].Relation, ">=", "<", 1)
		}
		return true
	}
	second := &secondChecker{t: t, dir: t.TempDir()}
	made, accepted, rejected := map[bool]int{}, 0, 0
	for seed := range needs.Some(uint64(100)) {
		rng := rand.New(rand.NewPCG(seed, 22))
		model, path := randomText(rng), randomPath(rng, 3)
		prop, value := "E [ "+path+" ]", "Pmax=? [ "+path+" ]"
		if seed%2 == 0 {
			prop, value = "A [ "+path+" ]", "Pmin=? [ "+path+" ]"
		}
		truth := exact(t, scattered(model), value).Cmp(big.NewRat(1, 1)) == 0
		space, file := certified(t, model, prop)
		results, err := certify.Check(t.Context(), file)
		if err != nil || results[0].Err != nil || results[0].Holds != truth {
			t.Fatalf("seed %d: %s%s: %v %v, want %v", seed, model, prop, results, err, truth)
		}
		second.add(space, file, results, err)
		if len(file.Vectors) == 0 || file.Vectors[0].Automaton == nil {
			continue
		}
		made[truth]++
		for _, name := range slices.Sorted(maps.Keys(attacks)) {
			g := copied(file)
			if !attacks[name](rng, &g.Vectors[0], g) {
				continue
			}
			results, err := certify.Check(t.Context(), g)
			second.add(space, g, results, err)
			switch {
			case err != nil || results[0].Err != nil:
				rejected++
			case results[0].Statement == file.Statement(&file.Claims[0]) && results[0].Holds != truth:
				t.Errorf("seed %d, %s: %s%s: a false certificate is accepted", seed, name, model, prop)
			default:
				accepted++
			}
		}
	}
	if t.Logf("%v proven, %d changes rejected, %d remain true", made, rejected, accepted); made[true] < 2 || made[false] < 2 || rejected == 0 {
		t.Error("too few, or none rejected")
	}
	second.compare()
}

// TestPaths: what is proven of random path formulas contains the fraction that the engine
// finds, and no change of a certificate makes it prove something that does not.
func TestPaths(t *testing.T) {
	needs.Full(t)
	attacks := pathAttacks()
	accepted, rejected := map[string]int{}, map[string]int{}
	made := map[certificate.VectorKind]int{}
	second := &secondChecker{t: t, dir: t.TempDir()}
	for seed := range max(needs.Some(uint64(90)), 30) {
		rng := rand.New(rand.NewPCG(seed, 21))
		model := randomText(rng)
		opt := "P=? [ "
		if strings.HasPrefix(model, "mdp") {
			opt = []string{"Pmax=? [ ", "Pmin=? [ "}[rng.IntN(2)]
		}
		prop := opt + randomPath(rng, 3) + " ]"
		if seed%3 == 0 {
			prop = "R" + opt[1:] + "F " + randomCoSafe(rng, 2) + " ]"
		}
		truth := exact(t, model, prop)
		space, file := certified(t, model, prop)
		holds := func(file *certificate.File) (accepted, right bool) {
			results, err := certify.Check(t.Context(), file)
			second.add(space, file, results, err)
			if err != nil || results[0].Err != nil {
				return false, true
			}
			lower, upper := results[0].Lower, results[0].Upper
			return true, (truth == nil || lower != nil && lower.Cmp(truth) <= 0) && (upper == nil || truth != nil && upper.Cmp(truth) >= 0)
		}
		if ok, right := holds(file); !ok || !right {
			results, err := certify.Check(t.Context(), file)
			t.Fatalf("seed %d: %s%s: %v %v, want %s", seed, model, prop, results, err, truth)
		}
		if file.Vectors[0].Automaton == nil {
			continue
		}
		made[file.Vectors[0].Kind]++
		for _, name := range slices.Sorted(maps.Keys(attacks)) {
			g := copied(file)
			if !attacks[name](rng, &g.Vectors[0], g) {
				continue
			}
			ok, right := holds(g)
			if ok && !right {
				t.Errorf("seed %d, %s: %s%s: a false certificate is accepted", seed, name, model, prop)
			}
			if ok {
				accepted[name]++
			} else {
				rejected[name]++
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(attacks)) {
		t.Logf("%-16s %4d rejected, %4d remain true", name, rejected[name], accepted[name])
		if rejected[name] == 0 {
			t.Errorf("%s: nothing was rejected", name)
		}
	}
	t.Log(made)
	second.compare()
}
