package play

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
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
	for _, player := range s.competitors {
		specs = append(specs, player.strategy.String())
	}
	name := fmt.Sprintf("games of %s: %v, seed %d", strings.Join(specs, " and "), s.match, s.match.Seed)
	stream := shard.Stream{Name: name, End: s.games, Timed: true}
	if shards := int64(s.split.Part().Count); s.firstLook > 0 {
		stream.Block = max(1, (max(s.firstLook, s.games/roundsOfContest)+shards-1)/shards)
	}
	return stream
}

// recordPart plays and records the games of one shard.
func (s *schedule) recordPart(ctx context.Context) error {
	return s.split.Do(ctx, s.stream(), func(piece *shard.Piece) error {
		take := s.takeGame
		s.takeGame = func(player int, played *Played) bool {
			piece.Data = appendRecord(piece.Data, &played.Game)
			take(player, played)
			return true
		}
		return s.playRange(ctx, piece.First, piece.End)
	})
}

// replayPiece passes the recorded games of a shard to takeGame, as if they were played now. needsMore is false if no more games are needed.
func (s *schedule) replayPiece(piece *shard.Piece) (needsMore bool, err error) {
	data, err := piece.Load()
	if err != nil {
		return false, err
	}
	reader := bufio.NewReader(bytes.NewReader(data))
	for index := piece.First; index < piece.End; index++ {
		for player := range s.competitors {
			finished, err := readRecord(reader, index)
			if err != nil {
				return false, err
			}
			if !s.takeGame(player, &Played{Game: finished}) {
				return false, nil
			}
		}
	}
	if _, err := reader.ReadByte(); err != io.EOF {
		return false, fmt.Errorf("found more games than %d to %d", piece.First, piece.End-1)
	}
	return true, nil
}

// appendRecord appends all fields of a game but its index, in the format of shards.
func appendRecord(data []byte, played *Game) []byte {
	for _, n := range []int64{played.Score, played.Moves, played.Spawns, int64(played.Max), bit(played.Won) | 2*bit(played.Overflow), played.WinMoves, played.Acts, int64(played.Time)} {
		data = binary.AppendUvarint(data, uint64(n))
	}
	return data
}

// readRecord reads the game with an index from the results of a shard. It returns an error if no game can have the numbers that it reads.
func readRecord(reader *bufio.Reader, index int64) (result Game, err error) {
	var numbers [8]int64
	for i := range numbers {
		number, err := binary.ReadUvarint(reader)
		if err != nil {
			return result, fmt.Errorf("game %d ends early: %w", index, err)
		}
		numbers[i] = int64(number)
		if number > math.MaxInt64 {
			return result, fmt.Errorf("game %d has a number that no game has: %d", index, number)
		}
	}
	result = Game{
		Index: index, Score: numbers[0], Moves: numbers[1], Spawns: numbers[2], Max: int(numbers[3]),
		Won: numbers[4]&1 != 0, Overflow: numbers[4]&2 != 0, WinMoves: numbers[5], Acts: numbers[6], Time: time.Duration(numbers[7]),
	}
	if result.Max < 1 || result.Max > game.MaxWideExponent || numbers[4] > 3 || max(result.WinMoves, result.Acts) > result.Moves {
		return result, fmt.Errorf("game %d is none: %+v", index, result)
	}
	return result, nil
}

// missingShards returns an error that names the missing shards of a merge that has too few games. If no shard is missing, the contest is undecided:
// then missingShards requests more games from the shards and returns nil.
func (s *schedule) missingShards(games int64) error {
	if len(s.split.Absent()) == 0 {
		s.split.Want(s.stream(), 2*games)
		return nil
	}
	return errors.New(shard.Missing(s.split.Absent()))
}
