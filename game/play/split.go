package play

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"tilecheck/game"
	"tilecheck/internal/shard"
)

// roundsOfContest is about how many rounds of shards a contest takes that is not settled before all games are played.
const roundsOfContest = 8

// block is how many games of each the shards of the first round play of a contest that may be settled: enough for the first look, and not
// much of all.
func (s *schedule) block(of int) int64 {
	return max(1, (max(s.first, s.games/roundsOfContest)+int64(of)-1)/int64(of))
}

// stream names the games.
func (s *schedule) stream() string {
	var specs []string
	for _, e := range s.entrants {
		specs = append(specs, e.strategy.String())
	}
	return fmt.Sprintf("games of %s: %v, seed %d", strings.Join(specs, " and "), s.match, s.match.Seed)
}

// recordPart plays the games of one shard, and has them recorded.
func (s *schedule) recordPart(ctx context.Context) error {
	part := s.split.Part()
	first, end := part.Range(s.games)
	if s.first > 0 {
		first, end = part.Block(s.block(part.Of), s.games)
	}
	piece := &shard.Piece{Stream: s.stream(), First: first, End: end, Timed: true}
	take := s.take
	s.take = func(entrant int, g *Played) bool {
		piece.Data = appendRecord(piece.Data, &g.Game)
		take(entrant, g)
		return true
	}
	err := s.jobs(ctx, first, end)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		s.split.Unfinished(err)
		return err
	}
	s.split.Put(piece)
	return nil
}

// replay takes the games that shards have recorded.
func (s *schedule) replay() error {
	return s.split.Replay(s.stream(), s.games, s.first > 0, s.replayPiece)
}

func (s *schedule) replayPiece(p *shard.Piece) (more bool, err error) {
	data, err := p.Load()
	if err != nil {
		return false, err
	}
	r := bufio.NewReader(bytes.NewReader(data))
	for index := p.First; index < p.End; index++ {
		for who := range s.entrants {
			g, err := readRecord(r, index)
			if err != nil {
				return false, err
			}
			if !s.take(who, &Played{Game: g}) {
				return false, nil
			}
		}
	}
	if _, err := r.ReadByte(); err != io.EOF {
		return false, fmt.Errorf("found more games than %d to %d", p.First, p.End-1)
	}
	return true, nil
}

// appendRecord appends a game as a shard keeps it: everything but its index.
func appendRecord(data []byte, g *Game) []byte {
	for _, n := range []int64{g.Score, g.Moves, g.Spawns, int64(g.Max), bit(g.Won) | 2*bit(g.Overflow), g.WinMoves, g.Acts, int64(g.Time)} {
		data = binary.AppendUvarint(data, uint64(n))
	}
	return data
}

func readRecord(r *bufio.Reader, index int64) (g Game, err error) {
	var n [8]int64
	for i := range n {
		x, err := binary.ReadUvarint(r)
		if err != nil {
			return g, fmt.Errorf("game %d ends early: %w", index, err)
		}
		n[i] = int64(x)
		if x > math.MaxInt64 {
			return g, fmt.Errorf("game %d has a number that no game has: %d", index, x)
		}
	}
	g = Game{
		Index: index, Score: n[0], Moves: n[1], Spawns: n[2], Max: int(n[3]),
		Won: n[4]&1 != 0, Overflow: n[4]&2 != 0, WinMoves: n[5], Acts: n[6], Time: time.Duration(n[7]),
	}
	if g.Max < 1 || g.Max > game.MaxExponent || n[4] > 3 || max(g.WinMoves, g.Acts) > g.Moves {
		return g, fmt.Errorf("game %d is none: %+v", index, g)
	}
	return g, nil
}

// lacking says why a merge has fewer games than were wanted: shards are missing, or a contest is not settled and wants more of them.
func (s *schedule) lacking(games int64) End {
	if len(s.split.Absent()) == 0 {
		s.split.Want(s.block(s.split.Part().Of), 2*games)
	}
	return Lacking
}
