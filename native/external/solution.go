package external

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"sync"
	"time"

	"tilecheck/internal/noun"
	"tilecheck/internal/progress"
	"tilecheck/internal/shard"
	"tilecheck/native/solve"
	"tilecheck/native/space/disk"
	"tilecheck/result"
)

// Problem is a property whose value is computed: the probability of an until formula or an expected reward, with or without a step bound.
type Problem struct {
	// Key identifies the problem in the directory.
	Key string
	// NewMarker returns a function that names the states with known values, for one goroutine. If rewards are collected until a goal, the states of the goal
	// have the mark One.
	NewMarker func() (disk.Marker, error)
	// Reward says which rewards are collected; nil if the value is a probability.
	Reward   *Reward
	Minimize bool
	Rates    bool // the weights of the model are rates
	// StepBounded says that the formula has the step bound Steps.
	StepBounded bool
	Steps       int
}

// Reward says which rewards a problem collects.
type Reward struct {
	Structure int // index into Program.Rewards
	// IsTotal says that there is no goal: all rewards count, or those of the steps within the step bound.
	IsTotal bool
}

// Options says how a problem is solved.
type Options struct {
	Epsilon   float64 // the wanted relative width of the bounds; 0 is the default of package solve
	Memory    int64   // bytes for blocks
	MaxPasses int     // 0 means defaultMaxPasses
	Interval  time.Duration
	Progress  func(progress.Progress)
}

// defaultMaxPasses is the default of Options.MaxPasses.
const defaultMaxPasses = 100_000

// Bounds are the bounds of the value of the initial state.
type Bounds struct {
	Lower, Upper result.JSONNumber
	Proved       bool // the upper bounds were proved; otherwise Upper is 1, or infinite for a reward
	Passes       int
	Blocks       int
}

// solution is the state of the solution of a problem, which is recorded in the manifest after each step.
type solution struct {
	Marks string
	// Rewards has the reward of each choice, if the value is a reward. RewardRelErr bounds their relative error.
	Rewards      string  `json:",omitempty"`
	RewardRelErr float64 `json:",omitempty"`
	// Analysed says that the states whose values are known by the graph have marks.
	Analysed bool
	// Stretches is the number of ranges of successive blocks that a pass solves at the same time; see stepSize.
	Stretches int
	// FirstChunks has the first chunk of each block.
	FirstChunks []int
	Lower       []string // the file of the lower bounds of each block; empty before the first pass
	Upper       []string // of the upper bounds; empty for the guess that is made from the lower bounds
	// Next has the files of the blocks that the pass has solved, if the problem has a step bound: the pass reads the bounds of the step before.
	Next   []string `json:",omitempty"`
	Phase  phase
	Pass   int // of the phase
	Step   int // of the pass
	Passes int // of all phases
	// Change is the greatest relative change of the pass so far, LastChange that of the last pass with lower bounds.
	Change, LastChange float64
	Raised             bool // the pass raised an upper bound, or changed a bound if there is a step bound
	Precision, Margin  float64
	Bounds             Bounds
}

// phase is what the passes compute.
type phase string

const (
	lowerPhase phase = "lower"
	upperPhase phase = "upper"
	donePhase  phase = "done"
)

// teamStretches is the number of stretches for processes that work together. More stretches would give work to more of them, but need more passes.
const teamStretches = 6

// blocksInMemory is the number of blocks that a process solves at the same time.
const blocksInMemory = 2

// solver solves one problem.
type solver struct {
	ctx      context.Context
	space    *disk.Space
	columns  *disk.Columns
	problem  Problem
	options  Options
	solution solution
	blocks   []blockExtent
	workers  []*worker
	files    map[string]*disk.File // open files of values and marks; guarded by filesMu
	filesMu  sync.Mutex
	started  time.Time

	lastCommit time.Time
}

// blockExtent says which chunks and states a block has.
type blockExtent struct {
	firstChunk, endChunk int
	states               disk.Range
}

