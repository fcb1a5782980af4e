package modelgen

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/prism/syntax"
	"tilecheck/properties"
)

// What PRISM says about the generated models. The transcripts in testdata/logs/prism/gen-*.log are checked always; they are made again by
//
//	TILECHECK_PRISM=/path/to/prism go test ./modelgen -run TestPRISM -update
//
// Without -update the runs are made and checked, and the transcripts are left alone.

var updateLogs = flag.Bool("update", false, "write the transcripts of TestPRISM to testdata/logs/prism")

const logDir = "../testdata/logs/prism"

// session is the runs of PRISM on one model.
type session struct {
	log   string // the transcript is in gen-<log>.log
	cfg   Config
	runs  [][]string // switches after the model file
	check func(t *testing.T, s session, args []string, text string)
	known func() facts // for checkAgainstOracle
}

// facts are what PRISM should say: values are in the order of the catalogue.
type facts struct {
	size   size
	values []*big.Rat
}

func newFacts(cfg Config) facts {
	o := newOracle(cfg)
	n := o.explore()
	return facts{n, []*big.Rat{
		o.probability(o.lost, false), o.probability(o.won, true), o.probability(o.lost, true), o.probability(o.won, false),
		big.NewRat(1, 1), new(big.Rat), big.NewRat(int64(n.lost), 1),
	}}
}

func allEngines() [][]string {
	return [][]string{{"-ex"}, {"-h"}, {"-s"}, {"-m"}, {"-exact"}}
}

func sessions(t *testing.T) []session {
	t.Helper()
	var all []session
	add := func(log string, cfg Config) {
		all = append(all, session{
			log: log, cfg: cfg, runs: allEngines(), check: checkAgainstOracle,
			known: sync.OnceValue(func() facts { return newFacts(cfg) }),
		})
	}
	for _, kind := range []Kind{Prototype, Combined, Final} {
		for _, max := range []int{8, 16, 32} {
			for _, cfg := range variants(Config{Kind: kind, Rows: 2, Cols: 2, Max: max}) {
				add(kind.String(), cfg)
			}
		}
	}
	for _, spawn := range []Spawn{SpawnCell, SpawnModule, SpawnUniform} {
		add("boards", Config{Rows: 2, Cols: 3, Max: 8, Spawn: spawn})
		add("boards", Config{Rows: 3, Cols: 1, Max: 8, Spawn: spawn, Policy: Policy{Kind: RandomMoves}})
		add("boards", Config{Rows: 1, Cols: 2, Max: 4, Spawn: spawn})
		add("boards", Config{Rows: 1, Cols: 3, Max: 4, Spawn: spawn, Policy: ThesisPolicies()[3].Policy})
		add("boards", Config{Rows: 2, Cols: 2, Max: 4, Spawn: spawn, Policy: Policy{Kind: RandomMoves}})
		add("boards", Config{Rows: 2, Cols: 2, Max: 16, Spawn: spawn, P2: "1"})
		add("boards", Config{Rows: 2, Cols: 2, Max: 16, Spawn: spawn, P2: "0.123"})
	}
	add("boards", Config{Rows: 2, Cols: 3, Max: 16, Spawn: SpawnUniform})
	all = append(all, session{
		log: "boards", cfg: Config{Rows: 3, Cols: 3, Max: 32, Spawn: SpawnUniform},
		runs: [][]string{{"-ex", "-javamaxmem", "6g"}}, check: checkAgainstCatalogue,
	})
	return append(all, simulations()...)
}

// variants returns the configurations of one kind and board with every policy of the thesis and every spawn mode that the kind has.
func variants(cfg Config) []Config {
	if cfg.Kind == Prototype {
		return []Config{cfg}
	}
	policies := []Policy{{}}
	for _, named := range ThesisPolicies() {
		policies = append(policies, named.Policy)
	}
	var all []Config
	for _, p := range policies {
		for _, s := range []Spawn{SpawnCell, SpawnModule, SpawnUniform} {
			cfg.Policy, cfg.Spawn = p, s
			all = append(all, cfg)
		}
	}
	return all
}

