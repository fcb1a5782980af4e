package crosscheck

import (
	"errors"
	"fmt"
	"slices"

	"tilecheck/internal/shard"
	"tilecheck/result"
	"tilecheck/result/agree"
	"tilecheck/runner"
)

// splitStream is the name of the shards' stream of answers. A shard has a range of the properties, each under all
// valuations of the constants: tools that expand 0.1:0.1:0.3 themselves get other float64 numbers than for 3/10.
const splitStream = "crosscheck"

// partRecord is the result of a range of properties, in a shard file.
type partRecord struct {
	Engines  []string      `json:"engines"` // the names of the entrants
	NotAsked []string      `json:"not_asked,omitempty"`
	Rows     []rowRecord   `json:"rows"`
	Models   []checkRecord `json:"models,omitempty"` // in the part with the first property
	// Diagnoses are about the valuations under which this part's properties disagree.
	Diagnoses []diagnosisRecord `json:"diagnoses,omitempty"`

	piece *shard.Piece
}

type rowRecord struct {
	Verdicts []result.Record `json:"verdicts"`
	Status   Status          `json:"outcome"`
	Basis    agree.Basis     `json:"basis,omitempty"`
	Reason   string          `json:"reason,omitempty"`
	Notes    []string        `json:"notes,omitempty"`
}

// checkRecord is a strict check, in the order of models and valuations.
type checkRecord struct {
	modelRecord
	Deterministic bool `json:"deterministic,omitempty"`
}

type diagnosisRecord struct {
	Instance   int                   `json:"instance"`
	First      string                `json:"first"`
	Second     string                `json:"second"`
	Difference *Difference           `json:"difference,omitempty"`
	Error      *result.FailureRecord `json:"error,omitempty"`
}

// record writes the result of this part to the shard file.
func (c *comparison) record() error {
	l := c.opt.Split
	if !l.Recording() {
		return nil
	}
	first, end := l.Part().Range(c.tasks())
	x := partRecord{NotAsked: c.opt.NotAsked, Rows: []rowRecord{}}
	for _, e := range c.entries {
		if e.subject == c.subjects[0] {
			x.Engines = append(x.Engines, e.Called())
		}
	}
	for _, r := range c.mine {
		x.Rows = append(x.Rows, rowRecord{result.Records(r.Verdicts), r.Status, r.Basis, r.Reason, r.Notes})
	}
	if first == 0 && end > 0 {
		for i, m := range c.report.summary().Models {
			x.Models = append(x.Models, checkRecord{m, c.report.Models[i].Deterministic})
		}
	}
	for _, d := range c.report.Diagnoses {
		x.Diagnoses = append(x.Diagnoses, diagnosisRecord{d.instance, d.First, d.Second, d.Difference, result.NewFailureRecord(d.Err)})
	}
	return l.PutJSON(&shard.Piece{Stream: splitStream, First: first, End: end, Timed: true}, x)
}

// tasks returns the number of properties.
func (c *comparison) tasks() int64 { return int64(len(c.subjects[0].plan.Tasks)) }

// partRecords are the parts that were recorded, in the order of the properties.
type partRecords []*partRecord

// recorded selects the rows of this part. If the run replays shards it returns their records, otherwise nil.
func (c *comparison) recorded() (out partRecords, err error) {
	c.mine = c.rows
	l := c.opt.Split
	if l.Recording() {
		first, end := l.Part().Range(c.tasks())
		c.mine = c.rowsOfTasks(first, end)
	}
	if !l.Replaying() {
		return nil, nil
	}
	err = l.Replay(shard.Stream{Name: splitStream, End: c.tasks()}, func(p *shard.Piece) (more bool, err error) {
		x := &partRecord{piece: p}
		out = append(out, x)
		return true, p.Decode(x)
	})
	if err == nil && len(out) == 0 {
		err = errors.New("no shard has an answer")
	}
	return out, err
}

// rowsOfTasks returns the rows of a range of properties.
func (c *comparison) rowsOfTasks(first, end int64) (out []*row) {
	for _, r := range c.rows {
		if t := int64(r.task); first <= t && t < end {
			out = append(out, r)
		}
	}
	return out
}

