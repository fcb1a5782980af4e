package solve_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"tilecheck/game"
	"tilecheck/game/solve"
	"tilecheck/internal/needs"
	"tilecheck/internal/shard"
)

// solveFile returns the file of an undisturbed run.
func solveFile(t *testing.T, opts solve.Options) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "table")
	stats, err := solve.SolveFile(t.Context(), path, false, opts)
	if err != nil {
		t.Fatal(err)
	}
	wantOnly(t, path)
	table, err := solve.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	if got := table.Stats(); fmt.Sprint(got) != fmt.Sprint(stats) {
		t.Errorf("the file has %v, want %v", got, stats)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// wantOnly checks that nothing else is in the directory of a file.
func wantOnly(t *testing.T, path string) {
	t.Helper()
	found, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(found) != 1 || found[0].Name() != filepath.Base(path) {
		t.Errorf("%v is there, error %v, want %s only", found, err, path)
	}
}

// TestFileIsSame solves with different numbers of goroutines and amounts of memory: with the least, runs of keys go to disk, and values are
// looked up in parts.
func TestFileIsSame(t *testing.T) {
	boards := []solve.Options{
		square(4, 8), // many parts
		{Shape: game.Shape{Rows: 2, Cols: 3}, Max: 32, Discount: 0.99},
		{Shape: game.Shape{Rows: 3, Cols: 3}, Max: 8, Objective: solve.Score},
		{Shape: game.Shape{Rows: 2, Cols: 2}, Max: 4, Objective: solve.Moves},
	}
	if needs.IsFull() {
		boards = append(boards, square(3, 32), solve.Options{Shape: game.Shape{Rows: 4, Cols: 3}, Max: 8, Objective: solve.Score})
	}
	for _, opts := range boards {
		opts.Workers = 1
		want := solveFile(t, opts)
		for _, workers := range []int{5, 2}[:max(needs.Some(2), 1)] {
			for _, memory := range []int64{1, 0, 49 << 20}[:needs.OrFull(1, 3)] {
				opts.Workers, opts.Memory = workers, memory
				if got := solveFile(t, opts); !bytes.Equal(got, want) {
					t.Errorf("%s: %d goroutines and %d bytes of memory make another file", name(opts), workers, memory)
				}
			}
		}
		opts.Memory = 0
		inMemory, _, err := solve.Solve(t.Context(), opts)
		if err != nil {
			t.Errorf("%s: %v", name(opts), err)
			continue
		}
		sameAsFile(t, inMemory, want)
		sameInitial(t, inMemory.Stats().Initial, opts)
	}
}

// TestProcesses solves with several processes, which share a directory.
func TestProcesses(t *testing.T) {
	boards := []solve.Options{
		square(4, 8), // many parts
		square(2, 16),
	}
	if needs.IsFull() {
		boards = append(boards, solve.Options{Shape: game.Shape{Rows: 3, Cols: 3}, Max: 32, Objective: solve.Score})
	}
	for _, opts := range boards {
		want := solveFile(t, opts)
		for _, processes := range []int{7, 2}[:needs.OrFull(1, 2)] {
			path := filepath.Join(t.TempDir(), "table")
			var all sync.WaitGroup
			stats := make([]solve.Stats, processes)
			for i := range processes {
				all.Go(func() {
					own := opts
					own.Process, own.Workers, own.Memory = shard.Part{Index: i + 1, Count: processes}, 1+i%2, int64(i%2)
					var err error
					if stats[i], err = solve.SolveFile(t.Context(), path, false, own); err != nil {
						t.Errorf("process %d of %d: %v", i+1, processes, err)
					}
				})
			}
			all.Wait()
			wantFile(t, path, want)
			for i, got := range stats {
				if fmt.Sprint(got) != fmt.Sprint(stats[0]) {
					t.Errorf("process %d of %d has %v, want %v", i+1, processes, got, stats[0])
				}
			}
		}
	}
}

// TestProcessesCancel stops each of several processes after random layers, and starts it again.
func TestProcessesCancel(t *testing.T) {
	needs.Full(t)
	opts := square(4, 8)
	opts.Workers = 1
	want := solveFile(t, opts)
	const processes = 3
	for round := range 3 {
		path := filepath.Join(t.TempDir(), "table")
		var all sync.WaitGroup
		for i := range processes {
			all.Go(func() {
				rng := rand.New(rand.NewPCG(uint64(round), uint64(i)))
				for again := true; again; {
					ctx, cancel := context.WithCancel(t.Context())
					left := rng.IntN(30)
					own := opts
					own.Process = shard.Part{Index: i + 1, Count: processes}
					own.Progress = func(solve.Progress) {
						if left--; left < 0 {
							cancel()
						}
					}
					_, err := solve.SolveFile(ctx, path, true, own)
					cancel()
					if again = errors.Is(err, context.Canceled); err != nil && !again {
						t.Errorf("process %d: %v", i+1, err)
					}
				}
			})
		}
		all.Wait()
		wantFile(t, path, want)
	}
}

// TestProcessesDisagree starts a process of another number of processes, of another problem, and without others, and one that works alone.
func TestProcessesDisagree(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	opts := square(2, 16)
	opts.Process = shard.Part{Index: 2, Count: 3}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := solve.SolveFile(ctx, path, false, opts); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("one process of three: error %v, want it to wait", err)
	}
	for _, tt := range []struct {
		max     int
		process shard.Part
		want    string
	}{
		{16, shard.Part{Index: 2, Count: 4}, "work of 3 processes is for win on 2x2 to 16, want 4"},
		{32, shard.Part{Index: 1, Count: 3}, "want 3 for win on 2x2 to 32"},
		{16, shard.Part{}, "several processes"},
	} {
		opts := square(2, tt.max)
		opts.Process = tt.process
		if _, err := solve.SolveFile(t.Context(), path, true, opts); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v to %d: error %v, want %q", tt.process, tt.max, err, tt.want)
		}
	}
	alone := filepath.Join(t.TempDir(), "table")
	interrupted(t, alone, square(2, 16))
	if _, err := solve.SolveFile(t.Context(), alone, true, opts); err == nil || !strings.Contains(err.Error(), "one process") {
		t.Errorf("several processes on the work of one: error %v", err)
	}
}

