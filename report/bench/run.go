package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"
)

// Format is the version of the records. Read accepts files of earlier versions and refuses files of later versions.
const Format = 1

// Run is one measured run: one tool on one case, once. It is a line of a file of results.
type Run struct {
	Format int `json:"format"`
	// Case contains the files, switches and constants of the case. Tool is the label of the tool.
	Case string `json:"case"`
	Tool string `json:"tool"`
	// Repetition is the number of the run, from 1, among the runs of the same case and tool.
	Repetition int `json:"repetition"`

	Outcome    Outcome    `json:"outcome"`
	Reason     string     `json:"reason,omitempty"`
	Properties []Property `json:"properties,omitempty"`

	CPUSeconds    float64 `json:"cpu_seconds"`
	UserSeconds   float64 `json:"user_seconds"`
	SystemSeconds float64 `json:"system_seconds"`
	WallSeconds   float64 `json:"wall_seconds"`
	PeakMemory    int64   `json:"peak_memory_bytes"`
	// Measured is the source of the times and the memory: cgroup v2, cgroup v1, rusage; empty if the tool was not started. MeasuredWhy
	// says why the source is not a control group.
	Measured    string `json:"measured,omitempty"`
	MeasuredWhy string `json:"measured_why,omitempty"`
	// Interference says what disturbed the measurement.
	Interference []string `json:"interference,omitempty"`

	Started        time.Time `json:"started"`
	Program        string    `json:"program,omitempty"` // its path
	Version        string    `json:"version,omitempty"` // of the tool
	Switches       []string  `json:"switches,omitempty"`
	Cores          []int     `json:"cores,omitempty"`
	TimeoutSeconds float64   `json:"timeout_seconds,omitempty"`
	MemoryLimit    int64     `json:"memory_limit_bytes,omitempty"`
	Seed           uint64    `json:"seed"`
	Tilecheck      string    `json:"tilecheck"` // the version of the program that measured
	Machine        Machine   `json:"machine"`
}

// Machine describes a machine, on which the times of a run depend.
type Machine struct {
	System    string `json:"system"` // such as linux/amd64
	Kernel    string `json:"kernel,omitempty"`
	Processor string `json:"processor,omitempty"`
	Cores     int    `json:"cores"`
	Memory    int64  `json:"memory_bytes,omitempty"`
}

// Property is the answer to one property.
type Property struct {
	Property string  `json:"property"`
	Value    string  `json:"value,omitempty"`
	Expected string  `json:"expected,omitempty"`
	Outcome  Outcome `json:"outcome"`
}

// Outcome is the judgment of a run, or of the answer to a property.
type Outcome string

// The outcomes, the gravest first. The outcome of a run is the gravest outcome of its properties.
const (
	BoundViolated Outcome = "bound violated" // the value is outside of an interval that the tool claims to contain it
	Wrong         Outcome = "wrong"          // the value is not the expected one
	Failed        Outcome = "error"          // the tool failed, or the files have errors
	Timeout       Outcome = "timeout"
	OutOfMemory   Outcome = "memory"
	Refused       Outcome = "refused"   // the tool does not support something
	Unchecked     Outcome = "unchecked" // there is a value, and nothing to compare it with
	Right         Outcome = "right"
)

// Outcomes lists the outcomes, the gravest first.
func Outcomes() []Outcome {
	return []Outcome{BoundViolated, Wrong, Failed, Timeout, OutOfMemory, Refused, Unchecked, Right}
}

// IsGraverThan reports whether an outcome is graver than another one.
func (o Outcome) IsGraverThan(than Outcome) bool {
	return slices.Index(Outcomes(), o) < slices.Index(Outcomes(), than)
}

// Solved reports whether a run has an answer that nothing contradicts.
func (o Outcome) Solved() bool { return o == Right || o == Unchecked }

// Key identifies a run in a file of results.
type Key struct {
	Case, Tool string
	Repetition int
}

// Key returns the key of the run.
func (r *Run) Key() Key { return Key{r.Case, r.Tool, r.Repetition} }

// Write writes the run to w as one line of JSON.
func (r *Run) Write(w io.Writer) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = w.Write(append(line, '\n'))
	return err
}

// maxLine is the greatest length of a line, in bytes.
const maxLine = 16 << 20

// Read reads runs, one from each line. It ignores repetitions of a run, and an incomplete last line, which an interrupted write has left. name is the
// name of the file for messages.
func Read(r io.Reader, name string) ([]Run, error) {
	var runs []Run
	seen := make(map[Key]bool)
	lines := bufio.NewReader(r)
	for lineNumber := 1; ; lineNumber++ {
		line, err := readLine(lines)
		if err == io.EOF {
			return runs, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, lineNumber, err)
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var run Run
		if err := json.Unmarshal(line, &run); err != nil {
			return nil, fmt.Errorf("%s:%d: %w, want a line of tilecheck bench", name, lineNumber, err)
		}
		if err := run.check(); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, lineNumber, err)
		}
		if !seen[run.Key()] {
			seen[run.Key()] = true
			runs = append(runs, run)
		}
	}
}

// readLine returns a line with its line ending. It returns io.EOF if the text ends without a line ending.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		chunk, err := r.ReadSlice('\n')
		line = append(line, chunk...)
		if len(line) > maxLine {
			return nil, fmt.Errorf("a line is longer than %d bytes", maxLine)
		}
		if err != bufio.ErrBufferFull {
			return line, err
		}
	}
}

// check returns an error if the record is of a later version, lacks a field that every record has, or has an invalid number.
func (r *Run) check() error {
	switch {
	case r.Format > Format:
		return fmt.Errorf("found a record of format %d, want at most %d: a newer tilecheck wrote it", r.Format, Format)
	case r.Format < 1 || r.Case == "" || r.Tool == "" || r.Repetition < 1:
		return fmt.Errorf("found a line without format, case, tool or repetition, want a line of tilecheck bench")
	case r.CPUSeconds < 0 || r.WallSeconds < 0 || r.PeakMemory < 0:
		return fmt.Errorf("found a negative time or memory")
	}
	return nil
}

// Measure returns a function that selects a measurement of a run. name is cpu for processor seconds, wall for elapsed seconds, or memory for bytes.
func Measure(name string) func(*Run) float64 {
	switch name {
	case "wall":
		return func(r *Run) float64 { return r.WallSeconds }
	case "memory":
		return func(r *Run) float64 { return float64(r.PeakMemory) }
	}
	return func(r *Run) float64 { return r.CPUSeconds }
}
