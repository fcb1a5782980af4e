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

// shardRecord is the result of a range of properties, in a shard file.
type shardRecord struct {
	Engines  []string      `json:"engines"` // the names of the engines
	NotAsked []string      `json:"not_asked,omitempty"`
	Rows     []rowRecord   `json:"rows"`
	Models   []checkRecord `json:"models,omitempty"` // in the shard with the first property
	// Diagnoses are about the valuations under which this shard's properties disagree.
	Diagnoses []diagnosisRecord `json:"diagnoses,omitempty"`

	piece *shard.Piece
}

// rowRecord is the result of one row.
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

// diagnosisRecord is a Diagnosis.
type diagnosisRecord struct {
	Instance   int                   `json:"instance"`
	First      string                `json:"first"`
	Second     string                `json:"second"`
	Difference *Difference           `json:"difference,omitempty"`
	Error      *result.FailureRecord `json:"error,omitempty"`
}

// recordShard writes the results of this shard to its file. It does nothing if the run is not sharded.
func (c *comparison) recordShard() error {
	ledger := c.options.Ledger
	if !ledger.Recording() {
		return nil
	}
	first, end := ledger.Part().Range(c.tasks())
	record := shardRecord{NotAsked: c.options.Unavailable, Rows: []rowRecord{}}
	for _, run := range c.engineRuns {
		if run.model == c.models[0] {
			record.Engines = append(record.Engines, run.DisplayName())
		}
	}
	for _, row := range c.rowsToCheck {
		record.Rows = append(record.Rows, rowRecord{result.Records(row.Verdicts), row.Status, row.Basis, row.Reason, row.Notes})
	}
	if first == 0 && end > 0 {
		for i, model := range c.report.summary().Models {
			record.Models = append(record.Models, checkRecord{model, c.report.Models[i].Deterministic})
		}
	}
	for _, diagnosis := range c.report.Diagnoses {
		record.Diagnoses = append(record.Diagnoses, diagnosisRecord{diagnosis.instance, diagnosis.First, diagnosis.Second, diagnosis.Difference, result.NewFailureRecord(diagnosis.Err)})
	}
	return ledger.PutJSON(&shard.Piece{Stream: splitStream, First: first, End: end, Timed: true}, record)
}

// tasks returns the number of properties.
func (c *comparison) tasks() int64 { return int64(len(c.models[0].plan.Tasks)) }

// shardRecords are the results of the shards that recorded any, in the order of the properties.
type shardRecords []*shardRecord

// readShards sets rowsToCheck to the rows of this shard. When shards are merged, it sets all rows, and returns the records of all shards.
func (c *comparison) readShards() (records shardRecords, err error) {
	c.rowsToCheck = c.allRows
	ledger := c.options.Ledger
	if ledger.Recording() {
		first, end := ledger.Part().Range(c.tasks())
		c.rowsToCheck = c.rowsOfTasks(first, end)
	}
	if !ledger.Replaying() {
		return nil, nil
	}
	err = ledger.Replay(shard.Stream{Name: splitStream, End: c.tasks()}, func(piece *shard.Piece) (more bool, err error) {
		record := &shardRecord{piece: piece}
		records = append(records, record)
		return true, piece.Decode(record)
	})
	if err == nil && len(records) == 0 {
		err = errors.New("no shard has an answer")
	}
	return records, err
}

// rowsOfTasks returns the rows of the properties with indices from first to end-1.
func (c *comparison) rowsOfTasks(first, end int64) []*row {
	var rows []*row
	for _, row := range c.allRows {
		if task := int64(row.task); first <= task && task < end {
			rows = append(rows, row)
		}
	}
	return rows
}

// selectEngines returns the engines that the shards asked. It returns an error if the shards asked different engines, or if engines lacks one of them.
func (records shardRecords) selectEngines(engines []runner.EngineConfig) ([]runner.EngineConfig, error) {
	for _, record := range records {
		if !slices.Equal(record.Engines, records[0].Engines) || !slices.Equal(record.NotAsked, records[0].NotAsked) {
			return nil, fmt.Errorf("the shards asked different engines: found %v and %v", records[0].Engines, record.Engines)
		}
	}
	var selected []runner.EngineConfig
	for _, name := range records[0].Engines {
		i := slices.IndexFunc(engines, func(engine runner.EngineConfig) bool { return engine.DisplayName() == name })
		if i < 0 {
			return nil, fmt.Errorf("the shards asked the engine %q, which this command does not select", name)
		}
		selected = append(selected, engines[i])
	}
	return selected, nil
}

// replay fills the report from the records of all shards. Rows of missing shards have the status Unchecked. Without records it does nothing.
func (c *comparison) replay(records shardRecords) error {
	if records == nil {
		return nil
	}
	c.markUnchecked(shard.Missing(c.options.Ledger.Absent()))
	for _, record := range records {
		if err := record.restore(c); err != nil {
			return c.options.Ledger.Fail(record.piece, err)
		}
	}
	for i, instance := range c.models[0].instances {
		c.report.Diagnoses = append(c.report.Diagnoses, records.diagnosesOf(i, instance.strictCheck.Constants)...)
	}
	return nil
}

