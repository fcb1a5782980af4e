package attack

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	seedFlag     = flag.Uint64("seed", 1, "the seed of all models")
	durationFlag = flag.Duration("duration", 0, "how long to go on; by default until every kind was attacked a few times")
	numberFlag   = flag.Int("number", -1, "only the model with this number")
	kindFlag     = flag.String("kind", "", "only models of these kinds, separated by commas")
	modeFlag     = flag.String("mode", "", "only in these modes, separated by commas")
)

// attack counts answers and alarms.
type attack struct {
	*testing.T
	maker
	seed, number uint64
	mode         string
	models       map[string]int    // by kind
	answers      map[[2]string]int // by kind and mode
	refusals     map[[2]string]int // by kind and message
	alarms       int
	// changes counts changed certificates, and accepted those that still prove something about the model.
	changes, accepted int
	sampled, missed   int    // intervals of samples, and those without the true value
	program           string // the path of the command; empty to run none
}

// generator makes the instances of a kind.
type generator struct {
	name string
	make func(r maker) *instance
}

// generators returns the kinds of instances.
func generators() []generator {
	var list []generator
	for _, kind := range []struct {
		name            string
		states, choices int
	}{{"dtmc", 7, 1}, {"ctmc", 6, 2}, {"mdp", 5, 3}, {"smg", 5, 3}, {"idtmc", 4, 1}, {"imdp", 4, 2}} {
		list = append(list, generator{kind.name, func(r maker) *instance { return r.finite(kind.name, kind.states, kind.choices) }})
	}
	return append(list, generator{"pomdp", maker.partial}, generator{"ma", maker.automaton}, generator{"parametric", maker.parametric},
		generator{"copies", maker.copies}, generator{"multi", maker.multi}, generator{"multi-reward", maker.multiReward}, generator{"pta", maker.timedInstance},
		generator{"discounted", maker.discounted}, generator{"infinite", maker.infinite})
}

// finite returns a model with questions.
func (r maker) finite(kind string, states, choices int) *instance {
	for {
		m := r.system(kind, 3+r.IntN(states-2), choices)
		if len(m.choices) < 3 || m.resolutions() > 300 {
			continue
		}
		i := &instance{kind: kind, file: "m.prism", text: m.text()}
		if strings.Contains(i.text, "[0,") {
			i.kind += " with lower ends of 0"
		}
		if m.width > 1 { // a file in Storm's format has no variables: x is the number of the state
			i.skip = []string{"drn", "drn exact"}
		}
		for range 6 {
			i.questions = append(i.questions, writer{r, m}.question())
		}
		for range 4 { // a question about the long run cannot be sampled
			if w := (writer{r, m}); kind == "dtmc" || kind == "ctmc" {
				q := pick(r, w.probability(0), w.reward())
				if x := q.of(all(true))[0]; x != nil && !strings.HasPrefix(q.path, "[ S") && q.operator != "S" {
					i.sampled = append(i.sampled, question{text: q.operator + "=? " + q.path, want: answer{lower: sub(x, roundingError), upper: add(x, roundingError)}})
				}
			}
		}
		return i
	}
}

// TestAttack compares answers with those of the oracles.
func TestAttack(t *testing.T) {
	a := &attack{T: t, seed: *seedFlag, models: map[string]int{}, answers: map[[2]string]int{}, refusals: map[[2]string]int{}}
	a.buildProgram()
	end := time.Now().Add(*durationFlag)
	kinds := generators()
	if *kindFlag != "" {
		kinds = slices.DeleteFunc(kinds, func(g generator) bool { return !isListed(*kindFlag, g.name) })
	}
	for number := range uint64(1 << 62) {
		if *numberFlag >= 0 {
			number = uint64(*numberFlag)
		}
		a.model(kinds[number%uint64(len(kinds))], number)
		if *numberFlag >= 0 || number+1 >= uint64(len(kinds)) && !time.Now().Before(end) || a.alarms > 50 {
			break
		}
	}
	a.report()
	a.checkCoverage()
	if *numberFlag < 0 {
		a.checkKinds(kinds)
	}
}

