package compile

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// modelWriter writes random models: every type that runs, modules that
// synchronise, expressions of all operators, some of which fail in some states,
// probabilities that depend on the state, and rewards.
type modelWriter struct {
	r     *rand.Rand
	kind  string
	ints  []string // names of Int variables
	lows  []int
	highs []int
	bools []string
}

func (w *modelWriter) pick(xs ...string) string { return xs[w.r.IntN(len(xs))] }

func randomModel(seed uint64) string {
	w := &modelWriter{r: rand.New(rand.NewPCG(seed, 2048))}
	w.kind = w.pick("dtmc", "mdp", "mdp", "ctmc")
	var b strings.Builder
	b.WriteString(w.kind + "\n")
	modules := 1 + w.r.IntN(3)
	actions := map[string]bool{}
	owned := make([][]int, modules) // indices of ints
	bools := make([][]int, modules)
	var decls []string
	for m := range modules {
		var d strings.Builder
		for range 1 + w.r.IntN(2) {
			name := fmt.Sprintf("x%d", len(w.ints))
			low := w.r.IntN(3) - 1
			high := low + 1 + w.r.IntN(6)
			owned[m] = append(owned[m], len(w.ints))
			w.ints, w.lows, w.highs = append(w.ints, name), append(w.lows, low), append(w.highs, high)
			fmt.Fprintf(&d, "  %s : [%d..%d] init %d;\n", name, low, high, low+w.r.IntN(high-low+1))
		}
		if w.r.IntN(2) == 0 {
			bools[m] = append(bools[m], len(w.bools))
			w.bools = append(w.bools, fmt.Sprintf("b%d", len(w.bools)))
			fmt.Fprintf(&d, "  %s : bool init %s;\n", w.bools[len(w.bools)-1], w.pick("true", "false"))
		}
		decls = append(decls, d.String())
	}
	for m := range modules {
		fmt.Fprintf(&b, "module m%d\n%s", m, decls[m])
		for range 1 + w.r.IntN(5) {
			action := w.pick("", "a", "b")
			actions[action] = true
			b.WriteString(w.command(action, owned[m], bools[m]))
		}
		b.WriteString("endmodule\n")
	}
	fmt.Fprintf(&b, "label \"goal\" = %s;\nlabel \"safe\" = %s;\n", w.boolean(2), w.pick("true", w.boolean(1)+" | "+w.boolean(1)))
	rewarded := w.pick("a", "b", "")
	if !actions[rewarded] {
		rewarded = ""
	}
	fmt.Fprintf(&b, "rewards %s : %s; %s : %s; [%s] true : %s; [] %s : 0.5; endrewards\n",
		w.boolean(1), w.reward(), w.boolean(2), w.reward(), rewarded, w.reward(), w.boolean(1))
	return b.String()
}

func (w *modelWriter) reward() string { return w.pick("1", "0.1", "x0+1", "max(0,x0)/3", "x0") }

func (w *modelWriter) command(action string, ints, bools []int) string {
	n := 1 + w.r.IntN(4)
	probs := w.probabilities(n)
	var ups []string
	for i := range n {
		ups = append(ups, probs[i]+w.update(ints, bools))
	}
	return fmt.Sprintf("  [%s] %s -> %s;\n", action, w.boolean(2), strings.Join(ups, " + "))
}

// probabilities returns n weights with their colons, that sum to one unless
// the model has rates, and now and then do not.
func (w *modelWriter) probabilities(n int) []string {
	out := make([]string, n)
	x, low := w.ints[0], w.lows[0]
	for i := range out {
		switch {
		case w.kind == "ctmc":
			out[i] = w.pick("1", "2.5", "0.25", fmt.Sprintf("(%s+%d)", x, 1-low), fmt.Sprintf("(%s+%d)/3", x, -low)) + " : "
		case n == 1:
			out[i] = w.pick("", "", "1 : ", "1 : ", fmt.Sprintf("(%s=%d ? 1 : 1) : ", x, low))
		default:
			out[i] = fmt.Sprintf("1/%d : ", n)
		}
	}
	if w.kind == "ctmc" || n == 1 {
		return out
	}
	p := w.pick("0.3", "0.9", fmt.Sprintf("(%s+%d)/20", x, 1-low), fmt.Sprintf("(%s=%d ? 0 : 0.5)", x, low), fmt.Sprintf("(%s=%d ? 1 : 0)", x, low))
	switch w.r.IntN(12) {
	case 0, 1, 2, 3, 4, 5, 6:
		out[0] = p + " : "
		rest := fmt.Sprintf("(1-%s)/%d : ", p, n-1)
		for i := 1; i < n; i++ {
			out[i] = rest
		}
	case 7:
		if w.r.IntN(4) == 0 {
			out[0] = p + " : " // the sum is likely wrong
		}
	}
	return out
}