// sameInitial solves without keeping a table, in memory and on disk.
func sameInitial(t *testing.T, want float64, opts solve.Options) {
	t.Helper()
	for _, memory := range []int64{0, 1} {
		dir := ""
		if opts.Memory = memory; memory != 0 {
			dir = t.TempDir()
		}
		stats, err := solve.InitialValue(t.Context(), opts, dir)
		if err != nil || stats.Initial != want {
			t.Errorf("%s in %d bytes of memory: %v, error %v, want %v", name(opts), memory, stats.Initial, err, want)
		}
	}
}

// sameAsFile compares a table in memory with a file.
func sameAsFile(t *testing.T, inMemory *solve.Table, file []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "table")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	table, err := solve.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	for _, l := range table.Stats().Layers {
		want, err := table.Layer(l.Sum)
		if err != nil {
			t.Fatal(err)
		}
		got, err := inMemory.Layer(l.Sum)
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("layer %d in memory is not that of the file, error %v", l.Sum, err)
		}
		for _, p := range want {
			v, best, ok := table.Value(p.Board)
			inV, inBest, inOK := inMemory.Value(p.Board)
			if v != inV || best != inBest || !ok || !inOK {
				t.Errorf("%s is %v %s in the file and %v %s in memory", p.Board, v, best, inV, inBest)
			}
		}
	}
}

