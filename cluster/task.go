package cluster

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"tilecheck/cluster/settings"
	"tilecheck/runner"
)

// Tool returns a commander that runs a program in a directory with additional environment variables.
type Tool func(program, dir string, env ...string) (runner.Commander, error)

// Place says where a task runs, for its record.
type Place struct {
	Host     string
	Restarts int // of the task there
}

// Do runs a shard of a round. Its output goes to the log of the task, and to extraOutput if that is not nil. Do writes the record of the run, unless ctx
// has ended.
func (r *Round) Do(ctx context.Context, tool runner.Commander, task, shard int, place Place, extraOutput io.Writer) (code int, err error) {
	number := strconv.Itoa(shard)
	log, err := os.OpenFile(r.Dir.Log(r.Number, strconv.Itoa(task)), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return 1, err
	}
	defer log.Close()
	output := io.Writer(log)
	if extraOutput != nil {
		output = io.MultiWriter(log, extraOutput)
	}
	exit, err := tool.Run(ctx, runner.Command{Args: r.Job.Args(number, r.Dir.Part(number)), Stdout: output, Stderr: output})
	if ctx.Err() != nil {
		return 1, ctx.Err()
	}
	if err != nil {
		fmt.Fprintln(output, "tilecheck:", err)
		exit.Code = cmp.Or(exit.Code, 1)
	}
	host := cmp.Or(strings.Join(strings.Fields(place.Host), "-"), "unknown")
	record := fmt.Sprintf("%d %.0f %s %d\n", exit.Code, exit.Elapsed.Seconds(), host, place.Restarts)
	return exit.Code, r.Dir.createFile(r.Dir.Run(r.Number, number), record)
}

// Perform runs the unfinished shards of a task one after the other, for back ends that start a program without a shell. The code is the exit code of
// the last shard that did not finish, 0 if all did; a shard whose test failed counts as finished. Perform does not lock the directory, because
// the driver on another machine has the lock.
func Perform(ctx context.Context, dir string, round, task int, tool Tool, at Place, out io.Writer) (code int, err error) {
	path, err := absolute(dir)
	if err != nil {
		return 1, err
	}
	w := &Work{Dir: Dir(path)}
	if err := w.loadState(); err != nil { // the job in it never changes
		return 1, err
	}
	r := &Round{Number: round}
	w.fillRound(r)
	if r.Tasks, err = w.Dir.readTasks(round); err != nil {
		return 1, err
	}
	if task < 1 || task > len(r.Tasks) {
		return 1, fmt.Errorf("found task %d of round %d, which has %d", task, round, len(r.Tasks))
	}
	program, err := tool(w.Dir.Program(&w.Job), w.Dir.Work(&w.Job))
	if err != nil {
		return 1, err
	}
	finished := func(shard int) bool {
		_, err := os.Lstat(w.Dir.Part(strconv.Itoa(shard)))
		return err == nil
	}
	for _, shard := range r.Tasks[task-1] {
		if finished(shard) {
			continue
		}
		ended, err := r.Do(ctx, program, task, shard, at, out)
		if err != nil {
			return 1, err
		}
		if !finished(shard) {
			code = max(ended, 1) // without a file the shard is not finished
		}
		if ended == 80 { // usage error: the other shards would fail too
			break
		}
	}
	return code, nil
}

// readTasks reads the list of a round's shards. It is written once, so a network file system cannot return an old version.
func (d Dir) readTasks(round int) ([][]int, error) {
	name := d.Tasks(round)
	text, err := readRegular(name, maxState)
	if err != nil {
		return nil, err
	}
	var tasks [][]int
	for line := range strings.Lines(string(text)) {
		var shards []int
		for _, word := range strings.Fields(line) {
			shard, err := strconv.Atoi(word)
			if err != nil || shard < 1 || shard > settings.MaxShards {
				return nil, fmt.Errorf("%s:%d: found %.20q, want the number of a shard", name, len(tasks)+1, word)
			}
			shards = append(shards, shard)
		}
		tasks = append(tasks, shards)
	}
	return tasks, nil
}