// Solve computes bounds of the value of the initial state, by value iteration over blocks on disk. It continues the work that an earlier process
// has recorded in the directory.
func Solve(ctx context.Context, space *disk.Space, columns *disk.Columns, problem Problem, initial int64, options Options) (Bounds, error) {
	if options.Epsilon == 0 {
		options.Epsilon = solve.DefaultEpsilon
	}
	if options.MaxPasses == 0 {
		options.MaxPasses = defaultMaxPasses
	}
	solver := &solver{
		ctx: ctx, space: space, columns: columns, problem: problem, options: options,
		files: map[string]*disk.File{}, started: time.Now(),
	}
	defer solver.closeFiles()
	if space.Helps() {
		return solver.help()
	}
	err := space.Conclude(ctx, problem.Key, solver.solve(initial))
	return solver.solution.Bounds, err
}

// solve computes the bounds in solver.solution, unless they are recorded.
func (solver *solver) solve(initial int64) error {
	if err := solver.prepare(); err != nil {
		return err
	}
	if isMarked, err := solver.isDecidedByMark(initial); isMarked || err != nil {
		return err
	}
	for solver.solution.Phase != donePhase {
		if err := solver.makePass(initial); err != nil {
			return solver.withPasses(err)
		}
	}
	return nil
}

// isDecidedByMark ends the solution if the mark of the initial state is its value, or if the step bound is 0.
func (solver *solver) isDecidedByMark(initial int64) (bool, error) {
	if solver.solution.Phase == donePhase {
		return false, nil
	}
	isDecided := solver.problem.StepBounded && solver.problem.Steps == 0
	err := solver.readMarks(disk.Range{First: initial, End: initial + 1}, func(_ int64, mark disk.Mark) {
		isDecided = isDecided || mark != disk.Unknown
	})
	if err != nil || !isDecided {
		return false, err
	}
	if err := solver.readProvedBounds(initial); err != nil {
		return false, err
	}
	solver.endSolution()
	return true, solver.commit()
}

// withPasses adds the number of passes to an error of the context.
func (solver *solver) withPasses(err error) error {
	ended := solver.ctx.Err()
	if ended == nil || !errors.Is(err, ended) {
		return err
	}
	return fmt.Errorf("%w after %s over %s", ended, noun.Count(solver.solution.Passes, "pass"), noun.Count(len(solver.blocks), "block"))
}

// prepare reads the recorded state of the solution, or creates a new state if none is recorded. It then creates the workers.
func (solver *solver) prepare() error {
	if err := solver.readOrCreateState(); err != nil {
		return err
	}
	solver.blocks = blockExtents(solver.columns.Chunks, solver.solution.FirstChunks)
	if solver.solution.Phase == donePhase {
		return nil
	}
	if !solver.solution.Analysed {
		if err := solver.analyseGraph(); err != nil {
			return err
		}
		solver.solution.Analysed = true
		if err := solver.commit(); err != nil {
			return err
		}
	}
	return solver.createWorkers()
}

// createWorkers creates the workers.
func (solver *solver) createWorkers() error {
	for range min(blocksInMemory, len(solver.blocks)) {
		worker, err := newWorker(solver)
		if err != nil {
			return err
		}
		solver.workers = append(solver.workers, worker)
	}
	return nil
}

// readOrCreateState continues the solution that an earlier process recorded in the directory. If none is recorded, it creates a new one.
func (solver *solver) readOrCreateState() error {
	recorded := solver.space.Directory.Manifest().Solutions[solver.problem.Key]
	if recorded == nil {
		return solver.createState()
	}
	if err := json.Unmarshal(recorded, &solver.solution); err != nil {
		return fmt.Errorf("read the state of the solution: %w", err)
	}
	if solver.solution.Passes > 0 || solver.solution.Step > 0 {
		// An old version of the program may have begun the solution without graph analysis. The files have only bounds of the states that new marks would decide,
		// and these bounds would then count as exact values. So add no marks.
		solver.solution.Analysed = true
	}
	solver.solution.Stretches = max(solver.solution.Stretches, 1) // an old version of the program recorded no number, and had one stretch
	return nil
}

