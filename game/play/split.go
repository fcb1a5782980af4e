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

// roundsOfContest is about the number of rounds of shards in a contest that plays all of its games.
const roundsOfContest = 8

// stream returns the games as shards share them. If a contest may be settled before all games are played, a shard of the first round plays a
// block: enough for the first look, and a small part of all games.
func (s *schedule) stream() shard.Stream {
	var specs []string
	for _, e := range s.competitors {
		specs = append(specs, e.strategy.String())
	}
	name := fmt.Sprintf("games of %s: %v, seed %d", strings.Join(specs, " and "), s.match, s.match.Seed)
	stream := shard.Stream{Name: name, End: s.games, Timed: true}
	if of := int64(s.split.Part().Count); s.firstLook > 0 {
		stream.Block = max(1, (max(s.firstLook, s.games/roundsOfContest)+of-1)/of)
	}
	return stream
}

// recordPart plays and records the games of one shard.
func (s *schedule) recordPart(ctx context.Context) error {
	return s.split.Do(ctx, s.stream(), func(piece *shard.Piece) error {
		take := s.takeGame
		s.takeGame = func(player int, g *Played) bool {
			piece.Data = appendRecord(piece.Data, &g.Game)
			take(player, g)
			return true
		}
		return s.playRange(ctx, piece.First, piece.End)
	})
}

// replayPiece takes the games that a shard has recorded.
func (s *schedule) replayPiece(p *shard.Piece) (more bool, err error) {
	data, err := p.Load()
	if err != nil {
		return false, err
	}
	r := bufio.NewReader(bytes.NewReader(data))
	for index := p.First; index < p.End; index++ {
		for who := range s.competitors {
			g, err := readRecord(r, index)
			if err != nil {
				return false, err
			}
			if !s.takeGame(who, &Played{Game: g}) {
				return false, nil
			}
		}
	}
	if _, err := r.ReadByte(); err != io.EOF {
		return false, fmt.Errorf("found more games than %d to %d", p.First, p.End-1)
	}
	return true, nil
}

// appendRecord appends all fields of a game but its index, in the format of shards.
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
	if g.Max < 1 || g.Max > game.MaxWideExponent || n[4] > 3 || max(g.WinMoves, g.Acts) > g.Moves {
		return g, fmt.Errorf("game %d is none: %+v", index, g)
	}
	return g, nil
}

// lackGames ends a merge that has too few games. If no shard is absent, the contest is undecided, and more games are requested
// from the shards.
func (s *schedule) lackGames(games int64) End {
	if len(s.split.Absent()) == 0 {
		s.split.Want(s.stream(), 2*games)
	}
	return Lacking
}
