package external_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tilecheck/internal/needs"
	"tilecheck/internal/progress"
	"tilecheck/internal/shard"
	"tilecheck/native/external"
	"tilecheck/native/space/disk"
)

// as returns the question of one of several processes.
func (q question) as(index, count int) question {
	q.process = shard.Part{Index: index, Count: count}
	return q
}

// Several processes get the same bits as one, for each kind of value.
func TestProcesses(t *testing.T) {
	for name, change := range variants() {
		if name != "reward of steps" && name != "probability" && !needs.IsFull() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			question := walkQuestion(t, 3)
			change(&question)
			want, err := question.as(1, 1).solve(t.Context(), filepath.Join(t.TempDir(), "one"), 2, 0)
			if err != nil || want.Passes == 0 {
				t.Fatalf("%+v, %v, want some passes", want, err)
			}
			for count := 2; count <= 3; count++ {
				path := filepath.Join(t.TempDir(), "several")
				var all sync.WaitGroup
				for index := 1; index <= count; index++ {
					all.Go(func() {
						if got, err := question.as(index, count).solve(t.Context(), path, 1, 0); err != nil || got != want {
							t.Errorf("process %d of %d: %+v, %v, want %+v", index, count, got, err, want)
						}
					})
				}
				all.Wait()
			}
		})
	}
}

// Each of several processes is interrupted again and again, and goes on while the others wait. All get the same bits as one process.
func TestProcessesGoOnAfterInterrupts(t *testing.T) {
	for _, name := range []string{"probability", "reward of steps"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			question := walkQuestion(t, 3)
			variants()[name](&question)
			want, err := question.as(1, 1).solve(t.Context(), filepath.Join(t.TempDir(), "one"), 2, 0)
			if err != nil {
				t.Fatal(err)
			}
			const count = 3
			path := filepath.Join(t.TempDir(), "several")
			ctxOfAll, stopAll := context.WithCancel(t.Context())
			defer stopAll()
			var all sync.WaitGroup
			for index := 1; index <= count; index++ {
				all.Go(func() {
					random := rand.New(rand.NewPCG(3, uint64(index)))
					for interrupts := 0; ; interrupts++ {
						ctx, cancel := context.WithTimeout(ctxOfAll, time.Duration(1+random.IntN(40*(1+interrupts/4)))*time.Millisecond)
						got, err := question.as(index, count).solve(ctx, path, 1, 0)
						cancel()
						if errors.Is(err, context.DeadlineExceeded) {
							continue
						}
						if err != nil || got != want {
							t.Errorf("process %d after %d interrupts: %+v, %v, want %+v", index, interrupts, got, err, want)
							stopAll() // the others would wait
						}
						t.Logf("process %d: %d interrupts", index, interrupts)
						return
					}
				})
			}
			all.Wait()
		})
	}
}

// killedContext is a context that kills its process with SIGKILL when it is asked for its error for the last time.
type killedContext struct {
	context.Context
	remaining atomic.Int64
}

func (ctx *killedContext) Err() error {
	if ctx.remaining.Add(-1) == 0 {
		if own, err := os.FindProcess(os.Getpid()); err == nil {
			_ = own.Kill()
		}
		select {} // until the signal comes
	}
	return ctx.Context.Err()
}

// victimVariable is the environment variable that makes TestKilledProcess one of two processes: its number, after how many questions for the error of its
// context it is killed, and the directory.
const victimVariable = "TILECHECK_TEST_VICTIM"

// TestKilledProcess does nothing unless TestProcessesGoOnAfterSIGKILL starts it as a process of its own.
func TestKilledProcess(t *testing.T) {
	order := os.Getenv(victimVariable)
	if order == "" {
		return
	}
	var index, limit int
	var path string
	if _, err := fmt.Sscanf(order, "%d %d %s", &index, &limit, &path); err != nil {
		t.Fatal(err)
	}
	ctx := &killedContext{Context: t.Context()}
	ctx.remaining.Store(int64(limit))
	got, err := walkQuestion(t, 3).as(index, 2).solve(ctx, path, 1, 0)
	fmt.Printf("%+v, %v\n", got, err)
}