// createState begins a solution: it divides the chunks into blocks, writes the marks of the states whose values the property decides, evaluates the rewards,
// and records all this in the directory.
func (solver *solver) createState() error {
	var extra extraBytes
	if solver.problem.StepBounded {
		extra.perState += 8 // Block.TakeStep stores a second float64 for each state
	}
	if solver.problem.Reward != nil {
		extra.perState += 4 // the size of an entry of Block.FirstReward
		extra.perChoice = 8
	}
	stretches := 1
	if solver.space.Directory.Process().Count > 0 {
		stretches = teamStretches
	}
	firstChunks, err := partition(solver.columns, solver.options.Memory/blocksInMemory, stretches*blocksPerStretch, extra)
	if err != nil {
		return err
	}
	marks, err := solver.space.WriteMarks(solver.ctx, solver.problem.NewMarker)
	if err != nil {
		return err
	}
	solver.solution = solution{
		Marks: marks, Stretches: stretches, FirstChunks: firstChunks, Lower: make([]string, len(firstChunks)), Upper: make([]string, len(firstChunks)),
		Phase: lowerPhase, Precision: solver.options.Epsilon / 8, Margin: solver.options.Epsilon / 2,
	}
	if solver.problem.StepBounded {
		solver.solution.Analysed = true // with a step bound, graph analysis decides no value
		solver.solution.Next = make([]string, len(firstChunks))
	}
	if reward := solver.problem.Reward; reward != nil {
		solver.solution.Rewards, solver.solution.RewardRelErr, err = solver.space.WriteRewards(solver.ctx, solver.columns, reward.Structure)
		if err != nil {
			return err
		}
	}
	return solver.commit()
}

// blockExtents returns the range of chunks and the range of states of each block. firstChunks has the first chunk of each block.
func blockExtents(chunks []disk.Chunk, firstChunks []int) []blockExtent {
	var blocks []blockExtent
	for block, firstChunk := range firstChunks {
		endChunk := len(chunks)
		if block+1 < len(firstChunks) {
			endChunk = firstChunks[block+1]
		}
		last := &chunks[endChunk-1]
		states := disk.Range{First: chunks[firstChunk].First, End: last.First + last.States}
		blocks = append(blocks, blockExtent{firstChunk, endChunk, states})
	}
	return blocks
}

// commit writes the state of the solution to the manifest of the directory.
func (solver *solver) commit() error {
	text, err := json.Marshal(&solver.solution)
	if err != nil {
		return err
	}
	solver.lastCommit = time.Now()
	return solver.space.Directory.Commit(func(m *disk.Manifest) { m.Solutions[solver.problem.Key] = text })
}

// backwards reports whether blocks and their states are solved from the last to the first: most targets have greater numbers.
func (solver *solver) backwards() bool { return solver.columns.Forward >= solver.columns.Backward }

// makePass updates all blocks once, and then decides what the next pass computes. After an interruption it continues with the first step of the pass that is
// not recorded.
func (solver *solver) makePass(initial int64) error {
	for {
		blocks := solver.blocksOfStep(solver.solution.Step)
		if len(blocks) == 0 {
			break
		}
		if err := solver.takeStep(blocks); err != nil {
			return err
		}
	}
	solver.solution.Pass++
	solver.solution.Passes++
	solver.solution.Step = 0
	if err := solver.endPass(initial); err != nil {
		return err
	}
	solver.solution.Change, solver.solution.Raised = 0, false
	return solver.commit()
}

// stepSize returns the number of stretches, which are ranges of successive blocks, and the number of blocks of each stretch that a step takes. A process that
// works alone has one stretch, and a step takes as many blocks of it as the process can solve at the same time. Processes that work together have several
// stretches, and a step takes one block of each.
func (solver *solver) stepSize() (stretches, length int) {
	if stretches = solver.solution.Stretches; stretches == 1 {
		return 1, blocksInMemory
	}
	return stretches, 1
}

