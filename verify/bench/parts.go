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

// recordShard measures every tool on the cases of this shard. It writes the runs as JSON lines to the file of the shard.
func (b *benchmark) recordShard(ctx context.Context) error {
	return b.Ledger.Do(ctx, b.stream(), func(piece *shard.Piece) error {
		var lines bytes.Buffer // the recorded runs
		reportRun := b.Record
		b.Record = func(run *record.Run) error {
			if err := run.Write(&lines); err != nil {
				return err
			}
			return reportRun(run)
		}
		b.cases = b.cases[piece.First:piece.End]
		err := b.runAll(ctx)
		piece.Data = lines.Bytes()
		return err
	})
}

// replayShards reads the recorded runs of all shards and passes them to Record.
func (b *benchmark) replayShards() error {
	return b.Ledger.Replay(b.stream(), func(piece *shard.Piece) (more bool, err error) {
		err = b.replayShard(piece)
		return err == nil, err
	})
}

// replayShard reads the runs that one shard has recorded, and passes them to b.Record. It returns an error if a run is about a case that does not belong to the
// shard.
func (b *benchmark) replayShard(piece *shard.Piece) error {
	lines, err := piece.Load()
	if err != nil {
		return err
	}
	runs, err := record.Read(bytes.NewReader(lines), "runs")
	if err != nil {
		return err
	}
	isInShard := make(map[string]bool)
	for _, benchCase := range b.cases[piece.First:piece.End] {
		isInShard[benchCase.name] = true
	}
	for i := range runs {
		if !isInShard[runs[i].Case] {
			return fmt.Errorf("found a run of %q, want one of the cases %d to %d", runs[i].Case, piece.First+1, piece.End)
		}
		if err := b.Record(&runs[i]); err != nil {
			return err
		}
	}
	return nil
}