// TestCancel stops after random layers, with and without work to go on from. The run that goes on makes the layer after the last one that
// was complete first. That the same holds for a process that is killed is tested where the command is, in cmd/tilecheck.
func TestCancel(t *testing.T) {
	rng := rand.New(rand.NewPCG(20, 2048))
	opts := square(3, 16)
	opts.Workers = 2
	want := solveFile(t, opts)
	for range needs.OrFull(6, 20) {
		path := filepath.Join(t.TempDir(), "table")
		valued := 0 // the sum of the last layer that was
		for resume := false; ; resume = true {
			ctx, cancel := context.WithCancel(t.Context())
			left := rng.IntN(60)
			opts.Progress = func(p solve.Progress) {
				if p.Valuing {
					if valued != 0 && p.Sum != valued-2 {
						t.Errorf("layer %d is valued after layer %d", p.Sum, valued)
					}
					valued = p.Sum
				}
				if left--; left < 0 {
					cancel()
				}
			}
			_, err := solve.SolveFile(ctx, path, resume, opts)
			cancel()
			if err == nil {
				break
			}
			if !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
		}
		wantFile(t, path, want)
	}
}

func wantFile(t *testing.T, path string, want []byte) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("the file has %d bytes, error %v, and is not the undisturbed one of %d", len(got), err, len(want))
	}
	wantOnly(t, path)
}

// TestWhatIsThere asks for files and work that are there already.
func TestWhatIsThere(t *testing.T) {
	opts := square(2, 16)
	path := filepath.Join(t.TempDir(), "table")
	first, err := solve.SolveFile(t.Context(), path, true, opts) // nothing to go on from
	if err != nil {
		t.Fatal(err)
	}
	if _, err := solve.SolveFile(t.Context(), path, false, opts); !errors.Is(err, solve.ErrExists) {
		t.Errorf("the file is there: error %v", err)
	}
	if again, err := solve.SolveFile(t.Context(), path, true, opts); err != nil || fmt.Sprint(again) != fmt.Sprint(first) {
		t.Errorf("the file has %v, error %v, want %v", again, err, first)
	}
	if _, err := solve.SolveFile(t.Context(), path, true, square(2, 32)); err == nil || !strings.Contains(err.Error(), "2x2 to 16, want") {
		t.Errorf("the file of another problem: error %v", err)
	}

	other := filepath.Join(t.TempDir(), "table")
	interrupted(t, other, opts)
	if _, err := solve.SolveFile(t.Context(), other, false, opts); !errors.Is(err, solve.ErrUnfinished) {
		t.Errorf("work is there: error %v", err)
	}
	if _, err := solve.SolveFile(t.Context(), other, true, square(2, 32)); err == nil || !strings.Contains(err.Error(), "2x2 to 16, want") {
		t.Errorf("the work for another problem: error %v", err)
	}
	foreign := filepath.Join(t.TempDir(), "table")
	if err := os.Mkdir(solve.WorkDir(foreign), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(solve.WorkDir(foreign), "thesis.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := solve.SolveFile(t.Context(), foreign, true, opts); err == nil || !strings.Contains(err.Error(), "no work directory") {
		t.Errorf("somebody's directory: error %v", err)
	}
}

// interrupted leaves unfinished work, with some layers valued.
func interrupted(t *testing.T, path string, opts solve.Options) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	valued := 0
	opts.Progress = func(p solve.Progress) {
		if p.Valuing {
			valued++
		}
		if valued == 5 {
			cancel()
		}
	}
	if _, err := solve.SolveFile(ctx, path, true, opts); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want it cancelled", err)
	}
}

// TestLock has two at the same work.
func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	opts := square(2, 16)
	tried := false
	opts.Progress = func(solve.Progress) {
		if tried {
			return
		}
		tried = true
		for _, resume := range []bool{true, false} { // never told to delete what is being worked on
			if _, err := solve.SolveFile(t.Context(), path, resume, square(2, 16)); !errors.Is(err, solve.ErrLocked) {
				t.Errorf("resume %v: error %v, want %v", resume, err, solve.ErrLocked)
			}
		}
	}
	if _, err := solve.SolveFile(t.Context(), path, false, opts); err != nil {
		t.Error(err)
	}
}

