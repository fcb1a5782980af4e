package external_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tilecheck/internal/needs"
	"tilecheck/internal/progress"
	"tilecheck/internal/shard"
	"tilecheck/native/external"
	"tilecheck/native/load"
	"tilecheck/native/space/disk"
	"tilecheck/prism/compile"
	"tilecheck/runner"
)

// question is a model with the states whose probability of being reached is asked.
type question struct {
	model    *compile.Model
	goal     func(state []int32) bool
	end      func(state []int32) bool // an absorbing state
	memory   int64
	steps    int              // the step bound; 0 for none
	reward   *external.Reward // nil for a probability
	progress func(progress.Progress)
	process  shard.Part // of several processes; the zero value for one
}

// walkQuestion asks for the probability that the walk comes far.
func walkQuestion(t testing.TB, n int32) question {
	model, _, err := load.Model(t.Context(), runner.Job{File: "walk.prism", Model: []byte(walk), Consts: []string{fmt.Sprintf("N=%d", n)}})
	if err != nil {
		t.Fatal(err)
	}
	goal := func(s []int32) bool { return s[0]+s[1]+s[2]+s[3]+s[4] >= 4*n && s[5] == 0 }
	end := func(s []int32) bool { return s[0]+s[1]+s[2]+s[3]+s[4] == 5*n || s[5] != 0 }
	return question{model: model, goal: goal, end: end, memory: 40 << 10}
}

// variants returns changes of a question, by the kind of its value.
func variants() map[string]func(*question) {
	return map[string]func(*question){
		"probability": func(*question) {},
		"steps":       func(q *question) { q.steps = 12 },
		"total":       func(q *question) { q.reward, q.goal = &external.Reward{IsTotal: true}, noGoal },
		"reward":      func(q *question) { q.reward, q.goal = &external.Reward{}, q.end },
		"reward of steps": func(q *question) {
			q.reward, q.goal, q.steps = &external.Reward{IsTotal: true}, noGoal, 12
		},
	}
}

// noGoal is satisfied in no state.
func noGoal([]int32) bool { return false }

// solve answers a question in a directory, as far as the context and the limit of bytes let it. Every step is recorded.
func (q question) solve(ctx context.Context, path string, workers int, limit int64) (bounds external.Bounds, err error) {
	dir, err := disk.OpenDirectory(path, "walk", "digest", disk.Team{Process: q.process, Agreement: fmt.Sprintf("--memory %d", q.memory)})
	if err != nil {
		return bounds, err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	dir.Limit(limit)
	space, err := disk.NewSpace(ctx, dir, q.model, disk.Options{Memory: q.memory, Workers: workers, Progress: q.progress})
	if err != nil {
		return bounds, err
	}
	defer func() { err = errors.Join(err, space.Close()) }()
	if err := space.Explore(ctx); err != nil {
		return bounds, err
	}
	columns, err := space.Convert(ctx)
	if err != nil {
		return bounds, err
	}
	defer func() { err = errors.Join(err, columns.Close()) }()
	mark := func(state []int32) (disk.Mark, error) {
		if q.goal(state) {
			return disk.One, nil
		}
		return disk.Unknown, nil
	}
	problem := external.Problem{Key: "far", NewMarker: func() (disk.Marker, error) { return mark, nil }, Reward: q.reward, StepBounded: q.steps > 0, Steps: q.steps}
	return external.Solve(ctx, space, columns, problem, 0, external.Options{Epsilon: 1e-6, Memory: 4 * q.memory, Progress: q.progress})
}

// A process may be killed at any time: each copy of its directory, taken while it works, is as it would be after a kill. From each copy the
// work goes on to the same bits, with any number of workers.
func TestGoOnAfterKill(t *testing.T) {
	for name, change := range variants() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			question := walkQuestion(t, 3)
			if needs.IsFull() {
				question = walkQuestion(t, 4)
			}
			change(&question)
			testGoOnAfterKill(t, question)
		})
	}
}

func testGoOnAfterKill(t *testing.T, question question) {
	path := filepath.Join(t.TempDir(), "whole")
	var copies []string
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		for i := range 40 {
			if ctx.Err() != nil {
				return
			}
			target := filepath.Join(filepath.Dir(path), fmt.Sprintf("copy%d", i))
			if copyDirectory(target, path) == nil {
				copies = append(copies, target)
			}
			time.Sleep(time.Duration(i) * time.Millisecond)
		}
	}()
	want, err := question.solve(t.Context(), path, 2, 0)
	stop()
	<-copied
	if err != nil {
		t.Fatal(err)
	}
	if want.Blocks < 3 || !want.Proved {
		t.Fatalf("%+v, want several blocks and proved bounds", want)
	}
	tried := 0
	for i, target := range copies {
		if i%4 != 0 && !needs.IsFull() {
			continue
		}
		tried++
		if got, err := question.solve(t.Context(), target, 1+i%3, 0); err != nil || got != want {
			t.Errorf("from copy %d of %d: %+v, %v, want %+v", i, len(copies), got, err, want)
		}
	}
	t.Logf("went on from %d of %d copies", tried, len(copies))
}