// blocksOfStep returns the blocks that a step of a pass updates at the same time; none after the last step. They read the values before the step, so results
// depend neither on the number of goroutines nor on the number of processes that work together. Backward passes begin with the last block of each stretch.
func (solver *solver) blocksOfStep(step int) []int {
	count, length := solver.stepSize()
	var blocks []int
	for stretch := range count {
		first, end := shard.Part{Index: stretch + 1, Count: count}.Range(int64(len(solver.blocks)))
		for i := step * length; i < min((step+1)*length, int(end-first)); i++ {
			block := int(first) + i
			if solver.backwards() {
				block = int(end) - 1 - i
			}
			blocks = append(blocks, block)
		}
	}
	return blocks
}

// takeStep updates the given blocks in parallel, in all processes, and replaces the files of their values. It writes the state of the solution to the
// directory if the last time is at least Options.Interval ago.
func (solver *solver) takeStep(blocks []int) error {
	directory := solver.space.Directory
	step := stepTask{Solution: &solver.solution, Blocks: blocks}
	for range blocks {
		step.Names = append(step.Names, directory.NewName("values"))
	}
	outcomes, err := solver.divideStep(&step)
	if err != nil {
		for _, name := range step.Names {
			solver.retireFile(name)
		}
		return err
	}
	files := solver.filesOfPhase()
	if solver.problem.StepBounded {
		files = solver.solution.Next
	}
	for i, block := range blocks {
		solver.retireFile(files[block])
		files[block] = step.Names[i]
	}
	for _, outcome := range outcomes {
		solver.solution.Change = max(solver.solution.Change, outcome.Change)
		solver.solution.Raised = solver.solution.Raised || outcome.Raised
	}
	solver.solution.Step++
	solver.reportProgress()
	if time.Since(solver.lastCommit) < solver.options.Interval {
		return nil
	}
	return solver.commit()
}

// endPass decides how the solution continues after a pass. The next pass continues to raise the lower bounds; or it begins to lower guessed upper bounds,
// because the lower bounds change little; or it raises the lower bounds again, because a guess failed. Proved upper bounds, or the limit of passes, end the
// solution.
//
// Source: Hartmanns and Kaminski, Optimistic value iteration (CAV 2020).
func (solver *solver) endPass(initial int64) error {
	const minGuessPasses = 10 // passes that every guess of upper bounds may take
	isUpper := solver.solution.Phase == upperPhase
	switch {
	case solver.problem.StepBounded:
		return solver.endStep(initial)
	case isUpper && !solver.solution.Raised:
		return solver.endProved(initial)
	case solver.solution.Passes >= solver.options.MaxPasses:
		err := solver.readUnprovedBounds(initial)
		solver.endSolution()
		return err
	case isUpper && solver.solution.Pass >= minGuessPasses+solver.solution.Passes/4: // the passes have not proved the guess, so it is probably wrong
		solver.guessAgain()
	case !isUpper:
		solver.solution.LastChange = solver.solution.Change
		if solver.solution.Change <= solver.solution.Precision {
			solver.solution.Phase, solver.solution.Pass = upperPhase, 0
		}
	}
	return nil
}

// guessAgain drops the guessed upper bounds. The next passes compute lower bounds with 8 times the precision before the next guess. If the lower bounds cannot
// become more precise, the next guess has 4 times the margin above them.
func (solver *solver) guessAgain() {
	for i, name := range solver.solution.Upper {
		solver.retireFile(name)
		solver.solution.Upper[i] = ""
	}
	solver.solution.Phase, solver.solution.Pass = lowerPhase, 0
	solver.solution.Precision /= 8
	if solver.solution.LastChange == 0 { // the lower bounds are as good as rounding allows
		solver.solution.Margin *= 4
	}
}