// A file that NFS keeps for another process is in the directory of an interrupted run: it is no file of another program, and the table is complete
// although the directory stays.
func TestFileKeptByNFS(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	kept := filepath.Join(solve.WorkDir(path), ".nfs000000000000002e00000001")
	if err := errors.Join(os.Mkdir(solve.WorkDir(path), 0o777), os.WriteFile(kept, nil, 0o666)); err != nil {
		t.Fatal(err)
	}
	if _, err := solve.SolveFile(t.Context(), path, true, square(2, 8)); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(solve.WorkDir(path))
	if err != nil || len(left) != 1 || left[0].Name() != filepath.Base(kept) {
		t.Errorf("the directory has %v, error %v, want %s only", left, err, kept)
	}
	if err := os.Remove(kept); err != nil { // as NFS does when the process ends
		t.Fatal(err)
	}
	if _, err := solve.SolveFile(t.Context(), path, true, square(2, 8)); err != nil {
		t.Fatal(err)
	}
	wantOnly(t, path)
}

// TestMutations opens files with a bit of every 16th byte flipped, cut off, and longer than they are. TestEveryBit has the others.
func TestMutations(t *testing.T) {
	data := solveFile(t, square(2, 16))
	path := filepath.Join(t.TempDir(), "table")
	refused := func(what string, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		table, err := solve.Open(path)
		if err == nil {
			t.Errorf("%s is not noticed", what)
			table.Close()
		} else if !strings.Contains(err.Error(), path) {
			t.Errorf("%s: error %v does not name the file", what, err)
		}
	}
	for i := 0; i < len(data); i += 16 {
		mutated := bytes.Clone(data)
		mutated[i] ^= 1 << (i / 16 % 8)
		refused("a bit of byte "+strconv.Itoa(i), mutated)
		refused("truncation to "+strconv.Itoa(i), data[:i])
	}
	refused("one more byte", append(bytes.Clone(data), 0))
	refused("the file twice", append(bytes.Clone(data), data...))
	if _, err := solve.Open(filepath.Join(t.TempDir(), "missing")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: error %v", err)
	}
	if _, err := solve.Open(t.TempDir()); err == nil || !strings.Contains(err.Error(), "not a table") {
		t.Errorf("a directory: error %v", err)
	}
}

// TestMutatedWork flips bits of unfinished work, and cuts files of it off: the run that goes on notices, or makes the same file.
func TestMutatedWork(t *testing.T) {
	opts := square(2, 16)
	want := solveFile(t, opts)
	rng := rand.New(rand.NewPCG(22, 2048))
	noticed, same := 0, 0
	mutants := needs.Some(150)
	for range mutants {
		path := filepath.Join(t.TempDir(), "table")
		interrupted(t, path, opts)
		files, err := os.ReadDir(solve.WorkDir(path))
		if err != nil {
			t.Fatal(err)
		}
		mutate(t, rng, filepath.Join(solve.WorkDir(path), files[rng.IntN(len(files))].Name()))
		if _, err := solve.SolveFile(t.Context(), path, true, opts); err != nil {
			noticed++
			continue
		}
		same++
		wantFile(t, path, want)
	}
	if noticed == 0 || same == 0 && mutants >= 50 { // of a few all may be noticed
		t.Errorf("%d mutations were noticed and %d did no harm, want some of both", noticed, same)
	}
}

// mutate flips a bit of a file, or cuts it off.
func mutate(t *testing.T, rng *rand.Rand, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(data) > 0 {
		if at := rng.IntN(len(data)); rng.IntN(2) == 0 {
			data[at] ^= 1 << rng.IntN(8)
		} else {
			data = data[:at]
		}
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