// simulations are models that are too large to build.
func simulations() []session {
	path, sample := []string{"-simpath", "5", "stdout"}, []string{"-sim", "-simmethod", "ci", "-simsamples", "100"}
	var all []session
	for _, cfg := range []Config{
		{Rows: 3, Cols: 3, Max: 128},
		{Rows: 3, Cols: 3, Max: 128, Spawn: SpawnModule, Policy: Policy{Kind: RandomMoves}},
		{Rows: 5, Cols: 5, Max: 64, Spawn: SpawnUniform, Policy: Policy{Kind: RandomMoves}},
		{Rows: 6, Cols: 6, Max: 64},
		{Rows: 6, Cols: 6, Max: 1 << 30, Spawn: SpawnModule, Policy: ThesisPolicies()[3].Policy},
		{Rows: 4, Cols: 4, Max: 2048, Spawn: SpawnUniform},
	} {
		s := session{log: "sim", cfg: cfg, runs: [][]string{path, sample}, check: checkSimulation}
		if cfg.Max > 2048 {
			s.runs = s.runs[:1]
		}
		all = append(all, s)
	}
	for _, named := range ThesisPolicies() {
		for _, spawn := range []Spawn{SpawnCell, SpawnModule} {
			cfg := Config{Rows: 4, Cols: 4, Max: 128, Policy: named.Policy, Spawn: spawn}
			all = append(all, session{log: "sim", cfg: cfg, runs: [][]string{path, sample}, check: checkSimulation})
		}
	}
	return all
}

// header is the line that starts a run's part of a transcript.
func (s session) header(args []string) string {
	return fmt.Sprintf("== %s | %s", strings.Join(s.cfg.Args()[1:], " "), strings.Join(args, " "))
}

func (s session) simulates(args []string) bool { return strings.HasPrefix(args[0], "-sim") }