// entrants returns the entrants that the shards asked. The shards must have asked the same ones.
func (rs partRecords) entrants(all []runner.Entrant) (out []runner.Entrant, err error) {
	for _, x := range rs {
		if !slices.Equal(x.Engines, rs[0].Engines) || !slices.Equal(x.NotAsked, rs[0].NotAsked) {
			return nil, fmt.Errorf("the shards asked different engines: found %v and %v", rs[0].Engines, x.Engines)
		}
	}
	for _, label := range rs[0].Engines {
		i := slices.IndexFunc(all, func(x runner.Entrant) bool { return x.Called() == label })
		if i < 0 {
			return nil, fmt.Errorf("the shards asked %q, which the command does not", label)
		}
		out = append(out, all[i])
	}
	return out, nil
}

// replay fills the report from the records. Rows of missing parts are unchecked.
func (c *comparison) replay(parts partRecords) error {
	if parts == nil {
		return nil
	}
	l := c.opt.Split
	absent := &result.Failure{Class: result.Interrupted, Message: shard.Missing(l.Absent())}
	for _, s := range c.subjects {
		for _, in := range s.instances {
			in.check.Validity, in.check.Failure = NotChecked, absent
		}
	}
	for _, r := range c.rows {
		r.Status, r.Reason = Unchecked, absent.Message
		for range c.entries {
			r.Verdicts = append(r.Verdicts, result.Verdict{Property: r.Property, Name: r.Name, Constants: r.Constants, Err: absent})
		}
	}
	for _, x := range parts {
		if err := x.restore(c); err != nil {
			return l.Fail(x.piece, err)
		}
	}
	for i := range c.subjects[0].instances {
		for _, x := range parts {
			if found := x.diagnosesOf(c, i); len(found) > 0 {
				c.report.Diagnoses = append(c.report.Diagnoses, found...)
				break
			}
		}
	}
	return nil
}

// restore fills the rows and strict checks of a part.
func (x *partRecord) restore(c *comparison) error {
	rows := c.rowsOfTasks(x.piece.First, x.piece.End)
	if len(x.Rows) != len(rows) {
		return fmt.Errorf("found %d answers, want %d", len(x.Rows), len(rows))
	}
	for i, r := range rows {
		if err := x.Rows[i].restore(r); err != nil {
			return err
		}
	}
	if x.piece.First > 0 || x.piece.End == 0 {
		return nil
	}
	for _, s := range c.subjects {
		for _, in := range s.instances {
			if len(x.Models) == 0 {
				return errors.New("found fewer checks than models")
			}
			if err := x.Models[0].restore(&in.check); err != nil {
				return err
			}
			x.Models = x.Models[1:]
		}
	}
	return nil
}

func (x *rowRecord) restore(r *row) error {
	if len(x.Verdicts) != len(r.Verdicts) || !slices.Contains([]Status{Agree, Disagree, Undecided, Unchecked, Invalid}, x.Status) {
		return fmt.Errorf("found %d verdicts that %q, want %d", len(x.Verdicts), x.Status, len(r.Verdicts))
	}
	for k := range x.Verdicts {
		v, err := x.Verdicts[k].Verdict()
		if err != nil {
			return err
		}
		if v.Property != r.Property || len(v.Constants) != len(r.Constants) {
			return fmt.Errorf("found an answer to %s, want %s", key(v.Property, v.Constants), r.key())
		}
		v.Constants = r.Constants // the same values as the job spells them
		r.Verdicts[k] = *v
	}
	r.Status, r.Basis, r.Reason, r.Notes = x.Status, x.Basis, x.Reason, x.Notes
	return nil
}

func (x *checkRecord) restore(m *ModelCheck) error {
	f := x.Error.Failure()
	if x.Model != m.Model || !slices.Contains([]Validity{Valid, Sampled, Broken, NotChecked}, x.Validity) || f == nil && x.Validity != Valid && x.Validity != Sampled {
		return fmt.Errorf("found %q of the model %s, want what is known of %s", x.Validity, x.Model, m.Model)
	}
	m.Validity, m.Failure, m.Note, m.Deterministic = x.Validity, f, x.Note, x.Deterministic
	m.States, m.Choices, m.Transitions = x.States, x.Choices, x.Transitions
	return nil
}

// diagnosesOf returns the diagnoses of the part under one valuation.
func (x *partRecord) diagnosesOf(c *comparison, instance int) (out []Diagnosis) {
	for _, d := range x.Diagnoses {
		if d.Instance == instance {
			f := d.Error.Failure()
			out = append(out, Diagnosis{First: d.First, Second: d.Second, Constants: c.subjects[0].instances[instance].check.Constants, Difference: d.Difference, Err: f, instance: instance})
		}
	}
	return out
}