func (w *modelWriter) update(ints, bools []int) string {
	var parts []string
	for _, i := range ints {
		if w.r.IntN(3) > 0 {
			parts = append(parts, fmt.Sprintf("(%s'=%s)", w.ints[i], w.within(i)))
		}
	}
	for _, i := range bools {
		if w.r.IntN(2) > 0 {
			parts = append(parts, fmt.Sprintf("(%s'=%s)", w.bools[i], w.boolean(2)))
		}
	}
	if len(parts) == 0 {
		return "true"
	}
	return strings.Join(parts, "&")
}

// within writes a value for variable i, mostly one inside its range.
func (w *modelWriter) within(i int) string {
	low, high := w.lows[i], w.highs[i]
	switch w.r.IntN(8) {
	case 0:
		return fmt.Sprint(low + w.r.IntN(high-low+1))
	case 1, 2, 3:
		return fmt.Sprintf("max(%d,min(%d,%s))", low, high, w.integer(2))
	case 4, 5:
		return fmt.Sprintf("mod(%s,%d)+%d", w.integer(2), high-low+1, low)
	case 6:
		return fmt.Sprintf("%s<%d ? %s+1 : %d", w.ints[i], high, w.ints[i], low)
	default:
		return w.pick(w.ints[i], w.integer(1), fmt.Sprintf("%s ? %d : %d", w.boolean(1), low, high))
	}
}

func (w *modelWriter) integer(depth int) string {
	x := w.ints[w.r.IntN(len(w.ints))]
	if depth == 0 {
		return w.pick(x, x, fmt.Sprint(w.r.IntN(5)), fmt.Sprintf("-%d", w.r.IntN(3)))
	}
	a, c := w.integer(depth-1), w.integer(depth-1)
	switch w.r.IntN(16) {
	case 0, 1, 2:
		return fmt.Sprintf("(%s+%s)", a, c)
	case 3, 4:
		return fmt.Sprintf("(%s-%s)", a, c)
	case 5, 6:
		return fmt.Sprintf("(%s*%s)", a, c)
	case 7:
		return fmt.Sprintf("mod(%s,%s)", a, w.pick(c, "3", "2"))
	case 8:
		return fmt.Sprintf("min(%s,%s)", a, c)
	case 9:
		return fmt.Sprintf("max(%s,%s,1)", a, c)
	case 10:
		return fmt.Sprintf("floor(%s)", w.number(depth-1))
	case 11:
		return fmt.Sprintf("ceil(%s)", w.number(depth-1))
	case 12:
		return fmt.Sprintf("round(%s)", w.number(depth-1))
	case 13:
		return w.pick(fmt.Sprintf("pow(2,%s)", a), fmt.Sprintf("-%s", a), fmt.Sprintf("(%s^2)", a))
	case 14:
		return fmt.Sprintf("(%s ? %s : %s)", w.boolean(depth-1), a, c)
	default:
		return fmt.Sprintf("(%s*1000000*%s)", a, w.pick("1", "1000"))
	}
}

func (w *modelWriter) number(depth int) string {
	a, c := w.integer(depth), w.integer(depth)
	switch w.r.IntN(8) {
	case 0, 1:
		return fmt.Sprintf("%s/%s", a, w.pick(c, "2", "3"))
	case 2:
		return fmt.Sprintf("%s*0.5", a)
	case 3:
		return fmt.Sprintf("%s+0.25", a)
	case 4:
		return fmt.Sprintf("min(%s/2,%s)", a, c)
	case 5:
		return fmt.Sprintf("pow(%s,0.5)", a)
	case 6:
		return fmt.Sprintf("log(%s,2)", a)
	default:
		return fmt.Sprintf("(%s ? %s : 1.5)", w.boolean(0), a)
	}
}

func (w *modelWriter) boolean(depth int) string {
	if depth == 0 {
		if len(w.bools) > 0 && w.r.IntN(3) == 0 {
			return w.bools[w.r.IntN(len(w.bools))]
		}
		i := w.r.IntN(len(w.ints))
		return fmt.Sprintf("%s %s %d", w.ints[i], w.pick("=", "=", "!=", "<", "<=", ">", ">="), w.lows[i]+w.r.IntN(w.highs[i]-w.lows[i]+1))
	}
	a, c := w.boolean(depth-1), w.boolean(depth-1)
	switch w.r.IntN(12) {
	case 0, 1, 2:
		return fmt.Sprintf("(%s & %s)", a, c)
	case 3, 4, 5:
		return fmt.Sprintf("(%s | %s)", a, c)
	case 6:
		return fmt.Sprintf("!(%s)", a)
	case 7:
		return w.pick(fmt.Sprintf("(%s => %s)", a, c), fmt.Sprintf("(%s <=> %s)", a, c))
	case 8:
		return fmt.Sprintf("%s %s %s", w.integer(depth-1), w.pick("=", "<", ">="), w.integer(depth-1))
	case 9:
		return fmt.Sprintf("%s %s %s", w.number(depth-1), w.pick("=", "!=", "<", ">="), w.number(depth-1))
	case 10:
		return w.pick("true", a)
	default:
		return fmt.Sprintf("(%s ? %s : %s)", w.boolean(0), a, c)
	}
}