// isListed reports whether a list that is separated by commas has a name.
func isListed(list, name string) bool { return slices.Contains(strings.Split(list, ","), name) }

// checkKinds fails if there is no answer about a kind of instance or, after a long run about all kinds, in a mode.
func (a *attack) checkKinds(kinds []generator) {
	var asked, names []string
	for key := range a.answers {
		asked = append(asked, strings.Fields(key[0])[0], key[1])
	}
	for _, kind := range kinds {
		names = append(names, kind.name)
	}
	if *durationFlag > time.Minute && *kindFlag == "" && *modeFlag == "" {
		for _, mode := range modes() {
			names = append(names, mode.name)
		}
	}
	for _, name := range names {
		if !slices.Contains(asked, name) {
			a.Errorf("no answers: %s", name)
		}
	}
}

// model attacks the model with a number, in some modes.
func (a *attack) model(kind generator, number uint64) {
	a.number = number
	a.maker = maker{rand.New(rand.NewPCG(a.seed, number))}
	i := kind.make(a.maker)
	a.models[i.kind]++
	for k, mode := range modes() {
		isChain := i.kind == "dtmc" || i.kind == "ctmc"
		switch {
		case *modeFlag != "" && !isListed(*modeFlag, mode.name):
			continue
		case mode.name == "sampling" && !isChain, mode.name == "command" && (a.program == "" || !a.one(10)):
			continue
		case slices.Contains(i.skip, mode.name), i.only != nil && !slices.Contains(i.only, mode.name), i.only == nil && slices.Contains([]string{"parameters", "constants", "zones", "regions"}, mode.name):
			continue
		case i.only == nil && *modeFlag == "" && k > 2 && !a.one(3):
			continue
		}
		a.mode = mode.name
		mode.run(a, i)
	}
}

// alarm reports an answer that contradicts the oracle.
func (a *attack) alarm(i *instance, property, format string, args ...any) {
	a.alarms++
	a.Errorf("-seed %d -number %d -kind %q -mode %q: %s in mode %s: %s: %s", a.seed, a.number, *kindFlag, *modeFlag, i.kind, a.mode, property, fmt.Sprintf(format, args...))
	if !i.shown {
		i.shown = true
		a.Log(i.text)
	}
}

// refused counts a question that was refused.
func (a *attack) refused(i *instance, property, message string) {
	message, _, _ = strings.Cut(message, "\n")
	a.refusals[[2]string{i.kind, message}]++
	if a.refusals[[2]string{i.kind, message}] == 1 && *numberFlag >= 0 {
		a.Logf("refused: %s: %s\n%s", property, message, i.text)
	}
}

// report logs the counts.
func (a *attack) report() {
	for _, kind := range slices.Sorted(maps.Keys(a.models)) {
		a.Logf("%8d models: %s", a.models[kind], kind)
	}
	total := 0
	for _, key := range sorted(a.answers) {
		a.Logf("%8d answers: %s, %s", a.answers[key], key[0], key[1])
		total += a.answers[key]
	}
	refused := 0
	for _, key := range sorted(a.refusals) {
		refused += a.refusals[key]
		a.Logf("%8d refused: %s: %s", a.refusals[key], key[0], key[1])
	}
	a.Logf("%d changed certificates, %d with accepted claims", a.changes, a.accepted)
	a.Logf("%d answers, %d refused, %d alarms, seed %d, models up to number %d", total, refused, a.alarms, a.seed, a.number)
}

// sorted returns the keys of counts in order.
func sorted(counts map[[2]string]int) [][2]string {
	return slices.SortedFunc(maps.Keys(counts), func(x, y [2]string) int { return strings.Compare(x[0]+" "+x[1], y[0]+" "+y[1]) })
}
