package crosscheck_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"tilecheck/bridge"
	"tilecheck/internal/needs"
	"tilecheck/native"
	"tilecheck/native/load"
	"tilecheck/native/space/explicit"
	"tilecheck/prism/sema"
	"tilecheck/result"
	"tilecheck/runner"
	"tilecheck/verify/crosscheck"
)

// tangle is a random MDP with rewards, of which some states lead nowhere.
func tangle(rng *rand.Rand) string {
	n := 3 + rng.IntN(12)
	var b strings.Builder
	fmt.Fprintf(&b, "mdp module m s : [0..%d] init %d;\n", n-1, n-1)
	for s := range n {
		for c := range 1 + rng.IntN(2) {
			p := 1 + rng.IntN(15)
			fmt.Fprintf(&b, "[a%d] s=%d -> %d/16:(s'=%d) + %d/16:(s'=%d);\n", c, s, p, rng.IntN(n), 16-p, rng.IntN(n))
		}
	}
	fmt.Fprintf(&b, "endmodule rewards true : %d/8; endrewards\n", rng.IntN(9))
	return b.String()
}

// tangled are properties of which one vector each is proven.
var tangled = []string{"Pmax=? [ F s=0 ]", "Pmin=? [ F s=0 ]", "Pmax=? [ s>1 U s=0 ]", "Rmax=? [ F s<2 ]", "Rmin=? [ F s<2 ]", "Rmin=? [ C ]"}

// guesser answers, and tells of all states whatever comes to its mind.
type guesser struct {
	*canned
	rng  *rand.Rand
	told []float64
}

func (g *guesser) Values(ctx context.Context, p *runner.Plan, _ int, _, _ sema.Valuation) ([]float64, error) {
	m, _, err := load.Model(ctx, runner.Job{File: p.Job.File, Model: p.Job.Model})
	if err != nil {
		return nil, err
	}
	space, err := explicit.Build(ctx, m, explicit.Options{})
	if err != nil {
		return nil, err
	}
	g.told = nil
	for range space.Model().NumStates() {
		g.told = append(g.told, []float64{0, 1, g.rng.Float64(), 3 * g.rng.Float64()}[g.rng.IntN(4)])
	}
	return g.told, nil
}

// near reports whether a widening is within what is claimed of it: twice the distance to
// what is proven is enough, as docs/certificates.md has it.
func near(x *crosscheck.Proof) bool {
	return x.Widened && x.LeastDistance <= x.WideningDistance && x.WideningDistance <= 2*x.MaxStateError+1e-300
}

// Whatever an engine tells of the states of a random model, moved bounds around it are
// accepted by the checker.
func TestWiden(t *testing.T) {
	rng := rand.New(rand.NewPCG(16, 2))
	accepted := 0
	for i := range needs.Some(100) {
		text, property := tangle(rng), tangled[i%len(tangled)]
		g := &guesser{canned: says("a", estimate(0.5)), rng: rng}
		r := runWith(t, crosscheck.Options{Certify: true}, text, property, g)
		x := r.Rows[0].Proofs[0]
		switch {
		case x == nil || x.States != len(g.told):
			t.Errorf("%s %q: %+v\n%s", property, r.Rows[0].Notes, x, text)
		case near(x):
			accepted++
		case x.Widened || x.MaxStateError < 1e300 || property[0] == 'P': // only what is infinite cannot be widened to
			t.Errorf("%s %q: %+v told %v\n%s", property, r.Rows[0].Notes, x, g.told, text)
		}
	}
	if accepted == 0 {
		t.Error("nothing was accepted")
	}
}

// What PRISM tells of all states of random models is a certificate once it is widened by
// no more than twice its distance to what is proven. It stops its iteration early now and
// then, by so much that its answer is refuted (6.25815 where 6.25833 is proven).
func TestPRISMWidened(t *testing.T) {
	cmd := prism(t)
	rng := rand.New(rand.NewPCG(16, 3))
	models := 3
	if needs.IsLong() {
		models = 60
	}
	for range models {
		text := tangle(rng)
		job := runner.Job{File: "m.prism", Model: []byte(text), Props: tangled[:5]}
		r, err := crosscheck.Run(t.Context(), job, []runner.EngineConfig{
			{Engine: native.New()},
			{Engine: bridge.PRISM(cmd, bridge.Options{}), Accuracy: result.Float},
		}, crosscheck.Options{Certify: true})
		if err != nil {
			t.Fatal(err)
		}
		for i := range r.Rows {
			row := &r.Rows[i]
			x := row.Proofs[1]
			if x == nil || x.States == 0 || !near(x) || x.WideningDistance > 0.1 {
				t.Errorf("%s: %s %q %q: %+v\n%s", row.Property, row.Status, row.Reason, row.Notes, x, text)
				continue
			}
			t.Logf("%s: %d states to %.2g, widened by %.2g, at least %.2g", row.Property, x.States, x.MaxStateError, x.WideningDistance, x.LeastDistance)
		}
	}
}