// endProved reads the bounds of the initial state after a pass has proved the upper bounds, and ends the solution. If these bounds are too wide and can
// become narrower, it continues instead: the next passes compute more precise lower bounds, and then guess upper bounds again.
func (solver *solver) endProved(initial int64) error {
	if err := solver.readProvedBounds(initial); err != nil {
		return err
	}
	bounds := &solver.solution.Bounds
	const leastPrecision = 0x1p-52 // the relative distance of neighbouring float64 numbers
	isTooWide := bounds.Upper-bounds.Lower > result.JSONNumber(solver.options.Epsilon)*bounds.Upper
	canImprove := solver.solution.LastChange > 0 && solver.solution.Precision > leastPrecision
	if isTooWide && canImprove {
		solver.guessAgain()
		return nil
	}
	solver.endSolution()
	return nil
}

// greatestValue returns a bound on the value of each problem of this kind.
func (solver *solver) greatestValue() float64 {
	if solver.problem.Reward != nil {
		return math.Inf(1)
	}
	return 1
}

// readProvedBounds stores the lower and the upper bound of the initial state, after the upper bounds were proved.
func (solver *solver) readProvedBounds(initial int64) error {
	if err := solver.readLowerBound(initial); err != nil {
		return err
	}
	upper, err := solver.readValue(initial, upperPhase)
	if err != nil {
		return err
	}
	solver.solution.Bounds.Upper, solver.solution.Bounds.Proved = result.JSONNumber(upper), true
	return nil
}

// readUnprovedBounds stores the lower bound of the initial state, while the upper bounds are guesses. The upper bound stays the last proved one or, if none was
// proved, becomes the greatest possible value.
func (solver *solver) readUnprovedBounds(initial int64) error {
	if !solver.solution.Bounds.Proved {
		solver.solution.Bounds.Upper = result.JSONNumber(solver.greatestValue())
	}
	return solver.readLowerBound(initial)
}

// readLowerBound stores the lower bound of the initial state, with the numbers of passes and blocks.
func (solver *solver) readLowerBound(initial int64) error {
	lower, err := solver.readValue(initial, lowerPhase)
	if err != nil {
		return err
	}
	bounds := &solver.solution.Bounds
	bounds.Lower, bounds.Passes, bounds.Blocks = result.JSONNumber(lower), solver.solution.Passes, len(solver.blocks)
	return nil
}

// readValue reads the lower or the upper bound of a state.
func (solver *solver) readValue(state int64, kind phase) (float64, error) {
	var value [1]float64
	err := solver.readValues(value[:], state, kind)
	return value[0], err
}

// endSolution marks the solution as done, and its files of values, marks and rewards as obsolete.
func (solver *solver) endSolution() {
	solver.solution.Phase = donePhase
	for _, name := range slices.Concat(solver.solution.Lower, solver.solution.Upper, solver.solution.Next, []string{solver.solution.Marks, solver.solution.Rewards}) {
		solver.retireFile(name)
	}
	clear(solver.solution.Lower)
	clear(solver.solution.Upper)
	clear(solver.solution.Next)
	solver.solution.Marks, solver.solution.Rewards = "", ""
}

// retireFile closes a file and marks it as obsolete. The directory removes it when the manifest is next written.
func (solver *solver) retireFile(name string) {
	if name == "" {
		return
	}
	solver.filesMu.Lock()
	if file := solver.files[name]; file != nil {
		_ = file.Close() // only read
		delete(solver.files, name)
	}
	solver.filesMu.Unlock()
	solver.space.Directory.Obsolete(name)
}

// openFile returns a file of the directory, opened for reading. It stays open until retireFile closes it.
func (solver *solver) openFile(name string) (*disk.File, error) {
	solver.filesMu.Lock()
	defer solver.filesMu.Unlock()
	if file := solver.files[name]; file != nil {
		return file, nil
	}
	file, err := solver.space.Directory.Open(name)
	if err == nil {
		solver.files[name] = file
	}
	return file, err
}

// closeFiles closes all open files.
func (solver *solver) closeFiles() {
	for _, file := range solver.files {
		_ = file.Close() // only read
	}
}