// markUnchecked marks every model and every row as unchecked, for the given reason. Later the records of the shards overwrite the rows that were
// checked.
func (c *comparison) markUnchecked(reason string) {
	failure := &result.Failure{Class: result.Interrupted, Message: reason}
	for _, model := range c.models {
		for _, instance := range model.instances {
			instance.strictCheck.Validity, instance.strictCheck.Failure = NotChecked, failure
		}
	}
	for _, row := range c.allRows {
		row.Status, row.Reason = Unchecked, reason
		for range c.engineRuns {
			row.Verdicts = append(row.Verdicts, result.Verdict{Property: row.Property, Name: row.Name, Constants: row.Constants, Err: failure})
		}
	}
}

// restore fills the rows that the recorded shard has checked. The shard with the first property also has the strict checks of the models.
func (record *shardRecord) restore(comparison *comparison) error {
	rows := comparison.rowsOfTasks(record.piece.First, record.piece.End)
	if len(record.Rows) != len(rows) {
		return fmt.Errorf("found %d answers, want %d", len(record.Rows), len(rows))
	}
	for i, row := range rows {
		if err := record.Rows[i].restore(row); err != nil {
			return err
		}
	}
	hasFirstProperty := record.piece.First == 0 && record.piece.End > 0
	if !hasFirstProperty {
		return nil
	}
	return record.restoreChecks(comparison.models)
}

// restoreChecks fills the strict checks of the models, one for each valuation of the constants, from the record of a shard.
func (record *shardRecord) restoreChecks(models []*plannedModel) error {
	var checks []*ModelCheck
	for _, model := range models {
		for _, instance := range model.instances {
			checks = append(checks, &instance.strictCheck)
		}
	}
	if len(record.Models) < len(checks) {
		return fmt.Errorf("found strict checks of %d models, want %d", len(record.Models), len(checks))
	}
	for i, check := range checks {
		if err := record.Models[i].restore(check); err != nil {
			return err
		}
	}
	return nil
}

// restore fills a row from its record. It returns an error if the record is invalid or about another property.
func (record *rowRecord) restore(row *row) error {
	if len(record.Verdicts) != len(row.Verdicts) {
		return fmt.Errorf("found %d verdicts, want %d", len(record.Verdicts), len(row.Verdicts))
	}
	if !slices.Contains([]Status{Agree, Disagree, Undecided, Unchecked, Invalid}, record.Status) {
		return fmt.Errorf("found the unknown outcome %q", record.Status)
	}
	for engine := range record.Verdicts {
		verdict, err := record.Verdicts[engine].Verdict()
		if err != nil {
			return err
		}
		if verdict.Property != row.Property || len(verdict.Constants) != len(row.Constants) {
			return fmt.Errorf("found an answer to %s, want %s", key(verdict.Property, verdict.Constants), row.key())
		}
		verdict.Constants = row.Constants // the same values as the job spells them
		row.Verdicts[engine] = *verdict
	}
	row.Status, row.Basis, row.Reason, row.Notes = record.Status, record.Basis, record.Reason, record.Notes
	return nil
}

// restore fills the strict check of a model from its record. It returns an error if the record is invalid or about another model.
func (record *checkRecord) restore(check *ModelCheck) error {
	failure := record.Error.Failure()
	isKnown := slices.Contains([]Validity{Valid, Sampled, Broken, NotChecked}, record.Validity)
	needsError := record.Validity != Valid && record.Validity != Sampled
	lacksError := needsError && failure == nil
	if record.Model != check.Model || !isKnown || lacksError {
		return fmt.Errorf("found the check %q of the model %s, want one of %s", record.Validity, record.Model, check.Model)
	}
	check.Validity, check.Failure, check.Note, check.Deterministic = record.Validity, failure, record.Note, record.Deterministic
	check.States, check.Choices, check.Transitions = record.States, record.Choices, record.Transitions
	return nil
}

// diagnosesOf returns the recorded diagnoses of the instance with this index. constants are the values of its constants. Several shards may have made the same
// diagnoses, so it returns only those of the first shard that has some.
func (records shardRecords) diagnosesOf(instance int, constants []result.Constant) []Diagnosis {
	var diagnoses []Diagnosis
	for _, record := range records {
		for _, diagnosis := range record.Diagnoses {
			if diagnosis.Instance != instance {
				continue
			}
			diagnoses = append(diagnoses, Diagnosis{
				First: diagnosis.First, Second: diagnosis.Second, Constants: constants,
				Difference: diagnosis.Difference, Err: diagnosis.Error.Failure(), instance: instance,
			})
		}
		if diagnoses != nil {
			return diagnoses
		}
	}
	return nil
}