// copyDirectory copies the files of a directory, its manifest first: the files that it lists stay until the next one is written. It fails if
// the manifest changes meanwhile.
func copyDirectory(target, source string) error {
	const manifest = "manifest.json"
	text, err := os.ReadFile(filepath.Join(source, manifest))
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(source)
	if err != nil {
		return err
	}
	if err := os.Mkdir(target, 0o777); err != nil {
		return err
	}
	for _, entry := range entries {
		data, err := os.ReadFile(filepath.Join(source, entry.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(target, entry.Name()), data, 0o666); err != nil {
			return err
		}
	}
	after, err := os.ReadFile(filepath.Join(source, manifest))
	if err == nil && string(after) != string(text) {
		err = errors.New("the manifest changed")
	}
	return errors.Join(err, os.WriteFile(filepath.Join(target, manifest), text, 0o666))
}

// Interrupted again and again, the work ends at the same bits.
func TestGoOnAfterInterrupts(t *testing.T) {
	for name, change := range variants() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			question := walkQuestion(t, 3)
			change(&question)
			testGoOnAfterInterrupts(t, question)
		})
	}
}

func testGoOnAfterInterrupts(t *testing.T, question question) {
	want, err := question.solve(t.Context(), filepath.Join(t.TempDir(), "whole"), 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	path := filepath.Join(t.TempDir(), "interrupted")
	for interrupts := 0; ; interrupts++ {
		limit := time.Duration(1+random.IntN(20*(1+interrupts/20))) * time.Millisecond
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		start := time.Now()
		got, err := question.solve(ctx, path, 2, 0)
		cancel()
		if late := time.Since(start) - limit; late > 5*time.Second {
			t.Errorf("stopped %v after the interrupt", late)
		}
		if errors.Is(err, context.DeadlineExceeded) {
			continue
		}
		if err != nil || got != want {
			t.Fatalf("after %d interrupts: %+v, %v, want %+v", interrupts, got, err, want)
		}
		t.Logf("%d interrupts", interrupts)
		return
	}
}

// An interrupt at any block of the analysis of the graph ends the work, and it goes on to the same bits.
func TestGoOnAfterInterruptOfGraph(t *testing.T) {
	for _, name := range []string{"probability", "reward", "total"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			question := walkQuestion(t, 3)
			variants()[name](&question)
			want, err := question.solve(t.Context(), filepath.Join(t.TempDir(), "whole"), 2, 0)
			if err != nil {
				t.Fatal(err)
			}
			for visits := 1; ; visits += 1 + visits/4 {
				path := filepath.Join(t.TempDir(), "interrupted")
				ctx, cancel := context.WithCancel(t.Context())
				question.progress = interruptAt(visits, cancel)
				_, err := question.solve(ctx, path, 2, 0)
				wasInterrupted := ctx.Err() != nil
				cancel()
				if wasInterrupted && !errors.Is(err, context.Canceled) {
					t.Fatalf("interrupted at block %d: %v, want an interrupt", visits, err)
				}
				question.progress = nil
				if got, err := question.solve(t.Context(), path, 2, 0); got != want || err != nil {
					t.Fatalf("interrupted at block %d: %+v, %v, want %+v", visits, got, err, want)
				}
				if !wasInterrupted {
					t.Logf("fewer than %d visits of a block", visits)
					return
				}
			}
		})
	}
}

// interruptAt returns a function that receives progress, and calls cancel when the analysis of the graph visits its blocks for the given time.
func interruptAt(visits int, cancel context.CancelFunc) func(progress.Progress) {
	visited := 0
	return func(update progress.Progress) {
		if !strings.Contains(update.Detail, "by the graph") {
			return
		}
		if visited++; visited == visits {
			cancel()
		}
	}
}

// A full disk is an error that names the directory and the bytes, and the work goes on to the same bits when there is more space.
func TestFullDisk(t *testing.T) {
	for _, name := range []string{"probability", "reward"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			question := walkQuestion(t, 3)
			variants()[name](&question)
			testFullDisk(t, question)
		})
	}
}

func testFullDisk(t *testing.T, question question) {
	want, err := question.solve(t.Context(), filepath.Join(t.TempDir(), "whole"), 2, 0)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "full")
	failures := 0
	for limit := int64(200); ; limit += limit / 5 {
		got, err := question.solve(t.Context(), path, 2, limit)
		full, isFull := errors.AsType[*disk.FullError](err)
		if !isFull {
			if err != nil || got != want {
				t.Fatalf("limit of %d bytes: %+v, %v, want %+v", limit, got, err, want)
			}
			break
		}
		failures++
		if full.Need <= 0 || !strings.Contains(err.Error(), fmt.Sprintf("the disk of %q is full", path)) || !strings.Contains(err.Error(), "nothing is lost") {
			t.Errorf("limit of %d bytes: %v", limit, err)
		}
	}
	if failures < 10 {
		t.Errorf("the disk was full %d times, want at least 10", failures)
	}
}
