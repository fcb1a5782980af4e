package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"tilecheck/native"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// WorkerCommand is the hidden command of tilecheck that reads a question from a file and answers it.
const WorkerCommand = "bench-worker"

// questionFile is the name of the file with the question.
const questionFile = "question.json"

// question is the job that a process of the embedded engine checks.
type question struct {
	File       string
	Model      []byte
	PropsFile  string
	Properties []byte
	Dialect    syntax.Dialect
	Select     []string
	Consts     []string
	Settings   runner.Settings
}

// worker runs the embedded engine in a separate process, which can be measured.
type worker struct{ program runner.Commander }

// Name implements runner.Engine.
func (*worker) Name() string { return native.Name }

// Check implements runner.Engine. It starts the program to be measured in a new process, which reads the job from a file, checks it, and prints the verdicts as
// JSON.
func (w *worker) Check(ctx context.Context, plan *runner.Plan) ([]result.Verdict, error) {
	job := &plan.Job
	if job.States != nil || len(job.Params) > 0 || job.LeaveOpen || len(job.Props) > 0 {
		return nil, &result.Failure{Class: result.Unsupported, Message: "tilecheck bench measures models in files, without imports and parameters"}
	}
	text, err := json.Marshal(question{
		job.File, job.Model, job.PropsFile, job.Properties, job.Dialect, taskNumbers(plan), job.Consts, job.Settings,
	})
	if err != nil {
		return nil, err
	}
	var stdout, stderr bytes.Buffer
	exit, err := runner.Run(ctx, w.program, runner.Command{
		Args:   []string{WorkerCommand, questionFile},
		Files:  []runner.File{{Name: questionFile, Data: text}},
		Stdout: &stdout, Stderr: &stderr,
	})
	if err != nil {
		return nil, err
	}
	if exit.Cause == runner.Finished && exit.Code == 0 {
		return result.DecodeVerdicts(stdout.Bytes())
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return nil, workerFailure(exit, stderr.String())
}

// taskNumbers returns the number of each property of the plan in its file, counted from 1.
func taskNumbers(plan *runner.Plan) []string {
	var numbers []string
	for _, task := range plan.Tasks {
		if number := propertyNumber(task); number > 0 {
			numbers = append(numbers, fmt.Sprint(number))
		}
	}
	return numbers
}

// propertyNumber returns the number of a task's property in its file, counted from 1; 0 if the file does not have the property.
func propertyNumber(task *runner.Task) int {
	number := 0
	for _, item := range task.Source.Parsed.Items {
		property, ok := item.(*syntax.Property)
		if !ok {
			continue
		}
		number++
		if property == task.Property {
			return number
		}
	}
	return 0
}

// workerFailure returns the failure of a worker process that did not exit with code 0. Exit code 4 means that a limit was reached.
func workerFailure(exit runner.Exit, stderr string) error {
	message := strings.TrimSpace(stderr)
	switch {
	case exit.Cause == runner.OutOfMemory || exit.Code == 4:
		return &result.Failure{Class: result.Memory, Message: "the limit of memory was reached"}
	case exit.Cause != runner.Finished:
		return &result.Failure{Class: result.Killed, Message: string(exit.Cause)}
	}
	return &result.Failure{Class: result.Other, Message: fmt.Sprintf("exit code %d: %s", exit.Code, message)}
}

// Answer is the main function of a worker process. It decodes the job in text, which is JSON, checks the job with the embedded engine, and writes
// the verdicts to w as JSON.
func Answer(ctx context.Context, text []byte, w io.Writer) error {
	var job question
	if err := json.Unmarshal(text, &job); err != nil {
		return fmt.Errorf("decode the question: %w", err)
	}
	verdicts, err := runner.Check(ctx, native.New(), runner.Job{
		File: job.File, Model: job.Model, PropsFile: job.PropsFile, Properties: job.Properties, Dialect: job.Dialect,
		Select: job.Select, Consts: job.Consts, Settings: job.Settings,
	})
	if err != nil {
		return err
	}
	answer, err := result.EncodeVerdicts(verdicts)
	if err != nil {
		return err
	}
	_, err = w.Write(answer)
	return err
}