// readValues reads the lower or the upper bounds of consecutive states into destination, beginning with state first. Bounds that no pass has computed yet
// come from elsewhere: lower bounds from the marks, with 0 for the mark Unknown; upper bounds from the lower bounds as a guess or, with a step bound, also
// from the marks.
func (solver *solver) readValues(destination []float64, first int64, kind phase) error {
	for len(destination) > 0 {
		block := solver.blockOf(first)
		extent := solver.blocks[block].states
		count := int(min(int64(len(destination)), extent.End-first))
		if err := solver.readBlockValues(destination[:count], first, block, kind); err != nil {
			return err
		}
		destination, first = destination[count:], first+int64(count)
	}
	return nil
}

// blockOf returns the block that contains a state.
func (solver *solver) blockOf(state int64) int {
	return sort.Search(len(solver.blocks), func(block int) bool { return solver.blocks[block].states.End > state })
}

// readBlockValues is readValues for states of one block. If the block has no upper bounds yet, it guesses them from the lower bounds, unless the property
// has a step bound.
func (solver *solver) readBlockValues(destination []float64, first int64, block int, kind phase) error {
	name := solver.solution.Lower[block]
	isGuess := kind == upperPhase // guess upper bounds from the lower bounds, unless the block has upper bounds
	if kind == upperPhase && (solver.problem.StepBounded || solver.solution.Upper[block] != "") {
		name, isGuess = solver.solution.Upper[block], false
	}
	if name == "" {
		return solver.readMarkValues(destination, first)
	}
	file, err := solver.openFile(name)
	if err != nil {
		return err
	}
	if err := file.Values(destination, first-solver.blocks[block].states.First); err != nil {
		return err
	}
	if isGuess {
		solve.GuessUpper(destination, solver.solution.Margin, solver.greatestValue())
	}
	return nil
}

// readMarkValues sets values to those of the marks, and to 0 for states with the mark Unknown.
func (solver *solver) readMarkValues(destination []float64, first int64) error {
	return solver.readMarks(disk.Range{First: first, End: first + int64(len(destination))}, func(state int64, mark disk.Mark) {
		switch mark {
		case disk.One:
			destination[state-first] = 1
		case disk.Infinite:
			destination[state-first] = math.Inf(1)
		default:
			destination[state-first] = 0
		}
	})
}

// readMarks calls visit with each state of a range and its mark.
func (solver *solver) readMarks(states disk.Range, visit func(state int64, mark disk.Mark)) error {
	file, err := solver.openFile(solver.solution.Marks)
	if err != nil {
		return err
	}
	const marksPerRead = 1 << 16
	marks := make([]disk.Mark, min(states.End-states.First, marksPerRead))
	for first := states.First; first < states.End; first += int64(len(marks)) {
		marks = marks[:min(int64(len(marks)), states.End-first)]
		if err := file.Marks(marks, first); err != nil {
			return err
		}
		for i, mark := range marks {
			visit(first+int64(i), mark)
		}
	}
	return nil
}

// reportProgress calls options.Progress with the number of states that this pass has updated.
func (solver *solver) reportProgress() {
	if solver.options.Progress == nil {
		return
	}
	stretches, length := solver.stepSize()
	blocksDone := min(solver.solution.Step*stretches*length, len(solver.blocks))
	statesDone := int64(blocksDone) * solver.columns.States / int64(len(solver.blocks))
	bounds := "lower bounds"
	if solver.solution.Phase == upperPhase {
		bounds = "upper bounds"
	}
	detail := fmt.Sprintf("pass %d, %s, relative change %.1e", solver.solution.Passes+1, bounds, max(solver.solution.Change, solver.solution.LastChange))
	if solver.problem.StepBounded {
		detail = fmt.Sprintf("step %d of %d, %s", solver.solution.Pass+1, solver.problem.Steps, bounds)
	}
	solver.options.Progress(progress.Progress{Done: min(statesDone, solver.columns.States), Target: solver.columns.States, Unit: progress.States, Detail: detail})
}