// One of two processes is killed with SIGKILL again and again, also while it solves blocks, and is started again each time. Both get the same bits as one
// process.
func TestProcessesGoOnAfterSIGKILL(t *testing.T) {
	for index := 1; index <= 2; index++ {
		t.Run(fmt.Sprintf("process %d", index), func(t *testing.T) {
			t.Parallel()
			question := walkQuestion(t, 3)
			bounds, err := question.as(1, 1).solve(t.Context(), filepath.Join(t.TempDir(), "one"), 2, 0)
			if err != nil {
				t.Fatal(err)
			}
			want := fmt.Sprintf("%+v, <nil>", bounds)
			path := filepath.Join(t.TempDir(), "several")
			var other sync.WaitGroup
			other.Go(func() {
				got, err := question.as(3-index, 2).solve(t.Context(), path, 1, 0)
				if text := fmt.Sprintf("%+v, %v", got, err); text != want {
					t.Errorf("the process that is not killed: %s, want %s", text, want)
				}
			})
			defer other.Wait()
			kills := 0 // in the middle of the passes
			for limit := 40; ; limit *= 2 {
				victim := exec.Command(os.Args[0], "-test.run=^TestKilledProcess$")
				victim.Env = append(os.Environ(), fmt.Sprintf("%s=%d %d %s", victimVariable, index, limit, path))
				out, err := victim.Output()
				if err == nil {
					if got, _, _ := strings.Cut(string(out), "\n"); got != want {
						t.Errorf("killed and started again: %s, want %s", got, want)
					}
					break
				}
				var manifest struct {
					Solutions map[string]struct{ Passes int }
				}
				text, err := os.ReadFile(filepath.Join(path, "manifest.json"))
				if err == nil && json.Unmarshal(text, &manifest) == nil && manifest.Solutions["far"].Passes > 0 {
					kills++
				}
			}
			if kills == 0 {
				t.Error("no kill came between the first pass and the last one")
			}
		})
	}
}

// A process that waits says for which one, and an interrupt ends it at once.
func TestProcessesWait(t *testing.T) {
	for _, tt := range []struct {
		index int
		want  string
	}{{1, "waiting for process 2/2"}, {2, "waiting for process 1/2"}} {
		t.Run(tt.want, func(t *testing.T) {
			t.Parallel()
			question := walkQuestion(t, 3).as(tt.index, 2)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var interrupted time.Time
			question.progress = func(update progress.Progress) {
				if update.Detail == tt.want && ctx.Err() == nil {
					interrupted = time.Now()
					cancel()
				}
			}
			_, err := question.solve(ctx, filepath.Join(t.TempDir(), "waits"), 2, 0)
			if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want an interrupt while %s", err, tt.want)
			}
			if late := time.Since(interrupted); late > time.Second && needs.IsFull() {
				t.Errorf("stopped %v after the interrupt", late)
			}
		})
	}
}

// A process with other settings is refused, until one process has worked alone.
func TestProcessesDisagree(t *testing.T) {
	path := filepath.Join(t.TempDir(), "walk")
	asked := walkQuestion(t, 3)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := asked.as(2, 3).solve(ctx, path, 1, 0); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("one process of three: %v, want it to wait", err)
	}
	more := asked
	more.memory *= 2
	for want, other := range map[string]question{
		`began with 3 processes, --memory 40960, model walk, digest digest; want the same in each, found 2 processes`: asked.as(1, 2),
		`found 3 processes, --memory 81920`: more.as(1, 3),
	} {
		if _, err := other.solve(t.Context(), path, 1, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := asked.solve(t.Context(), path, 1, 0); err != nil { // one process ends the agreement
		t.Error(err)
	}
	if _, err := more.as(1, 2).solve(t.Context(), path, 1, 0); err != nil { // the answer is recorded, so this process does not wait
		t.Error(err)
	}
}

// exists reports whether a file exists.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// A full disk in one process ends all by its name. When there is space, they go on to the same bits.
func TestProcessesFullDisk(t *testing.T) {
	for full := 1; full <= 2; full++ {
		question := walkQuestion(t, 3)
		path := filepath.Join(t.TempDir(), "full")
		run := func(limit int64) (bounds [2]external.Bounds, errs [2]error) {
			var all sync.WaitGroup
			for i := 1; i >= 0; i-- {
				own := int64(0)
				if i+1 == full {
					own = limit
				}
				all.Go(func() { bounds[i], errs[i] = question.as(i+1, 2).solve(t.Context(), path, 1, own) })
				for !exists(filepath.Join(path, "agreement")) { // process 2 has read the directory before process 1 fails
					time.Sleep(time.Millisecond)
				}
			}
			all.Wait()
			return bounds, errs
		}
		_, errs := run(2000)
		if _, isFull := errors.AsType[*disk.FullError](errs[full-1]); !isFull {
			t.Errorf("process %d: %v, want a full disk", full, errs[full-1])
		}
		failure, ok := errors.AsType[*disk.FailureError](errs[2-full])
		if full == 2 && !ok {
			t.Errorf("process 1: %v, want the error of process 2", errs[0])
		}
		if ok && (failure.Process.Index != full || !strings.Contains(failure.Text, "is full")) {
			t.Errorf("process %d: %v, want the full disk of process %d", 3-full, failure, full)
		}
		if bounds, errs := run(0); errors.Join(errs[:]...) != nil || bounds[0] != bounds[1] || !bounds[0].Proved {
			t.Errorf("with space: %+v, %v", bounds, errs)
		}
	}
}
