package bench

import (
	"bytes"
	"context"
	"fmt"

	"tilecheck/internal/shard"
	record "tilecheck/report/bench"
)

// stream returns the stream of numbered cases that the parts of a measurement share.
func (b *benchmark) stream() shard.Stream {
	return shard.Stream{Name: "cases", End: int64(len(b.cases)), Timed: true}
}

// recordPart measures every tool on the cases of one part, and records the runs as JSON lines.
func (b *benchmark) recordPart(ctx context.Context) error {
	return b.Split.Do(ctx, b.stream(), func(part *shard.Piece) error {
		var lines bytes.Buffer
		report := b.Record
		b.Record = func(run *record.Run) error {
			if err := run.Write(&lines); err != nil {
				return err
			}
			return report(run)
		}
		b.cases = b.cases[part.First:part.End]
		err := b.runAll(ctx)
		part.Data = lines.Bytes()
		return err
	})
}

// replayParts passes the runs of all parts to Record. It returns an error if a part has a run of a case that is not in the part.
func (b *benchmark) replayParts() error {
	return b.Split.Replay(b.stream(), func(part *shard.Piece) (more bool, err error) {
		lines, err := part.Load()
		if err != nil {
			return false, err
		}
		runs, err := record.Read(bytes.NewReader(lines), "runs")
		if err != nil {
			return false, err
		}
		inPart := make(map[string]bool)
		for _, c := range b.cases[part.First:part.End] {
			inPart[c.name] = true
		}
		for i := range runs {
			if !inPart[runs[i].Case] {
				return false, fmt.Errorf("found a run of %q, want one of the cases %d to %d", runs[i].Case, part.First+1, part.End)
			}
			if err := b.Record(&runs[i]); err != nil {
				return false, err
			}
		}
		return true, nil
	})
}