func TestPRISM(t *testing.T) {
	prism := needs.PRISM(t)
	logs := map[string]*transcript{}
	for _, s := range sessions(t) {
		log := logs[s.log]
		if log == nil {
			log = newTranscript()
			logs[s.log] = log
		}
		log.missing += len(s.runs)
		t.Run(s.log+"/"+strings.Join(s.cfg.Args()[1:], " "), func(t *testing.T) {
			for _, args := range s.runs {
				text := s.run(t, prism, args)
				s.check(t, s, args, text)
				fmt.Fprintf(&log.text, "%s\n%s", s.header(args), text)
				log.missing--
			}
		})
	}
	if !*updateLogs || t.Failed() {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(logs)) {
		log := logs[name]
		if log.missing > 0 {
			t.Logf("gen-%s.log is left alone: -run left out %d of its runs", name, log.missing)
		} else if err := os.WriteFile(filepath.Join(logDir, "gen-"+name+".log"), log.text.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// transcript is the text of a log and the number of runs that it lacks.
type transcript struct {
	text    bytes.Buffer
	missing int
}

func newTranscript() *transcript {
	log := &transcript{}
	fmt.Fprintf(&log.text, "# What PRISM says about generated models, by TestPRISM of package modelgen.\n"+
		"# == arguments of tilecheck gen | switches of PRISM; then the lines of its output that say something.\n"+
		"# The results are in the order of the catalogue of package properties:\n%s", catalogue())
	return log
}

// run runs PRISM on the model and returns the lines worth keeping.
func (s session) run(t *testing.T, prism string, args []string) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name string, data []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var text bytes.Buffer
	if err := syntax.Fprint(&text, build(t, s.cfg), syntax.Options{}); err != nil {
		t.Fatal(err)
	}
	write("model.prism", text.Bytes())
	argv := []string{"model.prism"}
	if args[0] != "-simpath" {
		write("model.props", []byte(s.props(args)))
		argv = append(argv, "model.props")
	}
	cmd := exec.CommandContext(t.Context(), prism, append(argv, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		t.Fatal(err)
	}
	return compact(string(out)) + fmt.Sprintf("exit code %d\n", cmd.ProcessState.ExitCode())
}

func (s session) props(args []string) string {
	var b strings.Builder
	for _, p := range s.properties(args) {
		b.WriteString(p.Text + ";\n")
	}
	return b.String()
}

func catalogue() string {
	var b strings.Builder
	for _, p := range properties.All() {
		fmt.Fprintf(&b, "#   %s\n", p.Text)
	}
	return b.String()
}

// properties are all of the catalogue, or, when simulating, the thesis's.
func (s session) properties(args []string) []properties.Property {
	if s.simulates(args) {
		return properties.All()[:1]
	}
	return properties.All()
}

// compact keeps the lines of PRISM's output that do not differ from one run to the next and say what was done and what came out.
func compact(out string) string {
	var kept strings.Builder
	keep := regexp.MustCompile(`^(Version:|Command line:|Type:|Modules:|Variables:|States:|Transitions:|Choices:|Result:|Error|Warning|` +
		`.*[dD]eadlock|Simulation method|Path length statistics|Generated path|action |\[|- |[0-9])`)
	skip := regexp.MustCompile(`^(Actions:|Simulation method:|\([0-9]+\)|Model checking:|\[ )`)
	for line := range strings.Lines(out) {
		if keep.MatchString(line) && !skip.MatchString(line) {
			kept.WriteString(strings.TrimRight(line, "\n") + "\n")
		}
	}
	return kept.String()
}

// The recorded transcripts contain every run, and each says what it should.
func TestRecordedRuns(t *testing.T) {
	recorded := map[string]string{}
	for _, s := range sessions(t) {
		if _, ok := recorded[s.log]; !ok {
			data, err := os.ReadFile(filepath.Join(logDir, "gen-"+s.log+".log"))
			if errors.Is(err, fs.ErrNotExist) {
				t.Fatalf("%v: make it with TILECHECK_PRISM=… go test ./modelgen -run TestPRISM -update", err)
			} else if err != nil {
				t.Fatal(err)
			}
			recorded[s.log] = string(data)
		}
		for _, args := range s.runs {
			_, text, ok := strings.Cut(recorded[s.log], s.header(args)+"\n")
			if !ok {
				t.Errorf("gen-%s.log has no %s", s.log, s.header(args))
				continue
			}
			text, _, _ = strings.Cut(text, "\n== ")
			s.check(t, s, args, text)
		}
	}
}

// results returns what follows "Result: ".
func results(text string) []string {
	var rs []string
	for line := range strings.Lines(text) {
		if r, ok := strings.CutPrefix(line, "Result: "); ok {
			rs = append(rs, strings.TrimSpace(r))
		}
	}
	return rs
}

// checkClean checks that PRISM had nothing to complain about. Only allowed may be warned of.
func checkClean(t *testing.T, s session, args []string, text, allowed string) {
	t.Helper()
	for line := range strings.Lines(text) {
		warned := strings.HasPrefix(line, "Warning") && (allowed == "" || !strings.Contains(line, allowed))
		if warned || strings.HasPrefix(line, "Error") || strings.Contains(line, "Deadlock") {
			t.Errorf("%s: %s", s.header(args), line)
		}
	}
	if !strings.HasPrefix(text, "Version: ") || !strings.Contains(text, "exit code 0") {
		t.Errorf("%s: PRISM did not run to its end", s.header(args))
	}
}

// checkSize compares the size of the state space. The symbolic engines do not print the number of choices.
func checkSize(t *testing.T, s session, args []string, text string, want size) {
	t.Helper()
	for what, n := range map[string]int{"States": want.states, "Choices": want.choices, "Transitions": want.transitions} {
		found := regexp.MustCompile(what+`: +([0-9]+)`).FindAllStringSubmatch(text, -1)
		if len(found) == 0 && (what != "Choices" || args[0] == "-ex" || args[0] == "-exact") {
			t.Errorf("%s: no number of %s", s.header(args), what)
		}
		for _, f := range found {
			if f[1] != strconv.Itoa(n) {
				t.Errorf("%s: %s is %s, want %d", s.header(args), what, f[1], n)
			}
		}
	}
}

// checkValue compares a result with the truth: exactly when the engine is exact, within its rounding when it did not iterate and within ten
// times its termination criterion when it did.
func checkValue(t *testing.T, s session, args []string, property, result string, want *big.Rat) {
	t.Helper()
	word, _, _ := strings.Cut(result, " ")
	got, ok := new(big.Rat).SetString(word)
	if !ok {
		t.Errorf("%s: %s is %q, want a number", s.header(args), property, result)
		return
	}
	if args[0] == "-exact" || strings.HasPrefix(property, "filter") {
		if got.Cmp(want) != 0 {
			t.Errorf("%s: %s is %s, want %s", s.header(args), property, got, want)
		}
		return
	}
	tolerance := 1e-12
	if !strings.Contains(result, "exact floating point") {
		tolerance = 1e-5
	}
	g, _ := got.Float64()
	w, _ := want.Float64()
	if math.Abs(g-w) > tolerance {
		t.Errorf("%s: %s is %v, want %v within %v", s.header(args), property, g, w, tolerance)
	}
}

// checkAgainstOracle compares sizes and values with the independent account of the game.
func checkAgainstOracle(t *testing.T, s session, args []string, text string) {
	t.Helper()
	// A board of one row or column has moves that are never legal; symbolic engines say so.
	allowed := ""
	if s.cfg.Rows == 1 || s.cfg.Cols == 1 {
		allowed = "is never satisfied"
	}
	checkClean(t, s, args, text, allowed)
	want := s.known()
	checkSize(t, s, args, text, want.size)
	got := results(text)
	if len(got) != len(want.values) {
		t.Errorf("%s: %d results, want %d", s.header(args), len(got), len(want.values))
		return
	}
	for i, p := range properties.All() {
		checkValue(t, s, args, p.Text, got[i], want.values[i])
	}
}

// checkAgainstCatalogue compares what the catalogue of properties knows.
func checkAgainstCatalogue(t *testing.T, s session, args []string, text string) {
	t.Helper()
	checkClean(t, s, args, text, "")
	in := instance(s.cfg)
	sizes := properties.Sizes()
	i := slices.IndexFunc(sizes, func(n properties.Size) bool { return n.Instance == in })
	if i < 0 {
		t.Fatalf("no size of %+v", in)
	}
	checkSize(t, s, args, text, size{
		states: int(sizes[i].States), choices: int(sizes[i].Choices), transitions: int(sizes[i].Transitions),
	})
	got := results(text)
	for i, p := range properties.All() {
		if want, ok := p.Expect(in); ok {
			value, _ := new(big.Rat).SetString(want.Value)
			checkValue(t, s, args, p.Text, got[i], value)
		}
	}
}

func instance(cfg Config) properties.Instance {
	return properties.Instance{Rows: cfg.Rows, Cols: cfg.Cols, Max: cfg.Max, Spawn: cfg.Spawn.String(), Policy: cfg.Policy.String()}
}

// checkSimulation checks that the model parses and runs, and the estimate of the 4x4 models to 128 against an independent simulation of
// 400,000 games: 2048-numbers.md, column (N). The estimate of 100 samples may be off by five standard deviations; a new
// transcript of a correct model fails one of the eight checks with probability below 1e-4.
func checkSimulation(t *testing.T, s session, args []string, text string) {
	t.Helper()
	checkClean(t, s, args, text, "ondeterminism")
	if args[0] == "-simpath" {
		if !strings.Contains(text, "Generated path: 5 steps") {
			t.Errorf("%s: no path of 5 steps", s.header(args))
		}
		return
	}
	got := results(text)
	if len(got) != 1 {
		t.Fatalf("%s: %d results, want 1", s.header(args), len(got))
	}
	word, _, _ := strings.Cut(got[0], " ")
	estimate, err := strconv.ParseFloat(word, 64)
	if err != nil || estimate < 0 || estimate > 1 {
		t.Fatalf("%s: result %q", s.header(args), got[0])
	}
	known := []float64{0.444, 0.737, 0.098, 0.085}
	i := slices.IndexFunc(ThesisPolicies(), func(p NamedPolicy) bool { return p.Policy == s.cfg.Policy })
	if s.cfg.Rows != 4 || s.cfg.Cols != 4 || s.cfg.Max != 128 || i < 0 {
		return
	}
	if p := known[i]; math.Abs(estimate-p) > 5*math.Sqrt(p*(1-p)/100) {
		t.Errorf("%s: estimate %v, want about %v", s.header(args), estimate, p)
	}
}

// The oracle reproduces the exact values and sizes of 2048-numbers.md; properties has them.
func TestOracleKnowsTheGame(t *testing.T) {
	for _, n := range properties.Sizes() {
		if n.Rows != 2 {
			continue // takes minutes
		}
		spawn, err := ParseSpawn(n.Spawn)
		if err != nil {
			t.Fatal(err)
		}
		cfg := Config{Rows: n.Rows, Cols: n.Cols, Max: n.Max, Spawn: spawn}
		o := newOracle(cfg)
		if got := o.explore(); int64(got.states) != n.States || int64(got.choices) != n.Choices || int64(got.transitions) != n.Transitions {
			t.Errorf("%+v: %+v", n, got)
		}
		for name, value := range map[string]*big.Rat{"loss": o.probability(o.lost, false), "success": o.probability(o.won, true)} {
			p, _ := properties.Find(name)
			want, ok := p.Expect(n.Instance)
			if !ok || value.RatString() != want.Value {
				t.Errorf("%s of %+v: %s, want %s", name, n.Instance, value.RatString(), want.Value)
			}
		}
	}
}
