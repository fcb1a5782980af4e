package crosscheck

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"tilecheck/internal/shard"
	"tilecheck/result"
	"tilecheck/runner"
	"tilecheck/verify/agree"
)

// splitStream has the answers to all properties, a range of them from every part.
// A property is a part's under all valuations of the constants: tools that go
// through them by themselves make other doubles of 0.1:0.1:0.3 than of 3/10.
const splitStream = "crosscheck"

// partRecord is what was found of a range of properties.
type partRecord struct {
	Engines  []string      `json:"engines"` // the entrants
	NotAsked []string      `json:"not_asked,omitempty"`
	Rows     []rowRecord   `json:"rows"`
	Models   []checkRecord `json:"models,omitempty"` // with the first property
	// Diagnoses are of the valuations under which this part's properties disagree.
	Diagnoses []diagnosisRecord `json:"diagnoses,omitempty"`

	piece *shard.Piece
}

type rowRecord struct {
	Verdicts []result.Record `json:"verdicts"`
	Status   Status          `json:"status"`
	Basis    agree.Basis     `json:"basis,omitempty"`
	Reason   string          `json:"reason,omitempty"`
	Notes    []string        `json:"notes,omitempty"`
}

// checkRecord is a strict check, which belongs to a model and a valuation in their order.
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

// record records the part.
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
	data, err := json.Marshal(x)
	if err == nil {
		l.Put(&shard.Piece{Stream: splitStream, First: first, End: end, Data: data, Timed: true})
	}
	return err
}

// tasks is the number of properties.
func (c *comparison) tasks() int64 { return int64(len(c.subjects[0].plan.Tasks)) }

// partRecords are all that are there, in the order of the properties.
type partRecords []*partRecord

// recorded reads what was recorded, if nobody is to be asked, and otherwise
// chooses the rows of the part.
func (c *comparison) recorded() (out partRecords, err error) {
	c.mine = c.rows
	l := c.opt.Split
	if l.Recording() {
		first, end := l.Part().Range(c.tasks())
		c.mine = c.between(first, end)
	}
	if !l.Replaying() {
		return nil, nil
	}
	err = l.Replay(splitStream, c.tasks(), false, func(p *shard.Piece) (more bool, err error) {
		x := &partRecord{piece: p}
		out = append(out, x)
		return true, p.Decode(x)
	})
	if err == nil && len(out) == 0 {
		err = errors.New("no shard has an answer")
	}
	return out, err
}

// between lists the rows of properties.
func (c *comparison) between(first, end int64) (out []*row) {
	for _, r := range c.rows {
		if t := int64(r.task); first <= t && t < end {
			out = append(out, r)
		}
	}
	return out
}

// entrants returns those that were asked, which are the same in all parts.
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

// replay takes what was recorded. Rows of absent parts are unchecked.
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
			if found := x.diagnosed(c, i); len(found) > 0 {
				c.report.Diagnoses = append(c.report.Diagnoses, found...)
				break
			}
		}
	}
	return nil
}

// restore takes the rows and checks of a part.
func (x *partRecord) restore(c *comparison) error {
	rows := c.between(x.piece.First, x.piece.End)
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
		v.Constants = r.Constants // as they are written
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

// diagnosed lists the diagnoses of the part under one valuation.
func (x *partRecord) diagnosed(c *comparison, instance int) (out []Diagnosis) {
	for _, d := range x.Diagnoses {
		if d.Instance == instance {
			f := d.Error.Failure()
			out = append(out, Diagnosis{First: d.First, Second: d.Second, Constants: c.subjects[0].instances[instance].check.Constants, Difference: d.Difference, Err: f, instance: instance})
		}
	}
	return out
}
